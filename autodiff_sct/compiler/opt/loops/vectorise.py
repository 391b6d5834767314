"""A loop of the reverse sweep whose steps do not depend on each other is products of matrices.

::

    for j in range(n - 1, i - 1, -1):             d_t = d_a[i, i:]
        d_t = d_a[i, j]                     ->    d_a[i, :i] -= a[:i, i:] @ d_t
        d_a[i, :i] -= d_t * a[:i, j]              d_a[:i, i:] -= np.outer(a[i, :i], d_t)
        d_a[:i, j] -= d_t * a[i, :i]

That is the adjoint of a product of a row with each of many columns, as factorisations written as loops have it.  What
a step reads at ``j`` is a vector for all steps (a number) or a matrix (a vector), a product of these with what no step
changes stays a product until it is added to something, and becomes the shortest product of arrays there.

- No step may read what another one writes, nor write it but by adding to it (see `subscript_dependence`).
- Only cotangents are computed so, for they are added up in another order; all numbers are doubles.
- A loop over single numbers stays: on lists, it takes no longer for up to forty of them.
- Where a loop has no steps, nothing is read that might raise.
- What a step takes from a list of the forward sweep, and where it puts it back, stays in a loop of its own before them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ....runtime.broadcast import unbroadcast
from ... import ir
from ...ad.reverse.loops import minus
from ...ad.tape.subscript_dependence import Places, is_natural, step_of
from ...analysis.alias import roots_of
from ...analysis.liveness import count_uses
from ...analysis.remarks import note
from ...analysis.subscript_uses import is_basic, is_length
from ...domain.facts import Dim, Num, several
from ...interp.kernel.slice_lengths import is_positive, of_axis, of_expr, plus
from ...interp.kernel.slice_lengths import minus as sum_minus
from ...ir.function import Function
from ...ir.patterns import is_ellipsis, is_pop_call, literal, numpy_name, subscript_parts

SIGNS = {gast.Add: gast.Sub, gast.Sub: gast.Add}


def vectorise(s: Function, block: ir.Block) -> None:
    """Rewrite the loops of a block of the reverse sweep and of the blocks inside it, in place."""
    loops = [stmt for stmt in ir.adjoint_walk(block) if isinstance(stmt, ir.Loop) and may_be_independent(stmt)]
    if not loops:
        return
    places, uses = Places(block), count_uses(block)
    around = {stmt: body for body in ir.blocks(block) for stmt in body}
    for loop in loops:
        found = Steps(s, loop, places, uses).rewritten()
        if found is not None:
            body = around[loop]
            place = body.index(loop)
            body[place : place + 1] = found
            ends, read = {n for bound in loop.bounds for n in ir.variables_in(bound)}, count_uses(block)
            unread = [x for x in body if isinstance(x, ir.Let) and x.target in ends and not read.get(x.target)]
            body[:] = [x for x in body if x not in unread or not is_length(x.expr)]


def may_be_independent(loop: ir.Loop) -> bool:
    """True if a loop counts by one, hands nothing on, and only reads, multiplies and stores."""
    counts = loop.kind == "range" and abs(step_of(loop)) == 1 and loop.index is not None
    plain = not (loop.carries or loop.head or loop.again or loop.stop or loop.every)
    return counts and plain and all(isinstance(x, ir.Store) or is_plain(x) for x in loop.body)


def is_plain(stmt: Any) -> bool:
    """True if a statement binds one variable and, unless it takes an item from a list, does nothing else."""
    return isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and (is_pop_call(stmt.expr) or not stmt.effect)


class NotIndependentError(Exception):
    """Steps that depend on each other, or compute what has no form for all of them."""


@dataclass(frozen=True)
class Part:
    """The part of an array that a subscript takes in each step."""

    base: str
    index: Any
    axis: int | None  # the axis along which the steps go, if they do
    rank: int  # the axes of what one step takes

    @property
    def turned(self) -> bool:
        """True if the steps are rows of it."""
        return self.rank == 1 and self.axis == 0


@dataclass(frozen=True)
class Value:
    """The value of a variable in each step: a product of factors, by what each of them is for all steps."""

    negative: bool = False
    numbers: tuple[Any, ...] = ()  # expressions of one number for all steps
    steps: tuple[str, ...] = ()  # vectors with a number for each step
    vectors: tuple[str, ...] = ()  # one vector for all steps
    columns: tuple[tuple[str, bool], ...] = ()  # matrices with a vector for each step; whether these are its rows

    def times(self, other: Value) -> Value:
        return Value(
            self.negative != other.negative,
            self.numbers + other.numbers,
            self.steps + other.steps,
            self.vectors + other.vectors,
            self.columns + other.columns,
        )


class Steps:
    """A loop that is taken for all its steps at once."""

    def __init__(self, s: Function, loop: ir.Loop, places: Places, uses: dict[str, int]) -> None:
        self.s, self.loop, self.places, self.uses = s, loop, places, uses
        self.makers = {x.target: x for x in loop.body if isinstance(x, ir.Let)}
        self.common = (*places.around[loop], loop)
        self.values: dict[str, Value] = {}
        self.reads: list[tuple[int, ir.Let, Part]] = []
        self.views: dict[str, tuple[int, ir.Let, Part]] = {}  # the reading of each matrix of columns
        self.products: dict[str, str] = {}  # the numbers by which each step multiplies, by their factors
        self.guarded = False  # whether something may raise that is read where there are no steps
        self.place = 0  # of the statement that is taken for all steps
        self.result: ir.Block = []

    def rewritten(self) -> ir.Block | None:
        """The statements in the place of the loop; None if its steps depend on each other."""
        try:
            self.low, self.high = self.bounds()
            kept = [x for x in self.loop.body if self.is_restored(x)]
            self.stores = {x: self.target(x) for x in self.loop.body if isinstance(x, ir.Store)}
            self.check_reads()
            for place, stmt in enumerate(self.loop.body):
                self.place = place
                if stmt not in kept:
                    self.add(stmt)
        except NotIndependentError:
            return None
        if not any(isinstance(x, ir.Store) for x in self.result):
            return None
        note(self.s, self.result[-1], "what the steps of a loop would add, as products of matrices")
        self.loop.body[:] = kept
        if self.guarded and not self.has_steps():
            runs = gast.Compare(self.low, [gast.Lt()], [self.high])
            self.result = [ir.If(runs, self.result, [], [])]
        return [self.loop, *self.result] if kept else self.result

    def bounds(self) -> tuple[Any, Any]:
        """The first index and the one behind the last, which are surely not negative."""
        bounds = self.loop.bounds
        if step_of(self.loop) < 0:
            low, high = minus(bounds[1], -1), minus(bounds[0], -1)
        else:
            low, high = (ir.constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        if not all(self.is_natural(end) for end in (low, high)):
            raise NotIndependentError
        return low, high

    def is_natural(self, end: Any) -> bool:
        base, offset = self.places.affine(end)
        spans: list[Any] = []
        if base is not None:
            self.places.widen((base, offset, offset), spans)
        made = self.s.definitions.get(base or "") or getattr(self.places.makers.get(base or ""), "expr", None)
        return is_natural(spans) or (offset >= 0 and is_length(made))

    def has_steps(self) -> bool:
        """True if the loop goes over all of an axis that is not empty."""
        length = self.s.facts.get(getattr(self.high, "id", ""))
        size = length.size if isinstance(length, Num) else None
        return literal(self.low) == 0 and isinstance(size, Dim) and several(size)

    def is_restored(self, stmt: Any) -> bool:
        """True if a statement takes something from a list, or puts that back into its place."""
        if isinstance(stmt, ir.Let):
            return is_pop_call(stmt.expr)
        maker = self.makers.get(getattr(stmt.value, "id", ""))
        return stmt.aug is None and maker is not None and is_pop_call(maker.expr) and stmt.base not in self.makers

    # -- what depends on the step

    def varies(self, expr: Any) -> bool:
        """True if an expression is another one in each step."""
        names = ir.variables_in(expr)
        makers = [self.makers[n] for n in names if n in self.makers]
        return self.loop.index in names or any(is_pop_call(x.expr) or self.varies(x.expr) for x in makers)

    def is_double(self, name: str, *kinds: str | None) -> bool:
        facts = self.s.facts.get(name)
        return isinstance(facts, Num) and facts.kind in kinds and facts.dtype == np.float64 and not facts.tensor

    def part(self, base: str, index: Any) -> Part:
        """The part of an array at an index, in which the steps are at most once, as its whole part for one axis."""
        facts, parts = self.s.facts.get(base), subscript_parts(index)
        if not self.is_double(base, "array") or not isinstance(facts, Num) or not is_basic(self.s, index):
            raise NotIndependentError
        along = [k for k, part in enumerate(parts) if getattr(part, "id", None) == self.loop.index]
        others = [part for k, part in enumerate(parts) if k not in along]
        if (
            facts.dims is None
            or facts.ndim != len(parts)
            or len(parts) > 2
            or len(along) > 1
            or any(map(self.varies, others))
        ):
            raise NotIndependentError
        rank = sum(isinstance(part, gast.Slice) for part in parts)
        if rank > 1 or base in self.makers:
            raise NotIndependentError
        self.guarded |= not all(self.is_inside(x, facts.dims[k]) for k, x in enumerate(parts) if k not in along)
        return Part(base, index, along[0] if along else None, rank)

    def is_inside(self, part: Any, axis: Any) -> bool:
        """True if a part of an index raises nothing, also where the loop has no steps."""
        if isinstance(part, gast.Slice):
            return True
        place = of_expr(self.s, part, thresholds.DEFINITIONS_FOLLOWED)
        if place is None or not isinstance(axis, Dim):
            return False
        behind = sum_minus(of_axis(self.s, axis), plus(place, {None: 1}))
        return is_positive(self.s, place) and is_positive(self.s, behind)

    def target(self, stmt: ir.Store) -> Part:
        """The part of an array that a statement writes, also where a view of it has a name."""
        maker = self.makers.get(stmt.base)
        if maker is None:
            return self.part(stmt.base, stmt.index)
        if not is_ellipsis(stmt.index) or not isinstance(maker.expr, gast.Subscript):
            raise NotIndependentError
        return self.part(getattr(maker.expr.value, "id", ""), maker.expr.slice)

    # -- which steps meet

    def check_reads(self) -> None:
        """Refuse a loop in which a step reads or writes what another one has written."""
        bases = {stmt.base for stmt in self.stores}
        for place, stmt in enumerate(self.loop.body):
            if isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Subscript):
                part = self.part(getattr(stmt.expr.value, "id", ""), stmt.expr.slice)
                if self.uses.get(stmt.target) != 1 or stmt.target not in bases:
                    self.reads.append((place, stmt, part))
        if not any(part.rank for part in [*self.stores.values(), *(part for _, _, part in self.reads)]):
            raise NotIndependentError  # lists of single numbers do as well
        stores = list(self.stores.items())
        for k, (store, written) in enumerate(stores):
            for other, part in stores[k:]:
                adds = store.aug in SIGNS and other.aug in SIGNS
                if not adds and not self.are_separate(store, written, other, part):
                    raise NotIndependentError
            for _, read, part in self.reads:
                if not self.are_separate(store, written, read, part):
                    raise NotIndependentError

    def are_separate(self, stmt: Any, part: Part, other: Any, place: Part) -> bool:
        """True if two statements meet nowhere, or only within a step."""
        if part.base != place.base:
            return not roots_of(self.s.facts[part.base]) & roots_of(self.s.facts[place.base])
        pairs = (stmt, part.index, other, place.index), (other, place.index, stmt, part.index)
        level = len(self.common) - 1
        return all(self.places.are_apart(self.places.axes(*pair, self.common), self.common, level) for pair in pairs)

    def is_overwritten(self, first: int, read: Any, part: Part, last: int) -> bool:
        """True if a statement between two places of the body may write what has been read in the same step."""
        written = [(x, self.stores[x]) for x in self.loop.body[first:last] if x in self.stores]
        meeting = [(x, other) for x, other in written if other.base == part.base]
        spans = [self.places.axes(read, part.index, x, other.index, self.common) for x, other in meeting]
        return not all(self.places.are_apart(axes, self.common, None) for axes in spans)

    # -- all steps at once

    def add(self, stmt: Any) -> None:
        """Take a statement for all steps."""
        if isinstance(stmt, ir.Store):
            self.store(stmt)
        elif stmt.target in {x.base for x in self.stores} and self.uses.get(stmt.target) == 1:
            pass  # a view that only names the place of a store
        elif isinstance(stmt.expr, gast.Subscript):
            self.read(stmt)
        elif not self.varies(stmt.expr):
            self.keep(stmt)
        else:
            self.values[stmt.target] = self.computed(stmt)

    def keep(self, stmt: ir.Let) -> None:
        """Compute what is the same in each step once."""
        arrays = [n for n in ir.variables_in(stmt.expr) if roots_of(self.s.facts[n])]
        stored = {root for part in self.stores.values() for root in roots_of(self.s.facts[part.base])}
        if stmt.in_place or any(roots_of(self.s.facts[n]) & stored for n in arrays if n not in self.makers):
            raise NotIndependentError
        self.result.append(stmt)

    def read(self, stmt: ir.Let) -> None:
        """Read for all steps what each reads at its own index."""
        found = next(found for found in self.reads if found[1] is stmt)
        part, overwritten = found[2], self.is_overwritten(*found, len(self.loop.body))
        if part.axis is None:
            if overwritten:
                raise NotIndependentError
            self.result.append(stmt)
            return
        name = self.let(stmt, self.subscript(part), (None,) * (1 + part.rank), roots_of(self.s.facts[part.base]))
        if part.rank:
            self.views[name] = found
            self.values[stmt.target] = Value(columns=((name, part.turned),))
            return
        if overwritten:
            name = self.let(stmt, ir.call(ir.attribute(ir.name(name), "copy")), (None,))
        self.values[stmt.target] = Value(steps=(name,))

    def matrix(self, value: Value) -> tuple[Any, bool]:
        """The matrix of the columns of a value, which no step has changed since it read them."""
        ((matrix, turned),) = value.columns
        if self.is_overwritten(*self.views[matrix], self.place):
            raise NotIndependentError
        return ir.name(matrix), turned

    def subscript(self, part: Part) -> Any:
        return ir.subscript(ir.name(part.base), self.index(part))

    def index(self, part: Part) -> Any:
        """The index of a part for all steps."""
        if part.axis is None:
            return part.index
        parts, facts = subscript_parts(part.index), self.s.facts[part.base]
        low = None if literal(self.low) == 0 else self.low
        parts[part.axis] = gast.Slice(low, None if self.is_end(facts, part.axis) else self.high, None)
        return parts[0] if len(parts) == 1 else ir.tuple_(parts)

    def is_end(self, facts: Any, axis: int) -> bool:
        """True if the steps go up to the end of an axis."""
        length = self.s.facts.get(getattr(self.high, "id", ""))
        if not isinstance(length, Num) or length.size is None or facts.dims[axis] is None:
            return False
        known = self.s.where_made(self.high.id)
        return bool(known.canonical(length.size) == known.canonical(facts.dims[axis]))

    def let(self, stmt: ir.Let, expr: Any, dims: tuple[Any, ...], roots: Any = None) -> str:
        """Bind a new variable, named after that of a statement."""
        if roots is None:
            roots = frozenset([self.s.root(("all steps", stmt.target, len(self.result)))])
        facts = Num("array" if dims else "npscalar", np.dtype(np.float64), dims, roots if dims else frozenset())
        name = self.s.fresh_like(stmt.target, facts)
        self.result.append(ir.Let((name,), expr, None, stmt.origin))
        return name

    def value(self, expr: Any) -> Value:
        """The value of an operand for all steps."""
        name = getattr(expr, "id", None)
        if name in self.values:
            return self.values[name]
        if isinstance(expr, gast.Constant) and type(expr.value) is float:
            return Value(numbers=(expr,))
        facts = self.s.facts.get(name or "")
        if name is None or self.varies(expr) or not isinstance(facts, Num):
            raise NotIndependentError
        if facts.dims == () and self.is_double(name, "float", "npscalar", None):
            return Value(numbers=(expr,))
        if facts.ndim == 1 and self.is_double(name, "array"):
            return Value(vectors=(name,))
        raise NotIndependentError

    def computed(self, stmt: ir.Let) -> Value:
        """The product, negative or sum of elements for all steps."""
        expr: Any = stmt.expr
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            value = self.value(expr.operand)
            return replace(value, negative=not value.negative)
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult) and not stmt.in_place:
            return self.value(expr.left).times(self.value(expr.right))
        if isinstance(expr, gast.Call) and numpy_name(expr) == "sum" and len(expr.args) == 1 and not expr.keywords:
            return self.summed(stmt, self.value(expr.args[0]))
        if isinstance(expr, gast.Call) and self.s.globals.get(getattr(expr.func, "id", "")) is unbroadcast:
            return self.fitted(stmt, *map(self.value, expr.args))
        raise NotIndependentError

    def fitted(self, stmt: ir.Let, value: Value, like: Value) -> Value:
        """One vector for all steps, fitted to what each reads: to that of the first, where there is one."""
        if len(value.vectors) != 1 or value != Value(vectors=value.vectors) or like != Value(columns=like.columns):
            raise NotIndependentError
        matrix, turned = self.matrix(like)
        first = [ir.constant(0)] if turned else [gast.Slice(None, None, None), ir.constant(0)]
        column = self.let(stmt, ir.subscript(matrix, first[0] if turned else ir.tuple_(first)), (None,))
        self.guarded = True
        return Value(
            vectors=(self.let(stmt, ir.call(stmt.expr.func, ir.name(value.vectors[0]), ir.name(column)), (None,)),)
        )

    def summed(self, stmt: ir.Let, value: Value) -> Value:
        """A number for each step: the sum of a vector's elements."""
        if len(value.columns) != 1 or len(value.vectors) > 1:
            raise NotIndependentError
        matrix, turned = self.matrix(value)
        if value.vectors:
            vector = ir.name(value.vectors[0])
            sides = (matrix, vector) if turned else (vector, matrix)
            found = ir.binop(sides[0], gast.MatMult, sides[1])
        else:
            found = ir.call(ir.attribute(matrix, "sum"), axis=ir.constant(int(turned)))
        return replace(value, steps=(self.let(stmt, found, (None,)), *value.steps), vectors=(), columns=())

    # -- what is stored

    def store(self, stmt: ir.Store) -> None:
        """Write or add for all steps what each writes or adds."""
        part, value = self.stores[stmt], self.value(stmt.value)
        if stmt.aug not in (*SIGNS, None) or not self.s.is_cotangent(part.base):
            raise NotIndependentError
        if stmt.aug is None and (part.axis is None or not value.numbers or value.steps or value.columns):
            raise NotIndependentError
        expr = self.spread(stmt, part, value) if part.axis is not None else self.added_up(stmt, part, value)
        aug = SIGNS[stmt.aug] if value.negative and stmt.aug is not None else stmt.aug
        if value.negative and stmt.aug is None:
            raise NotIndependentError
        self.result.append(ir.Store(part.base, self.index(part), expr, aug, stmt.origin))

    def number(self, stmt: Any, value: Value) -> str | None:
        """The vector of the numbers by which each step multiplies."""
        factors = [*map(ir.name, value.steps), *value.numbers]
        if len(factors) < 2 or not value.steps:
            return value.steps[0] if value.steps else None
        key = " ".join(map(gast.dump, factors))
        if key not in self.products:
            product = factors[0]
            for factor in factors[1:]:
                product = ir.binop(product, gast.Mult, factor)
            self.products[key] = self.let(self.makers[stmt.value.id], product, (None,))
        return self.products[key]

    def bound(self, stmt: Any, expr: Any, rank: int) -> Any:
        return ir.name(self.let(self.makers[stmt.value.id], expr, (None,) * rank))

    def spread(self, stmt: ir.Store, part: Part, value: Value) -> Any:
        """The values that the steps write side by side."""
        if not (value.steps or value.columns or value.vectors):
            return stmt.value
        steps = self.number(stmt, value)
        if part.rank == 0 and steps and not value.vectors and not value.columns:
            return ir.name(steps)
        if part.rank == 1 and steps and len(value.vectors) == 1 and not value.columns:
            factors = [ir.name(value.vectors[0]), ir.name(steps)]
            outer = ir.attribute(self.s.bind("np", np), "outer")
            return self.bound(stmt, ir.call(outer, *(reversed(factors) if part.turned else factors)), 2)
        raise NotIndependentError

    def added_up(self, stmt: ir.Store, part: Part, value: Value) -> Any:
        """The sum of what the steps add to one place."""
        steps = self.number(stmt, value)
        if part.rank == 0 and steps is not None and not value.columns and not value.vectors:
            return self.bound(stmt, ir.call(ir.attribute(ir.name(steps), "sum")), 0)
        if part.rank != 1 or len(value.columns) != 1 or value.vectors or steps is None:
            raise NotIndependentError
        matrix, turned = self.matrix(value)
        sides = (ir.name(steps), matrix) if turned else (matrix, ir.name(steps))
        return self.bound(stmt, ir.binop(sides[0], gast.MatMult, sides[1]), 1)
