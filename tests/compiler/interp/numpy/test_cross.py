"""Products of vectors of two components, whose number only the run tells."""

import numpy as np
import pytest

import autodiff_sct as ad


def area(a, b):
    return np.sum(np.cross(a, b) ** 2)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("shape", [(2,), (2, 2), (3, 2)])
def test_two_components_are_refused(shape):
    """By the reverse sweep, or by newer versions of NumPy."""
    with pytest.raises((ad.AutodiffError, ValueError), match="two components|3-dimensional vectors"):
        ad.grad(area)(np.ones(shape), np.arange(float(np.prod(shape))).reshape(shape))


def test_second_derivative():
    a, b = np.random.default_rng(0).normal(size=(2, 4, 3))

    def twice(a):
        return np.sum(ad.grad(area)(a, b) * np.arange(12.0).reshape(4, 3))

    step = np.zeros((4, 3))
    step[1, 2] = 1e-4
    expected = (twice(a + step) - twice(a - step)) / 2e-4
    assert np.isclose(ad.grad(twice)(a)[1, 2], expected)
