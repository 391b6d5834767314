"""Programs with the arguments at which they are checked: gradient and tangent against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

Cases = list[tuple[Callable[..., Any], tuple[Any, ...]]]
V = np.array([0.4, 1.3, -0.7, 0.9])


def registrar(cases: Cases) -> Callable[..., Callable[[Any], Any]]:
    """Return a decorator that adds a program to `cases`, once for each of its arguments."""

    def case(*arguments: Any) -> Callable[[Any], Any]:
        def register(fn: Any) -> Any:
            cases.extend((fn, a if isinstance(a, tuple) else (a,)) for a in arguments)
            return fn

        return register

    return case


def differences(fn: Any, args: tuple[Any, ...], position: int = 0) -> Any:
    x = np.array(args[position], dtype=float)
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[index] += step
            given = [
                *args[:position],
                moved if isinstance(args[position], np.ndarray) else float(moved),
                *args[position + 1 :],
            ]
            ends.append(np.sum(fn(*given)))
        result[index] = (ends[0] - ends[1]) / 2e-6
    return result


def names(cases: Cases) -> list[str]:
    """Ids for `cases`."""
    return [f"{fn.__name__}-{k}" for k, (fn, _) in enumerate(cases)]


def check_gradient(fn: Any, args: Any) -> None:
    """Compare value and gradient, also where the value is not asked for."""
    value, gradient = ad.value_and_grad(fn)(*args)
    assert np.array_equal(value, fn(*args))
    # What only the adjoint reads may be summed in another order where the value is not asked for.
    np.testing.assert_allclose(ad.grad(fn)(*args), gradient, rtol=1e-13, atol=1e-15)
    assert np.shape(gradient) == np.shape(args[0])
    np.testing.assert_allclose(gradient, differences(fn, args), rtol=1e-5, atol=1e-7)


def check_beside_plain(fn: Any, x: Any, name: str) -> None:
    """Check value and gradient, of small arrays against differences, of others against those without a pass."""
    kept = x.copy()
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x) and np.array_equal(x, kept)
    if len(x) < 10:
        expected = differences(fn, (x,))
    else:
        with pass_registry.without(name):
            expected = ad.grad(fn)(x)
    for found in (gradient, ad.grad(fn)(x)):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def check_tangent(fn: Any, args: Any) -> None:
    """Compare the tangent in one direction."""
    direction = np.cos(np.arange(np.size(args[0]))).reshape(np.shape(args[0]))
    if not isinstance(args[0], np.ndarray):
        direction = float(direction)
    value, tangent = ad.jvp(lambda x: fn(x, *args[1:]), (args[0],), (direction,))
    assert np.array_equal(value, fn(*args))
    np.testing.assert_allclose(np.sum(tangent), np.sum(differences(fn, args) * direction), rtol=1e-5, atol=1e-7)


def table(x: Any) -> list[list[Any]]:
    """Return the rows `1 * x`, `2 * x` and `3 * x`, which loops make as lists."""
    rows = []
    for k in range(1, 4):
        rows.append([v * k for v in x])
    return rows
