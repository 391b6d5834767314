"""Dimensions that are equal: operands that meet in an operation have one length, wherever it has run.

::

    if c > 0:
        y = a + b           # here `a` is as long as `b`, and where this is reversed
    else:
        y = np.mean(a) * b  # here nobody knows

Blocks that may not run have lengths of their own, which hold inside them only; what is equal around a block is equal
in it.  Each variable is of the block that it was made in, so that what is equal for two variables is what the inner of
their blocks tells.

What is made in a loop has another length in each iteration: nothing that outlives one is told of these (`outliving`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

from .. import ir
from ..domain.facts import Axis, Dim, Num, Pair, blurred
from ..domain.values import MaybeV, TupleV

DEPTH = 20  # lengths that are told of each other in turn, which only those of empty arrays can be without end


class Lengths:
    """The lengths that are equal once a block has run to its end; `outer` are those of the block around it."""

    def __init__(self, outer: Lengths | None = None) -> None:
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.pairs: list[tuple[Any, Any]] = []
        self.table: dict[Any, Any] = {}
        self.seen = 0  # how many pairs the table is made of
        self.made: dict[Any, Any] = {}  # sums of lengths and integers -> the length of an array that was made by one

    def count(self) -> int:
        return len(self.pairs) + (0 if self.outer is None else self.outer.count())

    def refresh(self) -> dict[Any, Any]:
        """The table, made anew where blocks around have learnt something."""
        if self.seen != (count := self.count()):
            self.table, self.seen = {}, count
            around: Lengths | None = self
            while around is not None:
                for a, b in around.pairs:
                    unite(self.table, a, b)
                around = around.outer
        return self.table

    def canonical(self, axis: Any) -> Any:
        """One of the symbols of a length that goes by several."""
        return representative(self.refresh(), axis)

    def are_equal(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        """True if two shapes of as many axes are one, of which every length is known."""
        table = self.refresh()
        return all(
            x is not None and (x is y or is_one_length(representative(table, x), representative(table, y)))
            for x, y in zip(a, b)
        )

    def equate(self, a: Any, b: Any) -> None:
        """Two axes have one length, or the program raises before anybody relies on it."""
        if unite(self.refresh(), a, b):
            self.pairs.append((a, b))
            self.seen += 1


class AxisLengths:
    """The lengths that are equal in each block of the program, which a specialiser learns while it writes them."""

    def begin_lengths(self, block: ir.Block) -> None:
        """Nothing is known yet; `block` is the outermost."""
        self.lengths = Lengths()  # those of the block being written
        self.of_blocks: dict[int, tuple[ir.Block, Lengths]] = {id(block): (block, self.lengths)}
        self.inner: dict[str, Lengths] = {}  # of the block that a variable is made in, where it may not run
        self.masks: set[str] = set()  # masks of which it matters that they pick as many items each time
        self.steps: dict[
            str, str
        ] = {}  # variable of the reverse sweep -> the one that it is in the step that is reversed
        self.ranges: dict[str, tuple[Any, ...]] = {}  # index of a loop -> the bounds of its range
        self.whole_axes: dict[Any, Any] = {}  # symbol of a length -> that length
        self.proven: dict[Any, Any] = {}  # what is equal after all that has run before the statement being written

    def lengths_in(self, block: ir.Block) -> Lengths:
        """The lengths that are equal in a block, which by default is one that may not run."""
        if id(block) not in self.of_blocks:
            self.of_blocks[id(block)] = block, Lengths(self.lengths)
        return self.of_blocks[id(block)][1]

    @contextmanager
    def within(self, lengths: Lengths) -> Iterator[None]:
        """Decide with the equal lengths of another block."""
        outer, self.lengths = self.lengths, lengths
        try:
            yield
        finally:
            self.lengths = outer

    def where_made(self, *names: str) -> Lengths:
        """The equal lengths of the innermost block that some variables were made in."""
        found = [self.inner[name] for name in names if name in self.inner]
        return max([self.lengths, *found], key=lambda lengths: lengths.depth)

    def step_of(self, name: str) -> str:
        """A variable as lengths name it: of one that the reverse sweep has again, the one of the same step."""
        return self.steps.get(name, name)

    def equate(self, a: Any, b: Any) -> None:
        """Two axes have one length, or the program raises before anybody relies on it."""
        self.lengths.equate(a, b)
        unite(self.proven, a, b)

    @contextmanager
    def learning_no_lengths(self) -> Iterator[None]:
        """Forget afterwards which axes met, for what is not used of this may never run."""
        pairs, made, proven = list(self.lengths.pairs), dict(self.lengths.made), dict(self.proven)
        try:
            yield
        finally:
            self.lengths.pairs[:], self.lengths.made, self.proven = pairs, made, proven

    def have_met(self, shapes: list[tuple[Axis, ...]]) -> bool:
        """True if shapes are surely one at the statement being written."""
        others = [dims for dims in shapes[1:] if dims != shapes[0]]
        first = self.by_one_name(shapes[0]) if others else shapes[0] if shapes else ()
        return first is not None and None not in first and all(self.by_one_name(dims) == first for dims in others)

    def by_one_name(self, dims: tuple[Axis, ...] | None) -> tuple[Axis, ...] | None:
        """A shape by one of the symbols of each length that goes by several at the statement being written."""
        return dims and tuple(representative(self.proven, axis) for axis in dims)

    def same_lengths(
        self, a: tuple[Axis, ...] | None, b: tuple[Axis, ...] | None, lengths: Lengths | None = None
    ) -> bool:
        """True if two shapes are surely one, or the program has raised before."""
        if a is None or b is None or len(a) != len(b):
            return False
        return (lengths or self.lengths).are_equal(a, b)


def is_one_length(a: Any, b: Any) -> bool:
    """True if two axes are the same length, of which one may be known to be several and the other may not."""
    if isinstance(a, Dim) and isinstance(b, Dim):
        return a.offset == b.offset and bool(a.symbol == b.symbol)
    return bool(a == b)


def representative(table: dict[Any, Any], axis: Any) -> Any:
    for _ in range(DEPTH):
        while axis in table:
            axis = table[axis]
        shorter = from_whole(table, axis) if isinstance(axis, Dim) and axis.offset < 0 else None
        if shorter is None:
            break
        axis = shorter
    return axis


def from_whole(table: dict[Any, Any], axis: Dim) -> Any:
    """A length by which an axis is shorter than another, told of what that one is equal to."""
    for several in (False, True):
        equal = table.get(Dim(axis.symbol, 0, several))
        if isinstance(equal, Dim):
            return equal.plus(axis.offset)
    return None


def unite(table: dict[Any, Any], a: Any, b: Any) -> bool:
    """Make two lengths one; whether that is new, and can be told."""
    x, y = representative(table, a), representative(table, b)
    if x != y and isinstance(y, Dim) and isinstance(x, (Dim, int)):
        table[y] = x
    elif x != y and isinstance(x, Dim) and isinstance(y, int):
        table[x] = y
    else:
        return False
    return True


@lru_cache(maxsize=4096)
def born(symbol: Any) -> int:
    """The number of the youngest variable that a length is named after; 0 for those of the arguments."""
    if isinstance(symbol, Dim):
        return born(symbol.symbol)
    if isinstance(symbol, tuple):
        return max(map(born, symbol), default=0)
    number = symbol.rpartition(".")[2] if isinstance(symbol, str) else ""
    return int(number) if number.isdecimal() else 0


def outliving(facts: Any, since: int) -> Any:
    """Facts without the lengths that were made in a loop, after the variable of number `since`."""
    if isinstance(facts, Num):
        if born(facts.size) <= since and born(facts.dims) <= since:
            return facts
        dims = facts.dims and tuple(blurred(axis) if born(axis) > since else axis for axis in facts.dims)
        return replace(facts, dims=dims, size=None if born(facts.size) > since else facts.size)
    if isinstance(facts, Pair):
        return Pair(tuple(outliving(f, since) for f in facts.items), facts.cls)
    if isinstance(facts, MaybeV):
        return replace(facts, items=tuple(outliving(f, since) for f in facts.items))
    if isinstance(facts, TupleV):
        return TupleV(tuple(outliving(f, since) for f in facts.items), facts.cls)
    return facts
