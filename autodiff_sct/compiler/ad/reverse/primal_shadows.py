"""Shadows made in the forward sweep, beside the memory that they belong to.

Where several names come to stand for one array in a way that depends on the run, the shadow cannot be found from the
end of the program: it is made with the array, and each statement that gives the array a name gives its shadow one.

    a = x.copy()                      a = x.copy()
    v = a[1:] if long else a          d_a = np.zeros_like(a)
                                      if long:
                                          v = a[1:]
                                          d_v = d_a[1:]
                                      else:
                                          v, d_v = a, d_a

A list that holds such arrays has a list of their shadows beside it (`beside_lists`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ... import ir
from ...analysis.alias import reachable
from ...domain.facts import UNKNOWN, Facts, Listed, Mapped, Num, Pair
from ...domain.values import Leaf
from ...ir.builder import Role, Specialiser
from ..value_flow import joins, operands
from .primal_shadow_lists import Lists, elements, is_structural

if TYPE_CHECKING:
    from .transform import Reverse


BESIDE = ("shadows beside their arrays", "lists of these")  # the places of their memory


class Beside:
    """Writes the shadows of some regions into the forward sweep; `followed` is False where one of them cannot be."""

    def __init__(self, r: Reverse, chosen: frozenset[int]) -> None:
        self.r = r
        self.s: Specialiser = r.s
        self.shadows = r.shadows
        self.root, self.list_root = (frozenset([r.s.root(site)]) for site in BESIDE)
        r.s.put_element(Listed(self.list_root), replace(UNKNOWN, roots=self.root | self.list_root))
        self.leaving: set[str] = set()  # variables that get another name here, or a place in a list
        self.chosen = self.closure(set(chosen))
        self.followed = all(self.is_known(n) for n in r.s.facts if self.is_chosen(n))
        self.lists = Lists(self)

    def closure(self, chosen: set[int]) -> set[int]:
        """The regions with the lists that lead to them, and with what these lead to."""
        regions, before = self.r.regions, -1
        while len(chosen) != before:
            before = len(chosen)
            for root, element in list(self.s.elements.items()):
                held = {regions.find(other) for other in reachable(self.s, element)}
                if held & chosen or regions.find(root) in chosen:
                    chosen |= {regions.find(root)} | (held & regions.written)
        return chosen

    def is_chosen(self, name: str) -> bool:
        facts = self.s.facts[name]
        if isinstance(facts, Pair):
            return any(self.r.regions.find(root) in self.chosen for root in reachable(self.s, facts))
        return self.r.regions.of(name) in self.chosen

    def is_known(self, name: str) -> bool:
        """True if a variable surely is an array of floats, or a container of arrays only."""
        facts = self.s.facts[name]
        if isinstance(facts, Num):
            return facts.kind == "array" and facts.differentiable
        return all(
            not isinstance(item, Num) or self.r.regions.find(min(item.roots, default=-1)) in self.chosen
            for item in elements(self.s, facts)
        )

    def has_shadow(self, name: str | None) -> bool:
        return name is not None and self.is_chosen(name) and self.r.activity.active(name)

    def facts(self, name: str) -> Facts:
        facts = self.shadows.facts(name)
        if isinstance(facts, (Listed, Mapped)):
            return replace(facts, roots=self.list_root)
        return replace(facts, roots=self.root) if isinstance(facts, Num) else facts

    def set(self, name: str, shadow: Leaf) -> None:
        self.s.facts[shadow.name] = self.facts(name)
        if name in self.s.unbound:
            self.s.unbound.add(shadow.name)
        self.shadows.call(shadow, name)
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
        shadow = self.s.fresh_after(Role.COTANGENT, name, self.facts(name))
        self.s.named.add(shadow)
        self.set(name, Leaf(shadow))
        return shadow

    def find_leaving(self, block: ir.Block) -> None:
        """Note which views need their shadows here; all others take theirs in the reverse sweep."""
        statements = list(ir.walk(block))
        for stmt in statements:
            self.leaving |= {n for target, names in joins(stmt) if self.has_shadow(target) for n in names}
            if is_structural(stmt):
                self.leaving.update(operands(self.s, stmt))
        for stmt in reversed(statements):
            if isinstance(stmt, ir.Let) and stmt.op is not None and self.leaving.intersection(stmt.targets):
                self.leaving.update(stmt.op.shares)

    # -- statements

    def block(self, block: ir.Block) -> None:
        result: ir.Block = []
        for stmt in block:
            self.lists.before(stmt, result)
            result.append(stmt)
            with self.s.writing(result, self.s.lengths_in(block)):
                self.statement(stmt)
        block[:] = result

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Loop):
            self.loop(stmt)
            return
        for inner in ir.bodies(stmt):
            self.block(inner)
        if self.lists.takes(stmt):
            self.lists.statement(stmt)
        elif isinstance(stmt, ir.Let):
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
    if not chosen:
        return True
    pass_ = Beside(r, chosen)
    if pass_.followed:
        pass_.find_leaving(block)
        pass_.block(block)
    return pass_.followed
