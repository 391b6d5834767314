"""Sparse matrices of ``scipy.sparse``: products with them, and systems."""

from __future__ import annotations

from functools import partial
from typing import Any

import gast
import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...rules.scipy import sparse as rules
from ...runtime.solvers import real_matrix
from .. import ir
from ..facts import Num, Opaque
from ..specialise.calls import handles
from ..specialise.expressions import operate
from ..specialise.numpy_calls import array_of_list
from ..specialise.state import Specialiser
from ..specialise.values import Leaf, Obj, Value
from .functions import refuse_complex, row


def matrix_of(s: Specialiser, value: Value) -> Value:
    """A sparse matrix from outside as a variable of which nothing is known but that it is one."""
    if isinstance(value, Obj) and value.id in s.objects:
        return s.let(s.expr(value), Opaque(), hint="matrix", may_raise=False)
    if isinstance(value, Obj):
        raise s.refuse("a sparse matrix is an argument of a differentiated function", "let the function capture it")
    return value


@handles(sparse.csr_array.__matmul__, sparse.csr_array.dot)
def product(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``S @ x`` and ``S.dot(x)``."""
    return operate(s, gast.MatMult, matrix_of(s, args[0]), args[1])


@handles(sparse.csr_array.__rmatmul__)
def product_from_the_right(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``x @ S``."""
    return operate(s, gast.MatMult, args[1], matrix_of(s, args[0]))


def system(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``spsolve(A, b)``, or that with the transpose."""
    if kwargs or len(args) != 2:
        raise s.refuse("scipy.sparse.linalg.spsolve with these settings has no derivative", "leave them out")
    matrix, right = matrix_of(s, args[0]), array_of_list(s, args[1])
    facts = s.num(right)
    refuse_complex(s, right, "scipy.sparse.linalg.spsolve")
    if not isinstance(matrix, Leaf) or facts is None or facts.dims is None or len(facts.dims) != 1:
        raise s.refuse("scipy.sparse.linalg.spsolve has a derivative for one right side", "give it a vector")
    check = ir.call(s.bind(real_matrix.__name__, real_matrix), s.expr(matrix))
    s.block.append(ir.Effect(check, s.where()))
    if fn is rules.solved:
        callee = ir.attribute(s.bind("linalg", linalg), "spsolve")
    else:
        callee = s.bind(fn.__name__, fn)
    expr = ir.call(callee, s.expr(matrix), s.expr(right))
    return row(s, fn, expr, Num("array", np.dtype(np.float64), facts.dims), [matrix, right], "solution")


handles(linalg.spsolve, rules.solved)(partial(system, rules.solved))
handles(rules.solved_transposed)(partial(system, rules.solved_transposed))
