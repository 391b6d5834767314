"""Items of ``a.flat``, read and written by one number, a slice, positions or a mask."""

from __future__ import annotations

import gast

from ....compiler import ir
from ....rules.index import places_flat
from ...domain.facts import Num, Opaque
from ...domain.values import Const, Leaf, ListV, Obj, SliceV, TupleV, Value
from ..arrays import emit_op, indexing
from ..kernel.operations import attribute_of, operate
from ..kernel.specialiser import Specialiser
from .emit_op import store_repeated
from .flat import base_of, numpy
from .overlap import check_apart


def plain_index(s: Specialiser, index: Value) -> Value:
    """An index without what changes nothing in it: one of a tuple of one, and all of them for an ellipsis."""
    if isinstance(index, TupleV) and len(index.items) == 1:
        index = index.items[0]
    if isinstance(index, Const) and index.value is Ellipsis:
        return Const(slice(None))
    items = index.items if isinstance(index, ListV) else (index,)
    for facts in [s.num(item) for item in items]:
        if facts is not None and (facts.dtype is None or (facts.dtype.kind == "b" and not facts.ndim)):
            what = "something that may be positions or a mask" if facts.dtype is None else "a boolean"
            raise s.refuse("numpy-form", f"`.flat` is indexed by {what}", "index what `np.ravel` returns")
    return index


def is_mask(s: Specialiser, index: Value) -> bool:
    facts = s.num(index)
    if facts is None or facts.dtype is None or facts.dtype.kind != "b":
        return False
    if facts.ndim != 1:
        raise s.refuse(
            "numpy-form", "`.flat` is indexed by a mask that may have several axes", "take `np.ravel` of the mask"
        )
    return True


def mask_of(s: Specialiser, base: Leaf, index: Value) -> Value:
    """The mask over an array's own axes that picks what `index` picks of its elements in order."""
    facts = s.num(base)
    flat = facts is not None and facts.ndim == 1
    return index if flat else numpy(s, "reshape", index, attribute_of(s, base, "shape"))


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
    if not shape.items:
        return TupleV(()) if index in (Const(0), Const(-1)) else None
    parts: list[Value] = []
    for length in reversed(shape.items[1:]):
        parts.insert(0, operate(s, gast.Mod, index, length))
        index = operate(s, gast.FloorDiv, index, length)
    return TupleV((index, *parts)) if parts else index


def get_flat(s: Specialiser, flat: Obj, index: Value) -> Value:
    """``a.flat[index]`` is a copy."""
    base, index = base_of(s, flat), plain_index(s, index)
    one = place(s, base, index)
    if one is not None:
        return indexing.load_item(s, base, one)
    if is_mask(s, index):
        return indexing.load_item(s, base, mask_of(s, base, index))
    return numpy(s, "take", base, numbers(s, base, index))


def set_flat(s: Specialiser, flat: Obj, index: Value, value: Value, shape: Value | None = None) -> None:
    """``a.flat[index] = value``; what `shape` is given for is repeated until it has that."""
    base, index = base_of(s, flat), plain_index(s, index)
    one = place(s, base, index)
    if one is not None:
        emit_op.store_item(s, base, one, value)
        return
    check_apart(s, base, value)
    where, facts = numbers(s, base, index), s.facts[base.name]
    if where is not index:
        shape = attribute_of(s, where, "size")
    if is_mask(s, index):
        where = mask_of(s, base, index)
    elif not isinstance(facts, Num) or facts.ndim != 1:
        expr = ir.call(s.bind("places_flat", places_flat), s.expr(where), s.expr(attribute_of(s, base, "shape")))
        where = s.let(expr, Opaque(tuple), hint="places")
    if shape is None:
        emit_op.store_item(s, base, where, value)
    else:
        store_repeated(s, base, where, value, shape)


def assign_flat(s: Specialiser, base: Leaf, value: Value) -> None:
    """``a.flat = value``"""
    store_repeated(s, base, Const(Ellipsis), value, attribute_of(s, base, "shape"))
