"""Scatter-add: additions at places that integers name are made by NumPy itself, where that is all of a loop.

::

    add_at(d_x, cols, d_y * vals)      ->      np.add.at(d_x, cols, d_y * vals)

The function of `runtime` knows lists, complex cotangents and faster ways to add whole rows, and numbers of arrays with
several axes; of a vector of real doubles of which each is named by an integer from an array, none of these is asked.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ....runtime import scatter
from ... import ir
from ...domain.facts import Num
from ...ir.builder import Specialiser


def scatter_add(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the additions of a block of the reverse sweep and the blocks inside it, in place."""
    for stmt in ir.adjoint_walk(block):
        if isinstance(stmt, ir.Effect) and is_plain(s, stmt.expr):
            stmt.expr = ir.call(ir.attribute(ir.attribute(s.bind("np", np), "add"), "at"), *stmt.expr.args)


def is_plain(s: Specialiser, call: Any) -> bool:
    """True if a call adds real numbers to single numbers of a vector."""
    if not isinstance(call, gast.Call) or s.globals.get(getattr(call.func, "id", "")) is not scatter.add_at:
        return False
    shadow, index, value = call.args
    facts = array(s, shadow)
    if facts is None or facts.dtype != np.float64 or facts.tensor or facts.ndim != 1:
        return False
    places = array(s, index.elts[0] if isinstance(index, gast.Tuple) and len(index.elts) == 1 else index)
    if places is None or places.dtype is None or places.dtype.kind not in "iu":
        return False
    read = [s.facts[n] for n in ir.variables_in(value)]
    return all(isinstance(f, Num) and f.dtype is not None and f.dtype.kind in "fiub" for f in read)


def array(s: Specialiser, expr: Any) -> Num | None:
    """The facts of a variable that is an array with an axis or more."""
    facts = s.facts.get(expr.id) if isinstance(expr, gast.Name) else None
    return facts if isinstance(facts, Num) and facts.kind == "array" and facts.ndim else None
