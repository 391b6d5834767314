"""A check of programs that call SciPy: the value bit for bit, both modes and second derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad

RNG = np.random.default_rng(17)


def check_program(
    fn: Callable[..., Any], *args: Any, step: float = 1e-6, rtol: float = 1e-5, second: Any = True
) -> None:
    """Assert that derivatives of `fn` with respect to each argument are those of central differences.

    `step` and `rtol` are for what SciPy computes by iteration to a tolerance of its own.
    """
    before = [np.copy(a) for a in args]
    positions = tuple(range(len(args)))
    value, gradients = ad.value_and_grad(fn, positions)(*args)
    gradients = gradients if len(args) > 1 else (gradients,)
    np.testing.assert_array_equal(value, fn(*args))
    for k in positions:
        way = RNG.normal(size=np.shape(args[k]))
        after, ahead = moved(args, k, step * way), moved(args, k, -step * way)
        slope = (fn(*after) - fn(*ahead)) / (2 * step)
        scale = max(1.0, abs(float(slope)))
        np.testing.assert_allclose(np.sum(gradients[k] * way), slope, rtol, rtol * scale, err_msg=f"argument {k}")
        tangents = tuple(way if j == k else np.zeros_like(a) for j, a in enumerate(args))
        tangent = ad.jvp(fn, args, tangents)[1]
        np.testing.assert_allclose(tangent, np.sum(gradients[k] * way), 1e-8, 1e-8 * scale, err_msg=f"argument {k}")
        if second:
            check_second(ad.grad(fn, k), args, k, way, (after, ahead), step, rtol)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


def check_reverse(fn: Callable[..., Any], *args: Any, step: float = 1e-6, rtol: float = 1e-5) -> None:
    """Assert that gradients of `fn` with respect to each argument are those of central differences."""
    for k in range(len(args)):
        way = RNG.normal(size=np.shape(args[k]))
        slope = (fn(*moved(args, k, step * way)) - fn(*moved(args, k, -step * way))) / (2 * step)
        np.testing.assert_allclose(np.sum(ad.grad(fn, k)(*args) * way), slope, rtol, rtol, err_msg=f"argument {k}")


def check_second(gradient: Any, args: Any, k: int, way: Any, ends: Any, step: float, rtol: float) -> None:
    curved = (gradient(*ends[0]) - gradient(*ends[1])) / (2 * step)
    found = ad.grad(lambda *given: np.sum(gradient(*given) * way), k)(*args)
    np.testing.assert_allclose(found, curved, 10 * rtol, 10 * rtol * max(1.0, float(np.max(np.abs(curved)))))


def moved(args: Any, k: int, by: Any) -> tuple[Any, ...]:
    return (*args[:k], args[k] + by, *args[k + 1 :])
