"""Pullbacks by native programs.

A native program runs both sweeps as one, so a native pullback keeps the arguments instead of the state between the
sweeps: the value comes from one program, and each seed runs another from its start.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..numba import stays_numpy
from .dispatch import Adjoint
from .tensor_boxing import seeds_in

Pull = Callable[[Any], tuple[tuple[Any, ...], tuple[Any, ...]]]


class NativePullback:
    """The value of a function, and its gradients for seeds, both computed natively."""

    def __init__(self, fn: Any, positions: tuple[int, ...], weights: tuple[Any, ...], has_aux: bool) -> None:
        self.unseeded, self.seeded = (
            Adjoint(fn, positions, weights, has_aux, seeded, True, "numba") for seeded in (False, True)
        )

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], memory: int | None) -> tuple[Any, Pull] | None:
        """The value and the pullback; None, after a warning, where the program is not native."""
        self.unseeded.memory = self.seeded.memory = memory
        slots, values = self.seeded.bind(args, kwargs)
        variant = self.seeded.variant(slots, values, args, kwargs)
        if not hasattr(variant.function, "plain"):
            return None
        if variant.emitted.externals:
            stays_numpy(
                f"the pullback of {self.seeded.name}", "it reads from outside what may change before a seed comes"
            )
            return None
        kept = copy.deepcopy(values)

        def pull(seed: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            result = self.seeded.call(variant, kept, tuple(seeds_in(seed, variant.emitted.seeds)))
            return self.seeded.outcome(variant, kept, result)[1:]

        return self.unseeded.run(args, kwargs)[0], pull
