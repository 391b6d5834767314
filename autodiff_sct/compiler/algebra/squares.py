"""A product with itself is a square, also where a number is multiplied in first.

::

    t = 0.5 * x                             d_x = d_out * x
    y = t * x                         ->
    d_x = d_out * t + d_out * x * 0.5

Neither ``t`` nor a list of all its values is kept.  Both factors have to be the same value, not only the same variable:
memory that the program writes may change in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast
import numpy as np

from .. import ir, passes
from ..facts import Num
from ..specialise.expressions import operate
from ..specialise.values import Const, Leaf, Value

if TYPE_CHECKING:
    from ..reverse.sweep import Reverse


def as_square(r: Reverse, op: ir.Op) -> tuple[Value, float] | None:
    """The value of which an operation computes a multiple of the square, and the number with which it does."""
    if op.fn is not np.multiply:
        return None
    a, b = op.arguments["a"], op.arguments["b"]
    if a == b:
        return a, 1
    if not passes.on("as_square"):
        return None
    for product, value in ((a, b), (b, a)):
        number = multiple_of(r, product, value)
        if number is not None:
            return value, number
    return None


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
    """Whether two variables hold numbers of one type."""
    first, second = r.s.facts[a], r.s.facts[b]
    return isinstance(first, Num) and isinstance(second, Num) and first.dtype == second.dtype


def multiplied(r: Reverse, d: Value, number: float) -> Value:
    """A cotangent times a number."""
    if number == 1:
        return d
    result = operate(r.s, gast.Mult, d, Const(number))
    if isinstance(d, Leaf) and isinstance(result, Leaf) and d.name in r.s.fits:
        r.s.fits[result.name] = r.s.fits[d.name]
    return result
