"""Extremes that cancel: in a stable softmax the result does not depend on what is subtracted.

::

    z = x - np.max(x, axis=1, keepdims=True)
    loss = np.sum(np.log(np.sum(np.exp(z), axis=1)) - z[:, 0])

If each row's maximum grew by ``c``, ``z`` would fall by ``c``, ``exp(z)`` by the factor ``exp(-c)``, the logarithm of
its sum by ``c`` again, and the difference not at all.  The derivative through the maximum is zero, whatever the maximum
is, and the adjoint need not compute that zero.

A *shift* says how a variable moves: by ``degree * c``, or by the factor ``exp(degree * c)`` (`times`).  ``c`` may
differ from row to row, so that a shift also says where the reduced axis is: counted from the end, or dropped.  At a
temperature, ``z / t``, what moves is ``c / t``: a shift says by which numbers ``c`` has been multiplied, too.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import ir
from ..domain.facts import Num
from ..domain.values import Const, Leaf, TupleV, Value
from ..interp.kernel.specialiser import Specialiser

EXTREMES = {np.max, np.amax, np.min, np.amin}
OF_NUMBERS = {min, max, np.minimum, np.maximum}
EXPONENTIALS, LOGARITHMS = {np.exp, math.exp}, {np.log, math.log}
ADDITIONS = {np.add: 1, operator.add: 1, np.subtract: -1, operator.sub: -1}
PRODUCTS = {np.multiply: 1, operator.mul: 1, np.divide: -1, operator.truediv: -1}
WHOLE = (Ellipsis, slice(None))


@dataclass(frozen=True)
class Shift:
    """The shift of a variable by an extreme; `axis` is that of the reduction, None where the extreme is one number."""

    times: bool
    degree: int
    axis: int | None
    dropped: bool = False
    scale: tuple[tuple[str, int], ...] = ()  # the numbers that ``c`` is multiplied by, and how often


def cancelled(s: Specialiser, block: ir.Block, outputs: set[str]) -> set[str]:
    """The extremes on which the outputs do not depend."""
    extremes = [stmt for stmt in ir.walk(block) if isinstance(stmt, ir.Let) and shift_of(s, stmt) is not None]
    if not extremes:
        return set()
    following = Following(s, block, outputs)
    return {stmt.target for stmt in extremes if following.cancels(stmt)}


def shift_of(s: Specialiser, stmt: ir.Let) -> Shift | None:
    """The shift of an extreme itself."""
    op = stmt.op
    if op is not None and op.fn in OF_NUMBERS:
        found = s.num(Leaf(stmt.target))
        return Shift(False, 1, None) if found is not None and found.dims == () else None
    if op is None or op.fn not in EXTREMES or not op.arguments.keys() <= {"a", "axis", "keepdims"}:
        return None
    facts = s.num(op.arguments["a"])
    axis, keepdims = (op.arguments.get(name, Const(None)) for name in ("axis", "keepdims"))
    if facts is None or facts.ndim is None or not isinstance(axis, Const) or not isinstance(keepdims, Const):
        return None
    if axis.value is None or (type(axis.value) is int and facts.ndim == 1):
        return Shift(False, 1, None)
    if type(axis.value) is not int:
        return None
    place = axis.value if axis.value < 0 else axis.value - facts.ndim
    return Shift(False, 1, place, not keepdims.value)


class Following:
    """Follows a shift from an extreme through the statements that use it."""

    def __init__(self, s: Specialiser, block: ir.Block, outputs: set[str]) -> None:
        self.s, self.outputs = s, outputs
        self.block = list(ir.walk(block))
        self.places: dict[Any, int] = {stmt: place for place, stmt in enumerate(self.block)}
        self.readers: dict[str, list[int]] = defaultdict(list)
        self.leaving: set[str] = set(outputs)  # what control statements take over
        for place, stmt in enumerate(self.block):
            for name in {*ir.reads(stmt), *self.operands(stmt)}:
                self.readers[name].append(place)
            self.leaving |= taken_over(stmt)

    def operands(self, stmt: Any) -> list[str]:
        op = getattr(stmt, "op", None)
        return [] if op is None else [name for value in op.arguments.values() for name in self.s.leaves(value)]

    def cancels(self, extreme: ir.Let) -> bool:
        """True if the shift ends everywhere before it reaches something else."""
        start = shift_of(self.s, extreme)
        assert start is not None
        shifts = {extreme.target: start}
        queue = list(self.readers[extreme.target])
        if extreme.target in self.leaving or not queue:
            return False
        done: set[int] = set()
        while queue:
            place = heappop(queue)
            if place in done:
                continue
            done.add(place)
            stmt = self.block[place]
            if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.op is None or stmt.effect:
                return False
            shift = self.result(stmt.op, shifts)
            if shift is None:
                return False
            if shift.degree != 0:
                if stmt.target in self.leaving:
                    return False
                shifts[stmt.target] = shift
                for reader in self.readers[stmt.target]:
                    heappush(queue, reader)
        return True

    def result(self, op: ir.Op, shifts: dict[str, Shift]) -> Shift | None:
        """The shift of what an operation makes of shifted operands; None where it is no shift."""
        given = {p: shifts.get(v.name) if isinstance(v, Leaf) else None for p, v in op.arguments.items()}
        if any(name in shifts for p, v in op.arguments.items() if given[p] is None for name in self.s.leaves(v)):
            return None
        if given.keys() == {"a", "b"}:
            given = {
                "a": self.broadcast(given["a"], op.arguments["b"]),
                "b": self.broadcast(given["b"], op.arguments["a"]),
            }
        if op.fn in ADDITIONS and given.keys() == {"a", "b"}:
            return added(given["a"], given["b"], ADDITIONS[op.fn])
        if op.fn in PRODUCTS and given.keys() == {"a", "b"}:
            power = PRODUCTS[op.fn]
            for one, other in (("a", "b"), ("b", "a"))[: 1 + (power > 0)]:
                moved = given[one]
                if given[other] is None and moved is not None and not moved.times:
                    return self.scaled(moved, op.arguments[other], power)
            return multiplied(given["a"], given["b"], power)
        if any(shift is not None for p, shift in given.items() if p not in ("x", "a")):
            return None
        shift = given.get("x") or given.get("a")
        if shift is None:
            return None
        if op.fn in EXPONENTIALS | LOGARITHMS and len(given) == 1:
            return replace(shift, times=not shift.times) if shift.times is (op.fn in LOGARITHMS) else None
        if op.fn in (np.negative, operator.neg) and not shift.times:
            return replace(shift, degree=-shift.degree)
        if op.fn in (np.sum, np.mean) and op.arguments.keys() <= {"a", "axis", "keepdims"}:
            return self.summed(op, shift)
        if op.fn is np.expand_dims:
            return self.put_back(op, shift)
        if op.fn is np.squeeze:
            return self.squeezed(op, shift)
        if op.fn is operator.getitem:
            return self.taken(op, shift)
        return None

    def scaled(self, shift: Shift, number: Value, power: int) -> Shift | None:
        """A shift times a number, or divided by it."""
        facts = self.s.num(number)
        if facts is None or facts.dims != ():
            return None
        key = number.name if isinstance(number, Leaf) else repr(getattr(number, "value", None))
        powers = dict(shift.scale)
        powers[key] = powers.get(key, 0) + power
        return replace(shift, scale=tuple(sorted(item for item in powers.items() if item[1])))

    def broadcast(self, shift: Shift | None, other: Value) -> Shift | None:
        """The shift of an operand as it meets another: a first axis that was dropped is back."""
        facts = self.s.num(other)
        if shift is None or not shift.dropped or facts is None or facts.ndim is None or shift.axis != -facts.ndim:
            return shift
        return replace(shift, dropped=False)

    def put_back(self, op: ir.Op, shift: Shift) -> Shift | None:
        """A new axis: the reduced one, put back where it was."""
        facts, axis = self.s.num(op.arguments["a"]), op.arguments["axis"]
        if shift.axis is None:
            return shift
        if not shift.dropped or facts is None or facts.ndim is None or not isinstance(axis, Const):
            return None
        if type(axis.value) is not int:
            return None
        place = axis.value if axis.value < 0 else axis.value - facts.ndim - 1
        return replace(shift, dropped=False) if place == shift.axis else None

    def squeezed(self, op: ir.Op, shift: Shift) -> Shift | None:
        """The reduced axis, whose length is 1, left out."""
        facts, axis = self.s.num(op.arguments["a"]), op.arguments.get("axis", Const(None))
        if shift.axis is None:
            return shift
        if shift.dropped or facts is None or facts.ndim is None or not isinstance(axis, Const):
            return None
        if type(axis.value) is not int:
            return None
        place = axis.value if axis.value < 0 else axis.value - facts.ndim
        return replace(shift, dropped=True) if place == shift.axis else None

    def summed(self, op: ir.Op, shift: Shift) -> Shift | None:
        """A sum along the reduced axis: along it, the factor is one number."""
        if not shift.times:
            return None
        if shift.axis is None:
            return shift
        facts = self.s.num(op.arguments["a"])
        axis, keepdims = (op.arguments.get(name, Const(None)) for name in ("axis", "keepdims"))
        if shift.dropped or facts is None or facts.ndim is None or not isinstance(keepdims, Const):
            return None
        if not isinstance(axis, Const) or type(axis.value) is not int:
            return None
        place = axis.value if axis.value < 0 else axis.value - facts.ndim
        return replace(shift, dropped=not keepdims.value) if place == shift.axis else None

    def taken(self, op: ir.Op, shift: Shift) -> Shift | None:
        """An item: any, where the shift is one number; else the last axis may be dropped."""
        if shift.axis is None:
            return shift
        index = op.arguments["index"]
        facts = self.s.num(op.arguments["x"])
        if shift.axis != -1 or not isinstance(index, TupleV) or not isinstance(facts, Num) or facts.ndim is None:
            return None
        values = [item.value if isinstance(item, Const) else 0.5 for item in index.items]
        rest, last = values[:-1], values[-1]
        if not all(any(value is w or (type(value) is slice and value == w) for w in WHOLE) for value in rest):
            return None
        full = any(value is Ellipsis for value in rest) or len(values) == facts.ndim
        return replace(shift, dropped=True) if full and type(last) is int and not shift.dropped else None


def taken_over(stmt: Any) -> set[str]:
    """The variables that leave a block under another name."""
    if isinstance(stmt, ir.If):
        return {n for m in stmt.merges for n in (m.then, m.orelse) if n is not None}
    if isinstance(stmt, ir.Try):
        return {n for _, names in stmt.merges for n in names if n is not None}
    if isinstance(stmt, ir.Loop):
        return {n for c in stmt.carries for n in (c.init, c.next) if n is not None}
    return set()


def alike(a: Shift, b: Shift) -> bool:
    """True if two shifts move the same elements by the same numbers."""
    return (a.axis, a.dropped, a.scale) == (b.axis, b.dropped, b.scale)


def added(a: Shift | None, b: Shift | None, sign: int) -> Shift | None:
    if a is None or b is None:
        one = a or b
        return None if one is None or one.times else replace(one, degree=one.degree if b is None else sign * one.degree)
    if not alike(a, b) or a.times != b.times:
        return None
    if a.times:
        return a if a.degree == b.degree else None
    return replace(a, degree=a.degree + sign * b.degree)


def multiplied(a: Shift | None, b: Shift | None, power: int) -> Shift | None:
    if a is None or b is None:
        one = a or b
        return replace(one, degree=one.degree if b is None else power * one.degree) if one and one.times else None
    if not alike(a, b) or not a.times or not b.times:
        return None
    return replace(a, degree=a.degree + power * b.degree)
