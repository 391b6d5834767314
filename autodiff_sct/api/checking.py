"""`check_grads`: the derivatives of a function, in both modes and at any order, against central differences."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiler.domain.pytree import children, has_derivative, leaves, replaced
from ..errors import ArgumentTypeError, ArgumentValueError, DerivativeMismatch
from .arguments import checked_callable, fitted, name_of
from .entry import compiled
from .gradfunction import GradFunction

__all__ = ["check_grads"]

MODES = ("fwd", "rev")
ROUNDINGS = 16  # units in the last place by which each value may be off
ELEMENTS = 200  # of an array that are compared one by one to find where a gradient is wrong


def check_grads(
    fn: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: str | Sequence[str] = MODES,
    *,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare the derivatives of `fn` at `args` with central differences of fourth order.

    Each derivative is compared along one random direction.  Every float or complex number in `args` is moved; whatever
    else is there, is passed as it is.  `fn` is called on copies of the arguments.

    Parameters
    ----------
    fn : callable or Cell
        The function.
    args : sequence
        Its arguments: arrays, numbers and containers of them.
    order : int
        The highest order of derivative to compare.
    modes : {'fwd', 'rev'} or sequence of them
        The modes to compare, at each order: forward (`jvp`) and reverse (`vjp`).
    rtol : float, optional
        The relative error that is allowed: 1e-5 by default, 1e-2 where an argument is of single precision or less.
    eps : float, optional
        The step of the differences, by default 2**-12, or 2**-6 with single precision.

    Raises
    ------
    DerivativeMismatch
        Where a derivative differs from the differences.  Its message names the order, the mode, and in reverse mode the
        argument and the element that differ most.  It is an AssertionError, too.
    TypeError, ValueError
        If `args` is no sequence or holds nothing to differentiate with respect to, or a mode has another name.

    Examples
    --------
    >>> import numpy as np
    >>> check_grads(lambda x, y: np.sin(x) @ y, (np.ones(3), np.arange(3.0)))
    """
    checked_callable(fn)
    if not isinstance(args, (tuple, list)):
        raise ArgumentTypeError(f"args is a tuple of the arguments, not {args!r}: write check_grads(fn, (x,))")
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    if not set(wanted) <= set(MODES):
        raise ArgumentValueError(f"modes are 'fwd' and 'rev', not {modes!r}")
    positions = tuple(k for k, arg in enumerate(args) if any(True for _ in leaves(arg, arg)))
    if not positions:
        raise ArgumentValueError("args holds neither a float nor an array of floats: there is nothing to differentiate")
    moved = [leaf for position in positions for leaf in leaves(args[position], args[position])]
    narrow = any(np.finfo(np.asarray(leaf).dtype).eps > 1e-10 for leaf in moved)
    step, error = eps or (2.0**-6 if narrow else 2.0**-12), rtol or (1e-2 if narrow else 1e-5)
    name, rng, below = name_of(fn), np.random.default_rng(0), 0.0
    for k in range(1, order + 1):
        check = Check(fn, tuple(args), positions, name, k, step, error, below)
        directions = [check.direction(args[position], rng) for position in positions]
        if "fwd" in wanted:
            check.forward(directions)
        if "rev" in wanted:
            check.reverse(directions, rng)
        fn, below = GradFunction(fn, positions, always_tuple=True), check.rounding()


@dataclass(frozen=True)
class Check:
    """The comparison of the derivatives of one function, itself a derivative of order ``order - 1``, at one point."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    positions: tuple[int, ...]
    name: str
    order: int
    step: float
    rtol: float
    below: float  # the rounding error of the largest number that the functions of lower orders return

    def direction(self, value: Any, rng: np.random.Generator) -> Any:
        """Return random numbers in the structure, the shapes and the dtypes of `value`."""
        return replaced(value, (random_like(leaf, rng) for leaf in list(leaves(value, value))))

    def output(self, directions: list[Any], step: float) -> list[np.ndarray]:
        """Return the numbers that the function returns, its arguments moved along the directions by a step."""
        args = list(copy.deepcopy(self.args))
        for position, way in zip(self.positions, directions):
            value = args[position]
            pairs = zip(leaves(value, value), leaves(way, value))
            args[position] = replaced(value, (fitted(np.asarray(x) + step * np.asarray(t), x, "x") for x, t in pairs))
        value = self.fn(*args)
        return [np.asarray(leaf) for leaf in leaves(value, value)]

    def slopes(self, directions: list[Any]) -> list[np.ndarray]:
        """Return the derivative of each number that the function returns along the directions, by differences."""
        h = self.step
        near, far = (zip(self.output(directions, s), self.output(directions, -s)) for s in (h, 2 * h))
        return [(8 * (a - b) - (c - d)) / (12 * h) for (a, b), (c, d) in zip(near, far)]

    def noise(self) -> float:
        """Return a bound on the rounding errors of the differences of one number that the function returns."""
        return ROUNDINGS * self.rounding() / self.step

    def rounding(self) -> float:
        """Return the rounding error of the largest number that the function, or one of a lower order, returns.

        A derivative that vanishes is what cancels of numbers as large as those of the function that it is of.
        """
        values = self.output([self.direction(self.args[p], np.random.default_rng(0)) for p in self.positions], 0.0)
        return max(self.below, *(float(np.finfo(y.dtype).eps * np.max(np.abs(y), initial=0.0)) for y in values), 0.0)

    def forward(self, directions: list[Any]) -> None:
        """Compare the tangent along the directions."""
        push = compiled("Pushforward", self.fn, self.positions, False, "numpy")
        value, tangent = push.run(copy.deepcopy(self.args), {}, tuple(directions))
        expected = self.slopes(directions)
        for found, wanted in zip(leaves(tangent, value), expected):
            if not close(np.asarray(found), wanted, self.rtol, self.noise()):
                self.refute("forward", "the tangent along a random direction", found, wanted)

    def reverse(self, directions: list[Any], rng: np.random.Generator) -> None:
        """Compare the gradient with a random seed along the directions; where it differs, find the element."""
        pullback = compiled("Pullback", self.fn, self.positions, (), False, "numpy")
        value, pull = pullback.run(copy.deepcopy(self.args), {})
        seed = self.direction(value, rng)
        weights = [np.asarray(leaf) for leaf in leaves(seed, value)]
        gradients, _ = pull(seed)
        parts = [
            pairing([np.asarray(g) for g in leaves(gradient, self.args[position])], list(leaves(way, way)))
            for gradient, position, way in zip(gradients, self.positions, directions)
        ]
        found, wanted = math.fsum(parts), pairing(weights, self.slopes(directions))
        scale = max(abs(wanted), *map(abs, parts))
        noise = self.noise() * sum(float(np.sum(np.abs(w))) for w in weights)
        if not abs(found - wanted) <= self.rtol * scale + noise:
            where, one, other = self.worst(gradients, weights)
            self.refute("reverse", where, one, other)

    def worst(self, gradients: Any, weights: list[np.ndarray]) -> tuple[str, Any, Any]:
        """Return the place, the gradient and the differences of the element that differ most."""
        cases = []
        for which, position in enumerate(self.positions):
            arg = self.args[position]
            found = [np.asarray(g) for g in leaves(gradients[which], arg)]
            for k, (path, leaf) in enumerate(places(arg, parameter(self.fn, position))):
                for index in list(np.ndindex(np.shape(leaf)))[:ELEMENTS]:
                    wanted = pairing(weights, self.slopes(self.unit(which, k, index)))
                    got = found[k][index].real
                    where = f"the gradient with respect to {path}{list(index) if index else ''}"
                    cases.append((abs(got - wanted), where, got, wanted))
        return max(cases, key=lambda case: math.inf if math.isnan(case[0]) else case[0])[1:]

    def unit(self, which: int, k: int, index: tuple[int, ...]) -> list[Any]:
        """Return directions that are 1 at one element of leaf `k` of one argument, and 0 elsewhere."""
        directions = []
        for n, position in enumerate(self.positions):
            value = self.args[position]
            zeros = [np.zeros(np.shape(leaf)) for leaf in leaves(value, value)]
            if n == which:
                zeros[k][index] = 1.0
            directions.append(replaced(value, (fitted(z, x, "x") for z, x in zip(zeros, leaves(value, value)))))
        return directions

    def refute(self, mode: str, what: str, found: Any, wanted: Any) -> None:
        """Raise the error that shows both numbers."""
        raise DerivativeMismatch(
            f"order {self.order} of {self.name} in {mode} mode: {what} is {found}, central differences give {wanted}"
        )


def random_like(leaf: Any, rng: np.random.Generator) -> Any:
    """Return normally distributed numbers of the shape and dtype of a leaf."""
    shape = np.shape(leaf)
    imaginary = 1j * rng.normal(size=shape) if np.asarray(leaf).dtype.kind == "c" else 0.0
    return fitted(rng.normal(size=shape) + imaginary, leaf, "x")


def pairing(covectors: list[Any], vectors: list[Any]) -> float:
    """Return the real part of the sum of the products of covectors and vectors."""
    return math.fsum(float(np.real(np.sum(np.asarray(c) * np.asarray(v)))) for c, v in zip(covectors, vectors))


def close(found: np.ndarray, wanted: np.ndarray, rtol: float, noise: float) -> bool:
    """True if two arrays agree within a noise, on the scale of the largest number in either."""
    scale = max(np.max(np.abs(found), initial=0.0), np.max(np.abs(wanted), initial=0.0))
    return found.shape == wanted.shape and bool(np.all(np.abs(found - wanted) <= rtol * scale + noise))


def places(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each number or array in a value, with the expression that reads it."""
    if has_derivative(value):
        yield path, value
        return
    for key, part in (children(value) or {}).items():
        item = isinstance(value, (dict, tuple, list))
        yield from places(part, f"{path}[{key!r}]" if item else f"{path}.{key}")


def parameter(fn: Callable[..., Any], position: int) -> str:
    """Return the name of a positional parameter where the signature tells it, else its number."""
    try:
        names = list(inspect.signature(getattr(fn, "construct", fn)).parameters)
    except (TypeError, ValueError):
        names = []
    return names[position] if position < len(names) else f"argument {position}"
