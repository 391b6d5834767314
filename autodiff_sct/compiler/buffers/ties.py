"""Whether two arrays tie anywhere is asked before half of a cotangent is made for the places where they do.

::

    d_x = np.where(x > 0.0, d_y, np.where(x == 0.0, d_y / 2, 0))
    ->
    d_x = np.where(x > 0.0, d_y, half_where(x == 0.0, d_y))

That is the adjoint of ``np.maximum(x, 0.0)``.  Numbers that were computed are seldom equal, and then three passes over
memory out of five are not made.  The outer condition is an array, so that one number in the place of the halves is
broadcast to all of it.
"""

from __future__ import annotations

from typing import Any

import gast

from ...runtime.ties import half_where
from .. import ir
from ..algebra.spelling import cotangents, literal, numpy_name
from ..facts import Num
from ..specialise.state import Specialiser
from ..substitution import with_operands


def ask_for_ties(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the cotangents that a block of the reverse sweep computes, in place."""
    for stmt, part in cotangents(s, block):
        expr = getattr(stmt, part)
        if sum(type(node) is gast.Call and is_selection(node) for node in ir.nodes_in(expr)) > 1:
            setattr(stmt, part, asked(s, expr))


def asked(s: Specialiser, expr: Any) -> Any:
    """An expression whose selections have their halves from `half_where`."""
    expr = with_operands(expr, lambda e: asked(s, e))
    if not is_selection(expr) or not is_comparison(s, expr.args[0]):
        return expr
    halves = expr.args[2]
    if not is_selection(halves) or not is_half(halves) or not is_tie_of(halves.args[0], expr.args[0]):
        return expr
    half = ir.call(s.bind("half_where", half_where), halves.args[0], halves.args[1].left)
    return gast.Call(expr.func, [*expr.args[:2], half], [])


def is_selection(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and numpy_name(expr) == "where" and len(expr.args) == 3 and not expr.keywords


def is_comparison(s: Specialiser, test: Any) -> bool:
    """Whether a condition compares an array with something."""
    if not isinstance(test, gast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (gast.Gt, gast.Lt)):
        return False
    facts = [s.facts.get(getattr(side, "id", "")) for side in (test.left, *test.comparators)]
    return any(isinstance(f, Num) and f.kind == "array" and bool(f.ndim) for f in facts)


def is_half(selection: Any) -> bool:
    """Whether the half of something is selected, or zero."""
    _, chosen, other = selection.args
    halved = isinstance(chosen, gast.BinOp) and isinstance(chosen.op, gast.Div) and literal(chosen.right) == 2
    return halved and literal(other) == 0


def is_tie_of(tie: Any, test: Any) -> bool:
    """Whether a condition says that the two sides of a comparison are equal."""
    if not isinstance(tie, gast.Compare) or len(tie.ops) != 1 or not isinstance(tie.ops[0], gast.Eq):
        return False
    sides, others = (tie.left, tie.comparators[0]), (test.left, test.comparators[0])
    texts = [sorted(gast.dump(side) for side in pair) for pair in (sides, others)]
    return bool(texts[0] == texts[1])
