"""Lengths of slices whose ends are integer expressions.

::

    n = len(x) - len(w) + 1
    y = np.zeros(n)
    for i in range(len(w)):
        y += w[i] * x[i:i + n]        # as long as `y`: i + n is at most len(x)

The ends are sums of lengths, of the indices of the loops around, and of other integers.  Where such a part surely lies
inside its axis, it is as long as its ends are apart, if that is no negative number: if it is a length, a long one but
for a few, or what an array has been made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gast

from ....core import thresholds
from ... import ir
from ...domain.facts import MANY, Axis, Dim, Facts, Listed, Num
from ...domain.values import Const, Leaf, SliceV, Value
from ...ir.dims import Lengths
from ...ir.function import Function

if TYPE_CHECKING:
    from .specialiser import Specialiser

Sum = dict[Any, int]  # how often each length (its symbol) or variable is added; under None, a number


def span(s: Function, axis: Axis, part: SliceV) -> Axis:
    """The length of ``[start:stop]`` of an axis; None where it is not known to be what the ends are apart."""
    if part.step not in (None, Const(None), Const(1)) or not isinstance(axis, Dim) or axis.symbol == MANY.symbol:
        return None
    start = {} if part.start in (None, Const(None)) else total(s, part.start)
    stop = of_axis(s, axis) if part.stop in (None, Const(None)) else total(s, part.stop)
    return between(s, axis, start, stop)


def written_span(s: Function, axis: Axis, part: gast.Slice) -> Axis:
    """The same of the expressions of a slice."""
    if part.step is not None or not isinstance(axis, Dim) or axis.symbol == MANY.symbol:
        return None
    start = {} if part.lower is None else of_expr(s, part.lower, thresholds.DEFINITIONS_FOLLOWED)
    end = part.upper
    stop = of_axis(s, axis) if end is None else of_expr(s, end, thresholds.DEFINITIONS_FOLLOWED)
    return between(s, axis, start, stop)


def between(s: Function, axis: Dim, start: Sum | None, stop: Sum | None) -> Axis:
    """The distance between the ends of a slice, if that surely is its length."""
    if start is None or stop is None:
        return None
    if not is_positive(s, start) or not is_positive(s, minus(of_axis(s, axis), stop)):
        return None
    return as_length(s, minus(stop, start))


def note_length(s: Function, value: Leaf, axis: Dim) -> None:
    """An array has been made whose length an integer tells."""
    if (found := total(s, value)) is not None:
        s.lengths.made[key(found)] = axis


def total(s: Function, value: Value) -> Sum | None:
    """A value as a sum, if it is an integer."""
    if isinstance(value, Leaf):
        return of_name(s, value.name, thresholds.DEFINITIONS_FOLLOWED)
    return of_expr(s, ir.constant(value.value), thresholds.DEFINITIONS_FOLLOWED) if isinstance(value, Const) else None


def of_expr(s: Function, expr: Any, depth: int) -> Sum | None:
    if isinstance(expr, gast.Constant):
        return {None: expr.value} if type(expr.value) is int else None
    if isinstance(expr, gast.Name):
        return of_name(s, expr.id, depth)
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Add, gast.Sub, gast.Mult)):
        return None
    left, right = of_expr(s, expr.left, depth), of_expr(s, expr.right, depth)
    if left is None or right is None:
        return None
    if isinstance(expr.op, gast.Mult):
        return times(left, right)
    return minus(left, right) if isinstance(expr.op, gast.Sub) else plus(left, right)


def times(left: Sum, right: Sum) -> Sum | None:
    """The product of a sum and an integer; None of two sums."""
    for found, other in ((left, right), (right, left)):
        if other.keys() <= {None}:
            return plus({}, found, other.get(None, 0))
    return None


def of_name(s: Function, name: str, depth: int) -> Sum | None:
    name = s.step_of(name)
    facts = s.facts.get(name)
    if not isinstance(facts, Num) or facts.kind != "int" or depth == 0:
        return None
    made = s.definitions.get(name)
    found = of_expr(s, made, depth - 1) if isinstance(made, (gast.BinOp, gast.Name)) else None
    if found is not None:
        return found
    size = facts.size
    if isinstance(size, Dim) and not isinstance(size.symbol, str) and (size.offset >= 0 or size.is_positive):
        return of_axis(s, size)
    return {name: 1}


def of_axis(s: Function, axis: Dim) -> Sum:
    """A length; one that may be clipped at 0 is one by itself."""
    if axis.offset == 0:
        s.whole_axes.setdefault(axis.symbol, axis)
        made = of_name(s, axis.symbol, thresholds.DEFINITIONS_FOLLOWED) if isinstance(axis.symbol, str) else None
        if made is not None:
            return made
    if axis.offset >= 0 or axis.is_positive:
        return plus({axis.symbol: 1}, {None: axis.offset})
    return {axis: 1}


def plus(a: Sum, b: Sum, times: int = 1) -> Sum:
    result = dict(a)
    for name, count in b.items():
        result[name] = result.get(name, 0) + times * count
    return {name: count for name, count in result.items() if count}


def minus(a: Sum, b: Sum) -> Sum:
    return plus(a, b, -1)


def key(found: Sum) -> Any:
    return frozenset(found.items())


def is_index(s: Function, name: Any) -> bool:
    return isinstance(name, str) and name in s.ranges


def is_positive(s: Function, found: Sum) -> bool:
    """True if a sum is surely 0 or more, in each step of the loops around."""
    for _ in range(thresholds.DEFINITIONS_FOLLOWED):
        index = next((name for name in found if is_index(s, name)), None)
        if index is None:
            break
        count, ends = found[index], s.ranges[index]
        low = of_expr(s, ends[0], thresholds.DEFINITIONS_FOLLOWED) if len(ends) == 2 else {}
        high = of_expr(s, ends[-1], thresholds.DEFINITIONS_FOLLOWED)
        if len(ends) > 2 or low is None or high is None:
            return False
        rest = {name: n for name, n in found.items() if name != index}
        found = plus(rest, low if count > 0 else plus(high, {None: -1}), count)
    lengths = {name: count for name, count in found.items() if name is not None}
    if any(count < 0 or not is_least_zero(s, name) for name, count in lengths.items()):
        return assume(s, found)
    proven = found.get(None, 0) + sum(count * least(s, name) for name, count in lengths.items()) >= 0
    return proven or assume(s, found)


def assume(s: Function, found: Sum) -> bool:
    """True if a sum is 0 or more for the arguments of the call that is compiled for, as it is for others served."""
    return s.sizes.assume(with_places(s, found))


def are_assumed_equal(s: Function, a: Axis, b: Axis) -> bool:
    """True if two axes have one length at the call that is compiled for, and at others that are served."""
    sums = [{None: x} if isinstance(x, int) else None if x is None else with_places(s, of_axis(s, x)) for x in (a, b)]
    return sums[0] is not None and sums[1] is not None and s.sizes.assume_equal(sums[0], sums[1])


def with_places(s: Function, found: Sum) -> Sum:
    """A sum of lengths and of the integers that they are computed from."""
    result: Sum = {}
    for name, count in found.items():
        made = of_name(s, name, thresholds.DEFINITIONS_FOLLOWED) if isinstance(name, str) else None
        if isinstance(name, Dim) and s.sizes.assume(cut := {name.symbol: 1, None: name.offset}):
            made = cut
        for part, times in ({name: 1} if made is None else made).items():
            result[part] = result.get(part, 0) + count * times
    for name in result:
        if isinstance(name, str) and name not in s.sizes.places:
            derive(s, name, s.definitions.get(name))
    return result


def derive(s: Function, name: str, made: Any) -> None:
    """Note a quotient, a remainder or a product of sums of lengths."""
    operation = OPERATORS.get(type(made.op)) if isinstance(made, gast.BinOp) else None
    if operation is None:
        return
    sums = [of_expr(s, part, thresholds.DEFINITIONS_FOLLOWED) for part in (made.left, made.right)]
    if None not in sums:
        left, right = [with_places(s, part) for part in sums if part is not None]
        s.sizes.derive(name, operation, left, right)


OPERATORS = {gast.FloorDiv: "//", gast.Mod: "%", gast.Mult: "*"}


def is_least_zero(s: Function, name: Any) -> bool:
    """True if what is added is a length, or an integer of which an array has been made."""
    return not isinstance(name, str) or noted(s, {name: 1}) is not None


def least(s: Function, name: Any) -> int:
    """The least that a length may be."""
    if isinstance(name, tuple) and name[-1] == "long":
        return thresholds.LONG_AXIS
    return 2 if name in s.whole_axes and s.whole_axes[name].several else 0


def as_length(s: Function, found: Sum) -> Axis:
    """The length that a sum is; None where it may be negative, or is none that is known."""
    if (made := noted(s, found)) is not None:
        return made
    offset = found.get(None, 0)
    symbols = [name for name in found if name is not None]
    if len(symbols) == 1 and found[symbols[0]] == 1 and not isinstance(symbols[0], str):
        whole = symbols[0] if isinstance(symbols[0], Dim) else s.whole_axes.get(symbols[0])
        length = whole and whole.plus(offset)
        if length is None or offset >= 0 or length.is_positive:
            return length
    if not is_positive(s, found):
        return None
    if not symbols:
        return offset
    several = is_positive(s, plus(found, {None: -2}))
    if len(symbols) == 1 and found[symbols[0]] == 1:
        return Dim(symbols[0], offset, several)
    terms = sorted([item for item in found.items() if item[0] is not None], key=str)
    return Dim(("sum", *terms), offset, several)


def lengthened(s: Function, axis: Axis, by: int) -> Axis:
    """The length that differs from another by an integer."""
    if not isinstance(axis, Dim):
        return None if axis is None else max(axis + by, 0)
    if by > 0 and axis.offset < 0 and assume(s, {axis.symbol: 1, None: axis.offset}):
        return Dim(axis.symbol, axis.offset + by)
    return axis.plus(by)


def noted(s: Function, found: Sum) -> Dim | None:
    """The length of arrays that have been made by a sum."""
    return next((around.made[key(found)] for around in blocks(s.lengths) if key(found) in around.made), None)


def blocks(lengths: Lengths | None) -> Iterator[Lengths]:
    while lengths is not None:
        yield lengths
        lengths = lengths.outer


def site_of(s: Function, root: int) -> Any:
    return next(site for site, number in s.roots.items() if number == root)


def display_length(s: Specialiser, facts: Facts) -> int | None:
    """The number of items of a list that stays as long as its display."""
    if not isinstance(facts, Listed) or len(facts.roots) != 1:
        return None
    (root,) = facts.roots
    if root not in s.displays or root in s.resized or ("resized", site_of(s, root)) in s.dynamic:
        return None
    s.assumed.add(root)
    return s.displays[root]
