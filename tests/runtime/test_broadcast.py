"""The helpers that fit a derivative to its value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_sct.runtime import ones_like, spread, unbroadcast, zeros_like

X = np.arange(6.0).reshape(2, 3)


def same(got: Any, expected: Any) -> None:
    """Equal in type, dtype, shape and value."""
    assert type(got) is type(expected)
    if isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for item, wanted in zip(got, expected):
            same(item, wanted)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            same(got[key], expected[key])
    else:
        assert np.shape(got) == np.shape(expected) and np.array_equal(got, expected)
        assert np.asarray(got).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize(
    ("d", "like", "expected"),
    [
        (X, np.zeros(3), X.sum(0)),
        (X, np.zeros((1, 3)), X.sum(0, keepdims=True)),
        (X, np.zeros((2, 1)), X.sum(1, keepdims=True)),
        (X, 1.5, 15.0),
        (X, np.float32(1.5), np.float32(15)),
        (X, np.float64(1.5), np.float64(15)),
        (X, np.array(1.5), np.array(15.0)),
        (X, 2, 15.0),
        (X, True, 15.0),
        (X, 1j, 15 + 0j),
        (X, np.zeros((2, 3), np.float32), X.astype(np.float32)),
        (X, np.zeros((2, 3), int), X),
        (X, np.zeros((2, 3), bool), X),
        (X + 1j, X, X),
        (X, np.zeros((2, 3), complex), X.astype(complex)),
        (2.0, np.zeros((2, 3)), np.full((2, 3), 2.0)),
        (np.float64(2), np.zeros(3, np.float32), np.full(3, 2, np.float32)),
        (X[:, :1], np.zeros((2, 3)), np.repeat(X[:, :1], 3, 1)),
        (X[:, :1], np.zeros(3), np.full(3, 3.0)),
        (X[:, :1], np.zeros((4, 1, 3)), np.full((4, 1, 3), 3.0)),
        (np.zeros((0, 3)), np.ones(3), np.zeros(3)),
        (np.zeros((2, 0)), np.ones((2, 1)), np.zeros((2, 1))),
        (2.0, 1.5, 2.0),
        (np.float64(2), 1.5, 2.0),
        ([X, 1.0], (np.zeros(3), 1.0), [X.sum(0), 1.0]),
        ([None, None], (np.zeros(3), 1.0), [np.zeros(3), 0.0]),
        ({"w": X, "b": 1.0}, {"w": np.zeros(3), "b": 2}, {"w": X.sum(0), "b": 1.0}),
    ],
    ids=str,
)
@pytest.mark.parametrize("fit", [unbroadcast, spread])
def test_fits(fit: Any, d: Any, like: Any, expected: Any) -> None:
    same(fit(d, like), expected)


def test_unbroadcast_copies_nothing_that_fits() -> None:
    assert unbroadcast(X, np.zeros((2, 3))) is X


def test_spread_is_fresh_and_writable() -> None:
    for d in (X, X[:, :1], 2.0, np.broadcast_to(1.0, (2, 3))):
        got = spread(d, X)
        assert got.flags.writeable and not np.shares_memory(got, d)
    assert not np.shares_memory(spread([X], [X])[0], X)


@pytest.mark.parametrize(
    ("x", "zero", "one"),
    [
        (1.5, 0.0, 1.0),
        (2, 0.0, 1.0),
        (True, 0.0, 1.0),
        (1j, 0j, 1 + 0j),
        (np.float32(2), np.float32(0), np.float32(1)),
        (np.int64(2), np.float64(0), np.float64(1)),
        (np.ones(2, np.float32), np.zeros(2, np.float32), np.ones(2, np.float32)),
        (np.ones(2, int), np.zeros(2), np.ones(2)),
        (np.ones(2, bool), np.zeros(2), np.ones(2)),
        (np.ones(2, complex), np.zeros(2, complex), np.ones(2, complex)),
        ((1.5, [np.ones(2), 3]), [0.0, [np.zeros(2), 0.0]], [1.0, [np.ones(2), 1.0]]),
        ({"w": np.ones(2), "k": None}, {"w": np.zeros(2), "k": 0.0}, {"w": np.ones(2), "k": 0.0}),
        (None, 0.0, 0.0),
        ("text", 0.0, 0.0),
        (np.sin, 0.0, 0.0),
        (np.array(["text"]), np.zeros(1), np.ones(1)),
    ],
    ids=str,
)
def test_derivatives_of_anything(x: Any, zero: Any, one: Any) -> None:
    same(zeros_like(x), zero)
    same(ones_like(x), one)
