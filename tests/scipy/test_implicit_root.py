"""`implicit_root`: solvers of the user's own, differentiated by the implicit function theorem."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import implicit_root
from autodiff_sct.errors import ArgumentTypeError, ArgumentValueError, AutodiffError


def newton(x: Any, a: Any, b: Any) -> Any:
    for _ in range(50):
        x = x - (x**3 + a * x - b) / (3 * x * x + a)
    return x


def cubic(x: Any, a: Any, b: Any) -> Any:
    return x**3 + a * x - b


ROOT = implicit_root(newton, cubic)


def newtons(x: Any, a: Any, b: Any) -> Any:
    for _ in range(30):
        x = x - np.linalg.solve(a + np.diag(3 * x**2), a @ x + x**3 - b)
    return x


VECTOR = implicit_root(newtons, lambda x, a, b: a @ x + x**3 - b)


def by_text(x: Any, a: Any) -> Any:
    """A solver that no compiler can follow."""
    with io.StringIO(repr(float(a))) as file:
        return eval("v ** 0.5", {"v": float(file.read())})


def by_arguments(a: Any, b: Any) -> Any:
    return ROOT(1.0, a, b) ** 2 * a


def by_captured(a: Any, b: Any) -> Any:
    return implicit_root(lambda x: newton(x, a, b), lambda x: cubic(x, a, b))(1.0) * b


def by_both(a: Any, b: Any) -> Any:
    return implicit_root(newton, lambda x, p, q: x**3 + a * x - q)(1.0, a, b) * b


def by_opaque_solver(a: Any, b: Any) -> Any:
    return implicit_root(by_text, lambda x, a: x * x - a)(1.0, a * b)


@pytest.mark.parametrize("f", [by_arguments, by_captured, by_both, by_opaque_solver], ids=lambda f: f.__name__)
def test_numbers(f: Any) -> None:
    ad.check_grads(f, (2.0, 3.0), 2)


def test_third_order() -> None:
    def f(a: Any) -> Any:
        return ROOT(1.0, a, 3.0)

    third = ad.grad(ad.grad(ad.grad(f)))
    second, step = ad.grad(ad.grad(f)), 1e-5
    np.testing.assert_allclose(third(2.0), (second(2.0 + step) - second(2.0 - step)) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("size", [1, 3, 130])
def test_vectors(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(size, size)) / size + 3 * np.eye(size), rng.normal(size=size)
    ad.check_grads(lambda a, b: np.sum(VECTOR(np.zeros(size), a, b) ** 2), (a, b), 2 if size == 3 else 1)


def test_other_transformations() -> None:
    found = ad.hessian(lambda p: ROOT(1.0, p[0], p[1]))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(found, [[0.032, 0.008], [0.008, -0.048]], atol=1e-12)
    batched = ad.vmap(ad.grad(ROOT, 1), (None, 0, 0))(1.0, np.array([2.0, 3.0]), np.array([3.0, 4.0]))
    np.testing.assert_allclose(batched, [-1 / 5, -1 / 6])
    jacobian = ad.jacrev(VECTOR, 2)(np.zeros(3), 2 * np.eye(3), np.full(3, 3.0))
    np.testing.assert_allclose(jacobian, np.eye(3) / 5)


def test_value_and_guess() -> None:
    assert ROOT(1.0, 2.0, 3.0) == newton(1.0, 2.0, 3.0)
    assert ad.value_and_grad(ROOT, 1)(1.0, 2.0, 3.0)[0] == ROOT(1.0, 2.0, 3.0)
    assert ad.grad(lambda guess: ROOT(guess, 2.0, 3.0))(1.0) == 0.0


def test_refusals() -> None:
    with pytest.raises(ArgumentTypeError, match="not 3"):
        implicit_root(3, cubic)  # type: ignore[arg-type]
    wide = implicit_root(lambda x, a: np.ones(3), lambda x, a: x - a)
    with pytest.raises(ArgumentValueError, match=r"the shape \(3,\) for a guess of shape \(\)"):
        ad.grad(lambda a: wide(1.0, a))(2.0)
    of_dict = implicit_root(lambda x, p: p["a"] ** 0.5, lambda x, p: x * x - p["a"])
    with pytest.raises(AutodiffError, match="an argument of implicit_root is a container"):
        ad.grad(lambda a: of_dict(1.0, {"a": a}))(2.0)


def test_a_minimum_under_a_constraint() -> None:
    """The point and the multiplier of a constraint as one root."""

    optimize = pytest.importorskip("scipy.optimize")

    def least(z: Any, c: Any, total: Any) -> Any:
        on_plane = {"type": "eq", "fun": lambda x: np.sum(x) - total}
        x = optimize.minimize(lambda x: np.sum(c * x**2), z[:-1], constraints=on_plane, options={"ftol": 1e-14}).x
        return np.append(x, 2 * c[0] * x[0])

    def residual(z: Any, c: Any, total: Any) -> Any:
        return np.append(2 * c * z[:-1] - z[-1], np.sum(z[:-1]) - total)

    solve = ad.implicit_root(least, residual)
    c = np.array([1.0, 2.0, 3.0])
    found = ad.grad(lambda c: solve(np.ones(4), c, 1.5)[0] ** 2)(c)
    exact = lambda c: (1.5 / c[0] / np.sum(1 / c)) ** 2
    np.testing.assert_allclose(found, ad.grad(exact)(c), 1e-5)
    found = ad.grad(lambda c: least(np.ones(4), c, 1.5)[0] ** 2)(c)
    np.testing.assert_allclose(found, ad.grad(exact)(c), 1e-5)
