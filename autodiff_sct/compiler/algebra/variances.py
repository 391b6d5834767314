"""A variance beside the distances from the mean is a sum of their squares.

::

    mean = np.mean(x, axis=0)                   mean = np.mean(x, axis=0)
    var = np.var(x, axis=0)             ->      t = x - mean
    t = x - mean                                var = np.einsum("ij,ij->j", t, t) / t.shape[0]
    var = np.mean(t ** 2, axis=0)       ->      var = np.einsum("ij,ij->j", t, t) / t.shape[0]

`np.var` computes the mean and the distances anew.  The squares are added in another order, so this is for programs
whose value is not asked for, and only of doubles (see `contractions`).  Memory that the program writes is left alone.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..regions import Regions
from ..specialise.state import Specialiser
from .contractions import Contractions, reduced


def variances(s: Specialiser, where: Regions, block: ir.Block) -> None:
    """Rewrite a block of the forward sweep and the blocks inside it, in place."""
    contractions = Contractions(s)
    for stmt in list(block):
        for inner in ir.bodies(stmt):
            variances(s, where, inner)
        distances = moved_before(where, block, stmt)
        if distances is not None:
            stmt.expr = contractions.mean_square(distances, *reduction(stmt)[2:]) or stmt.expr


def reduction(stmt: Any) -> tuple[str, Any, int, bool]:
    """What a statement reduces (see `reduced`); nothing where it does something else."""
    simple = isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not stmt.effect
    return (reduced(stmt.expr) if simple else None) or ("", None, 0, False)


def moved_before(where: Regions, block: ir.Block, var: ir.Let) -> Any | None:
    """The variable that holds the distances from a mean that is there, computed before the variance."""
    found = reduction(var)
    if found[0] != "var" or not isinstance(found[1], gast.Name) or where.is_written(found[1].id):
        return None
    place, axis = block.index(var), found[2]
    means = {}
    for stmt in block[:place]:
        mean = reduction(stmt)
        if (mean[0], getattr(mean[1], "id", None), mean[2]) == ("mean", found[1].id, axis):
            means[stmt.target] = mean[3] or axis == 0
    for stmt in block:
        sides = difference(stmt)
        if sides is None or sides[0] != found[1].id or not means.get(sides[1]) or where.is_written(stmt.target):
            continue
        if block.index(stmt) > place:
            block.remove(stmt)
            block.insert(place, stmt)
        return ir.name(stmt.target)
    return None


def difference(stmt: Any) -> tuple[str, str] | None:
    """The two variables of which a statement computes the difference."""
    expr = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not stmt.in_place else None
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, gast.Sub):
        return None
    sides = (expr.left, expr.right)
    return (sides[0].id, sides[1].id) if all(isinstance(side, gast.Name) for side in sides) else None
