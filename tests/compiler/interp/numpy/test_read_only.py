"""Arrays whose copies are written otherwise than they: read-only ones, and those that show memory several times."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad


def read_only(*items):
    array = np.array(items)
    array.flags.writeable = False
    return array


def stores(x, y):
    x[0] = y[1] * x[1]
    return np.sum(x * y)


def sorts(x, y):
    x.sort()
    return x[0] * y[0]


def writes_a_view(x, y):
    part = x[1:]
    part *= y[0]
    return np.sum(x)


@pytest.mark.parametrize("fn", [stores, sorts, writes_a_view])
def test_what_is_written_has_to_be_writable(fn):
    x, y = read_only(2.0, 1.0, 3.0), np.array([0.5, 0.2, 0.1])
    with pytest.raises(ValueError):
        fn(x, y)
    for derivative in (ad.grad, ad.value_and_grad):
        with pytest.raises(ValueError, match="'x' is read-only"):
            derivative(fn, (0, 1))(x, y)
    with pytest.raises(ValueError, match="'x' is read-only"):
        ad.vjp(fn, x, y)
    with pytest.raises(ValueError, match="'x' is read-only"):
        ad.jvp(fn, (x, y), (y, y))
    assert ad.grad(fn)(x.copy(), y).shape == (3,)


def test_what_is_only_read_may_be_read_only():
    x, y = np.array([2.0, 1.0, 3.0]), read_only(0.5, 0.2, 0.1)
    first, second = ad.grad(stores, (0, 1))(x, y)
    assert np.allclose(first, [0.0, 0.3, 0.1]) and np.allclose(second, [0.2, 1.5, 3.0])


def adds_to_all(x, y):
    x += y
    return np.sum(x * x)


def adds_in_a_dict(d):
    d["w"] += d["b"]
    return np.sum(d["w"] ** 2)


def stores_in_a_list(arrays):
    for a in arrays:
        a[0] = a[1]
    return np.sum(arrays[0])


def test_augmented_assignments_write_as_well():
    x, y = read_only(2.0, 1.0, 3.0), np.array([0.5, 0.2, 0.1])
    for derivative in (ad.grad, ad.value_and_grad):
        with pytest.raises(ValueError, match="'x' is read-only"):
            derivative(adds_to_all)(x, y)
    with pytest.raises(ValueError, match="'x' is read-only"):
        ad.jvp(adds_to_all, (x, y), (y, y))


def test_arrays_in_containers():
    x, y = read_only(2.0, 1.0, 3.0), np.array([0.5, 0.2, 0.1])
    with pytest.raises(ValueError, match=r"\"d\['w'\]\" is read-only"):
        ad.grad(adds_in_a_dict)({"w": x, "b": y})
    assert np.allclose(ad.grad(adds_in_a_dict)({"w": y, "b": x})["b"], 2 * (x + y))
    for arrays in ([x, y], [y, x]):
        with pytest.raises(ValueError, match="is read-only"):
            ad.grad(stores_in_a_list)(arrays)


def windows():
    return np.lib.stride_tricks.sliding_window_view(np.array([2.0, 1.0, 3.0, 0.5]), 3, writeable=True)


def rows_shifted():
    return np.lib.stride_tricks.as_strided(np.array([2.0, 1.0, 3.0, 0.5]), (2, 2), (8, 16))


def repeated():
    return np.lib.stride_tricks.as_strided(np.array([2.0]), (3,), (0,))


def doubles(x):
    x *= 2.0
    return np.sum(x**2)


@pytest.mark.parametrize("shown", [windows, repeated])
def test_what_is_written_shows_no_memory_twice(shown):
    for derivative in (ad.grad, ad.value_and_grad, ad.vjp):
        with pytest.raises(ValueError, match="'x' shows the same memory in several of its elements"):
            derivative(doubles, shown()) if derivative is ad.vjp else derivative(doubles)(shown())
    with pytest.raises(ValueError, match="'x' shows the same memory"):
        ad.jvp(doubles, (shown(),), (np.ones(shown().shape),))
    assert np.allclose(ad.grad(doubles)(shown().copy()), 8 * shown())


@pytest.mark.parametrize(
    "part",
    [
        rows_shifted(),
        np.arange(24.0).reshape(2, 3, 4)[:, ::2, ::-2],
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)[1:],
        np.arange(24.0)[::-3],
        np.ones((2, 1, 0)),
        np.arange(4.0).reshape(2, 2)[:, :1],
    ],
)
def test_parts_that_show_it_once(part):
    assert np.allclose(ad.grad(doubles)(part), 8 * part)
