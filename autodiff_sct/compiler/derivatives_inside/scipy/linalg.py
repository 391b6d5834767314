"""Functions of ``scipy.linalg`` that dummies cannot try out, as the shapes of their arguments depend on each other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from ... import ir
from ...domain.facts import Num
from ...domain.values import Leaf, Value
from ...interp.arrays import emit_op
from ...interp.kernel.handlers import handles
from ...ir.builder import Specialiser

RIGHT_SIDES = {linalg.solve_banded: 2, linalg.solveh_banded: 1}


def solved(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The solution of a system: an array like the right side."""
    callee = ir.attribute(s.bind("linalg", linalg), fn.__name__)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    found = emit_op.apply(s, fn, expr, args, kwargs)
    place = RIGHT_SIDES[fn]
    given = [s.num(v) for v in args[: place + 1]]
    right = given[-1] if len(given) > place else None
    if isinstance(found, Leaf) and right is not None and right.dims is not None:
        dtypes = [f.dtype for f in given[place - 1 :] if f is not None]
        known = s.facts[found.name]
        if isinstance(known, Num) and all(d is not None for d in dtypes) and len(dtypes) == 2:
            s.facts[found.name] = replace(known, kind="array", dtype=np.result_type(*dtypes), dims=right.dims)
    return found


for _fn in RIGHT_SIDES:
    handles(_fn)(partial(solved, _fn))
