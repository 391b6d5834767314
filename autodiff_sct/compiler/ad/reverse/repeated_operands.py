"""A product with itself is a square, also where a number is multiplied in first.

::

    t = 0.5 * x                             d_x = d_out * x
    y = t * x                         ->
    d_x = d_out * t + d_out * x * 0.5

Neither ``t`` nor a list of all its values is kept.  Both factors have to be the same value, not only the same variable:
memory that the program writes may change in between.  The product of a vector with itself is a square, too: what it
gives to one operand is given twice.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import gast
import numpy as np

from ... import ir
from ...domain import pass_registry
from ...domain.facts import Num, is_same
from ...domain.values import Const, Leaf, Value
from ...interp.kernel.operations import operate

if TYPE_CHECKING:
    from .transform import Reverse


INNER = (np.dot, np.ndarray.dot, np.vdot, np.inner, np.matmul, np.linalg.matmul, operator.matmul)


def as_square(r: Reverse, op: ir.Op) -> tuple[ir.Op, list[str], float] | None:
    """The stand-in of a square's multiple in the reverse sweep.

    An operation, those of its operands that a cotangent is for, and the number that multiplies that of the result.
    """
    if op.fn in INNER:
        return (
            None
            if not pass_registry.on("repeated_operands") or not is_inner(r, op)
            else (op, [next(iter(op.arguments))], 2)
        )
    if op.fn is not np.multiply:
        return None
    a, b = op.arguments["a"], op.arguments["b"]
    if a == b:
        return squared(a), ["x"], 1
    if not pass_registry.on("repeated_operands"):
        return None
    for product, value in ((a, b), (b, a)):
        number = multiple_of(r, product, value)
        if number is not None:
            return squared(value), ["x"], number
    return None


def squared(value: Value) -> ir.Op:
    return ir.Op(np.square, {"x": value})


def is_inner(r: Reverse, op: ir.Op) -> bool:
    """True if an operation multiplies a vector of real numbers with itself."""
    a, b, *rest = op.arguments.values()
    facts = r.s.facts[a.name] if isinstance(a, Leaf) and a == b and not rest else None
    return isinstance(facts, Num) and facts.ndim == 1 and facts.dtype is not None and facts.dtype.kind == "f"


def multiple_of(r: Reverse, product: Value, value: Value) -> float | None:
    """The literal with which a value has been multiplied to give another."""
    if not isinstance(product, Leaf) or not isinstance(value, Leaf):
        return None
    maker = r.makers.get(product.name)
    if not isinstance(maker, ir.Let) or maker.op is None or maker.op.fn is not np.multiply:
        return None
    numbers = [other for other in maker.op.arguments.values() if other != value]
    if len(numbers) != 1 or not isinstance(numbers[0], Const) or type(numbers[0].value) not in (int, float):
        return None
    if r.has_shadow(product.name) or r.has_shadow(value.name) or not is_alike(r, product.name, value.name):
        return None
    return numbers[0].value


def is_alike(r: Reverse, a: str, b: str) -> bool:
    """True if two variables hold numbers of one type."""
    first, second = r.s.facts[a], r.s.facts[b]
    return isinstance(first, Num) and isinstance(second, Num) and is_same(first.dtype, second.dtype)


def multiplied(r: Reverse, d: Value, number: float) -> Value:
    """A cotangent times a number."""
    if number == 1:
        return d
    result = operate(r.s, gast.Mult, d, Const(number))
    if isinstance(d, Leaf) and isinstance(result, Leaf) and d.name in r.s.fits:
        r.s.fits[result.name] = r.s.fits[d.name]
    return result
