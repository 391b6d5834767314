"""Functions whose second or third order was once wrong or crashed, against differences of the order below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.bank.differences import slope

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 6))

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        f"{name} {s}": (lambda x, f=getattr(np.fft, name), s=s: np.sum(np.abs(f(x, s=s, axes=(0, 1)) ** 2) ** 2))
        for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn")
        for s in ((4, 6), (3, 4), (5, 8))
    },
    "hstack": lambda x: np.sum(np.hstack(x) ** 3),
    "vstack": lambda x: np.sum(np.vstack(x) ** 3),
    "stack": lambda x: np.sum(np.stack(x, axis=1) ** 3 * x.T),
    "concatenate": lambda x: np.sum(np.concatenate(x) ** 3),
    "tensordot": lambda x: np.sum(np.tensordot(x, x**2, axes=[[0, 1], [0, 1]]) ** 2),
    "tensordot of one axis": lambda x: np.sum(np.tensordot(x, np.sin(x), axes=[[0], [0]]) ** 2),
    "gradient of several axes": lambda x: np.sum(np.gradient(x**2)[0] * np.gradient(x)[1] ** 2),
    "gradient of listed axes": lambda x: np.sum(np.gradient(x**2, axis=(1, 0))[0] ** 2),
}


def directed(f: Callable[..., Any], way: Any) -> Callable[..., Any]:
    """The derivative along a direction of the gradient, as a function of the same argument."""
    return lambda x: np.sum(ad.grad(f)(x) * way)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_order(name: str) -> None:
    f, way = FUNCTIONS[name], RNG.normal(size=A.shape)
    expected = slope(lambda t: ad.grad(f)(A + t * way), 2.0**-12, 1.0)
    tangent = lambda x: ad.jvp(f, (x,), (way,))[1]
    for found in (ad.grad(directed(f, way))(A), ad.jvp(ad.grad(f), (A,), (way,))[1], ad.grad(tangent)(A)):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.max(np.abs(expected)))


@pytest.mark.parametrize(
    "name", ["tensordot", "tensordot of one axis", "hstack", "rfft2 (5, 8)", "gradient of listed axes"]
)
def test_third_order(name: str) -> None:
    f, way = FUNCTIONS[name], RNG.normal(size=A.shape)
    second = ad.grad(directed(f, way))
    expected = slope(lambda t: second(A + t * way), 2.0**-12, 1.0)
    scale = np.max(np.abs(expected), initial=1.0)
    for found in (ad.grad(directed(directed(f, way), way))(A), ad.jvp(second, (A,), (way,))[1]):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * scale)


def test_a_tangent_of_a_gradient_of_several_axes_is_a_tuple() -> None:
    value, tangent = ad.jvp(np.gradient, (A,), (A,))
    assert type(value) is type(tangent) is type(np.gradient(A))
    for ours, theirs in zip(tangent, np.gradient(A), strict=True):
        np.testing.assert_allclose(ours, theirs)
