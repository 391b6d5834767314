"""Short arrays that loops make are numbers: where that is so, where it must not be, and that nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain.pass_registry import without
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

ACTS: Cases = []
STAYS: Cases = []
acts, stays = registrar(ACTS), registrar(STAYS)
Y = np.array([0.4, 1.3])
Z = np.array([0.4, 1.3, -0.7])


@acts((Y, 0.1, 6), (Y, 0.1, 1))
def rotated(y, h, steps):
    for _ in range(steps):
        k = np.array([y[1], -y[0]])
        y = y + h * k
    return y[0] * y[1]


@acts((Y, 0.1, 5))
def runge_kutta(y, h, steps):
    def f(x, t):
        u, v = x
        return np.array([v, (1 - u * u) * v - u + np.sin(t)])

    total = 0.0
    for n in range(steps):
        t = n * h
        k1 = f(y, t)
        k2 = f(y + h / 2 * k1, t + h / 2)
        y = y + h * k2
        total = total + np.cos(y[0])
    return total


@acts((Z, 4))
def filled(x, steps):
    x = x.copy()
    for _ in range(steps):
        dx = np.empty(3)
        dx[2] = x[0] * x[1]
        dx[-3] = x[1] - x[0]
        dx[1] = x[2] * x[0]
        x += 0.1 * dx
    return np.sum(x * x)


@acts((Z, 4))
def zeros_filled(x, steps):
    for _ in range(steps):
        dx = np.zeros(3)
        dx[0] = x[1] * x[2]
        dx[0] += x[0]
        dx[1] -= dx[0] * x[2]
        x = x - 0.1 * dx / 3.0
    return x[0] + x[1] ** 2 * x[2]


@acts((Z, 4))
def branches(x, steps):
    v = np.zeros(3)
    for k in range(steps):
        a = np.array([-x[0], 2.0 * x[1], x[2] * x[0]])
        if a[0] > 0.1:
            a = 0.5 * a
        elif k == 2:
            a = -a
        v = v * 0.9 + a
        x = x + 0.1 * v
    return x[0] * x[1] * x[2]


@acts((Z, 3))
def integers_and_numbers(x, steps):
    total = 0.0
    for k in range(steps):
        w = np.array([1, k, x[0]])
        r = np.square(w * x - k) / (1 + w**2)
        total = total + r[0] + r[1] * r[2]
        x = x + 0.1 * r
    return total + x[1]


@acts((Z, 7))
def while_loop(x, limit):
    n = 0
    while x[0] < limit and n < 20:
        x = x + np.array([x[1] * x[1], x[2], 0.1])
        n += 1
    return x[0] * x[2]


@acts((Z, 3))
def nested_loops(x, steps):
    for _ in range(steps):
        y = np.array([x[2], x[0], x[1]])
        for k in range(2):
            y = y * x + 0.1 * k
        x = 0.5 * (x + y)
    return x[0] - x[1] * x[2]


@acts((Z, 3))
def recorded_at_the_end(x, steps):
    first = x * 2.0
    for _ in range(steps):
        x = x + 0.1 * np.array([x[1], x[2], x[0]])
        x = x - 0.1 * x * first
    return np.sum(np.sin(x)) + np.dot(x, first)


@acts((Z, 4))
def left_early(x, steps):
    for _ in range(steps):
        x = x + 0.3 * np.array([x[1], x[2], x[0]])
        x = 1.1 * x
        if x[0] > 1.5:
            break
    return x[0] * x[1] + x[2]


@acts((Z, 3))
def seen_through_views_at_the_end(x, steps):
    for _ in range(steps):
        x = x + 0.1 * np.array([x[1], x[2], x[0]])
        x = x * 0.9
    return x[1:] @ x[:-1] + np.sum(np.reshape(x, (3, 1)) ** 2)


@acts((Z, 3))
def unpacked_in_each_step(x, steps):
    def velocity(p):
        a, b, c = p
        return np.array([b * c, -a, a - len(p) * c])

    for _ in range(steps):
        x = x + 0.1 * velocity(x + 0.05 * velocity(x))
    a, *rest = x
    return a * rest[0] + rest[1]


@acts((Z, 3))
def handed_out_by_a_while(x, steps):
    v, n = np.zeros(3), 0
    while n < steps and np.array([x[0], 1.0])[0] < 5:
        v = 0.5 * v - np.array([x[1], x[2], x[0]])
        x, n = x + 0.1 * v, n + 1
    return x * v


@acts((Z, 4))
def rows_of_a_table(x, steps):
    table = np.outer(np.arange(5.0), x)
    for k in range(steps):
        x = x + 0.1 * np.array([x[1], x[2], x[0]])
        x = x * 0.9 + 0.1 * table[k] - 0.2 * x
    return x[0] * x[1] + x[2]


@pytest.mark.parametrize(("fn", "args"), ACTS, ids=names(ACTS))
def test_arrays_become_numbers(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
    with without("sroa"):
        expected = ad.value_and_grad(lambda *a: fn(*a))(*args)
    value, gradient = ad.value_and_grad(fn)(*args)
    assert type(value) is type(expected[0])
    assert np.array_equal(value, expected[0])
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-12)
    assert is_separate(fn, args)


def is_separate(fn, args) -> bool:
    """True if the pass acts: without it the text is another."""
    text = ad.adjoint_source(fn, *args)
    with without("sroa"):
        return text != ad.adjoint_source(lambda_of(fn), *args).replace("d_copied", f"d_{fn.__name__}")


def lambda_of(fn):
    """A function with the same text that has not been compiled yet."""
    import types

    copied = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copied.__qualname__, copied.__kwdefaults__ = fn.__qualname__, fn.__kwdefaults__
    return copied


@stays((Z, 4))
def written_through_another_name(x, steps):
    for _ in range(steps):
        a = np.array([x[1], x[2], x[0]])
        b = a
        b[0] = x[0] * x[1]
        x = x + 0.1 * a * a
    return x[0] * x[1] + x[2]


@stays((Z, 4))
def written_through_a_view(x, steps):
    for _ in range(steps):
        a = np.array([x[1], x[2], x[0]])
        a[1:][0] = x[0] * x[1]
        x = x + 0.1 * a * a
    return x[0] * x[1] + x[2]


@stays((Z, 4))
def filled_by_a_counter(x, steps):
    for _ in range(steps):
        a = np.zeros(3)
        for k in range(3):
            a[k] = x[k] * x[0]
        x = x + 0.1 * a * a
    return x[0] * x[1] + x[2]


@stays((Z, 4))
def kept_from_step_to_step(x, steps):
    a = np.zeros(3)
    for _ in range(steps):
        a[0] = a[0] + x[1]
        a[1] = x[0] * a[0]
        x = x + 0.1 * a * a
    return x[0] * x[1] + x[2]


@stays((Z, 4))
def filled_on_one_side(x, steps):
    for _ in range(steps):
        a = np.ones(3)
        if x[0] > 0.5:
            a[1] = x[0]
        x = x + 0.1 * a * x
    return x[0] * x[1] + x[2]


@stays((Z, 4))
def wanted_whole_in_each_step(x, steps):
    m = np.arange(9.0).reshape(3, 3) / 20
    for _ in range(steps):
        x = x + 0.1 * (m @ np.array([x[1], x[2], x[0]]))
    return x[0] * x[1] + x[2]


@stays((Z, 3))
def in_a_list(x, steps):
    found = []
    for _ in range(steps):
        a = np.array([x[1], x[2], x[0]])
        found.append(a)
        x = x * a
    return found[0][1] * np.sum(found[-1])


@stays((Z, 3))
def added_to_a_column(x, steps):
    for _ in range(steps):
        a = np.array([x[1], x[2], x[0]])
        table = a + np.ones((2, 1))
        x = 0.1 * table[0] + x
    return x[0] * x[1] + x[2]


@stays((Z, 3))
def of_functions(x, steps):
    for _ in range(steps):
        a = np.array([x[1], x[2], x[0]])
        x = np.exp(0.1 * np.sin(a)) + np.cumsum(a)
    return x[0] * x[1] + x[2]


@pytest.mark.parametrize(("fn", "args"), STAYS, ids=names(STAYS))
def test_arrays_that_stay(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
    assert not is_separate(fn, args)


# What the run decides


def test_the_zero_trip_loop_tests_no_length():
    long = np.array([1.0, 2.0, 3.0, 4.0])
    value, gradient = ad.value_and_grad(rotated)(long, 0.1, 0)
    assert value == rotated(long, 0.1, 0)
    np.testing.assert_array_equal(gradient, [2.0, 1.0, 0.0, 0.0])


def test_another_length_fails_as_it_does():
    for _ in range(2):
        with pytest.raises(ValueError, match="broadcast"):
            ad.grad(rotated)(Z, 0.1, 2)


def test_one_item_is_broadcast():
    def spread(y, steps):
        total = 0.0
        for _ in range(steps):
            z = y * np.array([1.0, 2.0])
            total = total + z[0] * z[1]
        return total

    check_gradient(spread, (np.array([3.0]), 2))


def test_a_quotient_by_zero_is_infinite():
    def divided(y, steps):
        for _ in range(steps):
            y = y + np.array([y[1], 1.0]) / y
        return y[0]

    with np.errstate(all="ignore"):
        at_zero = np.array([1.0, 0.0])
        assert ad.value_and_grad(divided)(at_zero, 2)[0] == divided(at_zero, 2)
    check_gradient(divided, (Y, 3))


@pytest.mark.parametrize("start", [[np.nan, 1.0], [np.inf, -np.inf], [-0.0, 0.0], [1e200, 1e-200]])
def test_unusual_numbers_are_the_same(start):
    def mixed(y, steps):
        for _ in range(steps):
            k = np.array([y[1] * y[1], 0.0 - y[0]])
            y = -(y * 0.5 - k) * (1e200 + k)
        return y

    with np.errstate(all="ignore"):
        y = np.array(start)
        value, gradient = ad.value_and_grad(mixed)(y, 2)
        expected = mixed(y, 2)
        np.testing.assert_array_equal(value, expected)
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(value[known]), np.signbit(expected[known]))
        with without("sroa", "unbox_arrays"):
            np.testing.assert_allclose(gradient, ad.grad(lambda_of(mixed))(y, 2), rtol=1e-12)


def test_float32_keeps_its_digits():
    def single(y, steps):
        for _ in range(steps):
            y = y + np.float32(0.1) * np.array([y[1], -y[0]])
        return y[0] * y[1]

    y = Y.astype(np.float32)
    value, gradient = ad.value_and_grad(single)(y, 3)
    assert value == single(y, 3)
    assert type(value) is np.float32
    assert gradient.dtype == np.float32


def test_single_numbers_beside_doubles_do():
    def beside(y, c, steps):
        for _ in range(steps):
            y = y + c * np.array([y[1], -y[0]])
        return y[0] * y[1]

    c = np.float32(0.1)
    value, gradient = ad.value_and_grad(beside, (0, 1))(Y, c, 3)
    assert value == beside(Y, c, 3)
    assert [g.dtype for g in gradient] == [np.float64, np.float32]


def test_the_array_itself_is_returned():
    def final(y, steps):
        for _ in range(steps):
            y = y + 0.1 * np.array([y[1], -y[0]])
        return y

    np.testing.assert_array_equal(ad.value_and_grad(final)(Y, 3)[0], final(Y, 3))
    value, gradient = ad.value_and_grad(final)(Y, 0)
    assert value is not Y
    assert not np.shares_memory(value, Y)
    np.testing.assert_array_equal(gradient, [1.0, 1.0])


def test_items_are_numbers_of_numpys():
    def seen(y, steps):
        k = np.array([0.0, 1.0])
        for _ in range(steps):
            k = np.array([2.0, 3.0]) * k
            y = y + k * k
        return y[0] * k[1], k[0], k

    value = ad.value_and_grad(seen, has_aux=False)(Y, 2)[0]
    assert list(map(type, value)) == list(map(type, seen(Y, 2)))


def test_a_power_stays_a_number_of_numpys():
    def root(y, steps):
        total = 0.0
        for _ in range(steps):
            z = np.array([2.0, 3.0]) - np.array([5.0, 1.0])
            y = y + z
            total = total + z[0] ** 0.5 + y[1]
        return total

    with np.errstate(all="ignore"):
        assert np.isnan(ad.value_and_grad(root)(Y, 2)[0])


def test_prints_are_printed_once(capsys):
    def printing(y, steps):
        for _ in range(steps):
            y = y + 0.1 * np.array([y[1], -y[0]])
            print(y)
        return y[0]

    ad.grad(printing)(Y, 2)
    found = capsys.readouterr().out
    printing(Y, 2)
    assert found == capsys.readouterr().out


def test_second_derivatives_go_through_arrays():
    def first(y):
        return ad.grad(rotated)(y, 0.1, 3)[0]

    step = np.array([1e-6, 0.0])
    np.testing.assert_allclose(ad.grad(first)(Y)[0], (first(Y + step) - first(Y - step)) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("steps", [0, 2])
def test_of_an_unknown_dtype_they_stay(steps):
    def grown(y, steps):
        z = y * 1.0
        for _ in range(steps):
            z = z * np.array([1.5, 2.5]) + np.array([0.5, 1.0])
        return z[0] * z[1]

    y = Y.astype(np.float32)
    value, gradient = ad.value_and_grad(grown)(y, steps)
    assert value == grown(y, steps)
    assert type(value) is type(grown(y, steps))
    assert gradient.dtype == np.float32
