"""Variables that share a name are never alive at once."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, differences


def carried_under_the_name_of_what_is_gone_over(x, items):
    s = x
    for v in items:
        s = s * v + x
    items = s
    for _ in range(2):
        items = items * x
    return items


def carried_under_the_name_of_a_bound(x, n):
    s = 0
    for k in range(n):
        s = s + 2 * k
    n = s
    for _ in range(2):
        n = n * 2
    return x * n


@pytest.mark.parametrize(
    ("fn", "second"),
    [
        (carried_under_the_name_of_what_is_gone_over, np.array([1.0, 2.0, 0.5])),
        (carried_under_the_name_of_what_is_gone_over, [1.0, 2.0, 0.5]),
        (carried_under_the_name_of_a_bound, 4),
    ],
)
def test_bounds_are_read_before_what_is_carried_begins(fn, second):
    check_gradient(fn, (0.7, second))
    value, tangent = ad.jvp(lambda x: fn(x, second), (0.7,), (1.0,))
    assert value == fn(0.7, second)
    assert tangent == pytest.approx(ad.grad(fn)(0.7, second))


def called_like_helpers(rows, add_at, np, x, n):
    for _ in range(n):
        y = x[add_at]
        x = x + np * x * y * rows
    return x.sum()


def called_like_builtins(x, len, range, float, sum):
    y = x * len
    k = 0
    while k < range:
        y = y + float * np.sin(y) * np.mean(y)
        k += 1
    s = sum
    for item in y:
        s = s * item + item
    return s


@pytest.mark.parametrize("position", [0, 2, 3])
def test_a_parameter_may_have_the_name_of_what_emitted_code_calls(position):
    args = (np.array([0.0, 1.0, 2.0]), np.array([0, 1, 1]), 0.1, np.array([0.5, 0.4, -0.2]), 3)
    check_position(called_like_helpers, args, position)


@pytest.mark.parametrize("position", [0, 1, 3, 4])
def test_a_parameter_may_have_the_name_of_a_builtin(position):
    check_position(called_like_builtins, (np.array([0.5, 0.4, -0.2]), 1.5, 3, 0.1, 0.3), position)


def check_position(fn, args, position):
    gradient = ad.grad(fn, position)(*args)
    np.testing.assert_allclose(gradient, differences(fn, args, position), rtol=1e-5, atol=1e-7)
    ones = np.ones_like(args[position]) if isinstance(args[position], np.ndarray) else 1.0
    before, after = args[:position], args[position + 1 :]
    _, tangent = ad.jvp(lambda v: fn(*before, v, *after), (args[position],), (ones,))
    assert tangent == pytest.approx(np.sum(gradient))
    _, pullback = ad.vjp(lambda v: fn(*before, v, *after), args[position])
    np.testing.assert_allclose(pullback(1.0)[0], gradient, rtol=1e-13)
