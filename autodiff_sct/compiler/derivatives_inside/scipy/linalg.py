"""Functions of ``scipy.linalg`` that dummies cannot try out, and factorisations and spectra by texts."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from scipy import linalg

from ....rules.table import TABLE, load_optional
from ....runtime.scipy import factorings as texts
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Leaf, PartialV, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.calls.dispatch import either
from ...interp.kernel.handlers import HANDLERS, handles, otherwise, wraps
from ...interp.kernel.operations import call_python, call_value, get_item, opaque_call
from ...interp.kernel.specialiser import Specialiser
from ...interp.models import functions as models
from .functions import (
    arguments_of,
    by_text,
    constant_result,
    parts_by_text,
    refuse_complex,
    several_by_text,
    vector_like,
    without_derivative,
)

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

# What decides only how SciPy computes, or only whether it raises or prints
FREE = "check_finite driver lapack_driver tol max_ev lwork disp"


def call_to(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """The expression of the call as the program makes it."""
    callee = ir.attribute(s.bind("linalg", linalg), fn.__name__)
    return ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})


def named_arguments(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], arrays: str, settings: str = ""
) -> dict[str, Any]:
    """The arguments by name: real arrays, settings, and of others only the defaults."""
    named = arguments_of(fn, args, kwargs)
    if named is None:
        raise s.refuse("setting", f"scipy.linalg.{fn.__name__} does not take these arguments")
    defaults = {name: Const(p.default) for name, p in inspect.signature(fn).parameters.items()}
    for name, value in named.items():
        if name in arrays.split():
            named[name] = array_of_list(s, value)
            refuse_complex(s, named[name], f"scipy.linalg.{fn.__name__}")
        elif name in settings.split():
            continue
        elif name.startswith("overwrite") or name not in FREE.split():
            if value != defaults[name]:
                raise s.refuse("setting", f"scipy.linalg.{fn.__name__} with {name} has no derivative")
    return named


def reference_of(s: Specialiser, expr: Any, found: Leaf, rank: int = 2, dtype: Any = np.float64) -> Leaf:
    """One of SciPy's results as a constant, by whose signs or order others go."""
    dims = [dim for _ in range(rank) for dim in vector_like(s).dims or ()]
    op = ir.Op(without_derivative, {"argument 0": found})
    return s.let(expr, Num("array", np.dtype(dtype), tuple(dims)), op, "reference")


def item(s: Specialiser, found: Leaf, k: int) -> Any:
    return ir.subscript(s.expr(found), ir.constant(k))


# Parts of spectra


def part_of(s: Specialiser, expr: Any, pair: list[Value], ends: list[Value], lower: bool, only: bool) -> Value:
    """Eigenvalues of a symmetric matrix between two places, and their vectors."""
    given = [*pair, *ends, Const(lower)]
    found = constant_result(s, expr, given, "found")
    if only:
        return by_text(s, texts.part_of_values, s.expr(found), given)
    return parts_by_text(s, texts.part_of_spectrum, found, [reference_of(s, item(s, found, 1), found), *given])


def ends_of(s: Specialiser, part: Value) -> list[Value]:
    """The places from the first up to behind the last, from a pair of both."""
    if part == Const(None):
        return [Const(0), Const(None)]
    return [call_value(s, Const(place), [get_item(s, part, Const(k))], {}) for k, place in enumerate((int, behind))]


def behind(place: Any) -> int:
    return int(place) + 1


def spectrum(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``eigh(a, b, subset_by_index=...)``; without a subset it is in the table."""
    expr = call_to(s, fn, args, kwargs)
    if kwargs.get("subset_by_index", Const(None)) == Const(None):
        return emit_op.apply(s, fn, expr, args, kwargs)
    named = named_arguments(s, fn, args, kwargs, "a b", "lower eigvals_only subset_by_index")
    only = fn is linalg.eigvalsh or s.static(named["eigvals_only"])
    return part_of(
        s, expr, [named["a"], named["b"]], ends_of(s, named["subset_by_index"]), s.static(named["lower"]), only
    )


def structured(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``eigh_tridiagonal(d, e)``, ``eig_banded(bands)`` and their like."""
    arrays = "d e" if "tridiagonal" in fn.__name__ else "a_band"
    named = named_arguments(s, fn, args, kwargs, arrays, "lower eigvals_only select select_range")
    if s.static(named["select"]) not in ("a", "i", 0, 2):
        raise s.refuse(
            "setting", f"scipy.linalg.{fn.__name__} has no derivative for values in a range", "use select='i'"
        )
    lower = "lower" not in named or s.static(named["lower"])
    text = texts.tridiagonal if arrays == "d e" else texts.from_bands
    settings = [] if arrays == "d e" else [Const(lower)]
    matrix = call_python(s, text, [*(named[name] for name in arrays.split()), *settings], {})
    only = fn.__name__.startswith("eigvals") or s.static(named["eigvals_only"])
    ends = ends_of(s, named["select_range"])
    return part_of(s, call_to(s, fn, args, kwargs), [matrix, Const(None)], ends, lower, only)


for _fn in (linalg.eigh, linalg.eigvalsh):
    handles(_fn)(partial(spectrum, _fn))
for _fn in (linalg.eigh_tridiagonal, linalg.eigvalsh_tridiagonal, linalg.eig_banded, linalg.eigvals_banded):
    handles(_fn)(partial(structured, _fn))


@handles(linalg.eigvals)
def eigvals(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``eigvals(a, b)``; of one matrix it is in the table."""
    expr = call_to(s, linalg.eigvals, args, kwargs)
    if len(args) < 2 and kwargs.get("b", Const(None)) == Const(None):
        return emit_op.apply(s, linalg.eigvals, expr, args, kwargs)
    named = named_arguments(s, linalg.eigvals, args, kwargs, "a b")
    found = constant_result(s, expr, [named["a"], named["b"]], "found")
    reference = reference_of(s, s.expr(found), found, 1, np.complex128)
    return by_text(s, texts.values_of_pair, s.expr(found), [reference, named["a"], named["b"]])


# Factorisations


def checked(s: Specialiser, check: Any, *given: Any) -> None:
    """A call that raises where a factorisation has no derivative."""
    s.block.append(ir.Effect(ir.call(s.bind(check.__name__, check), *given), s.where()))


@handles(linalg.rq)
def rq(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``rq(a, mode="economic")`` of a matrix with no more rows than columns."""
    named = named_arguments(s, linalg.rq, args, kwargs, "a", "mode")
    a, mode = named["a"], named["mode"]
    if mode not in (Const("full"), Const("economic")):
        raise s.refuse("setting", "scipy.linalg.rq with these settings has no derivative", "use mode='economic'")
    found = constant_result(s, call_to(s, linalg.rq, args, kwargs), [a], "found")
    checked(s, texts.check_rq, s.expr(a), s.expr(mode))
    return parts_by_text(s, texts.rq_of_rows, found, [reference_of(s, item(s, found, 0), found), a])


@handles(linalg.schur)
def schur(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``schur(a)`` of a real matrix with simple eigenvalues."""
    named = named_arguments(s, linalg.schur, args, kwargs, "a", "output")
    if s.static(named["output"]) not in ("real", "r"):
        raise s.refuse(
            "setting", "the complex form of scipy.linalg.schur has vectors of no certain phase", "use output='real'"
        )
    found = constant_result(s, call_to(s, linalg.schur, args, kwargs), [named["a"]], "found")
    checked(s, texts.check_schur, item(s, found, 0))
    references = [reference_of(s, item(s, found, k), found) for k in (0, 1)]
    return parts_by_text(s, texts.schur_of, found, [*references, named["a"]])


@handles(linalg.hessenberg)
def hessenberg(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``hessenberg(a, calc_q)``."""
    named = named_arguments(s, linalg.hessenberg, args, kwargs, "a", "calc_q")
    a, both = named["a"], s.static(named["calc_q"])
    found = constant_result(s, call_to(s, linalg.hessenberg, args, kwargs), [a], "found")
    checked(s, texts.check_hessenberg, s.expr(a))
    if both:
        return parts_by_text(s, texts.hessenberg_of, found, [a])
    return by_text(s, texts.hessenberg_alone, s.expr(found), [a])


@handles(linalg.cholesky_banded)
def cholesky_banded(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    named = named_arguments(s, linalg.cholesky_banded, args, kwargs, "ab", "lower")
    expr = call_to(s, linalg.cholesky_banded, args, kwargs)
    return by_text(s, texts.banded_factor, expr, [named["ab"], Const(s.static(named["lower"]))])


@handles(linalg.cho_solve_banded)
def cho_solve_banded(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    named = named_arguments(s, linalg.cho_solve_banded, args, kwargs, "b", "cb_and_lower")
    pair = named["cb_and_lower"]
    factor, lower = (array_of_list(s, get_item(s, pair, Const(0))), get_item(s, pair, Const(1)))
    expr = call_to(s, linalg.cho_solve_banded, args, kwargs)
    return by_text(s, texts.solved_by_banded, expr, [factor, Const(bool(s.static(lower))), named["b"]])


def of_matrix(fn: Any, text: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``funm(A, func)`` and ``signm(A)`` of a real matrix."""
    named = named_arguments(s, fn, args, kwargs, "A", "disp func")
    before = [named["func"]] if "func" in named else []
    return by_text(s, text, call_to(s, fn, args, kwargs), [*before, named["A"]])


handles(linalg.funm)(partial(of_matrix, linalg.funm, texts.function_of))
handles(linalg.signm)(partial(of_matrix, linalg.signm, texts.sign_of))


# Functions that SciPy applies to each matrix of a batch


def of_one(fn: Any, arrays: dict[str, Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call for one matrix of a function without a rule: what SciPy applies is followed."""
    given = [array_of_list(s, value) for value in args[: len(arrays)]]
    every = [*given, *args[len(arrays) :]]
    settings = {k: array_of_list(s, v) if k in arrays else v for k, v in kwargs.items()}
    callee = ir.attribute(s.bind("linalg", linalg), fn.__name__)
    return either(
        s,
        lambda: call_python(s, fn.__wrapped__, every, settings),
        lambda: opaque_call(s, callee, fn, args, kwargs),
    )


def of_batch(
    fn: Any, cores: dict[str, Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """A call with arrays that have axes of a batch; None where they have none.

    The value is SciPy's, the derivative that of the same function for each item of the batch.
    """
    named = dict(zip(inspect.signature(fn).parameters, args)) | kwargs
    given = {k: array_of_list(s, named[k]) for k in cores if named.get(k, Const(None)) != Const(None)}
    ranks = {k: facts.ndim for k, v in given.items() if (facts := s.num(v)) is not None and facts.ndim is not None}
    if len(ranks) < len(given):
        return None
    core = {k: min(ranks[k], 2) if cores[k] == "1|2" else cores[k] for k in given}
    if all(ranks[k] <= core[k] for k in given):
        return None
    settings = {k: v for k, v in named.items() if k not in cores}
    expr = call_to(s, fn, args, kwargs)
    one = PartialV(Const(fn), (), settings)
    before = [one, TupleV(tuple(given.values())), Const(tuple(core.values()))]
    with s.writing([], s.lengths):
        kind = call_value(s, one, [get_item(s, v, Const((0,) * (ranks[k] - core[k]))) for k, v in given.items()], {})
    if not isinstance(kind, TupleV):
        return by_text(s, models.of_all_parts, expr, before)
    return several_by_text(s, several_of_all_parts, expr, [*before, Const(len(kind.items))])


def several_of_all_parts(fn: Any, arrays: Any, ranks: Any, count: Any) -> Any:
    """The results of a function with several, for all parts of arrays."""
    shape, flat = models.parts_in_line(arrays, ranks)
    found = [fn(*[a[k] for a in flat]) for k in range(len(flat[0]))]
    results = [np.array([np.asarray(each[place]) for each in found]) for place in range(count)]
    return tuple([np.reshape(result, shape + result.shape[1:]) for result in results])


def cores_of(fn: Any) -> dict[str, Any] | None:
    """The arguments that may be batches, with the number of axes of one item; None for other functions."""
    if fn in OWN_BATCHES:
        return OWN_BATCHES[fn]
    if not isinstance(fn, FunctionType) or not hasattr(fn, "__wrapped__"):
        return None
    held = dict(zip(fn.__code__.co_freevars, (cell.cell_contents for cell in fn.__closure__ or ())))
    return dict(zip(held["names"], held["ndims"])) if {"names", "ndims", "n_arrays"} <= held.keys() else None


def by_lapack(fn: Any) -> bool:
    """True if the text of a function calls compiled ones, so that it cannot be followed."""
    return not {"get_lapack_funcs", "get_blas_funcs", "_datacopied"}.isdisjoint(fn.__wrapped__.__code__.co_names)


def over_batches(fn: Any, cores: dict[str, Any], one: Any) -> Any:
    """The meaning of a call, which is `one` where its arguments have no axes of a batch."""

    def handler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        found = of_batch(fn, cores, s, args, kwargs)
        return one(s, args, kwargs) if found is None else found

    return handler


def take_batches() -> None:
    """Register what calls with batches mean, for functions that the table has, for those with handlers and others."""
    load_optional()
    homes = {
        sys.modules[getattr(linalg, name).__module__] for name in linalg.__all__ if callable(getattr(linalg, name))
    }
    for fn in [value for home in homes for value in vars(home).values() if callable(value)]:
        cores = cores_of(fn)
        if cores is None or fn in PACKED:
            continue
        if fn in HANDLERS:
            wraps(fn)(lambda fn, one, cores=cores: over_batches(fn, cores, one))
        elif fn in TABLE:
            otherwise(fn)(partial(of_batch, fn, cores))
        elif not by_lapack(fn):
            handles(fn)(over_batches(fn, cores, partial(of_one, fn, cores)))


# Functions with results that only others of SciPy read: which triangle is meant, exchanges of rows
PACKED = (linalg.cho_factor, linalg.lu_factor)
# Functions that go over batches themselves
OWN_BATCHES: dict[Any, dict[str, Any]] = {
    linalg.inv: {"a": 2},
    linalg.det: {"a": 2},
    linalg.solve: {"a": 2, "b": "1|2"},
    linalg.expm: {"A": 2},
    linalg.sqrtm: {"A": 2},
    linalg.lu: {"a": 2},
}

take_batches()
