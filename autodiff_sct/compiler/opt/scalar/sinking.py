"""Code sinking: statements move after the last use of what they replace, and into the branch that uses them.

The next value of a cotangent is computed after the last use of the one that it replaces.

::

    d_s2 = d_s * t                          d_v = d_s * s * np.cos(v)
    d_v = d_s * s * np.cos(v)         ->    d_s = d_s * t
    d_s = d_s2

    d_s2 = d_s * v                          d_v = d_s * s
    d_v = d_s * s                     ->    d_x[i] = d_v
    d_x[i] = d_v                            d_s = d_s * v
    d_s = d_s2

Nothing is moved past the statements that reverse another line of the user's, nor past a write to what it reads.  What
is a number of the text, and is only handed on by a block, comes last.

A part of a shadow is set to zero after the use of what was in it, which then needs no name.

::

    d_t = d_y[3]                           d_x[4] += 2 * d_y[3] * t
    d_y[3] = 0.0                           d_y[3] = 0.0
    d_x[4] += 2 * d_t * t         ->

Only where nothing in between reads or writes the shadow or a view of it.

Branch sinking: the reverse of a number that only one side of a branch uses moves to that side.

::

    if r < cutoff:                          if r < cutoff:
        d_r = -d_out / (r * r)                  d_r = -d_out / (r * r)
    else:                                       d_t = d_r / (2 * r)
        d_r = 0.0                     ->        d_x[i] += d_t * (2 * dx)
    d_t = d_r / (2 * r)
    d_x[i] += d_t * (2 * dx)

On the other side all that is made of zeros, and added.  What others read, too, is zero there; that is done where there
is a division, which may be one by zero.  Nothing moves past what writes memory that it reads, nor past what touches
memory that it writes; what it needs and others read, too, is computed before the branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses, names_read, readers_of
from ...domain.facts import Num
from ...ir.function import Function
from ...ir.patterns import is_call, is_literal_zero, is_pop_call, is_zeroing
from ...ir.traversal import substitute_own


def sink(s: Function, block: ir.Block) -> None:
    """Reorder a block of the reverse sweep and the blocks inside it, in place."""
    sink_inside(s, block, {})


def sink_inside(s: Function, block: ir.Block, known: dict[Any, dict[str, None]]) -> None:
    """The same; `known` are the variables that statements read, which stay the same."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            sink_inside(s, inner, known)
    handed_on = [stmt for stmt in block if is_number(s, stmt)]
    if handed_on:
        read = {name for stmt in block for name in names_read(stmt, known)}
        handed_on = [stmt for stmt in handed_on if stmt.target not in read]
        block[:] = [*(stmt for stmt in block if stmt not in handed_on), *handed_on]
    following = [stmt for stmt in block if is_next_value(s, stmt)]
    pops = {stmt.target: stmt for stmt in block if is_pop(s, stmt)}
    readers = readers_of(block, known) if following else {}
    places = {stmt: k for k, stmt in enumerate(block)}
    for stmt in following:
        popped = [pops[n] for n in dict.fromkeys(ir.reads(stmt)) if n in pops and len(readers[n]) == 1]
        move_past(s, block, places, readers, stmt, popped)


def is_pop(s: Function, stmt: Any) -> bool:
    """True if a statement reads back one value: of several, others may be read before."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) > 1 or not stmt.effect or not is_call(stmt.expr, "pop"):
        return False
    return getattr(stmt.expr.func.value, "id", None) in s.saved


def is_number(s: Function, stmt: Any) -> bool:
    """True if a statement gives a cotangent a number that is written in the text."""
    return isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Constant) and s.is_cotangent(stmt.target)


def is_next_value(s: Function, stmt: Any) -> bool:
    """True if a statement makes a cotangent from one of the same name."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place:
        return False
    if any(is_pop_call(node) for node in ir.nodes_in(stmt.expr)):
        return False
    return s.is_cotangent(stmt.target) and len(replaced_by(s, stmt)) == 1


def replaced_by(s: Function, stmt: ir.Let) -> set[str]:
    return {n for n in ir.reads(stmt) if s.hints[n] == s.hints[stmt.target]}


def move_past(
    s: Function,
    block: ir.Block,
    places: dict[Any, int],
    readers: dict[str, list[Any]],
    stmt: ir.Let,
    popped: list[ir.Let],
) -> None:
    start = places[stmt]
    last = last_use(s, block, places, readers, stmt)
    passed = block[start + 1 : last + 1]
    if not passed or any(stmt.target in ir.reads_inside(x) for x in passed):
        return
    memory = {root for n in ir.reads(stmt) for root in roots_of(s.facts[n])}
    if not any(touches(s, x, memory, True) or changes(s, x, memory) for x in passed):
        moved = [*popped, stmt]
        first = min(places[x] for x in moved)
        block[first : last + 1] = [*(x for x in block[first : last + 1] if x not in moved), *moved]
        places |= {block[k]: k for k in range(first, last + 1)}


def changes(s: Function, stmt: Any, memory: set[int]) -> bool:
    """True if a statement adds something to some memory under another name."""
    sums = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and x.in_place]
    return any(memory & roots_of(s.facts[n]) for x in sums for n in (x.target, *ir.variables_in(x.expr.left)))


def last_use(s: Function, block: ir.Block, places: dict[Any, int], readers: dict[str, list[Any]], first: ir.Let) -> int:
    """The last read, in the reverse of one line, of what a statement replaces, or of a temporary made of it."""
    last = places[first]
    after = {places[x] for n in replaced_by(s, first) for x in readers[n] if places[x] > last}
    stored: list[Any] = []
    while after:
        place = min(after)
        after.remove(place)
        if any(begins_line(x, first) for x in block[last + 1 : place + 1] if x not in stored):
            break
        last, stmt = place, block[place]
        if not isinstance(stmt, ir.Let):
            continue
        later = [x for x in readers.get(stmt.target, ()) if places[x] > place]
        if stmt.target not in s.named:
            after |= {places[x] for x in later}
        elif len(later) == 1 and is_stored(stmt, later[0]):
            stored += later
            after.add(places[later[0]])
        elif len(later) == 1 and isinstance(later[0], ir.Let) and s.hints[later[0].target] == s.hints[stmt.target]:
            after.add(places[later[0]])
    return last


def is_stored(stmt: ir.Let, following: Any) -> bool:
    """True if a statement puts what another one makes into an item, or adds it to one."""
    return isinstance(following, ir.Store) and getattr(following.value, "id", None) == stmt.target


def begins_line(stmt: Any, first: ir.Let) -> bool:
    """True if a statement reverses another line of the user's than an earlier one, or several."""
    return bool(ir.bodies(stmt)) or (stmt.origin is not None and not ir.same_line(stmt, first))


def sink_stores(s: Function, program: ir.Block) -> None:
    """Reorder the blocks of the reverse sweep, in place."""
    if any(is_zeroing(stmt) for stmt in ir.adjoint_walk(program)):
        reorder(s, program, count_uses(program))


def reorder(s: Function, block: ir.Block, uses: dict[str, int]) -> None:
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            reorder(s, inner, uses)
    for zero in [stmt for stmt in block if is_zeroing(stmt)]:
        start = block.index(zero)
        last = last_user(s, block, start, uses)
        block[start : last + 1] = [*block[start + 1 : last + 1], zero]


def last_user(s: Function, block: ir.Block, start: int, uses: dict[str, int]) -> int:
    """The last use of a value read from a shadow before its zeroing at `start`, if the zeroing may wait."""
    region = roots_of(s.facts[block[start].base])
    places = {root for n in ir.names_in(block[start].index) if ir.is_variable(n) for root in roots_of(s.facts[n])}
    waiting = {
        name
        for stmt in block[max(0, start - thresholds.NEAR_ZEROING) : start]
        for name in taken_out(s, stmt, region, uses)
    }
    last = start
    for k in range(start + 1, min(start + 1 + thresholds.NEAR_ZEROING, len(block))):
        stmt = block[k]
        if not waiting or not region or touches(s, stmt, region, False) or touches(s, stmt, places, True):
            break
        used = waiting & set(ir.reads(stmt))
        if used and not ir.bodies(stmt):
            waiting -= used
            waiting |= {n for n in ir.ir_targets(stmt) if is_passed_on(s, stmt, uses)}
            last = k
    return last


def taken_out(s: Function, stmt: Any, region: frozenset[int], uses: dict[str, int]) -> list[str]:
    """The temporary that a statement makes of what is in a shadow, if one statement uses it."""
    read = any(roots_of(s.facts[n]) & region for n in ir.reads(stmt))
    return [stmt.target] if read and is_passed_on(s, stmt, uses) else []


def is_passed_on(s: Function, stmt: Any, uses: dict[str, int]) -> bool:
    """True if a statement makes a temporary that one other uses."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect:
        return False
    return stmt.target not in s.named and uses.get(stmt.target, 0) == 1


def sink_into_branches(s: Function, program: ir.Block, back: ir.Block) -> None:
    """Rewrite the reverse sweep of a program, in place."""
    blocks = [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]
    if not any(map(merging, blocks)):
        return
    values = {x.target: x.expr for x in ir.walk(program) if isinstance(x, ir.Let) and len(x.targets) == 1}
    uses = count_uses(program)
    for block in blocks:
        for stmt in merging(block):
            for side in ("then", "orelse", "then"):  # what one side takes away may have been in the way of the other
                Moving(s, uses, values, block, stmt, side).run()


def merging(block: ir.Block) -> list[ir.If]:
    """The branches of a block that leave values."""
    return [x for x in block if isinstance(x, ir.If) and x.merges and x.path is None]


def may_be_infinite(stmt: Any) -> bool:
    """True if a statement divides, or takes a power that may be a division, by something else than a literal."""
    nodes = [node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
    found = [n for n in nodes if isinstance(n, gast.BinOp) and isinstance(n.op, (gast.Div, gast.Pow))]
    return any(is_call(n, "pow") for n in nodes) or any(not isinstance(n.right, gast.Constant) for n in found)


@dataclass
class Moving:
    """The statements after a branch that do something only if one side of it was taken."""

    s: Function
    uses: dict[str, int]
    values: dict[str, Any]
    block: ir.Block
    branch: ir.If
    side: str
    barred: set[Any] = field(default_factory=set)  # statements that stay
    zeros: set[str] = field(default_factory=set)  # numbers that are zero if the other side was taken
    moved: ir.Block = field(default_factory=list)
    lifted: ir.Block = field(default_factory=list)  # those that go before the branch
    stay: ir.Block = field(default_factory=list)
    sums: dict[str, str] = field(default_factory=dict)  # sums with zeros -> what they are on the other side
    merged: set[str] = field(default_factory=set)  # numbers that others read, too, and that are zero on the other side

    def run(self) -> None:
        start = self.zero_merges()
        while start:
            self.zeros, self.moved, self.lifted, self.stay, self.sums = set(start), [], [], [], {}
            for stmt in self.block[self.block.index(self.branch) + 1 :]:
                self.consider(stmt)
            wanted = [x for x in self.moved if self.read_elsewhere(x)]
            divides = any(map(may_be_infinite, [*self.moved, *self.lifted]))
            self.merged = {x.target for x in wanted if divides and self.has_zero(x.target)}
            wanted = [x for x in wanted if x.target not in self.merged]
            self.barred |= set(wanted)
            if not wanted:
                break
        if (
            len(self.moved) > thresholds.STATEMENTS_LEFT
            or self.merged
            or any(isinstance(x, ir.Store) for x in self.moved)
        ):
            self.write(start)

    def zero_merges(self) -> set[str]:
        """The numbers that the other side leaves as zero."""
        zero = {m.target: is_literal_zero(self.values.get(self.other(m) or "")) for m in self.branch.merges}
        given = {m.target for m in self.branch.merges if getattr(m, self.side) is not None}
        return {n for n in given if zero[n] and self.is_number(n)}

    def other(self, merge: ir.Merge) -> str | None:
        return merge.orelse if self.side == "then" else merge.then

    def is_number(self, name: str) -> bool:
        facts = self.s.facts[name]
        return isinstance(facts, Num) and facts.dims == () and not facts.tensor and facts.kind != "array"

    def has_zero(self, name: str) -> bool:
        """True if it is known what a zero of the kind of a number is."""
        return self.is_number(name) and getattr(self.s.facts[name], "dtype", None) is not None

    def consider(self, stmt: Any) -> None:
        """Put a statement where it belongs."""
        if stmt not in self.barred and self.is_zero(stmt) and self.may_move(stmt):
            self.moved.append(stmt)
            if isinstance(stmt, ir.Let) and stmt.target not in self.sums:
                self.zeros.add(stmt.target)
        else:
            if isinstance(stmt, ir.Let):
                self.sums.pop(stmt.target, None)
            self.stay.append(stmt)

    def is_zero(self, stmt: Any) -> bool:
        """True if a statement changes nothing if the other side was taken."""
        if isinstance(stmt, ir.Store):
            apart = self.zeros.isdisjoint([stmt.base, *ir.names_in(stmt.index)])
            return stmt.aug in (gast.Add, gast.Sub) and apart and self.linear(stmt.value)
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place:
            return False
        return self.linear(stmt.expr) or self.is_sum(stmt)

    def linear(self, expr: Any) -> bool:
        """True if an expression is zero if the other side was taken."""
        if isinstance(expr, gast.Name):
            return expr.id in self.zeros
        if isinstance(expr, gast.UnaryOp):
            return isinstance(expr.op, gast.USub) and self.linear(expr.operand)
        if isinstance(expr, gast.Call):
            return getattr(expr.func, "id", "") == "float" and len(expr.args) == 1 and self.linear(expr.args[0])
        if isinstance(expr, gast.IfExp):
            sides = [x for x in (expr.body, expr.orelse) if not is_literal_zero(x)]
            return all(map(self.linear, sides)) and self.is_apart(expr.test)
        if not isinstance(expr, gast.BinOp):
            return False
        left, right = self.linear(expr.left), self.linear(expr.right)
        if isinstance(expr.op, (gast.Add, gast.Sub)):
            return left and right
        if isinstance(expr.op, gast.Mult):
            return (left and self.is_apart(expr.right)) or (right and self.is_apart(expr.left))
        return isinstance(expr.op, gast.Div) and left and self.is_apart(expr.right)

    def is_apart(self, expr: Any) -> bool:
        return self.zeros.isdisjoint(ir.names_in(expr))

    def is_sum(self, stmt: ir.Let) -> bool:
        """True if a statement adds to a number, from before the branch, what is zero if the other side was taken."""
        expr = stmt.expr
        if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Add, gast.Sub)):
            return False
        pairs = [(expr.left, expr.right), (expr.right, expr.left)][: 2 if isinstance(expr.op, gast.Add) else 1]
        for kept, added in pairs:
            if isinstance(kept, gast.Name) and self.linear(added) and self.goes_on(kept.id, stmt.target):
                self.sums[stmt.target] = self.sums.get(kept.id, kept.id)
                return True
        return False

    def goes_on(self, old: str, new: str) -> bool:
        """True if a number is another after an addition, with the same name."""
        if old in {m.target for m in self.branch.merges} | self.zeros or self.s.hints[old] != self.s.hints[new]:
            return False
        a, b = self.s.facts[old], self.s.facts[new]
        if not (isinstance(a, Num) and isinstance(b, Num) and self.is_number(old)):
            return False
        return (a.kind, a.dtype, a.python) == (b.kind, b.dtype, b.python)

    # -- order

    def may_move(self, stmt: Any) -> bool:
        """True if a statement may go to the end of the branch, and what it needs may be there."""
        if any(getattr(m, self.side) is None for m in self.branch.merges if m.target in ir.reads(stmt)):
            return False
        if not self.passes(stmt, self.stay):
            return False
        made = {n: x for x in self.stay for n in ir.ir_targets(x)}
        before = (list(self.lifted), list(self.stay))
        for name in ir.reads(stmt):
            if name in made and made[name] in self.stay and not self.lift(made[name], made):
                self.lifted, self.stay = before
                return False
        return True

    def lift(self, stmt: Any, made: dict[str, Any]) -> bool:
        """Take a statement before the branch, with what it needs."""
        if not isinstance(stmt, ir.Let) or (stmt.effect and not is_pop(self.s, stmt)) or stmt.in_place:
            return False
        for name in ir.reads(stmt):
            if name in made and made[name] in self.stay and not self.lift(made[name], made):
                return False
        ours = {n for x in [self.branch, *self.moved] for n in ir.ir_targets(x)}
        around = [self.branch, *self.moved, *self.stay[: self.stay.index(stmt)]]
        if ours.intersection(ir.reads(stmt)) or not self.passes(stmt, around):
            return False
        self.stay.remove(stmt)
        self.lifted.append(stmt)
        return True

    def passes(self, stmt: Any, others: ir.Block) -> bool:
        """True if a statement may run before others that now run before it."""
        if is_pop(self.s, stmt):
            taken = set(ir.reads(stmt))
            return not any(taken.intersection(ir.reads_inside(x)) for x in others)
        read = {root for n in ir.reads(stmt) for root in roots_of(self.s.facts[n])}
        written = set(roots_of(self.s.facts[stmt.base])) if isinstance(stmt, ir.Store) else set()
        return not any(touches(self.s, x, read, True) or touches(self.s, x, written, False) for x in others)

    # -- what comes of it

    def read_elsewhere(self, stmt: Any) -> bool:
        """True if something that is not moved reads what a statement makes, which is no sum."""
        return isinstance(stmt, ir.Let) and stmt.target not in self.sums and any(map(self.read_by_others, stmt.targets))

    def read_by_others(self, name: str) -> bool:
        return self.uses.get(name, 0) > sum(list(ir.reads(x)).count(name) for x in self.moved)

    def write(self, start: set[str]) -> None:
        """Move the statements."""
        place = self.block.index(self.branch)
        order = {stmt: k for k, stmt in enumerate(self.block)}
        before = count_uses([self.branch, *self.lifted, *self.moved])
        self.keep_together(order)
        inside = {m.target: ir.name(str(getattr(m, self.side))) for m in self.branch.merges}
        for stmt in self.moved:
            substitute_own(stmt, inside)
            if isinstance(stmt, ir.Let) and stmt.target in self.sums.keys() | self.merged:
                self.rename(stmt, inside)
        self.block[place:] = [*self.lifted, self.branch, *self.stay]
        (self.branch.then if self.side == "then" else self.branch.orelse).extend(self.moved)
        before = self.recount(before)
        forget(self.branch, {n for n in start if not self.uses[n]}, self.values)
        self.recount(before)

    def recount(self, before: dict[str, int]) -> dict[str, int]:
        """Note how often variables are read now in what there was with the counts `before`."""
        after = count_uses([*self.lifted, self.branch])
        for name in before.keys() | after.keys():
            self.uses[name] = self.uses.get(name, 0) + after.get(name, 0) - before.get(name, 0)
        return after

    def keep_together(self, order: dict[Any, int]) -> None:
        """Have what only moved statements read among them, not before the branch."""
        for stmt in reversed(self.lifted):
            if not stmt.effect and not self.read_elsewhere(stmt) and not set(stmt.targets) & set(self.sums.values()):
                self.lifted.remove(stmt)
                self.moved.append(stmt)
        self.moved.sort(key=order.__getitem__)

    def rename(self, stmt: ir.Let, inside: dict[str, Any]) -> None:
        """Give a sum a name of its own on its side."""
        target = stmt.target
        own = self.s.fresh_like(target)
        inside[target], stmt.targets = ir.name(own), (own,)
        if self.read_by_others(target):
            other = self.sums[target] if target in self.sums else self.zero(target)
            self.branch.merges.append(ir.Merge(target, *((own, other) if self.side == "then" else (other, own))))

    def zero(self, name: str) -> str:
        """A zero on the other side, of the kind that a number has."""
        facts = self.s.facts[name]
        assert isinstance(facts, Num) and facts.dtype is not None
        zero = self.s.fresh_like(name, facts)
        expr = ir.constant(0.0) if facts.python else ir.call(f"np.{facts.dtype.name}", ir.constant(0.0))
        (self.branch.orelse if self.side == "then" else self.branch.then).append(ir.Let((zero,), expr))
        self.values[zero] = expr
        return zero


def forget(branch: ir.If, names: set[str], values: dict[str, Any]) -> None:
    """Drop what a branch left for statements that are in its sides now."""
    gone = {n for m in branch.merges if m.target in names for n in (m.then, m.orelse)}
    branch.merges = [m for m in branch.merges if m.target not in names]
    for block in (branch.then, branch.orelse):
        inner = block[-1] if block else None
        passed = {n for m in branch.merges for n in (m.then, m.orelse)}
        if isinstance(inner, ir.If):
            forget(inner, {m.target for m in inner.merges} & gone - passed - set(read_in(block[:-1])), values)
        read = {*read_in(block), *passed}
        block[:] = [
            x for x in block if not (isinstance(x, ir.Let) and x.target in gone - read and is_literal_zero(x.expr))
        ]


def read_in(block: ir.Block) -> list[str]:
    return [n for stmt in block for n in ir.reads_inside(stmt)]
