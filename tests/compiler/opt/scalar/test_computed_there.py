"""Numbers that only one line of the reverse sweep reads are computed there, unless that would change anything."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case((V, 0.7))
def scaled_sum(x, k):
    return np.sum(x**2) * k


@case((V, 0.7))
def written_after_it_was_read(x, k):
    y = x * k
    total = y[0] * y[1]
    y[0] = k
    return total * np.sum(y)


@case((V, 0.7))
def item_of_what_is_written(x, k):
    y = x * 1.0
    s = y[0] * k
    y[0] = 2.0
    return s * y[0] * np.sum(y * x)


@case((V, 0.7))
def list_that_is_popped_from(x, k):
    values = [x[0], x[1], k]
    t = sum(values)
    last = values.pop()
    return t * last * sum(values)


@case((V, 0.7))
def name_with_another_value(x, k):
    t = np.sum(x) * k
    x = x * 2.0
    return t * np.sum(np.sin(x))


@case((V, 0.7))
def in_a_branch(x, k):
    t = np.sum(x * x)
    if k > 0.5:
        return t * k
    return k * 2.0


@case((V, 0.7))
def no_iteration(x, k):
    t = np.sum(x * k)
    for _ in range(0):
        t = t * 2.0
    return t * np.sum(np.cos(x))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with pass_registry.without("forward_substitute"):
        plain = ad.grad(lambda *given: fn(*given), (0, 1))(*args)
    for a, b in zip(ad.grad(fn, (0, 1))(*args), plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_computed_in_the_reverse_line():
    assert "d_out * (x ** 2).sum()" in ad.grad(scaled_sum, (0, 1)).source_for(V, 0.7)


def test_what_is_written_later_is_computed_before():
    assert "total = y[0] * y[1]" in ad.grad(written_after_it_was_read, (0, 1)).source_for(V, 0.7)


def test_the_first_of_two_failures_is_raised():
    def f(x, y):
        return (np.sum(x) / y[3]) * np.sum(x @ y)

    with pytest.raises(IndexError):
        ad.grad(f)(np.ones(2), np.ones(3))
