"""Ownership: the variables that may hold a piece of memory, and arrays that each step of a loop allocates anew.

Ownership: the variables that may hold a piece of memory in the reverse sweep, and until when.

Facts tell which variables share memory by the places where it was made.  Cotangents need more care: what a run-time
helper gives back may be what it was given, and what is computed in place has the memory of before.  So variables form
*groups*: whatever may share memory is in one group.  Memory is *own* where only operations of the
reverse sweep can have made it, and *free* after a statement where nothing of its group is read any more.

Memory that a loop makes anew in each step: what is written into it was nobody's before.

::

    for _ in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] * u[:-2])
        u = new

`u` and `new` are one region of memory, and it is written; but no write meets an array that `u` has been, for each is of
an array that was made after it in the same step.  So `u` still holds in the reverse sweep what was read of it, and what
is overwritten of `new` need not be put back.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gast

from ...rules.table import NONDIFFERENTIABLE, TABLE
from ...runtime import broadcast, scatter
from .. import ir
from ..domain.facts import Listed, Mapped, Num, Pair, is_same
from ..ir.function import Function
from .alias import Regions, enclosing_loops, reachable, roots_of, written_by
from .liveness import Lives

NEW = {
    "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "array", "copy",
    "where", "exp", "log", "sin", "cos", "tanh", "sqrt", "multiply", "add", "subtract", "divide", "negative", "outer",
    "dot", "matmul", "maximum", "minimum", "sum", "roll",
}  # fmt: skip
COMMUTATIVE = (gast.Add, gast.Mult)
VIEWS = {
    "reshape",
    "transpose",
    "swapaxes",
    "squeeze",
    "expand_dims",
    "ravel",
    "broadcast_to",
    "moveaxis",
    "flip",
    "T",
    "real",
}
IN_PLACE = (*COMMUTATIVE, gast.Sub, gast.Div)  # the operations whose result is put where an operand was
COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant, gast.JoinedStr)
GIVEN_BACK = (broadcast.unbroadcast, broadcast.spread)  # their first argument, if anything


@dataclass
class Group:
    """Variables that may share memory, and the places at which they are made and are read last, each in order."""

    names: list[str]
    starts: list[float]
    ends: list[float]

    def add(self, other: Group) -> None:
        self.names += other.names
        for start in other.starts:
            insort(self.starts, start)
        for end in other.ends:
            insort(self.ends, end)

    def held_after(self, place: float) -> int:
        """The number of stretches that begin up to a place and end after it."""
        return bisect_right(self.starts, place) - bisect_right(self.ends, place)


class Sharing:
    """The groups of some variables of a program that may share memory."""

    def __init__(self, s: Function, program: ir.Block, names: Iterable[str]) -> None:
        self.s = s
        self.groups: dict[str, Group] = {}
        statements = ir.walk(program)
        told = {stmt.target for stmt in statements if isinstance(stmt, ir.Let) and self.tells(stmt)}
        self.join_roots(name for name in names if name not in told)
        for stmt in statements:
            self.join(stmt)

    def makes(self, stmt: ir.Let) -> bool:
        """True if a statement surely makes new memory for its only target."""
        if len(stmt.targets) != 1 or stmt.in_place or not isinstance(self.s.facts[stmt.target], Num):
            return False
        return isinstance(stmt.expr, COMPUTED) or is_new(stmt.expr)

    def tells(self, stmt: ir.Let) -> bool:
        """True if a statement itself shows whose memory its target shares: nobody's, or that of which it is a part."""
        part = isinstance(stmt.expr, (gast.Subscript, gast.Attribute)) or stmt.in_place
        return self.makes(stmt) or (part and len(stmt.targets) == 1)

    def join_roots(self, names: Iterable[str]) -> None:
        """Unite what may be memory of one place."""
        first: dict[int, str] = {}
        for name in names:
            for root in self.reached(name):
                self.unite(first.setdefault(root, name), name)

    def reached(self, name: str) -> frozenset[int]:
        facts = self.s.facts[name]
        return frozenset(reachable(self.s, facts)) if isinstance(facts, (Listed, Mapped, Pair)) else roots_of(facts)

    def join(self, stmt: Any) -> None:
        """Unite the variables that share memory after a statement."""
        if isinstance(stmt, ir.Let):
            holders = [n for n in stmt.targets if not is_number(self.s.facts[n])]
            if holders or stmt.effect:  # what becomes a number keeps nothing of what it was computed from
                self.unite(*holders, *([] if self.makes(stmt) else self.may_be(self.base(stmt))))
        elif isinstance(stmt, ir.Effect):
            if not self.adds_numbers(stmt.expr):
                self.unite(*(n for n in ir.reads(stmt) if ir.is_variable(n)))
        elif isinstance(stmt, ir.Store) and not isinstance(self.s.facts[stmt.base], Num):
            self.unite(*ir.reads(stmt))
        elif isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                self.unite(*(n for n in (c.phi, c.init, c.next, c.out) if n))
            if stmt.kind == "iter" and stmt.index is not None:
                self.unite(stmt.index, *(n for n in ir.reads(stmt) if ir.is_variable(n)))
        elif isinstance(stmt, ir.If):
            for m in stmt.merges:
                self.unite(*(n for n in (m.target, m.then, m.orelse) if n))
        elif isinstance(stmt, ir.Try):
            for target, names in stmt.merges:
                self.unite(target, *(n for n in names if n))

    def base(self, stmt: ir.Let) -> Any:
        """The expression of a statement, or the variable in whose memory it may be computed: a number has none."""
        found = changed(stmt)
        number = isinstance(found, gast.Name) and ir.is_variable(found.id) and is_number(self.s.facts[found.id])
        return stmt.expr if number else found

    def adds_numbers(self, expr: Any) -> bool:
        """True if an expression adds numbers to those of an array, which keeps none of the arrays that they are in."""
        if not isinstance(expr, gast.Call) or self.s.globals.get(getattr(expr.func, "id", "")) is not scatter.add_at:
            return False
        return isinstance(expr.args[0], gast.Name) and isinstance(self.s.facts[expr.args[0].id], Num)

    def may_be(self, expr: Any) -> list[str]:
        """The variables with which the value of an expression may share memory."""
        if is_new(expr) or (isinstance(expr, COMPUTED) and not self.of_lists(expr)):
            return []
        if isinstance(expr, gast.Name):
            return [expr.id] if ir.is_variable(expr.id) else []
        if isinstance(expr, gast.Call) and self.s.globals.get(getattr(expr.func, "id", "")) in GIVEN_BACK:
            return self.may_be(expr.args[0])
        return [n for part in ir.children(expr) for n in self.may_be(part)]

    def of_lists(self, expr: Any) -> bool:
        """True if an operation may be one of lists, whose items the result holds as well."""
        return any(ir.is_variable(n) and not isinstance(self.s.facts[n], Num) for n in ir.names_in(expr))

    def unite(self, *names: str) -> None:
        holding = [name for name in names if not is_number(self.s.facts[name])]
        for name in holding[1:]:
            small, large = sorted((self.group_of(holding[0]), self.group_of(name)), key=lambda g: len(g.names))
            if small is not large:
                large.add(small)
                self.groups |= dict.fromkeys(small.names, large)

    def group_of(self, name: str) -> Group:
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = Group([name], [], [])
        return group

    def may_share(self, a: str, b: str) -> bool:
        return a == b or self.group_of(a) is self.group_of(b)


class Memory(Sharing):
    """The groups of a program's variables, and the stretches in which they are read."""

    def __init__(self, s: Function, program: ir.Block, back: ir.Block) -> None:
        lives = Lives()
        lives.program(program, [])
        self.segments = lives.segments
        super().__init__(s, program, self.segments)
        self.sources: dict[str, list[Any]] = defaultdict(list)  # what a variable of the reverse sweep may be
        self.own: set[str] = set()  # variables that are known to hold own memory always
        self.others: set[str] = set()  # those that are known not to
        self.carried: dict[str, ir.Loop] = {}  # variable that a loop of the reverse sweep carries -> the loop
        for stmt in ir.walk(back):
            self.note(stmt)

    def goes_on(self, name: str, stmt: ir.Let) -> None:
        """Note that a statement has become one that goes on with the memory of a variable."""
        self.unite(name, stmt.target)
        stays = self.is_own(name) and self.is_own(stmt.target)
        self.sources[stmt.target] = [ir.name(name)]
        if not stays:
            self.others.clear()
            self.own.clear()

    def group_of(self, name: str) -> Group:
        group = self.groups.get(name)
        if group is None:
            stretches = [(start, end) for start, end in self.segments[name] if start < end]
            group = Group([name], sorted(start for start, _ in stretches), sorted(end for _, end in stretches))
            self.groups[name] = group
        return group

    # -- questions

    def is_free(self, name: str, stmt: Any) -> bool:
        """True if a variable holds own memory that nothing reads after a statement but what that makes."""
        if not self.is_own(name):
            return False
        group, made = self.group_of(name), self.group_of(stmt.target) is self.group_of(name)
        own = self.is_held_after(stmt.target, stmt.place) if made else 0
        if group.held_after(stmt.place) == own:
            return True
        others = [n for n in group.names if n != stmt.target and self.is_held_after(n, stmt.place)]
        return all(self.are_apart(name, other) for other in others)

    def is_held_after(self, name: str, place: float) -> int:
        """The number of a variable's stretches that hold it after a place."""
        return sum(start <= place < end for start, end in self.segments[name])

    def are_apart(self, a: str, b: str) -> bool:
        """True if two variables are, in a step or after the last one, what one loop carries and keeps apart."""
        one, other = self.origin(a), self.origin(b)
        loop = self.carried.get(one or "")
        if loop is None or one == other or not self.keeps_apart(loop, a):
            return False
        return any({one, other} <= names for names in ({c.phi for c in loop.carries}, {c.out for c in loop.carries}))

    def keeps_apart(self, loop: ir.Loop, name: str) -> bool:
        """True if the arrays of a group that a loop carries are different ones at first and after each step.

        So they are where each step hands on any of them under one name, as in ``u, v = v, u``, or makes a new one.
        """
        carries = [c for c in loop.carries if self.may_share(c.out, name)]
        inits, nexts = [self.origin(c.init or "") for c in carries], [self.origin(c.next or "") for c in carries]
        made_there = {n for stmt in ir.walk(loop.body) if isinstance(stmt, ir.Let) for n in stmt.targets}
        phis = {c.phi for c in carries}
        known = all(n is not None and n not in self.carried for n in inits)
        handed_on = all(n in phis or n in made_there for n in nexts)
        return known and handed_on and len({*inits}) == len({*nexts}) == len(carries)

    def origin(self, name: str) -> str | None:
        """The variable that was given, by a statement or a loop, the memory that a variable holds; None if unknown."""
        while name not in self.carried:
            sources = self.sources.get(name, [])
            if len(sources) != 1 or sources[0] is None:
                return None
            if not isinstance(sources[0], gast.Name):
                return name if is_made(sources[0]) else None
            name = sources[0].id
        return name

    def note(self, stmt: Any) -> None:
        """Note where the memory of a variable of the reverse sweep comes from."""
        if isinstance(stmt, ir.Let) and len(stmt.targets) == 1:
            self.sources[stmt.target].append(self.base(stmt))
        elif isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                self.sources[c.phi] += [c.init, c.next]
                self.sources[c.out].append(c.phi)
                self.carried |= {c.phi: stmt, c.out: stmt}
        elif isinstance(stmt, ir.If):
            for m in stmt.merges:
                self.sources[m.target] += [m.then, m.orelse]

    def comes_from_own(self, source: Any) -> bool:
        """True if memory is that of a new result, or of a variable that always holds own memory."""
        return self.is_own(source.id) if isinstance(source, gast.Name) else is_made(source)

    def is_own(self, name: str) -> bool:
        """True if a variable always holds memory that an operation of the reverse sweep has made."""
        asked, seen, pending = name, {name}, [] if name in self.own else [name]
        while pending:
            name = pending.pop()
            sources = [] if name in self.others else self.sources.get(name, [])
            inner = {source.id if isinstance(source, gast.Name) else source for source in sources if is_named(source)}
            known = isinstance(self.s.facts.get(name), Num) and bool(sources)
            if not known or not all(is_named(source) or is_made(source) for source in sources):
                self.others |= {asked, name}
                return False
            pending += inner - seen - self.own
            seen |= inner
        self.own |= seen
        return True


def is_named(source: Any) -> bool:
    """True if memory comes from a variable."""
    return isinstance(source, (str, gast.Name))


def is_made(source: Any) -> bool:
    """True if memory is that of a new result."""
    return isinstance(source, (gast.BinOp, gast.UnaryOp)) or is_new(source)


def is_alike(s: Function, old: str, new: str) -> bool:
    """True if two arrays surely have one shape and one dtype."""
    a, b = s.facts[old], s.facts[new]
    if not isinstance(a, Num) or not isinstance(b, Num) or a.kind != "array" or b.kind != "array":
        return False
    if (
        a.dtype is None
        or not is_same(a.dtype, b.dtype)
        or a.dtype.kind not in "fc"
        or a.tensor != b.tensor
        or not a.ndim
    ):
        return False
    if old in s.fits and s.fits[old] == s.fits.get(new):
        return True
    return s.same_lengths(a.dims, b.dims, s.where_made(old, new))


def is_number(facts: Any) -> bool:
    """True if a variable holds a number, which is no memory to share."""
    return isinstance(facts, Num) and facts.dims == () and (facts.python or facts.kind == "npscalar")


def changed(stmt: ir.Let) -> Any:
    """The expression of a statement, or the variable in whose memory it may be computed."""
    expr = stmt.expr
    while stmt.in_place and isinstance(expr, gast.BinOp):
        expr = expr.left
    return expr


def is_new(expr: Any) -> bool:
    """True if an expression is a call that makes its result anew."""
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr in NEW


class Generations:
    """The statements of a program that make memory, and those that bind variables and write."""

    def __init__(self, s: Function, where: Regions, block: ir.Block) -> None:
        self.s, self.where = s, where
        self.around = enclosing_loops(block)
        self.order: dict[Any, int] = {}  # statement -> its place
        self.makers: dict[str, Any] = {}  # variable -> the statement that binds it
        self.writes: dict[int | None, list[Any]] = {}  # region -> the statements that write it
        for place, stmt in enumerate(ir.walk(block)):
            self.order[stmt] = place
            for name in ir.ir_targets(stmt):
                self.makers[name] = stmt
            for region in where.written_in(stmt):
                self.writes.setdefault(region, []).append(stmt)
        self.steady: dict[str, bool] = {}  # what `is_steady` has told
        self.origins: dict[Any, ir.Let | None] = {}  # what `made_by` has told

    def is_steady(self, name: str) -> bool:
        """True if nothing is written into the memory of a variable from where it is bound on."""
        if not self.where.is_written(name):
            return True
        if name not in self.steady:
            self.steady[name] = all(self.is_apart(name, write) for write in self.writes[self.where.of(name)])
        return self.steady[name]

    def stays(self, name: str, reader: Any) -> bool:
        """True if nothing is written any more into the memory of a variable from where a statement reads it on."""
        if self.is_steady(name):
            return True
        writes = self.writes.get(self.where.of(name), ())
        return all(self.is_over(write, reader) or self.is_apart(name, write) for write in writes)

    def is_over(self, write: Any, reader: Any) -> bool:
        """True if a statement has run for the last time when another one runs."""
        if reader not in self.order or self.order[write] >= self.order[reader]:
            return False
        return not any(loop in self.around[reader] for loop in self.around[write])

    def is_apart(self, name: str, write: Any) -> bool:
        """True if a variable never has the memory that a statement writes, where it is bound before that.

        So it is where the memory was made after the variable was bound, or the variable has memory of its own, or a
        part of another's that is apart.
        """
        if write not in self.origins:
            self.origins[write] = self.made_by(write)
        made, bound = self.origins[write], self.makers.get(name)
        if made is None or bound is None:
            return False
        deeper = self.around[write][len(self.around[made]) :]  # these run many times after the memory was made
        between = self.order[made] <= self.order[bound] < self.order[write]
        if not between and not any(loop is bound or loop in self.around[bound] for loop in deeper):
            return True
        sources = self.sources(bound)
        return bound is not made and sources is not None and all(self.is_apart(n, write) for n in sources)

    def made_by(self, write: Any) -> ir.Let | None:
        """The statement that makes what another one writes, earlier in the same steps of the loops around it."""
        name = written_by(write) if isinstance(write, (ir.Store, ir.Effect)) else None
        while name is not None:
            stmt = self.makers.get(name)
            sources = self.sources(stmt)
            if sources is None or self.around[stmt] != self.around[write][: len(self.around[stmt])]:
                return None
            if not sources:
                return stmt  # type: ignore[no-any-return]
            name = sources[0] if len(sources) == 1 else None
        return None

    def sources(self, stmt: Any) -> tuple[str, ...] | None:
        """The arrays whose memory a statement may give its variable, if it makes none; None where that is not known."""
        if (
            not isinstance(stmt, ir.Let)
            or stmt.op is None
            or not (stmt.op.fn in TABLE or stmt.op.fn in NONDIFFERENTIABLE)
        ):
            return None
        return stmt.op.shares if all(isinstance(self.s.facts[n], Num) for n in ir.reads(stmt)) else None


def shows_memory(expr: Any) -> bool:
    """True if an expression may be another name of an array, or a view of it."""
    if isinstance(expr, gast.Call):
        return isinstance(expr.func, gast.Attribute) and expr.func.attr in VIEWS
    return isinstance(expr, (gast.Name, gast.Subscript)) or (isinstance(expr, gast.Attribute) and expr.attr in VIEWS)


def with_own_memory(s: Function, name: str, before: Any, expr: Any) -> Any:
    """Another expression for a variable: a copy where it is only a view, and the variable has memory of its own."""
    facts = s.facts[name]
    if is_number(facts) or not shows_memory(expr) or shows_memory(before):
        return expr
    is_array = isinstance(facts, Num) and facts.kind == "array"
    return ir.call(ir.attribute(expr, "copy")) if is_array else before
