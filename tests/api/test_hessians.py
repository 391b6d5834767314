"""Hessians, their products with directions, and positions under JAX's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import ArgumentTypeError

RNG = np.random.default_rng(0)


def energy(x: np.ndarray, y: np.ndarray) -> float:
    return np.sum(np.sin(x) * y**2) + x[0] * x[1] * y[0]


def blocks(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the second derivatives of the energy by hand: by x twice, by x and y, by y twice."""
    xx, xy, yy = np.diag(-np.sin(x) * y**2), np.diag(2 * np.cos(x) * y), np.diag(2 * np.sin(x))
    xx[0, 1] = xx[1, 0] = y[0]
    xy[0, 0] += x[1]
    xy[1, 0] += x[0]
    return xx, xy, yy


@pytest.mark.parametrize("n", [2, 3, 20])
def test_hessian_is_the_matrix_by_hand(n: int) -> None:
    x, y = RNG.normal(size=n), RNG.normal(size=n)
    xx, xy, yy = blocks(x, y)
    np.testing.assert_allclose(ad.hessian(energy)(x, y), xx, rtol=1e-12, atol=1e-14)
    (a, b), (c, d) = ad.hessian(energy, (0, 1))(x, y)
    for found, wanted in [(a, xx), (b, xy), (c, xy.T), (d, yy)]:
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_hvp_is_the_product_with_the_hessian() -> None:
    x, y, u, v = RNG.normal(size=(4, 5))
    xx, xy, yy = blocks(x, y)
    by_x, by_y = ad.hvp(energy, (x, y), (u, v))
    np.testing.assert_allclose(by_x, xx @ u + xy @ v, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(by_y, xy.T @ u + yy @ v, rtol=1e-12, atol=1e-13)


def test_hvp_of_a_bare_input_is_bare() -> None:
    assert ad.hvp(lambda x: x**3, 2.0, 1.0) == 12.0
    assert ad.hvp(lambda x: x**3, (2.0,), (1.0,)) == (12.0,)


def test_inside_programs_they_have_derivatives() -> None:
    x = RNG.normal(size=4)

    def cubes(x: np.ndarray) -> float:
        return np.sum(x**3)

    def by_hessian(x: np.ndarray) -> float:
        return np.sum(ad.hessian(cubes)(x))

    def by_product(x: np.ndarray) -> float:
        return np.sum(ad.hvp(cubes, x, x))

    def by_one_of_two(x: np.ndarray, y: np.ndarray) -> float:
        return np.sum(ad.hvp(energy, (x, y), (y, x))[1])

    np.testing.assert_allclose(ad.grad(by_hessian)(x), 6.0)
    np.testing.assert_allclose(ad.grad(by_product)(x), 12 * x)
    ad.check_grads(by_one_of_two, (x, x[::-1].copy()), order=1)


def test_argnums_follow_jax() -> None:
    x, y = RNG.normal(size=(2, 3))
    first, second = ad.grad(energy, (0, 1))(x, y)
    assert np.array_equal(ad.grad(energy, argnums=1)(x, y), second)
    (alone,) = ad.grad(energy, argnums=(1,))(x, y)
    assert np.array_equal(alone, second)
    value, (only,) = ad.value_and_grad(energy, argnums=(0,))(x, y)
    assert value == energy(x, y) and np.array_equal(only, first)
    for jacobian in (ad.jacobian, ad.jacfwd):
        (found,) = jacobian(lambda x: x * x, argnums=(0,))(x)
        np.testing.assert_allclose(found, np.diag(2 * x))
    ((xx,),) = ad.hessian(energy, argnums=(0,))(x, y)
    np.testing.assert_allclose(xx, blocks(x, y)[0], rtol=1e-12, atol=1e-14)


def test_argnums_inside_a_program() -> None:
    x, y = RNG.normal(size=(2, 3))

    def squared(x: np.ndarray, y: np.ndarray) -> float:
        (found,) = ad.grad(energy, argnums=(1,))(x, y)
        return np.sum(found**2)

    ad.check_grads(squared, (x, y), order=1)


def test_argnums_and_grad_position_exclude_each_other() -> None:
    for make in (ad.grad, ad.value_and_grad, ad.jacrev, ad.jacfwd, ad.hessian):
        with pytest.raises(ArgumentTypeError, match="give one of them"):
            make(energy, 1, argnums=1)


@pytest.mark.parametrize("name", ["custom_vjp", "defvjp", "elementwise_grad", "make_jaxpr", "scan", "optim", "random"])
def test_a_name_of_another_library_is_answered_with_the_name_here(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name}.*(write|register)"):
        getattr(ad, name)


def test_a_keyword_of_another_library_is_answered_with_the_one_here() -> None:
    for keyword in ("argnum", "wrt"):
        with pytest.raises(TypeError, match=f"{keyword}.*grad_position"):
            ad.grad(energy, **{keyword: 1})
    with pytest.raises(TypeError, match=r"write \(0, 1\)"):
        ad.grad(energy, [0, 1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'$"):
        ad.grad(energy, other=1)


def test_every_hint_is_of_a_name_that_is_not_there() -> None:
    from autodiff_sct.api.other_names import HINTS

    there: dict[str, Any] = {name: getattr(ad, name) for name in ad.__all__}
    assert not set(HINTS) & set(there)


def test_calls_written_inside_a_loop_share_what_was_compiled() -> None:
    from autodiff_sct.api.jacobians import gradient_of

    assert gradient_of(energy, (0, 1), True) is gradient_of(energy, (0, 1), True)
    assert gradient_of(energy, (0, 1), True) is not gradient_of(energy, (0,), True)
    changed = energy.__code__
    first = gradient_of(energy, 0, False)
    try:
        energy.__code__ = (lambda x, y: np.sum(x * y)).__code__
        assert gradient_of(energy, 0, False) is not first
    finally:
        energy.__code__ = changed


def test_products_of_tensors():
    point, along = ad.Tensor(np.array([1.0, 2.0, 3.0])), ad.Tensor(np.array([1.0, 0.5, -1.0]))

    def cubes(x):
        return (x * x * x).sum()

    expected = 6.0 * point.asnumpy() * along.asnumpy()
    for found in (
        ad.hvp(cubes, point, along),
        ad.grad(lambda x: ad.jvp(cubes, x, along)[1])(point),
        ad.grad(lambda x, v: ad.jvp(cubes, x, v)[1])(point, along),
    ):
        assert isinstance(found, ad.Tensor)
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("x", [np.array([1, 2]), 3, np.int64(3)])
@pytest.mark.parametrize("make", [ad.jacfwd, ad.hessian])
def test_integers_are_refused_with_the_rewrite(make, x):
    with pytest.raises(TypeError, match=r"pass floats, `float\(x\)` or `x.astype\(float\)`"):
        make(lambda x: np.sum(x * 2.0))(x)
