"""Loop-invariant code motion: values that are the same in every step are computed before it, and reversed after.

::

    for _ in range(steps):                       t = (r * c) ** 2
        u = u + (r * c) ** 2 * lap(u)     ->     for _ in range(steps):
                                                     u = u + t * lap(u)

So the steps backwards add up the cotangent of ``t`` only.  It is for what carries a derivative, surely raises nothing
(see `Kinds`) and has finite partial derivatives where its operands are finite: a loop may have no
steps, and zero times the derivative of ``sqrt(0.0)`` is no zero.  Operands are floats and arrays of doubles of which
the program writes none; what reads the result makes something new of it, so that nobody can tell that all steps have
the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import Regions
from ...analysis.effects import path
from ...domain.facts import FLOAT, Num
from ...ir.function import Function
from ...ir.patterns import literal
from ...ir.traversal import read_instead
from ..loops.sroa import with_names
from ..rewrite.contractions import sliced
from ..rewrite.new_axes import is_part
from .cse import makes_new

SUMS = (gast.Add, gast.Sub, gast.Mult)
LITERAL = replace(FLOAT, kind="literal")  # a number of the program's text, which is as good as a float
WITH_FINITE_DERIVATIVES = (np.sin, np.cos, np.tanh, np.arctan, np.square)


def hoist_invariants(s: Function, where: Regions, forward: ir.Block, active: set[str], again: bool) -> bool:
    """Move statements of the forward sweep before its loops, in place.

    `again` says that a call that raises may be run again; the result, whether one that raises has to be.
    """
    once = ReversedOnce(s, where, forward, active, again)
    if not any(isinstance(stmt, ir.Let) and stmt.loud for stmt in ir.walk(forward)):
        once.block(forward, set())
    return once.relies


class ReversedOnce:
    """Looks for what the steps of loops have in common."""

    def __init__(self, s: Function, where: Regions, forward: ir.Block, active: set[str], again: bool) -> None:
        self.s, self.where, self.active = s, where, active
        self.kinds, self.safe, self.relies = Kinds(s, again), Kinds(s, False), False
        self.defined = ir.defined(forward)
        self.readers: dict[str, list[Any]] = defaultdict(list)
        for stmt in ir.walk(forward):
            for name in set(ir.uses(stmt)):
                self.readers[name].append(stmt)

    def block(self, block: ir.Block, there: set[str]) -> None:
        """Rewrite a block and those inside it; `there` are the variables that have a value before it."""
        for stmt in list(block):
            if isinstance(stmt, ir.Loop):
                moved = self.moved(stmt, there)
                place = block.index(stmt)
                block[place:place] = moved
                there.update(let.target for let in moved)
            for inner in ir.bodies(stmt):
                self.block(inner, {*there, *ir.ir_targets(stmt)})
            there.update([c.out for c in stmt.carries] if isinstance(stmt, ir.Loop) else ir.ir_targets(stmt))

    def moved(self, loop: ir.Loop, there: set[str]) -> list[ir.Let]:
        """The statements of a loop that are computed before it, taken out of it."""
        same: dict[str, ir.Let] = {}
        for stmt in always_run(loop):
            if isinstance(stmt, ir.Let) and self.is_same(stmt, there | same.keys()):
                same[stmt.target] = stmt
        wanted = {
            name for name, let in same.items() if name in self.active and not isinstance(let.expr, gast.Subscript)
        }
        for name, let in reversed(same.items()):
            if name in wanted:
                wanted.update(n for n in ir.reads(let) if n in same)
        names: dict[str, str] = {}
        known: dict[str, str] = {}
        moved = []
        for let in [same[name] for name in same if name in wanted]:
            self.take(let, names, known)
            if let.target not in names:
                moved.append(let)
        for stmt in ir.walk(loop.body) if moved else ():
            if isinstance(stmt, ir.Let) and stmt.target not in wanted and self.is_same(stmt, there | wanted):
                if gast.dump(stmt.expr) in known:
                    wanted.add(stmt.target)
                    self.take(stmt, names, known)
        without(loop, wanted)
        self.relies = self.relies or any(self.safe.of(let.expr) is None for let in moved)
        return moved

    def take(self, let: ir.Let, names: dict[str, str], known: dict[str, str]) -> None:
        """Note what a statement computes; if another does already, that one is read instead."""
        found = known.setdefault(gast.dump(let.expr), let.target)
        if found == let.target:
            return
        names[let.target] = found
        for reader in self.readers[let.target]:
            read_instead(reader, {let.target: found})
            if reader.op is not None:
                arguments = {k: with_names(v, names) for k, v in reader.op.arguments.items()}
                reader.op = replace(reader.op, arguments=arguments)
        self.readers[found] += self.readers[let.target]

    def is_same(self, stmt: ir.Let, there: set[str]) -> bool:
        """True if a statement gives the same in every step, and that is only computed with."""
        if len(stmt.targets) != 1 or stmt.effect or stmt.in_place or stmt.augments or stmt.counted or stmt.op is None:
            return False
        names = ir.variables_in(stmt.expr)
        if not names or not all((n in there or n not in self.defined) and n not in self.s.unbound for n in names):
            return False
        if any(self.where.is_written(n) and not is_number(self.s.facts[n]) for n in (*names, stmt.target)):
            return False
        if not is_tame(stmt.expr) or self.kinds.of(stmt.expr) is None:
            return False
        number = is_number(self.s.facts[stmt.target])
        readers = self.readers[stmt.target]
        return all(is_operation(x) if number else makes_new(x, stmt.target) for x in readers)


def always_run(loop: ir.Loop) -> Iterator[Any]:
    """The statements of a loop, and of the loops inside it, that stand in no branch."""
    for stmt in loop.body:
        yield stmt
        if isinstance(stmt, ir.Loop):
            yield from always_run(stmt)


def without(loop: ir.Loop, names: Sequence[str] | set[str]) -> None:
    """Drop what computes some variables from a loop."""
    for stmt in [loop, *ir.walk(loop.body)]:
        for block in ir.bodies(stmt):
            block[:] = [x for x in block if not (isinstance(x, ir.Let) and x.target in names)]


def is_operation(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and not stmt.effect and stmt.op is not None


def is_tame(expr: Any) -> bool:
    """True if an operation that `Kinds` knows has finite derivatives where its operands are finite."""
    if isinstance(expr, (gast.Subscript, gast.UnaryOp)):
        return True
    if not isinstance(expr, gast.BinOp):
        return isinstance(expr, gast.Call)
    if isinstance(expr.op, SUMS):
        return True
    number = literal(expr.right)
    if isinstance(expr.op, gast.Pow):
        return type(number) is int and number > 0
    return isinstance(expr.op, gast.Div) and type(number) in (int, float) and number != 0


class Kinds:
    """The kinds of expressions that surely raise nothing: floats, NumPy's floats and arrays of doubles."""

    def __init__(self, s: Function, again: bool) -> None:
        self.s, self.again = s, again  # whether what raises is run again

    def of(self, expr: Any) -> Num | None:
        """The facts of what an expression gives; None where it may raise, or is anything else."""
        if isinstance(expr, gast.Constant):
            small = type(expr.value) is float or (type(expr.value) is int and abs(expr.value) < 2**31)
            return LITERAL if small else None
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            return facts if isinstance(facts, Num) and is_of_doubles(facts) else None
        if isinstance(expr, gast.UnaryOp):
            return self.of(expr.operand) if isinstance(expr.op, gast.USub) else None
        if isinstance(expr, gast.BinOp):
            return self.of_operation(expr)
        if isinstance(expr, gast.Subscript):
            facts = self.of(expr.value)
            if self.again and facts is not None and len(facts.dims or ()) == 1 and type(literal(expr.slice)) is int:
                return Num("npscalar", np.dtype(float), ())
            dims = sliced(facts.dims, expr.slice) if facts is not None and facts.dims and is_part(expr.slice) else None
            return replace(facts, dims=dims) if facts is not None and dims else None
        return self.of_call(expr) if isinstance(expr, gast.Call) else None

    def of_call(self, expr: gast.Call) -> Num | None:
        """The facts of an elementwise function of one array or number that has finite derivatives."""
        if len(expr.args) != 1 or expr.keywords or path(self.s, expr.func) not in WITH_FINITE_DERIVATIVES:
            return None
        facts = self.of(expr.args[0])
        return facts if facts is None or facts.dims else Num("npscalar", np.dtype(float), ())

    def of_operation(self, expr: gast.BinOp) -> Num | None:
        """The facts of an operation whose operands have one shape, if not one of them is a number."""
        left, right = self.of(expr.left), self.of(expr.right)
        if left is None or right is None:
            return None
        if left.dims and right.dims and (left.dims != right.dims or None in left.dims):
            return None
        numpys = [f for f in (left, right) if f.kind in ("array", "npscalar")]
        wide = next((f for f in numpys if f.dims), numpys[0] if numpys else None)
        if isinstance(expr.op, SUMS):
            return wide or FLOAT
        if not isinstance(expr.op, (gast.Div, gast.Pow)):
            return None
        divided = isinstance(expr.op, gast.Div) and isinstance(expr.right, gast.Constant)
        if isinstance(expr.op, gast.Pow) and not (wide or type(literal(expr.right)) is int):
            return None  # the power of a negative float may be complex
        return wide or (FLOAT if divided or self.again else None)


def is_number(facts: Any) -> bool:
    """True if something is one number, which nobody can change."""
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array" and facts.kind is not None


def is_of_doubles(facts: Num) -> bool:
    """True if something is a float or an array of doubles."""
    if facts.dtype != np.float64 or facts.dims is None or facts.tensor or facts.whole:
        return False
    return facts.kind == "array" if facts.dims else facts.kind in ("float", "npscalar")
