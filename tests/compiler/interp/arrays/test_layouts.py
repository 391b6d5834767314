"""Arrays in other orders than C, and functions that are told an order: right, or refused where views depend on it."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.arange(1.0, 7.0).reshape(2, 3)


def through_reshape(x):
    flat = x.reshape(-1)
    flat[0] = flat[1] * 2
    return (x**2).sum() + flat.sum()


def through_contiguous(x):
    y = np.ascontiguousarray(x)
    y[0] = y[1] * 2
    return (x * y).sum()


def through_order(x):
    y = np.asarray(x, order="C")
    y[0] = y[1] * 2
    return (x * y).sum()


def through_derived(x):
    x[0] *= 2
    y = x * 3
    flat = y.reshape(-1)
    flat[0] = flat[1]
    return (x * y).sum()


def in_a_loop(x):
    y = x
    for _ in range(2):
        x[0] += x[1] * 2
        y = np.ravel(x).reshape(2, 3)
    return (x * y).sum()


@pytest.mark.parametrize("fn", [through_reshape, through_contiguous, through_order, through_derived, in_a_loop])
def test_views_that_depend_on_the_order(fn):
    check_gradient(lambda x: fn(x.copy()), (X,))
    np.testing.assert_allclose(ad.grad(fn)(X), ad.grad(lambda x: fn(x.copy()))(X))
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        with pytest.raises(ad.errors.AliasError, match="C order"):
            ad.grad(fn)(other)
        with pytest.raises(ad.errors.AliasError, match="C order"):
            ad.jvp(fn, (other,), (np.ones((2, 3)),))


def into_what_has_to_be_in_order(x):
    np.dot(np.ones((3, 3)), np.sin(x), out=x)
    return np.sum(x**2)


def by_its_flags(x):
    if x.flags.c_contiguous:
        x[0] = 2.0
    else:
        x[0] = 3.0
    return np.sum(x**2)


@pytest.mark.parametrize("fn", [into_what_has_to_be_in_order, by_its_flags])
def test_what_is_written_and_asked_how_it_lies(fn):
    x = np.arange(1.0, 4.0)
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x.copy())
    assert gradient.shape == x.shape
    for laid_out in (np.repeat(x, 2)[::2], np.outer(x, x)[:, 0], np.asfortranarray(np.outer(x, x))[0]):
        with pytest.raises(ad.errors.AliasError, match="order"):
            ad.grad(fn)(laid_out)


def written_and_read_in_a_row(x):
    x[0] = x[1] * 2
    return (x.reshape(-1) ** 2).sum() + x.astype(float, copy=False)[0, 0]


def its_own_view(x):
    y = np.ascontiguousarray(x) * 1.0
    flat = y.T.reshape(-1)
    flat *= 2
    return (x * y).sum() + (flat**2).sum()


@pytest.mark.parametrize("fn", [written_and_read_in_a_row, its_own_view])
@pytest.mark.parametrize("lay_out", [np.array, np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2]])
def test_any_order_where_it_does_not_matter(fn, lay_out):
    x = lay_out(X)
    gradient = ad.grad(fn)(x)
    np.testing.assert_allclose(gradient, ad.grad(fn)(X.copy()))
    np.testing.assert_array_equal(x, X)


def of_a_number(x):
    return np.array(x[0, 0], ndmin=2)[0, 0] * x[1, 1]


def of_a_list(x):
    return (np.array([x[0], x[1]], ndmin=3, copy=True)[0] * x).sum()


def view_with_an_axis_more(x):
    y = x * 1.0
    z = np.array(y, copy=None, ndmin=3)
    z[0, 0] *= 2
    return (x * y).sum() + z.sum()


def copy_with_an_axis_more(x):
    y = x * 1.0
    z = np.array(y, ndmin=3)
    z[0, 0] *= 2
    return (x * y).sum() + (z**2).sum()


def in_fortran_order(x):
    return (np.array(x, order="F") * np.asarray(x * x, order="f")).sum() + np.asarray(x, order="K", copy=None).sum()


@pytest.mark.parametrize(
    "fn", [of_a_number, of_a_list, view_with_an_axis_more, copy_with_an_axis_more, in_fortran_order]
)
def test_arrays_told_how_to_lie(fn):
    check_gradient(fn, (X,))


def test_promise_not_to_copy_is_refused():
    for settings in ({"dtype": np.float32}, {"order": "F"}):
        with pytest.raises(ad.errors.UnsupportedSyntax, match="layout"):
            ad.grad(lambda x: np.array(x, copy=False, **settings).sum())(X)


def test_promise_not_to_copy_what_is_an_array_already():
    def doubled(x):
        y = x * x
        z = np.array(y, dtype=np.float64, copy=False)
        z[0] = 2 * z[0]
        return (y**2).sum()

    for x in (X, np.asfortranarray(X), X[::2]):
        check_gradient(doubled, (x,))


def test_order_of_what_an_inner_derivative_is_given():
    inner = ad.grad(through_reshape)
    weights = np.arange(6.0).reshape(3, 2)
    check_gradient(lambda x: (inner(x * 1.0) * weights.T).sum(), (X,))
    with pytest.raises(ad.errors.AliasError, match="C order"):
        ad.grad(lambda x: (inner(x.T) * weights).sum())(X)
    with pytest.raises(ad.errors.AliasError, match="C order"):
        ad.jvp(lambda x: (inner(x.T) * weights).sum(), (X,), (X,))


def scaled_and_added_up(a):
    a[0] *= 2.0
    return a.sum(), (a @ a.T).mean(), a[1:].sum(axis=0)


def scaled_in_a_list(parts):
    for a in parts:
        a[0] *= 2.0
    return parts[0].sum() * parts[1].sum()


def test_what_is_written_keeps_its_order():
    """NumPy adds numbers up in the order in which they lie in memory."""
    a = np.random.default_rng(3).normal(size=(51, 53))
    for make in (lambda x: x.copy("F"), lambda x: x.copy("C"), lambda x: x.T.copy().T):
        expected = scaled_and_added_up(make(a))
        found = [ad.value_and_grad(scaled_and_added_up)(make(a))[0], ad.vjp(scaled_and_added_up, make(a))[0]]
        found.append(ad.jvp(scaled_and_added_up, (make(a),), (a,))[0])
        for value in found:
            for part, wanted in zip(value, expected, strict=True):
                np.testing.assert_array_equal(part, wanted)
        value = ad.value_and_grad(scaled_in_a_list)([make(a), make(a[1:])])[0]
        assert value == scaled_in_a_list([make(a), make(a[1:])])


def zeros_like_another(x):
    z = np.zeros_like(x.T)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            z[i, j] = x[j, i] * 1.1
    return np.sum(z)


def ones_like_the_argument(x):
    y = np.ones_like(x)
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.3 + x[i, j]
    return (y * y).sum()


def the_argument_itself(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] *= 1.1
    return np.sum(x)


def computed_from_the_argument(x):
    y = x * 2
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.3 + x[i, j]
    return np.sum(y)


ITEM_BY_ITEM = [zeros_like_another, ones_like_the_argument, the_argument_itself, computed_from_the_argument]


@pytest.mark.parametrize("fn", ITEM_BY_ITEM, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("lay_out", [np.array, np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2]])
def test_what_loops_write_item_by_item_lies_as_it_did(fn, lay_out):
    for seed in range(3):
        x = lay_out(np.random.default_rng(seed).normal(size=(13, 53)))
        expected = fn(x.copy("K"))
        value, gradient = ad.value_and_grad(fn)(x)
        assert value == expected == ad.vjp(fn, x)[0] == ad.jvp(fn, (x,), (np.ones_like(x),))[0]
        np.testing.assert_allclose(gradient, ad.grad(fn)(np.ascontiguousarray(x)), rtol=1e-12)
