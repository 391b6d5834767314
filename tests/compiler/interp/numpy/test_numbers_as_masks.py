"""Functions that take numbers for a mask: true where they are not zero, and no places to index."""

import numpy as np
import pytest

from tests.compiler.checked import check_gradient

X = np.array([0.3, 1.2, -0.4, 0.7, 2.0])
ONES = np.array([0, 1, 1, 0, 1])
FLOATS = 2.0 * ONES


def placed(x):
    y = x**2
    np.place(y, ONES, x[1:4] ** 3)
    return (y * x).sum()


def placed_by_a_computed_mask(x):
    y, low = np.zeros(5), x < 0
    np.place(y, (1 - low) & (x < 1), np.extract((1 - low) & (x < 1), x) ** 2)
    return (y * x).sum()


def placed_by_name(x):
    y = x**2
    np.place(arr=y, mask=ONES, vals=x[:3])
    return (y * x).sum()


def placed_by_a_list(x):
    y = x**2
    np.place(y, [0, 1, 1, 0, 1], [1.0, 2.0])
    return (y * x).sum()


def put_by_a_mask(x):
    y = 1 * x
    np.putmask(y, ONES, x * x)
    return (y * x).sum()


def put_by_a_mask_of_floats(x):
    y = 1 * x
    np.putmask(y, mask=FLOATS, values=x * x)
    return (y * x).sum()


def number_put_by_a_mask(x):
    y = 1 * x
    np.putmask(y, ONES, x[0])
    return (y * x).sum()


def in_pieces(x):
    return np.piecewise(x, [ONES, 1 - ONES], [lambda t: t**3, lambda t: t**2]).sum()


def in_pieces_with_the_rest(x):
    return np.piecewise(x, [FLOATS], [lambda t: t**3, lambda t: t**2]).sum()


def in_pieces_by_one_condition(x):
    return np.piecewise(x, x < 0.5, [lambda t: t**3, lambda t: t**2]).sum()


def extracted(x):
    return (np.extract(FLOATS, x) ** 2).sum() + (np.compress(ONES, x) ** 3).sum()


@pytest.mark.parametrize(
    "fn",
    [
        placed,
        placed_by_a_computed_mask,
        placed_by_name,
        placed_by_a_list,
        put_by_a_mask,
        put_by_a_mask_of_floats,
        number_put_by_a_mask,
        in_pieces,
        in_pieces_with_the_rest,
        in_pieces_by_one_condition,
        extracted,
    ],
)
def test_numbers_as_masks(fn):
    check_gradient(fn, (X,))
