"""Storage: the folder of what is kept between processes, its files written and read, and the package's own files.

Emitted programs and native ones are kept in the user's cache folder: `AUTODIFF_SCT_CACHE_DIR` if it is set, else a
folder ``autodiff_sct`` where the platform keeps such things (``$XDG_CACHE_HOME`` or ``~/.cache``, ``~/Library/Caches``,
``%LOCALAPPDATA%``).  With ``AUTODIFF_SCT_CACHE=0`` (or ``off``, ``no``, ``false``) nothing is kept and nothing is read.

The folder is made for its owner only, and used only while it belongs to this user and nobody else may write to it.  It
holds a file that says that it is ours; a folder with anything else in it and without that file is neither used nor
cleared.
That is what protects against others; the digests in the files are against damage.  Who may write to this folder could
run anything as this user anyway.  A file is replaced at once, so that processes side by side see the old one or the
new one.

A process that has been running since before an upgrade would keep what the old compiler emits under the new one's name:
it keeps nothing once a file has changed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

__all__ = [
    "TEMPORARY",
    "base",
    "clear",
    "files",
    "folder",
    "is_unchanged",
    "prune",
    "read_own",
    "reason_unused",
    "replacing",
    "use",
    "write",
]

TEMPORARY = ".autodiff_sct_"
KINDS = {  # folders, and what the files in them are called
    "programs": ("*.json", TEMPORARY + "*.tmp"),
    "native": ("autodiff_sct_native_*", "__pycache__/autodiff_sct_native_*", TEMPORARY + "*.tmp"),
}
MARKS = {"programs": b"autodiff_sct program "}  # what a file of a kind begins with
TAG = "CACHEDIR.TAG"
TAGGED = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by autodiff_sct and may be deleted.\n"

OFF, ON = ("0", "off", "no", "false"), ("", "1", "on", "yes", "true")
LARGEST = 64 * 1024 * 1024  # bytes of a file that is read
MOST = 256 * 1024 * 1024  # bytes of all files
STALE = 3600  # seconds after which a temporary file is one of a process that was killed
EVERY = 64  # files that are written between two looks at how much there is

_written = 0


def base() -> Path:
    """The folder of everything that is kept; it need not be there."""
    chosen = os.environ.get("AUTODIFF_SCT_CACHE_DIR")
    return Path(os.path.abspath(os.path.expanduser(chosen))) if chosen else platform_folder() / "autodiff_sct"


def platform_folder() -> Path:
    """The folder in which programs of this user keep what can be made again."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given)
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def folder(kind: str) -> Path | None:
    """The folder of one kind of files, or None where nothing is to be kept: switched off, or not safely ours."""
    place = base()
    path = place / kind
    if is_off() or not path.is_absolute():
        return None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_own(place.stat()) or not (is_tagged(place) or tag(place)):
            return None
        path.mkdir(mode=0o700, exist_ok=True)
        return path if is_own(path.stat()) else None
    except OSError:
        return None


def is_off() -> bool:
    """True if the user has switched keeping off, or set something that is no switch."""
    return os.environ.get("AUTODIFF_SCT_CACHE", "").lower() not in ON


def is_tagged(place: Path) -> bool:
    """True if a folder was made by this package."""
    return read_own(place / TAG) == TAGGED


def tag(place: Path) -> bool:
    """Mark an empty folder as one of ours; False where something is in it."""
    if any(place.iterdir()):
        return is_tagged(place)  # another process may have been quicker
    write(place / TAG, TAGGED)
    return True


def reason_unused() -> str:
    """Why nothing is kept; an empty text where something is."""
    given = os.environ.get("AUTODIFF_SCT_CACHE", "")
    if is_off():
        hint = "" if given.lower() in OFF else ", which is no switch: AUTODIFF_SCT_CACHE_DIR names the folder"
        return f"off: AUTODIFF_SCT_CACHE={given}{hint}"
    if folder("programs") is not None:
        return ""
    place = base()
    if not place.is_dir():
        return "not used: the folder cannot be made"
    if not is_own(place.stat()):
        return "not used: it belongs to another user, or others may write to it (chmod 700)"
    if not is_tagged(place):
        return "not used: it has something else in it; name an empty folder, or one that is not there yet"
    return "not used: the folders in it cannot be made, or belong to another user"


def is_own(state: os.stat_result) -> bool:
    """True if a file or folder belongs to this user, and nobody else may write to it."""
    return not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into, which takes its place at once when it is complete: nobody sees half of it."""
    import tempfile  # reads much that is needed for nothing else

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write(path: Path, content: bytes) -> None:
    """Write a file at once."""
    with replacing(path) as file:
        file.write(content)


def read_own(path: Path) -> bytes | None:
    """The content of a plain file of this user's that nobody else may write to; None for everything else."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode) or not is_own(state) or state.st_size > LARGEST:
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read()


def files(kind: str) -> list[Path]:
    """The files of one kind that are kept, in a folder that was made for them."""
    if not is_tagged(base()):
        return []
    place = base() / kind
    found = {file for pattern in KINDS[kind] for file in place.glob(pattern) if file.is_file()}
    return sorted(file for file in found if file.suffix == ".tmp" or begins_with(file, MARKS.get(kind, b"")))


def begins_with(file: Path, mark: bytes) -> bool:
    """True if a file begins with the mark of its kind."""
    try:
        with open(file, "rb") as content:
            return content.read(len(mark)) == mark
    except OSError:
        return False


def clear() -> int:
    """Remove every file that is kept, and nothing else that may be in the folder; how many were removed."""
    return sum(remove(file) for kind in KINDS for file in files(kind))


def remove(file: Path) -> bool:
    """Remove a file; False where that is not allowed or it is gone."""
    try:
        file.unlink()
    except OSError:
        return False
    return True


def use(file: Path) -> None:
    """Note that a file was of use: the least recently used ones go first."""
    try:
        os.utime(file)
    except OSError:
        pass


def prune() -> None:
    """Remove the least recently used files where all take too much, and what killed processes have left half written.

    It looks at the folder once for `EVERY` calls, of which each writes a file, the first among them.
    """
    global _written
    _written += 1
    if _written % EVERY != 1:
        return
    now = time.time()
    states = sorted(((state_of(file), file) for kind in KINDS for file in files(kind)), reverse=True)
    total = 0
    for (used, size), file in states:
        total += size
        if total > MOST or (file.suffix == ".tmp" and now - used > STALE):
            remove(file)


def state_of(file: Path) -> tuple[float, int]:
    """The time of a file's last use, in seconds, and its size in bytes."""
    try:
        state = file.stat()
    except OSError:
        return 0.0, 0
    return state.st_mtime, state.st_size


PACKAGE = os.path.dirname(os.path.dirname(__file__))


def states(folder: str) -> Iterator[tuple[str, int, int]]:
    """The path, the size in bytes and the time in nanoseconds of each module below a folder."""
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            state = entry.stat()
            yield entry.path, state.st_size, state.st_mtime_ns
        elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
            yield from states(entry.path)


AT_IMPORT = sorted(states(PACKAGE))


def is_unchanged() -> bool:
    """True if the files are what they were when the package was imported."""
    try:
        return sorted(states(PACKAGE)) == AT_IMPORT
    except OSError:
        return False
