"""Assumptions: inequalities between the lengths and integers of its arguments that a program relies on.

::

    def f(u, v):
        n = len(v)
        return np.sum(u[1:n + 1] * v)    # the cut is as long as `v` where `u` has n + 1 items

A cut is as long as its ends are apart where these lie inside the axis.  Of axes that are lengths of arguments and ends
that are sums of such lengths and of integers, the call that a program is compiled for tells.  What the compiler asks
and what holds for this call is assumed, and is looked at again before the program serves another call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .pytree import children

__all__ = ["Assumption", "Sizes", "check_of"]

ITSELF = -1  # in the place of an axis: the integer
OPERATIONS: dict[str, Callable[[int, int], int]] = {"//": operator.floordiv, "%": operator.mod, "*": operator.mul}

# An argument by its number, or behind them something outside, and the way to a part of it; an axis of that.  Or an
# operation and two sums, in the place of the way, and `ITSELF`.
Place = tuple[tuple[Any, ...], int]
Terms = tuple[tuple[Place, int], ...]  # sizes at some places, each so many times
Total = tuple[Terms, int]  # a sum of sizes and an integer


@dataclass(frozen=True)
class Assumption:
    """Sizes at some places, each so many times, add up to a bound or more."""

    terms: Terms
    bound: int

    def is_of_shapes(self, count: int) -> bool:
        """True if the shapes of the arguments themselves decide, which are so many."""
        return all(path[0] < count and len(path) == 1 and axis != ITSELF for path, axis in places_in(self.terms))

    def is_of_arguments(self, count: int) -> bool:
        """True if nothing outside decides."""
        return all(path[0] < count for path, _ in places_in(self.terms))


def places_in(terms: Terms) -> Iterator[Place]:
    """The places of the sizes in a sum, those that others are computed from among them."""
    for (path, axis), _ in terms:
        if path[0] in OPERATIONS:
            for inner, _ in path[1:]:
                yield from places_in(inner)
        else:
            yield path, axis


@dataclass
class Sizes:
    """The sizes of the arguments of a call and of what is read from outside, and what is assumed of them.

    `places` are by the symbol of a length without its class, or by the variable of an integer.  Without `known` sizes
    only that is assumed which follows from what has been.
    """

    count: int = 0  # of the arguments
    places: dict[Any, Place] = field(default_factory=dict)
    known: dict[Place, int] | None = None
    bounds: dict[Terms, int] = field(default_factory=dict)

    def another(self) -> Sizes:
        """The same before anything was assumed in addition."""
        return Sizes(self.count, dict(self.places), None if self.known is None else dict(self.known), dict(self.bounds))

    def following(self, assumed: Iterable[Assumption]) -> Sizes:
        """The sizes for another program at the same calls as one that assumes this."""
        bounds = {a.terms: a.bound for a in assumed if a.is_of_arguments(self.count)}
        return Sizes(self.count, dict(self.places), None, bounds)

    def note(self, symbol: str, value: Any, path: tuple[int, ...]) -> None:
        """Note the lengths in a value, and the integer that it is."""
        if self.known is None:
            return
        if type(value) is int and len(path) == 1:
            self.places[symbol, ITSELF] = path, ITSELF
            self.known[path, ITSELF] = value
        elif isinstance(value, np.ndarray):
            for axis, length in enumerate(value.shape):
                self.places[f"{symbol}:", axis] = path, axis
                self.known[path, axis] = length
        elif isinstance(value, (tuple, list, dict)) and len(path) <= DEPTH:
            for k, part in enumerate(items_of(value)):
                self.note(f"{symbol}[{k}]", part, (*path, k))

    def call_integer(self, variable: str, symbol: str) -> None:
        """Let a variable stand for the integer that goes by a symbol."""
        if (symbol, ITSELF) in self.places:
            self.places[variable] = self.places[symbol, ITSELF]

    def derive(self, variable: str, operation: str, left: Mapping[Any, int], right: Mapping[Any, int]) -> bool:
        """Let a variable stand for an integer that is computed from two sums; False if that is not known."""
        first, second = self.total(left), self.total(right)
        if self.known is None or first is None or second is None:
            return False
        place = (operation, first, second), ITSELF
        try:
            self.known[place] = OPERATIONS[operation](self.value(first), self.value(second))
        except ZeroDivisionError:
            return False
        self.places[variable] = place
        return True

    def total(self, found: Mapping[Any, int]) -> Total | None:
        """A sum with places for symbols and variables; None if there is one without a place."""
        terms: dict[Place, int] = {}
        for name, count in found.items():
            place = self.places.get(name[:2] if isinstance(name, tuple) else name)
            if place is not None:
                terms[place] = terms.get(place, 0) + count
            elif name is not None:
                return None
        return tuple(sorted([term for term in terms.items() if term[1]], key=repr)), found.get(None, 0)

    def value(self, total: Total) -> int:
        """The value of a sum at the call that is compiled for."""
        assert self.known is not None
        return sum(self.known[place] * count for place, count in total[0]) + total[1]

    def assume(self, found: Mapping[Any, int]) -> bool:
        """True if a sum of sizes and of an integer, under None, is 0 or more at every call that the program serves."""
        total = self.total(found)
        if total is None:
            return False
        asked, bound = total[0], -total[1]
        if not asked:
            return bound <= 0
        if self.bounds.get(asked, bound - 1) >= bound:
            return True
        if self.known is None or self.value(total) < 0:
            return False
        self.bounds[asked] = bound
        return True

    def assume_equal(self, left: Mapping[Any, int], right: Mapping[Any, int]) -> bool:
        """True if two sums are equal at every call that the program serves."""
        difference = {name: left.get(name, 0) - right.get(name, 0) for name in {**left, **right}}
        total = self.total(difference)
        if total is None or self.known is not None and self.value(total) != 0:
            return False
        return self.assume(difference) and self.assume({name: -count for name, count in difference.items()})

    def outside(self) -> set[int]:
        """The numbers of what is outside and assumed to be of some size."""
        numbers = {path[0] for terms in self.bounds for path, _ in places_in(terms)}
        return {number for number in numbers if number >= self.count}

    def assumed(self, numbers: Mapping[int, int]) -> list[Assumption]:
        """The assumptions, with other numbers of what is outside; what has none keeps its size."""
        found = []
        for terms, bound in self.bounds.items():
            kept, fixed = self.renumbered((terms, 0), numbers)
            if kept:
                found.append(Assumption(kept, bound - fixed))
        return found

    def renumbered(self, total: Total, numbers: Mapping[int, int]) -> Total:
        """A sum with other numbers of what is outside; the size of what has none is part of the integer."""
        kept, constant = [], total[1]
        for place, count in total[0]:
            (number, *way), axis = place
            if number in OPERATIONS:
                kept.append((((number, *[self.renumbered(part, numbers) for part in way]), axis), count))
            elif number < self.count or number in numbers:
                kept.append((((numbers.get(number, number), *way), axis), count))
            else:
                constant += count * (self.known or {})[place]
        return tuple(kept), constant


def sizes_of(arguments: Mapping[str, Any]) -> Sizes:
    """The sizes of arguments by the names of their parameters, with the symbols that `describe` gives to lengths."""
    found = Sizes(len(arguments), known={})
    for number, (name, value) in enumerate(arguments.items()):
        found.note(name, value, (number,))
    return found


def size_of(value: Any) -> Any:
    """The size of something outside: an integer itself, or the shape of an array."""
    return value if type(value) is int else np.shape(value)


DEPTH = 3  # of containers in each other whose lengths are looked at


def items_of(value: Any) -> list[Any]:
    """The parts of a container in order."""
    return [*(children(value) or {}).values()]


def check_of(assumed: Iterable[Assumption]) -> Callable[[Any], bool] | None:
    """A function that tells whether arguments are as assumed; None if there is nothing to look at.

    Its text consists of numbers and operators alone.  What cannot be computed is not as assumed.
    """
    texts = [f"{text_of_total((each.terms, -each.bound))} >= 0" for each in assumed]
    if not texts:
        return None
    holds: Callable[[Any], bool] = eval(f"lambda values: {' and '.join(texts)}", {"items_of": items_of})

    def check(values: Any) -> bool:
        try:
            return holds(values)
        except ZeroDivisionError:
            return False

    return check if any("//" in text or "%" in text for text in texts) else holds


def text_of_total(total: Total) -> str:
    """The expression of a sum, given the arguments."""
    return " + ".join([*[f"{count} * {text_of(place)}" for place, count in total[0]], str(total[1])])


def text_of(place: Place) -> str:
    """The expression of a size.

    >>> text_of(((1, 0), 2)), text_of(((0,), ITSELF))
    ('items_of(values[1])[0].shape[2]', 'values[0]')
    >>> text_of((("//", (((((0,), 1), 1),), 0), ((), 2)), ITSELF))
    '((1 * values[0].shape[1] + 0) // (2))'
    """
    (number, *way), axis = place
    if number in OPERATIONS:
        left, right = map(text_of_total, way)
        return f"(({left}) {number} ({right}))"
    text = f"values[{number}]"
    for k in way:
        text = f"items_of({text})[{k}]"
    return text if axis == ITSELF else f"{text}.shape[{axis}]"
