"""``hasattr``, ``getattr``, ``setattr``, ``vars``, and methods of strings."""

from __future__ import annotations

import types
from typing import Any

from ... import ir
from ...domain.dummies import is_cheap
from ...domain.facts import BOOL, INT, Facts, Opaque
from ...domain.values import Const, Leaf, Obj, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import handles, otherwise
from ..objects import union_tables
from ..objects.attributes import asked_for, assign_attribute, read_now
from ..objects.tables import classes_of_row, may_be_none
from ..objects.types import class_of
from ..world.class_guards import found_in, has, observe, own_method


@handles(hasattr)
def hasattr_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    name = s.static(args[1])
    for own in (args[0].cls,) if isinstance(args[0], Obj) else classes_of_row(s, args[0]):
        if own_method(s, own, "__getattr__") is not None:
            raise s.refuse(
                "attribute",
                f"whether a {own.__name__}, which has a __getattr__, has {name!r} is not known",
                "read the attribute in `try`, or define it in the class",
            )
    if isinstance(args[0], Obj):
        if (args[0].id, name) in s.unsure:
            raise s.refuse("attribute", f"only the run tells whether {name!r} was assigned to the object")
        if (args[0].id, name) in s.env:
            return Const(True)
        if args[0].id in s.objects:
            read = s.objects[args[0].id][1]
            return Const(observe(s, lambda: hasattr(read(), name)))
        found = found_in(s, args[0].cls, name)  # which guards what the class has of that name
        return Const(has(args[0].cls, name) and not isinstance(found, types.MemberDescriptorType))
    if isinstance(args[0], Const):
        value = args[0].value
        return Const(observe(s, lambda: hasattr(value, name)))
    if isinstance(args[0], Leaf) and (classes := union_tables.classes_of(s, args[0])) is not None:
        if may_be_none(s, args[0]):
            raise s.refuse(
                "attribute", "which attributes an object has that may be None is not known", "compare it with None"
            )
        return union_tables.has_attribute(s, args[0], classes, name)
    cls = class_of(s, args[0])
    if cls is None and isinstance(args[0], Leaf):
        test = ir.call("hasattr", s.expr(args[0]), ir.constant(name))
        return s.let(test, BOOL, hint="has", may_raise=False)
    return Const(hasattr(cls, name) or ("column", cls, name) in s.env if cls is not None else False)


@handles(getattr)
def getattr_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) > 2:
        has = hasattr_(s, args[:2], {})
        if not isinstance(has, Const):
            raise s.refuse(
                "attribute", "whether this has the attribute is known only at run time", "test its class before"
            )
        if not has.value:
            return args[2]
    return read_now(s, asked_for(s, args[0], s.static(args[1])))


@handles(vars)
def vars_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) != 1:
        raise s.refuse(
            "unsupported-syntax",
            "`vars()` of a function's own variables cannot be followed",
            "make a dict of those that are meant",
        )
    return asked_for(s, args[0], "__dict__")


@handles(setattr)
def setattr_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    assign_attribute(s, args[0], s.static(args[1]), args[2])
    return Const(None)


WHOLE = ("count", "find", "index", "rfind", "rindex")
TESTS = (
    "endswith", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "isupper",
    "startswith",
)  # fmt: skip
TEXT = (
    "capitalize", "casefold", "center", "format", "join", "ljust", "lower", "lstrip", "replace", "rjust", "rstrip",
    "strip", "swapcase", "title", "upper", "zfill",
)  # fmt: skip


def returned_by(name: str) -> Facts:
    """The facts of the result of a method of a string."""
    if name in WHOLE:
        return INT
    if name in TESTS:
        return BOOL
    return Opaque(str) if name in TEXT else Opaque()


def computed(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The result of a method of a constant string where all of its arguments are constants, too."""
    known = isinstance(fn, types.BuiltinMethodType) and isinstance(fn.__self__, str)
    if not known or not all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return None
    given, named = [s.static(v) for v in args], {k: s.static(v) for k, v in kwargs.items()}
    if not is_cheap(fn, given, named):
        return None
    try:
        result = fn(*given, **named)
    except (IndexError, KeyError, TypeError, ValueError):
        return None  # the call raises when it runs
    return Const(result) if isinstance(result, (str, int)) else None


@otherwise(str)
def text_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The text of a constant."""
    value = args[0].value if len(args) == 1 and isinstance(args[0], Const) and not kwargs else None
    return Const(str(value)) if type(value) in (str, int, bool) else None


@handles(ord)
def code_point(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if s.is_static(args[0]) and isinstance(letter := s.static(args[0]), str) and len(letter) == 1:
        return Const(ord(letter))
    return s.let(ir.call("ord", s.expr(args[0])), INT, hint="code")
