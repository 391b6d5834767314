"""Element-wise programs in strips: the gradient that they have as a whole, whatever the length."""

import traceback
import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.core.thresholds import ITEMS_OF_A_STRIP as LENGTH
from tests.compiler.checked import check_gradient

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
LONG, OTHER, THIRD = RNG.normal(size=(3, 2 * LENGTH + 5))
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


def shifted(x):
    y = np.exp(np.sin(x[1:]) * np.cos(x[:-1]) - 0.5 * x[1:] * x[1:])
    z = np.tanh(y) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def bending(x, a):
    d = x[1:] - x[:-1]
    c = a * (d[1:] - d[:-1])
    return np.sum(np.sqrt(1.0 + c * c) * x[1:-1] + np.log(1.0 + d[1:] ** 2))


def denoised(x, y, a):
    d = x[1:] - x[:-1]
    return np.sum((x - y) ** 2 + np.exp(-y * y) * np.tanh(x)) + a * np.sum(np.sqrt(d * d + 1e-3))


def three_cuts(x, y, a):
    d = np.sin(x[1:]) * x[:-1] * a
    c = d[1:] - np.cos(d[:-1])
    return np.mean(x * y * y) + np.sum(np.exp(-d * d)) * a + np.sum(np.tanh(c) * c * y[1:-1])


def neighbours(x):
    y = np.exp(x)
    z = y[1:] * y[:-1]
    return np.sum(np.log(1.0 + z * z) * np.sin(y[1:])) + np.mean(np.sqrt(z))


def weighted(x, y, w):
    return np.sum(np.exp(-x * y) * w * np.sin(x) + np.tanh(y * w) / (1.0 + x * x))


def huber(x, y, a, b):
    r = y - (a * np.tanh(x) + b)
    return np.mean(np.where(np.abs(r) < 1.0, 0.5 * r * r, np.abs(r) - 0.5) * (1.0 + x * x))


RUNS = [
    (chain, ()),
    (fit, (1.2, 0.3)),
    (two_sums, (0.7,)),
    (shifted, ()),
    (rosenbrock, ()),
    (bending, (0.3,)),
    (denoised, (OTHER, 0.3)),
    (three_cuts, (OTHER, 0.3)),
    (neighbours, ()),
    (weighted, (OTHER, THIRD)),
    (huber, (OTHER, 1.1, 0.2)),
]


def normalised(x):
    y = np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x)
    z = np.tanh(y / np.sum(y)) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def with_another(x, w):
    y = np.exp(np.sin(x) * np.cos(w) - 0.5 * x * x)
    z = np.tanh(y * w) * np.sqrt(1.0 + y * y)
    return np.sum(z * np.log(1.0 + z * z))


def apart(x, w):
    return np.sum(np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x)) * np.sum(np.tanh(w) * np.sqrt(1.0 + w * w))


def begun(x):
    y = np.zeros_like(x)
    y[1:] = np.sin(x[:-1]) * np.exp(x[1:])
    z = y[:-1] * np.tanh(x[1:]) + np.cos(x[:-1])
    return np.sum(np.log(1.0 + z * z))


def first_apart(x):
    y = np.sin(x[1:]) * np.exp(x[:-1]) + np.cos(x[1:]) * np.tanh(x[:-1])
    return np.sum(np.sqrt(1.0 + y * y)) + x[0] * x[-1]


def every_other(x):
    y = np.sin(x[1::2]) * np.exp(x[:-1:2]) + np.cos(x[1::2]) * np.tanh(x[:-1:2])
    return np.sum(np.sqrt(1.0 + y * y))


def far(x, n):
    y = np.sin(x[n:]) * np.exp(x[n:]) + np.cos(x[n:]) * np.tanh(x[n:])
    return np.sum(np.sqrt(1.0 + y * y))


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


WHOLE = [
    (normalised, ()),
    (running, ()),
    (captured, ()),
    (apart, (OTHER,)),
    (begun, ()),
    (first_apart, ()),
    (every_other, ()),
    (far, (3,)),
]


def without_strips(fn, *args, **settings):
    with pass_registry.without("strip_mine"):
        return ad.grad(lambda *a: fn(*a), **settings)(*args)


def positions(args):
    return tuple(k for k, arg in enumerate(args) if not isinstance(arg, int))


def begin(args, length):
    return tuple(arg[:length].copy() if isinstance(arg, np.ndarray) else arg for arg in args)


LENGTHS = [0, 1, 2, 3, 5, *range(LENGTH - 2, LENGTH + 4), 2 * LENGTH, 2 * LENGTH + 1, 2 * LENGTH + 5]


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value")
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("fn", "more"), RUNS)
def test_every_length(fn, more, length):
    args = begin((LONG, *more), length)
    if length == 0 and fn in (fit, two_sums, huber, three_cuts):
        pytest.skip("the mean of nothing")
    found = ad.grad(fn, grad_position=positions(args))(*args)
    expected = without_strips(fn, *args, grad_position=positions(args))
    for a, b in zip(found, expected) if more else [(found, expected)]:
        assert type(a) is type(b) and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("fn", "more"), [run for run in RUNS if run[1]])
def test_each_alone(fn, more):
    args = (LONG, *more)
    for position in positions(args):
        found = ad.grad(fn, grad_position=position)(*args)
        np.testing.assert_allclose(found, without_strips(fn, *args, grad_position=position), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("fn", "more"), [*RUNS, *WHOLE, (written, ())])
def test_gradient(fn, more):
    if fn is not written:
        check_gradient(fn, begin((LONG, *more), 6))
    np.testing.assert_allclose(ad.grad(fn)(LONG, *more), without_strips(fn, LONG, *more), rtol=1e-12, atol=1e-18)


@pytest.mark.parametrize(("fn", "more"), RUNS)
def test_runs_in_strips(fn, more):
    text = ad.adjoint_source(fn, LONG, *more)
    assert str(LENGTH) in text and "x_strip" in text
    assert "x_strip" not in ad.adjoint_source(fn, *(a.reshape(13, -1) if np.ndim(a) else a for a in (LONG, *more)))


def test_not_of_numbers():
    assert "x_strip" not in ad.adjoint_source(chain, 0.5)


@pytest.mark.parametrize(("fn", "more"), WHOLE)
def test_stays_whole(fn, more):
    assert "x_strip" not in ad.adjoint_source(fn, LONG, *more)


def test_broadcast_arrays_stay_whole():
    one = np.array([0.7])
    assert "x_strip" not in ad.adjoint_source(with_another, LONG, one)
    assert "x_strip" not in ad.adjoint_source(with_another, one, LONG)
    for args in ((LONG, one), (one, LONG)):
        found = ad.grad(with_another, grad_position=(0, 1))(*args)
        for a, b in zip(found, without_strips(with_another, *args, grad_position=(0, 1))):
            np.testing.assert_array_equal(a, b)


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
        for lengths in ((LENGTH, 2 * LENGTH), (2 * LENGTH, LENGTH), (2, 3), (2, 0)):
            with pytest.raises(ValueError, match=r"together with shapes \({},\) \({},\)".format(*lengths)):
                call(LONG[: lengths[0]], LONG[: lengths[1]])
    with pytest.raises(ValueError, match="together") as caught:
        ad.grad(with_another)(LONG[:5], LONG[:6])
    assert "y = np.exp(np.sin(x) * np.cos(w)" in traceback.extract_tb(caught.value.__traceback__)[-1].line


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


def test_single_precision_of_windows():
    x, y = LONG.astype(np.float32), OTHER.astype(np.float32)
    for fn in (denoised, three_cuts):
        found = ad.grad(fn, grad_position=(0, 1, 2))(x, y, 0.3)
        assert [getattr(g, "dtype", float) for g in found] == [np.float32, np.float32, float]
        for a, b in zip(found, without_strips(fn, x, y, 0.3, grad_position=(0, 1, 2))):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_arrays_of_several_dtypes():
    y = np.arange(len(LONG)) % 3
    w = THIRD.astype(np.float32)
    found = ad.grad(weighted, grad_position=(0, 2))(LONG, y, w)
    assert [g.dtype for g in found] == [np.float64, np.float32]
    for a, b in zip(found, without_strips(weighted, LONG, y, w, grad_position=(0, 2))):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_one_array_given_twice():
    found = ad.grad(weighted, grad_position=(0, 1, 2))(LONG, LONG, LONG)
    for a, b in zip(found, without_strips(weighted, LONG, LONG, LONG, grad_position=(0, 1, 2))):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert not any(np.shares_memory(a, b) for k, a in enumerate(found) for b in (*found[:k], LONG))


def test_cotangents_of_one_value():
    def both(x, y):
        t = x + y
        return np.sum(np.sin(t) * np.exp(-t * t) + np.log(1.0 + t * t) * np.tanh(t))

    first, second = ad.grad(both, grad_position=(0, 1))(LONG, OTHER)
    np.testing.assert_array_equal(first, second)
    assert not np.shares_memory(first, second)
    first, second = ad.grad(lambda x, y: both(x[1:], y[:-1]), grad_position=(0, 1))(LONG, OTHER)
    np.testing.assert_array_equal(first[1:], second[:-1])
    assert first[0] == second[-1] == 0.0 and not np.shares_memory(first, second)


def test_whole_outputs():
    def local(x):
        d = x[1:] - np.sin(x[:-1])
        return np.exp(-d * d) * np.tanh(d) + np.sqrt(1.0 + d * d)

    check_gradient(lambda x: np.sum(local(x)), (LONG[:5].copy(),))
    np.testing.assert_allclose(ad.grad(local)(LONG), without_strips(local, LONG), rtol=1e-11, atol=1e-13)


def test_second_derivative():
    def slope(x):
        return np.sum(ad.grad(chain)(x) * np.cos(x))

    check_gradient(slope, (LONG[:4].copy(),))


def test_emitted_text_is_its_own_input():
    namespace = {}
    exec(ad.adjoint_source(chain, LONG), namespace)
    np.testing.assert_array_equal(namespace["d_chain"](LONG), ad.grad(chain)(LONG))


@pytest.mark.parametrize(("fn", "more"), [(rosenbrock, ()), (weighted, (OTHER, THIRD)), (bending, (0.3,))])
def test_emitted_text_is_differentiated_again(fn, more):
    args = begin((LONG, *more), 5)
    again = ad.from_source("import autodiff_sct\n" + ad.adjoint_source(fn, *args))
    expected = ad.grad(lambda *a: np.sum(ad.grad(lambda *b: fn(*b))(*a)))(*args)
    np.testing.assert_allclose(ad.grad(lambda *a: np.sum(again(*a)))(*args), expected, rtol=1e-11)


def test_not_a_number_stays_where_it_is():
    x = LONG.copy()
    x[3] = np.nan
    x[9000] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ad.grad(chain)(x)
    assert np.isnan(found[3]) and np.isfinite(np.delete(found, [3, 9000])).all()
