"""Variables that share a name are never alive at once."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient


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
