"""Element facts: the values that a list or dict in a variable may hold, and as what."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from operator import is_
from typing import Any

from .. import ir
from ..domain.facts import Facts, Num, Opaque, Pair, blurred
from ..domain.values import Const, Later, Leaf, ListV, SliceV, TupleV, Value
from .builder import Specialiser


def storable(s: Specialiser, value: Value) -> bool:
    """True if a value can be an element of a list that lives in a variable."""
    if isinstance(value, Leaf):
        return True
    if isinstance(value, Const):
        return isinstance(s.facts_of(value), Num) or value.value is None or isinstance(value.value, (str, Enum))
    if isinstance(value, Later):
        return storable(s, value.item)
    return isinstance(value, TupleV) and all(storable(s, v) for v in value.items)


def as_element(s: Specialiser, value: Value) -> Value:
    """A value as an element of a list that lives in a variable, where slices are objects."""
    if isinstance(value, TupleV):
        return TupleV(tuple(as_element(s, item) for item in value.items), value.cls)
    return slice_object(s, value) if is_slice(value) else value


def is_slice(value: Value) -> bool:
    """True if a value is a slice whose bounds are known."""
    return isinstance(value, SliceV) or isinstance(value, Const) and isinstance(value.value, slice)


def as_operand(s: Specialiser, value: Value) -> Value:
    """A value as an operand of a comparison, where slices are objects, also those in tuples and lists."""
    if isinstance(value, (TupleV, ListV)):
        items = tuple(as_operand(s, item) for item in value.items)
        if all(map(is_, items, value.items)):
            return value
        return ListV(items, value.site) if isinstance(value, ListV) else TupleV(items, value.cls)
    return slice_object(s, value) if is_slice(value) else value


def slice_object(s: Specialiser, value: Any) -> Leaf:
    """A variable that holds a slice."""
    if isinstance(value, Const):
        bounds: list[Value] = [Const(bound) for bound in (value.value.start, value.value.stop, value.value.step)]
    else:
        bounds = [value.start, value.stop, value.step]
    if bounds[2] == Const(None):
        bounds.pop()
    return s.let(ir.call("slice", *map(s.expr, bounds)), Opaque(slice), hint="part", may_raise=False)


def element_facts(facts: Facts) -> Facts:
    """Facts of an element: elements of one list need not agree in the lengths of their axes."""
    if isinstance(facts, Num):
        dims = None if facts.dims is None else tuple(map(blurred, facts.dims))
        return replace(facts, dims=dims, size=None)
    if isinstance(facts, Pair):
        return Pair(tuple(element_facts(f) for f in facts.items), facts.cls)
    return facts
