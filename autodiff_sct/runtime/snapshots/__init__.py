"""Snapshots of a loop's state on disk, from which a run that was killed goes on.

::

    kept = snapshots("runs/heat", "u")
    for start in range(kept.resume(0), n, 100):      # begins at the last complete snapshot
        u = kept.save(start, "u", u)                 # and there it gives what that holds
        ...

The folder holds a file `OWNER`, which says what run it is of, and for each snapshot one ``.npy`` file a variable.  A
file appears at once, when it is complete and on the disk; a snapshot counts when all its files are there.  Arrays are
mapped into memory when they are read.  Nothing else in the folder is touched.

A run is known by the emitted program and by everything that it can read from where the loop begins: its variables there
and the globals that it names.  Functions count by their code, so another version of a callee is another run.
"""

from __future__ import annotations

import json
import os
import re
import sys
import weakref
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...core import storage
from ...core.process_state import Lock
from ...errors import ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError
from .identity import digest_of, digests_of_program

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two processes from using one folder
    fcntl = None  # type: ignore[assignment]

__all__ = ["Snapshots", "snapshots"]

OWNER, LOCK = "autodiff_sct_run.json", ".autodiff_sct_lock"
FORMAT = "autodiff_sct snapshots 1"
MAPPED = 1 << 16  # bytes of a file from which on it is mapped, not read
SIMPLE = {kind.__name__: kind for kind in (bool, int, float, complex)}
KINDS = ("array", "scalar", "none", *SIMPLE)
FILE = re.compile(rf"(?P<name>\w+)_at_(?P<start>-?\d+)\.(?P<kind>{'|'.join(KINDS)})\.npy")

OPEN: dict[Path, Snapshots] = {}
OPENING = Lock()


def snapshots(folder: str | os.PathLike[str], *names: str) -> Snapshots:
    """Open a folder for the snapshots of a loop in the calling function, whose variables `names` are its state.

    Raises
    ------
    ArgumentTypeError
        If `folder` is no path.
    ArgumentValueError
        If the folder holds anything else, or the snapshots of another run.
    ArgumentRuntimeError
        If another process uses it.
    """
    try:
        path = Path(os.path.abspath(os.path.expanduser(folder)))
    except TypeError:
        raise ArgumentTypeError(f"checkpoint is the path of a folder or None, not {folder!r}") from None
    frame = sys._getframe(1)
    run = digests_of_program(frame.f_code, frame.f_globals, frame.f_locals)
    with OPENING:
        if path in OPEN:  # of a call that has failed, or that another thread has begun
            OPEN[path].let_go()
        OPEN[path] = opened = Snapshots(path, names, run | {"state": digest_of(names)})
    return opened


class Snapshots:
    """The snapshots of one run in one folder."""

    def __init__(self, folder: Path, names: tuple[str, ...], run: dict[str, str]) -> None:
        self.folder, self.names = folder, names
        self.resumed: int | None = None
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        owner = self.owner()
        self.unlock = weakref.finalize(self, os.close, locked(folder))
        self.made = made if owner is None else bool(owner["made"])
        if owner is not None and owner["run"] != run and any(FILE.fullmatch(name) for name in os.listdir(folder)):
            self.let_go()
            self.refuse(f"holds the snapshots of another run: {difference(owner['run'], run)}")
        if owner is None or owner["run"] != run:
            owner = {"format": FORMAT, "made": self.made, "run": run}
            storage.write(folder / OWNER, json.dumps(owner, indent=1).encode())

    def owner(self) -> dict[str, Any] | None:
        """The owner that the folder names; None if it is empty."""
        others = [x for x in os.listdir(self.folder) if not x.startswith(storage.TEMPORARY) and x not in (OWNER, LOCK)]
        path = self.folder / OWNER
        if not path.exists():
            if others:
                self.refuse("holds something else")
            return None
        try:
            owner: dict[str, Any] = json.loads(storage.read_own(path) or b"")
            if owner["format"] == FORMAT and {*owner} == {"format", "made", "run"}:
                return owner
        except (ValueError, KeyError, TypeError):
            pass
        self.refuse(f"has a file {OWNER} that is not of this user and this version of autodiff_sct")

    def refuse(self, reason: str) -> NoReturn:
        raise ArgumentValueError(
            f"checkpoint={str(self.folder)!r}: the folder {reason}.\n"
            "Nothing in it was changed. Name another folder, one for each loop, or delete this one if it is not needed."
        )

    # -- the forward sweep

    def resume(self, first: int) -> int:
        """The start of the last complete segment, or `first` where there is none."""
        starts: dict[int, set[str]] = {}
        for file in self.files():
            name, start, _ = parts_of(file)
            starts.setdefault(start, set()).add(name)
        complete = [start for start, names in starts.items() if names >= {*self.names}]
        if not complete:
            return first
        self.resumed = max(complete, key=lambda start: abs(start - first))
        return self.resumed

    def save(self, start: int, name: str, value: Any) -> Any:
        """Write a variable's value at the start of a segment and return it; where the run goes on, return what is kept.

        An array that is contiguous in neither order is copied, so that a run that goes on has the same layout.
        """
        self.check_held()
        if start == self.resumed:
            return self.load(start, name)
        kind, array = as_array(name, value)
        with storage.replacing(self.folder / f"{name}_at_{start}.{kind}.npy") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        return array if kind == "array" else value

    # -- the reverse sweep

    def load(self, start: int, name: str) -> Any:
        """The value of a variable at the start of a segment."""
        self.check_held()
        found = [file for kind in KINDS if (file := self.folder / f"{name}_at_{start}.{kind}.npy").exists()]
        if not found:
            raise ArgumentRuntimeError(
                f"checkpoint={str(self.folder)!r}: the snapshot at step {start} is gone; "
                "it is removed when the reverse sweep has run, so that this runs once"
            )
        return from_array(found[0])

    def remove(self) -> None:
        """Delete the files of this run, and the folder if it was made for them and is empty."""
        self.check_held()
        for file in [*self.files(), *self.folder.glob(storage.TEMPORARY + "*.tmp"), self.folder / OWNER]:
            file.unlink(missing_ok=True)
        self.let_go()
        (self.folder / LOCK).unlink(missing_ok=True)
        if self.made and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def files(self) -> list[Path]:
        """The files of snapshots."""
        return [file for file in self.folder.iterdir() if FILE.fullmatch(file.name) and parts_of(file)[0] in self.names]

    # -- who uses the folder

    def check_held(self) -> None:
        if not self.unlock.alive:
            raise ArgumentRuntimeError(
                f"checkpoint={str(self.folder)!r}: another call uses the folder; give each call a folder of its own"
            )

    def let_go(self) -> None:
        """Let others use the folder; this object may not be used any more."""
        self.unlock()
        if OPEN.get(self.folder) is self:
            del OPEN[self.folder]


def locked(folder: Path) -> int:
    """The descriptor of the folder's lock, which the system frees when the process ends, however it ends."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise ArgumentRuntimeError(
            f"checkpoint={str(folder)!r}: another process uses the folder; wait for it, or name another folder"
        ) from None
    return handle


def difference(old: dict[str, str], new: dict[str, str]) -> str:
    """The difference between two runs, in words."""
    if old.get("program") != new["program"]:
        return "the program differs"
    names = [name for name in new if name.startswith("argument ") and old.get(name) != new[name]]
    if names:
        return f"{', '.join(name.removeprefix('argument ') for name in names)} had another value"
    return "what the program reads or computes before its loop differs"


# -- files


def parts_of(file: Path) -> tuple[str, int, str]:
    """The variable, the start of the segment and the kind of value of a file."""
    found = FILE.fullmatch(file.name)
    assert found is not None
    return found["name"], int(found["start"]), found["kind"]


def as_array(name: str, value: Any) -> tuple[str, np.ndarray]:
    """The kind of a value, and an array that holds it."""
    if value is None:
        return "none", np.empty(0)
    if type(value) in SIMPLE.values():
        array = np.array(value)
        kind = type(value).__name__
    elif isinstance(value, np.generic):
        kind, array = "scalar", np.asarray(value)
    elif type(value) in (np.ndarray, np.memmap):
        contiguous = value.flags.c_contiguous or value.flags.f_contiguous
        kind, array = "array", value if contiguous else np.ascontiguousarray(value)
    else:
        raise ArgumentTypeError(f"checkpoint: {name} is a {type(value).__name__}, and cannot be kept on disk")
    if array.dtype.hasobject:
        raise ArgumentTypeError(f"checkpoint: {name} of dtype {array.dtype} cannot be kept on disk")
    return kind, array


def from_array(file: Path) -> Any:
    """The value that a file holds; a large array is mapped into memory, and changes of it stay there."""
    kind = parts_of(file)[2]
    if kind == "none":
        return None
    mapped = kind == "array" and sys.platform != "win32" and file.stat().st_size >= MAPPED
    array = np.load(file, mmap_mode="c" if mapped else None, allow_pickle=False)
    if kind in SIMPLE:
        return SIMPLE[kind](array.item())
    return array[()] if kind == "scalar" else array.view(np.ndarray)
