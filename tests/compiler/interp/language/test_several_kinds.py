"""Values that are a number, an array or a list, as the path or the argument decides."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds
from autodiff_sct.errors import NotDifferentiable, Refused, UnsupportedSyntax
from tests.compiler.checked import check_gradient


def empty_or_array(x):
    found = x * x
    if len(x) == 0:
        found = []
    return found, x


def text_or_array(x):
    return {"found": "nothing" if len(x) == 0 else x * x, "x": x}


def last_of_a_loop(x):
    found = ()
    for v in x:
        found = v * x
    return x, (found, x)


def caught(x):
    try:
        found = x * np.ones(2)
    except ValueError:
        found = []
    return [found, x]


def item_of_either(x):
    found = [] if len(x) == 0 else x * x
    return found[0], x


@pytest.mark.parametrize("fn", [empty_or_array, text_or_array, last_of_a_loop, caught, item_of_either])
def test_a_result_of_either_kind_is_refused(fn):
    """No cotangent begins with it: a gradient without its part would be wrong."""
    with pytest.raises(NotDifferentiable):
        ad.grad(fn)(np.ones(thresholds.SETTING + 1))


@pytest.mark.parametrize(
    ("fn", "expected"), [(empty_or_array, [3.0, 5.0]), (text_or_array, [3.0, 5.0]), (item_of_either, [3.0, 1.0])]
)
def test_a_short_length_decides_the_kind(fn, expected):
    np.testing.assert_allclose(ad.grad(fn)(np.array([1.0, 2.0])), expected)


def test_either_kind_is_followed_where_a_function_takes_it():
    def total(x):
        found = [] if len(x) == 0 else x * x
        return np.sum(found) + np.sum(x)

    np.testing.assert_allclose(ad.grad(total)(np.array([1.0, 2.0])), [3.0, 5.0])


def written(v):
    v[0] = 1.0
    return np.sum(v)


def added_to(v):
    v[0] += 1.0
    return np.sum(v)


def unpacked(v):
    first, second = v
    return first * second


def gone_over(v):
    total = 0.0
    for item in v:
        total += item
    return total


def indexed(v):
    return v[0]


def indexed_twice(v):
    return v[0, 1]


FLOAT, SCALAR, POINT = 0.5, np.float64(0.5), np.array(0.5)
MISTAKES = [(fn, v) for fn in (written, added_to, unpacked, gone_over, indexed) for v in (FLOAT, SCALAR, POINT)]


@pytest.mark.parametrize("fn, v", [*MISTAKES, (indexed_twice, np.array([0.5, 1.0]))])
def test_what_numbers_are_taken_for_raises_as_in_python(fn, v):
    with pytest.raises((TypeError, IndexError)) as plain:
        fn(v)
    with pytest.raises(type(plain.value)) as raised:
        ad.grad(fn)(v)
    assert str(raised.value).splitlines()[0] == str(plain.value)


def test_a_loop_over_a_number_under_a_handler_is_refused():
    def total(v):
        y = 1.0
        try:
            for item in v:
                y = y * item
        except TypeError:
            y = v * v
        return y

    assert ad.grad(total)(np.array([2.0, 3.0])).tolist() == [3.0, 2.0]
    with pytest.raises(UnsupportedSyntax, match="goes over a number"):
        ad.grad(total)(2.0)


def whole(x):
    y = x.squeeze()[()]
    return np.sum(y * x)


def test_the_empty_index_takes_the_whole():
    np.testing.assert_allclose(ad.grad(whole)(np.array([1.0, 2.0])), [2.0, 4.0])
    assert ad.grad(whole)(np.array(3.0)) == 6.0


def nothing_where_zero(x):
    return np.sum(np.where(x, 1.0 / np.where(x, x, 1.0), 0.0))


def test_numbers_as_conditions():
    np.testing.assert_allclose(ad.grad(nothing_where_zero)(np.array([2.0, 0.0])), [-0.25, 0.0])


EXTREMES = [np.max, np.min, np.nanmax, np.ptp, np.median, np.mean]


@pytest.mark.parametrize("fn", EXTREMES)
def test_reductions_of_python_numbers(fn):
    assert ad.grad(lambda t: fn(t * t) + t)(0.5) == (1.0 if fn is np.ptp else 2.0)


def filled_from_its_own_row(x):
    rows = [[x[0]], [x[1]]]
    for k in range(2):
        new = []
        rows[k] = new
        for v in rows[k]:
            new.append(v)
    return rows[0]


def filled_while_either_is_gone_over(x):
    rows = [[x[0]], [x[1]]]
    for k in range(2):
        new = [x[1]]
        either = new if x[0] > 0.0 else rows[k]
        for v in either:
            if len(new) < 3:
                new.append(v * 2.0)
        rows[k] = new
    return sum(rows[0])


@pytest.mark.parametrize("fn", [filled_from_its_own_row, filled_while_either_is_gone_over])
def test_a_new_list_that_the_loop_may_go_over_is_no_other(fn):
    with pytest.raises(Refused):
        ad.grad(fn)(np.array([1.0, 2.0]))


def methods_of_ufuncs(x):
    rows = np.maximum.reduce([x[0], x[1]]) * np.add.accumulate([x[0], x[1]], 0)
    return np.add.reduce(x * x, (0, 1)) * np.sum(rows) + np.sum(np.multiply.outer([1.0, 2.0], x[0]) * x)


def test_lists_and_axes_given_to_methods_of_ufuncs():
    check_gradient(methods_of_ufuncs, (np.array([[0.5, 1.5, 1.0], [0.7, 0.9, 2.0]]),))
