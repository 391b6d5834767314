"""The folder of what is kept from one process to the next, and how its files are written and read.

Emitted programs and native ones are kept in the user's cache folder: `AUTODIFF_SCT_CACHE_DIR` if it is set, else a
folder ``autodiff_sct`` where the platform keeps such things (``$XDG_CACHE_HOME`` or ``~/.cache``, ``~/Library/Caches``,
``%LOCALAPPDATA%``).  With ``AUTODIFF_SCT_CACHE=0`` nothing is kept and nothing is read.

The folder is made for its owner only, and used only while it belongs to this user and nobody else may write to it.
That is what protects against others; the digests in the files are against damage.  Who may write to this folder could
run anything as this user anyway.  A file is replaced at once, so that processes side by side see the old one or the
new one.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

__all__ = ["base", "clear", "files", "folder", "read_own", "write"]

KINDS = {  # folders, and what the files in them are called
    "programs": ("*.json", ".*.tmp"),
    "native": ("autodiff_sct_native_*", "__pycache__/autodiff_sct_native_*", ".*.tmp"),
}

LARGEST = 64 * 1024 * 1024  # bytes of a file that is read


def base() -> Path:
    """The folder of everything that is kept; it need not be there."""
    chosen = os.environ.get("AUTODIFF_SCT_CACHE_DIR")
    return Path(os.path.abspath(chosen)) if chosen else platform_folder() / "autodiff_sct"


def platform_folder() -> Path:
    """Where programs of this user keep what can be made again."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given)
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def folder(kind: str) -> Path | None:
    """The folder of one kind of files, or None where nothing is to be kept: switched off, or not safely ours."""
    path = base() / kind
    if os.environ.get("AUTODIFF_SCT_CACHE") == "0" or not path.is_absolute():
        return None
    try:
        base().mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        states = [base().stat(), path.stat()]
    except OSError:
        return None
    return path if all(map(is_own, states)) else None


def is_own(state: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else may write to it."""
    return not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)


def write(path: Path, content: bytes) -> None:
    """Write a file at once: nobody sees half of it."""
    import tempfile  # reads much that is needed for nothing else

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read_own(path: Path) -> bytes | None:
    """The content of a plain file of this user's that nobody else may write to; None for everything else."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or not is_own(state) or state.st_size > LARGEST:
            return None
        return file.read()


def files(kind: str) -> list[Path]:
    """The files of one kind that are kept."""
    place = base() / kind
    return sorted(file for pattern in KINDS[kind] for file in place.glob(pattern) if file.is_file())


def clear() -> int:
    """Remove every file that is kept, and nothing else that may be in the folder; how many there were."""
    found = [file for kind in KINDS for file in files(kind)]
    for file in found:
        file.unlink(missing_ok=True)
    return len(found)
