"""``lil_matrix``, ``dok_matrix`` and their like, which a program assembles element by element."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ....runtime.scipy import assembly as texts
from ....runtime.scipy.assembly import Assembly
from ....runtime.scipy.sparse import Matrix
from ... import ir
from ...domain.request import Way
from ...domain.values import Const, TupleV, Value
from ...interp.arrays.emit_op import numpy_call
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, opaque_call
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from .sparse import constant_result, construct_matrix, followed, indices, is_matrix

FORMS = [getattr(sparse, f"{form}_{kind}") for form in ("lil", "dok") for kind in ("array", "matrix")]


def assembly(form: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lil_matrix((n, n))``, and ``lil_matrix(S)``."""
    given = args[0] if args else kwargs.get("arg1", Const(None))
    shape = list(map(Const, given.value)) if isinstance(given, Const) and isinstance(given.value, tuple) else []
    shape = list(given.items) if isinstance(given, TupleV) else shape
    named = dict(zip(("shape", "dtype"), args[1:])) | {k: v for k, v in kwargs.items() if k != "arg1"}
    dtype = named.get("dtype", Const(None))
    plain = named.keys() <= {"dtype"} and s.is_static(dtype) and s.static(dtype) in (None, float, np.float64)
    if not s.attempt.takes(Way.ASSEMBLED) or not plain or len(shape) != 2 and not is_matrix(s, given):
        return opaque_call(s, ir.attribute(s.bind("sparse", sparse), form.__name__), form, args, kwargs)
    if is_matrix(s, given):
        return begun(s, form.__name__, given)
    nothing = [numpy_call(s, np.zeros, [Const(0), *kind], {}) for kind in ([], [Const(np.int64)], [Const(np.int64)])]
    star = Const(issubclass(form, sparse.spmatrix))
    return construct(s, Assembly, [Const(form.__name__), *shape, *nothing, star], {})


def begun(s: Specialiser, form: str, matrix: Value) -> Value:
    """A matrix to which more is added."""
    made = followed(s, matrix)
    lines, columns = attribute_of(s, made, "shape").items  # type: ignore[attr-defined]
    fields = [attribute_of(s, made, name) for name in ("data_of", "rows", "cols", "star")]
    return construct(s, Assembly, [Const(form), lines, columns, *fields], {})


def converted(form: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``S.tolil()``."""
    star = s.static(attribute_of(s, args[0], "star"))
    return begun(s, f"{form}_{'matrix' if star else 'array'}", args[0])


for _form in FORMS:
    handles(_form)(partial(assembly, _form))
handles(Matrix.tolil)(partial(converted, "lil"))
handles(Matrix.todok)(partial(converted, "dok"))


@handles(texts.standing)
def standing(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    expr = ir.call(s.bind("standing", texts.standing), *map(s.expr, args))
    return TupleV(tuple(s.let_several(expr, [indices(s)] * 3, None, "place")))


@handles(texts.assembled)
def assembled(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The matrix with its elements, in the program and in that of its derivative."""
    expr = ir.call(s.bind("assembled", texts.assembled), *map(s.expr, args))
    return construct_matrix(s, [constant_result(s, expr, args[:3]), *args[:3]], False)
