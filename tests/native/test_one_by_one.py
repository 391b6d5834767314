"""Functions of single numbers in loops: which are the C library's, which are saved, and what is shared among ties."""

from __future__ import annotations

import math

import numpy as np
import pytest

numba = pytest.importorskip("numba")

import autodiff_sct as ad  # noqa: E402

X = np.random.default_rng(0).uniform(0.2, 1.2, 12)


def one_after_the_other(x):
    s = 0.0
    for i in range(len(x)):
        s = np.exp(0.3 * s - x[i]) + np.log(1.0 + s)
    return s


def side_by_side(x):
    s = 0.0
    for i in range(len(x)):
        s += np.exp(-x[i])
    return s


def neighbours(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = np.exp(-y[i - 1]) * x[i]
    return np.sum(y)


def needed_for_more(x):
    h, total = 0.5, 0.0
    for i in range(len(x)):
        h = math.tanh(h * x[i] + 0.1)
        total += h * h
    return total


def needed_for_the_gradient(x):
    v, total = 1.0, 0.0
    w = x[0]
    for i in range(len(x)):
        v = 0.9 * v + 0.1 * x[i] * x[i]
        total += w * math.log(v)
    return total


def shortest(x):
    best = np.zeros(len(x))
    for i in range(2, len(x)):
        best[i] = min(best[i - 1] + x[i], best[i - 2] + x[i - 1], 1.5)
    return best[-1]


PROGRAMS = [one_after_the_other, side_by_side, neighbours, needed_for_more, needed_for_the_gradient, shortest]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_as_the_numpy_program(fn, recwarn):
    native = ad.grad(fn, backend="numba")
    for x in (X, X[:3], np.ones(5), X):
        np.testing.assert_allclose(native(x), ad.grad(fn)(x), rtol=1e-12, atol=1e-14)
    assert not [w for w in recwarn if "NumPy code" in str(w.message)]


def native_text(fn):
    return ad.adjoint_source(fn, X, backend="numba")


@pytest.mark.parametrize("fn, library", [(one_after_the_other, True), (neighbours, True), (side_by_side, False)])
def test_polynomials_where_vector_code_may_come_of_a_loop(fn, library):
    text = native_text(fn)
    assert ("math.exp(" in text) is library and ("import exp" in text) is not library


def test_functions_that_the_forward_sweep_needs_are_saved():
    assert native_text(needed_for_more).count("= tanh(") == 1
    text = native_text(needed_for_the_gradient)
    assert text.count("= math.log(") == 1 and "saved_log" not in text


def test_one_that_does_not_tie_is_not_divided():
    assert "if ties == 1 else" in native_text(shortest)
