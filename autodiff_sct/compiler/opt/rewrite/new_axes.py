"""Axes in expressions: those of length one that broadcasting puts in by itself, those that go, and those that are kept.

::

    d_t = (d_mu / n)[None]               d_t = d_mu / n
    d_r = d_t * x[:, None] + d_n[None]   ->   d_r = d_t * x[:, None] + d_n
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ... import ir
from ...domain.facts import Num
from ...ir.function import Function
from ...ir.patterns import (
    ELEMENTWISE,
    is_negative,
    literal,
    negated,
    subscript_parts,
)

RankOf = Callable[[Any], int | None]  # how many axes an expression has, where it is known to be an array


def new_axes(expr: Any) -> list[int] | None:
    """The places of the axes that a subscript like ``[:, None]`` puts in, if it does nothing else."""
    parts = expr.slice.elts if isinstance(expr.slice, gast.Tuple) else [expr.slice]
    fresh = [isinstance(p, gast.Constant) and p.value is None for p in parts]
    kept = [isinstance(p, gast.Slice) and p.lower is p.upper is p.step is None for p in parts]
    return [k for k, new in enumerate(fresh) if new] if all(map(any, zip(fresh, kept))) else None


def drop_leading_axes(s: Function, rank_of: RankOf, block: ir.Block) -> None:
    """Do without first axes of length one of what is only broadcast against arrays that have these axes."""
    statements = ir.adjoint_walk(block)
    for stmt in statements:
        inner = without_leading_axes(stmt.expr) if isinstance(stmt, ir.Let) else None
        if inner is None or inner is stmt.expr:
            continue
        rank, name, facts = rank_of(stmt.expr), stmt.target, s.facts[stmt.target]
        if rank is None or not isinstance(facts, Num) or facts.dims is None:
            continue
        readers = [x for x in statements if name in ir.uses(x)]
        if readers and all(isinstance(x, ir.Let) and only_broadcasts(rank_of, x.expr, name, rank) for x in readers):
            s.facts[name] = replace(facts, dims=facts.dims[rank - (rank_of(inner) or 0) :])
            s.fits.pop(name, None)
            stmt.expr = inner


def without_leading_axes(expr: Any) -> Any:
    """``d`` of ``d[None]``; an expression that puts no new axis first and nowhere else as it is."""
    if isinstance(expr, gast.Subscript) and (places := new_axes(expr)) is not None:
        return expr.value if places and places == [*range(len(places))] else expr
    return expr


def broadcast(rank_of: RankOf, expr: Any) -> Any:
    """An operation without first axes that broadcasting puts in."""
    sides = [expr.left, expr.right]
    for k, other in ((0, expr.right), (1, expr.left)):
        rank, wanted = rank_of(other), rank_of(sides[k])
        if isinstance(expr.op, ELEMENTWISE) and rank is not None and wanted is not None and rank >= wanted:
            sides[k] = without_leading_axes(sides[k])
    return gast.BinOp(sides[0], expr.op, sides[1])


def only_broadcasts(rank_of: RankOf, expr: Any, name: str, rank: int) -> bool:
    """True if a variable of so many axes is only read beside arrays that have as many, element by element."""
    if name not in ir.variables_in(expr):
        return True
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
        for side, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if isinstance(side, gast.Name) and side.id == name:
                return name not in ir.variables_in(other) and (rank_of(other) or 0) >= rank
        return all(only_broadcasts(rank_of, side, name, rank) for side in (expr.left, expr.right))
    if isinstance(expr, gast.UnaryOp):
        return only_broadcasts(rank_of, expr.operand, name, rank)
    if isinstance(expr, gast.Call):
        parts = [expr.func, *expr.args, *(keyword.value for keyword in expr.keywords)]
        return all(only_broadcasts(rank_of, part, name, rank) for part in parts)
    if isinstance(expr, (gast.Attribute, gast.Subscript)):
        parts = [expr.value] if isinstance(expr, gast.Attribute) else [expr.value, expr.slice]
        return all(only_broadcasts(rank_of, part, name, rank) for part in parts)
    return False


# -- axes that go, are summed or are kept


def summed_axis(call: Any) -> int | None:
    """The axis that ``x.sum(axis=...)`` sums away."""
    if not isinstance(call.func, gast.Attribute) or call.func.attr != "sum" or call.args:
        return None
    settings = {k.arg: getattr(k.value, "value", None) for k in call.keywords}
    axis = settings.get("axis")
    return axis if settings.keys() == {"axis"} and type(axis) is int and axis >= 0 else None


def is_part(index: Any) -> bool:
    """True if an index takes a part of some axes, and keeps them all."""
    return all(isinstance(part, gast.Slice) for part in (index.elts if isinstance(index, gast.Tuple) else [index]))


def is_item(s: Function, expr: Any) -> bool:
    """True if a subscript is by one integer."""
    return is_integer(s, expr.slice)


def is_integer(s: Function, index: Any) -> bool:
    """True if an index, or a part of one, is an integer."""
    if isinstance(index, gast.BinOp) and isinstance(index.op, (gast.Add, gast.Sub, gast.Mult)):
        return is_integer(s, index.left) and is_integer(s, index.right)
    if isinstance(index, gast.Name):
        facts = s.facts.get(index.id)
        return isinstance(facts, Num) and facts.kind == "int"
    return type(literal(index)) is int


def axes_gone(s: Function, index: Any) -> int | None:
    """The number of axes that an index of integers and slices takes away; None for another index."""
    others = [part for part in subscript_parts(index) if not isinstance(part, gast.Slice)]
    return len(others) if all(is_integer(s, part) for part in others) else None


def without_kept_axis(squeezed: Any) -> Any | None:
    """The squeezed sum, as one that does not keep the axis in the first place."""
    inner = squeezed.args[0]
    if (positive := negated(inner)) is not None and is_negative(inner):
        found = without_kept_axis(gast.Call(squeezed.func, [positive, *squeezed.args[1:]], []))
        return None if found is None else gast.UnaryOp(gast.USub(), found)
    if not isinstance(inner, gast.Call) or getattr(inner.func, "attr", "") != "sum" or len(squeezed.args) != 2:
        return None
    settings = {k.arg: getattr(k.value, "value", None) for k in inner.keywords}
    if settings != {"axis": getattr(squeezed.args[1], "value", None), "keepdims": True}:
        return None
    return gast.Call(inner.func, inner.args, [k for k in inner.keywords if k.arg == "axis"])


def widened(expr: Any, axis: Any, rank: int) -> Any | None:
    """``np.expand_dims`` as a subscript."""
    value = literal(axis)
    if type(value) is not int or not -rank - 1 <= value <= rank:
        return None
    place = value if value >= 0 else value + rank + 1
    parts = [gast.Slice(None, None, None) for _ in range(place)] + [ir.constant(None)]
    return ir.subscript(expr, parts[0] if place == 0 else ir.tuple_(parts))
