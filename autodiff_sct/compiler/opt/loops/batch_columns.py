"""Column updates: products that a loop adds to ranges of columns of a matrix are added after the loop.

::

    for i in range(m - 1, -1, -1):                              for i in range(m - 1, -1, -1):
        ...                                                         ...
        d_x[:, i:m] += np.outer(x[:, i], d_t)          ->           parts.append((i, slice(i, m), d_t))
        d_x[:, i] += x[:, i:m] @ d_t                            add_symmetric_products(d_x, x, parts)

That is the adjoint of a covariance computed column by column. Each step would pass over a part of the whole matrix;
together they are a product of matrices (see `runtime.products`).

- The loop may not read the sum, nor write to the matrix.
- What is kept of each step is a vector, so the loop has to take one from a list of the forward sweep or from a matrix.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ....runtime.products import add_outer_products, add_products, add_symmetric_products
from ... import ir
from ...analysis.alias import Groups
from ...analysis.liveness import count_uses
from ...analysis.remarks import note
from ...domain.facts import INT, Listed, Num, Pair
from ...ir.function import Function
from ...ir.patterns import is_pop_call, numpy_name, subscript_parts

Found = tuple[Any, str, Any, str]  # the function, the matrix, the range, and the vector
Sum = tuple[str, Any]  # a matrix that is added to, and the columns of it


def batch_column_updates(s: Function, block: ir.Block) -> None:
    """Rewrite the loops of a block of the reverse sweep and of the blocks inside it, in place."""
    if any(isinstance(stmt, ir.Loop) for stmt in ir.adjoint_walk(block)):
        gather_in(s, block, count_uses(block))


def gather_in(s: Function, block: ir.Block, uses: dict[str, int]) -> None:
    for stmt in list(block):
        for inner in ir.adjoint_bodies(stmt):
            gather_in(s, inner, uses)
        if isinstance(stmt, ir.Loop) and stmt.kind == "range" and not stmt.again and stmt.index is not None:
            before, after = Parts(s, stmt, uses).rewrite()
            place = block.index(stmt)
            block[place : place + 1] = [*before, stmt, *after]


class Parts:
    """A loop whose additions to parts of matrices are put off."""

    def __init__(self, s: Function, loop: ir.Loop, uses: dict[str, int]) -> None:
        self.s, self.loop, self.uses = s, loop, uses
        self.makers = {x.target: x for x in loop.body if isinstance(x, ir.Let) and len(x.targets) == 1}
        self.lists: dict[str, str] = {}

    def rewrite(self) -> tuple[ir.Block, ir.Block]:
        """The statements before the loop and after it; the loop is changed in place."""
        found = {x: f for x in self.loop.body if isinstance(x, ir.Store) and (f := self.product(x)) is not None}
        if not found or not self.takes_vectors(found):
            return [], []
        groups = Groups(self.s, self.loop)
        places = {stmt: k for k, stmt in enumerate(self.loop.body)}
        sums = {stmt: base for stmt in found for base, _ in [self.summed(stmt)]}
        for base in {*sums.values()}:
            mine = [stmt for stmt in found if sums[stmt] == base]
            fits = all(
                not groups.writes_to(found[x][1]) and groups.stays(found[x][3], places[x]) for x in mine
            ) and not self.is_met(groups, base, mine)
            if not fits:
                found = {x: f for x, f in found.items() if sums[x] != base}
        products: dict[tuple[str, str, str], list[Any]] = {}
        for stmt, (function, matrix, part, vector) in found.items():
            products.setdefault((sums[stmt], matrix, self.keep(stmt, part, vector)), []).append(function)
        after: ir.Block = []
        origin = next(iter(found)).origin if found else None
        for names, functions in products.items():
            both = add_outer_products in functions and add_products in functions
            for function in [add_symmetric_products] if both and len(functions) == 2 else functions:
                call = ir.call(self.s.bind(function.__name__, function), *map(ir.name, names))
                after.append(ir.Effect(call, origin))
                note(self.s, after[-1], "what all steps would add to parts of a matrix, as one product")
        self.drop_unread()
        return [self.empty(kept) for kept in self.lists.values()], after

    def takes_vectors(self, found: dict[ir.Store, Found]) -> bool:
        """True if the loop takes a vector in each step from a list of the forward sweep or from another matrix."""
        own = {name for stmt, (_, matrix, _, _) in found.items() for name in (self.summed(stmt)[0], matrix)}
        makers = {name: x for name, x in self.makers.items() if is_pop_call(x.expr) or self.is_row(x.expr, own)}
        facts = [self.s.facts[name] for name in makers]
        return any(isinstance(f, Num) and f.kind == "array" and bool(f.ndim) for f in facts)

    def is_row(self, expr: Any, own: set[str]) -> bool:
        """True if an expression is a part of a matrix that the step tells."""
        if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name) or expr.value.id in own:
            return False
        return self.is_matrix(expr.value.id) and any(map(self.is_step, subscript_parts(expr.slice)))

    def product(self, stmt: ir.Store) -> Found | None:
        """The product that a statement adds to columns of a matrix."""
        maker = self.makers.get(getattr(stmt.value, "id", ""))
        base, index = self.summed(stmt)
        if stmt.aug is not gast.Add or maker is None or index is None or self.uses.get(maker.target) != 1:
            return None
        if base in ir.defined_in(self.loop) or not self.is_matrix(base):
            return None
        expr: Any = maker.expr
        if isinstance(index, gast.Slice) and numpy_name_of(expr) == "outer":
            column, vector = (getattr(arg, "id", "") for arg in expr.args)
            matrix = self.columns(column, self.is_step)
            return matrix and self.checked((add_outer_products, matrix[0], index, vector))
        if self.is_step(index) and isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.MatMult):
            part, vector = getattr(expr.left, "id", ""), getattr(expr.right, "id", "")
            matrix = self.columns(part, lambda x: isinstance(x, gast.Slice))
            return matrix and self.checked((add_products, *matrix, vector))
        return None

    def summed(self, stmt: ir.Store) -> Sum:
        """The matrix that a statement adds to, maybe by way of a view that nothing else reads, and the columns."""
        view = self.view(stmt)
        if view is not None:
            return view.expr.value.id, column_index(view.expr.slice)
        return stmt.base, column_index(stmt.index)

    def view(self, stmt: ir.Store) -> ir.Let | None:
        """The view of columns that a statement writes as a whole and that nothing else reads."""
        made, index = self.makers.get(stmt.base), stmt.index
        whole = isinstance(index, gast.Constant) and index.value is Ellipsis
        if not whole or made is None or self.uses.get(stmt.base) != 1 or not isinstance(made.expr, gast.Subscript):
            return None
        return made if isinstance(made.expr.value, gast.Name) and column_index(made.expr.slice) is not None else None

    def checked(self, found: Found) -> Found | None:
        """The same, if its vector is one of doubles, and its range one without a step."""
        facts = self.s.facts.get(found[3])
        vector = isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 1 and facts.dtype == np.float64
        return found if vector and found[2].step is None else None

    def columns(self, name: str, test: Any) -> tuple[str, Any] | None:
        """The matrix of which a variable is a column or a range of columns, and which."""
        expr: Any = getattr(self.makers.get(name), "expr", None)
        if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
            return None
        index = column_index(expr.slice)
        outside = expr.value.id not in ir.defined_in(self.loop)
        return (expr.value.id, index) if outside and test(index) and self.is_matrix(expr.value.id) else None

    def is_step(self, index: Any) -> bool:
        return isinstance(index, gast.Name) and index.id == self.loop.index

    def is_matrix(self, name: str) -> bool:
        facts = self.s.facts[name]
        matrix = isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 2 and facts.dtype == np.float64
        return matrix and not facts.tensor  # type: ignore[union-attr]

    def is_met(self, groups: Groups, base: str, own: list[ir.Store]) -> bool:
        """True if the loop touches the memory of a sum in another statement than those that add to it."""
        adding = {*own, *map(self.view, own)}
        names = {n for x in ir.inside(self.loop) if x not in adding for n in ir.uses(x) if ir.is_variable(n)}
        names |= {x.base for x in ir.inside(self.loop) if isinstance(x, ir.Store) and x not in own}
        return any(n == base or groups.may_be_one(base, n) for n in names if n in self.s.facts)

    def keep(self, stmt: ir.Store, part: gast.Slice, vector: str) -> str:
        """Let the loop keep the range and the vector of a step, in the place of an addition; the name of the list."""
        body, key = self.loop.body, f"{vector} {self.text(part.lower)} {self.text(part.upper)}"
        place = body.index(stmt) - 1
        body.remove(self.makers[stmt.value.id])
        body.remove(stmt)
        if key not in self.lists:
            facts = Listed(frozenset([self.s.root(("parts", key, self.loop.index))]))
            self.s.put_element(facts, Pair((INT, INT, self.s.facts[vector])))
            self.lists[key] = self.s.fresh("parts", facts)
            self.s.named.add(self.lists[key])
            bounds = [ir.constant(None) if end is None else end for end in (part.lower, part.upper)]
            item = ir.tuple_([ir.name(str(self.loop.index)), ir.call("slice", *bounds), ir.name(vector)])
            kept = ir.call(ir.attribute(ir.name(self.lists[key]), "append"), item)
            body.insert(place, ir.Effect(kept, stmt.origin, "save"))
        return self.lists[key]

    def drop_unread(self) -> None:
        """Drop the columns that were read for a product only."""
        uses = count_uses(self.loop.body)
        parts = [x for x in self.makers.values() if isinstance(x.expr, gast.Subscript) and not x.effect]
        gone = {x for x in parts if not uses.get(x.target) and column_index(x.expr.slice) is not None}
        self.loop.body[:] = [x for x in self.loop.body if x not in gone]

    def text(self, end: Any) -> str:
        """The text of a bound, with the sums of integers that have a name for it only."""
        made = self.makers.get(getattr(end, "id", ""))
        return "" if end is None else gast.dump(made.expr if made is not None else end)

    def empty(self, kept: str) -> ir.Let:
        made = ir.Let((kept,), gast.List([], gast.Load()))
        made.saves = True
        return made


def column_index(index: Any) -> Any | None:
    """The second part of an index ``[:, part]``."""
    parts = subscript_parts(index)
    if len(parts) != 2 or not isinstance(parts[0], gast.Slice):
        return None
    return parts[1] if parts[0].lower is parts[0].upper is parts[0].step is None else None


def numpy_name_of(expr: Any) -> str | None:
    plain = isinstance(expr, gast.Call) and not expr.keywords and len(expr.args) == 2
    return numpy_name(expr) if plain else None
