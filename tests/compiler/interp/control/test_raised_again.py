"""Loops that only might raise: where the reverse sweep computes the same again, it raises there."""

from __future__ import annotations

import math
import traceback

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case((V,))
def energy(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            r = math.sqrt((x[i] - x[j]) ** 2 + 0.1)
            if r < 0.8:
                total += 1.0 / r
    return total


@case((V, 2), (V, 0))
def steps(x, n):
    total = 0.0
    for k in range(n):
        for i in range(len(x)):
            total += math.sqrt(x[i] ** 2 + k + 1.0)
    return total


@case((V, 1.5), (V, 0.5))
def on_both_sides(x, low):
    total = 0.0
    for i in range(len(x)):
        if low > 1.0:
            total += math.sqrt(x[i] ** 2 + low)
        else:
            total += 1.0 / (x[i] ** 2 + low)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize("fn", [energy, steps, on_both_sides], ids=lambda fn: fn.__name__)
def test_each_loop_runs_once(fn):
    args = (V,) if fn is energy else (V, 1.5 if fn is on_both_sides else 2)
    loops = ad.adjoint_source(fn, *args).count("for ")
    with pass_registry.without("dce"):
        assert ad.adjoint_source(fn, *args).count("for ") == 2 * loops


def root_of_each(x):
    total = 0.0
    for i in range(len(x)):
        total += math.sqrt(x[i])
    return total


def inverse_of_each(x):
    total = 0.0
    for i in range(len(x)):
        r = float(x[i])
        total += 1.0 / r
    return total


@pytest.mark.parametrize(("fn", "error"), [(root_of_each, ValueError), (inverse_of_each, ZeroDivisionError)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_raised_still_raises(fn, error, place):
    """At the user's line, and nothing is left changed."""
    x = np.array([1.0, 2.0, 3.0])
    gradient = ad.grad(fn)
    expected = gradient(x)
    x[place] = -1.0 if fn is root_of_each else 0.0
    with pytest.raises(error) as caught:
        gradient(x)
    assert "total += " in traceback.extract_tb(caught.value.__traceback__)[-1].line
    x[place] = place + 1.0
    np.testing.assert_array_equal(gradient(x), expected)


def test_forward_function_raises_at_once():
    """A pullback comes later: what fails fails before."""
    with pytest.raises(ValueError, match="math domain error"):
        ad.vjp(root_of_each, np.array([1.0, -1.0]))


def caught(x):
    try:
        total = 0.0
        for i in range(len(x)):
            total += math.sqrt(x[i])
    except ValueError:
        total = np.sum(x * x)
    return total


def announced(x):
    total = 0.0
    for i in range(len(x)):
        total += math.sqrt(x[i])
    print("computed")
    return total


def used_later(x):
    total = 0.0
    for i in range(len(x)):
        total += math.sqrt(x[i])
    return total * total


def test_a_handler_sees_what_is_raised():
    np.testing.assert_allclose(ad.grad(caught)(np.array([4.0, 9.0])), [0.25, 1 / 6])
    np.testing.assert_allclose(ad.grad(caught)(np.array([4.0, -9.0])), [8.0, -18.0])


def test_nothing_is_said_before_an_error(capsys):
    with pytest.raises(ValueError, match="math domain error"):
        ad.grad(announced)(np.array([1.0, -1.0]))
    assert capsys.readouterr().out == ""


def test_what_the_reverse_sweep_reads_is_computed():
    np.testing.assert_allclose(ad.grad(used_later)(np.array([4.0, 9.0])), [2.5, 5 / 3])


def test_what_a_loop_begins_with_is_said_inside_it():
    """It is not computed again."""
    text = ad.adjoint_source(lambda x: max(v**2 for v in x), np.ones(3))
    assert text.count("    total = 0\n    for i in range") == text.count("total = 0") == 1
