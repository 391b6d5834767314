"""Calls with ``*items`` of which only the run tells how many there are."""

import numpy as np
import pytest

import autodiff_sct as ad


def two(p, q):
    return p * q


def one_default(p, q=2.0):
    return p * q


def test_a_fixed_number_of_parameters_is_checked():
    def program(x):
        return two(*x)

    assert np.array_equal(ad.grad(program)(np.array([2.0, 3.0])), [3.0, 2.0])
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        ad.grad(program)(np.ones(3))


def test_defaults_that_the_number_of_items_decides_about_are_refused():
    def program(x):
        return one_default(*x[x > 0.5])

    with pytest.raises(ad.AutodiffError, match="number of items"):
        ad.grad(program)(np.ones(2))


def test_others_are_bound_behind_the_parameters():
    def program(x):
        def weigh(p, *rest, k=1.0):
            return p * len(rest) + k * sum(v**2 for v in rest)

        return weigh(3.0, x[0], *x, 2.0, k=0.5)

    for n in (1, 3):
        x = np.arange(1.0, n + 1)
        expected = x.copy()
        expected[0] *= 2
        assert np.allclose(ad.grad(program)(x), expected)


def test_a_second_star_takes_the_items_as_they_are():
    def inner(*args):
        return sum(a * (k + 1) for k, a in enumerate(args))

    def outer(*args):
        return inner(*args) * inner(1.0, *args)

    x = np.array([0.5, -1.0, 2.0])
    a, b = np.arange(1.0, 4), np.arange(2.0, 5)
    assert np.allclose(ad.grad(lambda x: outer(*x))(x), a * (1 + b @ x) + b * (a @ x))


def test_too_few_items():
    def program(x):
        def weigh(p, q, *rest):
            return p * q + sum(rest)

        return weigh(*x)

    assert np.array_equal(ad.grad(program)(np.array([2.0, 3.0])), [3.0, 2.0])
    with pytest.raises(TypeError):
        ad.grad(program)(np.ones(1))


def test_second_derivatives_through_dicts_of_tuples():
    def program(x):
        table = {}
        for i, v in enumerate(x):
            table[i % 3] = (v, v * v)
        return sum(a * b for a, b in table.values())

    x = np.linspace(0.5, 1.5, 5)  # the last three stay: v**3 each
    second = ad.grad(lambda x: np.sum(ad.grad(program)(x)))(x)
    np.testing.assert_allclose(second, np.where(np.arange(5) > 1, 6 * x, 0.0))
