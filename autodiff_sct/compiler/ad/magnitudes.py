"""Squares of magnitudes are differentiated as polynomials, and products with themselves as squares.

::

    y = np.linalg.norm(x)**2            d_x = 2 * d_y * x
    r = np.linalg.norm(x) / h
    y = -r * r                          d_x = 2 * (-d_y / h / h) * x

A magnitude (an absolute value, a norm, a standard deviation, a root of squares) has a kink at zero, where its slope
is taken to be 0.  Its square has none, and a second derivative there, of which nothing is left if the magnitude is
followed first.  So the square is followed at once: also in a branch or a loop around which the magnitude is measured,
of two magnitudes that are measured alike, and of multiples by numbers that carry no derivative.

Other functions of a magnitude may be smooth at zero, too.  In programs that are differentiated again, roots of sums of
squares are norms and absolute values products with a sign, whose rules know that: ``rules/norms.py``.

::

    t = 0.5 * x                             d_x = d_out * x
    y = t * x                         ->
    d_x = d_out * t + d_out * x * 0.5

Neither ``t`` nor a list of all its values is kept.  Both factors have to be the same value, not only the same variable:
memory that the program writes may change in between.  The product of a vector with itself is a square, too: what it
gives to one operand is given twice.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...rules.norms import (
    is_euclidean,
    power_of_squares,
    root_mean_square,
    root_of_coordinates,
    root_of_squares,
    squared_absolute,
    squared_hypot,
    squared_norm,
)
from ...runtime.linalg import degenerate
from .. import ir
from ..analysis.alias import Regions
from ..domain import pass_registry
from ..domain.facts import Num, is_same
from ..domain.values import Const, Leaf, TupleV, Value
from ..interp.kernel.operations import operate
from ..interp.kernel.specialiser import Specialiser

if TYPE_CHECKING:
    from .reverse.transform import Reverse

__all__ = ["Square", "scaled", "squared_magnitudes"]

POWERS = frozenset({np.power, operator.pow, math.pow, pow})
PRODUCTS = frozenset({np.multiply, operator.mul})
ABSOLUTE = frozenset({np.absolute, degenerate.absolute, np.fabs, math.fabs, operator.abs, abs})
DEVIATIONS = {np.std: np.var, np.nanstd: np.nanvar}
VARIANCES = {np.var: np.std, np.nanvar: np.nanstd}
HYPOT = frozenset({np.hypot, math.hypot})
ROOTS = frozenset({np.sqrt, math.sqrt, degenerate.sqrt})
SUMS = frozenset({np.sum, np.mean, np.ndarray.sum, np.ndarray.mean, np.add, operator.add})
REDUCED: dict[Any, Callable[..., Any]] = {
    np.sum: np.linalg.norm, np.ndarray.sum: np.linalg.norm,
    np.mean: root_mean_square, np.ndarray.mean: root_mean_square,
}  # fmt: skip
INNER = frozenset({np.dot, np.ndarray.dot, np.vdot, np.inner, np.matmul, operator.matmul})

NEGATIONS = frozenset({np.negative, operator.neg})
QUOTIENTS = frozenset({np.divide, operator.truediv})
ALIKE = ABSOLUTE | HYPOT | ROOTS | SUMS | INNER | PRODUCTS | POWERS | {*DEVIATIONS, np.linalg.norm, np.square}
ALIKE |= {operator.getitem, np.subtract, operator.sub}
DEPTH = 6  # how far back two values are compared, and numbers are sought that a magnitude is multiplied by

Makers = dict[str, Any]  # the statement that makes a variable
Factors = tuple[tuple[type, Value], ...]  # operators and numbers: of what a value is multiplied or divided by


@dataclass(frozen=True)
class Square:
    """The square of a magnitude as an operation on what is measured, and what that is multiplied by."""

    op: ir.Op
    factors: Factors = ()


def squared_magnitudes(
    s: Specialiser, where: Regions, makers: Makers, program: ir.Block, active: Callable[[str], bool]
) -> dict[Any, Square]:
    """The statements of a program that square a magnitude.

    Roots of squares are told apart, too: these are magnitudes.
    """
    found: dict[Any, Square] = {}
    divisors = {name for block in ir.blocks(program) for name in roots_that_divide(block)}
    for stmt in ir.walk(program):
        if not isinstance(stmt, ir.Let) or stmt.op is None:
            continue
        if s.read_again and stmt.op.fn in ABSOLUTE and active(stmt.target):
            say_from_the_right(s, stmt)
        inside = under_root(stmt.op) if s.read_again or stmt.target not in divisors else None
        if inside is not None and (root := root_of(s, where, makers, active, inside)) is not None:
            found[stmt] = root
        if not s.read_again and (raised := raised_squares(s, where, makers, stmt.op)) is not None:
            found[stmt] = raised
        base, factors = without_factors(s, where, makers, active, stmt)
        maker = makers.get(base)
        op = measured(s, where, makers, maker) if isinstance(maker, ir.Let) else None
        if op is not None and is_unchanged(where, Leaf(base), *op.arguments.values()):
            found[stmt] = Square(op, factors)
    return found


def roots_that_divide(block: ir.Block) -> set[str]:
    """The roots by which a block divides, without a branch between: the primal has no value where one is zero."""
    made = [(stmt.target, stmt.op) for stmt in block if isinstance(stmt, ir.Let) and stmt.op is not None]
    operands = [[*op.arguments.values()][1:] for _, op in made if op.fn in QUOTIENTS]
    below = {value.name for values in operands for value in values if isinstance(value, Leaf)}
    return {target for target, op in made if under_root(op) is not None and target in below}


def under_root(op: ir.Op) -> Value | None:
    """The operand of a square root, also of one that is written as a power; None for other operations."""
    first, *rest = op.arguments.values() or (None,)
    is_power = op.fn in POWERS and len(rest) == 1 and isinstance(rest[0], Const) and rest[0].value == 0.5
    return first if op.fn in ROOTS or is_power else None


def raised_squares(s: Specialiser, where: Regions, makers: Makers, op: ir.Op) -> Square | None:
    """A power between the root and the first of a sum of squares, or one that only the run knows; None for others."""
    if op.fn not in POWERS or len(op.arguments) != 2:
        return None
    inside, exponent = op.arguments.values()
    facts = s.num(exponent)
    if isinstance(exponent, Const):
        between = type(exponent.value) is float and 0.5 < exponent.value < 1.0
    else:
        between = facts is not None and facts.dims == () and facts.dtype is not None and facts.dtype.kind == "f"
    if not between or not is_sum_of_squares(s, where, makers, inside) or is_positive(makers, inside):
        return None
    return Square(ir.Op(power_of_squares, {"x": inside, "p": exponent}))


def root_of(
    s: Specialiser, where: Regions, makers: Makers, active: Callable[[str], bool], inside: Value
) -> Square | None:
    """The root of a sum of squares, or of a multiple of one; None for other roots.

    The root of ``c * q`` has `c` times the slope of a norm: it is the norm that it is divided by which differs.
    """
    base, factors = base_and_factors(s, where, makers, active, inside)
    if not is_sum_of_squares(s, where, makers, base) or is_positive(makers, base):
        return None
    if s.read_again and (norm := norm_of(s, where, makers, base)) is not None:
        return Square(norm, factors)
    return Square(ir.Op(root_of_squares, {"x": inside})) if base == inside else None


def scaled(s: Specialiser, derivative: Value, factors: Factors) -> Value:
    """A derivative of a square, multiplied as the square is."""
    for operation, number in factors:
        result = operate(s, operation, derivative, number)
        if isinstance(derivative, Leaf) and isinstance(result, Leaf) and derivative.name in s.fits:
            s.fits[result.name] = s.fits[derivative.name]
        derivative = result
    return derivative


def without_factors(
    s: Specialiser, where: Regions, makers: Makers, active: Callable[[str], bool], stmt: ir.Let
) -> tuple[str, Factors]:
    """The variable of which a statement gives a multiple of the square, and what that is multiplied by."""
    operands = squared_operands(stmt)
    if operands is None:
        return "", ()
    (a, of_a), (b, of_b) = (base_and_factors(s, where, makers, active, operand) for operand in operands)
    return (a.name, of_a + of_b) if isinstance(a, Leaf) and is_same_value(where, makers, a, b) else ("", ())


def base_and_factors(
    s: Specialiser, where: Regions, makers: Makers, active: Callable[[str], bool], value: Value
) -> tuple[Value, Factors]:
    """A value without the numbers by which it is multiplied or divided, and these."""
    factors: Factors = ()
    for _ in range(DEPTH):
        op = getattr(makers.get(value.name), "op", None) if isinstance(value, Leaf) else None
        if op is None or not op.arguments or not is_unchanged(where, value):
            break
        first, *rest = op.arguments.values()
        if op.fn in NEGATIONS:
            value, factors = first, (*factors, (gast.Mult, Const(-1)))
        elif op.fn in QUOTIENTS and is_plain_number(s, where, active, rest[0]):
            value, factors = first, (*factors, (gast.Div, rest[0]))
        elif op.fn in PRODUCTS and is_plain_number(s, where, active, rest[0]):
            value, factors = first, (*factors, (gast.Mult, rest[0]))
        elif op.fn in PRODUCTS and is_plain_number(s, where, active, first):
            value, factors = rest[0], (*factors, (gast.Mult, first))
        else:
            break
    return value, factors


def is_plain_number(s: Specialiser, where: Regions, active: Callable[[str], bool], value: Value) -> bool:
    """True for a real number that carries no derivative."""
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    facts = s.facts_of(value)
    if not isinstance(value, Leaf) or not isinstance(facts, Num) or facts.dims != () or not is_real(s, value):
        return False
    return not active(value.name) and is_unchanged(where, value)


def is_unchanged(where: Regions, *values: Value) -> bool:
    """True if the program writes into the memory of no value."""
    return not any(where.is_written(value.name) for value in values if isinstance(value, Leaf))


def squared_operands(stmt: ir.Let) -> tuple[Value, Value] | None:
    """The two values that a statement multiplies, if these may be one."""
    op = stmt.op if len(stmt.targets) == 1 else None
    if op is None or not op.arguments:
        return None
    first, *rest = op.arguments.values()
    if not isinstance(first, Leaf):
        return None
    if op.fn is np.square:
        return first, first
    if op.fn in PRODUCTS:
        return first, rest[0]
    power = rest[0].value if op.fn in POWERS and len(rest) == 1 and isinstance(rest[0], Const) else None
    return (first, first) if type(power) in (int, float) and power == 2 else None


def is_same_value(where: Regions, makers: Makers, a: Value, b: Value, depth: int = DEPTH) -> bool:
    """True for one variable, and for two that are made in the same way."""
    if a == b:
        return True
    first, second = (getattr(makers.get(x.name), "op", None) if isinstance(x, Leaf) else None for x in (a, b))
    if first is None or second is None or first.fn is not second.fn or first.fn not in ALIKE or depth == 0:
        return False
    if first.arguments.keys() != second.arguments.keys() or not is_unchanged(where, a, b, *first.arguments.values()):
        return False
    pairs = ((first.arguments[p], second.arguments[p]) for p in first.arguments)
    return all(is_same_value(where, makers, *pair, depth - 1) for pair in pairs)


def measured(s: Specialiser, where: Regions, makers: Makers, maker: ir.Let) -> ir.Op | None:
    """The square of a magnitude as an operation on what the magnitude is of; None for what is no magnitude."""
    op = maker.op
    if op is None or len(maker.targets) != 1:
        return None
    if op.fn in DEVIATIONS:
        return ir.Op(DEVIATIONS[op.fn], op.arguments)
    if op.fn in ABSOLUTE:
        return ir.Op(squared_absolute, op.arguments)
    if op.fn in HYPOT:
        given = tuple(op.arguments.values())
        return ir.Op(squared_hypot, {"coordinates": given[0] if op.fn is math.hypot else TupleV(given)})
    if (inside := under_root(op)) is not None and is_sum_of_squares(s, where, makers, inside):
        return ir.Op(np.positive, {"x": inside})
    facts = s.facts_of(op.arguments["x"]) if op.fn is np.linalg.norm else None
    if isinstance(facts, Num) and facts.ndim is not None and all(map(s.is_static, [*op.arguments.values()][1:])):
        order, axis = (s.static(op.arguments[p]) if p in op.arguments else None for p in ("ord", "axis"))
        return ir.Op(squared_norm, op.arguments) if is_euclidean(order, axis, facts.ndim) else None
    return None


def say_from_the_right(s: Specialiser, stmt: ir.Let) -> None:
    """An absolute value with its sign, that of zero positive: ``x * np.copysign(1.0, x)``.

    Where it is differentiated again, the derivatives at zero are those from the right: the slope of zero at zero
    would leave nothing of the second derivatives of a function of the absolute value.
    """
    assert stmt.op is not None
    (x,) = stmt.op.arguments.values()
    result = s.num(Leaf(stmt.target))
    if result is None or not is_real(s, x):
        return
    module = s.bind("math", math) if result.kind == "float" else s.bind("np", np)
    sign = ir.call(ir.attribute(module, "copysign"), ir.constant(1.0), s.expr(x))
    stmt.expr = gast.BinOp(s.expr(x), gast.Mult(), sign)


def norm_of(s: Specialiser, where: Regions, makers: Makers, value: Value) -> ir.Op | None:
    """The norm that is the root of a sum of squares, as an operation on what is squared; None for other forms.

    Its rule says where a second derivative is not known: at zero.
    """
    maker = makers.get(value.name) if isinstance(value, Leaf) else None
    if not isinstance(maker, ir.Let) or maker.op is None:
        return None
    if maker.op.fn in VARIANCES:
        return ir.Op(VARIANCES[maker.op.fn], maker.op.arguments)
    first, *rest = maker.op.arguments.values()
    settings = {p: a for p, a in maker.op.arguments.items() if p in ("axis", "keepdims")}
    if maker.op.fn in INNER and rest == [first] and is_unchanged(where, first):
        return ir.Op(np.linalg.norm, {"x": first})
    if maker.op.fn in REDUCED and len(settings) == len(rest) and all(map(s.is_static, rest)):
        base = squared_base(where, makers, first)
        return None if base is None else ir.Op(REDUCED[maker.op.fn], {"x": base} | settings)
    bases = [squared_base(where, makers, term) for term in terms_of(makers, value)]
    return None if None in bases else ir.Op(root_of_coordinates, {"coordinates": TupleV(tuple(filter(None, bases)))})


def terms_of(makers: Makers, value: Value, depth: int = DEPTH) -> list[Value]:
    """The terms of a sum, without zeros."""
    op = getattr(makers.get(value.name), "op", None) if isinstance(value, Leaf) else None
    if op is None or op.fn not in (np.add, operator.add) or depth == 0:
        return [] if value == Const(0) else [value]
    return [term for side in op.arguments.values() for term in terms_of(makers, side, depth - 1)]


def is_positive(makers: Makers, value: Value) -> bool:
    """True for a sum of squares and a positive number, whose root has no kink."""
    return any(isinstance(term, Const) and term.value > 0 for term in terms_of(makers, value))


def squared_base(where: Regions, makers: Makers, value: Value) -> Value | None:
    """The value whose square a variable is, if the program never writes to it; None for no square."""
    maker = makers.get(value.name) if isinstance(value, Leaf) else None
    operands = squared_operands(maker) if isinstance(maker, ir.Let) else None
    if operands is None or not is_same_value(where, makers, *operands) or not is_unchanged(where, operands[0]):
        return None
    return operands[0]


def is_sum_of_squares(s: Specialiser, where: Regions, makers: Makers, value: Value) -> bool:
    """True for squares of real numbers, and for their sums, also with a number that is not negative."""
    maker = makers.get(value.name) if isinstance(value, Leaf) else None
    if isinstance(value, Const):
        return isinstance(value.value, (int, float)) and value.value >= 0
    if not isinstance(maker, ir.Let) or maker.op is None or len(maker.targets) != 1:
        return False
    op, facts = maker.op, s.facts_of(value)
    if not isinstance(facts, Num) or facts.dtype is None or facts.dtype.kind != "f":
        return False
    first, *rest = op.arguments.values()
    if op.fn in SUMS:
        terms = [first] if "a" in op.arguments and "b" not in op.arguments else [first, *rest]
        return all(is_sum_of_squares(s, where, makers, term) for term in terms)
    if (op.fn in INNER and rest == [first]) or (op.fn in VARIANCES and is_real(s, first)):
        return True
    factors = squared_operands(maker)
    return factors is not None and is_same_value(where, makers, *factors) and is_real(s, first)


def is_real(s: Specialiser, value: Value) -> bool:
    facts = s.facts_of(value)
    return isinstance(facts, Num) and facts.dtype is not None and facts.dtype.kind in "fiu"


SQUARED = (np.dot, np.ndarray.dot, np.vdot, np.inner, np.matmul, np.linalg.matmul, operator.matmul)


def as_square(r: Reverse, op: ir.Op) -> tuple[ir.Op, list[str], float] | None:
    """The stand-in of a square's multiple in the reverse sweep.

    An operation, those of its operands that a cotangent is for, and the number that multiplies that of the result.
    """
    if op.fn in SQUARED:
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
