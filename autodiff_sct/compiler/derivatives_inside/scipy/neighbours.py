"""Nearest neighbours of ``scipy.spatial``: trees that exist outside, and those that a program makes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import spatial

from ....runtime.scipy import neighbours as texts
from ....runtime.scipy.neighbours import Neighbours
from ... import ir
from ...domain.facts import Dim, Num
from ...domain.values import Const, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_python, opaque_call
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from .functions import by_text, constant_result, is_free, without_derivative

TREES = (spatial.KDTree, spatial.cKDTree)


def tree(cls: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``KDTree(data)``."""
    callee = ir.attribute(s.bind("spatial", spatial), cls.__name__)
    data = array_of_list(s, args[0]) if args else kwargs["data"]
    if not is_free(s, data):
        return opaque_call(s, callee, cls, args, kwargs)
    settings = {k: s.expr(v) for k, v in kwargs.items() if k != "data"}
    made = constant_result(s, ir.call(callee, s.expr(data), *map(s.expr, args[1:]), **settings), [data], "tree")
    return construct(s, Neighbours, [made, data], {})


def query(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``tree.query(x, k)`` of a tree from outside."""
    made, x = args[0], array_of_list(s, args[1]) if len(args) > 1 else kwargs["x"]
    if not is_free(s, x):
        return opaque_call(s, ir.attribute(s.expr(made), "query"), spatial.KDTree.query, args[1:], kwargs)
    kept = constant_result(s, s.expr(made), [], "tree")
    rank = Num("array", np.dtype(np.float64), (Dim((s.new_symbol("axis"), 0)), Dim((s.new_symbol("axis"), 0))))
    data = s.let(ir.attribute(s.expr(kept), "data"), rank, None, "points")
    return call_python(s, Neighbours.query, [construct(s, Neighbours, [kept, data], {}), x, *args[2:]], kwargs)


for _cls in TREES:
    handles(_cls)(partial(tree, _cls))
    handles(_cls.query)(query)


@handles(texts.nearest)
def nearest(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, data, x, k, eps, p = args
    x = array_of_list(s, x)
    facts = s.num(x)
    count = s.static(k) if s.is_static(k) else None
    if not isinstance(count, int) or facts is None or not facts.dims or not s.is_static(p):
        raise s.refuse(
            "setting", "a number of neighbours that only the run knows has no derivative", "write it as a constant"
        )
    settings = [s.expr(v) for v in (x, k, eps, p)]
    call = ir.call(ir.attribute(s.expr(made), "query"), *settings[: 2 if eps == Const(0.0) and p == Const(2.0) else 4])
    found = constant_result(s, call, [data, x], "found")
    dims = (*facts.dims[:-1], *([] if count == 1 else [count]))
    kind = Num("array" if dims else "npscalar", np.dtype(np.int64), dims)
    index = s.let(
        ir.subscript(s.expr(found), ir.constant(1)), kind, ir.Op(without_derivative, {"found": found}), "index"
    )
    length = by_text(
        s, texts.distances, ir.subscript(s.expr(found), ir.constant(0)), [data, x, index, Const(count == 1), p]
    )
    return TupleV((length, index))


@handles(texts.pairs)
def pairs(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if args[-1] != Const("ndarray"):
        raise s.refuse("setting", "a set of pairs cannot be followed", "write `output_type='ndarray'`")
    call = ir.call(ir.attribute(s.expr(args[0]), "query_pairs"), *map(s.expr, args[1:]))
    kind = Num("array", np.dtype(np.int64), (Dim((s.new_symbol("axis"), 0)), 2))
    return s.let(call, kind, ir.Op(without_derivative, {"tree": args[0]}), "pairs")
