"""Lists of which only the run tells what an item is, a number or an array, or of which rank: views are followed."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import process_state


def item_written(p):
    w = p[1] * 2.0
    p[1][0] = 3.0
    return np.sum(w**2) + np.sum(p[1])


def part_written(p):
    part = p[1][1:]
    part[0] = p[0]
    return np.sum(p[1] ** 2)


def written_by_a_function_of_numpy(p):
    np.add.at(p[1], [0], p[0])
    p[1].fill(p[0])
    return np.sum(p[1] ** 2)


def written_where_it_is_an_array(p):
    for item in p:
        if np.ndim(item) > 0:
            item[0] = item[1] * item[2]
    return np.sum(p[1] ** 2)


def part_of_pairs_written(pairs):
    for first, second in pairs:
        if np.ndim(first):
            first[0] = second
    return np.sum(pairs[1][0] ** 2)


def real_part_written(p):
    part = p[1].real
    part[0] = 5.0
    return np.sum(p[1] ** 2)


def scaled_in_place(p):
    item = p[1]
    item *= 3.0
    return np.sum(p[1] ** 2)


def only_read(p):
    return p[0] * np.sum(p[1] ** 2)


def replaced(p):
    for k in range(len(p)):
        p[k] = p[k] - 0.1 * p[k] ** 2
    return only_read(p)


def mixed():
    return [1.5, np.array([1.0, 2.0, 3.0])]


CHANGING = [
    (item_written, mixed()),
    (part_written, mixed()),
    (written_by_a_function_of_numpy, mixed()),
    (written_where_it_is_an_array, mixed()),
    (part_of_pairs_written, [(1.5, 2.0), (np.array([1.0, 2.0, 3.0]), 3.0)]),
    (real_part_written, mixed()),
    (real_part_written, [np.ones((1, 1)), np.array([1.0, 2.0, 3.0])]),
    (scaled_in_place, mixed()),
    (only_read, mixed()),
    (replaced, mixed()),
]


def ones_like(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(ones_like, value))
    return np.ones_like(value) if isinstance(value, np.ndarray) else 1.0


def total(value):
    return sum(map(total, value)) if isinstance(value, (list, tuple)) else np.sum(value)


def moved(value, step):
    if isinstance(value, (list, tuple)):
        return type(value)(moved(item, step) for item in value)
    return value + step


def slope(fn, given):
    """The derivative along all ones, by central differences."""
    return (fn(moved(given, 1e-6)) - fn(moved(given, -1e-6))) / 2e-6


@pytest.mark.parametrize(("fn", "given"), CHANGING)
def test_arguments(fn, given):
    before, value, wanted = repr(given), fn(copy.deepcopy(given)), slope(fn, given)
    try:
        found, gradient = ad.value_and_grad(fn)(given)
        assert found == value
        np.testing.assert_allclose(total(gradient), wanted, rtol=1e-6)
    except ad.AutodiffError as error:
        assert fn.__name__ in str(error)
        assert fn not in (only_read, replaced)
    assert repr(given) == before
    try:
        found, tangent = ad.jvp(fn, (given,), (ones_like(given),))
        assert found == value
        np.testing.assert_allclose(tangent, wanted, rtol=1e-6)
    except ad.AutodiffError as error:
        assert fn is scaled_in_place and "only the run tells" in str(error)
    assert repr(given) == before


OUTSIDE = mixed()


def item_outside_written(x):
    OUTSIDE[1][0] = x**2
    result = np.sum(OUTSIDE[1] ** 2)
    OUTSIDE[1][0] = 1.0
    return result


def test_a_list_outside():
    with pytest.raises(ad.AutodiffError, match="whether this is a view of an array that is written"):
        ad.grad(item_outside_written)(2.0)
    assert OUTSIDE[1][0] == 1.0
    assert ad.jvp(item_outside_written, (2.0,), (1.0,)) == (29.0, 32.0)


def view_written(arrays, view):
    shown = view(arrays[1])
    shown[0] = 5.0
    return np.sum(arrays[1] ** 2)


def view_read(arrays, view):
    shown = view(arrays[1])
    arrays[1][0] = 5.0
    return np.sum(shown**2) + np.sum(arrays[1])


VIEWS = {
    "transposed": np.linalg.matrix_transpose,
    "diagonal": np.linalg.diagonal,
    "checked": np.asarray_chkfinite,
    "no_difference": lambda a: np.diff(a, n=0),
    "first_power": lambda a: np.linalg.matrix_power(a, 1),
    "astype": lambda a: np.astype(a, float, copy=False),
    "unstacked": lambda a: np.unstack(a)[0],
}


@pytest.mark.parametrize("fn", [view_written, view_read])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_arrays_of_several_ranks(fn, name):
    if not hasattr(np, "unstack") and name in ("astype", "unstacked"):
        pytest.skip("of NumPy 2.1")
    if fn is view_written and name == "diagonal":
        pytest.skip("read-only")
    view = VIEWS[name]
    for given in ([np.ones(3), np.arange(9.0).reshape(3, 3)], (np.ones(3), np.arange(9.0).reshape(3, 3))):
        before, value = repr(given), fn(copy.deepcopy(given), view)
        wanted = slope(lambda p: fn(copy.deepcopy(p), view), given)
        try:
            found, gradient = ad.value_and_grad(fn)(given, view)
            assert found == value
            np.testing.assert_allclose(total(gradient), wanted, rtol=1e-6)
        except ad.AutodiffError as error:
            assert "view" in str(error) or "has no derivative rule" in str(error)
        assert repr(given) == before


def product_into(arrays):
    np.einsum("ij,j->i", arrays[1], arrays[0] * 1.0, out=arrays[0])
    return np.sum(arrays[0] ** 2)


def constant_times(arrays):
    product = np.einsum("i,i->i", np.array([1.0, 2.0, 3.0]), arrays[0])
    product[0] = 2.0
    return np.sum(product**2)


@pytest.mark.parametrize("fn", [product_into, constant_times])
def test_products_of_several_arrays_are_no_views(fn):
    given = [np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)]
    value, tangent = ad.jvp(fn, (given,), (ones_like(given),))
    assert value == fn(copy.deepcopy(given))
    np.testing.assert_allclose(tangent, slope(lambda p: fn(copy.deepcopy(p)), given), rtol=1e-6)


def larger(a, b):
    return a if a.sum() > b.sum() else b


def larger_written(arrays):
    chosen = larger(*arrays)
    chosen[0] = 2.0
    return np.sum(arrays[1] ** 2)


def test_one_of_several_by_a_rule_of_the_users(monkeypatch):
    monkeypatch.setattr(process_state, "REGISTERED", list(process_state.REGISTERED))
    ad.rule(larger)(lambda y, d, a, b: (d * (a.sum() > b.sum()), d * (a.sum() <= b.sum())))
    given = [np.ones(3), np.arange(9.0).reshape(3, 3)]
    for derivative in (lambda: ad.jvp(larger_written, (given,), (given,)), lambda: ad.grad(larger_written)(given)):
        with pytest.raises(ad.AutodiffError):
            derivative()
