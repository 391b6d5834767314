"""Axes of length one in front of an array, which broadcasting puts in by itself.

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
from ...ir.builder import Specialiser
from ...ir.patterns import ELEMENTWISE

RankOf = Callable[[Any], int | None]  # how many axes an expression has, where it is known to be an array


def new_axes(expr: Any) -> list[int] | None:
    """The places of the axes that a subscript like ``[:, None]`` puts in, if it does nothing else."""
    parts = expr.slice.elts if isinstance(expr.slice, gast.Tuple) else [expr.slice]
    fresh = [isinstance(p, gast.Constant) and p.value is None for p in parts]
    kept = [isinstance(p, gast.Slice) and p.lower is p.upper is p.step is None for p in parts]
    return [k for k, new in enumerate(fresh) if new] if all(map(any, zip(fresh, kept))) else None


def drop_leading_axes(s: Specialiser, rank_of: RankOf, block: ir.Block) -> None:
    """Do without first axes of length one of what is only broadcast against arrays that have these axes."""
    statements = ir.adjoint_walk(block)
    for stmt in statements:
        inner = without_leading_axes(stmt.expr) if isinstance(stmt, ir.Let) else None
        if inner is None or inner is stmt.expr or isinstance(inner, gast.Name):
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
        return expr.value if places == [*range(len(places))] else expr
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
