"""Element-wise programs in strips: the gradient that they have as a whole, whatever the length."""

import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.compiler.checked import check_gradient

RNG = np.random.default_rng(0)
LONG = RNG.normal(size=2 * 8192 + 5)
SHIFT = RNG.normal(size=7)


def chain(x):
    a = np.sin(x) * np.exp(-0.5 * x * x)
    b = np.tanh(a + x)
    c = np.sqrt(1.0 + b * b)
    return np.sum(np.log(1.0 + c * c) * a)


def fit(x, a, b):
    y = a * np.exp(-b * x) + np.sin(x) / (1.0 + x * x)
    r = np.tanh(y - 0.5) * x
    return 3.0 * np.mean(np.sqrt(1.0 + r**2) * np.where(x > 0.0, r, y)) + a * b


def two_sums(x, a):
    y = np.sin(a * x) * np.exp(-x * x) + np.cos(x) / (2.0 + np.sin(x))
    z = y * np.tanh(y) + np.log(1.0 + y * y)
    return np.sum(y * z) * a + np.mean(z) * len(x)


RUNS = [(chain, ()), (fit, (1.2, 0.3)), (two_sums, (0.7,))]


def normalised(x):
    y = np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x)
    z = np.tanh(y / np.sum(y)) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def shifted(x):
    y = np.exp(np.sin(x[1:]) * np.cos(x[:-1]) - 0.5 * x[1:] * x[1:])
    z = np.tanh(y) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def with_another(x, w):
    y = np.exp(np.sin(x) * np.cos(w) - 0.5 * x * x)
    z = np.tanh(y * w) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def running(x):
    y = np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x)
    z = np.tanh(np.cumsum(y)) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def captured(x):
    y = np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x)
    z = np.tanh(y + np.mean(SHIFT)) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z)) * SHIFT[0]


def written(x):
    x *= 2.0
    y = np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x)
    z = np.tanh(y) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


WHOLE = [(normalised, ()), (shifted, ()), (running, ()), (captured, ())]


def without_strips(fn, *args, **settings):
    with passes.without("in_strips"):
        return ad.grad(lambda *a: fn(*a), **settings)(*args)


def positions(args):
    return tuple(range(1 + len(args)))


@pytest.mark.parametrize("length", [0, 1, 5, 8191, 8192, 8193, 2 * 8192 + 5])
@pytest.mark.parametrize(("fn", "more"), RUNS)
def test_every_length(fn, more, length):
    x = LONG[:length]
    if length == 0 and fn is not chain:
        pytest.skip("the mean of nothing")
    found = ad.grad(fn, grad_position=positions(more))(x, *more)
    expected = without_strips(fn, x, *more, grad_position=positions(more))
    for a, b in zip(found, expected) if more else [(found, expected)]:
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("fn", "more"), [*RUNS, *WHOLE, (written, ())])
def test_gradient(fn, more):
    if fn is not written:
        check_gradient(fn, (LONG[:6].copy(), *more))
    np.testing.assert_allclose(ad.grad(fn)(LONG, *more), without_strips(fn, LONG, *more), rtol=1e-12, atol=1e-18)


@pytest.mark.parametrize(("fn", "more"), RUNS)
def test_runs_in_strips(fn, more):
    text = ad.adjoint_source(fn, LONG, *more)
    assert "8192" in text and "x_strip" in text
    assert "x_strip" not in ad.adjoint_source(fn, 0.5, *more)
    assert "x_strip" not in ad.adjoint_source(fn, LONG.reshape(3, -1), *more)


@pytest.mark.parametrize(("fn", "more"), [*WHOLE, (with_another, (LONG,))])
def test_stays_whole(fn, more):
    assert "x_strip" not in ad.adjoint_source(fn, LONG, *more)


def test_short_programs_stay_whole():
    def short(x):
        return np.sum(np.sin(x) * x)

    assert "x_strip" not in ad.adjoint_source(short, LONG)


def test_value_is_bit_equal():
    value, gradient = ad.value_and_grad(chain)(LONG)
    assert value == chain(LONG)
    np.testing.assert_allclose(gradient, ad.grad(chain)(LONG), rtol=1e-13)


def test_lengths_that_differ_raise_as_they_do():
    for call in (with_another, ad.grad(with_another)):
        with pytest.raises(ValueError, match=r"\(8192,\) \(16384,\)"):
            call(LONG[:8192], LONG[:16384])


def test_only_numbers_are_asked_for():
    found = ad.grad(fit, grad_position=(1, 2))(LONG, 1.2, 0.3)
    np.testing.assert_allclose(found, without_strips(fit, LONG, 1.2, 0.3, grad_position=(1, 2)), rtol=1e-12)


@pytest.mark.parametrize("x", [LONG[::2], LONG[::-1], np.broadcast_to(0.3, 9000)])
def test_any_strides(x):
    found = ad.grad(chain)(x)
    np.testing.assert_allclose(found, without_strips(chain, x), rtol=1e-14)
    assert found.flags.writeable and not np.shares_memory(found, x)


def test_single_precision():
    x = LONG.astype(np.float32)
    gradient, d_a, d_b = ad.grad(fit, grad_position=(0, 1, 2))(x, 1.2, 0.3)
    assert gradient.dtype == np.float32 and type(d_a) is float and type(d_b) is float
    np.testing.assert_allclose(gradient, without_strips(fit, x, 1.2, 0.3), rtol=1e-5, atol=1e-9)


def test_second_derivative():
    def slope(x):
        return np.sum(ad.grad(chain)(x) * np.cos(x))

    check_gradient(slope, (LONG[:4].copy(),))


def test_emitted_text_is_its_own_input():
    namespace = {}
    exec(ad.adjoint_source(chain, LONG), namespace)
    np.testing.assert_array_equal(namespace["d_chain"](LONG), ad.grad(chain)(LONG))


def test_not_a_number_stays_where_it_is():
    x = LONG.copy()
    x[3] = np.nan
    x[9000] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ad.grad(chain)(x)
    assert np.isnan(found[3]) and np.isfinite(np.delete(found, [3, 9000])).all()
