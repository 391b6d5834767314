"""Items that stay as a loop read them: the reverse sweep reads them again, and nothing is saved.

::

    for i in range(n):                       saved_t.append(x[j]) ... saved_t.pop()
        for j in range(i):            ->     x[j]
            rest = rest - a[i, j] * x[j]
        x[i] = rest / a[i, i]

An array that a loop writes is another one in each step, but not each of its items is: above, no step writes ``x[j]``
after it was read, since ``j`` is less than ``i``, and ``i`` grows.  So it is for every read of which all writes that
come later are of other places.  Indices are compared as a loop's variable plus a number, or by the bounds of its range;
none may be below zero, where the end of the array is meant.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .facts import Num
from .item_uses import item_index
from .regions import Regions, enclosing_loops, written_arguments, written_by
from .specialise.state import Specialiser

Span = tuple[str, int | None, int | None]  # between a variable ("": zero) plus one number, and it plus another
Loops = tuple[ir.Loop, ...]


def lasting(s: Specialiser, where: Regions, forward: ir.Block, reverse: ir.Block) -> dict[str, Any]:
    """The numbers of loops that stay in an array to the end of the program, each with the item that it is.

    What the reverse sweep puts back takes away what was stored there, but not what was read before.
    """
    program = ir.walk(forward)
    if any(isinstance(stmt, ir.Try) for stmt in program):
        return {}
    found = {stmt: place for stmt in program if (place := place_of(s, where, stmt)) is not None}
    back = {where.of(stmt.base) for stmt in ir.walk(reverse) if isinstance(stmt, ir.Store)} if found else set()
    found = {x: place for x, place in found.items() if isinstance(x, ir.Let) or where.of(x.base) not in back}
    return Lasting(where, forward, program).those_of(found) if found else {}


def place_of(s: Specialiser, where: Regions, stmt: Any) -> tuple[str, Any] | None:
    """The number that a statement reads from an array that the program writes, or puts there, and its item."""
    if isinstance(stmt, ir.Let) and not stmt.effect and isinstance(stmt.expr, gast.Subscript):
        name, item = stmt.target, stmt.expr
    elif isinstance(stmt, ir.Store) and stmt.aug is None and isinstance(stmt.value, gast.Name):
        name, item = stmt.value.id, ir.subscript(ir.name(stmt.base), stmt.index)
    else:
        return None
    facts, array = s.facts.get(name), s.facts.get(getattr(item.value, "id", ""))
    if not isinstance(facts, Num) or not isinstance(array, Num) or (facts.kind, array.kind) != ("npscalar", "array"):
        return None
    if facts.dtype != array.dtype or item_index(s, item.value.id, item.slice) is None:
        return None
    return (name, item) if where.is_written(item.value.id) else None


class Lasting:
    def __init__(self, where: Regions, forward: ir.Block, program: ir.Block) -> None:
        self.around = enclosing_loops(forward)
        self.order = {stmt: place for place, stmt in enumerate(program)}
        self.blocks = {stmt: id(block) for block in blocks_in(forward) for stmt in block}
        self.makers = {t: stmt for stmt in program if isinstance(stmt, ir.Let) for t in stmt.targets}
        self.loops = {stmt.index: stmt for stmt in program if isinstance(stmt, ir.Loop) and stmt.index is not None}
        self.where = where
        self.writes: dict[int | None, list[Any]] = {}  # by region
        for stmt in program:
            for name in (written_by(stmt), *written_arguments(stmt)):
                if name is not None:
                    self.writes.setdefault(where.of(name), []).append(stmt)
        self.inside: set[str] = set()  # the variables that loops define
        for loop in [stmt for stmt in program if isinstance(stmt, ir.Loop)]:
            self.inside |= ir.defined_in(loop)

    def those_of(self, found: dict[Any, tuple[str, Any]]) -> dict[str, Any]:
        """Of numbers, by the statements that read or store them, those whose place is not written later."""
        return {name: item for stmt, (name, item) in found.items() if self.stays(stmt, name, item)}

    def stays(self, stmt: Any, name: str, item: Any) -> bool:
        base, maker = item.value.id, self.makers.get(name)
        return (
            base not in self.inside
            and maker is not None
            and self.blocks[maker] == self.blocks[stmt]
            and all(loop.every is None for loop in self.around[stmt])
            and all(self.is_apart(stmt, item, write) for write in self.writes[self.where.of(base)])
        )

    def is_apart(self, stmt: Any, item: Any, write: Any) -> bool:
        """Whether a statement never writes to an item after another one has read or written that."""
        pairs = zip(self.around[stmt], self.around[write])
        common = tuple(loop for loop, other in pairs if loop is other)
        if not common:
            return self.order[write] <= self.order[stmt]
        if not isinstance(write, ir.Store) or write.base != item.value.id:
            return False
        mine, other = parts_of(item.slice), parts_of(write.index)
        if len(mine) != len(other):
            return False
        spans = [(self.spans(a, common), self.spans(b, common)) for a, b in zip(mine, other)]
        if not all(is_natural(there) for pair in spans for there in pair):
            return False
        if not all(self.are_apart(spans, common, level) for level in range(len(common))):
            return False
        return self.order[write] <= self.order[stmt] or self.are_apart(spans, common, None)

    def are_apart(self, spans: list[tuple[list[Span], list[Span]]], common: Loops, level: int | None) -> bool:
        """Whether a place is another one that a later step of a common loop writes, or a later line of the same step.

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

    def spans(self, index: Any, common: Loops) -> list[Span]:
        """Where an index is, told by the variables of common loops and by what is the same in all of them."""
        found: list[Span] = []
        base, offset = self.affine(index)
        if base is not None:
            self.widen((base, offset, offset), found)
        outside = ir.defined_in(common[0])
        fixed = {loop.index for loop in common if step_of(loop)}
        return [span for span in found if span[0] in fixed or span[0] not in outside]

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


def blocks_in(block: ir.Block) -> list[ir.Block]:
    return [block, *(inner for stmt in block for body in ir.bodies(stmt) for inner in blocks_in(body))]


def parts_of(index: Any) -> list[Any]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def is_natural(spans: list[Span]) -> bool:
    """Whether an index is surely not below zero."""
    return any(base == "" and low is not None and low >= 0 for base, low, _ in spans)


def step_of(loop: ir.Loop) -> int:
    """The step of a loop over a range, 0 where it is not known."""
    if loop.kind != "range":
        return 0
    node = loop.bounds[2] if len(loop.bounds) == 3 else ir.constant(1)
    sign = -1 if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) else 1
    number = node.operand if sign < 0 else node
    known = isinstance(number, gast.Constant) and type(number.value) is int
    return sign * number.value if known else 0
