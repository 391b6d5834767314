"""Identity: names that stand for one object.

Objects that the program makes exist at compile time only, so nothing at run time could tell them apart: what the
compiler knows of them decides.  Where a branch or a loop decided which object a name stands for, only rows of tables
tell.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import gast
import numpy as np

from ...domain.facts import BOOL, Listed, Num
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...ir.builder import Specialiser
from ..kernel.operations import attribute_of, branch, compare_two, truth
from ..world.class_guards import found_in, has_method
from .fields import field
from .objects import call_method, is_generated
from .tables import class_of_row, is_reference, may_be_none, operation, references, restart_tabled

CHOSEN = ("merge", "carried", "stopped")  # ids of objects that may be one of several
ALIKE = (gast.Is, gast.Eq, gast.In)
ORDERS = {gast.Lt: "__lt__", gast.LtE: "__le__", gast.Gt: "__gt__", gast.GtE: "__ge__"}
PYTHONS_OWN = vars(object)["__eq__"]


def is_own(s: Specialiser, value: Value) -> bool:
    """True if something is an object of a class of the user's that exists at compile time only."""
    return isinstance(value, Obj) and value.id not in s.objects and value.cls not in (dict, list, np.flatiter)


def same_object(s: Specialiser, a: Value, b: Value) -> bool | None:
    """True if two things that are no constants are one object; None where the emitted text tells."""
    if isinstance(a, Obj) and isinstance(b, Obj):
        return same_made(s, a, b)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, TupleV):
            if isinstance(other, Leaf) and s.num(other) is None:
                break
            if not isinstance(other, TupleV) or len(one.items) != len(other.items) or one.cls is not other.cls:
                return False
            break
        if isinstance(one, Obj) and one.id not in s.objects:
            return None if is_reference(s, other) else False
    else:
        return None
    raise s.refuse(
        "object-identity", "whether two names stand for one tuple is not known", "compare the tuples by `==`"
    )


def same_made(s: Specialiser, a: Obj, b: Obj) -> bool | None:
    if a.id == b.id:
        return True
    if a.cls is not b.cls:
        return False
    if a.id in s.objects and b.id in s.objects:
        return None
    if a.id[0] in CHOSEN or b.id[0] in CHOSEN:
        restart_tabled(s, a, b)
        raise s.refuse(
            "object-identity",
            f"only the run tells whether these are one {a.cls.__name__}",
            "compare a field that tells them",
        )
    return False


def told_apart(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """``a == b`` and ``a < b`` where that asks for identity, or for the fields of dataclasses; ``a in b`` of objects.

    None for anything else.
    """
    if isinstance(op, (gast.Eq, gast.NotEq)):
        same = equal(s, a, b)
    elif isinstance(op, (gast.In, gast.NotIn)):
        same = searched(s, a, b)
    else:
        return in_order(s, op, a, b)
    return same if same is None or isinstance(op, ALIKE) else opposite(s, same)


def opposite(s: Specialiser, test: Value) -> Value:
    if isinstance(test, Const):
        return Const(not test.value)
    return s.let(gast.UnaryOp(gast.Not(), s.expr(test)), BOOL, hint="condition", may_raise=False)


def in_order(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """``a < b`` of dataclasses that compare their fields."""
    cls = class_of_both(s, a, b) if type(op) in ORDERS else None
    return fields_compared(s, op, cls, a, b) if compares_fields(s, cls, ORDERS.get(type(op), "")) else None


def class_of_both(s: Specialiser, a: Value, b: Value) -> type | None:
    """The class that two objects have, where it is one."""
    if not all(isinstance(value, (Obj, Leaf)) for value in (a, b)):
        return None
    one, other = (value.cls if isinstance(value, Obj) else class_of_row(s, value) for value in (a, b))
    return one if one is other else None


def equal(s: Specialiser, a: Value, b: Value) -> Value | None:
    if compares_fields(s, cls := class_of_both(s, a, b), "__eq__"):
        same = isinstance(a, Obj) and isinstance(b, Obj) and a.id == b.id
        return Const(True) if same else fields_compared(s, gast.Eq(), cls, a, b)
    if not any(is_own(s, value) for value in (a, b)) or any(has_equality(s, value) for value in (a, b)):
        return None
    same = same_object(s, a, b) if not isinstance(a, Const) and not isinstance(b, Const) else False
    return None if same is None else Const(same)


def has_equality(s: Specialiser, value: Value) -> bool:
    """True if ``==`` may ask something else of a value than whether it is the object."""
    if isinstance(value, Obj):
        return value.cls not in (dict, list) and found_in(s, value.cls, "__eq__") is not PYTHONS_OWN
    if isinstance(value, Leaf):
        facts = s.num(value)
        return facts is None or facts.dims != () or facts.row is not None
    return isinstance(value, Const) and not isinstance(value.value, (int, float, complex, str, type(None)))


def compares_fields(s: Specialiser, cls: type | None, name: str) -> bool:
    """True if a class is a dataclass with the comparison that it is given."""
    if cls is None or not dataclasses.is_dataclass(cls):
        return False
    return isinstance(found_in(s, cls, name), types.FunctionType) and is_generated(cls, name)


def fields_compared(s: Specialiser, op: Any, cls: Any, a: Value, b: Value) -> Value | None:
    """``(a.x, a.y) == (b.x, b.y)``"""
    if any(isinstance(value, Leaf) and may_be_none(s, value) for value in (a, b)):
        return None
    names = [f.name for f in dataclasses.fields(cls) if f.compare]
    one, other = (TupleV(tuple(attribute_of(s, value, name) for name in names), None) for value in (a, b))
    return compare_two(s, op, one, other)


def found(s: Specialiser, obj: Obj, name: Any) -> Value:
    value = field(s, obj, name)
    assert value is not None
    return value


def searched(s: Specialiser, a: Value, b: Value) -> Value | None:
    """``a in b`` where one of them is an object, or holds one."""
    if isinstance(b, Obj) and is_own(s, b) and has_method(s, b, "__contains__"):
        return truth(s, call_method(s, b, "__contains__", [a]))
    if (inside := operation(s, b, "__contains__", a)) is not None:
        return truth(s, inside)
    cls = class_of_row(s, a)
    facts = s.facts[b.name] if isinstance(b, Leaf) else None
    if is_own(s, a) and isinstance(facts, Listed):
        restart_tabled(s, a)
    if cls is not None and isinstance(facts, Listed):
        items = s.elements_of(facts)
        if (items is None or isinstance(items, Num) and items.row is cls) and found_in(s, cls, "__eq__") is PYTHONS_OWN:
            with references(s):
                return s.let(gast.Compare(s.expr(a), [gast.In()], [s.expr(b)]), BOOL, hint="condition")
    if isinstance(b, (TupleV, ListV)):
        known = [*b.items]
    elif isinstance(b, Obj) and b.cls is list:
        known = [found(s, b, key) for key in s.fields(b)]
    else:
        return None
    objects = [value for value in (a, *known) if is_own(s, value) or class_of_row(s, value) is not None]
    return among(s, a, known) if objects else None


def among(s: Specialiser, a: Value, items: list[Value]) -> Value:
    if not items:
        return Const(False)
    same = isinstance(a, Obj) and isinstance(items[0], Obj) and same_object(s, a, items[0])
    test = Const(True) if same else truth(s, compare_two(s, gast.Eq(), items[0], a))
    if isinstance(test, Const):
        return Const(True) if test.value else among(s, a, items[1:])
    key = ("choice", s.site(("in", len(items))))

    def there() -> None:
        s.env[key] = Const(True)

    def go_on() -> None:
        s.env[key] = among(s, a, items[1:])

    branch(s, test, there, go_on)
    return s.env.pop(key)
