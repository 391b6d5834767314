"""Dependencies of a program: everything that the specialiser reads from outside, and how to read it again.

A program kept on disk may stand for another process's only if that would read the same things in the same places.  So
readings are objects that say what they read, `World` lists them with what was found, and the texts that were inlined.
What is read in a way that another process cannot repeat closes the world: such a program is not kept.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from .pytree import key as kind_of

__all__ = [
    "AttributeRead",
    "CellRead",
    "CodeRead",
    "DefaultRead",
    "GlobalRead",
    "Guard",
    "ItemRead",
    "KindGuard",
    "KwDefaultRead",
    "ModuleRead",
    "World",
]


@dataclass(frozen=True, eq=False)
class GlobalRead:
    """A name of a module, or the builtin that it means there."""

    table: dict[str, Any]
    name: str

    def __call__(self) -> Any:
        return self.table[self.name] if self.name in self.table else getattr(builtins, self.name)


@dataclass(frozen=True, eq=False)
class CellRead:
    """A closure variable."""

    cell: CellType

    def __call__(self) -> Any:
        return self.cell.cell_contents


@dataclass(frozen=True, eq=False)
class AttributeRead:
    """An attribute of an object, most often a module."""

    owner: Any
    name: str

    def __call__(self) -> Any:
        return getattr(self.owner, self.name)


@dataclass(frozen=True, eq=False)
class ModuleRead:
    """The module that an ``import`` inside a function finds."""

    name: str

    def __call__(self) -> ModuleType:
        return sys.modules[self.name]


@dataclass(frozen=True, eq=False)
class ItemRead:
    """One item of what is read."""

    read: Callable[[], Any]
    key: Any

    def __call__(self) -> Any:
        return self.read()[self.key]


@dataclass(frozen=True, eq=False)
class DefaultRead:
    """The default of a parameter by its place, counted from the last one: others may come before it."""

    fn: FunctionType
    place: int

    def __call__(self) -> Any:
        return (self.fn.__defaults__ or ())[self.place]


@dataclass(frozen=True, eq=False)
class KwDefaultRead:
    """The default of a keyword-only parameter."""

    fn: FunctionType
    name: str

    def __call__(self) -> Any:
        return (self.fn.__kwdefaults__ or {})[self.name]


@dataclass(frozen=True, eq=False)
class CodeRead:
    """The code of a function at present."""

    fn: FunctionType

    def __call__(self) -> CodeType:
        return self.fn.__code__


@dataclass
class World:
    """The readings of one specialisation and of those inside it."""

    reads: list[tuple[Callable[[], Any], Any]] = field(default_factory=list)  # and what was found
    texts: list[Any] = field(default_factory=list)  # functions whose text became part of the program
    made: list[Any] = field(default_factory=list)  # those of them that were emitted meanwhile
    closed: bool = False  # whether something was read that no other process can find

    def note(self, read: Callable[[], Any], value: Any) -> None:
        self.reads.append((read, value))

    def add(self, inner: World, made: Any) -> None:
        """The world of a program that was emitted inside this one, as the function `made` and its backward one."""
        self.reads += inner.reads
        self.texts += inner.texts
        backward = getattr(made, "__autodiff_backward__", None)
        self.made += [*inner.made, made, *([] if backward is None else [backward])]
        self.closed = self.closed or inner.closed


@dataclass
class Guard:
    """A compile-time fact about the world: `read` must still give `expected`."""

    read: Callable[[], Any]
    expected: Any

    def holds(self) -> bool:
        value = self.read()
        return value is self.expected or same(value, self.expected)


class KindGuard:
    """Something outside must stay of the kind that it was: the program was compiled for that, without reading it."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read, self.expected = read, kind_of(read())

    def holds(self) -> bool:
        return bool(kind_of(self.read()) == self.expected)


def same(a: Any, b: Any) -> bool:
    """True if nothing tells two values apart: 1, 1.0 and True are told apart, also in tuples."""
    if type(a) is not type(b) or not isinstance(a, GUARDED_BY_VALUE):
        return a is b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


GUARDED_BY_VALUE = (int, str, bytes, tuple)
