"""The variants of one function by the kinds of their arguments: bounded, the least recently used goes first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .specialization import Variant

MOST = 128  # variants that are kept of one function, besides those of the shapes that it met


class Variants:
    """Variants by the kinds of their arguments; those of one kind differ in the world that they were compiled for."""

    def __init__(self) -> None:
        self.age = 0  # how many were compiled
        self.by_kinds: dict[Any, tuple[Variant, ...]] = {}

    def find(self, kinds: Any, fn: Any) -> Variant | None:
        """The variant that was compiled for such arguments and for the world as it is."""
        for variant in self.by_kinds.get(kinds, ()):
            if variant.holds(fn):
                variant.used = self.age
                return variant
        return None

    def __iter__(self) -> Iterator[Variant]:
        """All variants, those that calls are repeated with among them."""
        several = [variant for variants in self.by_kinds.values() for variant in variants]
        for each in several:
            yield each
            several += [*([each.other] if each.other else []), *each.strong.values()]

    def keep(self, kinds: Any, variant: Variant) -> None:
        """Keep a variant, and drop the one that was used least recently where there are too many."""
        self.age += 1
        variant.used = self.age
        self.by_kinds[kinds] = (variant, *self.by_kinds.get(kinds, ()))
        every = [(each, place) for place, several in self.by_kinds.items() for each in several]
        if len(every) > MOST:
            oldest, place = min(every, key=lambda kept: kept[0].used)
            self.by_kinds[place] = tuple(each for each in self.by_kinds[place] if each is not oldest)
            if not self.by_kinds[place]:
                del self.by_kinds[place]
