"""Paths: where a value is found, starting from the function that is differentiated.

========================  ===========================================
path                      what is there
========================  ===========================================
``[]``                    what is differentiated
``["module", name]``      a module of a library
``["global", p, name]``   a name as the function at ``p`` sees it
``["cell", p, k]``        its k-th closure variable
``["default", p, k]``     the default of its k-th parameter with one
``["keyword", p, name]``  the default of a keyword-only parameter
``["code", p]``           what it does
``["item", p, key]``      an item of what is at ``p``
``["attribute", p, name]``  an attribute of it
========================  ===========================================

`Paths` walks them in one order when a program is kept and when it is looked up.  The marks that it gives number
functions, their globals, closure cells and arrays as they are met: what was one object then has to be one object now.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...domain.dependencies import AttributeRead, CellRead, CodeRead, DefaultRead, GlobalRead, ItemRead, KwDefaultRead
from ...domain.values import home_of
from .fingerprint import (
    PLAIN,
    NotKept,
    is_input,
    is_library,
    mark_of_code,
    mark_of_kind,
    mark_of_module,
    mark_of_name,
    mark_of_plain,
    named,
)

__all__ = ["Paths"]

Path = list[Any]


class Paths:
    """The functions of a program and where they are."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.functions: dict[int, Path] = {}
        self.tables: dict[int, Path] = {}  # of globals -> a function that has them
        self.cells: dict[int, Path] = {}
        self.numbers: dict[int, tuple[int, Any]] = {}  # id -> number, and the object, kept alive
        self.start = self.mark(root, [])

    # -- marks

    def mark(self, value: Any, path: Path) -> list[Any]:
        """The mark of the object at a path; functions there are known from now on."""
        if isinstance(value, ModuleType):
            return mark_of_module(value)
        if hasattr(type(value), "__autodiff_gradient__"):
            return self.mark_gradient(value, path)
        if isinstance(value, FunctionType) and not is_library(home_of(value)):
            return self.mark_function(value, path)
        if type(value) in PLAIN and type(value) not in (int, float, complex):
            return mark_of_plain(value)
        if type(value) is tuple:
            return ["tuple", len(value)]
        if is_input(value):
            one = isinstance(value, (int, float, complex, np.generic))
            return ["input", mark_of_kind(value), -1 if one else self.number(value)]
        return mark_of_name(value)

    def mark_function(self, fn: FunctionType, path: Path) -> list[Any]:
        self.functions.setdefault(id(fn), path)
        self.tables.setdefault(id(fn.__globals__), path)
        cells = fn.__closure__ or ()
        for k, cell in enumerate(cells):
            self.cells.setdefault(id(cell), ["cell", path, k])
        numbers = [self.number(each) for each in (fn, fn.__globals__, *cells)]
        return [*mark_of_code(fn), numbers]

    def mark_gradient(self, gradient: Any, path: Path) -> list[Any]:
        """A gradient function is what it is a gradient of and its settings."""
        names = vars(type(gradient)).get("__autodiff_settings__")  # its own, not those of a class that it extends
        if names is None or gradient.weights is not None:
            raise NotKept(gradient)
        settings = [repr(getattr(gradient, name)) for name in names]
        return ["gradient", *settings, self.mark(gradient.fn, ["attribute", path, "fn"])]

    def number(self, value: Any) -> int:
        """A number for an object, the same whenever it is met."""
        return self.numbers.setdefault(id(value), (len(self.numbers), value))[0]

    # -- from readings to paths

    def locate(self, read: Callable[[], Any]) -> Path | None:
        """The path of something that is read; None as long as nothing leads there."""
        if isinstance(read, GlobalRead):
            home = self.tables.get(id(read.table))
            return self.in_library(read) if home is None else ["global", home, read.name]
        if isinstance(read, CellRead):
            return self.cells.get(id(read.cell))
        if isinstance(read, DefaultRead):
            return self.of_function("default", read.fn, read.place)
        if isinstance(read, KwDefaultRead):
            return self.of_function("keyword", read.fn, read.name)
        if isinstance(read, CodeRead):
            return self.of_function("code", read.fn)
        if isinstance(read, ItemRead):
            inner = self.locate(read.read)
            return None if inner is None else ["item", inner, read.key]
        if isinstance(read, AttributeRead) and isinstance(read.owner, ModuleType):
            return ["attribute", ["module", mark_of_module(read.owner)[1]], read.name]
        return None

    def of_function(self, kind: str, fn: FunctionType, *rest: Any) -> Path | None:
        home = self.functions.get(id(fn))
        return None if home is None else [kind, home, *rest]

    def in_library(self, read: GlobalRead) -> Path | None:
        """The globals of a library's own functions."""
        home = read.table.get("__name__", "")
        return ["attribute", ["module", home], read.name] if is_library(home) and read.name in read.table else None

    # -- and back

    def read(self, path: Path) -> Callable[[], Any]:
        """The reader of a path, for any number of reads."""
        kind, inner, *rest = path
        if kind == "item":
            return ItemRead(self.read(inner), rest[0])
        if kind == "attribute":
            return AttributeRead(self.value(inner), rest[0])
        if kind == "cell":
            return CellRead(self.value(inner).__closure__[rest[0]])
        if kind == "global":
            return GlobalRead(self.value(inner).__globals__, rest[0])
        makers: dict[str, Any] = {"default": DefaultRead, "keyword": KwDefaultRead, "code": CodeRead}
        made: Callable[[], Any] = makers[kind](self.value(inner), *rest)
        return made

    def value(self, path: Path) -> Any:
        """The object at a path at present."""
        if not path:
            return self.root
        if path[0] == "module":
            return module_of(path[1])
        return self.read(path)()


def module_of(name: str) -> ModuleType:
    found = sys.modules.get(name)
    if found is None and is_library(name):
        named(name, "__name__")
        found = sys.modules.get(name)
    if found is None:
        raise NotKept(name)
    return found
