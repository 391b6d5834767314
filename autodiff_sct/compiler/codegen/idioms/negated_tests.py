"""The opposite of a test is written as the opposite comparison, where that is the same for all values.

::

    if not i == j:                         if i != j:
        ...                        ->          ...

    if not n < 2:                          if n >= 2:
        ...                        ->          ...

Integers have no NaN, which is neither less than a number nor not less: of floats, only equality has an opposite.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.may_raise import fact
from ...domain.facts import Num
from ...ir.builder import Specialiser

EQUAL = {gast.Eq: gast.NotEq, gast.NotEq: gast.Eq}
ALWAYS = {gast.In: gast.NotIn, gast.Is: gast.IsNot, gast.NotIn: gast.In, gast.IsNot: gast.Is}
ORDERED = {gast.Lt: gast.GtE, gast.LtE: gast.Gt, gast.Gt: gast.LtE, gast.GtE: gast.Lt}
TURNED = {gast.Lt: gast.Gt, gast.LtE: gast.GtE, gast.Gt: gast.Lt, gast.GtE: gast.LtE}  # the sides change places


def negate_tests(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the branches of a block, in place."""
    for stmt in ir.walk(block):
        if not isinstance(stmt, ir.If):
            continue
        if isinstance(stmt.test, gast.UnaryOp) and isinstance(stmt.test.op, gast.Not):
            stmt.test = opposite(s, stmt.test.operand) or stmt.test
        elif not stmt.then and stmt.orelse and not stmt.merges and (found := opposite(s, stmt.test)) is not None:
            stmt.test, stmt.then, stmt.orelse = found, stmt.orelse, []


def opposite(s: Specialiser, test: Any) -> Any | None:
    """The comparison that holds where another does not, if there is one."""
    if not isinstance(test, gast.Compare) or len(test.ops) != 1:
        return None
    kind, sides = type(test.ops[0]), [fact(s, test.left), fact(s, test.comparators[0])]
    numbers = all(isinstance(f, Num) and f.dims == () and f.kind not in (None, "array") for f in sides)
    whole = numbers and all(f.dtype is not None and f.dtype.kind in "iub" and not f.whole for f in sides)
    known = ALWAYS | (EQUAL if numbers else {}) | (ORDERED if whole else {})
    if kind not in known:
        return None
    found = known[kind]
    if isinstance(test.left, gast.Constant) and found in TURNED:
        return gast.Compare(test.comparators[0], [TURNED[found]()], [test.left])
    return gast.Compare(test.left, [found()], test.comparators)
