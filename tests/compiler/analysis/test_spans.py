"""Parts of which sums of lengths and indices tell the ends: as long as the ends are apart, where they surely fit."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
RNG = np.random.default_rng(8)
X, W, V = RNG.normal(size=20), RNG.normal(size=3), RNG.normal(size=5)
A, K = RNG.normal(size=(6, 5)), RNG.normal(size=(3, 2))


@case((X, W), (V, W), (W, W), (W, W[:1]), (W[:1], W[:1]), (V, W[:0]))
def filtered(x, w):
    n = len(x) - len(w) + 1
    out = np.zeros(n)
    for i in range(len(w)):
        out += w[i] * x[i : i + n]
    return np.sum(np.tanh(out))


@case((A, K), (A, A), (A[:3, :2], K), (A[:, :1], K[:1, :1]), (A, K[:0]))
def in_two_directions(image, kernel):
    kh, kw = kernel.shape
    h, w = image.shape
    oh, ow = h - kh + 1, w - kw + 1
    out = np.zeros((oh, ow))
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * image[i : i + oh, j : j + ow]
    return np.sum(out**2)


@case((X, W), (V, W), (W, W), (W[:1], W[:1]))
def windows(x, w):
    total, n = 0.0, len(w)
    for i in range(len(x) - n + 1):
        total = total + np.sum(np.tanh(x[i : i + n] * w))
    return total


@case((X, W), (V, W), (V, W[:1]))
def windows_that_are_cut_off(x, w):
    total, n = 0.0, len(w)
    for i in range(len(x)):
        part = x[i : i + n]
        total = total + np.sum(part * w[: len(part)]) + np.sum(part * w[:1])
    return total


@case((X, W[:1]), (V, V[:1]))
def ends_beyond_the_axis(x, w):
    total = 0.0
    for i in range(3):
        total = total + np.sum(x[len(x) - 3 + i : len(x) - 1 + i] * w) ** 2
    return total


@case((X, W[:2], 4), (V, W[:1], 3), (V, W[:1], 0))
def starts_before_the_axis(x, w, n):
    total = 0.0
    for i in range(n):
        total = total + np.sum(x[i - 1 : i + 1] * w[: len(x[i - 1 : i + 1])])
    return total


@case((V, 2), (V, 1), (V, 5))
def of_a_length_that_is_given(x, n):
    out = np.zeros(n)
    for i in range(len(x) - n + 1):
        out += x[i : i + n] ** 2
    return np.sum(out * out)


@case((V, 0), (V, -1), (V, -2))
def of_a_length_that_may_be_negative(x, n):
    total = 0.0
    for i in range(2):
        total = total + np.sum(x[i : i + n] * x[i : i + n]) + np.sum(x[1 : 1 + n])
    return total


@case((V, 2), (W, 2), (W, 3))
def longer_than_the_axis(x, n):
    out = np.zeros(n + 2)
    for i in range(2):
        out[i : i + n] += x[i : i + n][:1] ** 2
        out += x[i : i + 1] * 0.5
    return np.sum(out**2)


@case((X,), (RNG.normal(size=16),), (RNG.normal(size=17),))
def of_a_long_axis(x):
    n = len(x)
    out = np.zeros(n - 4)
    for i in range(5):
        out += np.sin(x[i : i + n - 4]) * x[4 - i : n - i]
    return np.sum(out)


@case((V,), (V[:4],), (W,))
def of_a_short_axis(x):
    n, total = len(x), 0.0
    for i in range(3):
        total = total + np.sum(x[i : i + n - 4] * x[:1]) ** 2
    return total


@case((X, 3), (V, 2))
def by_twos(x, n):
    total = 0.0
    for i in range(0, len(x) - n, 2):
        total = total + np.sum(x[i : i + n] * x[i + 1 : i + 1 + n])
    return total


@case((V, W), (X, W))
def downwards(x, w):
    total, n = 0.0, len(w)
    for i in range(len(x) - n, -1, -1):
        total = total + np.sum(np.sin(x[i : i + n] * w))
    return total


@case((V,), (X,))
def of_what_is_left(x):
    total, n = 0.0, len(x)
    for i in range(n):
        for j in range(i + 1):
            total = total + np.sum(x[j : n - i + j] * x[i - j : n - j])
    return total


@case((V, W, True), (V, W, False))
def of_one_length_or_another(x, w, short):
    n = len(w) if short else len(w) - 1
    total = 0.0
    for i in range(len(x) - n + 1):
        total = total + np.sum(x[i : i + n] * w[:n])
    return total


@case((V, W))
def of_a_length_that_changes(x, w):
    total, n = 0.0, len(w)
    for i in range(3):
        total = total + np.sum(x[i : i + n] * x[:n]) * w[0]
        n = n - 1
    return total


@case((V, W))
def counted(x, w):
    total, i, n = 0.0, 0, len(w)
    while i + n <= len(x):
        total = total + np.sum(np.cos(x[i : i + n] * w))
        i += 1
    return total


@case((V, V[:1]), (W, W), (W, W[:1]))
def an_axis_of_another(x, y):
    total, n = 0.0, len(y)
    for i in range(len(y)):
        total = total + np.sum(x[i : i + n] * y[:1])
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    try:
        fn(*args)
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            ad.grad(fn)(*args)
        return
    check_gradient(fn, args)
    check_tangent(fn, args)
    if len(args) > 1 and isinstance(args[1], np.ndarray) and args[1].size:
        check_gradient(lambda w, x: fn(x, w, *args[2:]), (args[1], args[0]))


@pytest.mark.parametrize(
    ("fn", "args"), [(filtered, (X, W)), (in_two_directions, (A, K)), (windows, (X, W)), (of_a_long_axis, (X,))]
)
def test_nothing_is_broadcast(fn, args):
    text = ad.adjoint_source(fn, *args, grad_position=tuple(range(len(args))))
    assert "unbroadcast" not in text and "spread" not in text


def test_one_window_for_another_size():
    gradient = ad.grad(filtered, (0, 1))
    for x, w in ((X, W), (X[:4], W[:2]), (X[:17], V), (X, W)):
        found = gradient(x, w)
        expected = ad.grad(lambda x, w: filtered(x, w), (0, 1))(x, w)
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)


def test_kernels_that_do_not_fit():
    with pytest.raises(ValueError, match="negative"):
        ad.grad(filtered)(W, X)


def test_single_precision():
    found = ad.grad(in_two_directions, (0, 1))(A.astype(np.float32), K.astype(np.float32))
    for one, other in zip(found, ad.grad(in_two_directions, (0, 1))(A, K)):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_second_order():
    def squared(f):
        return lambda x: np.sum(ad.grad(f)(x, W) ** 2)

    def by_convolution(x, w):
        return np.sum(np.tanh(np.convolve(x, w[::-1], "valid")))

    np.testing.assert_allclose(ad.grad(squared(filtered))(X), ad.grad(squared(by_convolution))(X), rtol=1e-10)


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 2])
def test_lengths_that_nobody_has_checked(n):
    """A negative number ends a part before its start, or counts from the end of the axis."""

    def f(x, y, n):
        total = 0.0
        for i in range(2):
            total = total + np.sum(x[i : i + n] * x[1 : 1 + n]) + np.sum(x[i : i + n] * y[:1])
        return total

    x, y = np.array([0.3, -0.4, 0.7, 1.1]), np.array([0.5, 0.25])
    try:
        f(x, y, n)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            ad.grad(f)(x, y, n)
    else:
        check_gradient(f, (x, y, n))
        check_gradient(lambda y, x: f(x, y, n), (y, x))
