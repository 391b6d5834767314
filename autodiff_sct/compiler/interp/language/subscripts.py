"""Subscripts: what is indexed and by what.

``a[i][j]`` of an array is ``a[i, j]``: one read or write of one place, whichever of the two people write.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Leaf, SliceV, TupleV, Value
from ...ir.builder import Specialiser
from ..arrays import indexing
from ..containers import items
from ..containers.sources import is_range
from ..kernel.handlers import evaluate, expression
from ..kernel.operations import call_value


@expression(gast.Slice)
def slice_(s: Specialiser, node: Any) -> Value:
    parts = [Const(None) if part is None else evaluate(s, part) for part in (node.lower, node.upper, node.step)]
    if all(isinstance(p, Const) and p.expr is None for p in parts):
        return Const(slice(*(p.value for p in parts)))
    return SliceV(*parts)


@expression(gast.Subscript)
def subscript(s: Specialiser, node: Any) -> Value:
    return items.get_item(s, *place_of(s, node))


def place_of(s: Specialiser, node: Any) -> tuple[Value, Value]:
    """The base of a subscript, and its index: ``a[i][j]`` of an array is ``a[i, j]``."""
    if not isinstance(node.value, gast.Subscript) or not is_plain_index(node.slice):
        base = evaluate(s, node.value)
        return base, index_into(s, base, node.slice)
    whole, first = place_of(s, node.value)
    if not indexing.is_row(s, whole, first):
        base = items.get_item(s, whole, first)
        return base, index_into(s, base, node.slice)
    index = index_into(s, whole, node.slice)
    if not all(indexing.is_basic(s, part) for part in indexing.parts_of(index)):
        return items.get_item(s, whole, first), index
    return whole, TupleV((*indexing.parts_of(first), *indexing.parts_of(index)))


def is_plain_index(node: Any) -> bool:
    """True if an index calls nothing of a user's, so that it may be computed before that is read which it is of."""
    for part in gast.walk(node):
        if isinstance(part, gast.Call) and getattr(part.func, "id", None) not in ("abs", "int", "len", "max", "min"):
            return False
        if isinstance(part, (gast.NamedExpr, gast.Lambda, gast.comprehension)):
            return False
    return True


def index_into(s: Specialiser, base: Value, node: Any) -> Value:
    """An index; for an array with ranges that only the run knows as arrays, as NumPy reads them."""
    index = evaluate(s, node)
    if not isinstance(base, Leaf) or not isinstance(s.facts[base.name], Num):
        return index
    if isinstance(index, TupleV) and index.cls is None:
        return TupleV(tuple(positions(s, part) for part in index.items))
    return positions(s, index)


def positions(s: Specialiser, index: Value) -> Value:
    if not is_range(index):
        return index

    return call_value(s, Const(np.arange, ir.attribute(s.bind("np", np), "arange")), list(index.bounds), {})
