"""Comparisons that only the reverse of a loop needs are made in the forward sweep: truth values are saved."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import check_beside_plain

pytestmark = pytest.mark.once


def shortest_paths(x):
    y = x.copy()
    for k in range(len(y)):
        y[...] = np.minimum(y, np.add.outer(y[:, k], y[k, :]))
    return np.sum(y)


def rectified(x):
    h = x
    for _ in range(4):
        h = np.maximum(x @ h - 0.1, 0.0) + 0.1 * h
    return np.sum(h)


def clipped(x):
    y = x
    for _ in range(3):
        y = np.clip(1.3 * y, -0.5, 0.8)
    return np.sum(y * x)


def read_otherwise(x):
    y = x
    for _ in range(3):
        z = y * 1.5
        y = np.maximum(z, 0.2) * z
    return np.sum(y)


def overwritten(x):
    y = x.copy()
    z = x.copy()
    for _ in range(3):
        z[...] = y * 1.1
        y = np.maximum(z, 0.3 - z)
    return np.sum(y)


def of_two_lengths(x):
    y = x
    for k in range(3):
        part = np.tanh(x[k % len(x) :])
        y = np.maximum(y, part[-1:] + 0.01)
    return np.sum(y)


PROGRAMS = [shortest_paths, rectified, clipped, read_otherwise, overwritten, of_two_lengths]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [1, 3, 130])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradients(fn, n, order):
    x = np.array(np.random.default_rng(n).normal(size=(n, n)), order=order) / np.sqrt(n)
    check_beside_plain(fn, x, "plan_tape")


@pytest.mark.parametrize("fn", [shortest_paths, rectified])
def test_ties_get_halves(fn):
    x = np.zeros((3, 3))
    with pass_registry.without("plan_tape"):
        expected = ad.grad(fn)(x)
    np.testing.assert_array_equal(ad.grad(fn)(x), expected)


@pytest.mark.parametrize("fn", [shortest_paths, rectified])
def test_truth_values_are_saved(fn):
    text = ad.adjoint_source(fn, np.ones((4, 4)))
    assert "half_where(saved_condition" in text and "select(saved_condition" in text
    assert "saved_t" not in text and "old_y)" not in text.replace("< old_y)", "").replace("t, old_y)", "")


@pytest.mark.parametrize("fn", [read_otherwise, of_two_lengths])
def test_others_are_compared_where_they_are_read(fn):
    assert "saved_condition" not in ad.adjoint_source(fn, np.ones((4, 4)))
