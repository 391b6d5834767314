"""Operations on ``x[:]`` are those on ``x``, and views stay views where memory is written."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
V, M = np.array([0.4, 1.3, -0.7, 0.9]), np.cos(np.arange(12.0)).reshape(3, 4)


@case((V,), (V[:0],), (V[:1],))
def of_views(x):
    return np.sum(np.sin(x[:]) * x[:] ** 2 - 1 / (2 + x[:]))


@case((M,), (M[:1],), (np.asfortranarray(M),))
def of_matrices(x):
    return np.sum(np.maximum(x[:], x[:, :] ** 2) * x[::1] + x[:, :])


@case((V,))
def written_through(x):
    y = x * 1.0
    z = y[:]
    z *= x
    y[1:] += np.sin(z[:-1])
    w = z[:] * y[:]
    z[0] = 3.0
    return np.sum(w * z[:] + y)


@case((V,))
def in_steps(x):
    y = x * 1.0
    for k in range(len(x)):
        y[:] = np.minimum(y[:], np.exp(y[k] * x[:]))
    return np.sum(y[:] ** 2)


@case((V,))
def bound_again(x):
    y = x[:]
    x = x * 2
    return np.sum(y[:] * x[:])


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn, args) -> None:
    check_gradient(fn, args)


def test_no_view_is_made() -> None:
    assert "[:]" not in ad.adjoint_source(of_views, V).split("# ")[0]


def test_a_number_has_no_items() -> None:
    with pytest.raises(IndexError):
        ad.grad(of_views)(np.array(0.5))
