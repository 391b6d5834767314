"""Functions of ``scipy.linalg`` that dummies cannot try out, as the shapes of their arguments depend on each other."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from scipy import linalg

from ....rules.table import TABLE
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Leaf, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.calls.dispatch import either
from ...interp.kernel.handlers import HANDLERS, handles
from ...interp.kernel.operations import call_python, opaque_call
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

# Functions that SciPy applies to each matrix of a batch: what it applies is followed for one


def of_one(fn: Any, core: dict[str, Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call with arrays that have no axes of a batch."""
    named = dict(zip(core, args)) | {k: v for k, v in kwargs.items() if k in core}
    given = {k: array_of_list(s, v) for k, v in named.items() if v != Const(None)}
    known = {k: facts.ndim for k, v in given.items() if (facts := s.num(v)) is not None and facts.ndim is not None}
    if any(k not in known or known[k] > (2 if core[k] == "1|2" else core[k]) for k in given):
        raise s.refuse("setting", f"scipy.linalg.{fn.__name__} has a derivative for one matrix", "call it in a loop")
    first = [given.get(name, value) for name, value in zip(core, args)]
    every, settings = [*first, *args[len(core) :]], kwargs | {k: given[k] for k in kwargs if k in given}
    callee = ir.attribute(s.bind("linalg", linalg), fn.__name__)
    return either(
        s,
        lambda: call_python(s, fn.__wrapped__, every, settings),
        lambda: opaque_call(s, callee, fn, args, kwargs),
    )


def core_of(fn: Any) -> dict[str, Any] | None:
    """The arguments that may be batches, with the number of axes of one; None for other functions."""
    if not isinstance(fn, FunctionType) or not hasattr(fn, "__wrapped__"):
        return None
    held = dict(zip(fn.__code__.co_freevars, (cell.cell_contents for cell in fn.__closure__ or ())))
    return dict(zip(held["names"], held["ndims"])) if {"names", "ndims", "n_arrays"} <= held.keys() else None


def by_lapack(fn: Any) -> bool:
    """True if the text of a function calls compiled ones, so that it cannot be followed."""
    return not {"get_lapack_funcs", "get_blas_funcs", "_datacopied"}.isdisjoint(fn.__wrapped__.__code__.co_names)


HOMES = {sys.modules[getattr(linalg, name).__module__] for name in linalg.__all__ if callable(getattr(linalg, name))}
for _fn in [value for home in HOMES for value in vars(home).values()]:
    if (_core := core_of(_fn)) is not None and _fn not in TABLE and _fn not in HANDLERS and not by_lapack(_fn):
        handles(_fn)(partial(of_one, _fn, _core))
