"""What is unpacked into names that nobody reads: the number of items is compared all the same."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad


def an_argument(x):
    a, b, c = x
    return x[0] ** 2


def a_product(x):
    a, b, c = x * 2.0
    return x[0] ** 2


def a_constant(x):
    a, b, c = np.zeros(len(x))
    return x[0] ** 2


def a_list(x):
    items = []
    for v in x:
        items.append(v)
    a, b, c = items
    return x[0] ** 2


@pytest.mark.parametrize("fn", [an_argument, a_product, a_constant, a_list])
def test_raises_as_the_program_does(fn):
    for function in (ad.grad(fn), ad.value_and_grad(fn)):
        with pytest.raises(ValueError, match="unpack"):
            function(np.array([3.0, 1.0]))
    np.testing.assert_array_equal(ad.grad(fn)(np.array([3.0, 1.0, 1.0])), [6.0, 0.0, 0.0])


def test_grids_are_unpacked():
    def weighted(x):
        ys, xs = np.mgrid[-0.4:0.4:3j, 0:4]
        return np.sum(ys**2 * xs * x)

    def too_many(x):
        a, b, c = np.mgrid[0:2, 0:3]
        return x

    np.testing.assert_allclose(ad.grad(weighted)(2.0), weighted(1.0))
    assert "np.mgrid[-0.4:0.4:3j, 0:4]" in ad.adjoint_source(weighted, 2.0)
    with pytest.raises(ValueError, match="unpack"):
        ad.grad(too_many)(2.0)
