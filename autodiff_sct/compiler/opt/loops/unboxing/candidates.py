"""The blocks of a program in which arrays may be lists, and who else sees the memory of an array there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from .....core import thresholds
from .... import ir
from ....analysis.alias import reachable, roots_of
from ....analysis.effects import is_loop, written_names
from ....analysis.ownership import changed, is_new
from ....analysis.subscript_uses import Use, is_float_array, is_item_of_integers, is_place_array, passed_on, uses_in
from ....domain.facts import Dim, Listed, Num
from ....ir.function import Function
from ....ir.patterns import is_method, is_pop_call
from ...memory.primal_reuse import is_creation


class Site:
    """A block, and the loop or branch that it belongs to; at the top of the program that is None.

    `early` are the numbers of iterations of loops that are left early, `hoped` the arrays that may be lists around
    the block once it has lists itself.
    """

    def __init__(
        self,
        s: Function,
        program: ir.Block,
        block: ir.Block,
        owner: Any,
        early: set[str],
        hoped: frozenset[str] = frozenset(),
    ) -> None:
        self.s, self.program, self.block, self.owner, self.early = s, program, block, owner, early
        self.hoped = hoped
        self.lengths = s.lengths_in((owner.primal or owner).body) if isinstance(owner, ir.Loop) else s.lengths
        self.defined: dict[str, int] = {}  # variable -> the place of the statement that it comes from
        self.fresh: dict[str, int] = {}  # array -> the place where its memory is made
        self.sums: dict[str, Any] = {}  # variable that is a sum, or an item of an array of places -> that
        for place, stmt in enumerate(block):
            self.defined |= dict.fromkeys([*ir.ir_targets(stmt), *ir.defined_in(stmt)], place)
            if isinstance(stmt, ir.Let) and makes_memory(stmt):
                self.fresh[stmt.target] = place
            elif isinstance(stmt, ir.Let) and stmt.in_place:
                old = getattr(changed(stmt), "id", "")
                if self.is_private(old, place):
                    self.fresh[stmt.target] = self.fresh[old]
            elif isinstance(stmt, ir.If):
                sides = {m.target: ((stmt.then, m.then), (stmt.orelse, m.orelse)) for m in stmt.merges}
                made = [n for n, both in sides.items() if all(self.is_made_in(side, name) for side, name in both)]
                self.fresh |= dict.fromkeys(made, place)
            lets = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and isinstance(x.expr, gast.BinOp)]
            self.sums |= {x.target: x.expr for x in lets if isinstance(x.expr.op, (gast.Add, gast.Sub))}
            named = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and is_item_of_integers(s, x.expr)]
            self.sums |= {x.target: x.expr for x in named}

    def made_here(self) -> set[str]:
        return {target for stmt in self.block if isinstance(stmt, ir.Let) for target in stmt.targets} | {*self.fresh}

    def is_made_in(self, side: ir.Block, name: str | None) -> bool:
        """True if the memory of an array is made on a side of a branch, and given to nobody else there."""
        place = next((k for k, stmt in enumerate(side) if isinstance(stmt, ir.Let) and stmt.target == name), None)
        if name is None or place is None or any(self.hands_out(x, name) for x in ir.walk(side[place + 1 :])):
            return False
        if makes_memory(side[place]):
            return True
        old = getattr(changed(side[place]), "id", None) if side[place].in_place else None
        return self.is_made_in(side[:place], old)

    def candidates(self) -> set[str]:
        """The arrays that are one array throughout the block."""
        read = {n for stmt in self.block for n in ir.reads_inside(stmt) if n in self.s.facts}
        tests = [getattr(self.owner, "test", None), getattr(self.owner, "stop", None)]
        read -= {n for test in tests for n in ir.names_in(test)}
        outside = self.externals() if self.owner is None else read - self.defined.keys()
        found = {name for name in read & (self.made_here() | outside) if is_float_array(self.s.facts[name])}
        places = {name for name in read & (self.made_here() | outside) if is_place_array(self.s.facts[name])}
        return found | (self.unchanged(places) if found and places else set())

    def unchanged(self, names: set[str]) -> set[str]:
        """The arrays whose memory the program writes nowhere."""
        written = {n for stmt in self.program for n in written_names(stmt) if n in self.s.facts}
        memory = {root for name in written for root in reachable(self.s, self.s.facts[name])}
        return {name for name in names if not roots_of(self.s.facts[name]) & memory}

    def externals(self) -> set[str]:
        return {external.name for external in self.s.externals.values()}

    # -- aliases

    def is_private(self, name: str, stop: int) -> bool:
        """True if the memory of an array is made in the block, and nobody else has been given it before a place."""
        if name not in self.fresh:
            return False
        stretch = self.block[self.fresh[name] + 1 : stop]
        return not any(self.hands_out(inner, name) for stmt in stretch for inner in ir.inside(stmt))

    def hands_out(self, stmt: Any, name: str) -> bool:
        """True if a statement itself may give the memory of an array to another variable."""
        if name in passed_on(stmt):
            return True
        whole = any(
            use.how == "whole"
            for expr in ir.expressions(stmt)
            if name in ir.variables_in(expr)
            for use in uses_in(self.s, expr, {name}, ())
        )
        if not whole or (isinstance(stmt, ir.Store) and isinstance(self.s.facts[stmt.base], Num)):
            return False
        if not isinstance(stmt, ir.Let) or stmt.effect or stmt.in_place or len(stmt.targets) > 1:
            return True
        if is_method(stmt.expr, "tolist"):
            return False
        new = isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)) or is_new(stmt.expr)
        return not new or not isinstance(self.s.facts[stmt.target], Num)

    def is_undisturbed(self, name: str, span: range) -> bool:
        """True if an array is changed in a stretch under its own name only, and nobody else sees the change there."""
        if self.is_private(name, span.stop):
            return True
        stretch = [self.block[k] for k in span]
        written = {n for stmt in stretch for n in written_names(stmt)}
        met = {n for stmt in stretch for n in ir.reads_inside(stmt)} if name in written else written
        return not any(self.meets(name, other) for other in met if other in self.s.facts)

    def meets(self, name: str, other: str) -> bool:
        """True if another variable may lead to the memory of an array."""
        roots, facts = roots_of(self.s.facts[name]), self.s.facts[other]
        if other == name or not roots & reachable(self.s, facts):
            return False
        return not isinstance(facts, Num) or not (self.is_older(name, other) or self.is_older(other, name))

    def is_older(self, a: str, b: str) -> bool:
        """True if an array was there before the memory of another was made."""
        return b in self.fresh and self.defined.get(a, -1) < self.fresh[b]

    # -- what it costs

    def is_short(self, name: str) -> bool:
        """True if an array of a loop's body surely has a few numbers only."""
        facts = self.s.facts[name]
        if not isinstance(self.owner, ir.Loop) or not isinstance(facts, Num) or not facts.dims or len(facts.dims) != 1:
            return False
        length = self.lengths.canonical(facts.dims[0])
        if isinstance(length, int):
            return length <= thresholds.ITEMS_READ_AS_LIST
        if is_place_array(facts):
            return False
        return name in self.defined and is_few(facts.dims[0])  # a row that the body takes of something

    def covers(self, name: str, found: list[Use]) -> bool:
        """True if loops go over an array: a loop of its own over each long axis, whose variable is the index.

        The index may be that, give or take a number. A diagonal, or a row and a column, is a small share.
        Where it would be converted again and again, loops have to run to the lengths of these axes, whatever they
        touch there: as many items as there are.
        """
        facts = self.s.facts[name]
        assert isinstance(facts, Num) and facts.dims is not None
        items = [use for use in found if use.how == "item"]
        for use in items:
            gone = [self.along(dim, index, use.around) for dim, index in zip(facts.dims, use.index)]
            if any(gone) and all(x or self.has_few(dim) for x, dim in zip(gone, facts.dims)) and differ(gone):
                return True
        long = [dim for dim in facts.dims if not self.has_few(dim)]
        for use in items:
            if self.owner is None:  # places that loops make up: for each axis a loop of its own
                loops = [self.along(None, index, use.around, True) for index in use.index]
            else:
                taken = list(filter(is_loop, use.around))
                loops = [next((x for x in taken if self.is_long(dim, x, use.around)), None) for dim in long]
            if loops and all(loops) and differ(loops):
                return True
        return False

    def has_few(self, dim: Any) -> bool:
        """True if an axis surely has a few items only."""
        return is_few(dim) or (self.owner is not None and is_few(self.lengths.canonical(dim)))

    def along(self, dim: Any, index: Any, around: tuple[Any, ...], told: bool = False) -> Any | None:
        """The loop whose variable an index is, give or take a number; `told`: or that tells it in another way."""
        if isinstance(index, gast.BinOp) and isinstance(index.op, (gast.Add, gast.Sub)):
            sides = ((index.left, index.right), (index.right, index.left))
            found = (self.along(dim, a, around, told) for a, b in sides if told or isinstance(b, gast.Constant))
            return next((loop for loop in found if loop is not None), None)
        if told and isinstance(index, gast.Subscript) and isinstance(index.value, gast.Name):
            parts = index.slice.elts if isinstance(index.slice, gast.Tuple) else [index.slice]
            found = (self.along(dim, part, around, told) for part in parts)
            return next((loop for loop in found if loop is not None), None)
        if not isinstance(index, gast.Name):
            return None
        if (sum_ := self.sums.get(index.id)) is not None:
            return self.along(dim, sum_, around, told)
        loops = (x for x in around if is_loop(x) and x.index == index.id and self.is_long(dim, x, around))
        return next(loops, None)

    def is_long(self, dim: Any, loop: ir.Loop, around: tuple[Any, ...]) -> bool:
        """True if a loop goes to the end of a range that only the run tells, or surely over an axis.

        A loop that ends where one around it is (``for j in range(i)``) goes over half of the axis on average.
        """
        names = {name for bound in loop.bounds for name in ir.names_in(bound)}
        if loop.kind != "range" or loop.stop is not None or not names or names & self.early:
            return False
        if self.owner is None:
            return True
        outer = [x for x in (*around, self.owner) if is_loop(x) and x is not loop and x.index in names]
        bounds = [bound for bound in loop.bounds if not any(x.index in ir.names_in(bound) for x in outer)]
        if not all(self.is_long(dim, x, ()) for x in outer) or not isinstance(dim, Dim):
            return False
        parts = [part for bound in bounds for part in lengths(self.s, bound)]
        return any((*parts, *outer)) and all(p is None or self.is_length(p, dim) for p in parts)

    def is_length(self, symbol: Any, dim: Dim) -> bool:
        """True if a length is that of an axis, give or take a number."""
        if symbol is False or symbol == dim.symbol:
            return symbol is not False
        found = [{of_symbol(self.lengths.canonical(Dim(x, 0, n))) for n in (False, True)} for x in (symbol, dim.symbol)]
        return not found[0].isdisjoint(found[1])


def of_symbol(dim: Any) -> Any:
    return dim.symbol if isinstance(dim, Dim) else dim


def differ(loops: list[Any]) -> bool:
    """True if each axis has a loop of its own: the diagonal `a[i, i]` is a small share of a matrix."""
    found = [id(loop) for loop in loops if loop is not None]
    return len(set(found)) == len(found)


def is_few(dim: Any) -> bool:
    """True if an axis surely has fewer than `LONG` items."""
    if isinstance(dim, int):
        return dim < thresholds.LONG_AXIS
    return isinstance(dim, Dim) and isinstance(dim.symbol, tuple) and dim.symbol[-1] == "" and dim.offset <= 0


def makes_memory(stmt: ir.Let) -> bool:
    """True if an array has memory of its own."""
    return not stmt.in_place and (isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)) or is_creation(stmt.expr))


def lengths(s: Function, bound: Any) -> Iterator[Any]:
    """The symbols of the lengths that a bound is made of; None for numbers, False for anything else."""
    if isinstance(bound, gast.Constant):
        yield None
    elif isinstance(bound, gast.UnaryOp):
        yield from lengths(s, bound.operand)
    elif isinstance(bound, gast.BinOp) and isinstance(bound.op, (gast.Add, gast.Sub)):
        yield from lengths(s, bound.left)
        yield from lengths(s, bound.right)
    else:
        size = length_of(s, bound)
        yield size.symbol if isinstance(size, Dim) else False


def length_of(s: Function, expr: Any) -> Any:
    """The axis whose length an expression is."""
    facts: Any = None
    if isinstance(expr, gast.Name):
        facts = s.facts.get(expr.id)
    elif is_pop_call(expr) and isinstance(expr.func.value, gast.Name):
        saved = s.facts.get(expr.func.value.id)
        facts = s.elements_of(saved) if isinstance(saved, Listed) else None
    elif isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len" and isinstance(expr.args[0], gast.Name):
        facts = s.facts.get(expr.args[0].id)
        return facts.dims[0] if isinstance(facts, Num) and facts.dims else None
    return facts.size if isinstance(facts, Num) else None
