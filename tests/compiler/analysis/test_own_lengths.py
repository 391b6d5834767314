"""Lengths that nobody knows are those of the variables: one for each, which may be 1 in some calls."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

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


def with_parts_of_another(v, c, steps):
    v = v.copy()
    for _ in range(steps):
        slope = (v[2:] - v[:-2]) * 0.5
        v[1:-1] += 0.1 * (c[1:-1] * slope - c[1:-1] ** 2 * v[1:-1])
    return np.sum(v**2)


def with_most_left_out(v, c):
    return np.sum(v[7:-7] * c[7:-7]) + np.sum((v[8:-7] * c[9:-7]) ** 2) + np.sum(v[3:] * c[:-3])


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize(("n", "m"), [(16, 16), (20, 20), (15, 15), (3, 20), (20, 3), (3, 3), (17, 3), (4, 4), (3, 17)])
def test_parts_of_short_and_long_arrays(n, m, position):
    args = np.sin(np.arange(float(n))), np.cos(np.arange(float(m))), 2
    check_position(with_parts_of_another, args, position)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("n", [14, 15, 16, 17, 18, 30])
def test_parts_that_leave_out_most(n, position):
    args = np.sin(np.arange(float(n))), np.cos(np.arange(float(n)))
    check_position(with_most_left_out, args, position)


def check_position(fn, args, position):
    try:
        fn(*args)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            ad.grad(fn, grad_position=position)(*args)
        return
    found = ad.grad(fn, grad_position=position)(*args)
    assert found.shape == args[position].shape
    np.testing.assert_allclose(found, differences(fn, args, position), rtol=1e-5, atol=1e-7)


def test_parts_of_long_arrays_need_no_fitting():
    long, short = np.ones(16), np.ones(15)
    assert "unbroadcast" not in ad.adjoint_source(with_parts_of_another, long, long, 2)
    assert "unbroadcast" not in ad.adjoint_source(with_parts_of_another, short, short, 2)
    assert "unbroadcast" in ad.adjoint_source(with_parts_of_another, short, np.ones(3), 2)


def test_one_gradient_for_short_and_long_arrays():
    gradient = ad.grad(with_parts_of_another)
    for n in (3, 20, 15, 16, 3):
        args = np.sin(np.arange(float(n))), np.cos(np.arange(float(n))), 2
        np.testing.assert_allclose(gradient(*args), differences(with_parts_of_another, args), rtol=1e-5, atol=1e-7)


def test_a_list_may_hold_short_and_long_arrays():
    gradient = ad.grad(lambda rows: sum([np.sum(row[1:] * row[:-1]) for row in rows], 0.0))
    for lengths in ((3, 20), (20, 3), (2, 30, 16, 15)):
        rows = [np.sin(np.arange(float(n))) for n in lengths]
        for row, found in zip(rows, gradient(rows)):
            expected = np.concatenate([row[1:], [0.0]]) + np.concatenate([[0.0], row[:-1]])
            np.testing.assert_allclose(found, expected)
