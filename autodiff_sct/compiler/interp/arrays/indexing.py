"""Reading by index: what a part of an array is, whether a view of it or a copy."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from ... import ir
from ...analysis.alias import regions
from ...domain.facts import Axis, Dim, Facts, Listed, Num, Opaque, several
from ...domain.values import Const, Leaf, ListV, Obj, SliceV, TupleV, Value
from ..kernel.operations import items_of
from ..kernel.slice_lengths import between, span
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import too_many_indices
from .flat import elements

MASKS = "masks"  # in `dynamic`: a mask may pick more items one time than another


def parts_of(index: Value) -> list[Value]:
    if isinstance(index, TupleV):
        return list(index.items)
    if isinstance(index, Const) and isinstance(index.value, tuple):
        return [Const(v) for v in index.value]
    return [index]


def is_basic(s: Specialiser, part: Value) -> bool:
    if isinstance(part, Const):
        return (
            part.value is None
            or part.value is Ellipsis
            or isinstance(part.value, (slice, int, np.integer))
            and not isinstance(part.value, bool)
        )
    if is_cut(s, part):
        return True
    facts = s.facts_of(part)
    return isinstance(facts, Num) and facts.dims == () and facts.dtype is not None and facts.dtype.kind in "iu"


def is_row(s: Specialiser, base: Value, index: Value) -> bool:
    """True if an index of integers surely shows a part of an array, not one number."""
    facts, parts = s.num(base) if isinstance(base, Leaf) else None, parts_of(index)
    if facts is None or facts.kind != "array" or facts.dims is None or len(parts) >= len(facts.dims):
        return False
    return all(is_integer(s, part) for part in parts)


def is_integer(s: Specialiser, part: Value) -> bool:
    """True if a part of an index is one integer."""
    added = isinstance(part, Const) and (part.value is None or part.value is Ellipsis)
    return is_basic(s, part) and not added and not is_cut(s, part)


def is_cut(s: Specialiser, part: Value) -> bool:
    """True if a part of an index is a slice, be it one that only the run knows."""
    if isinstance(part, Const):
        return isinstance(part.value, slice)
    return isinstance(part, SliceV) or isinstance(part, Leaf) and s.facts[part.name] == Opaque(slice)


def of_any_rank(s: Specialiser, facts: Num, parts: list[Value]) -> Num:
    """A part of an array of any rank: an array where an axis is cut or added, a copy where an array picks elements."""
    if facts.kind == "array" and any(is_index_array(s, part) for part in parts):
        return Num("array", facts.dtype, None, frozenset([s.root(s.site())]), None, facts.tensor)
    added = any(isinstance(part, Const) and (part.value is None or part.value is Ellipsis) for part in parts)
    cut = added or any(is_cut(s, part) for part in parts)
    return Num("array" if facts.kind == "array" and cut else None, facts.dtype, None, facts.roots, None, facts.tensor)


def is_index_array(s: Specialiser, part: Value) -> bool:
    """True if a part of an index is surely a list, a mask, or an array of integers that has axes."""
    facts = s.facts_of(part)
    if not isinstance(facts, Num):
        return isinstance(part, ListV) or isinstance(facts, Listed) and facts.is_tuple is False
    if facts.dtype is None or facts.dtype.kind not in "iub":
        return False
    return facts.dtype.kind == "b" or facts.kind == "array" and bool(facts.dims)


def normal(s: Specialiser, value: Value) -> Value:
    """A value as the table knows it: an object that stands for a list, also inside others, is the list of its items."""
    if isinstance(value, Obj) and value.cls is list:
        return normal(s, ListV(tuple(items_of(s, value, None))))
    if isinstance(value, Obj) and value.cls is np.flatiter:
        return elements(s, value)
    if isinstance(value, (ListV, TupleV)):
        return replace(value, items=tuple(normal(s, item) for item in value.items))
    return value


def load_item(s: Specialiser, base: Leaf, index: Value) -> Value:
    """``base[index]`` on an array."""
    facts = s.facts[base.name]
    assert isinstance(facts, Num)
    index = normal(s, index)
    parts = parts_of(index)
    if not parts and facts.kind == "npscalar":
        return base
    if not parts and facts.ndim:
        return load_item(s, base, Const(Ellipsis))
    index_ok = all(is_basic(s, p) for p in parts)
    result: Facts
    if facts.dims is None or (facts.dtype is None and facts.kind != "array"):
        result = of_any_rank(s, facts, parts)
    elif index_ok:
        result = basic_facts(s, facts, parts)
    else:
        result = advanced_facts(s, facts, parts)
    axes = new_axes(facts, parts)
    op = (
        ir.Op(np.expand_dims, {"a": base, "axis": Const(axes)})
        if axes or (axes == 0 and not facts.ndim)  # of a number, no part is another view
        else ir.Op(operator.getitem, {"x": base, "index": index})
    )
    if not parts:  # all of it, or the number that is in it
        op = ir.Op(np.asarray, {"a": base}) if facts.dims is None else ir.Op(np.reshape, {"a": base, "shape": index})
    if isinstance(result, Num) and result.roots and result.roots == facts.roots:
        op.shares = (base.name,)
    cut_only = index_ok and all(
        isinstance(p, SliceV) or isinstance(p, Const) and not isinstance(p.value, int) for p in parts
    )
    item = s.let(ir.subscript(ir.name(base.name), s.expr(index)), result, op, may_raise=not cut_only)
    if facts.kind == "array" and parts and len(parts) <= (facts.ndim or 0):
        if all(is_whole(p.value if isinstance(p, Const) else p) for p in parts):
            s.all_of[item.name] = base.name
    return item


def new_axes(facts: Num, parts: list[Value]) -> int | tuple[int, ...] | None:
    """The places of the axes that an index like ``[:, None]`` puts in and does nothing else; None for another index."""
    values = [part.value if isinstance(part, Const) else part for part in parts]
    if not facts.ndim and all(value is None or value is Ellipsis for value in values):
        before = values.index(Ellipsis) if Ellipsis in values else len(values)
        added = [k if k < before else k - len(values) for k, value in enumerate(values) if value is None]
        return (added[0] if len(added) == 1 else tuple(added)) if added else None
    if not facts.ndim or not all(value is None or value is Ellipsis or is_whole(value) for value in values):
        return None
    rest = facts.ndim - sum(is_whole(value) for value in values)
    places: list[int] = []
    place = 0
    for value in values:
        if value is None:
            places.append(place)
        place += rest if value is Ellipsis else 1
    return (places[0] if len(places) == 1 else tuple(places)) if places else None


def is_whole(value: Any) -> bool:
    """True if a part of an index is ``:``."""
    if isinstance(value, SliceV):
        return all(bound == Const(None) or bound is None for bound in (value.start, value.stop, value.step))
    return isinstance(value, slice) and value == slice(None)


def check_axes(s: Specialiser, base: Leaf, index: Value) -> None:
    """Raise what Python does where ``base[index]`` surely has too many indices."""
    facts, parts = s.num(base), parts_of(index)
    if facts is not None and facts.dims is not None and all(is_basic(s, part) for part in parts):
        axes_left(s, facts, parts)


def axes_left(s: Specialiser, facts: Num, parts: list[Value]) -> int:
    """The number of axes that an index of integers and slices leaves to an ellipsis."""
    assert facts.dims is not None
    consumed = sum(1 for p in parts if not (isinstance(p, Const) and (p.value is None or p.value is Ellipsis)))
    if consumed > len(facts.dims):
        raise too_many_indices(s, facts, consumed)
    return len(facts.dims) - consumed


def basic_facts(s: Specialiser, facts: Num, parts: list[Value]) -> Facts:
    assert facts.dims is not None
    rest = axes_left(s, facts, parts)
    dims: list[Axis] = []
    axes = list(facts.dims)
    ellipsis = False
    for part in parts:
        if isinstance(part, Const) and part.value is None:
            dims.append(1)
        elif isinstance(part, Const) and part.value is Ellipsis:
            ellipsis = True
            dims += axes[:rest]
            axes = axes[rest:]
        elif is_cut(s, part):
            dims.append(sliced(s, axes.pop(0), part))
        else:
            axes.pop(0)
    dims += axes
    if not dims and not ellipsis:
        return Num("npscalar", facts.dtype, (), frozenset(), None, facts.tensor)
    return Num("array", facts.dtype, tuple(dims), facts.roots, None, facts.tensor)


def sliced(s: Specialiser, axis: Axis, part: Value) -> Axis:
    """The length of an axis after a slice."""
    if isinstance(part, SliceV):
        if (known := span(s, axis, part)) is not None:
            return known
        several_long = begins_several(s, axis, part)
        return Dim(("slice", axis, *bounds_of(s, part)), 0, several_long) if axis is not None else None
    if isinstance(part, Leaf):
        return Dim(("slice", axis, part.name)) if axis is not None else None
    start, stop, step = part.value.start, part.value.stop, part.value.step
    if (start, stop) == (None, None) and step in (None, 1, -1):
        return axis
    if isinstance(axis, int):
        return len(range(axis)[part.value])
    if axis is None:
        return None
    if step in (None, 1) and (start or 0) >= 0 and (stop is None or stop < 0):
        return axis.plus(-(start or 0) + (stop or 0))
    inside = step in (None, 1) and (start or 0) >= 0
    if inside and (known := between(s, axis, {None: start or 0}, {None: stop})) is not None:
        return known
    return Dim(("slice", axis, start, stop, step))


def begins_several(s: Specialiser, axis: Axis, part: SliceV) -> bool:
    """True if ``:n`` of an axis is not 1 long, for neither `n` nor the axis is."""
    stop = s.facts[part.stop.name] if isinstance(part.stop, Leaf) else None
    whole = all(bound is None or bound == Const(None) for bound in (part.start, part.step))
    return whole and several(axis) and isinstance(stop, Num) and several(stop.size)


def advanced_facts(s: Specialiser, facts: Num, parts: list[Value]) -> Facts:
    """The result of indexing with arrays is a copy; its rank comes from NumPy.

    Of a part of which nothing is known only the run tells whether it is an array, or a number that shows a part.
    """
    assert facts.dims is not None
    if any(is_unknown(s, part) and not is_cut(s, part) for part in parts):
        return Num(None, facts.dtype, None, facts.roots, None, facts.tensor)
    try:
        index = tuple(dummy_index(s, p) for p in parts)
        result = np.ones((2,) * len(facts.dims), facts.dtype)[index]
    except (ValueError, IndexError, TypeError):
        return Num("array", facts.dtype, None, frozenset([s.root(s.site())]), None, facts.tensor)
    if not isinstance(result, np.ndarray):
        return Num("npscalar", facts.dtype, (), frozenset(), None, facts.tensor)
    dims: tuple[Axis, ...] = (None,) * result.ndim
    if len(parts) == 1:
        dims = picked(s, facts.dims, parts[0]) or dims
    elif len(parts) == len(facts.dims) and (together := picked_together(s, parts)) is not None:
        dims = together
    elif None not in facts.dims and None not in (key := tuple(key_of(s, part) for part in parts)):
        dims = tuple(Dim(("picked", key, facts.dims, k)) for k in range(result.ndim))
    return Num("array", facts.dtype, dims, frozenset([s.root(s.site())]), None, facts.tensor)


def is_unknown(s: Specialiser, part: Value) -> bool:
    """True if a part of an index may be a number, and may be an array."""
    facts = s.facts_of(part) if isinstance(part, Leaf) else None
    if isinstance(facts, Num):
        return facts.dims is None or facts.dtype is None
    return isinstance(facts, Opaque) or isinstance(facts, Listed) and facts.is_tuple is not False


def picked(s: Specialiser, dims: tuple[Axis, ...], index: Value) -> tuple[Axis, ...] | None:
    """The axes of what an array or a list of integers or a mask picks; None where they are not known."""
    if isinstance(index, (ListV, TupleV)) and index.items and all(is_integer(s, item) for item in index.items):
        return (len(index.items), *dims[1:])
    found = s.num(index)
    if found is None or found.dtype is None or found.dims is None:
        return None
    if found.dtype.kind in "iu":
        return (*found.dims, *dims[1:])
    key = key_of(s, index)
    return (Dim(("picked", key)), *dims[len(found.dims) :]) if key is not None and found.dims else None


def picked_together(s: Specialiser, parts: list[Value]) -> tuple[Axis, ...] | None:
    """The axes of what arrays of integers of one shape pick, one of them for each axis."""
    found = [s.num(part) for part in parts]
    dims = found[0].dims if found and found[0] is not None else None
    if not dims or None in dims:
        return None
    whole = all(f is not None and f.dtype is not None and f.dtype.kind in "iu" and f.dims == dims for f in found)
    return dims if whole else None


def key_of(s: Specialiser, part: Value) -> Any:
    """The key that tells indices apart which pick other numbers of items; None if unknown."""
    if isinstance(part, Const):
        value = part.value
        return (value.start, value.stop, value.step) if isinstance(value, slice) else (type(value), value)
    if isinstance(part, SliceV):
        return bounds_of(s, part)
    found = s.num(part)
    if not isinstance(part, Leaf) or found is None or found.dtype is None:
        return None
    if found.dtype.kind == "b":
        if MASKS in s.dynamic or s.recursive_calls:
            return None
        s.masks.add(part.name)
    return part.name


def bounds_of(s: Specialiser, part: SliceV) -> tuple[Any, ...]:
    """The names and the numbers that bound a slice."""
    bounds = (part.start, part.stop, part.step)
    return tuple(
        s.step_of(v.name) if isinstance(v, Leaf) else v.value if isinstance(v, Const) else None for v in bounds
    )


def masks_are_written(s: Specialiser) -> bool:
    """True if the number of items that a mask picks may change, while it was taken for one length."""
    if not s.masks:
        return False
    where = regions(s.block, s.facts, s.elements)
    return any(where.is_written(name) for name in s.masks)


def dummy_index(s: Specialiser, part: Value) -> Any:
    if isinstance(part, Const):
        return part.value if not isinstance(part.value, int) or isinstance(part.value, bool) else 0
    if is_cut(s, part):
        return slice(None)
    if isinstance(part, (ListV, TupleV)):
        return [dummy_index(s, p) for p in part.items]
    facts = s.facts_of(part)
    if isinstance(facts, Listed):
        return [0, 0]
    if not isinstance(facts, Num) or facts.dims is None or facts.dtype is None:
        raise ValueError
    if facts.dtype.kind == "b":
        return np.ones((2,) * len(facts.dims), bool)
    if facts.dtype.kind not in "iu":
        raise ValueError
    return np.zeros((2,) * len(facts.dims), int) if facts.dims else 0
