"""`np.dot` writes only into arrays like those that it makes, and what cuts floats off is refused."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.compiler.checked import check_gradient, check_tangent

X = np.array([0.43, 0.81, 1.72])
M = np.arange(1.0, 10.0).reshape(3, 3)


def dot_into(make):
    def fn(x):
        out = make(x)
        np.dot(M, np.outer(x, x), out=out)
        return (out * out).real.sum()

    return fn


def in_single_precision(x):
    return np.zeros((3, 3), np.float32)


def complex_numbers(x):
    return np.zeros((3, 3), np.complex128)


def transposed(x):
    return np.zeros((3, 3)).T


def in_fortran_order(x):
    return np.zeros((3, 3), order="F")


def part_of_another(x):
    return np.zeros((3, 6))[:, ::2]


def with_an_axis_more(x):
    return np.zeros((1, 3, 3))


def like_a_transposed_one(x):
    return np.zeros_like(np.outer(x, x).T)


WRONG = [in_single_precision, complex_numbers, transposed, in_fortran_order, part_of_another, with_an_axis_more]
WRONG += [like_a_transposed_one]


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_what_it_does_not_write_into(make):
    fn = dot_into(make)
    with pytest.raises(ValueError, match="output array is not acceptable") as expected:
        fn(X)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x), lambda x: ad.jvp(fn, (x,), (x,))):
        with pytest.raises(ValueError, match="output array is not acceptable") as found:
            derivative(X)
        assert str(found.value).startswith(str(expected.value))


def new_array(x):
    return np.empty((3, 3))


def like_another(x):
    return np.empty_like(np.outer(x, x))


def row_of_another(x):
    return np.zeros((2, 3, 3))[1]


@pytest.mark.parametrize("make", [new_array, like_another, row_of_another], ids=lambda make: make.__name__)
def test_what_it_writes_into(make):
    check_gradient(dot_into(make), (X,))
    check_tangent(dot_into(make), (X,))


def running_sum_in_integers(x):
    out = np.zeros(3, int)
    np.cumsum(x, out=out)
    return out.sum() * x[0]


def greatest_in_integers(x):
    out = np.zeros(3, int)
    np.max(np.outer(x, x), axis=0, out=out)
    return out.sum() * x[0]


@pytest.mark.parametrize("fn", [running_sum_in_integers, greatest_in_integers])
def test_what_cuts_floats_off(fn):
    fn(X)
    with pytest.raises(AutodiffError, match="cuts floats off"):
        ad.grad(fn)(X)
