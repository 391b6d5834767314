"""``hasattr``, ``getattr``, ``setattr`` and ``vars``."""

from __future__ import annotations

import types

from ... import ir
from ...domain.facts import BOOL
from ...domain.values import Const, Leaf, Obj, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import handles
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
