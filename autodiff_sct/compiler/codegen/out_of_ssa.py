"""Names for the emitted program, out of single assignment, and readings of names that may be unbound.

Names for the emitted program: out of single assignment.

Variables that meet at a branch or a loop get one name where their lives do not overlap, so that no copies are needed;
everything else is called after the user's variable, or after what it holds, with a number only where two are alive.

Readings of variables that some paths leave unbound, as text.

``y`` by itself raises where it is unbound.  Where the text gives it None at the beginning, it is compared with that.
"""

from __future__ import annotations

import builtins
import keyword
import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, count
from typing import Any

import gast

from .. import ir
from ..analysis.definite_assignment import sources
from ..analysis.liveness import Lives, Segment, describe, uncounted
from ..domain.facts import Listed, Mapped, Num, Opaque
from ..domain.identifiers import identifier
from ..ir.function import Function, Role
from ..ir.traversal import read_instead
from .emit import Emitter


class Stretches:
    """Segments, among which those that overlap another are found by bisection."""

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self.starts: list[float] = []
        self.ends: list[float] = []
        self.reach: list[float] = []  # the largest end so far
        self.add(segments)

    def __iter__(self) -> Iterator[Segment]:
        return zip(self.starts, self.ends)

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, segments: Iterable[Segment]) -> None:
        for start, end in segments:
            k = bisect_right(self.starts, start)
            self.starts.insert(k, start)
            self.ends.insert(k, end)
            self.reach.insert(k, end)
            for j in range(k, len(self.reach)):
                reach = max(self.ends[j], self.reach[j - 1]) if j else self.ends[j]
                if j > k and self.reach[j] == reach:
                    break
                self.reach[j] = reach

    def overlap(self, other: Stretches) -> bool:
        if len(other) > len(self):
            return other.overlap(self)
        for start, end in other:
            k = bisect_left(self.starts, end)
            if k and self.reach[k - 1] > start:
                return True
        return False


@dataclass
class Numbers:
    """The numbers of the names that one hint gave, each with the place until which it is surely taken."""

    taken: list[tuple[float, int]] = field(default_factory=list)  # a heap
    free: list[int] = field(default_factory=list)  # in order
    known: int = 0

    def free_at(self, place: float) -> Iterator[int]:
        """The numbers that may be free from a place on, which is never before those asked for so far."""
        while self.taken and self.taken[0][0] <= place:
            insort(self.free, heappop(self.taken)[1])
        yield from chain(self.free, count(self.known))

    def take(self, number: int, end: float) -> None:
        if number >= self.known:
            self.free += range(self.known, number)
            self.known = number + 1
        else:
            self.free.remove(number)
        heappush(self.taken, (end, number))


@dataclass
class Group:
    """Variables that share one name."""

    members: list[str]
    segments: Stretches
    fixed: list[str]  # the names that its members must have
    name: str | None = None
    is_seed: bool = False  # whether it is the cotangent of a result, which keeps its name
    since: float = -1  # the place of what may leave a member unbound: before it, the name stands for nothing


class Naming:
    def __init__(self, s: Function, program: ir.Block, arguments: dict[str, str]) -> None:
        self.s = s
        lives = Lives()
        lives.program(program, list(arguments))
        self.groups: dict[str, Group] = {}
        for name, segments in lives.segments.items():
            fixed = [arguments[name]] if name in arguments else []
            self.groups[name] = Group([name], Stretches(segments), fixed, is_seed=s.roles.get(name) is Role.SEED)
        statements = list(ir.walk(program))
        # Python deletes the name of an `except` at its end, so it is nobody else's.
        self.pinned = {
            bound for x in statements if isinstance(x, ir.Try) for _, bound, _ in x.handlers if bound is not None
        }
        for stmt in statements:
            for target in left_unbound(s, stmt):
                if target in self.groups:
                    self.groups[target].since = stmt.place
        for stmt in [
            *(x for x in statements if isinstance(x, ir.Let)),
            *(x for x in statements if not isinstance(x, ir.Let)),
        ]:
            self.coalesce(stmt)
        for stmt in statements:
            if isinstance(stmt, ir.Let) and stmt.in_place and self.goes_on(stmt):
                self.unite(stmt.expr.left.id, stmt.target)
        self.taken: dict[str, Stretches] = defaultdict(Stretches)
        self.numbers: dict[str, Numbers] = defaultdict(Numbers)  # those that the names of a hint have
        self.has_t = any(s.hints[name] == "t" for name in self.groups if name in s.named)
        self.reserved = set(s.globals) | set(keyword.kwlist) | set(dir(builtins))
        self.uncounted: set[str] = set() if "_" in self.reserved else uncounted(s, statements)

    def coalesce(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                for other in (c.out, c.next, c.init):
                    self.unite(c.phi, other)
        elif isinstance(stmt, ir.If):
            for m in stmt.merges:
                for other in (m.then, m.orelse):
                    self.unite(m.target, other)
        elif isinstance(stmt, ir.Try):
            for target, names in stmt.merges:
                for other in names:
                    self.unite(target, other)
        elif isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Name) and len(stmt.targets) == 1:
            self.unite(stmt.expr.id, stmt.target)

    def goes_on(self, stmt: ir.Let) -> bool:
        """True if what is computed in the memory of a variable has its name: of two names, a sum keeps both."""
        if not isinstance(stmt.expr, gast.BinOp) or not isinstance(stmt.expr.left, gast.Name):
            return False
        both = [self.groups[name] for name in (stmt.expr.left.id, stmt.target) if name in self.groups]
        names = {self.s.hints[member] for group in both for member in group.members if member in self.s.named}
        return len(names) < 2 or isinstance(stmt.expr.op, (gast.Mult, gast.Div))

    def unite(self, a: str, b: str | None) -> None:
        if b is None or a not in self.groups or b not in self.groups:
            return
        if a in self.pinned or b in self.pinned:
            return
        x, y = self.groups[a], self.groups[b]
        if x is y or x.segments.overlap(y.segments):
            return
        fixed = x.fixed + y.fixed
        if len(fixed) > 1 or x.is_seed or y.is_seed:
            return
        since = max(x.since, y.since)
        if min(x.segments.starts[0], y.segments.starts[0]) < since:
            return
        x.members += y.members
        x.fixed, x.since = fixed, since
        if len(x.segments) < len(y.segments):
            x.segments, y.segments = y.segments, x.segments
        x.segments.add(y.segments)
        for member in y.members:
            self.groups[member] = x

    def assign(self) -> dict[str, str]:
        """A Python name for each variable."""
        groups = self.ordered()
        for group in groups:
            for name in group.fixed:
                group.name = name
                self.taken[name].add(group.segments)
        for group in groups:
            if group.name is None:
                group.name = self.choose(group)
                self.taken[group.name].add(group.segments)
        return {member: group.name or "t" for member, group in self.groups.items()}

    def ordered(self) -> list[Group]:
        seen = {id(group): group for group in self.groups.values()}
        return sorted(seen.values(), key=lambda g: g.segments.starts[0])

    def choose(self, group: Group) -> str:
        if self.uncounted.issuperset(group.members):
            return "_"
        named = [m for m in group.members if m in self.s.named]
        told = [m for m in group.members if self.s.hints[m] != "t"]
        hint = self.hint_of((named or told or group.members)[0])
        first = 1 if hint == "t" and self.has_t and not named else 0  # what the user calls t comes first
        # Groups come in the order of their starts: what began before and has not ended is in the way.
        taken = self.numbers[hint]
        free = (k for k in taken.free_at(group.segments.starts[0]) if k >= first)
        chosen = next(k for k in free if self.is_free(numbered(hint, k), group))
        taken.take(chosen, group.segments.ends[0])
        return numbered(hint, chosen)

    def hint_of(self, name: str) -> str:
        """The name of a variable's origin, as an identifier."""
        return identifier(re.sub("__+", "_", self.s.hints[name].lstrip("_")))

    def is_free(self, name: str, group: Group) -> bool:
        taken = self.taken[name]
        return name not in self.reserved and not (taken.overlap(group.segments) or group.since >= 0 and len(taken))


def left_unbound(s: Function, stmt: Any) -> list[str]:
    """The variables that one of the paths through a statement leaves unbound."""
    found = [(target, names) for target, names in sources(stmt) if target in s.unbound]
    return [target for target, names in found if None in names]


def numbered(hint: str, k: int) -> str:
    """``x``, ``x2``, ``x3`` and so on."""
    return hint if k == 0 else f"{hint}{'_' if hint[-1].isdigit() else ''}{k + 1}"


def temporary_hints(s: Function, program: ir.Block) -> None:
    """Name temporaries after what they hold: ``sin_x`` for ``np.sin(x)``."""
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Let) and stmt.target not in s.named and s.hints[stmt.target] in ("t", "item"):
            found = describe(s, stmt.expr)
            if found is not None:
                s.hints[stmt.target] = found


def name_variables(s: Function, program: ir.Block, arguments: dict[str, str]) -> dict[str, str]:
    """Python names for the variables of a program; `arguments` are fixed."""
    temporary_hints(s, program)
    return Naming(s, program, arguments).assign()


def read_exit_values(program: ir.Block) -> None:
    """Read the variable of a loop after it under its own name.

    ::

        for i2 in range(n):                  for i in range(n):
            ...                                  ...
            i = i2                   ->      y = x[i]
        y = x[i]

    Rewrite a program that is one function, in place.
    """
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop) and stmt.index is not None]
    found = [(loop, c) for loop in loops for c in loop.carries if c.init is None and c.next == loop.index]
    if not found:
        return
    used = Counter(name for stmt in ir.walk(program) for name in ir.uses(stmt))
    names: dict[str, str] = {}
    for loop, carry in found:
        if not used[carry.phi]:
            loop.carries.remove(carry)
            names[carry.out] = str(loop.index)
    for stmt in ir.walk(program) if names else []:
        read_instead(stmt, names)


BLOCKS = ("body", "orelse", "handlers", "finalbody")


def with_checks(emitter: Emitter, body: list[Any], none: set[str]) -> list[Any]:
    """The statements of `body`, before which the names in `none` are given None."""
    none = set(none)
    while found := {target for target, source in emitter.moves if source in none} - none:
        none |= found
    return checked(emitter.s, body, none)


def checked(s: Function, body: list[Any], none: set[str]) -> list[Any]:
    """The statements of `body`, in which the names in `none` stand for None where they are unbound."""
    result = []
    for node in body:
        for part in BLOCKS:
            if isinstance(getattr(node, part, None), list):
                setattr(node, part, checked(s, getattr(node, part), none))
        reading = getattr(node, "reading", None)
        if reading is not None and node.value.id in none and is_never_none(s, reading):
            result.append(check(s, node.value.id, reading))
        elif reading is None or not node.repeated:
            result.append(node)
    return result


def is_never_none(s: Function, variable: str) -> bool:
    """True if a variable that is bound is surely not None."""
    facts = s.facts[variable]
    if isinstance(facts, Opaque):
        return facts.cls not in (None, type(None))
    return isinstance(facts, (Listed, Mapped)) or (isinstance(facts, Num) and facts.unless_none is None)


def check(s: Function, text: str, variable: str) -> Any:
    """``if y is None: raise UnboundLocalError(...)``."""
    test = gast.Compare(ir.name(text), [gast.Is()], [ir.constant(None)])
    message = f"cannot access local variable {s.hints[variable]!r} where it is not associated with a value"
    return gast.If(test, [gast.Raise(ir.call("UnboundLocalError", ir.constant(message)), None)], [])


def targets(assignments: list[Any]) -> set[str]:
    """The names that statements of the form ``y = None`` assign."""
    return {node.targets[0].id for node in assignments}
