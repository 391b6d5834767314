"""Indices that name no position twice: stores and additions there need no care for repetitions.

::

    order = np.argsort(x)          np.add.at(d_x, order, d_y)          ->      d_x[order] += d_y
    y[rows] *= 3                   stored(d_y, rows) * 3               ->      d_y[rows] * 3

An index is known to be distinct by what made it: places that are counted, sorted, found or drawn without replacement,
and literal lists.  All count from the front, or, in a literal, all from the end, so that no two numbers are one place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import ir
from ...domain.facts import Num, several
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import indexing
from ...interp.arrays.emit_op import Unbound
from ...interp.numpy.methods import is_random, opaque_method

if TYPE_CHECKING:
    from .transform import Reverse

# Functions whose results, used together as one index, name every position at most once, as those of `nonzero` do.
PLACES: tuple[Callable[..., Any], ...] = (
    np.triu_indices,
    np.tril_indices,
    np.triu_indices_from,
    np.tril_indices_from,
    np.diag_indices,
    np.diag_indices_from,
)
ORDERS: tuple[Callable[..., Any], ...] = (np.argsort, np.argpartition)


def may_repeat(r: Reverse, index: Value) -> bool:
    """True if an index may name a position twice."""
    single = all(indexing.is_basic(r.s, p) or r.is_mask(p) for p in indexing.parts_of(index))
    return not single and not is_distinct(r, index)


def is_distinct(r: Reverse, index: Value) -> bool:
    """True if an index of integers names no position twice, since its parts, or one of them, do not."""
    parts = [p for p in indexing.parts_of(index) if not indexing.is_basic(r.s, p)]
    if all_places(r, parts):
        return True
    rows = all(is_vector(r, p) for p in parts)
    return rows and any(is_distinct_vector(r, p) and (len(parts) == 1 or is_long(r.s.num(p))) for p in parts)


def is_vector(r: Reverse, part: Value) -> bool:
    """True if a part of an index is integers along at most one axis."""
    if isinstance(part, (ListV, TupleV)):
        return integers(part) is not None
    facts = r.s.num(part)
    return facts is not None and facts.ndim in (0, 1) and facts.dtype is not None and facts.dtype.kind in "iu"


def is_long(facts: Num | None) -> bool:
    """True if an array surely has not one item, which would be broadcast against those of others."""
    return facts is not None and facts.dims is not None and all(map(several, facts.dims))


def is_distinct_vector(r: Reverse, part: Value) -> bool:
    """True if one array or list of integers holds no place twice."""
    if isinstance(part, (ListV, TupleV)):
        return are_apart(integers(part))
    maker = maker_of(r, part)
    if maker is None or len(maker.targets) != 1 or maker.op is None:
        return False
    fn, arguments = function_of(maker), maker.op.arguments
    if fn is operator.getitem:
        cut = all(indexing.is_cut(r.s, p) for p in indexing.parts_of(arguments["index"]))
        return cut and is_distinct_vector(r, arguments["x"])
    if fn is np.arange:
        return len(arguments) == 1
    if fn is np.array:
        return are_apart(integers(next(iter(arguments.values()))))
    if fn in ORDERS:
        return ndim_of(r, maker) == 1
    return fn is np.flatnonzero or fn is opaque_method and is_drawn_once(r, maker)


def is_drawn_once(r: Reverse, maker: ir.Let) -> bool:
    """True if a method of a generator of random numbers draws numbers below another, none of them twice."""
    assert maker.op is not None
    generator, *given = maker.op.arguments.values()
    below = r.s.num(given[0]) if given else None
    if not is_random(r.s.facts_of(generator)) or below is None or below.dims != ():
        return False
    name = maker.expr.func.attr
    if name == "choice":
        return any(k.arg == "replace" and getattr(k.value, "value", None) is False for k in maker.expr.keywords)
    return bool(name == "permutation")


def all_places(r: Reverse, parts: list[Value]) -> bool:
    """True if the parts of an index are all that a function found, one array for every axis, in any order."""
    makers = [maker_of(r, p) for p in parts]
    maker = makers[0] if makers else None
    if maker is None or any(m is not maker for m in makers) or maker.op is None:
        return False
    fn = function_of(maker)
    if fn is np.nonzero or fn is np.where and len(maker.op.arguments) == 1:
        if len(parts) != ndim_of(r, maker):
            return False
    elif fn not in PLACES:
        return False
    return sorted(p.name for p in parts if isinstance(p, Leaf)) == sorted(maker.targets)


def maker_of(r: Reverse, part: Value) -> ir.Let | None:
    """The statement that computes an array to which nobody writes."""
    maker = r.makers.get(part.name) if isinstance(part, Leaf) else None
    return maker if isinstance(maker, ir.Let) and not r.regions.is_written(part.name) else None


def ndim_of(r: Reverse, maker: ir.Let) -> int | None:
    """The number of axes of a call's first argument."""
    assert maker.op is not None
    facts = r.s.num(next(iter(maker.op.arguments.values())))
    return facts.ndim if facts is not None else None


def function_of(maker: ir.Let) -> Any:
    fn = maker.op.fn if maker.op is not None else None
    return fn.fn if isinstance(fn, Unbound) else fn


def integers(value: Value) -> list[int] | None:
    """The numbers of a literal list or tuple of integers."""
    if not isinstance(value, (ListV, TupleV)):
        return None
    items = [v.value for v in value.items if isinstance(v, Const)]
    return items if len(items) == len(value.items) and all(type(v) is int for v in items) else None


def are_apart(places: list[int] | None) -> bool:
    """True if numbers name different places, whatever the length of the axis."""
    if places is None or len(set(places)) < len(places):
        return False
    return all(k >= 0 for k in places) or all(k < 0 for k in places)
