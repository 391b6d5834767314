"""A derivative of exactly zero stays zero where the slope is infinite or NaN, in both modes and at second order."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

X = np.array([-1.0, 0.0, 4.0])
RNG = np.random.default_rng(0)


def masked_root(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


def masked_logarithm(x):
    return np.sum(np.where(x > 0, x * np.log(x), 0.0))


def masked_quotient(x):
    return np.sum(np.where(x != 0, 1 / x, 0.0))


def masked_power(x):
    return np.sum(np.where(x > 0, x**1.5 + x**-0.5, 0.0))


def entries_set_to_zero(x):
    s = np.sqrt(x - 0.5)
    s[np.isnan(s)] = 0
    return np.sum(s)


def without_nan(x):
    return np.sum(np.nan_to_num(np.sqrt(x - 0.5)))


def root_of_positive_part(x):
    return np.sum(np.sqrt(np.maximum(x - 0.5, 0)))


def overflow_that_is_clipped(x):
    return np.sum(np.minimum(np.exp(1000 * x), 5.0))


def outside_the_domain(x):
    return np.sum(np.where(x < 1, np.arccos(np.clip(x, -0.9, 1)), 0.0))


def of_numbers(x):
    total = 0.0
    for v in x:
        total += max(1.0, math.sqrt(v * v)) if v <= 0 else math.log(v)
    return total


def in_steps(x):
    y = x * 1.0
    for k in range(len(y)):
        y = np.where(y > 0, np.sqrt(y) * np.log(y + k), y)
    return np.sum(y)


def flat_image(img):
    gx, gy = img[1:, :-1] - img[:-1, :-1], img[:-1, 1:] - img[:-1, :-1]
    return np.sum(np.maximum(1.0, np.sqrt(gx**2 + gy**2)))


def potential(positions):
    d = positions[:, None] - positions[None, :]
    r = np.sqrt(np.sum(d**2, -1))
    np.fill_diagonal(r, np.inf)
    return np.sum(1 / r)


def potential_by_mask(positions):
    d = positions[:, None] - positions[None, :]
    r = np.sqrt(np.sum(d**2, -1))
    return np.sum(1 / r[~np.eye(len(positions), dtype=bool)])


def soft_dtw(costs):
    n, m = costs.shape
    R = np.full((n + 1, m + 1), np.inf)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]])
            least = r.min()
            R[i, j] = costs[i - 1, j - 1] + least - np.log(np.sum(np.exp(-(r - least))))
    return R[n, m]


def ordinal_regression(thresholds):
    z = np.concatenate([[-np.inf], thresholds, [np.inf]])
    p = 1 / (1 + np.exp(-(z[1:] - 0.3))) - 1 / (1 + np.exp(-(z[:-1] - 0.3)))
    return -np.sum(np.log(p))


def product_without_what_is_nan(x):
    factors = x.copy()
    factors[x < 0.5] = np.nan
    result, product, chosen = 3.0 * x, np.cos(x) * factors, x >= 0.5
    result[chosen] = product[chosen]
    return np.sum(result)


def part_of_a_product(x):
    return np.sum((np.cos(x) * np.where(x < 0.5, np.inf, x))[2:])


def greatest_product(x):
    return np.max(np.cosh(x) * np.where(x < 0.5, -np.inf, x))


SINGULAR = [masked_root, masked_quotient, masked_power, entries_set_to_zero, without_nan, root_of_positive_part,
            outside_the_domain, of_numbers, masked_logarithm, in_steps, product_without_what_is_nan, part_of_a_product,
            greatest_product]  # fmt: skip
SMOOTH = [(flat_image, np.ones((3, 3))), (potential, RNG.normal(size=(4, 3))), (soft_dtw, RNG.random((3, 4))),
          (potential_by_mask, RNG.normal(size=(4, 3))), (ordinal_regression, np.array([-1.0, 0.5]))]  # fmt: skip


def differences(fn, x, step=1e-6):
    """Central differences in the elements near which the function is smooth, zero in the others."""
    result = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        high, low = x.copy(), x.copy()
        high[k] += step
        low[k] -= step
        slope = (fn(high) - fn(low)) / (2 * step)
        result[k] = slope if abs(slope) < 1e3 and x[k] != 0 or x.ndim > 1 else 0.0
    return result


CASES = [(fn, X) for fn in SINGULAR] + SMOOTH


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("fn", "x"), CASES, ids=[fn.__name__ for fn, _ in CASES])
def test_derivatives(fn, x):
    wanted = differences(fn, x)
    at_kink = (x == 0) & (wanted == 0)  # the slope there may be anything but NaN
    gradient = ad.grad(fn)(x)
    assert not np.isnan(gradient).any()
    np.testing.assert_allclose(gradient[~at_kink], wanted[~at_kink], rtol=1e-5, atol=1e-8)
    value, by_value = ad.value_and_grad(fn)(x)
    assert value == fn(x)
    np.testing.assert_array_equal(by_value, gradient)
    np.testing.assert_allclose(ad.vjp(fn, x)[1](1.0)[0], gradient, rtol=1e-12)
    np.testing.assert_allclose(ad.jacrev(fn)(x), gradient, rtol=1e-12)
    direction = np.where(at_kink, 0.0, RNG.normal(size=x.shape))
    _, tangent = ad.jvp(fn, (x,), (direction,))
    np.testing.assert_allclose(tangent, np.sum((gradient * direction)[direction != 0]), rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("fn", "x"), CASES, ids=[fn.__name__ for fn, _ in CASES])
def test_second_order(fn, x):
    weights = RNG.normal(size=x.shape)
    second = ad.grad(lambda x: np.sum(weights * ad.grad(fn)(x)))(x)
    smooth = (x != 0) | (x.ndim > 1)
    wanted = differences(lambda x: np.sum((weights * ad.grad(fn)(x))[smooth]), x)
    np.testing.assert_allclose(second[smooth], wanted[smooth], rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_overflow_that_is_clipped():
    x = np.array([-1.0, 1.0, 1e-4])
    wanted = [0.0, 0.0, 1000 * math.exp(0.1)]
    np.testing.assert_allclose(ad.grad(overflow_that_is_clipped)(x), wanted)
    np.testing.assert_allclose(ad.jvp(overflow_that_is_clipped, (x,), (np.ones(3),))[1], sum(wanted))
    np.testing.assert_allclose(ad.vjp(overflow_that_is_clipped, x)[1](1.0)[0], wanted)
    np.testing.assert_allclose(ad.jacrev(overflow_that_is_clipped)(x), wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_products_with_what_is_infinite():
    def selected(x, w):
        return np.sum(np.where(np.isfinite(w), x * w, 0.0))

    x, w = np.ones(3), np.array([np.inf, 2.0, 3.0])
    np.testing.assert_array_equal(ad.grad(selected)(x, w), [0.0, 2.0, 3.0])
    np.testing.assert_array_equal(ad.vjp(selected, x, w)[1](1.0)[0], [0.0, 2.0, 3.0])
    assert ad.jvp(lambda x: selected(x, w), (x,), (np.ones(3),))[1] == 5.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_slope_of_zero_in_forward_mode():
    def sigmoid(x):
        return np.sum(1 / (1 + np.exp(-x)))

    x = np.array([-1000.0, 0.0, 1000.0])
    assert ad.jvp(sigmoid, (x,), (np.ones(3),))[1] == 0.25
    np.testing.assert_array_equal(ad.grad(sigmoid)(x), [0.0, 0.25, 0.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_pullback_whose_arguments_have_changed():
    x = np.array([-1.0, 1.0])
    pull = ad.vjp(overflow_that_is_clipped, x)[1]
    x[:] = 0.5
    assert not np.array_equal(pull(1.0)[0], ad.grad(overflow_that_is_clipped)(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [1, 3, 130, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sizes_and_dtypes(size, dtype):
    x = np.where(np.arange(size) % 3 == 0, -1.0, 4.0).astype(dtype)
    for gradient in (ad.grad(masked_root)(x), ad.vjp(masked_root, x)[1](dtype(1.0))[0]):
        assert gradient.dtype == dtype
        np.testing.assert_array_equal(gradient, np.where(x > 0, 0.25, 0.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_program_that_prints_runs_once(capsys):
    def loud(x):
        print("once")
        return masked_root(x)

    np.testing.assert_array_equal(ad.grad(loud)(X), [0.0, 0.0, 0.25])
    assert capsys.readouterr().out == "once\n"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fn, first", [(masked_root, True), (overflow_that_is_clipped, False)])
def test_later_calls_begin_with_the_program_that_was_needed(fn, first):
    """Zeros of singular functions are enough for a root, and not for an overflow."""
    gradient, value_and_gradient = ad.grad(fn), ad.value_and_grad(fn)
    expected = gradient(X)
    (variant,) = gradient.prepared().variants.by_kinds.values()
    assert (variant[0].first is not None) == first
    for x in (X, np.abs(X) + 1.0, X.copy()):
        np.testing.assert_array_equal(gradient(x), ad.grad(fn)(x))
        value, found = value_and_gradient(x)
        assert value == fn(x)
        np.testing.assert_array_equal(found, gradient(x))
    np.testing.assert_array_equal(gradient(X), expected)
    assert np.isnan(gradient(np.array([np.nan, 1.0, 4.0]))[0]) == np.isnan(ad.grad(fn)(np.array([np.nan, 1.0, 4.0]))[0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_nan_stays_nan_in_its_element():
    gradient = ad.grad(lambda x: np.sum(np.sqrt(x)))(np.array([-1.0, 4.0]))
    assert np.isnan(gradient[0]) and gradient[1] == 0.25


@pytest.mark.parametrize("derivative", [lambda f, x: ad.grad(f)(x), lambda f, x: ad.jvp(f, (x,), (1.0,))[1]])
def test_numbers_of_pythons(derivative):
    assert derivative(lambda x: max(1.0, math.sqrt(x * x)), 0.0) == 0.0
    assert derivative(lambda x: min(2.0, (x * x + 1) ** 0.5 / (1 + math.sqrt(abs(x))) + 5), 0.0) == 0.0
    with pytest.raises(ZeroDivisionError):
        derivative(lambda x: math.sqrt(x), 0.0)
    with pytest.raises(ZeroDivisionError):
        derivative(lambda x: 1 / x, 0.0)


def test_nothing_is_printed_for_it_elsewhere():
    assert "== 0" not in ad.adjoint_source(masked_root, X)
