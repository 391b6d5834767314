"""Products that a loop adds up are one product for many steps, of their factors side by side.

::

    for i in range(len(x) - 1, -1, -1):       for i in range(len(x) - 1, -1, -1):
        ...                                       ...
        d_b += d_z                                all_d_z.append(d_z)
        d_w += np.outer(d_z, x[i])     ->         all_h.append(h)
        d_v += np.outer(d_z, h)                   if len(all_d_z) == 32 or i == 0:
                                                      d_z = np.array(all_d_z)
                                                      d_b += d_z.sum(axis=0)
                                                      d_w += d_z.T @ x[i:i + len(all_d_z)][::-1]
                                                      d_v += d_z.T @ np.array(all_h)
                                                      all_d_z.clear()
                                                      all_h.clear()

The sum of outer products is the product of two matrices of which the factors are the rows.  It rounds differently,
which a cotangent may, and passes over the sum once instead of many times.  A product of the factors of all steps would
be no faster, and keep them all.  Products of matrices are added one by one: to copy their factors side by side costs
what the longer product saves.

- The sum may not be read in the loop, and no factor may be changed after it was added: both are kept, not copied.
- In a loop that takes nothing of as many axes from the lists of the forward sweep, what is kept would be the most that
  the loop holds, and nothing is done.
- A sum of factors alone is gathered where the factors are kept for a product anyway; else adding is as fast.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ... import ir
from ...ad.reverse.loops import minus
from ...analysis.alias import Groups
from ...analysis.liveness import count_uses
from ...analysis.remarks import note
from ...domain.facts import Listed, Num
from ...ir.function import Function
from ...ir.patterns import is_pop_call, numpy_name
from ...ir.traversal import followed, read_instead

BACKWARDS = gast.Slice(None, None, ir.constant(-1))


def batch_rank1_updates(s: Function, block: ir.Block) -> None:
    """Rewrite the loops of a block of the reverse sweep and of the blocks inside it, in place."""
    if not any(isinstance(stmt, ir.Loop) for stmt in ir.adjoint_walk(block)):
        return
    renamed: dict[str, str] = {}
    gather_in(s, block, count_uses(block), renamed)
    if renamed:
        names = followed(renamed)
        for stmt in ir.walk(block):
            read_instead(stmt, names)
        drop_unread(block, count_uses(block))


def gather_in(s: Function, block: ir.Block, uses: dict[str, int], renamed: dict[str, str]) -> None:
    for stmt in list(block):
        for inner in ir.adjoint_bodies(stmt):
            gather_in(s, inner, uses, renamed)
        if isinstance(stmt, ir.Loop) and not stmt.again:
            block[:0] = Gathering(s, stmt, uses, renamed).rewrite()  # where lists are printed


def drop_unread(block: ir.Block, uses: dict[str, int]) -> None:
    """Drop the items and the transposes that were read for a product only."""
    block[:] = [x for x in block if not (isinstance(x, ir.Let) and is_view(x.expr) and not uses.get(x.target))]
    for stmt in block:
        for inner in ir.bodies(stmt):
            drop_unread(inner, uses)


def is_view(expr: Any) -> bool:
    return is_item(expr) or is_transpose(expr)


def is_item(expr: Any) -> bool:
    return isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name) and isinstance(expr.slice, gast.Name)


@dataclass(frozen=True)
class Factor:
    """A kept variable as it stands in a term; its values are columns where it is `turned`, and rows elsewhere."""

    name: str
    turned: bool = False


@dataclass
class Term:
    """A term that a loop adds to a sum: the outer product of two factors, or one factor."""

    stmt: ir.Let  # the addition
    makers: list[ir.Let]  # what computes the term, and nothing else
    factors: list[Factor]
    negative: bool = False  # it is subtracted


@dataclass
class Gathering:
    """A loop whose sums are taken apart."""

    s: Function
    loop: ir.Loop
    uses: dict[str, int]
    renamed: dict[str, str]
    makers: dict[str, ir.Let] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    groups: Groups | None = None

    def rewrite(self) -> ir.Block:
        """The statements before the loop, which is changed in place."""
        body, last = self.loop.body, last_index(self.loop)
        self.makers = {stmt.target: stmt for stmt in body if isinstance(stmt, ir.Let) and len(stmt.targets) == 1}
        terms = self.terms() if (most := self.popped_axes()) is not None else []
        if terms:
            self.groups, places = Groups(self.s, self.loop), {stmt: k for k, stmt in enumerate(body)}
            terms = [t for t in terms if all(self.may_keep(f, most or 0) for f in t.factors)]
            terms = [t for t in terms if all(self.groups.stays(f.name, places[t.stmt]) for f in t.factors)]
        products = {f.name for t in terms if len(t.factors) == 2 for f in t.factors}
        terms = [
            t for t in terms if t.factors[0].name in products and any(self.whole(f.name) is None for f in t.factors)
        ]
        for term in terms:
            self.take_out(term)
        if terms:
            body.append(self.many_steps(terms, last))
        self.drop_carries()
        return [self.empty(name) for name in self.lists.values()]

    def empty(self, kept: str) -> ir.Let:
        made = ir.Let((kept,), gast.List([], gast.Load()))
        made.saves = True
        return made

    # -- what the loop adds

    def popped_axes(self) -> int | None:
        """The most axes that anything has which the loop takes from what the forward sweep has saved, if it does."""
        popped = [name for name, stmt in self.makers.items() if is_pop_call(stmt.expr)]
        return max((self.axes(name) for name in popped), default=None)

    def axes(self, name: str) -> int:
        """The known number of axes of an array; 0 for no array."""
        facts = self.s.facts[name]
        return facts.ndim or 0 if isinstance(facts, Num) and facts.kind == "array" else 0

    def terms(self) -> list[Term]:
        """The terms of the sums that the loop does not read."""
        added = [stmt for c in self.loop.carries for stmt in self.chain(c)]
        return [t for stmt in added if (t := self.term(stmt, stmt.expr.right.id, [])) is not None]

    def chain(self, c: ir.Carry) -> list[ir.Let]:
        """The additions that make up a sum; none if the loop does anything else with it."""
        found: list[ir.Let] = []
        name = c.next
        while name != c.phi:
            stmt = self.makers.get(name or "")
            if stmt is None or self.uses.get(stmt.target) != 1 or not is_growing_sum(stmt):
                return []
            found.append(stmt)
            name = stmt.expr.left.id
        return found[::-1] if c.init is not None and self.uses.get(c.phi) == 1 else []

    def term(self, stmt: ir.Let, name: str, makers: list[ir.Let]) -> Term | None:
        """The factors of what a statement adds."""
        maker = self.makers.get(name)
        if maker is None or self.uses.get(name) != 1 or maker.effect:
            return Term(stmt, [], [Factor(name)]) if self.axes(name) == 1 else None
        makers = [*makers, maker]
        if isinstance(maker.expr, gast.UnaryOp) and isinstance(maker.expr.operand, gast.Name):
            inner = self.term(stmt, maker.expr.operand.id, makers) if isinstance(maker.expr.op, gast.USub) else None
            if inner is not None and len(inner.factors) == 2:
                return replace(inner, negative=not inner.negative)
        factors = self.factors(maker.expr)
        if factors is not None:
            return Term(stmt, makers, factors)
        if not is_transpose(maker.expr) or self.axes(name) != 2:
            return Term(stmt, [], [Factor(name)]) if self.axes(name) == 1 else None
        inner = self.term(stmt, maker.expr.value.id, makers)
        if inner is None or len(inner.factors) != 2:
            return None
        return replace(inner, factors=[Factor(f.name, not f.turned) for f in reversed(inner.factors)])

    def factors(self, expr: Any) -> list[Factor] | None:
        """The factors of an outer product, or of a vector with a factor in front."""
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult):
            return self.scaled_row(expr.left, expr.right) or self.scaled_row(expr.right, expr.left)
        name = numpy_name(expr) if isinstance(expr, gast.Call) else None
        operands = [a.id for a in expr.args if isinstance(a, gast.Name)] if name == "outer" else []
        return [Factor(operands[0], True), Factor(operands[1])] if [*map(self.axes, operands)] == [1, 1] else None

    def scaled_row(self, number: Any, row: Any) -> list[Factor] | None:
        """The factors of a number times a vector: numbers side by side are a vector, times the matrix of the rows."""
        if not isinstance(number, gast.Name) or not isinstance(row, gast.Name) or self.axes(row.id) != 1:
            return None
        facts, other = self.s.facts.get(number.id), self.s.facts[row.id]
        if not isinstance(facts, Num) or not isinstance(other, Num) or facts.dims != () or facts.dtype != np.float64:
            return None
        return [Factor(number.id), Factor(row.id)] if other.dtype == np.float64 and number.id in self.makers else None

    def may_keep(self, factor: Factor, most: int) -> bool:
        """True if a factor is another array in each step, and no larger than what the loop gives up."""
        carried = {c.phi for c in self.loop.carries if c.next != c.phi}
        other = factor.name in self.makers or factor.name in carried
        return other and (self.axes(factor.name) <= most or self.whole(factor.name) is not None)

    # -- what becomes of it

    def take_out(self, term: Term) -> None:
        """Keep the factors of a term, each once, instead of adding it."""
        body = self.loop.body
        place = body.index(term.stmt)
        kept = [f.name for f in term.factors if f.name not in self.lists and self.whole(f.name) is None]
        body[place : place + 1] = [self.kept(name, term) for name in kept]
        for maker in term.makers:
            body.remove(maker)
        self.renamed[term.stmt.target] = term.stmt.expr.left.id

    def kept(self, name: str, term: Term) -> ir.Effect:
        facts = Listed(frozenset([self.s.root(("gathered", name))]))
        self.s.put_element(facts, self.s.facts[name])
        kept = self.lists[name] = self.s.fresh(f"all_{self.hint(name)}", facts)
        self.s.named.add(kept)
        return ir.Effect(ir.call(ir.attribute(ir.name(kept), "append"), ir.name(name)), term.stmt.origin, "save")

    def whole(self, name: str) -> Any | None:
        """The array whose rows a factor is, one a step, from the first step to the last, and that no step writes."""
        expr: Any = getattr(self.makers.get(name), "expr", None)
        if not is_item(expr) or self.groups is None or self.groups.writes_to(expr.value.id):
            return None
        facts, count = self.s.facts[expr.value.id], counted_down(self.loop)
        length = self.s.facts[count] if count is not None else None
        if expr.slice.id != self.loop.index or not isinstance(facts, Num) or not facts.dims:
            return None
        if not isinstance(length, Num) or length.size is None or expr.value.id in ir.defined_in(self.loop):
            return None
        known = self.s.where_made(expr.value.id)
        same = known.canonical(length.size) == known.canonical(facts.dims[0])
        return expr.value if same else None

    def rows(self, whole: Any) -> Any:
        """The rows of an array that belong to what has been kept, the last one first."""
        index = ir.name(str(self.loop.index))
        part = gast.Slice(index, ir.binop(index, gast.Add, self.count()), None)
        return ir.subscript(ir.subscript(whole, part), BACKWARDS)

    def hint(self, name: str) -> str:
        """The name for the values of a variable: those of ``x[i]`` are called ``x``."""
        expr: Any = getattr(self.makers.get(name), "expr", None)
        part = isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name) and name not in self.s.named
        return self.s.hints[expr.value.id if part else name]

    def many_steps(self, terms: list[Term], last: Any) -> ir.If:
        """Add what many steps have kept, also after the last one."""
        result: ir.Block = []
        joints: dict[str, Any] = {}
        for term in terms:
            for name in [f.name for f in term.factors if f.name not in joints]:
                result.append(joint := self.joined(name, terms))
                joints[name] = ir.name(joint.target)
            result.append(self.added(term, joints))
        for stmt in result:
            note(self.s, stmt, "what many steps would add up, as one product")
        result += [ir.Effect(ir.call(ir.attribute(ir.name(n), "clear")), None, "save") for n in self.lists.values()]
        enough = equal(self.count(), ir.constant(thresholds.STEPS_OF_A_PRODUCT))
        ended = equal(ir.name(str(self.loop.index)), last)
        return ir.If(gast.BoolOp(gast.Or(), [enough, ended]), result, [], [])

    def count(self) -> Any:
        """The number of steps that have been kept."""
        return ir.call("len", ir.name(next(iter(self.lists.values()))))

    def joined(self, name: str, terms: list[Term]) -> ir.Let:
        """The values of a factor in many steps as the rows of one array."""
        facts, whole = self.s.facts[name], self.whole(name)
        assert isinstance(facts, Num) and facts.dims is not None
        roots = frozenset([self.s.root(("joint", name))])
        joint = self.s.fresh(self.hint(name), replace(facts, kind="array", dims=(None, *facts.dims), roots=roots))
        if sum(f.name == name for t in terms for f in t.factors) > 1:
            self.s.named.add(joint)
        made = ir.attribute(self.s.bind("np", np), "array")
        rows = ir.call(made, ir.name(self.lists[name])) if whole is None else self.rows(whole)
        return ir.Let((joint,), rows, None, terms[0].stmt.origin)

    def added(self, term: Term, joints: dict[str, Any]) -> ir.Store:
        sides = [ir.attribute(joints[f.name], "T") if f.turned else joints[f.name] for f in term.factors]
        if len(sides) == 2:
            value = ir.binop(sides[0], gast.MatMult, sides[1])
        else:
            value = ir.call(ir.attribute(sides[0], "sum"), axis=ir.constant(0))
        sign = gast.Sub if term.negative else gast.Add
        return ir.Store(self.sum_of(term), ir.constant(...), value, sign, term.stmt.origin)

    def sum_of(self, term: Term) -> str:
        """The variable of a term's sum after a step."""
        place = {c.phi: str(c.next) for c in self.loop.carries}
        name = term.stmt.expr.left.id
        while name not in place:
            name = self.makers[name].expr.left.id
        return place[name]

    def drop_carries(self) -> None:
        """A sum to which the loop adds nothing any more is what it was before."""
        for c in list(self.loop.carries):
            if c.init is not None and c.phi != c.next and followed(self.renamed).get(c.next or "", c.next) == c.phi:
                self.loop.carries.remove(c)
                self.renamed |= {c.phi: c.init, c.out: c.init}


def counted_down(loop: ir.Loop) -> str | None:
    """The ``n`` of ``range(n - 1, -1, -1)``."""
    found = [gast.dump(bound) for bound in loop.bounds[1:]]
    first = loop.bounds[0]
    if found != [gast.dump(ir.constant(-1))] * 2 or not isinstance(first, gast.BinOp):
        return None
    last = isinstance(first.op, gast.Sub) and isinstance(first.right, gast.Constant) and first.right.value == 1
    return first.left.id if last and isinstance(first.left, gast.Name) else None


def last_index(loop: ir.Loop) -> Any:
    """The index of a reverse loop in its last iteration."""
    if len(loop.bounds) == 3:  # down to the one before the bound
        return minus(loop.bounds[1], -1)
    bound = loop.bounds[-1]
    if not isinstance(bound, gast.Call) or getattr(bound.func, "id", "") != "range":
        return minus(bound, 1)
    return bound.args[0] if len(bound.args) > 1 else ir.constant(0)  # of what is printed as reversed(range(...))


def equal(left: Any, right: Any) -> Any:
    return gast.Compare(left, [gast.Eq()], [right])


def is_growing_sum(stmt: ir.Let) -> bool:
    """True if a statement adds a variable to an array in place."""
    expr = stmt.expr
    sides = isinstance(expr, gast.BinOp) and isinstance(expr.left, gast.Name) and isinstance(expr.right, gast.Name)
    return stmt.in_place and sides and isinstance(expr.op, gast.Add)


def is_transpose(expr: Any) -> bool:
    return isinstance(expr, gast.Attribute) and expr.attr == "T" and isinstance(expr.value, gast.Name)
