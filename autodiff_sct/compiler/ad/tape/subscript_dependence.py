"""Parts of arrays in loops: whether a statement meets a place that another one has touched.

::

    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]      # from here on no step writes into a[i, :j] or a[:j, j]

Subscripts are compared axis by axis.  Each is an interval with affine bounds: the variable of a loop plus a number,
what follows from the range of that variable, or the end of the axis less a number.  A branch around a statement may
rule out an end of the interval (``if i == j``).  Bounds that may be below zero, where the end of the axis is meant, are
not used, and axes are compared up to the first index that is neither a slice nor surely one integer.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import enclosing_loops
from ...ir.patterns import subscript_parts

Span = tuple[str, int | None, int | None]  # between a variable ("": zero) plus one number, and it plus another
Loops = tuple[ir.Loop, ...]
END = "[end]"  # in the place of a variable: the length of the axis


class Places:
    """The positions of a program's statements, and the facts of indices there."""

    def __init__(self, block: ir.Block) -> None:
        program = ir.walk(block)
        self.around = enclosing_loops(block)
        self.order = {stmt: place for place, stmt in enumerate(program)}
        self.blocks = {stmt: id(block) for block in ir.blocks(block) for stmt in block}
        self.binders = {t: stmt for stmt in program for t in ir.ir_targets(stmt)}
        self.makers = {t: stmt for t, stmt in self.binders.items() if isinstance(stmt, ir.Let)}
        self.sides = sides_in(block)
        self.loops = {stmt.index: stmt for stmt in program if isinstance(stmt, ir.Loop) and stmt.index is not None}
        self.inside: set[str] = set()  # the variables that loops define
        for loop in [stmt for stmt in program if isinstance(stmt, ir.Loop)]:
            self.inside |= ir.defined_in(loop)

    def depth(self, name: str) -> int:
        """The number of loops around the definition of a variable."""
        maker = self.binders[name]
        inside = isinstance(maker, ir.Loop) and name not in [c.out for c in maker.carries]
        return len(self.around[maker]) + inside

    def is_apart(self, stmt: Any, item: Any, write: Any) -> bool:
        """True if a statement never writes to an item after another one has read or written that."""
        if not self.common(stmt, write):
            return self.order[write] <= self.order[stmt]
        if not isinstance(write, ir.Store) or write.base != item.value.id:
            return False
        return self.is_past(stmt, item.slice, write, write.index)

    def common(self, stmt: Any, other: Any) -> Loops:
        """The loops that two statements are both in."""
        return tuple(loop for loop, same in zip(self.around[stmt], self.around[other]) if loop is same)

    def is_past(self, stmt: Any, index: Any, later: Any, place: Any, before_itself: bool = True) -> bool:
        """True if a statement never comes to a part of an array after another one has been there.

        The parts are those at `index` for the one and at `place` for the other.  Where both are one statement, it
        counts as run before itself, or not.
        """
        common, past = self.common(stmt, later), self.is_before(later, stmt, before_itself)
        if past and not common:
            return True
        spans = self.axes(stmt, index, later, place, common)
        if not all(self.are_apart(spans, common, level) for level in range(len(common))):
            return False
        past = past or (bool(common) and self.exclude(stmt, later, common[-1]))
        return past or self.are_apart(spans, common, None)

    def is_over(self, stmt: Any, later: Any, before_itself: bool) -> bool:
        """True if a statement has run for the last time before another one runs."""
        return not self.common(stmt, later) and self.is_before(stmt, later, before_itself)

    def is_before(self, stmt: Any, later: Any, before_itself: bool) -> bool:
        """True if a statement stands before another one, and so runs before it in each step that both are in."""
        return self.order[stmt] < self.order[later] or (stmt is later and before_itself)

    def axes(self, stmt: Any, index: Any, later: Any, place: Any, common: Loops) -> list[tuple[list[Span], list[Span]]]:
        """The ranges of two subscripts of one array, axis by axis."""
        found = []
        for mine, other in zip(subscript_parts(index), subscript_parts(place)):
            read, write = self.spans(mine, stmt, common), self.spans(other, later, common)
            if read is None or write is None:
                break
            found.append((read, write))
        return found

    def exclude(self, stmt: Any, write: Any, loop: ir.Loop) -> bool:
        """True if two statements are on the two sides of a branch inside a loop."""
        mine = {branch: side for branch, side in self.sides[stmt] if loop in self.around[branch]}
        return any(mine.get(branch, side) != side for branch, side in self.sides[write])

    def are_apart(self, spans: list[tuple[list[Span], list[Span]]], common: Loops, level: int | None) -> bool:
        """True if a place is another one that a later step of a common loop writes, or a later line of the same step.

        The loops around that one are at the same step, those inside it at any.
        """
        return any(
            self.differ(mine, other, common, level)
            for read, write in spans
            for mine in read
            for other in write
            if mine[0] == other[0]
        )

    def differ(self, read: Span, write: Span, common: Loops, level: int | None) -> bool:
        base, low, high = read
        _, first, last = write
        places = [k for k, loop in enumerate(common) if loop.index == base]
        moved = 0  # how far the variable has gone at the write, at least
        if places and level is not None:
            if places[0] > level:
                return False
            moved = step_of(common[level]) if places[0] == level else 0
        above = first is not None and high is not None and moved >= 0 and first + moved > high
        below = last is not None and low is not None and moved <= 0 and last + moved < low
        return above or below

    # -- what is known of an index

    def spans(self, index: Any, stmt: Any, common: Loops) -> list[Span] | None:
        """The range of a statement's index, by the variables of common loops and by those that they leave unchanged.

        None if it is not surely one integer or a slice.
        """
        if isinstance(index, gast.Slice):
            return self.slice_spans(index, stmt, common)
        found: list[Span] = []
        base, offset = self.affine(index)
        if base is not None:
            self.widen((base, offset, offset), found)
            for branch, side in self.sides[stmt]:
                found = self.narrowed(found, (base, offset), branch, side)
        if not is_natural(found):
            return [(END, offset, offset)] if base == "" else None
        outside = ir.defined_in(common[0]) if common else self.inside
        fixed = {loop.index for loop in common if step_of(loop)}
        return [span for span in found if span[0] in fixed or span[0] not in outside]

    def slice_spans(self, index: gast.Slice, stmt: Any, common: Loops) -> list[Span]:
        """The range of a slice's items: from its lower bound on, and below its upper one."""
        found: list[Span] = [("", 0, None)]
        step = 1 if index.step is None else number_of(index.step)
        if step:
            lower, upper = (index.lower, index.upper) if step > 0 else (index.upper, index.lower)
            past = step < 0  # then the upper bound belongs to the slice, and the lower one does not
            for base, low, _ in (lower is not None and self.spans(lower, stmt, common)) or ():
                found += [(base, low + past, None)] if low is not None else []
            for base, _, high in (upper is not None and self.spans(upper, stmt, common)) or ():
                found += [(base, None, high - (not past))] if high is not None else []
        return found

    def narrowed(self, spans: list[Span], place: tuple[str, int], branch: ir.If, side: int) -> list[Span]:
        """The range of a place on one side of a branch that asks whether two indices are equal."""
        test = branch.test
        if isinstance(test, gast.Name) and test.id in self.makers:
            test = self.makers[test.id].expr
        if not isinstance(test, gast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in (gast.Eq, gast.NotEq):
            return spans
        sides = [self.affine(test.left), self.affine(test.comparators[0])]
        for (base, number), (other, more) in (sides, sides[::-1]):
            if base != place[0] or other is None:
                continue
            meeting = more - number + place[1]  # what the place is after `other` where the two are equal
            if (side == 0) == isinstance(test.ops[0], gast.Eq):
                return [*spans, (other, meeting, meeting)]
            return [
                (b, low + (low == meeting), high) if b == other and low is not None and high is None
                else (b, low, high - (high == meeting)) if b == other and high is not None and low is None
                else (b, low, high)
                for b, low, high in spans
            ]  # fmt: skip
        return spans

    def widen(self, span: Span, found: list[Span]) -> None:
        """Note where something is, and what follows from the range of the variable that tells it."""
        found.append(span)
        base, low, high = span
        loop = self.loops.get(base)
        step = 0 if loop is None else step_of(loop)
        if loop is None or not step:
            return
        start, stop = (ir.constant(0), loop.bounds[0]) if len(loop.bounds) == 1 else loop.bounds[:2]
        first, begin = self.affine(start)
        past, end = self.affine(stop)
        if step > 0 and first is not None and low is not None:
            self.widen((first, begin + low, None), found)
        if step > 0 and past is not None and high is not None:
            self.widen((past, None, end - 1 + high), found)
        if step < 0 and first is not None and high is not None:
            self.widen((first, None, begin + high), found)
        if step < 0 and past is not None and low is not None:
            self.widen((past, end + 1 + low, None), found)

    def affine(self, expr: Any) -> tuple[str | None, int]:
        """An expression as a variable plus a number; None for the variable where it is something else."""
        if isinstance(expr, gast.Constant):
            return ("", expr.value) if type(expr.value) is int else (None, 0)
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            base, number = self.affine(expr.operand)
            return ("", -number) if base == "" else (None, 0)
        if isinstance(expr, gast.Name):
            maker = self.makers.get(expr.id)
            simple = maker is not None and isinstance(maker.expr, (gast.Constant, gast.Name, gast.BinOp, gast.UnaryOp))
            found = self.affine(maker.expr) if maker is not None and simple else (None, 0)
            return (expr.id, 0) if found[0] is None else found
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Add, gast.Sub)):
            (left, a), (right, b) = self.affine(expr.left), self.affine(expr.right)
            if right == "":
                return left, a + b if isinstance(expr.op, gast.Add) else a - b
            if left == "" and isinstance(expr.op, gast.Add):
                return right, a + b
        return None, 0


def sides_in(block: ir.Block, around: tuple[tuple[ir.If, int], ...] = ()) -> dict[Any, tuple[tuple[ir.If, int], ...]]:
    """The enclosing branches of each statement, with the sides on which it is."""
    found = {}
    for stmt in block:
        found[stmt] = around
        for side, inner in enumerate(ir.bodies(stmt)):
            found |= sides_in(inner, (*around, (stmt, side)) if isinstance(stmt, ir.If) else around)
    return found


def is_natural(spans: list[Span]) -> bool:
    """True if an index is surely not below zero."""
    return any(base == "" and low is not None and low >= 0 for base, low, _ in spans)


def step_of(loop: ir.Loop) -> int:
    """The step of a loop over a range, 0 where it is not known."""
    if loop.kind != "range":
        return 0
    return number_of(loop.bounds[2]) if len(loop.bounds) == 3 else 1


def number_of(node: Any) -> int:
    """The integer that an expression is, 0 where it is not known."""
    sign = -1 if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) else 1
    number = node.operand if sign < 0 else node
    known = isinstance(number, gast.Constant) and type(number.value) is int
    return sign * number.value if known else 0
