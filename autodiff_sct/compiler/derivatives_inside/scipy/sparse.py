"""Sparse matrices of ``scipy.sparse``: those that exist outside, and those that a program makes.

A matrix with elements that may have a derivative is an object of the class `Matrix`, with SciPy's matrix in a variable
through which no derivative passes, and its elements and their places beside that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import gast
import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ....rules.scipy import sparse as rules
from ....runtime.scipy import sparse as runtime
from ....runtime.scipy.solvers import real_matrix
from ....runtime.scipy.sparse import Factors, Matrix
from ... import ir
from ...domain.facts import Num, Opaque
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...interp.arrays.emit_op import array_of_list, numpy_call
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, call_value, opaque_call, operate
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from ...ir.builder import Specialiser
from .functions import NUMPYS_NUMBER, bound, is_free, refuse_complex, row, vector_like

FORMS = [getattr(sparse, f"{form}_{kind}") for form in ("csr", "csc", "coo") for kind in ("array", "matrix")]
ITERATIVE = ("cg", "gmres", "bicg", "bicgstab", "cgs", "lgmres", "minres", "qmr", "tfqmr", "gcrotmk")


def matrix_of(s: Specialiser, value: Value) -> Value:
    """A sparse matrix from outside as a variable of which nothing is known but that it is one."""
    if isinstance(value, Obj) and value.id in s.objects:
        return s.let(s.expr(value), Opaque(), hint="matrix", may_raise=False)
    if isinstance(value, Obj):
        raise s.refuse(
            "setting", "a sparse matrix is an argument of a differentiated function", "let the function capture it"
        )
    return value


def followed(s: Specialiser, value: Value, star: bool = False) -> Value:
    """A matrix with its elements: one that the program has made, an array, or a constant one."""
    if is_matrix(s, value):
        return value
    if is_array(s, value):
        return matrix_of_array(s, s.expr(value), value, False)
    made = matrix_of(s, value)
    check_real(s, [made], {})
    facts = vector_like(s)
    places = Num("array", np.dtype(np.int64), facts.dims)
    expr = ir.call(s.bind("elements", runtime.elements), s.expr(made))
    found = s.let_several(expr, [facts, places, places], None, "elements")
    star = star or isinstance(value, Obj) and issubclass(value.cls, sparse.spmatrix)
    return construct_matrix(s, [made, *found], star)


def is_array(s: Specialiser, value: Value) -> bool:
    """True for what surely is an array."""
    facts = s.num(value)
    return facts is not None and facts.kind == "array"


def matrix_of_array(s: Specialiser, made: Any, value: Value, star: bool) -> Value:
    """The matrix that SciPy makes of an array, or the array itself; each element may carry a derivative."""
    refuse_complex(s, value, "a sparse matrix")
    found = call_python(s, runtime.elements_of_array, [value], {})
    return construct_matrix(s, [constant_result(s, made, [value]), *cast(TupleV, found).items], star)


def constant_result(s: Specialiser, expr: Any, values: list[Value], hint: str = "matrix") -> Leaf:
    """What SciPy makes of elements, through which no derivative passes: it passes through the elements themselves."""
    arguments = {f"argument {k}": v for k, v in enumerate(values)}
    return s.let(expr, Opaque(), ir.Op(rules.built, arguments), hint)


def construct_matrix(s: Specialiser, parts: list[Value], star: bool) -> Value:
    return construct(s, Matrix, [*parts, Const(star)], {})


def is_matrix(s: Specialiser, value: Value) -> bool:
    """True for a matrix that the program has made."""
    return value.cls is Matrix if isinstance(value, Obj) else class_of_row(s, value) is Matrix


@handles(runtime.as_matrix)
def as_matrix(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return followed(s, args[0])


# In the text of a derivative these are called with what its matrices are now.


@handles(real_matrix)
def check_real(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if not is_matrix(s, args[0]):
        s.block.append(ir.Effect(ir.call(s.bind(real_matrix.__name__, real_matrix), s.expr(args[0])), s.where()))
    return Const(None)


@handles(runtime.elements)
def elements(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    matrix = followed(s, args[0])
    return TupleV(tuple(attribute_of(s, matrix, name) for name in ("data_of", "rows", "cols")))


# Matrices from outside


@handles(sparse.csr_array.__matmul__, sparse.csr_array.dot)
def product(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``S @ x`` and ``S.dot(x)``."""
    return operate(s, gast.MatMult, matrix_of(s, args[0]), args[1])


@handles(sparse.csr_array.__rmatmul__)
def product_from_the_right(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``x @ S``."""
    return operate(s, gast.MatMult, args[1], matrix_of(s, args[0]))


def operator_of(name: str, fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """An operator or method of a matrix from outside, beside something that has a derivative."""
    if any(is_matrix(s, a) or is_free(s, a) for a in args[1:]):
        return call_python(s, getattr(Matrix, name), [followed(s, args[0]), *args[1:]], kwargs)
    return opaque_call(s, ir.attribute(s.expr(args[0]), fn.__name__), fn, args[1:], kwargs)


for _name in ("__add__", "__sub__", "__mul__", "__rmul__", "__truediv__", "multiply"):
    for _fn in {getattr(form, _name) for form in FORMS if hasattr(form, _name)}:
        handles(_fn)(partial(operator_of, _name, _fn))


# Matrices that the program makes


def from_elements(form: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``csr_array((data, (rows, cols)), shape=...)``, and ``csr_array(a)`` of an array."""
    given = args[0] if args else None
    callee = ir.attribute(s.bind("sparse", sparse), form.__name__)
    if isinstance(given, TupleV) and len(given.items) == 2 and isinstance(given.items[1], (TupleV, ListV)):
        data, (rows, cols) = array_of_list(s, given.items[0]), map(partial(array_of_list, s), given.items[1].items)
        if is_free(s, data):
            refuse_complex(s, data, "a sparse matrix")
            pair = ir.tuple_([s.expr(data), ir.tuple_([s.expr(rows), s.expr(cols)])])
            settings = {k: s.expr(v) for k, v in kwargs.items()}
            expr = ir.call(callee, pair, *map(s.expr, args[1:]), **settings)
            made = constant_result(s, expr, [data, rows, cols, *args[1:], *kwargs.values()])
            s.lazy |= getattr(s.num(data), "roots", set())  # the matrix may share their memory
            return construct_matrix(s, [made, data, rows, cols], issubclass(form, sparse.spmatrix))
    if given is not None and len(args) == 1 and not kwargs and is_array(s, given) and is_free(s, given):
        return matrix_of_array(s, ir.call(callee, s.expr(given)), given, issubclass(form, sparse.spmatrix))
    return opaque_call(s, callee, form, args, kwargs)


for _form in FORMS:
    handles(_form)(partial(from_elements, _form))


def from_diagonals(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``diags(diagonals, offsets)``."""
    named = bound("diagonals offsets shape format dtype", args[:2], kwargs)
    callee = ir.attribute(s.bind("sparse", sparse), fn.__name__)
    diagonals, offsets = named["diagonals"], named.get("offsets", Const(0))
    single = isinstance(diagonals, Leaf)
    vectors = [diagonals] if single else list(getattr(diagonals, "items", []))
    vectors = [array_of_list(s, v) for v in vectors]
    if not s.is_static(offsets) or not any(is_free(s, v) for v in vectors):
        return constant(fn, s, args, kwargs)
    places = np.ravel(s.static(offsets)).tolist()
    if any((f := s.num(v)) is None or f.ndim != 1 for v in vectors) or len(places) != len(vectors):
        raise s.refuse(
            "setting", f"scipy.sparse.{fn.__name__} of these diagonals has no derivative", "give it a vector for each"
        )
    settings = {k: s.expr(v) for k, v in kwargs.items()}
    made = constant_result(s, ir.call(callee, *map(s.expr, args), **settings), [*vectors, *kwargs.values()])
    lengths = TupleV(tuple(call_value(s, Const(len), [v], {}) for v in vectors))
    rows, cols = (
        s.let(ir.call(s.bind(f.__name__, f), s.expr(lengths), ir.constant(tuple(places))), indices(s), hint=f.__name__)
        for f in (runtime.diagonal_rows, runtime.diagonal_columns)
    )
    data = vectors[0] if len(vectors) == 1 else numpy_call(s, np.concatenate, [TupleV(tuple(vectors))], {})
    return construct_matrix(s, [made, data, rows, cols], not fn.__name__.endswith("array"))


def constant(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A matrix without a derivative, which may meet others that have one."""
    callee = ir.attribute(s.bind("sparse", sparse), fn.__name__)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    made = constant_result(s, expr, [*args, *kwargs.values()])
    return followed(s, made, not fn.__name__.endswith("array"))


for _fn in (sparse.eye, sparse.identity, sparse.eye_array):
    handles(_fn)(partial(constant, _fn))


def indices(s: Specialiser) -> Num:
    """The facts of places of elements."""
    return Num("array", np.dtype(np.int64), vector_like(s).dims)


for _fn in (sparse.diags, sparse.diags_array):
    handles(_fn)(partial(from_diagonals, _fn))


def kron(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``kron(A, B)``."""
    callee = ir.attribute(s.bind("sparse", sparse), "kron")
    if not any(is_matrix(s, a) for a in args):
        return opaque_call(s, callee, sparse.kron, args, kwargs)
    first, second = followed(s, args[0]), followed(s, args[1])
    made = [attribute_of(s, m, "made") for m in (first, second)]
    expr = ir.call(callee, *map(s.expr, [*made, *args[2:]]), **{k: s.expr(v) for k, v in kwargs.items()})
    return call_python(s, runtime.kron, [constant_result(s, expr, made), first, second], {})


handles(sparse.kron)(kron)


def computed(write: Callable[..., Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What SciPy computes with its matrices, through which no derivative passes."""
    return constant_result(s, write(*(s.expr(a) for a in args)), args)


def of_method(name: str, made: Any, *args: Any) -> Any:
    return ir.call(ir.attribute(made, name), *args)


handles(runtime.times)(partial(computed, lambda a, b: ir.binop(a, gast.Mult, b)))
handles(runtime.plus)(partial(computed, lambda a, b: ir.binop(a, gast.Add, b)))
handles(runtime.minus)(partial(computed, lambda a, b: ir.binop(a, gast.Sub, b)))
handles(runtime.multiplied)(partial(computed, partial(of_method, "multiply")))
handles(runtime.formatted)(partial(computed, partial(of_method, "asformat")))
handles(runtime.height)(partial(computed, lambda a: ir.subscript(ir.attribute(a, "shape"), ir.constant(0))))
handles(runtime.width)(partial(computed, lambda a: ir.subscript(ir.attribute(a, "shape"), ir.constant(1))))
handles(rules.turned)(partial(computed, lambda a: ir.attribute(a, "T")))


# Their operations


@handles(rules.built)
def built(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A matrix with other elements at the same places, as the derivative of a program has it."""
    args = [*args[:3], of_scipy(s, args[3])]
    made = constant_result(s, ir.call(s.bind("built", rules.built), *(s.expr(a) for a in args)), args)
    return construct_matrix(s, [made, *args[:3]], False)


def of_scipy(s: Specialiser, value: Value) -> Value:
    """SciPy's matrix behind one that the program has made."""
    return attribute_of(s, value, "made") if is_matrix(s, value) else value


@handles(rules.product)
def product_of_elements(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, args[0]), *args[1:4], array_of_list(s, args[4])]
    facts = s.num(args[4])
    expr = ir.binop(s.expr(args[0]), gast.MatMult, s.expr(args[4]))
    if facts is None or facts.dims is None or facts.dtype is None or facts.dtype.kind == "c":
        raise s.refuse(
            "setting", "a product of a sparse matrix with this has no derivative", "give it a real vector or matrix"
        )
    (height,) = vector_like(s).dims or ()
    result = Num("array", common_type(s, args[1], args[4]), (height, *facts.dims[1:]))
    return row(s, rules.product, expr, result, args, "product")


def common_type(s: Specialiser, data: Value, other: Value) -> Any:
    """The dtype of what SciPy computes of elements and something beside them."""
    given = [f.dtype for v in (data, other) if (f := s.num(v)) is not None]
    if any(dtype is None for dtype in given):
        raise s.refuse(
            "setting", "the dtype of this sparse matrix, or of what stands beside it, is not known", "convert it"
        )
    return np.result_type(np.float32, *given)


@handles(rules.dense)
def dense(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, args[0]), *args[1:]]
    shape = [*(vector_like(s).dims or ()), *(vector_like(s).dims or ())]
    facts = Num("array", common_type(s, args[1], args[1]), tuple(shape))
    return row(s, rules.dense, of_method("toarray", s.expr(args[0])), facts, args, "dense")


@handles(rules.summed)
def summed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, args[0]), *args[1:]]
    whole = args[4] == Const(None)
    expr = of_method("sum", s.expr(args[0]), *([] if whole else [s.expr(args[4])]))
    facts = replace(NUMPYS_NUMBER if whole else vector_like(s), dtype=common_type(s, args[1], args[1]))
    return row(s, rules.summed, expr, facts, args, "total")


# Systems


def system(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``spsolve(A, b)``."""
    if kwargs or len(args) != 2:
        raise s.refuse("setting", "scipy.sparse.linalg.spsolve with these settings has no derivative")
    return solution(s, Const(("spsolve", ())), followed(s, args[0]), args[1])


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
    if facts is None or facts.dims is None or len(facts.dims) != 1:
        raise s.refuse(
            "setting", "a system with a sparse matrix has a derivative for one right side", "give it a vector"
        )
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
    facts = s.num(args[5])
    data = args[5] if args[2] == Const(None) else args[2]
    result = Num("array", common_type(s, data, args[5]), None if facts is None else facts.dims)
    return row(s, rules.solved, expr, result, args, "solution")


def iterated(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cg(A, b, rtol=...)`` and its like: the derivative solves systems by the same method."""
    given = bound("A b x0", args, kwargs)
    settings = {k: v for k, v in given.items() if k not in ("A", "b")}
    constant = all(isinstance(v, Const) for v in settings.values())
    if not constant or "callback" in settings or settings.pop("x0", Const(None)) != Const(None):
        raise s.refuse(
            "setting",
            f"scipy.sparse.linalg.{fn.__name__} has a derivative for a matrix, a vector and numbers as settings",
            "pass the matrix, one vector and constant settings",
        )
    how = Const((fn.__name__, tuple((k, v.value) for k, v in settings.items())))
    x = solution(s, how, followed(s, given["A"]), given["b"])
    return TupleV((x, Const(0)))


def factors(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``splu(A)`` and ``factorized(A)``."""
    matrix = followed(s, args[0])
    if len(args) != 1 or kwargs:
        raise s.refuse("setting", f"scipy.sparse.linalg.{fn.__name__} with these settings has no derivative")
    made = of_scipy(s, matrix)
    expr = ir.call(ir.attribute(s.bind("linalg", linalg), "splu"), s.expr(made))
    return construct(s, Factors, [constant_result(s, expr, [made], "factors"), matrix], {})


for _fn in ITERATIVE:
    handles(getattr(linalg, _fn))(partial(iterated, getattr(linalg, _fn)))
for _fn in (linalg.splu, linalg.factorized):
    handles(_fn)(partial(factors, _fn))
