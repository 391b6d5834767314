"""What only the next statement reads is computed there, and nothing is evaluated at another time."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V, V[:0])
def item_of_the_reverse_sweep(x):
    total = 1.0
    for v in x:
        total += v * v
    return total * total


@case(V)
def list_under_one_name_that_is_read_twice(x):
    def both(v):
        return [v * 2, v]

    items = []
    for v in (x[0], x[1]):
        items.append(both(v)[0])
    return np.array(tuple(items)).sum()


@case(V)
def item_that_is_written_next(x):
    y = x * 1.0
    for k in range(len(y) - 1):
        t = y[k]
        y[k] = y[k + 1] * t
        y[k + 1] = t * 0.5 + x[k]
    return np.sum(y * y)


@case(V)
def popped_before_it_is_read(x):
    stack = [x[0], x[1] * 2, x[2] ** 2]
    total = 0.0
    while stack:
        top = stack.pop()
        total = total * top + len(stack) * top
    return total


@case(V)
def read_on_one_side_only(x):
    t = x[0] * x[1]
    return t if x[2] > 0 else x[3] * 2


@case(V, -V)
def read_in_each_round(x):
    scale = x[0] + 2.0
    return sum([v * scale for v in x if v < scale])


@case(V)
def largest_of_a_list(x):
    values = [v * v for v in x]
    return max(values) - min(values) * 0.5


@case(V)
def filled_and_asked_for_its_length(x):
    chosen = [v for v in x if v > 0]
    return np.sum(x) * len(chosen)


@case(V)
def copies_of_both(x):
    a, b = x.copy(), x[::-1].copy()
    a[0] *= b[1]
    b[2] += a[0]
    return np.sum(a * b)


@case(V, V * 1.5)
def exchanged_arguments(x, y=V * 0.5):
    x, y = y.copy(), x.copy()
    x[0] *= y[1]
    return np.sum(x * y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    found = ad.grad(fn)(*args)
    with pass_registry.without("forward_substitute"):
        plain = ad.grad(lambda *given: fn(*given))(*args)
    np.testing.assert_array_equal(found, plain)


def test_items_are_read_where_they_are_used():
    source = ad.adjoint_source(item_of_the_reverse_sweep, V)
    assert "d_x[i] = d_total * (2 * x_items[i])" in source or "2 * d_total * x[i]" in source, source


def test_what_has_an_effect_stays_in_order():
    log = []

    def draw(k):
        log.append(k)
        return 0.5 * k

    def f(x):
        a = draw(1)
        b = draw(2) + a
        return x * b * draw(3)

    assert ad.grad(f)(2.0) == 1.5 * 1.5
    assert log == [1, 2, 3]


def test_the_users_names_stay():
    def f(r, h):
        area = np.pi * r**2
        return area * h

    assert "area = np.pi * r ** 2" in ad.adjoint_source(f, 1.0, 2.0, grad_position=(0, 1))
