"""Lengths that nobody knows are those of the variables: one for each, which may be 1 in some calls."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, differences, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case((V, 2), (V, 1), (V, 0))
def picked_by_a_list(x, n):
    y = x[np.array([0, 2], dtype=int)[:n]]
    return np.sum(y * x if len(y) == 1 else y * y)


@case((V, V > -1), (V, V > 1))
def picked_by_a_mask(x, mask):
    return np.sum((x * x[mask]) ** 2)


@case((V, 4), (V, 1), (V, 2))
def another_length_in_each_step(x, n):
    y = x[:n]
    for _ in range(3):
        y = y * x[:1] + y[:1]
        y = np.concatenate([y, y - np.mean(y)])[::2]
    return np.sum(y**3)


@case((V,))
def shorter_in_each_step(x):
    y = x
    while len(y) > 1:
        y = y[1:] * y[:-1]
    return np.sum(y * x)


@case((V, 4), (V, 1))
def of_either_side_of_a_branch(x, n):
    s = x[:n]
    for k in range(2):
        b = x[:1] if k else x[:n]
        s = s + b * x[k]
    return np.sum(s * s)


@case((V, 4), (V, 1))
def broadcast_in_a_store(x, n):
    y = x[:n].copy()
    y *= x[1]
    y[...] = y * x[:n]
    a = np.zeros((3, len(x)))
    a[:] = y * np.ones(4)
    return np.sum(a**2)


@case((V,))
def of_eigenvectors(x):
    w, v = np.linalg.eigh(np.outer(x, x) + np.diag(x))
    return np.sum(w * np.sum(v * x, axis=0) ** 2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    if np.size(fn(*args)):
        check_gradient(fn, args)


@pytest.mark.parametrize("fn", [another_length_in_each_step, of_either_side_of_a_branch, broadcast_in_a_store])
def test_one_program_serves_all_lengths(fn):
    gradient = ad.grad(fn)
    for n in (4, 1, 4):
        np.testing.assert_allclose(gradient(V, n), differences(fn, (V, n)), rtol=1e-5, atol=1e-7)


def test_an_array_is_as_long_as_itself():
    text = ad.adjoint_source(lambda x: np.sum(np.linalg.eigh(np.outer(x, x))[1][:, -1] ** 4), V)
    assert "full_like" not in text and "spread" not in text
