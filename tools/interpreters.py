"""The Python interpreters of this machine: ``python -m tools.interpreters 3.12`` prints one that works, or nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str | None:
    """An interpreter of a version: on the path, or of pyenv, whose shims may exist without running."""
    return next((path for path in candidates(version) if works(path, version)), None)


def candidates(version: str) -> Iterator[str]:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield getattr(sys, "_base_executable", sys.executable)
    if found := shutil.which(f"python{version}"):
        yield found
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True).stdout.strip()
        releases = (Path(root) / "versions").glob(f"{version}.*/bin/python")
        yield from map(str, sorted(releases, reverse=True))


def works(path: str, version: str) -> bool:
    """True if the interpreter runs and is of that version."""
    code = "import sys; print(*sys.version_info[:2], sep='.')"
    run = subprocess.run([path, "-c", code], capture_output=True, text=True)
    return run.returncode == 0 and run.stdout.strip() == version


if __name__ == "__main__":
    if named := interpreter(sys.argv[1]):
        print(named)
