"""Long element-wise programs run over arrays in strips that fit into the processor's cache.

::

    t = np.exp(x)                           d_x = np.empty_like(x)
    ...                                     for k in range(0, len(x), 16384):
    d_a = float((d_t * x).sum())                x_strip = x[k:k + 16384]
    d_x = d_t * t                     ->        t = np.exp(x_strip)
    return d_x, d_a                             ...
                                                d_a += (d_t * x_strip).sum()
                                                d_x[k:k + 16384] = d_t * t
                                            return d_x, float(d_a)

    d_t = 2 * (x[1:] - x[:-1])              d_x = np.zeros_like(x)
    d_x = np.empty_like(x)                  for k in range(0, len(x) - 1, 16384):
    d_x[:1] = 0.0                               x_strip, d_x_strip = x[k:k + 16385], d_x[k:k + 16385]
    d_x[1:] = d_t                     ->        d_t = 2 * (x_strip[1:] - x_strip[:-1])
    d_x[:-1] -= d_t                             d_x_strip[1:] += d_t
    return d_x                                  d_x_strip[:-1] -= d_t
                                            return d_x

Of a million elements, each temporary is eight megabytes that go through memory; of a strip, all temporaries stay near
the processor.  It is done for whole programs of arrays of one axis and one length, where nothing but element-wise
operations, slices that leave out some elements at the ends, and whole sums happen to them (`strip_values`), and the
value is not asked for (a sum of strips is rounded differently); and only where there are enough operations that the
loop costs nothing to speak of for a short array.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ....runtime.broadcast import common_length
from ... import ir
from ...analysis.subscript_uses import are_disjoint, is_basic, literal
from ...domain.facts import FLOAT, INT, Facts, Num
from ...ir.function import Function, Role
from ...ir.patterns import is_literal_zero, negated, size
from ...ir.traversal import substitute_in
from .strip_legality import NUMBER, PARTED, STRIP, SUM, Part, Unfit, Values, cuts, parts_of, with_parts


def strip_mine(
    s: Function, front: ir.Block, back: ir.Block, given: list[str], seeds: list[str]
) -> tuple[ir.Block, ir.Block] | None:
    """Both sweeps as one loop over strips, if the program allows it; `given` are the variables from outside."""
    read = {name for stmt in [*front, *back] for name in ir.reads_inside(stmt)}
    given = [name for name in (*given, *seeds) if name in read]
    arrays = [name for name in given if not is_number(s.facts[name])]
    if not arrays or {*arrays} & {*seeds} or not are_rows(s, arrays):
        return None
    strips = Strips(s, arrays, given, seeds)
    try:
        if not isinstance(back[-1], ir.Return):
            raise Unfit
        for stmt in front:
            strips.statement(stmt, True)
        strips.forward = len(strips.inside)
        for stmt in back[:-1]:
            strips.statement(stmt, False)
        strips.check(results_of(back[-1]))
    except Unfit:
        return None
    final = strips.results(back[-1])
    return strips.before, [strips.loop(), *strips.after, final]


def is_number(facts: Any) -> bool:
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array"


def are_rows(s: Function, names: list[str]) -> bool:
    """True if variables are arrays of one axis, and of one length where the program does not raise."""
    facts = [s.facts[name] for name in names]
    rows = [f for f in facts if isinstance(f, Num) and f.kind == "array" and f.ndim == 1 and not f.tensor]
    lengths = {s.lengths.canonical(f.dims[0]) for f in rows if f.dims}
    return len(rows) == len(names) and len(lengths) == 1 and (len(names) == 1 or None not in lengths)


def results_of(final: ir.Return) -> list[Any]:
    single = not isinstance(final.value, gast.Tuple) or final.single
    return [final.value] if single else list(final.value.elts)


class Strips:
    """The statements before the loop over strips, in it and after it."""

    def __init__(self, s: Function, arrays: list[str], given: list[str], seeds: list[str]) -> None:
        self.s, self.arrays = s, arrays
        parts = {name: Part(STRIP if name in arrays else NUMBER, 0, name in seeds) for name in given}
        self.values = Values(s, parts)
        self.before: ir.Block = []
        self.inside: ir.Block = []
        self.after: ir.Block = []
        self.sums: list[ir.Carry] = []
        self.views: ir.Block = []
        self.filled: list[ir.Store] = []
        self.made: set[str] = set()  # by the reverse sweep, to be filled
        self.length: str | None = None
        self.index = self.named("k", INT)
        self.entered: dict[Any, tuple[Part, set[int]]] = {}  # what a statement computes, and what enters there
        self.forward = self.operations = self.cut = self.least = 0

    def named(self, hint: str, facts: Facts, role: Role | None = None) -> str:
        name = self.s.fresh(hint, facts, role)
        self.s.named.add(name)
        return name

    def statement(self, stmt: Any, forward: bool) -> None:
        """Put a statement where it belongs."""
        if isinstance(stmt, ir.Store):
            self.store(stmt, forward)
            return
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.state_reads:
            raise Unfit
        if stmt.target in self.values.parts:  # it takes an argument
            self.before.append(stmt)
            return
        stmt = replace(stmt, expr=self.sized(stmt.expr))
        part, entries = self.values.entered(stmt.expr)
        if part.level == STRIP:
            self.entered[stmt] = part, entries
            self.operations += size(stmt.expr)
            new = not forward and self.values.is_new(stmt.expr)
            if new or (part.seeded and isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp))):
                self.made.add(stmt.target)
                part = replace(part, seeded=True, spread=part.spread or new)
        elif part.level == SUM:
            stmt.expr = self.summed(stmt.expr, self.s.hints[stmt.target])
        self.values.parts[stmt.target] = part
        (self.before, self.inside, self.after)[part.level].append(stmt)

    def store(self, stmt: ir.Store, forward: bool) -> None:
        """A cotangent that is put into a part of another, or added there."""
        if forward or stmt.base not in self.made:
            raise Unfit
        stmt = replace(stmt, value=self.sized(stmt.value))
        if is_literal_zero(stmt.value):
            if cuts(stmt.index) is None and not is_end(stmt.index):
                raise Unfit
        else:
            whole = isinstance(stmt.index, gast.Constant) and stmt.index.value is Ellipsis
            place = self.values.part(ir.name(stmt.base) if whole else ir.subscript(ir.name(stmt.base), stmt.index))
            value, entries = self.values.entered(stmt.value, place)
            if not value.seeded or value.level == SUM:
                raise Unfit
            self.entered[stmt] = value, entries
            self.values.parts[stmt.base] = replace(self.values.parts[stmt.base], spread=True)
        self.operations += 1 + size(stmt.value)
        self.inside.append(stmt)

    # -- expressions

    def sized(self, expr: Any) -> Any:
        """An expression in which the size of a strip is that of what it is a strip of."""
        if isinstance(expr, gast.Attribute) and expr.attr == "size" and self.is_strip(expr.value):
            return self.size_of(expr.value)
        if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len" and self.is_strip(expr.args[0]):
            return self.size_of(expr.args[0])
        if isinstance(expr, PARTED):
            return one_bound(with_parts(expr, map(self.sized, parts_of(expr))))
        return expr

    def is_strip(self, expr: Any) -> bool:
        return self.values.level(expr) == STRIP

    def size_of(self, expr: Any) -> Any:
        """The length of the array of which an expression is a strip."""
        cut = self.values.part(expr).cut
        length = ir.name(self.whole_length())
        return ir.call("max", ir.binop(length, gast.Sub, ir.constant(cut)), ir.constant(0)) if cut else length

    def whole_length(self) -> str:
        """The variable that holds the length of the arrays."""
        if self.length is None:
            self.length = self.named("n", INT)
            self.before.append(ir.Let((self.length,), self.measured()))
            self.values.parts[self.length] = Part(NUMBER)
        return self.length

    def measured(self) -> Any:
        if len(self.arrays) == 1:
            return ir.call("len", ir.name(self.arrays[0]))
        return ir.call(self.s.bind("common_length", common_length), *map(ir.name, self.arrays))

    def summed(self, expr: Any, hint: str) -> Any:
        """An expression with variables for the sums in it, which are collected in the loop."""
        if self.values.terms(expr) is not None:
            return ir.name(self.collect(expr, hint))
        if isinstance(expr, PARTED):
            return with_parts(expr, (self.summed(part, hint) for part in parts_of(expr)))
        return expr

    def collect(self, expr: Any, hint: str) -> str:
        """A number to which each strip adds its part."""
        phi, following, total, start = (self.named(hint, FLOAT) for _ in range(4))
        self.before.append(ir.Let((start,), ir.constant(0.0)))
        stmt = ir.Let((following,), ir.binop(ir.name(phi), gast.Add, expr), in_place=True)
        self.values.parts[total], _ = self.entered[stmt] = self.values.entered(expr)
        self.inside.append(stmt)
        self.sums.append(ir.Carry(phi, start, following, total))
        return total

    # -- the loop

    def check(self, results: list[Any]) -> None:
        """Refuse what does not pay, and results that are neither numbers nor arrays like those given."""
        if self.operations < thresholds.OPERATIONS_IN_STRIPS or not any(
            entries for _, entries in self.entered.values()
        ):
            raise Unfit
        self.set_cut()
        for value in results:
            part = self.values.part(value)
            if part.level == STRIP and (part.cut or getattr(value, "id", None) in (None, *self.arrays)):
                raise Unfit
            if part.level == STRIP and self.like(value.id) is None:
                raise Unfit

    def set_cut(self) -> None:
        """Set the overlap of strips; elements that the next one has again are left out of stores and sums."""
        entries = set().union(*(entries for _, entries in self.entered.values()))
        self.cut, self.least = max(entries), min(entries)
        if any(part.level == STRIP and part.cut > self.cut for part in self.values.parts.values()):
            raise Unfit
        if self.least < self.cut:
            ahead = [new for stmt in self.inside[: self.forward] for new in self.once(stmt)]
            self.inside = [*ahead, *(new for stmt in self.inside[self.forward :] for new in self.once(stmt))]
            self.forward = len(ahead)

    def once(self, stmt: Any) -> ir.Block:
        """A statement of the loop that counts each element in one strip only."""
        part, entries = self.entered.get(stmt, (None, set()))
        if part is None or entries <= {self.cut}:
            return [stmt]
        if len(entries) > 1 or part.spread or part.level == NUMBER:
            raise Unfit
        rest = gast.Slice(ir.constant(thresholds.ITEMS_OF_A_STRIP), None, None)
        if part.level == SUM:
            stmt.expr = ir.binop(stmt.expr.left, gast.Add, self.trimmed(stmt.expr.right))
            return [stmt]
        if not isinstance(stmt, ir.Store):
            return [stmt, ir.Store(stmt.target, rest, ir.constant(0.0), None, stmt.origin)]
        entered = self.named("d_t", self.s.facts[stmt.base], Role.COTANGENT)
        self.values.parts[entered] = part
        new = ir.Let((entered,), stmt.value, None, stmt.origin)
        stmt.value = ir.name(entered)
        return [new, ir.Store(entered, rest, ir.constant(0.0), None, stmt.origin), stmt]

    def trimmed(self, expr: Any) -> Any:
        """A sum over those elements of a strip that the next one does not have."""
        own = gast.Slice(None, ir.constant(thresholds.ITEMS_OF_A_STRIP), None)
        if isinstance(expr.func, gast.Attribute) and not expr.args:
            return ir.call(ir.attribute(ir.subscript(expr.func.value, own), "sum"))
        return ir.call(expr.func, *[ir.subscript(arg, own) for arg in expr.args])

    def like(self, name: str) -> str | None:
        """The array of which a result is the gradient, or another of its dtype."""
        hint = self.s.hints[name]
        fit = [array for array in self.arrays if self.dtype(array) == self.dtype(name)]
        return next((a for a in fit if f"d_{self.s.hints[a]}" == hint), fit[0] if fit else None)

    def dtype(self, name: str) -> Any:
        facts = self.s.facts[name]
        return facts.dtype if isinstance(facts, Num) else None

    def results(self, final: ir.Return) -> ir.Return:
        """The results after the loop: the arrays are filled in it."""
        new = [self.result(value) for value in results_of(final)]
        several = isinstance(final.value, gast.Tuple) and not final.single
        result = ir.Return(ir.tuple_(new) if several else new[0], final.origin)
        result.single = not several
        return result

    def result(self, value: Any) -> Any:
        if self.values.level(value) != STRIP:
            return self.summed(value, "total")
        like, hint = self.like(value.id), self.s.hints[value.id].removesuffix("_strip")
        assert like is not None
        for name in [n for n, part in self.values.parts.items() if part.level == STRIP and self.s.hints[n] == hint]:
            self.s.hints[name] = f"{hint}_strip"
        filled = self.named(hint, self.s.facts[value.id], self.s.roles.get(value.id))
        function = "zeros_like" if self.cut else "empty_like"
        made = ir.call(ir.attribute(self.s.bind("np", np), function), ir.name(like))
        self.before.append(ir.Let((filled,), made))
        if self.cut and self.is_filled_only(value.id):
            self.fill_there(value.id, filled)
        else:
            self.filled.append(ir.Store(filled, self.part(), value, gast.Add if self.cut else None))
        return ir.name(filled)

    def is_filled_only(self, name: str) -> bool:
        """True if a result is nothing but an array to whose parts something is added."""
        uses = [stmt for stmt in self.inside if name in (*ir.reads(stmt), *ir.ir_targets(stmt))]
        others = [stmt for stmt in self.filled if name in ir.reads(stmt)]
        if others or not isinstance(uses[0], ir.Let) or not self.values.is_new(uses[0].expr):
            return False
        for k, stmt in enumerate(uses[1:], 1):
            if not isinstance(stmt, ir.Store) or name in (*ir.variables_in(stmt.value), *ir.variables_in(stmt.index)):
                return False
            if stmt.aug is None and not all(self.are_apart(stmt, other) for other in uses[1:k]):
                return False
            if stmt.aug not in (None, gast.Add, gast.Sub):
                return False
        return True

    def are_apart(self, a: ir.Store, b: ir.Store) -> bool:
        """True if it does not matter which of two parts is assigned first."""
        if is_literal_zero(a.value) and is_literal_zero(b.value):
            return True
        return is_basic(self.s, a.index) and is_basic(self.s, b.index) and are_disjoint(self.s, a.index, b.index)

    def fill_there(self, name: str, filled: str) -> None:
        """Let what is added to an array of the strip's length be added to a part of the whole one."""
        rest: ir.Block = []
        for stmt in self.inside:
            if isinstance(stmt, ir.Let) and stmt.target == name:
                self.views.append(ir.Let((name,), ir.subscript(ir.name(filled), self.part())))
                continue
            if isinstance(stmt, ir.Store) and stmt.base == name and stmt.aug is None:
                if is_literal_zero(stmt.value):
                    continue
                positive = negated(stmt.value)
                stmt.aug = gast.Add if positive is None else gast.Sub
                stmt.value = stmt.value if positive is None else positive
            rest.append(stmt)
        self.inside[:] = rest

    def part(self) -> Any:
        index = ir.name(self.index)
        return gast.Slice(index, ir.binop(index, gast.Add, ir.constant(thresholds.ITEMS_OF_A_STRIP + self.cut)), None)

    def loop(self) -> ir.Loop:
        """The loop over the strips."""
        strips = [
            self.named(f"{self.s.hints[array]}_strip", self.s.facts[array], self.s.roles.get(array))
            for array in self.arrays
        ]
        cut = [ir.Let((strip,), ir.subscript(ir.name(a), self.part())) for a, strip in zip(self.arrays, strips)]
        here = dict(zip(self.arrays, map(ir.name, strips)))
        for stmt in [*self.inside, *self.filled]:
            substitute_in(stmt, here)
        end = self.measured() if self.length is None else ir.name(self.length)
        if self.least:
            end = ir.binop(end, gast.Sub, ir.constant(self.least))
        bounds = (ir.constant(0), end, ir.constant(thresholds.ITEMS_OF_A_STRIP))
        body = [*cut, *self.views, *self.inside, *self.filled]
        result = ir.Loop("range", body, self.sums, self.index, bounds, origin=self.meeting(strips))
        result.forward = len(cut) + len(self.views) + self.forward
        return result

    def meeting(self, strips: list[str]) -> Any:
        """The user's line in which arrays of different lengths raise."""
        behind = {name: {name} for name in strips}
        for stmt in self.inside:
            found = set().union(*(behind.get(name, set()) for name in ir.reads(stmt)))
            if len(found) > 1:
                return stmt.origin
            behind |= dict.fromkeys(ir.ir_targets(stmt), found)
        return None


def one_bound(expr: Any) -> Any:
    """``max(n - 1, 1)`` for ``max(max(n - 1, 0), 1)``."""
    if not is_maximum(expr) or not is_maximum(expr.args[0]):
        return expr
    inner, least = expr.args[0], literal(expr.args[1])
    return ir.call("max", inner.args[0], expr.args[1]) if is_literal_zero(inner.args[1]) and (least or 0) > 0 else expr


def is_maximum(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "max" and len(expr.args) == 2


def is_end(index: Any) -> bool:
    """True if a slice takes some elements at the beginning or at the end."""
    if not isinstance(index, gast.Slice) or index.step is not None:
        return False
    lower, upper = literal(index.lower), literal(index.upper)
    return (index.lower is None and (upper or 0) > 0) or (index.upper is None and (lower or 0) < 0)
