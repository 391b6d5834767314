"""Entries: emitted programs written down and made live again; finding and keeping them.

An entry holds the text, what its names stand for, how to read what comes in from outside, what has to stay as it is,
and the marks of all that the compiler read.  `revived` walks the marks first: one that differs, and the entry is of no
use.

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
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ....core import process_state, storage
from ....errors import Origin
from ...codegen.load import load_parts, words
from ...domain import pass_registry
from ...domain.assumptions import Assumption, check_of
from ...domain.dependencies import GlobalRead, Guard, KindGuard
from ...domain.request import Emitted
from ...domain.values import External, home_of
from ...numba.bailout import Native, NativeFunction, kinds_from, kinds_told
from .fingerprint import NotKept, Paths, is_library, mark_of_kind, mark_of_module, mark_of_name, module_of, named

__all__ = ["KIND", "SUFFIX", "find", "keep", "revived", "wanted", "written"]

DEFINED = re.compile(r"^def (\w+)\(", re.MULTILINE)


class Writer:
    """Writes one program down, or raises `NotKept`."""

    def __init__(self, root: Any, emitted: Emitted) -> None:
        self.emitted, self.world = emitted, emitted.world
        self.paths = Paths(root)
        self.private = {id(fn.__globals__) for fn in self.world.made}
        self.marks = self.marks_of_reads()
        self.check_texts()

    def marks_of_reads(self) -> list[list[Any]]:
        """The marks of what was read, in an order in which each is found from those before it."""
        found: list[list[Any]] = []
        pending = [(read, value) for read, value in self.world.reads if not self.is_settled(read, value)]
        while pending:
            later = []
            for read, value in pending:
                path = self.paths.locate(read)
                if path is None:
                    later.append((read, value))
                elif read() is value:
                    mark = [path, self.paths.mark(value, path)]
                    found += [mark] if mark not in found else []
                else:
                    raise NotKept(path)
            if len(later) == len(pending):
                raise NotKept(later[0][0])
            pending = later
        return found

    def is_settled(self, read: Callable[[], Any], value: Any) -> bool:
        """True if a name of a library's module or of an emitted text, which always means the same."""
        if not isinstance(read, GlobalRead):
            return False
        if is_library(str(read.table.get("__name__", "?"))):
            return True
        return id(read.table) in self.private and bool(self.place(value))

    def check_texts(self) -> None:
        """Every text that was inlined is one whose mark is known."""
        made = {id(fn) for fn in self.world.made}
        for fn in self.world.texts:
            if id(fn) not in self.paths.functions and id(fn) not in made and not is_library(home_of(fn)):
                raise NotKept(fn)

    def place(self, value: Any) -> list[Any]:
        """The place at which a name of the emitted module finds its object."""
        if isinstance(value, ModuleType):
            return mark_of_module(value)
        if id(value) in self.paths.functions:
            return ["at", self.paths.functions[id(value)]]
        if value is None or type(value) in (bool, int, str):
            return ["literal", value]
        return mark_of_name(value)

    def guard(self, guard: Any) -> list[Any] | None:
        """A guard by what it reads; None for one that always holds."""
        if isinstance(guard, Guard) and self.is_settled(guard.read, guard.expected):
            return None
        path = self.paths.locate(guard.read) if type(guard) in (Guard, KindGuard) else None
        if path is None:
            raise NotKept(guard)
        return ["kind" if isinstance(guard, KindGuard) else "same", path]

    def external(self, external: External) -> list[Any]:
        path = self.paths.locate(external.read)
        if path is None:
            raise NotKept(external.symbol)
        return [path, external.symbol]


def written(root: Any, emitted: Emitted) -> dict[str, Any]:
    """An entry.

    Raises
    ------
    NotKept
        If the program cannot be found to be the same in another process.
    """
    if emitted.world.closed or not emitted.parts:
        raise NotKept(emitted)
    writer = Writer(root, emitted)
    text, names = text_of(emitted.parts), getattr(emitted.function, "names", emitted.namespace)
    used = words(text) - set(DEFINED.findall(text))
    guards = [each for guard in emitted.guards if (each := writer.guard(guard)) is not None]
    origins = getattr(emitted.function, "__autodiff_origins__", {})
    return {
        "start": writer.paths.start,
        "marks": writer.marks,
        "parts": [list(part) for part in emitted.parts],
        "names": {name: writer.place(v) for name, v in names.items() if name in used},
        "native": native_as_json(emitted.function),
        "externals": [writer.external(e) for e in emitted.externals],
        "guards": guards,
        "origins": [[line, *origin] for line, origin in origins.items()],
        "written": sorted(emitted.written),
        "changed": sorted(emitted.changed),
        "rebound": sorted(emitted.rebound),
        "ordered": emitted.ordered,
        "wrap": as_json(emitted.wrap),
        "seeds": as_json(emitted.seeds),
        "tensors": emitted.tensors,
        "count": emitted.count,
        "effects": emitted.effects,
        "lists": emitted.lists,
        "again": emitted.again,
        "singular": emitted.singular,
        "spectral": emitted.spectral,
        "assumed": [[a.terms, a.bound] for a in emitted.assumed],
    }


def text_of(parts: Any) -> str:
    """The text of a NumPy program."""
    return "\n\n".join(text for _, _, text in parts)


def native_as_json(function: Any) -> Any:
    """The recipe of a native function from a NumPy one; None for one that runs as NumPy code."""
    native = getattr(function, "native", None)
    if native is None:
        return None
    return [native.name, native.text, kinds_told(native.results), native.loops, function.title]


def natively(told: Any, plain: Any, names: dict[str, Any]) -> Any:
    """The native function that `native_as_json` wrote down."""
    name, text, results, loops, title = told
    return NativeFunction(Native(name, text, kinds_from(results), loops), plain, title, names)


def as_json(spec: Any) -> Any:
    """A tree of flags as JSON has it: None, a flag, ``{"tuple": [...]}`` or ``{"dict": [[key, ...], ...]}``."""
    if isinstance(spec, tuple):
        return {"tuple": [as_json(item) for item in spec]}
    if isinstance(spec, dict):
        if not all(type(key) in (str, int) for key in spec):
            raise NotKept(spec)
        return {"dict": [[key, as_json(item)] for key, item in spec.items()]}
    return spec


def from_json(spec: Any) -> Any:
    if isinstance(spec, dict):
        (kind, items), *_ = spec.items()
        return tuple(map(from_json, items)) if kind == "tuple" else {key: from_json(item) for key, item in items}
    return spec


# -- from an entry


def revived(root: Any, entry: dict[str, Any]) -> Emitted:
    """The program of an entry, loaded.

    Raises
    ------
    NotKept
        If the compiler would not read today what it read then.
    """
    paths = Paths(root)
    if paths.start != entry["start"]:
        raise NotKept("start")
    for path, mark in entry["marks"]:
        if paths.mark(paths.value(path), path) != mark:
            raise NotKept(path)
    namespace = {name: found_at(paths, place) for name, place in entry["names"].items()}
    parts = tuple((name, hint, text) for name, hint, text in entry["parts"])
    function = load_parts(parts, dict(namespace))
    function.__autodiff_origins__ = {line: Origin(*rest) for line, *rest in entry["origins"]}  # type: ignore[attr-defined]
    native = entry["native"]
    return Emitted(
        text=text_of(parts) if native is None else native[1],
        function=function if native is None else natively(native, function, namespace),
        externals=[external(paths, path, symbol) for path, symbol in entry["externals"]],
        guards=[guard(paths, kind, path) for kind, path in entry["guards"]],
        namespace=namespace if native is None else {},
        written=frozenset(entry["written"]),
        changed=frozenset(entry["changed"]),
        rebound=frozenset(entry["rebound"]),
        ordered=entry["ordered"],
        wrap=from_json(entry["wrap"]),
        tensors=entry["tensors"],
        count=entry["count"],
        seeds=from_json(entry["seeds"]),
        effects=entry["effects"],
        lists=entry["lists"],
        again=entry["again"],
        singular=entry["singular"],
        spectral=entry["spectral"],
        assumed=tuple(Assumption(tupled(terms), bound) for terms, bound in entry["assumed"]),
    )


def tupled(spec: Any) -> Any:
    """Nested lists of JSON as tuples."""
    return tuple(map(tupled, spec)) if isinstance(spec, list) else spec


def found_at(paths: Paths, place: list[Any]) -> Any:
    """The object that a name of the emitted module stands for."""
    kind, *rest = place
    if kind == "at":
        return paths.value(rest[0])
    if kind == "literal":
        return rest[0]
    value = module_of(rest[0]) if kind == "module" else named(rest[0], rest[1])
    if (mark_of_module if kind == "module" else mark_of_name)(value) != place:
        raise NotKept(place)
    return value


def external(paths: Paths, path: Any, symbol: str) -> External:
    return External(symbol, paths.read(path), symbol, None, paths.value(path))


def guard(paths: Paths, kind: str, path: Any) -> Guard | KindGuard:
    """A guard for what holds now, which the marks have shown to be what held then."""
    read = paths.read(path)
    return KindGuard(read) if kind == "kind" else Guard(read, read())


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


def find(path: Path | None, fn: Any, values: tuple[Any, ...]) -> Emitted | None:
    """A program of that name for a call, if one is there that is what the compiler would make now."""
    for file in files_of(path):
        entry = read(file)
        if entry is None:
            return None
        try:
            emitted = revived(fn, entry)
        except Exception:  # whatever an entry with a right digest makes Python raise, it is as good as none
            continue
        check = check_of(emitted.assumed)
        if check is None or check((*values, *[e.read() for e in emitted.externals])):
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
