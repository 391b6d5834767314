"""The release checklist: ``python -m tools.release`` goes through it, and fails at the first point that does not hold.

It builds the sdist and the wheel, checks them with twine, installs each in an empty virtual environment of every
supported Python that the machine has, and runs there a smoke test and, beside the wheel, the examples.  Nothing is
uploaded.  It needs the extra ``release``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

from tools.interpreters import SUPPORTED, interpreter

ROOT = Path(__file__).resolve().parent.parent
# Each example with settings that make it quick; they check themselves what they reach in tests/test_examples.py.
EXAMPLES = {
    "gallery": [],
    "heat": ["--steps", "10", "--size", "16"],
    "lynx_hare": ["--iterations", "25"],
    "solar_cell": [],
    "diabetes": ["--patients", "150", "--iterations", "10"],
    "resistors": ["--iterations", "12"],
    "lenet": ["--epochs", "4"],
    "char_lstm": ["--epochs", "6"],
    "burgers": ["--iterations", "80", "--places", "200"],
    "digits": [],
    "many_rows": ["--rows", "40000", "--block", "9000", "--iterations", "3"],
}


def main(argv: list[str] | None = None) -> None:
    """Go through the checklist."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", nargs="+", default=SUPPORTED, metavar="VERSION", help="versions of Python (all)")
    parser.add_argument("--dist", type=Path, help="where the sdist and the wheel go (a temporary folder)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        dist = (options.dist or work / "dist").resolve()
        report("one version in all files", version_everywhere())
        built = build(dist)
        for version in options.python:
            found = interpreter(version)
            if found is None:
                print(f"Python {version}: not on this machine", flush=True)
                continue
            for file in built:
                install_and_try(found, version, file, work / f"{version}-{file.suffix[1:]}")


def report(point: str, detail: str = "") -> None:
    """Print a point of the list that holds."""
    print(f"ok  {point}{f': {detail}' if detail else ''}", flush=True)


def version_everywhere() -> str:
    """The version, the same in pyproject.toml, the package, CITATION.cff and the first section of CHANGELOG.md."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name, pattern in {
        "autodiff_sct/__init__.py": r'^__version__ = "(.*)"$',
        "CITATION.cff": r"^version: (.*)$",
        "CHANGELOG.md": r"^## (\S+)",
    }.items():
        stated = re.search(pattern, (ROOT / name).read_text(), re.M)
        assert stated is not None and stated[1] == version, f"{name} is not of version {version}"
    return version


def build(dist: Path) -> list[Path]:
    """Build the sdist, the wheel from it, and look at both; return them."""
    run([sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)])
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)])
    report("twine check", f"{wheel.name}, {sdist.name}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"autodiff_sct"} and "autodiff_sct/py.typed" in names, tops
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("README.md", "LICENSE", "tests/__init__.py", "docs/design.md", "examples/digits.py"):
        assert needed in inside, f"{needed} is not in the sdist"
    report("contents", f"{len(names)} files in the wheel, {len(inside)} in the sdist")
    return [wheel, sdist]


def install_and_try(python: str, version: str, file: Path, folder: Path) -> None:
    """Install one file in an empty environment, run the smoke test, and beside a wheel the examples."""
    run([python, "-m", "venv", str(folder / "venv")])
    inside = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(inside / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    run([*pip, str(file)])
    run([str(inside / "python"), "-W", "error", str(ROOT / "tools" / "smoke.py")])
    run([str(inside / "autodiff-sct"), "--version"])
    report(f"Python {version}, {file.suffix[1:]}: installs, smoke test")
    if file.suffix != ".whl":
        return
    run([*pip, f"{file}[examples]"])
    for name, settings in EXAMPLES.items():
        run([str(inside / "python"), str(ROOT / "examples" / f"{name}.py"), *settings], cwd=folder)
        report(f"Python {version}: example {name}")


def run(command: list[str], cwd: Path | None = None) -> None:
    """Run a command away from the repository; show what it printed if it fails."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=cwd or tempfile.gettempdir(), env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
