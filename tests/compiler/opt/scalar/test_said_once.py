"""Branches, zeros, masks and saved values that programs have twice stand once in the adjoint."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)
A = np.arange(12.0).reshape(3, 4) / 5 - 1


@case(V, -V, 3 * V)
def found_on_one_side(x):
    best = None
    for v in x:
        if v > 1.0:
            best = v, 2.0
    try:
        a, b = best
    except TypeError:
        a, b = x[0], 3.0
    return a * b


@case(V, -V, 3 * V)
def left_early(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
        if y[i] < 0.35:
            y[0] = y[i] ** 2
            return np.sum(y * y)
    y *= 2.0
    return np.sum(y)


@case((V, True), (V, False))
def whole_on_one_side_only(x, flag):
    y = x * 1.0
    y[0] = 2.0
    if flag:
        s = np.sum(y * y)
    else:
        s = y[1] * 3.0
    return s + y[2]


@case(V, -V)
def whole_on_both_sides(x):
    y = x * 1.0
    y[1] *= y[2]
    z = y * y if np.sum(x) > 1.0 else np.sin(y) * y
    y[0] = 5.0
    return np.sum(z) * y[3]


@case((V, 0.2), (V, 5.0))
def three_ways(x, level):
    y = x * 1.0
    y[1] *= y[2]
    if y[0] > level:
        s = np.sum(y)
    elif y[1] > level:
        s = np.sum(y * y)
    else:
        s = np.sum(y * 3.0) + y[0]
    return s * s


@case(V, -V)
def masks_that_meet(x):
    y = x * 2.0
    y[x > 0] = x[x > 0] ** 2
    y[~(x > 0)] *= x[~(x > 0)]
    return np.sum(y * x)


@case(V, -V)
def mask_of_what_changes(x):
    y = x * 2.0
    y[y > 0] = y[y > 0] ** 2
    y[y > 0] *= 0.5
    return np.sum(y * x)


@case(V, -V)
def mask_that_is_changed(x):
    mask = x > 0
    other = x > 0
    mask[0] = not mask[0]
    return np.sum(x[mask] ** 2) + np.sum(x[other] ** 3)


@case(A)
def mask_of_rows(a):
    b = a * 2.0
    b[a[:, 0] > -0.5, 1] = a[a[:, 0] > -0.5, 2] ** 2
    return np.sum(b * a)


@case((V, 0), (V, 1), (V, 4))
def taken_back_in_order(x, n):
    for _ in range(n):
        x = np.sin(x) * x + np.cos(x)
    return np.sum(x)


@case(0.3, 2.5)
def taken_back_as_often_as_it_ran(x):
    while x < 2.0:
        x = x * x + 0.7
    return x * x


@case((0.3, 8), (0.3, 2), (2.5, 0))
def left_before_the_end(x, n):
    for _ in range(n):
        x = x * x + 0.7
        if x > 2.0:
            break
        x = np.sin(x) * x
    return x * x


@case((V, 3))
def loops_in_loops(x, n):
    for _ in range(n):
        y = x
        for _ in range(2):
            y = np.sin(y) * y
        x = x + y
    return np.sum(x)


@case((V, 3))
def two_loops_that_save(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * y
    z = y * x
    for _ in range(n + 1):
        z = np.cos(z) * z
    return np.sum(z)


@case(V)
def begins_at_the_second(x):
    rest = iter(x)
    total = next(rest) ** 2
    for v in rest:
        total = total * v + 1
    return total


@case(V)
def written_while_gone_over(x):
    y = x * 1.0
    s = 0.0
    for i in range(1, len(y)):
        v = y[i]
        s = s + v * v
        y[-1] = s
    return s + y[-1]


@case(V)
def list_written_while_gone_over(x):
    y = list(x * 1.0)
    s = 0.0
    for i in range(1, len(y)):
        v = y[i]
        s = s + v * v
        y[-1] = s
    return s + y[-1]


@case(V)
def backwards_over_a_list(x):
    values = list(x)
    s = 1.0
    for v in reversed(values):
        s = np.tanh(s + v * s)
    return s


@case(V)
def one_less_than_the_length(x):
    s = 0.0
    for i in range(len(x) - 1):
        last = x[i] * x[i + 1]
        s = s + last**2
    return s * last


@case((V, 2 * V))
def sign_of_a_view(x, y):
    z = np.tanh(x)
    for k in range(1, 3):
        part = z[k:]
        part -= 0.3 * z[k - 1] * part
    return np.sum(z * y)


@case((V, 2 * V))
def sign_of_what_is_carried(x, y):
    s = 0.5
    for a, b in zip(x, y):
        s = s + a * np.exp(b) - s * b
    return s


@case(A)
def two_parts_of_one_row(a):
    alpha = a[0] / np.sum(a[0])
    return np.sum(alpha * a[1]) + np.sum(a[2] * a[2])


@case(V)
def one_value_in_three_places(x):
    y = x * 1.0
    y[0] = z = y[2] = x[1] ** 2
    a = b = x[1] * z
    return np.sum(y**2) * a + b


@case((V, np.array([3, 1, 1, 0])), (V, [2, 0, 3]))
def sorted_places(x, places):
    s = 0.0
    for k in sorted(set(places), reverse=True):
        s = s * x[k] + k
    for text in sorted(str(k) for k in places):
        s = s + x[int(text)] ** 2
    for key in sorted({"b": 2, "a": 1}):
        s = s * len(key) + x[0]
    return s


@case(V)
def sorted_rows_of_places(x):
    pairs = [(3 - i, i) for i in range(4)]
    s = 0.0
    for place, i in sorted(pairs):
        s = s * 0.5 + x[place] * i
    for v in sorted(x):
        s = s * 0.5 + v * v
    return s


@case(A)
def items_of_a_row_and_a_column(a):
    a = a.copy()
    row, column = a[0], a[:, 0]
    row[1], column[1] = column[2] * row[3], row[2] * column[2]
    row[0], column[2] = column[1] * row[1], row[0] * column[2]
    return np.sum(a * a)


@case(V)
def arrays_of_a_list_that_changes(x):
    w = [1.0, 2.0, 3.0, 1.0]
    a, b = np.array(w), np.array(w)
    a[0] = 7.0
    w[1] = 5.0
    return np.sum(a * x) + np.sum(b * x * x) + np.sum(np.array(w) * x**3)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def test_a_dict_and_its_tangents_begin_together():
    def program(x):
        best = {0: 0.0}
        for i in range(len(x)):
            new = dict(best)
            for c, v in best.items():
                new[c + 1] = max(v + x[i] ** 2, new.get(c + 1, 0.0))
            best = new
        return max(best.values())

    check_gradient(program, (V,))
    check_tangent(program, (V,))


def test_what_both_sides_begin_with_comes_before_the_branch():
    text = ad.adjoint_source(found_on_one_side, V)
    assert text.count("np.zeros_like(x)") == 1 and "if took_path != 0:" in text
    with pass_registry.without("conditions"):
        assert ad.adjoint_source(found_on_one_side, V).count("np.zeros_like(x)") == 2


def test_saved_values_are_gone_over():
    text = ad.adjoint_source(taken_back_in_order, 0.4, 4)
    assert "for x, sin_x in reversed(saved):" in text and ".pop()" not in text
    assert "reversed(" not in ad.adjoint_source(loops_in_loops, V, 3)


def test_masks_are_made_once():
    text = ad.adjoint_source(masks_that_meet, V)
    assert text.count("condition = x > 0\n") == 1 and text.count("= ~") == 1
    assert ad.adjoint_source(mask_that_is_changed, V).count("= x > 0\n") == 2


def test_a_value_is_written_once():
    assert "z = y[0] = y[2] = x[1] ** 2" in ad.adjoint_source(one_value_in_three_places, V)
    with pass_registry.without("assignments"):
        assert "y[0] = y[2]" not in ad.adjoint_source(one_value_in_three_places, V)
