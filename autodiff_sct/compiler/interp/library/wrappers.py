"""Wrappers around functions: those of packages, Python's decorators, caches; calls of registries and tables of names.

Wrappers in installed packages that hand their arguments on: the wrapped function is followed, in the wrapper's run.

What such a wrapper does besides the call (checks of arguments, settings that it enters, what it makes of exceptions)
carries no derivative: Python carries it out in the run, as it stands (see `runtime.wrappers`).

Decorators of Python's library on functions that are defined inside the program.

::

    def logged(f):
        @functools.wraps(f)                 it gives `inner` the name and the text of `f`, which nobody computes with
        def inner(*args):
            return f(*args)
        return inner

    @contextlib.contextmanager
    def scaled(v):                          its text around the block of the `with`
        yield v * 2

Functions with a cache that are defined inside the program.

::

    @functools.cache
    def bessel(n):                     a call with arguments that were met before is the value that it had then
        ...

That is no difference where the function computes a value and does nothing else; others are refused. Where only the run
knows an argument, the values are kept in a dict of the emitted program.

Where a program is refused as it stands, it is compiled again in a way that such calls are not followed.  Python carries
them out: once while compiling, for what is found decides how the program goes on, and again before every run, which is
compiled anew where something else is found.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import gast
import numpy as np

from ....errors import SourceUnavailable
from ....runtime.wrappers import running
from ... import ir
from ...domain.dependencies import same
from ...domain.facts import Num, Opaque
from ...domain.request import Way
from ...domain.values import (
    Closure,
    Const,
    ListV,
    Obj,
    PartialV,
    Suspended,
    TupleV,
    Value,
    Wrapped,
    is_opaque,
    is_packaged,
    slots_of,
)
from ...domain.values import is_installed as of_package
from ...frontend.parse import parse
from ...frontend.supported_syntax import YIELDS, own_nodes
from ..containers import items as containers
from ..control.context_managers import yields_once
from ..kernel.handlers import handles
from ..kernel.operations import call_python, call_value, opaque_call, own_value
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended, run_block
from ..models import functions as models
from ..world.captures import import_external, object_number
from ..world.class_guards import observe
from ..world.normalized_bodies import body_of_closure
from .validation import answer_of, is_plain, stand_in

__all__ = ["wrapped_call"]

LOOKS = frozenset({"get", "items", "keys", "values"})  # methods of a dict that do not change it


def wrapped_call(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], follow: Callable[[Any], Value]
) -> Value | None:
    """The value of a call of a wrapper, of which `follow` follows the wrapped function; None for other functions."""
    wrapped = getattr(fn, "__wrapped__", None)
    if not isinstance(wrapped, FunctionType) or not hands_on(fn, wrapped) or not s.attempt.takes(Way.LATE):
        return None
    if not all(is_plain(s, value) for value in (*args, *kwargs.values())):
        return None
    manager = answer_of(s, running, fn, args, kwargs, Opaque(running))
    block: ir.Block = []
    found: list[Value] = []
    origin = s.where()
    around = s.wrappers
    s.wrappers = (*around, (fn, [stand_in(s, a) for a in args], {k: stand_in(s, v) for k, v in kwargs.items()}))
    try:
        goes_on = run_block(s, block, lambda: found.append(follow(wrapped)))
    finally:
        s.wrappers = around
    s.block.append(ir.With([(ir.name(manager.name), None)], block, origin))
    if not goes_on:
        raise Ended
    return found[0]


def hands_on(fn: FunctionType, wrapped: FunctionType) -> bool:
    """True if a function of an installed package returns nothing but what its wrapped one makes of its arguments."""
    if not isinstance(fn, FunctionType) or not is_packaged(fn):
        return False
    names = {name for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()) if holds(cell, wrapped)}
    try:
        tree = parse(fn).tree
    except SourceUnavailable:
        return False
    given = tree.args
    if given.args or given.posonlyargs or given.kwonlyargs or given.vararg is None or given.kwarg is None:
        return False
    args, kwargs = given.vararg.id, given.kwarg.id
    nodes = list(own_nodes(tree))
    results = [node.value for node in nodes if isinstance(node, gast.Return)]
    if not results or not all(is_call_of(value, names, args, kwargs) for value in results):
        return False
    return not any(isinstance(node, (gast.Yield, gast.YieldFrom)) for node in nodes) and is_left(tree, args, kwargs)


def holds(cell: Any, wrapped: FunctionType) -> bool:
    """True if a closure variable is the wrapped function."""
    try:
        return cell.cell_contents is wrapped
    except ValueError:  # it is empty
        return False


def is_call_of(value: Any, names: set[str], args: str, kwargs: str) -> bool:
    """True for ``fn(*args, **kwargs)``."""
    return (
        isinstance(value, gast.Call)
        and getattr(value.func, "id", None) in names
        and len(value.args) == len(value.keywords) == 1
        and isinstance(value.args[0], gast.Starred)
        and getattr(value.args[0].value, "id", None) == args
        and value.keywords[0].arg is None
        and getattr(value.keywords[0].value, "id", None) == kwargs
    )


def is_left(tree: Any, args: str, kwargs: str) -> bool:
    """True if a wrapper does not change what it was given: its tuple has one name, its dict is only looked at."""
    looks: set[Any] = set()
    for node in gast.walk(tree):
        if isinstance(node, gast.Call):
            looks |= {keyword.value for keyword in node.keywords if keyword.arg is None}
        elif isinstance(node, gast.Attribute) and node.attr in LOOKS:
            looks.add(node.value)
        elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load):
            looks.add(node.value)
        elif isinstance(node, gast.Compare) and all(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
            looks |= {*node.comparators}
    names = [node for body in tree.body for node in gast.walk(body) if isinstance(node, gast.Name)]
    return all(isinstance(n.ctx, gast.Load) for n in names if n.id in (args, kwargs)) and all(
        n in looks for n in names if n.id == kwargs
    )


@handles(functools.wraps)
def wraps(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return PartialV(Const(models.wrapped), tuple(args[:1]), {})


@dataclass(eq=False)
class Manager(Wrapped):
    """A manager: the result of ``contextlib.contextmanager`` for a function of the program."""

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return Suspended(self.fn, args, kwargs, s.site("generator"))


@handles(contextlib.contextmanager)
def contextmanager(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made_of = args[0]
    if not isinstance(made_of, Closure):
        return opaque_call(s, s.expr(Const(contextlib.contextmanager)), contextlib.contextmanager, args, kwargs)
    if not any(isinstance(n, YIELDS) for n in own_nodes(made_of.node)) or not yields_once(
        body_of_closure(made_of).tree.body
    ):
        raise s.refuse(
            "kept-generator",
            "a manager that is defined inside the function and does not yield in one place",
            "write `try`",
        )
    return Manager(made_of)


@dataclass(eq=False)
class Cached(Wrapped):
    """A closure with its cache, which is kept among the variables of the program."""

    site: Any
    remembering: Value | None  # the function with a dict of its values, where only the run knows some arguments

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of a call: the one that it had before, with the same arguments."""
        name = self.fn.name
        if self.remembering is not None or not all(map(s.is_static, [*args, *kwargs.values()])):
            return self.call_at_run_time(s, args, kwargs)
        key = (("memo", self.site), (*args, *kwargs.items()))
        if key not in s.env:
            mark = len(s.block)
            result = own_value(s, call_value(s, self.fn, args, kwargs))
            if not all(is_quiet(stmt) for stmt in ir.walk(s.block[mark:])):
                raise s.refuse("cached-function", f"{name} has a cache, and does more than compute a value")
            s.env[key] = result
            s.memos.add(key)
        return s.env[key]

    def call_at_run_time(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of a call with integers, kept under them in a dict, as those of all calls are then."""
        if kwargs or not all(is_setting(s, value) for value in args):
            raise s.refuse(
                "cached-function",
                f"{self.fn.name} has a cache, and is called with other things than integers, which only the run knows",
                "keep the values in a dict or a list, or give it settings such as integers only",
            )
        if self.remembering is None:
            raise Restart(("cache", self.site))
        return call_value(s, self.remembering, args, {})


def is_setting(s: Specialiser, value: Value) -> bool:
    """True if a value is one that carries no derivative and tells calls apart."""
    if isinstance(value, TupleV):
        return all(is_setting(s, item) for item in value.items)
    facts = s.facts_of(value)
    return s.is_static(value) or isinstance(facts, Num) and facts.kind in ("int", "bool")


def is_quiet(stmt: Any) -> bool:
    """True if running a statement once, or again, makes no difference."""
    if isinstance(stmt, ir.Let):
        return not stmt.effect
    return isinstance(stmt, (ir.If, ir.Loop, ir.Raise)) or (isinstance(stmt, ir.Effect) and stmt.kind == "append")


@handles(functools.lru_cache, functools.cache)
def cache(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``@cache``, ``@lru_cache`` and ``@lru_cache(maxsize=None)``; how much it holds makes no difference."""
    if args and isinstance(args[0], Closure):
        site = s.site("cache")
        at_run_time = ("cache", site) in s.dynamic
        return Cached(args[0], site, call_python(s, models.remembering, args, {}) if at_run_time else None)
    if args and callable(getattr(args[0], "value", None)):
        raise s.refuse(
            "outside-write",
            "a function from outside gets a cache inside the program",
            "decorate it where it is defined",
        )
    return PartialV(Const(functools.cache), (), {})


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
    if (settings := settings_in(first)) is not None and type(second) is type(first):
        if contents(settings) != contents(settings_in(second)):
            return None
        observe(s, lambda: contents(settings_in(call())))
        s.world.closed = True
        return Const(first)
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
    return all(is_unchanged(s, *key) for key in [*s.env] if isinstance(key, tuple) and key[0] in s.objects)


def is_unchanged(s: Specialiser, owner: Any, name: Any) -> bool:
    """True if an object outside holds the setting that the program left there: it was entered and put back."""
    outside, read = s.objects[owner]
    written = s.env[(owner, name)]
    if not isinstance(written, Const) or not isinstance(name, str) or name not in getattr(outside, "__dict__", ()):
        return False
    return same(observe(s, lambda: vars(read()).get(name)), written.value)


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


def settings_in(value: Any) -> dict[str, Any] | None:
    """The attributes of an object of an installed package that holds nothing but settings; None for another value."""
    cls = type(value)
    if not of_package(cls) or is_opaque(cls) or callable(value):
        return None
    names = [*(name for each in cls.__mro__ for name in slots_of(each)), *getattr(value, "__dict__", ())]
    held = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return held if held and all(is_display(each) and not holds_changeable(each) for each in held.values()) else None


def holds_changeable(value: Any) -> bool:
    """True for lists and dicts, and for tuples of such."""
    return type(value) in (list, dict) or type(value) is tuple and any(map(holds_changeable, value))


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
