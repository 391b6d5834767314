"""Finding and keeping programs.

A file is named after all that is known before it is opened: what is differentiated, the kinds of the arguments, what is
wanted, the passes that are off, and this package, Python and the libraries that the compiler is made with.  It begins
with a digest of the rest.  What it depends on beyond that (callees, globals, closure variables) is compared mark by
mark.
A file that is damaged, foreign or of another name's is as good as none, and nothing of it runs.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ....core import process_state, storage
from ...domain import pass_registry
from ...domain.request import Emitted
from .entry import revived, written
from .fingerprint import NotKept, mark_of_kind
from .locator import Paths

__all__ = ["KIND", "SUFFIX", "find", "keep", "wanted"]

KIND, SUFFIX = "programs", ".json"
HEAD = storage.MARKS[KIND].decode()
ALIKE = 4  # of one name
DAMAGE = (NotKept, KeyError, IndexError, TypeError, ValueError, AttributeError, ImportError, RecursionError)


def wanted(compiled: Any, slots: tuple[Any, ...], values: tuple[Any, ...], wrt: tuple[str, ...]) -> Path | None:
    """The name of a program's files; None where it is not to be kept, or depends on what no other process can find."""
    told = compiled.explain or compiled.memory is not None  # comments and warnings that come of compiling
    if compiled.weights or told or own_rules():
        return None
    place = storage.folder(KIND)
    if place is None:
        return None
    try:
        asked = [
            surroundings(), type(compiled).__name__, sorted(pass_registry.off()), compiled.name, list(wrt),
            [compiled.has_aux, compiled.seeded, compiled.value, compiled.split],
            [[name, str(kind), mark_of_kind(v)] for (name, kind), v in zip(slots, values)],
            Paths(compiled.fn).start, back_end(compiled.backend),
        ]  # fmt: skip
    except DAMAGE:
        return None
    return place / (hashlib.sha256(json.dumps(asked).encode()).hexdigest())


def back_end(name: str) -> list[str]:
    """The back end of a program, and whether it is there."""
    return [name] if name == "numpy" else [name, state_of("numba")]


def find(path: Path | None, fn: Any) -> Emitted | None:
    """A program of that name, if one is there that is what the compiler would make now."""
    for file in files_of(path):
        entry = read(file)
        if entry is None:
            return None
        try:
            emitted = revived(fn, entry)
        except Exception:  # whatever an entry with a right digest makes Python raise, it is as good as none
            continue
        storage.use(file)
        return emitted
    return None


def files_of(path: Path | None) -> list[Path]:
    """The files for programs of one name: they differ in what they depend on, such as a flag."""
    return [] if path is None else [path.with_name(f"{path.name}_{k}{SUFFIX}") for k in range(ALIKE)]


def read(file: Path) -> dict[str, Any] | None:
    """The entry in a file; None where there is none that was written whole, by this user, for this name."""
    head, _, body = (storage.read_own(file) or b"").partition(b"\n")
    if head != head_of(file, body):
        return None
    try:
        entry: dict[str, Any] = json.loads(body)
    except ValueError:
        return None
    return entry


def keep(path: Path | None, fn: Any, emitted: Emitted) -> None:
    """Write a program to its file, if another process can tell when it is of use."""
    if path is None:
        return
    if not storage.is_unchanged():
        return
    try:
        body = json.dumps(written(fn, emitted)).encode()
        storage.prune()
        there = {file: read(file) for file in files_of(path)}
        if json.loads(body) not in there.values():  # another process may have been quicker
            file = next((f for f, entry in there.items() if entry is None), None) or min(there, key=age)
            storage.write(file, head_of(file, body) + b"\n" + body)
    except (*DAMAGE, OSError):
        pass


def head_of(path: Path, body: bytes) -> bytes:
    """The first line of a file: for which program it is, and the digest of the rest."""
    return f"{HEAD}{path.stem} {hashlib.sha256(body).hexdigest()}".encode()


def own_rules() -> bool:
    """True if the user has registered derivatives, which change what is emitted."""
    return bool(process_state.REGISTERED)


@functools.cache
def surroundings() -> list[str]:
    """The versions with which the compiler runs."""
    others = [state_of(name) for name in ("gast", "astunparse", "scipy")]
    return [digest_of(str(Path(__file__).parents[3])), sys.version, sys.implementation.name, np.__version__, *others]


def digest_of(package: str) -> str:
    """A digest of all modules of a package."""
    digest = hashlib.sha256()
    for folder, below, names in os.walk(package):
        below.sort()
        for name in sorted(name for name in names if name.endswith(".py")):
            path = os.path.join(folder, name)
            digest.update(path[len(package) :].encode() + b"\0")
            with open(path, "rb", buffering=0) as file:
                digest.update(file.read())
    return digest.hexdigest()


def state_of(module: str) -> str:
    """The place, size and time of a library's file, told without importing it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        return ""
    state = os.stat(spec.origin)
    return f"{spec.origin} {state.st_size} {state.st_mtime_ns}"


def age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
