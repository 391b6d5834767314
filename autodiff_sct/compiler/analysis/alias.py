"""Alias analysis: memory that variables may share, dependence on its layout, and permutations of lists.

Memory: which variables may share it, and which memory the program writes.

Places where memory is made (roots) that one variable may stand for are one *region*; two variables of one region may be
aliases.  A region is written if a statement changes memory through any variable of it.

Aliasing in loops: variables that may refer to one piece of memory, and values that are changed later.

Facts tell where memory was made, but two iterations make it at one place; so the names are followed as well: a view, a
carried value, a sum that is written where its left side was, and what a run-time helper may give back belong together.

Programs whose result depends on how the arrays that they are given lie in memory.

Whether ``x.reshape(-1)`` shows the memory of ``x`` or copies it depends on the strides of ``x``, and an argument that
the program writes is copied on entry, in C order. Where a program writes into what may be such a view, or into what
it is a view of, arguments that come in another order are refused. So they are where it asks for the layout of an
array that it writes: `np.dot` writes only into arrays in C order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...runtime import broadcast, objects
from .. import ir
from ..domain.facts import Facts, Listed, Mapped, Num, Pair
from ..domain.values import Leaf, Value
from ..ir.function import Function
from ..ir.patterns import is_pop_call

if TYPE_CHECKING:
    from ..interp.kernel.specialiser import Specialiser


@dataclass
class Regions:
    parent: dict[int, int] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)  # representatives
    facts: dict[str, Facts] = field(default_factory=dict)
    elements: dict[int, Facts] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)  # the places themselves whose memory a statement may change

    def find(self, root: int) -> int:
        while (up := self.parent.get(root, root)) != root:
            root = up
        return root

    def union(self, roots: frozenset[int]) -> None:
        first, *rest = sorted(roots)
        for other in rest:
            a, b = self.find(first), self.find(other)
            if a != b:
                self.parent[max(a, b)] = min(a, b)

    def of(self, name: str) -> int | None:
        """The region of a variable; None for what has no memory of its own, such as a float."""
        roots = self.facts[name].roots
        return self.find(min(roots)) if roots else None

    def members(self, names: Iterable[str]) -> dict[int, list[str]]:
        """The variables of each region, and the containers that lead to it."""
        found: dict[int, list[str]] = defaultdict(list)
        for name in names:
            for region in {self.find(root) for root in reachable(self, self.facts[name])}:
                found[region].append(name)
        return found

    def is_written(self, name: str) -> bool:
        region = self.of(name)
        return region is not None and region in self.written

    def is_written_inside(self, name: str) -> bool:
        """True if memory of what a list or a dict holds is written."""
        facts = self.facts[name]
        return any(self.find(root) in self.written for root in reachable(self, facts) - facts.roots)

    def written_in(self, stmt: Any) -> set[int]:
        """The regions whose memory a statement may change, without those inside it."""
        return {self.find(root) for root in self.stored_in(stmt)}

    def stored_in(self, stmt: Any) -> set[int]:
        """The places whose memory a statement may change."""
        base = written_by(stmt)
        found = set() if base is None else set(self.facts[base].roots)
        for parameter, name in written_arguments(stmt).items():
            facts, function = self.facts[name], stmt.op.fn
            found |= facts.roots if parameter in function.written_itself else set()
            found |= reachable(self, facts) - facts.roots if parameter in function.written_inside else set()
        return found


def roots_of(facts: Facts) -> frozenset[int]:
    """The places where the memory of a value may have been made."""
    return facts.roots


def reachable(s: Function | Regions, facts: Any) -> frozenset[int] | set[int]:
    """The places of all the memory that a value leads to."""
    if isinstance(facts, Num):
        return facts.roots
    found: set[int] = set()
    pending = [facts]
    while pending:
        item = pending.pop()
        if isinstance(item, Pair):
            pending += item.items
        new = set(getattr(item, "roots", ())) - found
        found |= new
        if new and isinstance(item, (Listed, Mapped)):
            pending += [s.elements[root] for root in new if root in s.elements]
    return found


def regions(
    block: ir.Block, facts: dict[str, Facts], elements: dict[int, Facts], alive: set[str] | None = None
) -> Regions:
    """The regions of a program; only variables that are `alive` make several places one, or all of them."""
    table = Regions(facts=facts, elements=elements)
    joining = facts.values() if alive is None else [facts[name] for name in alive]
    for found in [*joining, *elements.values()]:
        stack: list[Any] = [found]
        while stack:
            item = stack.pop()
            if isinstance(item, Pair):
                stack += item.items
            elif len(item.roots) > 1:
                table.union(item.roots)
    for stmt in ir.walk(block):
        table.stored |= table.stored_in(stmt)
    table.written = {table.find(root) for root in table.stored}
    return table


def regions_of_program(s: Function, block: ir.Block) -> Regions:
    """The regions of a whole program, in which a name that is never read makes no two arrays one."""
    alive = ir.defined(block).union(*(ir.defined(rec.block).union(rec.inputs) for rec in s.recursions.values()))
    return regions(block, s.facts, s.elements, alive)


def enclosing_loops(block: ir.Block, around: tuple[ir.Loop, ...] = ()) -> dict[Any, tuple[ir.Loop, ...]]:
    """The loops around each statement."""
    result: dict[Any, tuple[ir.Loop, ...]] = {}
    for stmt in block:
        result[stmt] = around
        inner = (*around, stmt) if isinstance(stmt, ir.Loop) else around
        for body in ir.bodies(stmt):
            result |= enclosing_loops(body, inner)
    return result


def written_arguments(stmt: Any) -> dict[str, str]:
    """The variables whose memory, or that of what they hold, a call of a recursive function writes, by parameter."""
    if not isinstance(stmt, ir.Let) or stmt.op is None:
        return {}
    written = getattr(stmt.op.fn, "written", None)
    if not isinstance(written, frozenset):
        return {}
    return {p: v.name for p, v in stmt.op.arguments.items() if p in written and hasattr(v, "name")}


def changed_through(stmt: Any) -> list[str]:
    """The variables through which a statement changes memory."""
    base = written_by(stmt)
    return [base] if base is not None else [*written_arguments(stmt).values()]


def written_by(stmt: Any) -> str | None:
    """The variable through which a statement writes memory."""
    if isinstance(stmt, ir.Store):
        return stmt.base
    if isinstance(stmt, ir.Effect) and stmt.kind and stmt.kind != "publish":
        return stmt.operands[0].name
    if isinstance(stmt, ir.Let) and stmt.op is not None and stmt.op.fn is list.pop:
        return stmt.op.arguments["x"].name
    return None


def every_root(s: Specialiser, facts: Facts | None, around: frozenset[int] = frozenset()) -> frozenset[int]:
    """The memory that a value and what is in it may be; `around` are the lists that it is in."""
    if isinstance(facts, Pair):
        return frozenset().union(*(every_root(s, f, around) for f in facts.items))
    if isinstance(facts, (Listed, Mapped)):
        if facts.roots and facts.roots <= around:
            raise s.refuse("too-large", "a list or a dict that holds itself", "keep what is in it apart")
        return facts.roots | every_root(s, s.elements_of(facts), around | facts.roots)
    return roots_of(facts) if facts is not None else frozenset()


GIVEN_BACK = (broadcast.unbroadcast, broadcast.spread)  # their first argument, if anything
COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant)


class Groups:
    """The variables of a loop in groups, and the places of its body at which memory is written."""

    def __init__(self, s: Function, loop: ir.Loop) -> None:
        self.s = s
        self.parent: dict[str, str] = {}
        self.made: set[str] = set()
        for stmt in ir.inside(loop):
            self.join_names(stmt)
            if isinstance(stmt, ir.Let) and not is_pop_call(stmt.expr):
                self.made.update(stmt.targets)
        self.writes = [(k, name) for k, top in enumerate(loop.body) for name in self.written([top])]
        met = [*self.parent, *(name for _, name in self.writes)]
        self.outside = {self.find(n) for n in met if n not in self.made}
        self.before = {c.phi for c in loop.carries if c.phi != c.next}  # what was made before the iteration
        self.new = self.new_in_iteration(loop.body)

    def find(self, name: str) -> str:
        while (up := self.parent.setdefault(name, name)) != name:
            name = up
        return name

    def join(self, names: list[str]) -> None:
        held = [self.find(n) for n in names if self.has_memory(n)]
        for other in held[1:]:
            self.parent[self.find(other)] = self.find(held[0])

    def has_memory(self, name: str) -> bool:
        facts = self.s.facts[name]
        return not isinstance(facts, Num) or not (facts.python or facts.kind == "npscalar")

    def join_names(self, stmt: Any) -> None:
        """Join what a statement may make one."""
        if isinstance(stmt, ir.Let):
            self.join([*stmt.targets, *self.shared(stmt)])
        elif isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                self.join([n for n in (c.phi, c.init, c.next, c.out) if n])
        elif isinstance(stmt, ir.If):
            for m in stmt.merges:
                self.join([n for n in (m.target, m.then, m.orelse) if n])
        elif not isinstance(stmt, (ir.Store, ir.Effect)):
            self.join(
                [*ir.ir_targets(stmt), *ir.reads(stmt), *(n for _, ns in getattr(stmt, "merges", []) for n in ns if n)]
            )

    def shared(self, stmt: ir.Let) -> list[str]:
        """The variables whose memory the value of an assignment may be."""
        expr = stmt.expr
        if isinstance(expr, COMPUTED):
            return [expr.left.id] if stmt.in_place and isinstance(expr.left, gast.Name) else []
        if is_pop_call(expr) or is_copy(expr):
            return []
        if isinstance(expr, gast.Call) and self.s.globals.get(getattr(expr.func, "id", "")) in GIVEN_BACK:
            return [n for n in ir.names_in(expr.args[0]) if ir.is_variable(n)]
        names = [n for n in ir.reads(stmt) if ir.is_variable(n)]
        if is_numpy(expr):
            own = roots_of(self.s.facts[stmt.target])
            return [n for n in names if roots_of(self.s.facts[n]) & own]
        return names

    def written(self, block: ir.Block) -> Iterator[str]:
        """The variables whose memory a block writes."""
        for stmt in ir.walk(block):
            if isinstance(stmt, ir.Store):
                yield stmt.base
            elif isinstance(stmt, ir.Let) and stmt.in_place and isinstance(stmt.expr.left, gast.Name):
                yield stmt.expr.left.id
            elif isinstance(stmt, (ir.Let, ir.Effect)) and self.has_effect(stmt):
                yield from ir.reads(stmt)
                yield from stmt.state_reads

    def has_effect(self, stmt: Any) -> bool:
        if isinstance(stmt, ir.Effect):
            return stmt.kind != "save"
        called = stmt.expr.func if isinstance(stmt.expr, gast.Call) else None
        if isinstance(called, gast.Name) and called.id in self.s.globals:
            return getattr(self.s.globals[called.id], "__module__", "") != broadcast.__name__
        return (stmt.effect and not is_pop_call(stmt.expr)) or bool(stmt.state_reads)

    def new_in_iteration(self, body: ir.Block) -> set[str]:
        """The variables that hold memory which the iteration itself has made, whatever they are joined with."""
        new: set[str] = set()
        for stmt in body:
            if isinstance(stmt, ir.Let) and isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)):
                left = getattr(stmt.expr, "left", None) if stmt.in_place else None
                if isinstance(self.s.facts[stmt.target], Num) and (left is None or getattr(left, "id", "") in new):
                    new.add(stmt.target)
        return new

    def stays(self, name: str, place: int) -> bool:
        """True if nothing is written, at `place` of the body or later, to what a variable holds there.

        What an iteration finds is not written where all that is written is memory that an iteration has made itself.
        """
        new, before = self.find(name) not in self.outside, name in self.before
        writes = [(k, base) for k, base in self.writes if self.may_be_one(name, base)]
        return not any((k >= place or not new) and not (before and base in self.new) for k, base in writes)

    def writes_to(self, name: str) -> bool:
        """True if any statement of the loop may write to the memory of a variable."""
        return any(self.may_be_one(name, base) for _, base in self.writes)

    def may_be_one(self, a: str, b: str) -> bool:
        """True if two variables may share memory; what an iteration makes is shared within a group only."""
        one, other = self.find(a), self.find(b)
        outside = one in self.outside and other in self.outside
        return one == other or (outside and bool(roots_of(self.s.facts[a]) & roots_of(self.s.facts[b])))


def is_copy(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "copy"


def is_numpy(expr: Any) -> bool:
    """True if an expression is a call of one of NumPy's functions, whose facts tell what its result shares."""
    func = expr.func if isinstance(expr, gast.Call) else None
    while isinstance(func, gast.Attribute):
        func = func.value
    return isinstance(func, gast.Name) and func.id == "np"


# What may be a copy instead of a view.
UNCERTAIN = {np.reshape, np.ravel, np.ascontiguousarray, np.asfortranarray, np.ndarray.astype, np.require}
LAYOUT = {"flags", "strides", "base"}
FITTING = {broadcast.unbroadcast, broadcast.spread}  # their argument itself, or sums or repetitions of it


def depends_on_layout(op: ir.Op) -> bool:
    """True if the layout of an array decides if an operation shows its memory."""
    as_it_is = op.fn is np.ndarray.astype and "order" not in op.arguments
    return op.fn in UNCERTAIN and bool(op.shares) and not as_it_is


def asks_for_layout(stmt: Any, where: Regions) -> bool:
    """True if a statement reads how an array lies in memory that the program writes."""
    parts = (part for expr in ir.expressions(stmt) for part in gast.walk(expr))
    asked = (p.value.id for p in parts if isinstance(p, gast.Attribute) and p.attr in LAYOUT and is_name(p.value))
    return any(where.is_written(name) for name in asked)


def is_name(expr: Any) -> bool:
    return isinstance(expr, gast.Name)


def needs_order(block: ir.Block, where: Regions) -> bool:
    """True if the program asks for the order of memory that it writes, or may share such memory with a view."""
    views: set[int] = set()  # the regions of those met so far
    around = enclosing_loops(block)
    for stmt in ir.walk(block):
        if not views.isdisjoint(where.written_in(stmt)) or asks_for_layout(stmt, where):
            return True
        if isinstance(stmt, ir.Let) and stmt.op is not None and depends_on_layout(stmt.op):
            region = where.of(stmt.target)
            if region in where.written and around[stmt]:  # what is written before it is written after it, too
                return True
            views |= where.written & {region}
    return False


# By the kind of the effect: a function of the list and the other operands or a method of the list, and its inverse.
MOVES: dict[str, tuple[Callable[..., None] | str, Callable[..., None] | str]] = {
    "swap": (objects.swap, objects.swap),
    "reverse": ("reverse", "reverse"),
    "permute": (objects.permute, objects.permute_back),
}


def move(s: Specialiser, kind: str, items: Leaf, *operands: Value, back: bool = False) -> Any:
    """The call that moves the items of a list, or moves them back."""
    function = MOVES[kind][back]
    if isinstance(function, str):
        return ir.call(ir.attribute(s.expr(items), function))
    return ir.call(s.bind(function.__name__, function), s.expr(items), *map(s.expr, operands))


def write_move(s: Specialiser, kind: str, items: Leaf, *operands: Value) -> None:
    """Write a statement of the program that moves items."""
    s.block.append(ir.Effect(move(s, kind, items, *operands), s.where(), kind, (items, *operands)))
