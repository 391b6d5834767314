"""Legality of strips: the operands of an element-wise program, known strip by strip (`strips`).

A program may run in strips if it adds up numbers that are made of one element of each array, or of ``1 + cut``
elements that follow each other: the sum of all is the sum over the strips then, and so is its gradient.  A strip has as
many elements more as the largest cut, and of what is cut less, the next strip has some again: they are left out where
the program adds up, and where cotangents *enter*, which is where the seed, or a number made of it, meets an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from ...analysis.subscript_uses import literal
from ...ir.function import Function

NUMBER, STRIP, SUM = range(3)  # known before the loop, made in it, known after it
ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow, gast.Mod)
PARTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)
FILLED = (np.where, np.full_like)
NEW = (np.empty_like, np.zeros_like, np.ones_like)


class Unfit(Exception):
    """A program that does not run in strips."""


@dataclass(frozen=True)
class Part:
    """The place where a value is known; by how much it is shorter than the arrays; whether it is a cotangent.

    A cotangent is `spread` if it may hold what has entered elsewhere along the array.
    """

    level: int
    cut: int = 0
    seeded: bool = False
    spread: bool = False


class Values:
    """The parts that variables and expressions of a program are."""

    def __init__(self, s: Function, parts: dict[str, Part]) -> None:
        self.s, self.parts = s, parts
        self.entries: set[int] = set()

    def level(self, expr: Any) -> int:
        return self.part(expr).level

    def entered(self, expr: Any, place: Part | None = None) -> tuple[Part, set[int]]:
        """The part of an expression, and the cuts of values that are added up or entered in it, or by a store."""
        self.entries = set()
        part = self.part(expr)
        if place is not None:
            self.of_all([place, part])
        return part, self.entries

    def part(self, expr: Any) -> Part:
        """The part of an expression."""
        if isinstance(expr, gast.Constant):
            return Part(NUMBER)
        if isinstance(expr, gast.Name):
            return self.of_name(expr.id)
        if isinstance(expr, gast.Attribute) and type(self.found(expr)) in (int, float):
            return Part(NUMBER)
        if isinstance(expr, gast.Subscript):
            return self.sliced(self.part(expr.value), expr.slice)
        if (terms := self.terms(expr)) is not None:
            return self.summed(terms)
        return self.of_all([self.part(operand) for operand in self.operands(expr)])

    def of_name(self, name: str) -> Part:
        if name not in self.parts:
            raise Unfit
        return self.parts[name]

    def sliced(self, whole: Part, index: Any) -> Part:
        """A part of an array that leaves out a known number of elements at its ends."""
        ends = cuts(index)
        if whole.level != STRIP or ends is None:
            raise Unfit
        return Part(STRIP, whole.cut + sum(ends), whole.seeded, whole.seeded)

    def of_all(self, parts: list[Part]) -> Part:
        """The result of an element-wise operation."""
        levels = {part.level for part in parts}
        cuts = {part.cut for part in parts if part.level == STRIP}
        if {STRIP, SUM} <= levels or len(cuts) > 1:
            raise Unfit  # each strip needs the sum of all, or arrays of several lengths meet
        if any(part.seeded and part.level == NUMBER for part in parts):
            self.entries |= cuts
        seeded, spread = any(part.seeded for part in parts), any(part.spread for part in parts)
        return Part(max(levels, default=NUMBER), min(cuts, default=0), seeded, spread)

    def summed(self, terms: list[Any]) -> Part:
        part = self.of_all([self.part(term) for term in terms])
        if not part.seeded:
            self.entries.add(part.cut)
        return Part(SUM, 0, part.seeded, part.spread)

    def terms(self, expr: Any) -> list[Any] | None:
        """The arrays whose elements, or whose products of elements, an expression adds up in the loop."""
        if not isinstance(expr, gast.Call) or expr.keywords:
            return None
        if isinstance(expr.func, gast.Attribute) and expr.func.attr == "sum" and not expr.args:
            found = [expr.func.value]
        elif self.found(expr.func) is np.sum and len(expr.args) == 1 or self.found(expr.func) is np.vdot:
            found = expr.args
        else:
            return None
        return found if all(self.level(term) == STRIP for term in found) else None

    def operands(self, expr: Any) -> list[Any]:
        """The operands of an element-wise operation."""
        if isinstance(expr, gast.Call) and (expr.keywords or not self.is_elementwise(expr)):
            raise Unfit
        if not isinstance(expr, PARTED) or (isinstance(expr, gast.BinOp) and not isinstance(expr.op, ELEMENTWISE)):
            raise Unfit
        return parts_of(expr)

    def is_elementwise(self, expr: Any) -> bool:
        fn = self.found(expr.func)
        if isinstance(fn, np.ufunc):
            return fn.signature is None and fn.nout == 1 and len(expr.args) == fn.nin
        if getattr(expr.func, "id", "") in ("float", "max") and fn is None:
            return all(self.level(arg) != STRIP for arg in expr.args)
        return fn in FILLED or fn in NEW

    def is_new(self, expr: Any) -> bool:
        """True if an expression makes an array that is filled later."""
        return isinstance(expr, gast.Call) and self.found(expr.func) in NEW

    def found(self, expr: Any) -> Any:
        """The object that a path of names stands for."""
        if isinstance(expr, gast.Name):
            return self.s.globals.get(expr.id)
        if isinstance(expr, gast.Attribute) and isinstance(expr.value, gast.Name):
            return getattr(self.s.globals.get(expr.value.id), expr.attr, None)
        return None


def cuts(index: Any) -> tuple[int, int] | None:
    """The number of elements that a slice leaves out at the begin and at the end of any array."""
    if not isinstance(index, gast.Slice) or index.step is not None:
        return None
    lower, upper = (0 if bound is None else literal(bound) for bound in (index.lower, index.upper))
    if lower is None or upper is None or lower < 0 or upper > 0 or (upper == 0 and index.upper is not None):
        return None
    return lower, -upper


def parts_of(expr: Any) -> list[Any]:
    """The operands of an operation."""
    if isinstance(expr, gast.BinOp):
        return [expr.left, expr.right]
    if isinstance(expr, gast.Compare):
        return [expr.left, *expr.comparators]
    return [expr.operand] if isinstance(expr, gast.UnaryOp) else list(expr.args)


def with_parts(expr: Any, parts: Iterator[Any]) -> Any:
    """An operation with other operands."""
    if isinstance(expr, gast.BinOp):
        return gast.BinOp(next(parts), expr.op, next(parts))
    if isinstance(expr, gast.UnaryOp):
        return gast.UnaryOp(expr.op, next(parts))
    if isinstance(expr, gast.Compare):
        return gast.Compare(next(parts), expr.ops, list(parts))
    return gast.Call(expr.func, list(parts), expr.keywords)
