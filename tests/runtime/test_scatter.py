"""The adjoints of reading and of storing through an index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_sct.runtime import add_at, gather_adjoint, stored

INDICES: list[Any] = [
    0, -1, np.int64(1), slice(1, None), slice(None, None, -2), None, ..., (), (0, 1), (..., 1),
    (slice(None), slice(1, 3)),
    [1, 0, 1], np.array([1, 0, 1, -1]), np.array([[0, 1], [-1, 0]]), [], [True, False, True], (2, [0, 0, 1]),
    ([0, 2, 0], [1, 1, 1]),
    (slice(None), [0, 0, 2]), ([0, 0], slice(0, 2)), (np.array([[0], [2]]), np.array([1, 1])), ([0, 0], None, 1),
    np.array(1),
]  # fmt: skip
SHAPES = [(3, 4), (3, 4, 2)]


def added_one_by_one(x: np.ndarray, index: Any, d: np.ndarray) -> np.ndarray:
    """What ``add_at`` must do, from where each element that is read stands."""
    places = np.arange(x.size).reshape(x.shape)[index]
    z = np.zeros(x.size)
    for place, value in zip(np.ravel(places), np.ravel(d), strict=True):
        z[place] += value
    return z.reshape(x.shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_add_at(shape: tuple[int, ...], index: Any) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    d = np.random.default_rng(2).normal(size=x[index].shape)
    expected = added_one_by_one(x, index, d)
    np.testing.assert_allclose(gather_adjoint(d, x, index), expected)
    shadow = x.copy()
    assert add_at(shadow, index, d) is None
    np.testing.assert_allclose(shadow, x + expected)
    view = np.stack([x, x], -1)[..., 0]
    add_at(view, index, d)
    np.testing.assert_allclose(view, x + expected)
    np.testing.assert_allclose(gather_adjoint(2.0, x, index), added_one_by_one(x, index, np.full(x[index].shape, 2.0)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_stored(shape: tuple[int, ...], index: Any) -> None:
    """<shadow, a[index] = v> == <stored(shadow, index), v>, and what is stored is fresh."""
    shadow = np.random.default_rng(1).normal(size=shape)
    v = np.random.default_rng(2).normal(size=shadow[index].shape)
    a = np.zeros(shape)
    a[index] = v
    got = stored(shadow, index)
    np.testing.assert_allclose(np.sum(shadow * a), np.sum(got * v))
    assert np.shape(got) == v.shape and not np.shares_memory(got, shadow)


def test_mask() -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(gather_adjoint(np.ones(3), x, x > 2), x > 2)
    np.testing.assert_array_equal(stored(x, x > 2), [3, 4, 5])


def test_dtypes() -> None:
    x = np.zeros(3, np.float32)
    for index in (0, slice(2), [0, 0]):
        assert gather_adjoint(np.ones(np.shape(x[index])), x, index).dtype == np.float32
        assert stored(x, index).dtype == np.float32
    assert gather_adjoint(1.0, np.arange(3), 1).tolist() == [0.0, 1.0, 0.0]
    assert gather_adjoint(1 + 2j, x, 1).tolist() == [0.0, 1.0, 0.0]
    assert gather_adjoint([1 + 2j, 1j], x, [1, 1]).tolist() == [0.0, 1.0, 0.0]


def test_lists_and_dicts() -> None:
    shadow = [0.0, np.zeros(2), [1.0]]
    add_at(shadow, 0, 2.0)
    add_at(shadow, -2, np.ones(2))
    add_at(shadow, 2, [3.0])
    add_at(shadow, slice(0, 2), [1.0, None])
    assert shadow[0] == 3.0 and shadow[1].tolist() == [1.0, 1.0] and shadow[2] == [4.0]
    assert gather_adjoint(2.0, {"a": 1.0, "b": 5}, "b") == {"a": 0.0, "b": 2.0}
    assert gather_adjoint(2.0, (1.0, 5.0), 1) == [0.0, 2.0]


def test_repeated_index_in_one_axis_of_many() -> None:
    """The fast path for rows is taken for contiguous arrays only."""
    x = np.random.default_rng(0).normal(size=(5, 2, 3))
    rows = np.array([[4, -1], [4, 0]])
    d = np.random.default_rng(1).normal(size=(2, 2, 2, 3))
    for array in (x, np.asfortranarray(x), x[::2], x[:, :, ::-1]):
        index = rows % len(array)
        np.testing.assert_allclose(gather_adjoint(d, array, index), added_one_by_one(array, index, d))


@pytest.mark.parametrize("rows", [3, 90, 900])
@pytest.mark.parametrize("width", [1, 3, 40])
def test_few_rows_and_many(rows, width):
    index = np.arange(rows) * 7 % 11 - 4
    shadow, parts = np.ones((7, width)), np.cos(np.arange(rows * width)).reshape(rows, width)
    add_at(shadow, index, parts)
    expected = np.ones((7, width))
    for k, row in enumerate(index):
        expected[row] += parts[k]
    np.testing.assert_allclose(shadow, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_add_at_with_flat_indices(shape: tuple[int, ...], index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff_sct.core.thresholds.ADDED_ONE_BY_ONE", 0)
    test_add_at(shape, index)


@pytest.mark.parametrize("low", [0, -5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_numbers_of_a_matrix(low: int, dtype: Any) -> None:
    """By a flat index, whether they are counted from the end or not."""
    rng = np.random.default_rng(0)
    index = rng.integers(low, 5, (30, 20)), rng.integers(low, 6, 20)
    expected = np.zeros((5, 6), dtype)
    cotangent = rng.normal(size=20).astype(dtype)
    np.add.at(expected, index, cotangent)
    for shadow in (np.zeros((5, 6), dtype), np.zeros((6, 5), dtype).T, np.zeros((10, 6), dtype)[::2]):
        add_at(shadow, index, cotangent)
        np.testing.assert_allclose(shadow, expected, rtol=1e-5)
    with pytest.raises(IndexError):
        add_at(np.zeros((5, 5)), (index[0], np.full(20, 5)), 1.0)


def test_many_numbers_of_a_number() -> None:
    rows = np.repeat(np.arange(4), 200)
    shadow = np.zeros((4, 2))
    add_at(shadow, (rows, np.ones(800, np.uint64)), 0.5)
    np.testing.assert_array_equal(shadow, [[0.0, 100.0]] * 4)
