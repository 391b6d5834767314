"""Classes and identity of values: `isinstance`, `type`, `is`, and whether a number is Python's or NumPy's.

Objects that the program makes exist at compile time only, so nothing at run time could tell them apart: what the
compiler knows of them decides.  Where a branch or a loop decided which object a name stands for, only rows of tables
tell.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import math
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from ....runtime import real_power
from ....tensor import Tensor
from ... import ir
from ...domain.dummies import dummy
from ...domain.facts import BOOL, Listed, Mapped, Num, Pair
from ...domain.values import Bound, Closure, Const, Leaf, ListV, Obj, PartialV, TupleV, Value
from ..arrays import emit_op
from ..kernel.handlers import handles
from ..kernel.operations import attribute_of, branch, call_value, compare_two, opaque_call, truth
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import possible_classes
from ..world.class_guards import found_in, has_method, is_library, lookup, observe
from ..world.names import is_ours
from .dict_views import class_of_view
from .fields import field
from .objects import call_method, is_generated
from .record_tables import record_of
from .tables import class_of_row, is_reference, is_there, may_be_none, operation, references, restart_tabled
from .union_tables import classes_of as classes_of_row
from .union_tables import is_instance

CONTAINERS = frozenset((list, tuple, dict, set, str, bytes))


@handles(isinstance)
def isinstance_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value, classes = args
    kinds = classes_of(s, classes)
    if any(own_check(kind) is not None for kind in kinds):
        return asked_of_class(s, value, kinds)
    if isinstance(value, Leaf) and (several := classes_of_row(s, value)) is not None:
        if may_be_none(s, value):
            raise s.refuse(
                "isinstance",
                "whether an object that may be None is of one of several classes is not known",
                "compare it with None",
            )
        return is_instance(s, value, several, kinds)
    row = class_of_row(s, value)
    if isinstance(value, Leaf) and row is not None and may_be_none(s, value):
        return is_there(s, value) if issubclass(row, kinds) else Const(False)
    cls = class_of(s, value) or class_in_rules(s, value)
    if cls is not None and hasattr(cls, "stands_for") and any(kind.__module__.startswith("scipy.") for kind in kinds):
        raise s.refuse(
            "setting", f"the class of {cls.stands_for} is asked for", "leave the check out, or make it before the call"
        )
    if any(map(asks_objects, kinds)) and not (cls is not None and is_library(cls)):
        return Const(is_of_kinds(s, value, kinds))
    if cls is not None:
        if cls is Tensor:
            return Const(any(issubclass(Tensor, kind) for kind in kinds))
        return Const(is_one_of(s, cls, kinds))
    facts = s.facts_of(value)
    if isinstance(facts, Num) and facts.row is None and not facts.tensor:
        answers = {is_one_of(s, possible, kinds) for possible in possible_classes(facts)}
        if len(answers) == 1:
            return Const(answers.pop())  # whichever it is
        if is_ours(s) and not answers and CONTAINERS.issuperset(kinds):
            return Const(False)  # our own functions are given numbers and arrays
    return s.let(
        ir.call(gast.Name("isinstance", gast.Load(), None, None), s.expr(value), s.expr(classes)),
        BOOL,
        ir.Op(isinstance, {"x": value}),
        may_raise=False,
    )


def asks_objects(kind: type) -> bool:
    """True if `isinstance` asks the object itself, as that of a protocol does, or of a metaclass with its own test."""
    own = type(kind).__instancecheck__ not in (type.__instancecheck__, abc.ABCMeta.__instancecheck__)
    return own and (getattr(kind, "_is_protocol", True) or not isinstance(kind, abc.ABCMeta))


def is_of_kinds(s: Specialiser, value: Value, kinds: tuple[type, ...]) -> bool:
    """The answer of classes that ask the object itself, which is there only where that is made outside."""
    if not isinstance(value, Obj) or value.id not in s.objects:
        raise s.refuse("isinstance", "`isinstance` with a class that asks the object itself")
    read = s.objects[value.id][1]
    return bool(observe(s, lambda: isinstance(read(), kinds)))


def classes_of(s: Specialiser, value: Value) -> tuple[type, ...]:
    if not s.is_static(value):
        raise s.refuse(
            "isinstance", "`isinstance` with something that is no class", "name a class, or a tuple of classes"
        )
    found = s.static(value)
    return tuple(one_by_one(found))


def one_by_one(kinds: Any) -> Iterator[type]:
    """The classes of a union, or of a tuple of classes and of such tuples."""
    if isinstance(kinds, (tuple, types.UnionType)):
        for kind in kinds if isinstance(kinds, tuple) else kinds.__args__:
            yield from one_by_one(kind)
    else:
        yield kinds


def own_check(kind: type) -> types.FunctionType | None:
    """The own instance check of a class; None where it is the usual."""
    check = lookup(type(kind), "__instancecheck__")
    own = isinstance(check, types.FunctionType) and check.__module__ not in sys.stdlib_module_names
    return check if own else None


def asked_of_class(s: Specialiser, value: Value, kinds: tuple[type, ...]) -> Value:
    """`isinstance` with a class that answers itself: it is asked as Python asks it."""
    if len(kinds) > 1:
        raise s.refuse(
            "isinstance",
            "`isinstance` with several classes, one of which has a metaclass that answers",
            "ask one by one",
        )
    if class_of(s, value) is kinds[0]:
        return Const(True)
    check = observe(s, lambda: own_check(kinds[0]))
    return truth(s, call_value(s, Const(check), [Const(kinds[0]), value], {}))


def is_one_of(s: Specialiser, cls: type, kinds: tuple[type, ...]) -> bool:
    try:
        return bool(issubclass(cls, kinds) if is_library(cls) else observe(s, lambda: issubclass(cls, kinds)))
    except TypeError:  # a protocol with attributes asks the object itself
        raise s.refuse("isinstance", "`isinstance` with something that cannot be asked of a class") from None


def class_of(s: Specialiser, value: Value) -> type | None:
    """The class that a value has at run time, where it is known."""
    if (view := class_of_view(s, value)) is not None:
        return view
    if isinstance(value, Const):
        return type(value.value)
    if isinstance(value, TupleV):
        return value.cls or (tuple if value.listed is None else list)
    if isinstance(value, ListV):
        return list
    if isinstance(value, Obj):
        if value.id in s.cursors:
            raise s.refuse("isinstance", "the class of an iterator is not known", "ask what it was made of")
        return value.cls
    if isinstance(value, (Closure, PartialV, Bound)):
        return types.FunctionType if isinstance(value, Closure) else class_of_callable(value)
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        if isinstance(facts, Num):
            if facts.row is not None:
                if classes_of_row(s, value) is not None:
                    return None
                row = class_of_row(s, value) if facts.kind is not None else None
                return dict if row is not None and record_of(s, value) is not None else row
            if facts.tensor:
                return Tensor
            return class_of_number(facts) if facts.kind is not None else None
        if isinstance(facts, Listed):
            return None if facts.is_tuple is None else tuple if facts.is_tuple else list
        return {Mapped: dict, Pair: tuple}.get(type(facts), getattr(facts, "cls", None))
    return None


def class_of_callable(value: PartialV | Bound) -> type | None:
    """The class of a partial, or of a method; what the methods of Python's own and NumPy's classes are is not asked."""
    if isinstance(value, PartialV):
        return functools.partial
    return None if isinstance(value.function, str) else types.MethodType


def class_of_number(facts: Num) -> type | None:
    if facts.kind == "array":
        return np.ndarray
    try:
        return type(dummy(facts))
    except ValueError:
        return None


def class_in_rules(s: Specialiser, value: Value) -> type | None:
    """The class that rules take a value for: a scalar of which only the run tells whose it is counts as NumPy's."""
    facts = s.facts_of(value)
    return class_of_number(facts) if s.frame is not None and s.frame.rule and isinstance(facts, Num) else None


@handles(type)
def type_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    cls = class_of(s, args[0])
    if cls is None:
        return opaque_call(s, gast.Name("type", gast.Load(), None, None), type, args, kwargs)
    return Const(cls)


@handles(real_power)
def real_power_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Called only where neither NumPy's nor Python's power is known to be the one."""
    base, exp = args
    cls, facts = class_of(s, base), s.facts_of(base)
    whole = s.is_static(exp) and float(s.static(exp)).is_integer()
    unsure = cls is None and isinstance(facts, Num) and facts.dims == ()
    if not whole and (unsure or (cls is float and s.careful)):
        expr = ir.call(s.bind("real_power", real_power), s.expr(base), s.expr(exp))
        return emit_op.apply(s, real_power, expr, args, {})
    if cls is not float:
        return call_value(s, Const(operator.pow), args, kwargs)
    return call_value(s, Const(math.pow, ir.attribute(s.bind("math", math), "pow")), args, kwargs)


def call_by_class(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function of `functools.singledispatch`: the one that is registered for the class of its first argument."""
    cls = class_of(s, args[0]) if args else None
    if cls is None:
        raise s.refuse(
            "isinstance",
            f"only the run tells of which class what {fn.__name__} is given is",
            "call the function itself",
        )
    found = observe(s, lambda: fn.dispatch(cls))
    return call_value(s, Const(found), args, kwargs)


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
