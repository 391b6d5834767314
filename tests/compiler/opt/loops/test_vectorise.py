"""Loops of the reverse sweep whose steps do not depend on each other are products of matrices."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_beside_plain, differences

pytestmark = pytest.mark.once


def lu(a):
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(np.sin(a))


def gram_schmidt(a):
    a = a.copy()
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(np.cos(q)) + np.sum(r * r)


def triangular_product(a):
    b = np.sin(a)
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    return np.sum(b * b)


def by_rows(a):
    b = np.sin(a)
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            b[j, i] += 0.5 * (a[j, :i] @ b[i, :i])
    return np.sum(b * b)


def symmetric_product(a):
    c = np.cos(a[:, : len(a)])
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += 0.3 * a[i, k] * a[: i + 1, k]
    return np.sum(np.sin(c))


PROGRAMS = [lu, gram_schmidt, triangular_product, by_rows, symmetric_product]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [1, 2, 3, 17, 60])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradients(fn, n, order):
    x = np.random.default_rng(n).normal(size=(n, n)) / n + 2 * np.eye(n)
    x = np.array(x, order=order)
    check_beside_plain(fn, x, "batch_rank1_updates")


@pytest.mark.parametrize("fn", PROGRAMS[1:])
def test_no_step_adds_a_product(fn):
    text = ad.adjoint_source(fn, np.ones((4, 4)))
    assert "np.outer" in text and "d_t * a[" not in text


def test_what_is_taken_from_lists_stays_in_a_loop():
    text = ad.adjoint_source(triangular_product, np.ones((4, 4)))
    after = """\
            b[i, j] = saved_old_b.pop()
        # test_vectorise.py:43  b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
        d_t = d_b[i, :]
        d_b[i + 1:, :] += np.outer(a[i + 1:, i], d_t)
        d_a[i + 1:, i] += b[i + 1:, :] @ d_t
"""
    assert after in text


def recurrence(a):
    b = a.copy()
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            b[i, j] += np.dot(a[i, :i], b[:i, j]) * b[i, j - 1]
    return np.sum(b * b)


def read_by_later_steps(a):
    b = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            b[i, j] += b[i, :j] @ a[:j, j]
    return np.sum(b * b)


def behind_the_end(a):
    a = a.copy()
    for i in range(a.shape[0] + 1):  # the last of them is no row of `a`, and has no steps
        for j in range(i + 1, a.shape[1]):
            a[i, j] += np.dot(a[i, :i], a[:i, j])
    return np.sum(a * a)


@pytest.mark.parametrize("fn", [recurrence, read_by_later_steps])
def test_steps_that_depend_on_each_other_stay(fn):
    x = np.random.default_rng(0).normal(size=(4, 4))
    assert "np.outer" not in ad.adjoint_source(fn, x)
    np.testing.assert_allclose(ad.grad(fn)(x), differences(fn, (x,)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (1, 4), (3, 5), (3, 3)])
def test_a_product_of_other_lengths(shape):
    a = np.random.default_rng(0).normal(size=shape)
    c = np.ones((shape[0], 3))

    def update(a, c):
        c = c.copy()
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                c[i, : i + 1] += 0.3 * a[i, k] * a[: i + 1, k]
        return np.sum(c * c)

    np.testing.assert_allclose(ad.grad(update)(a, c), differences(update, (a, c)), rtol=1e-5, atol=1e-7)
    assert "may raise" not in ad.adjoint_source(update, a, c)


def test_nothing_is_read_where_there_are_no_steps():
    x = np.random.default_rng(0).normal(size=(4, 5))
    assert "if i + 1 < " in ad.adjoint_source(behind_the_end, x)
    np.testing.assert_allclose(ad.grad(behind_the_end)(x), differences(behind_the_end, (x,)), rtol=1e-5, atol=1e-7)
