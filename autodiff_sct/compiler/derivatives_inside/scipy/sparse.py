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

from ....rules.scipy import sparse as rules
from ....runtime.scipy import sparse as runtime
from ....runtime.scipy.assembly import Assembly
from ....runtime.scipy.solvers import real_matrix
from ....runtime.scipy.sparse import Matrix
from ... import ir
from ...domain.facts import INT, Facts, Num, Opaque
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...interp.arrays.emit_op import array_of_list, numpy_call
from ...interp.arrays.indexing import normal
from ...interp.arrays.value_dependent import is_array
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, call_value, get_item, opaque_call, operate
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from ...interp.world.boundary import STAND_INS
from .functions import NUMPYS_NUMBER, bound, is_free, refuse_complex, row, vector_like

FORMS = [getattr(sparse, f"{form}_{kind}") for form in ("csr", "csc", "coo") for kind in ("array", "matrix")]
NOTHING = Const(None)


def matrix_of(s: Specialiser, value: Value) -> Value:
    """A sparse matrix from outside as a variable of which nothing is known but that it is one."""
    if isinstance(value, Obj) and value.id in s.objects:
        return s.let(s.expr(value), Opaque(), hint="matrix", may_raise=False)
    return value


def of_argument(s: Specialiser, argument: Obj, expr: Any) -> Obj:
    """A sparse matrix in an argument, as the program sees it; its gradient is a matrix with the same places."""
    data = s.env[(argument.id, "data")]
    facts = s.num(data)
    assert isinstance(data, Leaf) and facts is not None
    refuse_complex(s, data, "a sparse matrix")
    made = constant_result(s, expr, [])
    s.lazy |= facts.roots  # the matrix shares their memory
    rows, cols = places_of(s, made, data)
    elements: Value = data
    if facts.ndim != 1:
        elements = numpy_call(s, np.reshape, [data, Const(-1)], {})
    if issubclass(argument.cls, (sparse.dia_array, sparse.dia_matrix)):
        index = constant_arrays(runtime.inner, 1, s, [rows, cols, made], {})
        elements, rows, cols = (get_item(s, v, index) for v in (elements, rows, cols))
    star = Const(issubclass(argument.cls, sparse.spmatrix))
    fields = {"made": made, "data_of": elements, "rows": rows, "cols": cols, "star": star}
    s.env |= {(argument.id, name): value for name, value in fields.items()}
    return Obj(argument.id, Matrix)


def of_program(s: Specialiser, matrix: Obj, expr: Any) -> Obj:
    """A matrix that is given to a derivative inside the program: its text is followed with the whole matrix."""
    s.env[(matrix.id, "made")] = constant_result(s, expr, [])
    return matrix


STAND_INS[Matrix] = of_program
for _form in ("csr", "csc", "coo", "bsr", "dia"):
    STAND_INS |= {getattr(sparse, f"{_form}_{kind}"): of_argument for kind in ("array", "matrix")}


def followed(s: Specialiser, value: Value, star: bool = False) -> Value:
    """A matrix with its elements: one that the program has made, an array, or a constant one."""
    if is_matrix(s, value):
        return value
    if is_array(s, value):
        return matrix_of_array(s, s.expr(value), value, False)
    if isinstance(value, Obj) and value.cls is Assembly:
        return call_python(s, Assembly.tocsr, [value], {})
    made = matrix_of(s, value)
    check_real(s, [made], {})
    facts = vector_like(s)
    places = Num("array", np.dtype(np.int64), facts.dims)
    expr = ir.call(s.bind("elements", runtime.elements), s.expr(made))
    found = s.let_several(expr, [facts, places, places], None, "elements")
    star = star or isinstance(value, Obj) and issubclass(value.cls, sparse.spmatrix)
    return construct_matrix(s, [made, *found], star)


def matrix_of_array(s: Specialiser, made: Any, value: Value, star: bool) -> Value:
    """The matrix that SciPy makes of an array, or the array itself; each element may carry a derivative."""
    refuse_complex(s, value, "a sparse matrix")
    found = call_python(s, runtime.elements_of_array, [value], {})
    return construct_matrix(s, [constant_result(s, made, [value]), *cast(TupleV, found).items], star)


def constant_result(s: Specialiser, expr: Any, values: list[Value], hint: str = "matrix") -> Leaf:
    """The result of SciPy's function of elements; derivatives pass through the elements themselves."""
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


@handles(runtime.as_operand)
def as_operand(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    outside = isinstance(value, Obj) and value.id in s.objects and sparse.issparse(s.objects[value.id][0])
    return followed(s, value) if outside or isinstance(value, Obj) and value.cls is Assembly else value


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
    if is_matrix(s, args[1]):
        return call_python(s, Matrix.__matmul__, [followed(s, args[0]), args[1]], kwargs)
    facts = s.num(args[1])
    if is_free(s, args[1]) and facts is not None and facts.dims is not None and facts.dtype == np.float64:
        made = matrix_of(s, args[0])
        check_real(s, [made], {})
        return product_of_elements(s, [made, NOTHING, NOTHING, NOTHING, args[1]], {})
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
    if isinstance(given, TupleV) and len(given.items) == 3:
        return from_compressed(form, callee, s, args, kwargs)
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


def from_compressed(form: Any, callee: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``csr_array((data, indices, indptr), shape=...)``."""
    parts = [array_of_list(s, v) for v in args[0].items]  # type: ignore[union-attr]
    data = parts[0]
    if not is_free(s, data) or "coo" in form.__name__:
        return opaque_call(s, callee, form, args, kwargs)
    refuse_complex(s, data, "a sparse matrix")
    settings = {k: s.expr(v) for k, v in kwargs.items()}
    expr = ir.call(callee, ir.tuple_([s.expr(v) for v in parts]), *map(s.expr, args[1:]), **settings)
    made = constant_result(s, expr, [*parts, *args[1:], *kwargs.values()])
    facts = s.num(data)
    s.lazy |= facts.roots if facts is not None else set()  # the matrix shares their memory
    return construct_matrix(s, [made, data, *places_of(s, made, data)], issubclass(form, sparse.spmatrix))


def places_of(s: Specialiser, made: Value, data: Value) -> list[Value]:
    """The rows and the columns of the elements that SciPy's matrix stores."""
    facts = s.num(data)
    where = indices(s)
    where = replace(where, dims=facts.dims) if facts is not None and facts.ndim == 1 else where
    return list(s.let_several(ir.call(s.bind("places", runtime.places), s.expr(made)), [where, where], None, "place"))


for _form in FORMS:
    handles(_form)(partial(from_elements, _form))


def from_diagonals(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``diags(diagonals, offsets)``."""
    named = bound("diagonals offsets shape format dtype", args[:2], kwargs)
    callee = ir.attribute(s.bind("sparse", sparse), fn.__name__)
    diagonals, offsets = named["diagonals"], normal(s, named.get("offsets", Const(0)))
    single = isinstance(diagonals, Leaf)
    vectors = [diagonals] if single else list(getattr(diagonals, "items", []))
    vectors = [array_of_list(s, v) for v in vectors]
    if not any(is_free(s, v) for v in vectors):
        return constant(fn, s, args, kwargs)
    if not s.is_static(offsets):
        raise s.refuse(
            "setting",
            f"only the run tells the offsets of scipy.sparse.{fn.__name__}",
            "write them as a list of numbers",
        )
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


@handles(sparse.issparse)
def is_sparse(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if is_matrix(s, args[0]):
        return Const(True)
    return call_python(s, sparse.issparse, args, kwargs)


def computed(write: Callable[..., Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of SciPy's operation on its matrices, through which no derivative passes."""
    return constant_result(s, write(*(s.expr(a) for a in args)), args)


def of_method(name: str, made: Any, *args: Any) -> Any:
    return ir.call(ir.attribute(made, name), *args)


handles(runtime.times)(partial(computed, lambda a, b: ir.binop(a, gast.Mult, b)))
handles(runtime.plus)(partial(computed, lambda a, b: ir.binop(a, gast.Add, b)))
handles(runtime.minus)(partial(computed, lambda a, b: ir.binop(a, gast.Sub, b)))
handles(runtime.formatted)(partial(computed, partial(of_method, "asformat")))
handles(rules.turned)(partial(computed, lambda a: ir.attribute(a, "T")))


def length(write: Callable[..., Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return s.let(write(s.expr(of_scipy(s, args[0]))), INT, hint="size", may_raise=False)


handles(runtime.height)(partial(length, lambda a: ir.subscript(ir.attribute(a, "shape"), ir.constant(0))))
handles(runtime.width)(partial(length, lambda a: ir.subscript(ir.attribute(a, "shape"), ir.constant(1))))
handles(runtime.stored_count)(partial(length, lambda a: ir.attribute(a, "nnz")))


@handles(runtime.stored)
def stored(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    raise s.refuse(
        "setting",
        "the stored elements of a sparse matrix that the program makes are in an order of SciPy's own",
        "use the array that it was made of, or S.toarray()",
    )


@handles(runtime.as_plain)
def as_plain(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if attribute_of(s, args[0], "star") != Const(False):
        raise s.refuse(
            "setting",
            "this is an np.matrix, or a power of matrices, where it is asked of a csr_matrix or its like",
            "use arrays: `csr_array(S)`, `S @ np.ones(n)` for sums of rows",
        )
    return args[0]


@handles(runtime.check_places)
def check_places(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    call = ir.call(s.bind("check_places", runtime.check_places), *map(s.expr, args))
    s.block.append(ir.Effect(call, s.where()))
    return Const(None)


@handles(runtime.by_method)
def by_method(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    name = s.static(args[0])
    return computed(partial(of_method, name), s, [of_scipy(s, a) for a in args[1:]], kwargs)


def constant_arrays(fn: Any, count: int, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Places of elements, through which no derivative passes."""
    expr = ir.call(s.bind(fn.__name__, fn), *(s.expr(of_scipy(s, a)) for a in args))
    if count == 1:
        return s.let(expr, indices(s), hint=fn.__name__)
    facts: list[Facts] = [indices(s)] * count
    return TupleV(tuple(s.let_several(expr, facts, None, fn.__name__)))


for _fn, _count in ((runtime.distinct, 3), (runtime.pairs, 2), (runtime.common, 2), (runtime.part_of, 3),
                    (runtime.below, 1), (runtime.above, 1), (runtime.inner, 1)):  # fmt: skip
    handles(_fn)(partial(constant_arrays, _fn, _count))


# Their operations


@handles(rules.built)
def built(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A matrix with other elements at the same places, as the derivative of a program has it."""
    args = [*args[:3], of_scipy(s, args[3])]
    made = constant_result(s, ir.call(s.bind("built", rules.built), *(s.expr(a) for a in args)), args)
    return construct_matrix(s, [made, *args[:3]], False)


@handles(rules.made_of)
def made_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A matrix that a rule makes, as the derivative of a program has it."""
    made = constant_result(s, ir.call(s.bind("made_of", rules.made_of), *(s.expr(a) for a in args)), args)
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
    """The dtype of what SciPy computes of elements and something beside them; None where it is not known."""
    given = [f.dtype for v in (data, other) if (f := s.num(v)) is not None]
    return None if any(dtype is None for dtype in given) else np.result_type(np.float32, *given)


@handles(rules.dense)
def dense(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, args[0]), *args[1:]]
    shape = [*(vector_like(s).dims or ()), *(vector_like(s).dims or ())]
    facts = Num("array", common_type(s, args[1], args[1]), tuple(shape))
    return row(s, rules.dense, of_method("toarray", s.expr(args[0])), facts, args, "dense")


@handles(rules.diagonal_of)
def diagonal_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, args[0]), *args[1:]]
    facts = replace(vector_like(s), dtype=common_type(s, args[1], args[1]))
    return row(s, rules.diagonal_of, of_method("diagonal", s.expr(args[0])), facts, args, "diagonal")


def summed(flat: bool, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, args[0]), *args[1:]]
    whole = args[4] == Const(None)
    expr = of_method("sum", s.expr(args[0]), *([] if whole else [s.expr(args[4])]))
    if flat:
        expr = of_method("reshape", ir.call(ir.attribute(s.bind("np", np), "asarray"), expr), ir.constant(-1))
    facts = replace(NUMPYS_NUMBER if whole else vector_like(s), dtype=common_type(s, args[1], args[1]))
    return row(s, rules.summed, expr, facts, args, "total")


handles(rules.summed)(partial(summed, False))
handles(runtime.flat_sums)(partial(summed, True))
