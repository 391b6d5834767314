"""``locals()``: a dict of the variables where it is known which are bound, refused elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad


def check(variables: dict[str, Any], name: str, shape: tuple[int, ...]) -> Any:
    """A check of arguments as libraries write it: by the names that the message tells."""
    array = variables[name]
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}")
    return len(variables)


def projected(vector: Any, onto: Any) -> Any:
    check(locals(), "vector", (3,))
    count = check(locals(), "onto", (3,))
    return count * onto * np.dot(vector, onto) / np.dot(onto, onto)


def in_branches(vector: Any, onto: Any) -> Any:
    if np.sum(vector) > 0:
        scaled = vector * 2.0
        if check(locals(), "scaled", (3,)) == 3:
            return scaled * onto
    else:
        check(variables=locals(), name="onto", shape=(3,))
    return vector * onto


def in_a_loop(vector: Any, onto: Any) -> Any:
    for k in range(3):
        vector = vector * onto * check(locals(), "onto", (3,))
    return vector


VECTORS = np.array([0.3, -0.2, 0.9]), np.array([1.1, 0.4, -0.7])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("fn", [projected, in_branches, in_a_loop])
def test_checks_by_name(fn: Callable[..., Any], sign: float) -> None:
    def total(v: Any, w: Any) -> Any:
        return np.sum(fn(v, w) ** 2)

    args = sign * VECTORS[0], VECTORS[1]
    value, gradients = ad.value_and_grad(total, (0, 1))(*args)
    assert value == total(*args)
    for k, gradient in enumerate(gradients):
        steps = [(total(*moved(args, k, step)) - total(*moved(args, k, -step))) / 2e-6 for step in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(gradient, steps, rtol=1e-5, atol=1e-8)


def moved(args: tuple[Any, ...], k: int, step: Any) -> list[Any]:
    return [arg + step if place == k else arg for place, arg in enumerate(args)]


def test_the_error_is_that_of_the_check() -> None:
    with pytest.raises(ValueError, match="vector must have shape"):
        ad.grad(lambda v, w: np.sum(projected(v, w)))(np.ones(2), np.ones(3))


def bound_in_a_later_step(x: Any) -> Any:
    for _ in range(3):
        x = x * locals().get("y", 2.0)
        y = x
    return np.sum(y)


def kept(x: Any) -> Any:
    variables = locals()
    y = x * 2
    return np.sum(y) * len(variables) * len(locals())


def bound_on_one_path(x: Any) -> Any:
    if x[0] > 0:
        y = x
    return np.sum(locals()["x"])


def of_a_function_inside(x: Any) -> Any:
    def inside(z: Any) -> Any:
        return np.sum(locals()["z"] * x)

    return inside(x)


@pytest.mark.parametrize("fn", [bound_in_a_later_step, kept, bound_on_one_path, of_a_function_inside])
def test_variables_that_only_the_run_knows_are_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises(ad.AutodiffError, match="locals"):
        ad.grad(fn)(np.ones(3))
