"""Reductions of arrays as methods in loops: NumPy's functions only look the method up, which takes a microsecond.

::

    for i in range(len(x)):                        for i in range(len(x)):
        z = w @ x[i]                                   z = w @ x[i]
        z = z - np.max(z)                    ->        z = z - z.max()
        total = np.sum(np.exp(z), axis=0)              total = np.exp(z).sum(axis=0)

The method does what the function does, bit for bit.  What is no array, or may be of a class of its own, keeps the
function; and so does what runs once, which reads as the user wrote it.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.liveness import REDUCTIONS
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import numpy_name
from ...ir.traversal import with_operands
from .canonicalize import Spelling


def use_methods(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the loops of a block of the forward sweep, in place."""
    methods = Methods(s)
    for loop in [x for x in ir.walk(block) if isinstance(x, ir.Loop)]:
        for stmt in ir.walk(loop.body):
            if isinstance(stmt, (ir.Let, ir.Effect)) and any(isinstance(n, gast.Call) for n in ir.nodes_in(stmt.expr)):
                stmt.expr = methods.expr(stmt.expr)


class Methods:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Specialiser) -> None:
        self.s, self.spelling = s, Spelling(s)

    def expr(self, expr: Any) -> Any:
        new = with_operands(expr, self.expr)
        return self.method(new) if type(new) is gast.Call and new.args and numpy_name(new) in REDUCTIONS else new

    def method(self, call: Any) -> Any:
        first, rest = call.args[0], call.args[1:]
        if not self.spelling.rank(first) or not all(self.is_plain(n) for n in ir.variables_in(first)):
            return call
        return gast.Call(gast.Attribute(first, numpy_name(call), gast.Load()), rest, call.keywords)

    def is_plain(self, name: str) -> bool:
        facts = self.s.facts.get(name)
        return isinstance(facts, Num) and not facts.tensor
