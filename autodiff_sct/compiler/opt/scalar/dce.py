"""Dead code elimination, and checks of shapes in the place of operations that are only there to raise.

::

    for v in x:                            d_x = np.zeros_like(x)
        condition = v > 0.75               for v in x[::-1]:
    d_x = np.zeros_like(x)                     if v > 0.75:
    for v in x[::-1]:              ->              ...
        if v > 0.75:
            ...

Other passes leave such statements behind: tests that the reverse sweep reads again, items that a loop goes over. What
may raise stays, for the forward sweep raises where the program does; but for operations on arrays that do not fit,
where the reverse sweep brings arrays of just these lengths together in any case and nothing else happens before. What
has effects is executed without a name for its result: ``print(x)``. So is, in the end, what may raise, where the user
gave its result no name, and it is said why it is there.

Of an operation that is there since its operands may not fit, the check of their shapes is left::

    (a + trace) * w                           check_broadcast(a, w)
    t @ a                              ->     t @ a[:, :0]
    a @ b                                     a[:0] @ b

A product of matrices without any rows or columns raises what the whole one does, and costs a microsecond.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import gast
import numpy as np

from ....runtime.broadcast import check_broadcast
from ... import ir
from ...analysis.effects import fact, is_integer, is_safe, literal, path
from ...analysis.liveness import count_uses
from ...analysis.meetings import Meetings, Shapes, Unproven
from ...domain.facts import Listed, Num
from ...ir.function import Function

NONE_OF_IT = gast.Slice(None, ir.constant(0), None)
ALL = gast.Slice(None, None, None)


def shape_check(s: Function, stmt: ir.Let) -> Any | None:
    """An expression that raises what a statement without a reader may raise, from the shapes alone."""
    expr: Any = stmt.expr
    if stmt.loud or not isinstance(expr, (gast.BinOp, gast.Call)):
        return None
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.MatMult):
        return of_product(s, expr)
    found = [*operands(s, expr)]
    arrays = dict.fromkeys(array.id for array in found if array is not None)
    if None in found:
        return None
    return ir.call(s.bind("check_broadcast", check_broadcast), *map(ir.name, arrays)) if len(arrays) > 1 else None


def of_product(s: Function, expr: Any) -> Any | None:
    """A product of matrices with no rows, or of a vector with no columns."""
    facts = [fact(s, side) for side in (expr.left, expr.right)]
    if not all(map(is_of_floats, facts)):
        return None
    ranks = tuple(found.ndim for found in facts)
    if ranks in ((2, 1), (2, 2)):
        return gast.BinOp(ir.subscript(expr.left, NONE_OF_IT), expr.op, expr.right)
    if ranks == (1, 2):
        return gast.BinOp(expr.left, expr.op, ir.subscript(expr.right, ir.tuple_([ALL, NONE_OF_IT])))
    return None


def operands(s: Function, expr: Any) -> Iterator[Any | None]:
    """The arrays that an expression computes with element by element; None for anything else."""
    found = fact(s, expr)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
        sides = [[*operands(s, side)] for side in (expr.left, expr.right)]
        yield from [*sides[0], *sides[1]] if any(sides) else [None]  # of numbers alone, a quotient may raise
    elif isinstance(expr, gast.Call):
        callee, plain = path(s, expr.func), not expr.keywords and len(expr.args) == 1
        clipped = callee is np.clip and not expr.keywords and len(expr.args) == 3
        if clipped and all(isinstance(arg, gast.Constant) and arg.value is not None for arg in expr.args[1:]):
            yield from operands(s, expr.args[0])
        else:
            yield from operands(s, expr.args[0]) if plain and isinstance(callee, np.ufunc) else [None]
    elif is_of_floats(found):
        yield expr
    elif not isinstance(found, Num) or found.dims != () or found.kind not in ("float", "int", "npscalar"):
        yield None


def is_of_floats(found: Any) -> bool:
    """True if facts are those of an array of real floating-point numbers."""
    known = isinstance(found, Num) and found.kind == "array" and found.ndim is not None and not found.tensor
    return known and found.dtype is not None and found.dtype.kind == "f"


LAZY = (gast.IfExp, gast.BoolOp, gast.Lambda, gast.ListComp, gast.DictComp, gast.GeneratorExp)
ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def eliminate_dead_code(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Drop statements of the forward sweep, in place."""
    uses = count_uses([*front, *back])
    Unread(s, uses, front, back).block(front)


def unname_dead_results(s: Function, front: ir.Block, back: ir.Block, checks: bool) -> None:
    """Write what is only there since it may raise, or for its effects, without a name for its result, in place.

    With `checks`, of what may raise for its operands' shapes, the check of these is left.
    """
    uses = count_uses([*front, *back])
    for block in (*ir.blocks(front), *ir.blocks(back)):
        mark_repeated(block, back if block is front else [])
        said: Any = None  # the statement of which it has been said last
        for k, stmt in enumerate(block):
            again = said is not None and block[k - 1] is said
            if ir.is_reading(stmt) and stmt.kind != ir.REPEATED:
                stmt.kind = "" if again else ir.MAY_RAISE
                said = stmt
            elif isinstance(stmt, ir.Let) and is_only_executed(s, stmt) and not any(uses.get(n) for n in stmt.targets):
                check = None if stmt.effect or not checks else shape_check(s, stmt)
                block[k] = executed(stmt, "" if stmt.effect or again else ir.MAY_RAISE, check)
                said = said if stmt.effect else block[k]


def mark_repeated(block: ir.Block, after: ir.Block) -> None:
    """Mark the reading of a variable, which raises where that is unbound, where what follows reads it as well."""
    for k, stmt in enumerate(block):
        if ir.is_reading(stmt) and surely_reads([*block[k + 1 :], *after], stmt.expr.id):
            stmt.kind = ir.REPEATED


def surely_reads(block: ir.Block, name: str) -> bool:
    """True if a block reads a variable before it does anything that others see."""
    for stmt in block:
        lazy = any(isinstance(e, LAZY) for expr in ir.expressions(stmt) for e in ir.nodes_in(expr))
        if name in ir.reads(stmt) and not lazy:
            return True
        if not isinstance(stmt, ir.Let) or stmt.effect:
            return False
    return False


def is_only_executed(s: Function, stmt: ir.Let) -> bool:
    """True if a statement whose result nobody reads needs no name for it."""
    held = stmt.saves or stmt.in_place or unpacks(stmt) or stmt.target in s.named
    return not held and not isinstance(stmt.expr, (gast.Name, gast.Constant))


class Unread:
    """Drops statements from the last to the first, and counts what they do not read any more."""

    def __init__(self, s: Function, uses: dict[str, int], front: ir.Block, back: ir.Block) -> None:
        self.s, self.uses, self.front, self.back = s, uses, front, back

    @cached_property
    def meetings(self) -> Meetings | None:
        """The axes that the reverse sweep brings together, where that is the first to be seen of a call that fails."""
        if any(has_effect(stmt) for stmt in ir.walk(self.front)):
            return None
        meetings = Meetings(Shapes(self.s, [*self.front, *self.back]))
        meetings.learn(self.back)
        return meetings

    def is_proved(self, expr: Any) -> bool:
        """True if an expression fails only if the reverse sweep does."""
        if self.meetings is None:
            return False
        try:
            self.meetings.proved(expr, None)
        except Unproven:
            return False
        return True

    def block(self, block: ir.Block) -> None:
        kept = []
        for stmt in reversed(block):
            for inner in ir.bodies(stmt) if isinstance(stmt, (ir.If, ir.Loop, ir.Try, ir.With)) else ():
                self.block(inner)
            if isinstance(stmt, ir.Try) and not self.are_read((stmt.took,)):
                stmt.took = ""
            if self.is_idle(stmt) or self.is_again(stmt, block):
                for name in ir.reads(stmt):
                    self.uses[name] -= 1
            elif isinstance(stmt, ir.Let) and stmt.effect and not unpacks(stmt) and not self.are_read(stmt.targets):
                kept.append(executed(stmt))
            else:
                kept.append(stmt)
        block[:] = kept[::-1]

    def is_again(self, stmt: Any, block: ir.Block) -> bool:
        """True if a statement that nobody reads computes what one has before it, with nothing written since."""
        if not isinstance(stmt, ir.Let) or stmt.effect or stmt.saves or stmt.in_place or self.are_read(stmt.targets):
            return False
        key = gast.dump(stmt.expr)
        for other in reversed(block[: block.index(stmt)]):
            if not isinstance(other, ir.Let) or other.effect or other.in_place:
                return False
            if gast.dump(other.expr) == key:
                return True
        return False

    def is_idle(self, stmt: Any) -> bool:
        if isinstance(stmt, ir.Let):
            return not (stmt.effect or stmt.saves or stmt.in_place or self.are_read(stmt.targets)) and self.is_safe(
                stmt
            )
        if isinstance(stmt, ir.If):
            return not (stmt.then or stmt.orelse or stmt.merges) and self.is_safe(stmt)
        if not isinstance(stmt, ir.Loop) or stmt.body or stmt.carries or stmt.trips or stmt.stop is not None:
            return False
        if self.are_read((stmt.index, *ir.ir_targets(stmt))):
            return False
        if stmt.kind == "range":
            return all(is_integer(self.s, bound) for bound in stmt.bounds[:2]) and literal(stmt.bounds[-1]) != 0
        return stmt.kind == "iter" and self.is_known(stmt.bounds[0])

    def are_read(self, names: tuple[str | None, ...]) -> bool:
        return any(self.uses.get(name, 0) for name in names if name is not None)

    def is_safe(self, stmt: Any) -> bool:
        expr = stmt.expr if isinstance(stmt, ir.Let) else stmt.test
        if isinstance(expr, gast.Compare):
            return all(self.is_number(e) for e in (expr.left, *expr.comparators)) and is_ordered(expr)
        if is_safe(self.s, stmt):
            return True
        computes = isinstance(stmt, ir.Let) and isinstance(expr, (gast.BinOp, gast.Call))
        return computes and stmt in self.front and self.is_proved(expr)

    def is_number(self, expr: Any) -> bool:
        found = fact(self.s, expr)
        return isinstance(found, Num) and found.dims == () and found.kind in ("float", "int", "npscalar")

    def is_known(self, expr: Any) -> bool:
        """True if an expression is an array or a list."""
        found = fact(self.s, expr)
        return isinstance(found, Listed) or (isinstance(found, Num) and found.kind == "array")


def executed(stmt: ir.Let, kind: str = "", check: Any | None = None) -> ir.Effect:
    """A statement whose result nobody reads: ``print(x)``; `check` is what is left of its expression."""
    effect = ir.Effect(check or stmt.expr, stmt.origin, kind)
    effect.state_reads = stmt.state_reads
    return effect


def unpacks(stmt: ir.Let) -> bool:
    """True if a statement unpacks something, which fails where that has another number of items."""
    return len(stmt.targets) > 1 and (stmt.op is None or stmt.op.fn is operator.getitem)


def is_ordered(expr: Any) -> bool:
    """True if a comparison is one of numbers by their size."""
    return all(isinstance(op, (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)) for op in expr.ops)


def raising_only(forward: ir.Block, reverse: ir.Block) -> set[Any]:
    """The statements of the forward sweep that only raise: the reverse sweep computes the same again and raises there.

    ::

        for i in range(n):                          (gone)
            r = math.sqrt(x[i])
            total += 1.0 / r
        for i in range(n - 1, -1, -1):              for i in range(n - 1, -1, -1):
            r = math.sqrt(x[i])                         r = math.sqrt(x[i])
            d_x[i] = -d_total / (r * r * 2 * r)         d_x[i] = -d_total / (r * r * 2 * r)

    That is so for what runs in the reverse sweep exactly where it ran before: in the same iterations and on the same
    sides of branches. Where several of them would raise, it is the last instead of the first that does. A program that
    does anything besides computing, or that catches what is raised, stays as it is.

    The statements of the forward sweep that need not stay because they may raise.
    """
    if any(has_effect(stmt) for stmt in ir.walk(forward)):
        return set()
    found: list[ir.Let] = []
    match(forward, reverse, found)
    for copy in found:
        copy.origin = copy.repeats.origin  # for tracebacks
    return {copy.repeats for copy in found}


def has_effect(stmt: Any) -> bool:
    if isinstance(stmt, ir.Let):
        return stmt.effect
    return isinstance(stmt, (ir.Try, ir.With)) or (isinstance(stmt, ir.Effect) and stmt.kind != "save")


def match(forward: ir.Block, reverse: ir.Block, found: list[ir.Let]) -> None:
    """Note the statements in `reverse` that compute one of `forward` again, whenever that block has run."""
    run = set(forward)
    for stmt in reverse:
        primal = getattr(stmt, "primal", None)
        if isinstance(stmt, ir.Let):
            if stmt.repeats in run and stmt.repeats.may_raise:
                found.append(stmt)
        elif primal is None or primal not in run:
            continue
        elif isinstance(stmt, ir.Loop) and stmt.rerun is None:
            match(primal.body, stmt.body, found)
        elif isinstance(stmt, ir.If) and isinstance(primal, ir.If):
            match(primal.then, stmt.then, found)
            match(primal.orelse, stmt.orelse, found)
