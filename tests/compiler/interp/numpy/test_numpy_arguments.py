"""The rare arguments of NumPy's functions: each is used, or the call is refused."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds

X = np.random.default_rng(0).normal(size=(3, 4))
NARROW = X.astype(np.float32)


def stacked(x):
    return np.stack(x, axis=1) @ x


def rectangle(x):
    return np.diag(np.eye(3, M=4) * x[0, 0]) * np.trace(np.identity(n=3) * x[0, 1])


def inserted(x):
    return np.insert(x, np.array(1), x[:, 0] * x[:, 1], axis=1)


def one_of_several(x):
    return np.choose(1, [x, x[0, 0] * x[0, 0]]) * x


def named(x):
    return x * np.shape(a=x)[0] * np.ndim(a=x) + np.fromfunction(function=lambda i, j: i * j, shape=(3, 4)) * x


def put_where(x):
    x = x * 1.0
    np.copyto(x, x * x, "same_kind", x > 0)
    x.sort(0, "stable")
    return x


def behind_out(x):
    return np.sum(x, 1, None, None, True) * np.max(x, 0, None, True) + x.mean(1, None, None, True)


def sum_of_doubles(x):
    o = np.zeros(3)
    np.sum(x, 1, out=o)
    return o


def roots_where(x):
    o = np.ones_like(x)
    return np.sqrt(np.abs(x), where=x > 0, out=(o,))


def other_order(x):
    t = np.reshape(x, -1, "F")
    t[...] = t * t
    return t


def changed_behind(x):
    x = x * 1.0
    t = np.unstack(x)
    x[...] = 3.0 * x
    return np.sum(t) + np.sum(x * x)


def weights_too(x):
    average, weights = np.average(x, axis=1, weights=np.exp(x), returned=True, keepdims=True)
    return average * weights + np.average(x, 0, [1, 2, 3], True)[0]


def average_and_count(x):
    average, count = np.average(x, returned=True)
    return average * count


def with_step(x):
    points, step = np.linspace(x[0, 0], x[0, 1] * 3, 5, retstep=True)
    return points * step


def around(x):
    return np.var(x, axis=0, mean=np.mean(x, axis=0), correction=1)


def around_complex(x):
    z = x + 1j * x * x
    return np.std(z, axis=0, mean=np.mean(z, axis=0))


def begun(x):
    return np.max(x, axis=1, initial=np.float64(np.float32(0.4) + 1e-9))


def computed_in_a_dtype(x):
    y = np.multiply(x, 2.0, casting="same_kind", order="K", subok=True)
    return np.add(y, x[0], dtype=np.float64) * np.square(x, dtype=x.dtype) + np.multiply(x, 1j, dtype=complex).imag


PROGRAMS = [
    computed_in_a_dtype,
    stacked,
    rectangle,
    inserted,
    one_of_several,
    named,
    put_where,
    behind_out,
    roots_where,
    other_order,
]
PROGRAMS += [computed_in_a_dtype, changed_behind, weights_too, average_and_count, with_step, around, around_complex]


def slope(f, x):
    """Central differences of the sum of the results."""
    found = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[k] = 1e-6
        found[k] = (np.sum(f(x + step)) - np.sum(f(x - step))) / 2e-6
    return found


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_rare_arguments(f):
    value, gradient = ad.value_and_grad(f)(X)
    expected = f(X.copy())
    assert type(value) is type(expected) and np.array_equal(value, expected)
    assert np.allclose(gradient, slope(f, X.copy()), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ufuncs_compute_in_the_dtype_that_they_are_told(dtype):
    def f(x, y):
        return np.sum(np.divide(np.add(x, y, dtype=dtype), np.arange(1, 5), dtype=dtype) ** 2)

    value, (first, second) = ad.value_and_grad(f, (0, 1))(NARROW, X)
    expected = f(NARROW, X)
    assert value == expected and value.dtype == expected.dtype == dtype
    assert (first.dtype, second.dtype) == (np.float32, np.float64)
    rtol = 1e-5 if dtype == np.float32 else 1e-6
    np.testing.assert_allclose(second, 2 * (NARROW + X) / np.arange(1, 5) ** 2, rtol=rtol)
    np.testing.assert_allclose(first, second, rtol=1e-5)


def test_a_sum_is_of_the_type_of_out():
    value, gradient = ad.value_and_grad(sum_of_doubles)(NARROW)
    assert np.array_equal(value, sum_of_doubles(NARROW))
    assert gradient.dtype == np.float32


def test_a_number_beside_a_mask_takes_the_type_of_the_array():
    def f(x, k):
        o = np.zeros(x.shape)
        np.divide(x, k, out=o, where=x > 0)
        np.multiply(x, x.shape[0], out=o, where=x < -1)
        return np.sum(o)

    value, gradient = ad.value_and_grad(f)(NARROW, 0.57)
    assert value == f(NARROW, 0.57) and gradient.dtype == np.float32
    assert np.allclose(gradient, slope(lambda x: f(x, 0.57), X.copy()), rtol=1e-5)


def test_an_extreme_begins_with_a_number_of_more_digits():
    tangent = ad.jvp(begun, (NARROW,), (np.ones_like(NARROW),))[1]
    assert np.array_equal(tangent, (NARROW.max(1) > 0.4).astype(np.float32))


def test_degrees_of_freedom_that_are_used_up():
    def f(x):
        return np.var(x, axis=0, ddof=5)

    with np.errstate(divide="ignore"), pytest.warns(RuntimeWarning):
        assert np.all(np.isinf(ad.grad(f)(X)))


def written_difference(x, k):
    t = np.diff(x, k, 1)
    t[...] = t * t
    return t


def written_power(x, k):
    t = np.linalg.matrix_power(x[:, :3], k)
    x[...] = 2.0 * x
    return t * 1.0


def several_views(x, k):
    x = x * k
    t = np.broadcast_arrays(x, x[0])
    x[...] = 3.0 * x
    return np.sum(t) * 1.0


def two_outputs(x, k):
    a, b = np.zeros_like(x), np.zeros_like(x)
    np.modf(x * k, out=(a, b))
    return a


def spread_by_out(x, k):
    o = np.zeros(3, np.float32)
    np.ptp(x * k, 1, out=o)
    return o


def only_a_few(x, k):
    return np.fromiter((x[0, j] * k for j in range(3)), float, 2)


@pytest.mark.parametrize("f", [written_difference, written_power], ids=lambda f: f.__name__)
def test_refused_for_any_number(f):
    found = ad.grad(f)(X, 2)  # compiled for this number
    np.testing.assert_allclose(found, slope(lambda x: f(x.copy(), 2), X), rtol=1e-5, atol=1e-7)
    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(X, thresholds.INTEGER + 1)


@pytest.mark.parametrize(
    "f",
    [several_views, two_outputs, spread_by_out, only_a_few],
    ids=lambda f: f.__name__,
)
def test_refused(f):
    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(X, 2)


def test_what_does_not_fit_raises():
    def f(x):
        o = np.zeros((3, 4), int)
        np.exp(x, out=o)
        return o * x

    with pytest.raises(TypeError, match="same_kind"):
        ad.grad(f)(X)


PAIRS, OUTPUT = ((0, 1), (1, 2)), (0, 2)
SETTINGS = {"axes": 0}


def axes_read_from_outside(x):
    return np.sum(np.einsum(x, PAIRS[0], X.T, PAIRS[1], OUTPUT) ** 2)


def product_with_a_number(x):
    return np.sum(np.tensordot(x, x[0, 0], axes=0) ** 2) + np.sum(np.tensordot(x, 2.0 * float(x[0, 0]), 0) ** 2)


def operators_by_name(x):
    return np.sum(np.array(x, subok=True) ** 2) + np.sum(x.__mul__(x).__add__(1.0)) + np.sum(x.__pow__(2))


@pytest.mark.parametrize("f", [axes_read_from_outside, product_with_a_number, operators_by_name, np.real_if_close])
def test_both_modes_and_both_orders(f):
    ad.check_grads(f, (X,))


def test_a_number_and_axes_that_only_the_run_knows():
    ad.check_grads(lambda *both: np.tensordot(*both, **SETTINGS), (X[0], 0.3), order=3)


@pytest.mark.parametrize("n", [1, 6, 130])
def test_densities_of_histograms(n):
    w, x = np.random.default_rng(n).uniform(0.5, 1.5, size=n), np.linspace(0.51, 1.5, n)
    edges = np.array([0.3, 0.6, 1.1, 2.0])

    def one(w, x, edges):
        counts, ends = np.histogram(x, bins=edges, weights=w, density=True)
        return np.sum(counts**2 * ends[1:])

    def two(w, x):
        counts, _, _ = np.histogram2d(x, x[::-1], (edges, 3), weights=w, density=True)
        return np.sum(counts**2)

    ad.check_grads(one, (w, x, edges))
    ad.check_grads(lambda w: two(w, x), (w,))
    assert ad.value_and_grad(one)(w, x, edges)[0] == one(w, x, edges)
    assert ad.value_and_grad(two)(w, x)[0] == two(w, x)
