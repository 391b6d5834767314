"""Sums of products of arrays that share only the axes that are summed, as tensor products.

::

    np.sum(d[:, None, None, :] * w[None], axis=3)           np.tensordot(d, w, (1, 2))
    np.sum(d * patch[..., None], axis=0, keepdims=True) ->  np.tensordot(patch, d[:, 0, 0], (0, 0))[None]
    np.sum(d * x[i : i + n, None], axis=0)                  np.tensordot(x[i : i + n], d, (0, 0))

What a convolution written as a loop over windows multiplies is broadcast along every axis that is not summed. The
product has as many elements as the two together, and `tensordot` is one product of matrices that never makes it. Only
cotangents of doubles are rewritten, for they are added up in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.liveness import count_uses
from ...domain.facts import Axis, Num
from ...interp.kernel.slice_lengths import written_span
from ...ir.function import Function
from ...ir.patterns import literal, numpy_name, subscript_parts
from ...ir.traversal import with_operands
from .canonicalize import cotangents, rewrite

ALL = gast.Slice(None, None, None)
ONE: Axis = 1


@dataclass(frozen=True)
class Operand:
    """An operand of a product, the axes that it has there, and itself without those of length 1."""

    dims: tuple[Axis, ...]
    squeezed: Any

    def with_rank(self, rank: int) -> Operand:
        """The same with the axes of length 1 that broadcasting puts in front."""
        return Operand((1,) * (rank - len(self.dims)) + self.dims, self.squeezed)

    def place(self, axis: int) -> int:
        """The number of an axis once those of length 1 are gone."""
        return sum(dim != 1 for dim in self.dims[:axis])


def tensor_products(s: Function, block: ir.Block) -> None:
    """Rewrite the cotangents that a block of the reverse sweep computes, in place."""
    uses = count_uses(block)
    for body in [block, *(inner for stmt in ir.adjoint_walk(block) for inner in ir.adjoint_bodies(stmt))]:
        for product, reader in list(pairwise(body)):
            if is_product(product) and uses[product.target] == 1:
                nest_product(s, body, product, reader)
    for stmt, part in cotangents(s, block):
        rewrite(s, stmt, part, products_in(s, getattr(stmt, part)))
        if isinstance(stmt, ir.Store) and stmt.aug is gast.Add:
            without_new_axes(stmt)


def is_product(stmt: Any) -> bool:
    """True if a statement only makes a product."""
    plain = (
        isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not (stmt.effect or stmt.in_place or stmt.state_reads)
    )
    return plain and isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, gast.Mult)


def nest_product(s: Function, body: ir.Block, product: ir.Let, reader: Any) -> None:
    """Write a product into the statement behind it, where its sum there is a tensor product."""
    for stmt, part in cotangents(s, [reader]):
        if stmt is reader and product.target in ir.variables_in(before := getattr(stmt, part)):
            after = products_in(s, ir.substitute(before, {product.target: product.expr}))
            if sum(map(is_tensordot, ir.nodes_in(after))) > sum(map(is_tensordot, ir.nodes_in(before))):
                rewrite(s, stmt, part, after)
                body.remove(product)


def products_in(s: Function, expr: Any) -> Any:
    """An expression with its sums of products as tensor products."""
    expr = with_operands(expr, lambda e: products_in(s, e))
    return of_sum(s, expr) or expr if isinstance(expr, gast.Call) else expr


def of_sum(s: Function, call: Any) -> Any | None:
    """A sum along axes of a product of two arrays, as a tensor product."""
    if numpy_name(call) == "einsum":
        return of_einsum(s, call)
    method = isinstance(call.func, gast.Attribute) and call.func.attr == "sum" and not call.args
    terms = call.func.value if method else call.args[0] if numpy_name(call) == "sum" and len(call.args) == 1 else None
    if not isinstance(terms, gast.BinOp) or not isinstance(terms.op, gast.Mult):
        return None
    settings = {k.arg: k.value for k in call.keywords}
    keeps = literal(settings.get("keepdims", ir.constant(False)))
    if not settings.keys() <= {"axis", "keepdims"} or type(keeps) is not bool or "axis" not in settings:
        return None
    return tensor_product(s, terms.left, terms.right, [*map(literal, subscript_parts(settings["axis"]))], keeps)


def of_einsum(s: Function, call: Any) -> Any | None:
    """The same spelt with subscripts, as in ``np.einsum("ijk,ijk->jk", a, b)``."""
    inputs, _, output = str(getattr(call.args[0], "value", "")).partition("->")
    first, _, second = inputs.partition(",")
    if len(call.args) != 3 or call.keywords or first != second or [c for c in first if c in output] != [*output]:
        return None
    return tensor_product(s, call.args[1], call.args[2], [k for k, c in enumerate(first) if c not in output], False)


def tensor_product(s: Function, a: Any, b: Any, axes: list[Any], keeps: bool) -> Any | None:
    """The sum along some axes of the product of two arrays, if they share no other axis."""
    left, right = operand(s, a), operand(s, b)
    if left is None or right is None:
        return None
    rank = max(len(left.dims), len(right.dims))
    left, right = left.with_rank(rank), right.with_rank(rank)
    if not all(type(axis) is int and -rank <= axis < rank for axis in axes):
        return None
    summed = sorted({axis % rank for axis in axes})
    free = [k for k in range(rank) if k not in summed]
    sides = [[k for k in free if side.dims[k] != 1] for side in (left, right)]
    if not any(sides) or sorted(sides[0] + sides[1]) != free:
        return None
    if sides[0] > sides[1]:
        left, right, sides = right, left, sides[::-1]
    if sides[0] + sides[1] != free or not all(is_one_length(s, left.dims[k], right.dims[k], a, b) for k in summed):
        return None
    axes = summed_axes(left, right, summed)
    product = ir.call(ir.attribute(s.bind("np", np), "tensordot"), left.squeezed, right.squeezed, axes)
    return with_new_axes(product, summed, rank) if keeps else product


def summed_axes(left: Operand, right: Operand, summed: list[int]) -> Any:
    """The axes that are summed, as `tensordot` is told them: of several, the last of one and the first of the other."""
    count = len(summed)
    places = [[side.place(k) for k in summed] for side in (left, right)]
    rank = sum(dim != 1 for dim in left.dims)
    if count > 1 and places == [[*range(rank - count, rank)], [*range(count)]]:
        return ir.constant(count)
    constants = [[ir.constant(k) for k in found] for found in places]
    return ir.tuple_([found[0] if count == 1 else ir.tuple_(found) for found in constants])


def is_one_length(s: Function, one: Axis, other: Axis, a: Any, b: Any) -> bool:
    """True if two axes surely have one length, which is not known to be 1."""
    names = [n for expr in (a, b) for n in ir.names_in(expr) if n in s.facts]
    known = one is not None and other is not None and 1 not in (one, other)
    return known and s.same_lengths((one,), (other,), s.where_made(*names))


def operand(s: Function, expr: Any) -> Operand | None:
    """An operand that is a variable, or a part of one with new axes."""
    if isinstance(expr, gast.Name):
        dims = dims_of(s, expr.id)
        return part(s, expr, [], dims) if dims else None
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
        return None
    dims = dims_of(s, expr.value.id)
    return part(s, expr.value, subscript_parts(expr.slice), dims) if dims is not None else None


def part(s: Function, array: Any, index: list[Any], dims: tuple[Axis, ...]) -> Operand | None:
    """An array under a subscript of slices and new axes."""
    have, found, kept = list(dims), [], []
    for each in [*index, *[ALL] * (len(dims) - sum(not is_new_axis(x) for x in index))]:
        if is_new_axis(each):
            found.append(ONE)
        elif isinstance(each, gast.Slice) and have and (have[0] != 1 or is_everything(each)):
            axis = have.pop(0)
            length = axis if is_everything(each) else written_span(s, axis, each)
            found.append(None if length == 1 != axis else length)  # a part of one item is broadcast, and no axis less
            kept.append(ir.constant(0) if axis == 1 else each)
        else:
            return None
    while kept and is_everything(kept[-1]):
        kept.pop()
    return Operand(tuple(found), ir.subscript(array, ir.whole_index(kept)) if kept else array)


def is_everything(part: Any) -> bool:
    return isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None


def is_new_axis(part: Any) -> bool:
    return (isinstance(part, gast.Constant) and part.value is None) or ir.path_of(part) == "np.newaxis"


def dims_of(s: Function, name: str) -> tuple[Axis, ...] | None:
    """The axes of a variable that is an array of doubles."""
    facts = s.facts.get(name)
    doubles = isinstance(facts, Num) and facts.kind == "array" and facts.dtype == np.float64 and not facts.tensor
    return facts.dims if doubles and isinstance(facts, Num) else None


def with_new_axes(expr: Any, places: list[int], rank: int) -> Any:
    """An array with axes of length 1 at some places of the result."""
    parts = [ir.constant(None) if k in places else ALL for k in range(rank)]
    if places == [*range(places[0], rank)]:
        parts = [ir.constant(...), *parts[places[0] :]]
    while is_everything(parts[-1]):
        parts.pop()
    return ir.subscript(expr, ir.whole_index(parts))


def without_new_axes(stmt: ir.Store) -> None:
    """``d_w += p`` for ``d_w[None] += p[None]``."""
    value = stmt.value
    if not isinstance(value, gast.Subscript) or not is_contraction(value.value):
        return
    index, added = subscript_parts(stmt.index), subscript_parts(value.slice)
    if added and isinstance(added[0], gast.Constant) and added[0].value is ...:
        added = [ALL] * (len(index) - len(added) + 1) + added[1:]
    added += [ALL] * (len(index) - len(added))
    if [is_new_axis(x) for x in index] == [is_new_axis(x) for x in added]:
        kept = [x for x in index if not is_new_axis(x)]
        stmt.index = ir.constant(...) if all(map(is_everything, kept)) else ir.whole_index(kept)
        stmt.value = value.value


def is_contraction(expr: Any) -> bool:
    """True if an expression is a sum of products, which has no other axes than are written behind it."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.MatMult):
        return True
    return isinstance(expr, gast.Call) and numpy_name(expr) in ("tensordot", "einsum")


def is_tensordot(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and numpy_name(expr) == "tensordot"
