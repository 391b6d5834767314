"""Pullbacks and pushforwards: values with functions from seeds to gradients, and with tangents.

A native program runs both sweeps as one, so a native pullback keeps the arguments instead of the state between the
sweeps: the value comes from one program, and each seed runs another from its start.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.process_state import part
from ...errors import Degenerate
from ...runtime.apart import Apart
from ..domain.pytree import is_tensor, leaves
from ..domain.request import Emitted, Request
from ..numba import stays_numpy
from .argument_binding import seeds_in, unwrapped, wrap_by, wrapped_like
from .attempts import holds_nan
from .dispatch import Adjoint, Compiled
from .specialization import Variant

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


class Pullback(Compiled):
    """A value, and a function from seeds to gradients that may be called many times."""

    split = True

    def __init__(
        self, fn: Any, positions: tuple[int, ...], weights: tuple[Any, ...], has_aux: bool, backend: str = "numpy"
    ) -> None:
        super().__init__(fn, positions, weights, has_aux, True, True)
        self.whole = None
        if backend == "numba":
            self.whole = NativePullback(fn, positions, weights, has_aux)

    def run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Callable[[Any], tuple[tuple[Any, ...], tuple[Any, ...]]]]:
        """The value, and ``pull(seed) -> (gradients by position, gradients by weight)``."""
        found = None if self.whole is None else self.whole.run(args, kwargs, self.memory)
        if found is not None:
            return found
        slots, values = self.bind(args, kwargs)
        variant = self.variant(slots, values, args, kwargs)
        value, state = self.call(variant, values)
        backward = variant.emitted.function.__autodiff_backward__  # type: ignore[union-attr]
        chosen = [values[k] for k in variant.wrt]

        def pull(seed: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            try:
                result = backward(*state, *seeds_in(seed, variant.emitted.seeds))
            except (np.linalg.LinAlgError, Degenerate):
                again = self.from_the_start(variant, args, kwargs, seed, output)
                if again is None:
                    raise
                return again
            if variant.may_be_nan and holds_nan(result):
                again = self.from_the_start(variant, args, kwargs, seed, output)
                if again is not None:
                    return again
            parts = result if variant.count > 1 else (result,)
            split = len(self.positions)
            grads = tuple(wrapped_like(g, v) for g, v in zip(parts[:split], chosen))
            return grads, tuple(wrapped_like(g, w) for g, w in zip(parts[split:], self.weights))

        output = variant.wrap_output(value)
        return output, pull

    @cached_property
    def joint(self) -> Adjoint:
        """Both sweeps as one program, for seeds of which the backward one fails."""
        result = Adjoint(self.fn, self.positions, self.weights, self.has_aux, True, True)
        result.memory = self.memory
        return result

    def from_the_start(
        self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any, output: Any
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
        """The results of both sweeps; None where the value is another one, as arguments have changed since."""
        if not variant.may_be_nan:
            return None
        with np.errstate(all="ignore"):
            value, *gradients = self.joint.run_carefully(args, kwargs, seed)
        return (gradients[0], gradients[1]) if same_numbers(value, output) else None


class Pushforward(Compiled):
    """A value and its tangent."""

    def __init__(self, fn: Any, positions: tuple[int, ...], has_aux: bool, backend: str = "numpy") -> None:
        super().__init__(fn, positions, (), has_aux, False, True, backend)

    def request(self, parameters: dict[str, Any], wrt: tuple[str, ...]) -> Request:
        return replace(super().request(parameters, wrt), lists=self.backend == "numpy")

    def emit(self, request: Request) -> Emitted:
        found: Emitted = part("compiler").tangent(request)
        return found

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        """The value of the function, and the tangent of its differentiated output for these tangents of its inputs."""
        slots, values = self.bind(args, kwargs)
        variant = self.variant(slots, values, args, kwargs)
        given = tuple(matched(t, values[k]) for t, k in zip(tangents, variant.wrt))
        try:
            value, tangent = self.derive(variant, values, given)
        except Apart as passing:
            raise passing.__cause__ from None  # type: ignore[misc]
        if variant.tensors:
            spec = variant.wrap[0] if self.has_aux and isinstance(variant.wrap, tuple) else variant.wrap
            tangent = tangent if spec is None else wrap_by(spec, tangent)
        return variant.wrap_output(value), tangent

    def derivatives_in(self, variant: Variant, result: Any) -> Any:
        return result[1]


def same_numbers(a: Any, b: Any) -> bool:
    """True if two results of one function hold the same numbers, bit for bit."""
    numbers, others = ([np.asarray(leaf) for leaf in leaves(x, x)] for x in (a, b))
    return len(numbers) == len(others) and all(p.tobytes() == q.tobytes() for p, q in zip(numbers, others))


def matched(tangent: Any, value: Any) -> Any:
    """A tangent in the shape and dtype of its value."""
    tangent = unwrapped(tangent)
    if isinstance(value, np.ndarray) and not (isinstance(tangent, np.ndarray) and tangent.dtype == value.dtype):
        return np.asarray(tangent, dtype=value.dtype)
    if is_tensor(value):
        return np.asarray(tangent, dtype=np.asarray(value).dtype)
    return tangent
