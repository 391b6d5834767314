"""Matrices with equal eigenvalues or singular values, or with singular values of zero: right or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import NotDifferentiable

RNG = np.random.default_rng(0)
D, TALL = RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3))
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


def differences(fn: Callable[[Any], Any], a: np.ndarray) -> np.ndarray:
    steps = 1e-5 * np.eye(a.size).reshape(a.size, *a.shape)
    return np.reshape([(fn(a + h) - fn(a - h)) / 2e-5 for h in steps], a.shape)


@pytest.mark.parametrize(
    ("fn", "a"),
    [
        *((polar, a) for a in (EYE, Q, TWO_EQUAL, np.eye(5, 3), TALL, D)),
        (kabsch, D),
        (projector, TWO_EQUAL),
        (projector, TWO_ZERO),
        (top, TWO_EQUAL),
        (top, TWO_ZERO),
        (exponential, RANK_TWO),
        (reconstruction, RANK_TWO),
    ],
)
def test_right(fn: Callable[[Any], Any], a: np.ndarray) -> None:
    np.testing.assert_allclose(ad.grad(fn)(a), differences(fn, a), 1e-5, 1e-6)


@pytest.mark.parametrize(
    ("fn", "a"),
    [
        *((fn, a) for fn in (exponential, one_vector) for a in (EYE, TWO_EQUAL, TWO_ZERO, np.zeros((3, 3)))),
        *((reconstruction, a) for a in (EYE, Q, TWO_EQUAL, np.eye(5, 3), np.zeros((5, 3)))),
        (polar, TWO_ZERO),
        (polar, TALL * np.array([1.0, 1.0, 0.0])),
        (projector, EYE),
    ],
)
def test_refused(fn: Callable[[Any], Any], a: np.ndarray) -> None:
    with pytest.raises(NotDifferentiable, match="equal eigenvalues"):
        ad.grad(fn)(a)


def test_dtype_stays() -> None:
    assert ad.grad(polar)(np.eye(3, dtype=np.float32)).dtype == np.float32
