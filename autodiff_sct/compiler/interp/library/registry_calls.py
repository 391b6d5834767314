"""Calls inside installed packages through which no derivative passes: registries, memos, tables of names.

Where a program is refused as it stands, it is compiled again in a way that such calls are not followed.  Python carries
them out: once while compiling, for what is found decides how the program goes on, and again before every run, which is
compiled anew where something else is found.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from ....runtime.wrappers import running
from ...domain.dependencies import same
from ...domain.request import Way
from ...domain.values import Const, ListV, Obj, TupleV, Value, is_packaged
from ...ir.builder import Specialiser
from ..containers import items as containers
from ..world.captures import import_external, object_number
from ..world.class_guards import observe

# Methods that only look something up, by what Python calls them for.
LOOKUPS = {"__getitem__", "__contains__", "__len__", "__bool__", "__eq__", "__ne__", "__hash__", "__str__", "__repr__"}
LOOK = (tuple, len, str, repr, bool, int, float, hash, isinstance, hasattr, getattr)
Reading = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class CallRead:
    """The result of a function, read from outside."""

    fn: Any
    args: tuple[Reading, ...]
    kwargs: dict[str, Reading]

    def __call__(self) -> Any:
        return self.fn(*(read() for read in self.args), **{name: read() for name, read in self.kwargs.items()})


def asked(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], copy: Callable[[Value], Value]
) -> Value | None:
    """The result of a call that Python carries out, a `copy` of it where each call makes an array; None if followed."""
    if not is_installed(fn, args) or not may_be_asked(s, fn):
        return None
    reads = [reading(s, value) for value in (*args, *kwargs.values())]
    known = tuple(read for read in reads if read is not None)
    if len(known) < len(reads):
        return None
    call = CallRead(fn, known[: len(args)], dict(zip(kwargs, known[len(args) :])))
    if not is_memo(fn) and not s.attempt.takes(Way.ASK):
        return None
    try:
        outside, first, second = call(), inside(s.wrappers, call), inside(s.wrappers, call)
    except Exception:
        return None  # as the run will, where the call is followed
    if type(first) in (dict, list) and is_display(first):
        if first is not second and contents(first) == contents(second):
            observe(s, lambda: contents(call()))
            s.world.closed = True
            return displayed(s, first)
        return None
    if not is_same(first, second) or not is_same(first, outside):
        return None
    s.world.closed = True
    given = tuple(object_number(s, read()) for read in known)
    found = import_external(s, call, fn.__name__, ("returned", object_number(s, fn), given, *kwargs))
    if isinstance(first, np.ndarray) and first is not second:  # the caller may write into it
        return copy(found)
    return found


def inside(wrappers: tuple[tuple[Any, ...], ...], call: Callable[[], Any]) -> Any:
    """The result of a call in the settings that wrappers enter, each given with its arguments."""
    with contextlib.ExitStack() as entered:
        for wrapper, args, kwargs in wrappers:
            entered.enter_context(running(wrapper, *args, **kwargs))
        return call()


def is_plumbing(s: Specialiser, cls: type, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if an object of an installed package, made of settings, may be made as Python makes it."""
    init = vars(cls).get("__init__")
    if not isinstance(init, FunctionType) or not is_packaged(init):
        return False
    if not all(map(s.is_static, (*args, *kwargs.values()))):
        return False
    return s.attempt.takes(Way.ASK)


def may_be_asked(s: Specialiser, fn: Any) -> bool:
    """True if a call sees nothing changed, and is made whatever the numbers are or makes no difference."""
    if s.recursive_calls or s.frame is None or s.frame.rule or s.node is s.by_itself:
        return False
    if is_memo(fn):
        return True
    if (s.branches or s.loops) and getattr(fn, "__name__", "") not in LOOKUPS:
        return False
    return not any(isinstance(key, tuple) and key[0] in s.objects for key in s.env)


def is_memo(fn: Any) -> bool:
    """True if a function remembers what it returned: to call it again makes no difference."""
    return hasattr(fn, "cache_info") and isinstance(getattr(fn, "__wrapped__", None), FunctionType)


def is_installed(fn: Any, args: list[Value]) -> bool:
    """True if the text of a function is in an installed package, or that of what a built-in function looks at."""
    fn = fn.__wrapped__ if is_memo(fn) else fn
    if isinstance(fn, FunctionType):
        return is_packaged(fn)
    classes = [value.cls for value in args if isinstance(value, Obj)] if any(fn is each for each in LOOK) else []
    files = [getattr(sys.modules.get(cls.__module__), "__file__", None) or "" for cls in classes]
    return any(map(is_packaged, files))


def reading(s: Specialiser, value: Value) -> Reading | None:
    """The way to read an argument again; None where the program makes it."""
    if isinstance(value, Const):
        return lambda: value.value
    if isinstance(value, Obj) and value.id in s.objects:
        return s.objects[value.id][1]
    if not isinstance(value, (TupleV, ListV)) or (isinstance(value, TupleV) and value.cls is not None):
        return None
    cls = tuple if isinstance(value, TupleV) else list
    items = [read for item in value.items if (read := reading(s, item)) is not None]
    return (lambda: cls(read() for read in items)) if len(items) == len(value.items) else None


def is_same(first: Any, second: Any) -> bool:
    """True if a call has returned the same twice, and something else than nothing."""
    if isinstance(first, np.ndarray) and type(first) is type(second):
        return first.dtype == second.dtype and first.dtype != object and np.array_equal(first, second, equal_nan=True)
    return first is not None and (same(first, second) or (isinstance(first, float) and first == second))


def is_display(value: Any) -> bool:
    """True if a value is one of Python's literals, a function or a class, or a list, dict or tuple of such."""
    if type(value) is dict:
        return all(type(key) in (str, int) for key in value) and all(map(is_display, value.values()))
    if type(value) in (list, tuple):
        return all(map(is_display, value))
    return value is None or type(value) in (bool, int, float, str) or isinstance(value, (type, FunctionType))


def contents(value: Any) -> Any:
    """The items of a display, as something that can be compared."""
    if type(value) is dict:
        return ("dict", *((key, contents(item)) for key, item in value.items()))
    if type(value) in (list, tuple):
        return (type(value).__name__, *map(contents, value))
    return ("float", value.hex()) if type(value) is float else value


def displayed(s: Specialiser, value: Any) -> Value:
    """The abstract value of a display."""
    if type(value) is dict:
        made = containers.new_dict(s)
        containers.update_dict(s, made, [(Const(key), displayed(s, item)) for key, item in value.items()])
        return made
    if type(value) in (list, tuple):
        items = tuple(displayed(s, item) for item in value)
        return ListV(items, s.site()) if type(value) is list else TupleV(items)
    return Const(value)
