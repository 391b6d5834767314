"""Long element-wise programs run over an array in strips that fit into the processor's cache.

::

    t = np.exp(x)                           d_x = np.empty_like(x)
    ...                                     for k in range(0, len(x), 8192):
    d_a = float((d_t * x).sum())                x_strip = x[k:k + 8192]
    d_x = d_t * t                     ->        t = np.exp(x_strip)
    return d_x, d_a                             ...
                                                d_a += (d_t * x_strip).sum()
                                                d_x[k:k + 8192] = d_t * t
                                            return d_x, float(d_a)

Of a million elements, each temporary is eight megabytes that go through memory; of a strip, all temporaries stay near
the processor.  It is done for whole programs of one array with one axis, where nothing but element-wise operations and
whole sums happens to it and the value is not asked for (a sum of strips is rounded differently), and only where there
are enough operations that the loop costs nothing to speak of for a short array.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from . import ir
from .facts import FLOAT, INT, Facts, Num
from .optimise import size
from .specialise.state import Specialiser
from .substitution import substitute_in

LENGTH = 8192
LEAST = 20  # operations on the array
NUMBER, STRIP, SUM = range(3)  # known before the loop, made in it, known after it
ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow, gast.Mod)
PARTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)
FILLED = (np.where, np.full_like, np.zeros_like, np.ones_like)


class Unfit(Exception):
    """A program that does not run in strips."""


def in_strips(s: Specialiser, front: ir.Block, back: ir.Block, given: list[str]) -> tuple[ir.Block, ir.Block] | None:
    """Both sweeps as one loop over strips, if the program allows it; `given` are the variables from outside."""
    read = {name for stmt in [*front, *back] for name in ir.reads_inside(stmt)}
    given = [name for name in given if name in read]
    arrays = [name for name in given if not is_number(s.facts[name])]
    facts = s.facts[arrays[0]] if len(arrays) == 1 else None
    if not isinstance(facts, Num) or facts.kind != "array" or facts.ndim != 1 or facts.tensor:
        return None
    strips = Strips(s, arrays[0], facts, given)
    try:
        if not isinstance(back[-1], ir.Return):
            raise Unfit
        for k, stmt in enumerate([*front, *back[:-1]]):
            strips.statement(stmt, k < len(front))
        strips.check(results_of(back[-1]))
    except Unfit:
        return None
    final = strips.results(back[-1])
    return strips.before, [strips.loop(), *strips.after, final]


def is_number(facts: Any) -> bool:
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array"


def results_of(final: ir.Return) -> list[Any]:
    single = not isinstance(final.value, gast.Tuple) or final.value is final.single
    return [final.value] if single else list(final.value.elts)


class Strips:
    """What a program becomes: statements before the loop, in it and after it."""

    def __init__(self, s: Specialiser, whole: str, facts: Num, given: list[str]) -> None:
        self.s, self.whole, self.facts = s, whole, facts
        self.levels = {name: STRIP if name == whole else NUMBER for name in given}
        self.before: ir.Block = []
        self.inside: ir.Block = []
        self.after: ir.Block = []
        self.sums: list[ir.Carry] = []
        self.filled: list[ir.Store] = []
        self.size: str | None = None
        self.index = self.named("k", INT)
        self.forward = self.operations = 0

    def named(self, hint: str, facts: Facts) -> str:
        name = self.s.fresh(hint, facts)
        self.s.named.add(name)
        return name

    def statement(self, stmt: Any, forward: bool) -> None:
        """Put a statement where it belongs."""
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.state_reads:
            raise Unfit
        if stmt.target in self.levels:  # it takes an argument
            self.before.append(stmt)
            return
        stmt = replace(stmt, expr=self.sized(stmt.expr))
        level = self.level(stmt.expr)
        if level == STRIP:
            self.operations += size(stmt.expr)
            self.forward += forward
        elif level == SUM:
            stmt.expr = self.summed(stmt.expr, self.s.hints[stmt.target])
        self.levels[stmt.target] = level
        self.lists(level).append(stmt)

    def lists(self, level: int) -> ir.Block:
        return (self.before, self.inside, self.after)[level]

    # -- expressions

    def level(self, expr: Any) -> int:
        """Where an expression can be computed."""
        if isinstance(expr, gast.Constant):
            return NUMBER
        if isinstance(expr, gast.Name):
            return self.of_name(expr.id)
        if isinstance(expr, gast.Attribute) and type(self.found(expr)) in (int, float):
            return NUMBER
        if self.is_sum(expr):
            return SUM
        parts = self.operands(expr)
        levels = {self.level(part) for part in parts}
        if {STRIP, SUM} <= levels:
            raise Unfit  # each strip needs the sum of all
        return max(levels, default=NUMBER)

    def of_name(self, name: str) -> int:
        if name not in self.levels:
            raise Unfit
        return self.levels[name]

    def sized(self, expr: Any) -> Any:
        """An expression in which the size of a strip is that of the whole array, whose shape all have."""
        if isinstance(expr, gast.Attribute) and expr.attr == "size" and self.is_strip(expr.value):
            return ir.name(self.whole_size())
        if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len" and self.is_strip(expr.args[0]):
            return ir.name(self.whole_size())
        if isinstance(expr, PARTED):
            return with_parts(expr, {id(part): self.sized(part) for part in parts_of(expr)})
        return expr

    def is_strip(self, expr: Any) -> bool:
        return self.level(expr) == STRIP

    def whole_size(self) -> str:
        if self.size is None:
            self.size = self.named("n", INT)
            self.before.append(ir.Let((self.size,), ir.call("len", ir.name(self.whole))))
            self.levels[self.size] = NUMBER
        return self.size

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
        return fn in FILLED or (fn is float and self.level(expr.args[0]) != STRIP)

    def found(self, expr: Any) -> Any:
        """The object that a path of names stands for."""
        if isinstance(expr, gast.Name):
            return self.s.globals.get(expr.id, float if expr.id == "float" else None)
        if isinstance(expr, gast.Attribute) and isinstance(expr.value, gast.Name):
            return getattr(self.s.globals.get(expr.value.id), expr.attr, None)
        return None

    def is_sum(self, expr: Any) -> bool:
        """Whether an expression is the sum of all of an array that is made in the loop."""
        if not isinstance(expr, gast.Call) or expr.keywords:
            return False
        if isinstance(expr.func, gast.Attribute) and expr.func.attr == "sum" and not expr.args:
            return self.level(expr.func.value) == STRIP
        return self.found(expr.func) is np.sum and len(expr.args) == 1 and self.level(expr.args[0]) == STRIP

    def summed(self, expr: Any, hint: str) -> Any:
        """An expression with variables for the sums in it, which are collected in the loop."""
        if self.is_sum(expr):
            return ir.name(self.collect(expr, hint))
        if isinstance(expr, PARTED):
            return with_parts(expr, {id(part): self.summed(part, hint) for part in parts_of(expr)})
        return expr

    def collect(self, expr: Any, hint: str) -> str:
        """A number to which each strip adds its part."""
        phi, following, total, start = (self.named(hint, FLOAT) for _ in range(4))
        self.before.append(ir.Let((start,), ir.constant(0.0)))
        self.inside.append(ir.Let((following,), ir.binop(ir.name(phi), gast.Add, expr), in_place=True))
        self.sums.append(ir.Carry(phi, start, following, total))
        self.levels[total] = SUM
        return total

    # -- the loop

    def check(self, results: list[Any]) -> None:
        """Refuse what does not pay, and results that are neither numbers nor arrays like the whole one."""
        if self.operations < LEAST:
            raise Unfit
        for value in results:
            if self.level(value) == STRIP:
                facts = self.s.facts.get(getattr(value, "id", ""))
                if value.id == self.whole or not isinstance(facts, Num) or facts.dtype != self.facts.dtype:
                    raise Unfit

    def results(self, final: ir.Return) -> ir.Return:
        """The results after the loop: the arrays are filled in it."""
        new = [self.result(value) for value in results_of(final)]
        several = isinstance(final.value, gast.Tuple) and final.value is not final.single
        result = ir.Return(ir.tuple_(new) if several else new[0], final.origin)
        result.single = None if several else new[0]
        return result

    def result(self, value: Any) -> Any:
        if self.level(value) != STRIP:
            return self.summed(value, "total")
        hint = self.s.hints[value.id]
        for name in [n for n, level in self.levels.items() if level == STRIP and self.s.hints[n] == hint]:
            self.s.hints[name] = f"{hint}_strip"
        filled = self.named(hint, self.s.facts[value.id])
        made = ir.call(ir.attribute(self.s.bind("np", np), "empty_like"), ir.name(self.whole))
        self.before.append(ir.Let((filled,), made))
        self.filled.append(ir.Store(filled, self.part(), value))
        return ir.name(filled)

    def part(self) -> Any:
        index = ir.name(self.index)
        return gast.Slice(index, ir.binop(index, gast.Add, ir.constant(LENGTH)), None)

    def loop(self) -> ir.Loop:
        """The loop over the strips."""
        strip = self.named(f"{self.s.hints[self.whole]}_strip", self.facts)
        here = {self.whole: ir.name(strip)}
        for stmt in [*self.inside, *self.filled]:
            substitute_in(stmt, here)
        cut = ir.Let((strip,), ir.subscript(ir.name(self.whole), self.part()))
        bounds = (ir.constant(0), ir.call("len", ir.name(self.whole)), ir.constant(LENGTH))
        result = ir.Loop("range", [cut, *self.inside, *self.filled], self.sums, self.index, bounds)
        result.forward = 1 + self.forward
        return result


def parts_of(expr: Any) -> list[Any]:
    """The operands of an operation."""
    if isinstance(expr, gast.BinOp):
        return [expr.left, expr.right]
    if isinstance(expr, gast.Compare):
        return [expr.left, *expr.comparators]
    return [expr.operand] if isinstance(expr, gast.UnaryOp) else list(expr.args)


def with_parts(expr: Any, parts: dict[int, Any]) -> Any:
    """An operation with other operands."""
    if isinstance(expr, gast.BinOp):
        return gast.BinOp(parts[id(expr.left)], expr.op, parts[id(expr.right)])
    if isinstance(expr, gast.UnaryOp):
        return gast.UnaryOp(expr.op, parts[id(expr.operand)])
    if isinstance(expr, gast.Compare):
        return gast.Compare(parts[id(expr.left)], expr.ops, [parts[id(c)] for c in expr.comparators])
    return gast.Call(expr.func, [parts[id(a)] for a in expr.args], expr.keywords)
