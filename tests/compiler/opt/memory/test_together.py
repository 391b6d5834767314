"""Values that are saved together come back as they were saved, trip by trip."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case((V, 4), (V, 1), (V, 0))
def several_in_a_loop(x, n):
    for _ in range(n):
        a = np.sin(x)
        b = np.exp(-a) + x
        x = a * b / (1.0 + b * b)
    return np.sum(x**2)


@case((V, 4), (V, 0))
def carried_under_one_name(x, n):
    s, v = x, x * x
    for _ in range(n):
        s, v = v * s, np.sin(s) * v
        s = s * np.cos(v) * s
    return np.sum(s * v)


@case((V, 3))
def on_one_side_of_a_branch(x, n):
    for k in range(n):
        if x[0] > 0.3 and k != 1:
            a = np.tanh(x)
            b = np.cos(a * x)
            x = a * b * x
        else:
            x = x * np.sin(x)
    return np.sum(x)


@case((V, 3))
def nested(x, n):
    total = 0.0
    for _ in range(n):
        x = np.sin(x) * x
        for k in range(2):
            a = np.exp(0.1 * x)
            x = a * np.cos(x) / (1.0 + a)
            total = total + x[k] * a[k] * total
    return total + np.sum(x)


@case(V)
def overwritten_in_place(x):
    y = x * 1.0
    for k in range(3):
        a = y[k] * y[k + 1]
        b = a * y[0]
        y[k] = np.sin(a) * np.cos(b)
        y[1:] *= y[0] * b
    return np.sum(y**2)


@case(0.3, 0.9, 4.0)
def while_loop(x):
    while x < 3.0:
        x = x * x + 1.0
    return x * x


@case(0.3, 4.0)
def while_with_several(x):
    n = 0
    while x < 3.0:
        a = x * x
        b = a * x + 1.0
        x = b * a / (1.0 + a) + 1.0
        n += 1
    return x * n


@case(0.3, 0.7)
def while_inside_for(x):
    for _ in range(3):
        y = x
        while y < 2.0:
            y = y * y + 0.5
        x = x * 0.5 + 0.1 * y
    return x


@case(0.3)
def ends_early(x):
    s = 0.0
    for k in range(10):
        a = x * k
        s = s + np.sin(a) * a * s + a
        if s > 1.0:
            break
    return s * s


@case(0.3, 1.2)
def cut_off_by_an_exception(x):
    total = 1.0
    for k in range(3):
        try:
            a = total * x
            b = a * a
            c = b / (k - 1)
            total = total + a * b * c
        except ZeroDivisionError:
            total = total * (2.0 + x)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize("fn", [several_in_a_loop, carried_under_one_name, nested])
def test_pullback_more_than_once(fn):
    _, pull = ad.vjp(lambda x: fn(x, 3), V)
    first = pull(2.0)
    np.testing.assert_array_equal(pull(2.0), first)
    np.testing.assert_allclose(first[0] if isinstance(first, tuple) else first, 2.0 * ad.grad(fn)(V, 3), rtol=1e-12)


def test_second_order():
    def f(x):
        return several_in_a_loop(x, 3)

    hessian = ad.grad(lambda x: np.sum(ad.grad(f)(x) * np.arange(4.0)))(V)
    ends = [np.sum(ad.grad(f)(V + h * np.eye(4)[1]) * np.arange(4.0)) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(hessian[1], (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


def test_float32_stays():
    assert ad.grad(several_in_a_loop)(V.astype(np.float32), 3).dtype == np.float32


def test_one_push_for_several():
    source = ad.grad(while_with_several).source_for(0.3)
    assert source.count(".append(") == source.count("in reversed(saved_x)") == 1, source


def test_arrays_that_are_read_once_come_back_with_the_others():
    with pass_registry.without("plan_tape", "tape_rows"):
        source = ad.grad(several_in_a_loop).source_for(V, 4)
    assert source.count("append((x, ") == 1 and "for x, a, exp_t, b, t in reversed(saved):" in source, source


def test_a_few_numbers_of_loops_in_loops_have_lists_of_their_own():
    def f(x):
        total = 1.0
        for _ in range(2):
            for i in range(1, len(x)):
                a = np.exp(x[i] * total)
                total = a * np.sin(a) / (1.0 + total * a)
        return total

    def once(x):
        total = 1.0
        for i in range(1, len(x)):
            a = np.exp(x[i] * total)
            total = a * np.sin(a) / (1.0 + total * a)
        return total

    assert "append((" not in ad.grad(f).source_for(V)
    assert "append((" in ad.grad(once).source_for(V)
    check_gradient(f, (V,))
    check_gradient(once, (V,))


def test_the_list_knows_the_trips():
    source = ad.grad(while_loop).source_for(0.3)
    assert "trips" not in source and "range(len(saved_x))" in source


def test_steps_that_pop_several_values_before_they_use_one():
    def f(x, p, n):
        y, z, seen = x * 1.0, x, []
        for _ in range(n):
            z = y + 0.1 * z
            y = seen[-1] * z if seen else np.exp(-p * z)
        for _ in range(n):
            y = np.tanh(z * p) + y
        return np.sum(y * z)

    check_gradient(f, (V, V[::-1].copy(), 3))


def test_conditions_are_saved_with_values():
    def f(x, n):
        for k in range(n):
            a = np.sin(x) * k
            if a[0] > 0.2:
                x = a * x
            else:
                x = x * np.cos(x)
        return np.sum(x)

    def left(x):
        total = 1.0
        for v in x:
            total = total * v
            if total > 1.3:
                break
            total = total + v**2
        return total

    check_gradient(f, (V, 4))
    check_gradient(left, (V,))
    check_gradient(left, (3 * V,))
    check_gradient(left, (V[:0],))


def test_loops_that_may_run_no_time():
    def f(x, n, m):
        total = np.sum(x)
        for _ in range(n):
            for _ in range(m):
                a = np.tanh(x)
                b = a * x
                x = b * a + x
            total = total + np.sum(x * x)
        return total

    for n, m in ((0, 3), (3, 0), (2, 2), (1, 1)):
        check_gradient(f, (V, n, m))


def test_a_state_that_is_read_before_it_is_popped():
    def f(x, y, n):
        for _ in range(n):
            a = np.exp(-y)
            x = np.tanh(x * a)
            y = y * x + a
        return np.sum(x * y)

    check_gradient(f, (V, V[::-1].copy(), 3))
