"""Sparse matrices made of others: blocks in rows and columns, triangles, and parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gast
from scipy import sparse

from ....runtime.scipy import sparse as runtime
from ... import ir
from ...domain.values import Const, ListV, SliceV, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python
from ...ir.builder import Specialiser
from .by_text import by_text
from .functions import bound
from .sparse import NOTHING, constant_arrays, constant_result, followed, indices, of_scipy

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
