"""Sparse matrices made of others; systems with them, their eigenvalues and exponentials: ``scipy.sparse.linalg``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gast
import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ....rules.scipy import sparse as rules
from ....runtime.scipy import sparse as runtime
from ....runtime.scipy import sparse_parts as texts
from ....runtime.scipy.sparse import Factors
from ... import ir
from ...domain.facts import INT, Facts, Num, Opaque
from ...domain.values import Const, Leaf, ListV, SliceV, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from .functions import OFF, arguments_of, bound, by_text, refuse_complex, row, vector_like, without_derivative
from .sparse import NOTHING, common_type, constant_arrays, constant_result, followed, indices, of_method, of_scipy

ITERATIVE = ("cg", "gmres", "bicg", "bicgstab", "cgs", "lgmres", "minres", "qmr", "tfqmr", "gcrotmk")
FIELDS = ("made", "data_of", "rows", "cols")
DIRECT = Const(("spsolve", ()))


def system(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``spsolve(A, b)``, of one right side or of several in an array."""
    given = bound("A b permc_spec use_umfpack", args, kwargs)
    settings = settings_of(s, linalg.spsolve, given, "A b permc_spec use_umfpack")
    how = ("spsolve", tuple((k, s.static(v)) for k, v in settings.items()))
    return solution(s, Const(how), followed(s, given["A"]), given["b"])


handles(linalg.spsolve)(system)


@handles(linalg.SuperLU.solve)
def solved_by_factors(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lu.solve(b)`` for factors from outside."""
    named = bound("lu b trans", args, kwargs)
    how = Const(("lu", s.static(named.get("trans", Const("N")))))
    return solved(s, [how, named["lu"], Const(None), Const(None), Const(None), array_of_list(s, named["b"])], {})


@handles(linalg.LinearOperator)
def linear_operator(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``LinearOperator(shape, matvec=...)``, which is refused."""
    raise s.refuse(
        "setting",
        "scipy.sparse.linalg.LinearOperator of a function has no derivative here",
        "solve with implicit_root(solve, residual), or make the matrix: csr_array((data, (rows, cols)))",
    )


def solution(s: Specialiser, how: Value, matrix: Value, b: Value) -> Value:
    right = array_of_list(s, b)
    facts = s.num(right)
    refuse_complex(s, right, "scipy.sparse.linalg.spsolve")
    ranks = (1, 2) if s.static(how)[0] == "spsolve" else (1,)
    if facts is None or facts.ndim not in ranks:
        raise s.refuse(
            "setting", "a system with a sparse matrix has a derivative for arrays as right sides", "give it a vector"
        )
    if facts.ndim == 2:
        s.block.append(ir.Effect(ir.call(s.bind("check_columns", texts.check_columns), s.expr(right)), s.where()))
    fields = [attribute_of(s, matrix, name) for name in ("made", "data_of", "rows", "cols")]
    return solved(s, [how, *fields, right], {})


@handles(rules.solved)
def solved(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The solution of a system in a differentiated program, or in its derivative."""
    name, settings = s.static(args[0])
    args = [args[0], of_scipy(s, args[1]), *args[2:]]
    made, b = s.expr(args[1]), s.expr(args[5])
    if name == "lu":
        expr = of_method("solve", made, b, *([ir.constant("T")] if settings == "T" else []))
    else:
        named = {k: ir.constant(v) for k, v in settings}
        expr = ir.call(ir.attribute(s.bind("linalg", linalg), name), made, b, **named)
        expr = expr if name == "spsolve" else ir.subscript(expr, ir.constant(0))
    return solution_row(s, expr, args)


def solution_row(s: Specialiser, expr: Any, args: list[Value]) -> Value:
    """The solution that `expr` finds, with the derivative of the method in `args`."""
    facts = s.num(args[5])
    data = args[5] if args[2] == Const(None) else args[2]
    result = Num("array", common_type(s, data, args[5]), None if facts is None else facts.dims)
    return row(s, rules.solved, expr, result, args, "solution")


def iterated(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cg(A, b, rtol=...)`` and its like: the derivative solves systems by the same method.

    What only begins or hastens the iteration (`x0`, a preconditioner `M`) is for this matrix, and no derivative passes
    through it: with them the derivative solves directly.
    """
    given = bound("A b x0", args, kwargs)
    settings = {k: v for k, v in given.items() if k not in ("A", "b") and v != NOTHING}
    if "callback" in settings:
        raise s.refuse(
            "setting", f"scipy.sparse.linalg.{fn.__name__} with a callback has no derivative", "leave it out"
        )
    matrix = followed(s, given["A"])
    if all(isinstance(v, Const) for v in settings.values()):
        how = Const((fn.__name__, tuple((k, s.static(v)) for k, v in settings.items())))
        return TupleV((solution(s, how, matrix, given["b"]), Const(0)))
    right = array_of_list(s, given["b"])
    refuse_complex(s, right, f"scipy.sparse.linalg.{fn.__name__}")
    fields = [attribute_of(s, matrix, name) for name in FIELDS]
    expr = call_with(s, fn, [s.expr(fields[0]), s.expr(right)], settings)
    found = constant_of(s, expr, [*fields, right, *(v for v in settings.values() if isinstance(v, Leaf))])
    x = solution_row(s, ir.subscript(s.expr(found), ir.constant(0)), [DIRECT, *fields, right])
    return TupleV((x, s.let(ir.subscript(s.expr(found), ir.constant(1)), INT, hint="info", may_raise=False)))


def factors(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``splu(A)`` and ``factorized(A)``."""
    matrix = followed(s, args[0])
    made = of_scipy(s, matrix)
    settings = {k: s.expr(v) for k, v in kwargs.items()}
    expr = ir.call(ir.attribute(s.bind("linalg", linalg), "splu"), s.expr(made), *map(s.expr, args[1:]), **settings)
    return construct(s, Factors, [constant_result(s, expr, [made], "factors"), matrix], {})


for _fn in ITERATIVE:
    handles(getattr(linalg, _fn))(partial(iterated, getattr(linalg, _fn)))
for _fn in (linalg.splu, linalg.factorized):
    handles(_fn)(partial(factors, _fn))


# Norms, exponentials, spectra


def settings_of(s: Specialiser, fn: Any, named: dict[str, Value], names: str) -> dict[str, Value]:
    """The settings of a call, of which it may have no others."""
    if set(named) - set(names.split()):
        raise s.refuse(
            "setting", f"scipy.sparse.linalg.{fn.__name__} with these settings has no derivative", "leave them out"
        )
    return {k: v for k, v in named.items() if k not in ("A", "B", "b") and v != NOTHING}


def call_with(s: Specialiser, fn: Any, args: list[Any], settings: dict[str, Value]) -> Any:
    callee = ir.attribute(s.bind("linalg", linalg), fn.__name__)
    return ir.call(callee, *args, **{k: s.expr(v) for k, v in settings.items()})


@handles(linalg.norm)
def norm(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``norm(A)`` and ``norm(A, "fro")``, and ``norm(A, axis=1)`` of rows or columns."""
    named = bound("A ord axis", args, kwargs)
    settings = settings_of(s, linalg.norm, named, "A ord axis")
    axis = s.static(settings.get("axis", Const((0, 1))))
    if settings.get("ord", Const("fro" if isinstance(axis, tuple) else 2)) not in (Const("fro"), Const(2)):
        raise s.refuse("setting", "scipy.sparse.linalg.norm has a derivative for the Frobenius norm", "leave ord out")
    fields = [attribute_of(s, followed(s, named["A"]), name) for name in FIELDS]
    if not isinstance(axis, tuple):
        expr = call_with(s, linalg.norm, [s.expr(fields[0])], settings)
        return by_text(s, texts.lengths, expr, [*fields, Const(axis % 2)])
    return by_text(s, runtime.frobenius, call_with(s, linalg.norm, [s.expr(fields[0])], settings), fields)


@handles(runtime.steps_of)
def steps_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return s.let(ir.call(s.bind("steps_of", runtime.steps_of), s.expr(of_scipy(s, args[0]))), INT, hint="steps")


@handles(linalg.expm_multiply)
def expm_multiply(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``expm_multiply(A, B)``, the exponential of a matrix times a vector or a matrix."""
    named = bound("A B start stop num endpoint traceA", args, kwargs)
    settings = settings_of(s, linalg.expm_multiply, named, "A B traceA")
    fields = [attribute_of(s, followed(s, named["A"]), name) for name in FIELDS]
    right = array_of_list(s, named["B"])
    refuse_complex(s, right, "scipy.sparse.linalg.expm_multiply")
    steps = steps_of(s, fields[:1], {})
    expr = call_with(s, linalg.expm_multiply, [s.expr(fields[0]), s.expr(right)], settings)
    return by_text(s, runtime.exponential, expr, [*fields, right, steps])


@handles(linalg.eigsh)
def eigsh(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``eigsh(A, k, sigma=..., which=...)``: some eigenvalues of a symmetric matrix, and their vectors."""
    named = bound("A k M sigma which v0 ncv maxiter tol return_eigenvectors", args, kwargs)
    vectors = named.pop("return_eigenvectors", Const(True))
    settings = settings_of(s, linalg.eigsh, named, "A k sigma which v0 ncv maxiter tol rng")
    fields = [attribute_of(s, followed(s, named["A"]), name) for name in FIELDS]
    expr = call_with(s, linalg.eigsh, [s.expr(fields[0])], settings)
    values = replace(vector_like(s), dtype=common_type(s, fields[1], fields[1]))
    facts: list[Facts] = [values, replace(values, dims=(*(vector_like(s).dims or ()), *(values.dims or ())))]
    op = emit_op.make_op(s, runtime.spectrum, fields, {})
    op.beside = tuple(name for value in fields for name in s.leaves(value))
    found = s.let_several(expr, facts, op, "spectrum")
    return TupleV(tuple(found)) if s.static(vectors) else found[0]


# The rows of blocks that are meant, and those of SciPy's functions that are differentiable.
LAYOUTS: dict[Any, Callable[[list[Any]], list[list[Any]]]] = {
    sparse.hstack: lambda blocks: [blocks],
    sparse.vstack: lambda blocks: [[block] for block in blocks],
    sparse.block_diag: lambda blocks: [
        [b if i == j else NOTHING for j in range(len(blocks))] for i, b in enumerate(blocks)
    ],
    sparse.block_array: lambda blocks: blocks,
    sparse.bmat: lambda blocks: blocks,
}


def stacked(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``hstack([A, B])`` and its like, of which some blocks may be None."""
    if not isinstance(args[0], (ListV, TupleV)) or set(kwargs) - {"format"}:
        raise s.refuse(
            "setting", f"scipy.sparse.{fn.__name__} of these has no derivative", "give it a list of matrices"
        )
    blocks = blocks_of(s, args[0])
    grid = LAYOUTS[fn](blocks)
    inside = [block for line in grid for block in line if block != NOTHING]
    parts = [of_scipy(s, block) for block in inside]
    settings = {k: s.expr(v) for k, v in kwargs.items()}
    expr = ir.call(
        ir.attribute(s.bind("sparse", sparse), fn.__name__), listed(s, blocks), *map(s.expr, args[1:]), **settings
    )
    made = constant_result(s, expr, parts)
    return call_python(s, runtime.joined, [made, corners_of(s, grid), TupleV(tuple(inside))], {})


def corners_of(s: Specialiser, grid: Any) -> Value:
    expr = ir.call(s.bind("corners", runtime.corners), listed(s, grid))
    return TupleV(tuple(s.let_several(expr, [indices(s)] * 2, None, "start")))


@handles(runtime.corners)
def corners(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return corners_of(s, blocks_of(s, args[0]))


@handles(runtime.places)
def places(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return TupleV(tuple(attribute_of(s, args[0], name) for name in ("rows", "cols")))


def blocks_of(s: Specialiser, value: Value) -> Any:
    """The matrices in nested lists."""
    if isinstance(value, (ListV, TupleV)):
        return [blocks_of(s, item) for item in value.items]
    return value if value == NOTHING else followed(s, value)


def listed(s: Specialiser, blocks: Any) -> Any:
    """Nested lists of SciPy's matrices."""
    if isinstance(blocks, list):
        return gast.List([listed(s, block) for block in blocks], gast.Load())
    return s.expr(of_scipy(s, blocks))


for _fn in LAYOUTS:
    handles(_fn)(partial(stacked, _fn))


def triangle(fn: Any, chosen: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``tril(A, k)`` and ``triu(A, k)``."""
    named = {"k": Const(0)} | bound("A k", args, kwargs)
    matrix = followed(s, named["A"])
    expr = ir.call(ir.attribute(s.bind("sparse", sparse), fn.__name__), s.expr(of_scipy(s, matrix)), s.expr(named["k"]))
    index = constant_arrays(
        chosen, 1, s, [attribute_of(s, matrix, "rows"), attribute_of(s, matrix, "cols"), named["k"]], {}
    )
    return call_python(s, runtime.kept, [constant_result(s, expr, []), matrix, index], {})


handles(sparse.tril)(partial(triangle, sparse.tril, runtime.below))
handles(sparse.triu)(partial(triangle, sparse.triu, runtime.above))


@handles(runtime.item)
def item(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``S[i, j]``: an element, or a part that is a matrix, too."""
    matrix, key = args
    if isinstance(key, Const) and isinstance(key.value, tuple):
        key = TupleV(tuple(Const(k) for k in key.value))
    first, second = key.items if isinstance(key, TupleV) and len(key.items) == 2 else (key, Const(slice(None)))
    slices = [isinstance(k, SliceV) or isinstance(k, Const) and isinstance(k.value, slice) for k in (first, second)]
    lines = [k if is_slice else array_of_list(s, k) for k, is_slice in zip((first, second), slices)]
    ndims = [None if is_slice else facts.ndim if (facts := s.num(k)) else -1 for k, is_slice in zip(lines, slices)]
    made = ir.subscript(s.expr(of_scipy(s, matrix)), ir.tuple_([s.expr(k) for k in lines]))
    if ndims == [0, 0]:
        return by_text(s, runtime.element, made, [matrix, *lines])
    if ndims not in ([None, None], [None, 1], [1, None]):
        raise s.refuse(
            "setting", "this part of a sparse matrix has no derivative", "take slices: `S[i : i + 1]`, `S[i, j]`"
        )
    return call_python(s, runtime.part, [constant_result(s, made, [matrix, *lines]), matrix, *lines], {})


def least_squares(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lsqr(A, b, damp)`` and ``lsmr(A, b, damp)``, of whose results the solution has a derivative."""
    named = arguments_of(fn, args, kwargs) or {}
    if any(named.pop(name, NOTHING) not in OFF for name in ("x0", "calc_var")) or not named:
        raise s.refuse("setting", f"scipy.sparse.linalg.{fn.__name__} with these settings has no derivative")
    matrix, b, damp = followed(s, named.pop("A")), array_of_list(s, named.pop("b")), named["damp"]
    fields = [attribute_of(s, matrix, name) for name in FIELDS]
    refuse_complex(s, b, f"scipy.sparse.linalg.{fn.__name__}")
    settings = {k: v for k, v in named.items() if v != Const(inspect.signature(fn).parameters[k].default)}
    found = constant_of(s, call_with(s, fn, [s.expr(fields[0]), s.expr(b)], settings), [*fields, b])
    parts = [ir.subscript(s.expr(found), ir.constant(k)) for k in range(8 if fn is linalg.lsmr else 10)]
    check = ir.call(s.bind("check_rank", texts.check_rank), s.expr(fields[0]), s.expr(damp))
    s.block.append(ir.Effect(check, s.where()))
    x = by_text(s, texts.least_squares, parts[0], [*fields, b, damp])
    return TupleV((x, *(s.let(part, Opaque(), hint="report", may_raise=False) for part in parts[1:])))


for _fn in (linalg.lsqr, linalg.lsmr):
    handles(_fn)(partial(least_squares, _fn))


@handles(linalg.svds)
def svds(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``svds(A, k)``: some singular values, and their vectors."""
    named = bound("A k", args, kwargs)
    vectors = named.pop("return_singular_vectors", Const(True))
    settings = settings_of(s, linalg.svds, named, "A k which tol v0 maxiter solver rng random_state")
    fields = [attribute_of(s, followed(s, named["A"]), name) for name in FIELDS]
    expr = call_with(s, linalg.svds, [s.expr(fields[0])], settings)
    found = s.let(
        expr, Opaque(), ir.Op(without_derivative, {f"argument {k}": v for k, v in enumerate(fields)}), "found"
    )
    if s.static(vectors) not in (True, False):
        raise s.refuse("setting", "scipy.sparse.linalg.svds has a derivative with all of its results, or the values")
    left, values, right = (constant_part(s, ir.subscript(s.expr(found), ir.constant(k)), found, n) for k, n in SHAPES)
    made, *rest = call_python(s, texts.doubled, fields, {}).items
    whole = [of_scipy(s, made), *rest]
    op = emit_op.make_op(s, runtime.spectrum, list(whole), {})
    op.beside = tuple(name for value in whole for name in s.leaves(value))
    vectors_ = call_python(s, texts.stacked, [left, right], {})
    facts: list[Facts] = [s.facts_of(values), s.facts_of(vectors_)]
    pair = s.let_several(ir.tuple_([s.expr(values), s.expr(vectors_)]), facts, op, "spectrum")
    found_left, found_right = (
        by_text(s, text, s.expr(part), [pair[1], right])
        for text, part in ((texts.left_vectors, left), (texts.right_vectors, right))
    )
    return TupleV((found_left, pair[0], found_right)) if s.static(vectors) else pair[0]


def constant_of(s: Specialiser, expr: Any, values: list[Value]) -> Leaf:
    """A result of SciPy's, through which no derivative passes."""
    return s.let(expr, Opaque(), ir.Op(without_derivative, {f"argument {k}": v for k, v in enumerate(values)}), "found")


SHAPES = ((0, 2), (1, 1), (2, 2))  # of the results: their places and ranks


def constant_part(s: Specialiser, expr: Any, found: Value, rank: int) -> Leaf:
    dims = [dim for _ in range(rank) for dim in vector_like(s).dims or ()]
    op = ir.Op(without_derivative, {"value": found})
    return s.let(expr, Num("array", np.dtype(np.float64), tuple(dims)), op, "part")


# Functions whose results are matrices with all elements


def full(text: Callable[..., Any], fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``inv(A)``, ``expm(A)`` and ``matrix_power(A, n)``."""
    matrix = followed(s, args[0])
    if kwargs:
        raise s.refuse("setting", f"scipy.sparse.linalg.{fn.__name__} with these settings has no derivative")
    expr = call_with(s, fn, [s.expr(of_scipy(s, matrix)), *map(s.expr, args[1:])], {})
    made = constant_result(s, expr, [*(attribute_of(s, matrix, name) for name in FIELDS), *args[1:]])
    return call_python(s, texts.full, [made, call_python(s, text, [matrix, *args[1:]], {}), matrix], {})


handles(linalg.inv)(partial(full, texts.inverse, linalg.inv))
handles(linalg.expm)(partial(full, texts.exponential_of, linalg.expm))
handles(linalg.matrix_power)(partial(full, texts.power_of, linalg.matrix_power))
