"""Derivatives at equal eigenvalues and singular values: right, or refused where the choice of a basis matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import NotDifferentiable
from autodiff_sct.rules import table
from autodiff_sct.rules.table import load_optional

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
D, TALL = RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3))
WAY, OTHER_WAY = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3))
Q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
EYE, TWO_EQUAL, TWO_ZERO = np.eye(3), Q @ np.diag([1.0, 1.0, 3.0]) @ Q.T, Q @ np.diag([0.0, 0.0, 3.0]) @ Q.T
RANK_TWO = Q @ np.diag([0.0, 1.0, 3.0]) @ Q.T


def polar(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum((u @ vt) * TALL[: a.shape[0]])


def kabsch(p: Any) -> Any:
    u, s, vt = np.linalg.svd((p - p.mean(0)).T @ np.diag([1.0, 1.0, 0.0]))
    turn = np.sign(np.linalg.det(u @ vt))
    return np.sum((p - p.mean(0)) @ (u * np.array([1.0, 1.0, 1.0 * turn])) @ vt * D)


def projector(a: Any) -> Any:
    w, v = np.linalg.eigh((a + a.T) / 2)
    return np.sum((v[:, :2] @ v[:, :2].T) * D)


def top(a: Any) -> Any:
    w, v = np.linalg.eigh((a + a.T) / 2)
    return (v[:, 2] @ D @ v[:, 2]) * w[2]


def exponential(a: Any) -> Any:
    w, v = np.linalg.eigh((a + a.T) / 2)
    return np.sum(((v * np.exp(w)) @ v.T) * D)


def reconstruction(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(((u * s) @ vt) * TALL[: a.shape[0]])


def one_vector(a: Any) -> Any:
    w, v = np.linalg.eigh((a + a.T) / 2)
    return np.sum(v[:, 0] ** 2 * D[0])


def function_of(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def of_matrix(a: Any) -> Any:
        w, v = np.linalg.eigh((a + a.T) / 2)
        return np.sum((v @ np.diag(fn(w)) @ v.T) * D)

    return of_matrix


def beside(a: Any) -> Any:
    w, v = np.linalg.eigvalsh((a + a.T) / 2), np.linalg.eigh((a + a.T) / 2)[1]
    return np.sum((v * np.exp(w)) @ v.T * D)


def soft_threshold(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(((u * np.maximum(s - 0.3, 0)) @ vt) * TALL[: a.shape[0]])


def ridge(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(((u * (s / (s**2 + 0.1))) @ vt) * TALL[: a.shape[0]])


def by_values(a: Any) -> Any:
    return np.sum(np.exp(np.linalg.eigvalsh((a + a.T) / 2)))


def squared_singular_values(a: Any) -> Any:
    return np.sum(np.linalg.svd(a, compute_uv=False) ** 2)


def of_any_matrix(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(((v * np.exp(w)) @ np.linalg.inv(v)).real * D)


def vectors(a: Any) -> Any:
    w, v = np.linalg.eigh((a + a.T) / 2)
    return np.sum(v.T @ D @ v)


def first_component(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(s[0] * np.outer(u[:, 0], vt[0]) * TALL[: a.shape[0]])


def differences(fn: Callable[[Any], Any], a: np.ndarray) -> np.ndarray:
    steps = 1e-5 * np.eye(a.size).reshape(a.size, *a.shape)
    return np.reshape([(fn(a + h) - fn(a - h)) / 2e-5 for h in steps], a.shape)


ROOT, INVERSE_ROOT = function_of(np.sqrt), function_of(lambda w: 1 / np.sqrt(w))
LOGARITHM, SINE = function_of(np.log), function_of(np.sin)
OF_POSITIVE = [ROOT, INVERSE_ROOT, LOGARITHM, exponential]
RIGHT = [
    *((polar, a) for a in (EYE, Q, TWO_EQUAL, np.eye(5, 3), TALL, D)),
    *((fn, a) for fn in OF_POSITIVE for a in (EYE, TWO_EQUAL)),
    *((fn, a) for fn in (exponential, SINE, beside, by_values) for a in (TWO_ZERO, np.zeros((3, 3)), RANK_TWO)),
    *((fn, a) for fn in (reconstruction, ridge, soft_threshold, squared_singular_values)
      for a in (EYE, TWO_ZERO, np.eye(5, 3), TALL * np.array([1.0, 1.0, 0.0]))),
    (reconstruction, np.zeros((5, 3))),
    (kabsch, D),
    (projector, TWO_EQUAL),
    (projector, TWO_ZERO),
    (top, TWO_EQUAL),
    (top, TWO_ZERO),
    (of_any_matrix, TWO_EQUAL),
]  # fmt: skip
WITHOUT_SECOND = (reconstruction, of_any_matrix)  # refused: it is zero but for rounding, or not near enough


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("fn", "a"), RIGHT)
def test_right(fn: Callable[[Any], Any], a: np.ndarray) -> None:
    expected = differences(fn, a)
    value, gradient = ad.value_and_grad(fn)(a)
    assert value == fn(a)
    np.testing.assert_allclose(gradient, expected, 1e-5, 1e-6)
    np.testing.assert_array_equal(ad.grad(fn)(a), gradient)
    np.testing.assert_allclose(ad.vjp(fn, a)[1](2.0)[0], 2 * gradient, 1e-7, 1e-9)
    value, tangent = ad.jvp(fn, (a,), (WAY[: a.shape[0]],))
    assert value == fn(a)
    np.testing.assert_allclose(tangent, np.sum(gradient * WAY[: a.shape[0]]), 1e-7, 1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("fn", "a"), [*((fn, a) for fn, a in RIGHT[::2] if fn not in WITHOUT_SECOND), (polar, np.diag([2.0, 2.0, 1.0]))]
)
def test_second_derivatives(fn: Callable[[Any], Any], a: np.ndarray) -> None:
    way, other = WAY[: a.shape[0]], OTHER_WAY[: a.shape[0]]
    seconds = [
        ad.grad(lambda a: np.sum(ad.grad(fn)(a) * way))(a),
        ad.jvp(ad.grad(fn), (a,), (way,))[1],
        ad.grad(lambda a: ad.jvp(fn, (a,), (way,))[1])(a),
    ]
    h = 1e-4
    corners = [fn(a + h * (p * way + q * other)) * p * q for p in (1, -1) for q in (1, -1)]
    for second in seconds:
        assert np.sum(second * other) == pytest.approx(sum(corners) / (4 * h * h), 1e-4, 1e-4)


@pytest.mark.parametrize(
    ("fn", "a"),
    [
        *((fn, a) for fn in (one_vector, vectors) for a in (EYE, TWO_EQUAL, TWO_ZERO, np.zeros((3, 3)))),
        *((first_component, a) for a in (EYE, Q, np.eye(5, 3), np.zeros((5, 3)))),
        *((ROOT, a) for a in (TWO_ZERO, np.zeros((3, 3)))),
        (polar, TWO_ZERO),
        (polar, TALL * np.array([1.0, 1.0, 0.0])),
        (projector, EYE),
        (of_any_matrix, np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_refused(fn: Callable[[Any], Any], a: np.ndarray) -> None:
    for derivative in (
        lambda: ad.grad(fn)(a),
        lambda: ad.vjp(fn, a)[1](1.0),
        lambda: ad.jvp(fn, (a,), (WAY[: a.shape[0]],)),
    ):
        with pytest.raises(NotDifferentiable, match="equal eigenvalues"):
            derivative()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_that_have_no_perturbed_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    linalg = pytest.importorskip("scipy.linalg")
    load_optional()
    monkeypatch.setattr(table.TABLE[linalg.eigh], "perturbed", None)

    def by_scipy(a: Any) -> Any:
        w, v = linalg.eigh((a + a.T) / 2)
        return np.sum(((v * np.exp(w)) @ v.T) * D) + exponential(a)

    for a in (EYE, TWO_EQUAL):
        with pytest.raises(NotDifferentiable, match="equal eigenvalues"):
            ad.grad(by_scipy)(a)
        with pytest.raises(NotDifferentiable, match="equal eigenvalues"):
            ad.jvp(by_scipy, (a,), (D,))


def test_the_line_is_told() -> None:
    for derivative in (lambda: ad.grad(one_vector)(EYE), lambda: ad.jvp(one_vector, (EYE,), (D,))):
        with pytest.raises(NotDifferentiable) as caught:
            derivative()
        assert any("in one_vector: w, v = np.linalg.eigh" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_sizes_and_orders(n: int) -> None:
    weights = RNG.normal(size=(n, n))

    def fn(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(((v * np.exp(w)) @ v.T) * weights)

    for a in (np.eye(n), np.asfortranarray(np.eye(n)), np.diag(np.arange(n) // 2.0)):
        way = RNG.normal(size=(n, n))
        way = way + way.T
        slope = (fn(a + 1e-5 * way) - fn(a - 1e-5 * way)) / 2e-5
        assert np.sum(ad.grad(fn)(a) * way) == pytest.approx(slope, 1e-5, 1e-6)
        assert ad.jvp(fn, (a,), (way,))[1] == pytest.approx(slope, 1e-5, 1e-6)


def test_a_stack() -> None:
    def fn(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(((v * np.exp(w)[:, None, :]) @ np.swapaxes(v, -1, -2)) * D)

    stack = np.stack([EYE, TWO_EQUAL, D + D.T])
    found = ad.grad(fn)(stack)
    for k, a in enumerate(stack):
        np.testing.assert_allclose(found[k], ad.grad(fn)(a[None])[0], 1e-9, 1e-10)


def test_arguments_that_changed_before_the_pullback() -> None:
    a = np.eye(3)
    pull = ad.vjp(exponential, a)[1]
    a *= 2.0
    with pytest.raises(NotDifferentiable):
        pull(1.0)


def test_dtype_stays() -> None:
    for fn in (polar, exponential):
        found = ad.grad(fn)(np.eye(3, dtype=np.float32))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, ad.grad(fn)(EYE), 2e-3, 2e-3)


def turned_in_a_branch(a: Any) -> Any:
    """Vectors that one path changes in place, as the Kabsch algorithm does for reflections."""
    u, s, vt = np.linalg.svd(a)
    if np.linalg.det(u) * np.linalg.det(vt) < 0.0:
        s[-1] = -s[-1]
        u[:, -1] = -u[:, -1]
    return np.sqrt(10.0 - np.sum(s))


@pytest.mark.parametrize("a", [Q @ np.diag([0.0, 0.0, 3.0]), TWO_ZERO, -TWO_ZERO])
def test_second_order_is_never_nan(a: np.ndarray) -> None:
    """A name that is bound on one path only makes no call one that cannot be repeated."""
    gradient = ad.grad(turned_in_a_branch)
    gradient(a)
    with pytest.raises(NotDifferentiable):
        ad.jvp(gradient, (a,), (D,))


def test_batches() -> None:
    matrices = np.stack([np.eye(3), TWO_EQUAL, D])
    each = np.stack([ad.grad(exponential)(a) for a in matrices])
    np.testing.assert_allclose(ad.vmap(ad.grad(exponential))(matrices), each, rtol=1e-7, atol=1e-7)
