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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .pytree import children

__all__ = ["Assumption", "Sizes", "check_of"]

ITSELF = -1  # in the place of an axis: the integer
# An argument by its number, or behind them something outside, and the way to a part of it; an axis of that.
Place = tuple[tuple[int, ...], int]


@dataclass(frozen=True)
class Assumption:
    """Sizes at some places, each so many times, add up to a bound or more."""

    terms: tuple[tuple[Place, int], ...]
    bound: int

    def is_of_shapes(self, count: int) -> bool:
        """True if the shapes of the arguments themselves decide, which are so many."""
        return all(path[0] < count and len(path) == 1 and axis != ITSELF for (path, axis), _ in self.terms)

    def is_of_arguments(self, count: int) -> bool:
        """True if nothing outside decides."""
        return all(path[0] < count for (path, _), _ in self.terms)


@dataclass
class Sizes:
    """The sizes of the arguments of a call and of what is read from outside, and what is assumed of them.

    `places` are by the symbol of a length without its class, or by the variable of an integer.  Without `known` sizes
    only that is assumed which follows from what has been.
    """

    count: int = 0  # of the arguments
    places: dict[Any, Place] = field(default_factory=dict)
    known: dict[Place, int] | None = None
    bounds: dict[tuple[tuple[Place, int], ...], int] = field(default_factory=dict)

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

    def assume(self, found: Mapping[Any, int]) -> bool:
        """True if a sum of sizes and of an integer, under None, is 0 or more at every call that the program serves."""
        terms: dict[Place, int] = {}
        for name, count in found.items():
            place = self.places.get(name[:2] if isinstance(name, tuple) else name)
            if place is not None:
                terms[place] = terms.get(place, 0) + count
            elif name is not None:
                return False
        asked, bound = tuple(sorted(terms.items())), -found.get(None, 0)
        if not asked:
            return bound <= 0
        if self.bounds.get(asked, bound - 1) >= bound:
            return True
        if self.known is None or sum(self.known[place] * n for place, n in asked) < bound:
            return False
        self.bounds[asked] = bound
        return True

    def outside(self) -> set[int]:
        """The numbers of what is outside and assumed to be of some size."""
        numbers = {path[0] for terms in self.bounds for (path, _), _ in terms}
        return {number for number in numbers if number >= self.count}

    def assumed(self, numbers: Mapping[int, int]) -> list[Assumption]:
        """The assumptions, with other numbers of what is outside; what has none keeps its size."""
        found = []
        for terms, bound in self.bounds.items():
            kept = []
            for ((number, *way), axis), times in terms:
                if number < self.count or number in numbers:
                    kept.append((((numbers.get(number, number), *way), axis), times))
                else:
                    bound -= times * (self.known or {})[(number, *way), axis]
            if kept:
                found.append(Assumption(tuple(kept), bound))
        return found


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

    Its text consists of numbers alone.
    """
    texts = [f"{' + '.join(f'{count} * {text_of(place)}' for place, count in a.terms)} >= {a.bound}" for a in assumed]
    if not texts:
        return None
    found: Callable[[Any], bool] = eval(f"lambda values: {' and '.join(texts)}", {"items_of": items_of})
    return found


def text_of(place: Place) -> str:
    """The expression of a size, given the arguments.

    >>> text_of(((1, 0), 2)), text_of(((0,), ITSELF))
    ('items_of(values[1])[0].shape[2]', 'values[0]')
    """
    (number, *way), axis = place
    text = f"values[{number}]"
    for k in way:
        text = f"items_of({text})[{k}]"
    return text if axis == ITSELF else f"{text}.shape[{axis}]"
