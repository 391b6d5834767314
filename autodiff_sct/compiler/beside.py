"""Shadows made in the forward sweep, beside the memory that they belong to.

Where several names come to stand for one array in a way that depends on the run, the shadow cannot be found from the end
of the program: it is made with the array, and each statement that gives the array a name gives its shadow one.

    a = x.copy()                      a = x.copy()
    v = a[1:] if long else a          d_a = np.zeros_like(a)
                                      if long:
                                          v = a[1:]
                                          d_v = d_a[1:]
                                      else:
                                          v, d_v = a, d_a
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import ir
from .activity import joins
from .facts import Facts, Num
from .specialise.state import Specialiser
from .specialise.values import Leaf

if TYPE_CHECKING:
    from .reverse import Reverse


class Beside:
    """Writes the shadows of some regions into the forward sweep; `followed` is False where one of them cannot be."""

    def __init__(self, r: Reverse, chosen: frozenset[int]) -> None:
        self.r, self.chosen = r, chosen
        self.s: Specialiser = r.s
        self.shadows = r.shadows
        self.root = frozenset([r.s.root("beside")])
        self.leaving: set[str] = set()  # variables that get another name where a branch or a loop ends
        self.followed = all(self.is_array(n) for n in r.s.facts if r.regions.of(n) in chosen)

    def is_array(self, name: str) -> bool:
        facts = self.s.facts[name]
        return isinstance(facts, Num) and facts.kind == "array" and facts.differentiable

    def has_shadow(self, name: str | None) -> bool:
        return name is not None and self.r.regions.of(name) in self.chosen and self.r.activity.active(name)

    def facts(self, name: str) -> Facts:
        facts = self.shadows.facts(name)
        return replace(facts, roots=self.root) if isinstance(facts, Num) else facts

    def set(self, name: str, shadow: Leaf) -> None:
        self.s.facts[shadow.name] = self.facts(name)
        if name in self.s.unbound:
            self.s.unbound.add(shadow.name)
        self.shadows.table[name] = shadow
        self.shadows.beside.add(name)

    def of(self, name: str | None) -> str | None:
        if name is None:
            return None
        if name not in self.shadows.table:
            self.followed = False
            return None
        return self.shadows.table[name].name

    def joined(self, name: str) -> str:
        """The shadow of a variable that a branch or a loop leaves behind."""
        shadow = self.s.fresh(f"d_{self.s.hints[name]}", self.facts(name))
        self.s.named.add(shadow)
        self.set(name, Leaf(shadow))
        return shadow

    def find_leaving(self, block: ir.Block) -> None:
        """Note which views need their shadows here; all others take theirs in the reverse sweep."""
        for stmt in reversed(list(ir.walk(block))):
            self.leaving |= {n for target, names in joins(stmt) if self.has_shadow(target) for n in names}
            if isinstance(stmt, ir.Let) and stmt.op is not None and self.leaving.intersection(stmt.targets):
                self.leaving.update(stmt.op.shares)

    # -- statements

    def block(self, block: ir.Block) -> None:
        result: ir.Block = []
        for stmt in block:
            result.append(stmt)
            with self.s.writing(result):
                self.statement(stmt)
        block[:] = result

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Loop):
            self.loop(stmt)
            return
        for inner in ir.bodies(stmt):
            self.block(inner)
        if isinstance(stmt, ir.Let):
            self.let(stmt)
        elif isinstance(stmt, ir.If):
            for m in [m for m in stmt.merges if self.has_shadow(m.target)]:
                names = self.of(m.then), self.of(m.orelse)
                stmt.merges.append(ir.Merge(self.joined(m.target), *names))
        elif isinstance(stmt, ir.Try):
            for target, sources in [m for m in stmt.merges if self.has_shadow(m[0])]:
                shadows = [self.of(n) for n in sources]
                stmt.merges.append((self.joined(target), shadows))

    def let(self, stmt: ir.Let) -> None:
        targets = [t for t in stmt.targets if self.has_shadow(t)]
        if not targets:
            return
        if not self.shadows.is_view(stmt):
            for target in targets:
                self.set(target, self.shadows.fresh(target))
        elif not self.leaving.intersection(targets):
            return
        elif stmt.op is None or not stmt.op.shares or self.of(stmt.op.shares[0]) is None:
            self.followed = False
        elif len(stmt.targets) > 1:
            self.shadows.several_views(stmt)
            for target in targets:
                self.set(target, self.shadows.table[target])
        else:
            self.view(stmt)

    def view(self, stmt: ir.Let) -> None:
        """The same view of the shadow, as cheap to take again as the view itself."""
        s = self.s
        self.set(stmt.target, self.shadows.view(stmt, stmt.target))
        made = s.block[-1]
        assert isinstance(made, ir.Let) and stmt.op is not None
        if stmt not in self.shadows.uncertain:
            base = stmt.op.shares[0]
            shadow = self.shadows.of(base)
            arguments = {p: shadow if v == Leaf(base) else v for p, v in stmt.op.arguments.items()}
            made.op = ir.Op(stmt.op.fn, arguments, shares=(shadow.name,))

    def loop(self, stmt: ir.Loop) -> None:
        carries = [c for c in stmt.carries if self.has_shadow(c.phi)]
        inits = [self.of(c.init) for c in carries]
        added = [ir.Carry(self.joined(c.phi), init, None, self.joined(c.out)) for c, init in zip(carries, inits)]
        for inner in ir.bodies(stmt):
            self.block(inner)
        for c, carry in zip(carries, added):
            carry.next = self.of(c.next)
        stmt.carries += added


def beside(r: Reverse, block: ir.Block, chosen: frozenset[int]) -> bool:
    """Make the shadows of the chosen regions in the forward sweep; whether all of them could be."""
    pass_ = Beside(r, chosen)
    if pass_.followed:
        pass_.find_leaving(block)
        pass_.block(block)
    return pass_.followed
