"""What an elementwise function computes for all of an array is computed into it.

::

    buffer[...] = np.multiply(x, y)    ->    np.multiply(x, y, out=buffer)

So the user wrote it: ``out=`` is taken apart for the derivative.  That is right where the result has the array's dtype,
to which assignment would have made it, and no more axes, of which assignment would have dropped the first.  NumPy sees
to operands that share memory with the array.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from .. import ir
from ..algebra.spelling import Spelling
from ..facts import Num
from ..failing import path
from ..peephole import is_ellipsis
from ..specialise.state import Specialiser


def compute_into(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the statements of both sweeps, in place."""
    spelling = Spelling(s)
    for block in (*ir.blocks(front), *ir.blocks(back)):
        for k, stmt in enumerate(block):
            if isinstance(stmt, ir.Store) and is_computed(s, spelling, stmt):
                out = gast.keyword("out", ir.name(stmt.base))
                block[k] = ir.Effect(gast.Call(stmt.value.func, stmt.value.args, [out]), stmt.origin)


def is_computed(s: Specialiser, spelling: Spelling, stmt: ir.Store) -> bool:
    """Whether a statement puts what a function of doubles gives into all of an array of doubles."""
    facts, value = s.facts[stmt.base], stmt.value
    if stmt.aug is not None or not is_ellipsis(stmt.index) or not isinstance(facts, Num) or facts.kind != "array":
        return False
    if not isinstance(value, gast.Call) or value.keywords or facts.dtype != np.float64:
        return False
    callee = path(s, value.func)
    if not isinstance(callee, np.ufunc) or not makes_doubles(callee) or len(value.args) != callee.nin:
        return False
    ranks = [0 if spelling.is_number(arg) else spelling.rank(arg) for arg in value.args]
    fits = facts.ndim is not None and all(rank is not None and rank <= facts.ndim for rank in ranks)
    return fits and spelling.dtypes(value.args) == {np.dtype(np.float64)}


def makes_doubles(ufunc: Any) -> bool:
    """Whether a function makes one double of doubles."""
    return ufunc.nout == 1 and f"{'d' * ufunc.nin}->d" in ufunc.types
