"""What is computed for its lengths only is left out where the reverse sweep fails for the same lengths."""

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

A, B = np.array([0.4, 1.3, -0.7]), np.array([0.9, -0.2, 0.6, 1.1])


def product(x, y):
    return np.sum(x**2 * y)


def product_in_a_branch(x, y):
    total = np.sum(x * y * y)
    if total > 100.0:
        return np.sum(x)
    return total


def printed_after_it(x, y):
    total = np.sum(x**2 * y)
    print("done")
    return total


def only_lengths(x, y):
    np.sin(x) * y
    return np.sum(x)


@pytest.mark.parametrize("fn", [product, product_in_a_branch, printed_after_it, only_lengths])
def test_other_lengths_fail(fn, capsys):
    for wrong in (B, B[:2]):
        with pytest.raises(ValueError, match="broadcast"):
            ad.grad(fn, (0, 1))(A, wrong)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("fn", [product, product_in_a_branch, printed_after_it, only_lengths])
def test_one_number_is_as_long_as_any(fn, capsys):
    for x, y in ((A, B[:3]), (A, B[:1]), (A[:1], B)):
        value, gradients = ad.value_and_grad(fn, (0, 1))(x, y)
        assert value == fn(x, y)
        for a, b in zip(ad.grad(fn, (0, 1))(x, y), gradients, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


def test_the_product_is_not_computed():
    assert "x ** 2 * y" not in ad.grad(product, (0, 1)).source_for(A, B[:3])


def added_in_place_and_unread(x, y):
    z = x + 1.0
    z += y
    return np.sum(x)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_what_does_not_fit_into_an_array_that_nobody_reads_still_raises(length):
    wrong = length not in (1, 3)
    for call in (ad.grad(added_in_place_and_unread), lambda x, y: ad.vjp(added_in_place_and_unread, x, y)[1](1.0)[0]):
        if wrong:
            with pytest.raises(ValueError, match="broadcast"):
                call(A, B[:length])
        else:
            np.testing.assert_array_equal(call(A, B[:length]), np.ones(3))
