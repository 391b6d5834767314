"""Squares of magnitudes are differentiated as what they are: polynomials.

::

    y = np.linalg.norm(x)**2            d_x = 2 * d_y * x

A magnitude (an absolute value, a norm, a standard deviation, a root of squares) has a kink at zero, where its slope
is taken to be 0.  Its square has none, and a second derivative there, of which nothing is left if the magnitude is
followed first.  So the square is followed at once.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...rules.norms import is_euclidean, root_of_squares, squared_absolute, squared_hypot, squared_norm
from .. import ir
from ..analysis.alias import Regions
from ..domain.facts import Num
from ..domain.values import Const, Leaf, Value
from ..ir.builder import Specialiser

__all__ = ["squared_magnitudes"]

POWERS = frozenset({np.power, operator.pow, math.pow, pow})
PRODUCTS = frozenset({np.multiply, operator.mul})
ABSOLUTE = frozenset({np.absolute, np.fabs, math.fabs, operator.abs, abs})
DEVIATIONS = {np.std: np.var, np.nanstd: np.nanvar}
HYPOT = frozenset({np.hypot})
ROOTS = frozenset({np.sqrt, math.sqrt})
SUMS = frozenset({np.sum, np.mean, np.ndarray.sum, np.ndarray.mean, np.add, operator.add})
INNER = frozenset({np.dot, np.ndarray.dot, np.vdot, np.inner, np.matmul, operator.matmul})

Makers = dict[str, Any]  # the statement that makes a variable


def squared_magnitudes(s: Specialiser, where: Regions, makers: Makers, program: ir.Block) -> dict[Any, ir.Op]:
    """The statements of a program that square a magnitude, each with the operation that it is on what is measured.

    Roots of squares are told apart, too: these are magnitudes.
    Both stand in one block: what a block reads is known, and its reverse hands on the cotangents of that.
    """
    found: dict[Any, ir.Op] = {}
    for block in ir.blocks(program):
        made = {name: stmt for stmt in block if isinstance(stmt, ir.Let) for name in stmt.targets}
        for stmt in made.values():
            if (
                stmt.op is not None
                and stmt.op.fn in ROOTS
                and is_sum_of_squares(s, where, makers, stmt.op.arguments["x"])
            ):
                found[stmt] = ir.Op(root_of_squares, stmt.op.arguments)
            magnitude = squared(where, makers, stmt)
            op = measured(s, where, makers, made[magnitude]) if magnitude in made else None
            if op is not None and is_unchanged(where, Leaf(magnitude), *op.arguments.values()):
                found[stmt] = op
    return found


def is_unchanged(where: Regions, *values: Value) -> bool:
    """True if the program writes into the memory of no value."""
    return not any(where.is_written(value.name) for value in values if isinstance(value, Leaf))


def squared(where: Regions, makers: Makers, stmt: ir.Let) -> str:
    """The variable that a statement squares."""
    op = stmt.op if len(stmt.targets) == 1 else None
    if op is None or not op.arguments:
        return ""
    first, *rest = op.arguments.values()
    if not isinstance(first, Leaf):
        return ""
    square = op.fn is np.square or (op.fn in PRODUCTS and is_same_value(where, makers, first, rest[0]))
    power = op.fn in POWERS and len(rest) == 1 and isinstance(rest[0], Const)
    return first.name if square or (power and type(rest[0].value) in (int, float) and rest[0].value == 2) else ""


def is_same_value(where: Regions, makers: Makers, a: Value, b: Value) -> bool:
    """True for one variable, and for two that are made in the same way."""
    if a == b:
        return True
    ops = [getattr(makers.get(x.name), "op", None) if isinstance(x, Leaf) else None for x in (a, b)]
    first, second = ops
    if first is None or second is None or first.fn is not second.fn or first.fn not in ABSOLUTE | {operator.getitem}:
        return False
    return first.arguments == second.arguments and is_unchanged(where, a, b, *first.arguments.values())


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
        return ir.Op(squared_hypot, op.arguments)
    if op.fn in ROOTS and is_sum_of_squares(s, where, makers, op.arguments["x"]):
        return ir.Op(np.positive, op.arguments)
    facts = s.facts_of(op.arguments["x"]) if op.fn is np.linalg.norm else None
    if isinstance(facts, Num) and facts.ndim is not None and all(map(s.is_static, [*op.arguments.values()][1:])):
        order, axis = (s.static(op.arguments[p]) if p in op.arguments else None for p in ("ord", "axis"))
        return ir.Op(squared_norm, op.arguments) if is_euclidean(order, axis, facts.ndim) else None
    return None


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
    if op.fn in INNER and rest == [first]:
        return True
    return bool(squared(where, makers, maker)) and is_real(s, first)


def is_real(s: Specialiser, value: Value) -> bool:
    facts = s.facts_of(value)
    return isinstance(facts, Num) and facts.dtype is not None and facts.dtype.kind in "fiu"
