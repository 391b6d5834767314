"""``a.flat``: the elements of an array in the order of its indices, read and written by one number."""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from ...rules.index import places_flat
from .. import ir
from ..facts import Num, Opaque
from . import arrays, indexing
from .attributes import attribute_of
from .calls import call_value
from .expressions import operate
from .iteration import Source
from .overlap import check_apart
from .state import Specialiser
from .values import Const, Leaf, Obj, SliceV, TupleV, Value

BASE = "base"


def flat_of(s: Specialiser, base: Leaf) -> Obj:
    """``base.flat``"""
    obj = Obj(("flat", base.name), np.flatiter)
    s.env[(obj.id, BASE)] = base
    return obj


def is_flat(value: Value) -> bool:
    return isinstance(value, Obj) and value.cls is np.flatiter


def base_of(s: Specialiser, flat: Obj) -> Leaf:
    base: Leaf = s.env[(flat.id, BASE)]
    return base


def numpy(s: Specialiser, name: str, *args: Value) -> Value:
    return call_value(s, Const(getattr(np, name), ir.attribute(s.bind("np", np), name)), list(args), {})


def elements(s: Specialiser, flat: Obj) -> Value:
    """All of them, for a function that reads them."""
    return numpy(s, "ravel", base_of(s, flat))


def numbers(s: Specialiser, base: Leaf, index: Value) -> Value:
    """The positions that an index names, in an array where it is a slice."""
    if isinstance(index, SliceV) or isinstance(index, Const) and isinstance(index.value, slice):
        everything = numpy(s, "arange", attribute_of(s, base, "size"))
        assert isinstance(everything, Leaf)
        return indexing.load_item(s, everything, index)
    return index


def place(s: Specialiser, base: Leaf, index: Value) -> Value | None:
    """One position as an index of each axis, also where it counts from the end."""
    shape, given = attribute_of(s, base, "shape"), s.num(index)
    if given is None or given.dims != () or not isinstance(shape, TupleV):
        return None
    parts: list[Value] = []
    for length in reversed(shape.items[1:]):
        parts.insert(0, operate(s, gast.Mod, index, length))
        index = operate(s, gast.FloorDiv, index, length)
    return TupleV((index, *parts)) if parts else index


def get_flat(s: Specialiser, flat: Obj, index: Value) -> Value:
    """``a.flat[index]`` is a copy."""
    base = base_of(s, flat)
    one = place(s, base, index)
    if one is not None:
        return indexing.load_item(s, base, one)
    return numpy(s, "take", base, numbers(s, base, index))


def set_flat(s: Specialiser, flat: Obj, index: Value, value: Value) -> None:
    """``a.flat[index] = value``"""
    base = base_of(s, flat)
    one = place(s, base, index)
    if one is not None:
        arrays.store_item(s, base, one, value)
        return
    check_apart(s, base, value)
    where, facts = numbers(s, base, index), s.facts[base.name]
    given = s.num(value)
    if where is not index and (given is None or given.dims != ()):
        value = numpy(s, "resize", value, attribute_of(s, where, "size"))
    if isinstance(facts, Num) and facts.ndim == 1:
        arrays.store_item(s, base, where, value)
        return
    expr = ir.call(s.bind("places_flat", places_flat), s.expr(where), s.expr(attribute_of(s, base, "shape")))
    arrays.store_item(s, base, s.let(expr, Opaque(tuple), hint="places"), value)


def assign_flat(s: Specialiser, base: Leaf, value: Value) -> None:
    """``a.flat = value``"""
    given = s.num(value)
    if given is None or given.dims != ():
        value = numpy(s, "resize", value, attribute_of(s, base, "shape"))
    arrays.store_item(s, base, Const(Ellipsis), value)


def over_flat(s: Specialiser, flat: Obj) -> Source:
    from .iterators import positions

    base = base_of(s, flat)
    shape = attribute_of(s, base, "shape")
    if not isinstance(shape, TupleV):
        raise s.refuse("`.flat` of an array of unknown rank", "use `np.ravel`")
    source = positions(s, list(shape.items))
    return replace(source, item=lambda k: indexing.load_item(s, base, source.item(k)))


__all__ = ["assign_flat", "elements", "flat_of", "get_flat", "is_flat", "over_flat", "set_flat"]
