"""Sums of outer products as one product of two matrices.

::

    d_A = np.outer(d_y, x)                      d_A = np.array([d_y, z]).T @ np.array([x, d_w])
    d_A += np.outer(z, d_w)             ->

    d_A = np.outer(d_y, x) * alpha      ->      d_A = np.outer(d_y * alpha, x)

The cotangent of a matrix that multiplies vectors is such a sum. Each outer product is a pass over the whole matrix, and
so is each addition; the product of matrices writes every element once. Only cotangents round differently.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...domain.facts import Num, is_same
from ...ir.function import Function
from ...ir.patterns import numpy_name
from .product_reuse import operands


@dataclass(frozen=True)
class Outer:
    """A term `sign * scale * outer(left, right)`, with the statements that compute it."""

    left: str
    right: str
    makers: tuple[ir.Let, ...]
    scale: str | None = None
    negative: bool = False


@dataclass(frozen=True)
class Rest:
    """Another term: a variable, and the addition that it is an operand of."""

    name: str
    addition: ir.Let
    negative: bool = False


def batch_outer_products(s: Function, back: ir.Block) -> None:
    """Rewrite the blocks of the reverse sweep, in place."""
    if not any(isinstance(stmt, ir.Let) and factors(s, stmt) for stmt in ir.adjoint_walk(back)):
        return
    uses = count_uses(back)
    every = [back, *(inner for stmt in ir.adjoint_walk(back) for inner in ir.adjoint_bodies(stmt))]
    for block in every:
        Sums(s, block, uses).rewrite()


def factors(s: Function, stmt: ir.Let) -> tuple[str, str] | None:
    """The vectors whose outer product a statement computes."""
    call = stmt.expr
    if not isinstance(call, gast.Call) or numpy_name(call) != "outer" or call.keywords or len(call.args) != 2:
        return None
    names = [arg.id for arg in call.args if isinstance(arg, gast.Name)]
    return (names[0], names[1]) if len(names) == 2 and all(is_vector(s, name) for name in names) else None


def is_vector(s: Function, name: str) -> bool:
    """True if a variable is an array of one axis of floating-point numbers."""
    facts = s.facts.get(name)
    known = isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 1 and not facts.tensor
    return known and facts.dtype is not None and facts.dtype.kind in "fc"  # type: ignore[union-attr]


class Sums:
    """The sums of outer products in one block."""

    def __init__(self, s: Function, block: ir.Block, uses: dict[str, int]) -> None:
        self.s, self.block, self.uses = s, block, uses
        self.makers = {x.target: x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1 and not x.effect}

    def rewrite(self) -> None:
        """Rewrite the block, from its last sum to its first."""
        done: set[Any] = set()
        for stmt in reversed(list(self.block)):
            if stmt in done or operands(stmt, gast.Add) is None and operands(stmt, gast.Sub) is None:
                continue
            terms = self.terms(stmt, False)
            outers = [t for t in terms if isinstance(t, Outer)]
            chain = set(self.chain(stmt))
            if len(outers) > 1 and self.fit(outers) and not self.is_disturbed(stmt, outers, chain):
                done |= chain
                self.join(stmt, outers, [t for t in terms if isinstance(t, Rest)], chain)
        for stmt in list(self.block):
            self.scale_vector(stmt)

    # -- the terms of a sum

    def terms(self, stmt: ir.Let, negative: bool) -> list[Outer | Rest]:
        """The terms of a sum, through the sums that are read by it only."""
        expr: Any = stmt.expr
        minus = isinstance(expr.op, gast.Sub)
        left, right = expr.left.id, expr.right.id
        return [*self.side(stmt, left, negative), *self.side(stmt, right, negative != minus)]

    def side(self, stmt: ir.Let, name: str, negative: bool) -> list[Outer | Rest]:
        maker = self.makers.get(name) if self.uses.get(name) == 1 else None
        if maker is None:
            return [Rest(name, stmt, negative)]
        if operands(maker, gast.Add) is not None or operands(maker, gast.Sub) is not None:
            return self.terms(maker, negative)
        found = self.outer(maker)
        return [replace(found, negative=negative)] if found is not None else [Rest(name, stmt, negative)]

    def outer(self, stmt: ir.Let) -> Outer | None:
        """The outer product that a statement computes, or a number times one."""
        vectors = factors(self.s, stmt)
        if vectors is not None:
            return Outer(*vectors, (stmt,))
        sides = operands(stmt, gast.Mult)
        for name, number in (sides, sides[::-1]) if sides is not None else ():
            maker = self.makers.get(name) if self.uses.get(name) == 1 else None
            vectors = factors(self.s, maker) if maker is not None else None
            if maker is not None and vectors is not None and self.is_number(number, vectors[0]):
                return Outer(*vectors, (maker, stmt), number)
        return None

    def is_number(self, name: str, vector: str) -> bool:
        """True if a variable is one real number that leaves the dtype of a vector as it is."""
        facts, other = self.s.facts.get(name), self.s.facts[vector]
        if not isinstance(facts, Num) or facts.dims != () or facts.dtype is None or not isinstance(other, Num):
            return False
        return facts.kind == "float" or (facts.kind == "npscalar" and is_same(facts.dtype, other.dtype))

    def chain(self, stmt: ir.Let) -> list[ir.Let]:
        """A sum and the sums that are read by it only."""
        found = [stmt]
        for name in (operands(stmt, gast.Add) or operands(stmt, gast.Sub)) or ():
            maker = self.makers.get(name) if self.uses.get(name) == 1 else None
            if maker is not None and (operands(maker, gast.Add) or operands(maker, gast.Sub)):
                found += self.chain(maker)
        return found

    # -- conditions

    def fit(self, outers: list[Outer]) -> bool:
        """True if all vectors have one dtype, and those of each side one length."""
        first: Any = self.s.facts[outers[0].left]
        for side in ("left", "right"):
            known: Any = self.s.facts[getattr(outers[0], side)]
            for term in outers:
                name = getattr(term, side)
                facts: Any = self.s.facts[name]
                if not is_same(facts.dtype, first.dtype):
                    return False
                if not self.s.same_lengths(facts.dims, known.dims, self.s.where_made(name, getattr(outers[0], side))):
                    return False
        return True

    def is_disturbed(self, stmt: ir.Let, outers: list[Outer], chain: set[ir.Let]) -> bool:
        """True if a vector may change between its outer product and the sum."""
        own = {maker for term in outers for maker in term.makers} | chain
        first = min(self.block.index(maker) for maker in own)
        names = {n for term in outers for n in (term.left, term.right)}
        memory = {root for name in names for root in roots_of(self.s.facts[name])}
        between = [x for x in self.block[first : self.block.index(stmt)] if x not in own]
        return any(touches(self.s, x, memory, True) or changes(self.s, x, memory) for x in between)

    # -- rewriting

    def join(self, stmt: ir.Let, outers: list[Outer], rest: list[Rest], chain: set[ir.Let]) -> None:
        """Replace a sum by one product of matrices, added to what else there is."""
        gone = {maker for term in outers for maker in term.makers} | (chain - {stmt})
        made: ir.Block = []
        rows = self.side_by_side([self.scaled(term, stmt, made) for term in outers], stmt, made)
        turned = self.let("transposed", ir.attribute(rows, "T"), self.turned(rows), stmt, made)
        columns = self.side_by_side([term.right for term in outers], stmt, made)
        value: Any = gast.BinOp(turned, gast.MatMult(), columns)
        stmt.in_place = False
        rest = sorted(rest, key=lambda term: term.negative)
        for k, term in enumerate(rest):
            product = self.let("t", value, self.s.facts[stmt.target], stmt, made)
            own = k == 0 and term.addition.in_place and operands(term.addition, gast.Add) is not None
            if (
                own
                and getattr(term.addition.expr, "left", None) is not None
                and term.addition.expr.left.id == term.name
            ):
                value = gast.BinOp(ir.name(term.name), gast.Add(), product)
                stmt.in_place = len(rest) == 1
            else:
                value = gast.BinOp(product, gast.Sub() if term.negative else gast.Add(), ir.name(term.name))
        stmt.expr, stmt.may_raise = value, False
        if any(x.target in self.s.named for x in gone):
            self.s.named.add(stmt.target)
        place = self.block.index(stmt)
        self.block[place:place] = made
        self.block[:] = [x for x in self.block if x not in gone]

    def scaled(self, term: Outer, stmt: ir.Let, made: ir.Block) -> str:
        """The left vector of a term with its number and its sign."""
        vector: Any = ir.name(term.left)
        if term.scale is not None:
            vector = self.let(
                "t", ir.binop(vector, gast.Mult, ir.name(term.scale)), self.fresh_facts(term.left), stmt, made
            )
        if term.negative:
            vector = self.let("t", gast.UnaryOp(gast.USub(), vector), self.fresh_facts(term.left), stmt, made)
        return str(vector.id)

    def scale_vector(self, stmt: Any) -> None:
        """Multiply a vector of an outer product by a number, not the product."""
        found = self.outer(stmt) if isinstance(stmt, ir.Let) and operands(stmt, gast.Mult) is not None else None
        if found is None or self.is_disturbed(stmt, [found], set()):
            return
        made: ir.Block = []
        left = ir.name(self.scaled(found, stmt, made))
        stmt.expr = gast.Call(found.makers[0].expr.func, [left, ir.name(found.right)], [])
        place = self.block.index(stmt)
        self.block[place:place] = made
        self.block.remove(found.makers[0])

    def side_by_side(self, names: list[str], stmt: ir.Let, made: ir.Block) -> Any:
        facts: Any = self.fresh_facts(names[0])
        call = ir.call(ir.attribute(self.s.bind("np", np), "array"), gast.List([*map(ir.name, names)], gast.Load()))
        return self.let("t", call, replace(facts, dims=(len(names), *facts.dims)), stmt, made)

    def turned(self, rows: Any) -> Num:
        facts: Any = self.s.facts[rows.id]
        return replace(facts, dims=facts.dims[::-1])

    def fresh_facts(self, name: str) -> Num:
        """The facts of an array like a vector, in memory of its own."""
        facts: Any = self.s.facts[name]
        return replace(facts, roots=frozenset([self.s.root(("rank one", name, len(self.s.facts)))]))

    def let(self, hint: str, expr: Any, facts: Any, stmt: ir.Let, made: ir.Block) -> Any:
        made.append(ir.Let((self.s.fresh(hint, facts),), expr, None, stmt.origin))
        return ir.name(made[-1].target)


def changes(s: Function, stmt: Any, memory: frozenset[int] | set[int]) -> bool:
    """True if a statement adds something to some memory in place."""
    sums = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and x.in_place]
    return any(memory & roots_of(s.facts[n]) for x in sums for n in (x.target, *ir.variables_in(x.expr)))
