"""Classes of values: `isinstance` and `type`, and what depends on whether a number is Python's or NumPy's."""

from __future__ import annotations

import abc
import functools
import math
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any

import gast

from ....runtime import real_power
from ....tensor import Tensor
from ... import ir
from ...domain.dummies import dummy
from ...domain.facts import BOOL, Listed, Mapped, Num, Pair
from ...domain.values import Bound, Closure, Const, Leaf, ListV, Obj, PartialV, TupleV, Value
from ...ir.builder import Specialiser
from ..arrays import emit_op
from ..kernel.handlers import handles
from ..kernel.operations import call_value, opaque_call, truth
from ..kernel.user_errors import possible_classes
from ..world.class_guards import is_library, lookup, observe
from ..world.names import is_ours
from .dict_views import class_of_view
from .record_tables import record_of
from .tables import class_of_row, is_there, may_be_none
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
