"""Calls on which the rows of ``rules/shape.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime.memory import writable
from tests.laws.checker import Case, case

V = np.array([0.3, -1.2, 0.7])
X = np.array([[0.31, -0.52, 0.73], [-0.24, 0.85, -0.66]])
C = np.arange(24.0).reshape(2, 3, 4) / 10 - 1
Z = X + 1j * X[::-1]
E = np.zeros((0, 3))
S = np.float64(0.8)

MOVES = [
    case(np.reshape, X, (3, 2)), case(np.reshape, X, -1), case(np.reshape, X, (3, 2), order="F"),
    case(np.reshape, E, (3, 0)),
    case(np.ravel, X), case(np.ravel, X, "F"), case(np.ndarray.ravel, X), case(np.ndarray.flatten, X, "F"),
    case(writable, X),
    case(np.transpose, X), case(np.transpose, C, (2, 0, 1)), case(np.transpose, C, (-1, 0, -2)), case(np.transpose, V),
    case(np.matrix_transpose, C), case(np.linalg.matrix_transpose, C),
    case(np.swapaxes, C, 0, 2), case(np.ndarray.swapaxes, C, 0, -1),
    case(np.moveaxis, C, 0, -1), case(np.moveaxis, C, (0, 1), (2, 0)),
    *(case(np.rollaxis, C, axis, start) for axis in (0, 1, -1) for start in (0, 1, 2, 3, -1)),
    case(np.expand_dims, X, 0), case(np.expand_dims, X, (0, -1)),
    case(np.squeeze, X[:, None]), case(np.squeeze, X[None, :, None], 0), case(np.ndarray.squeeze, X[None]),
    case(np.flip, X), case(np.flip, C, (0, 2)), case(np.fliplr, X), case(np.flipud, X),
    case(np.rot90, X), case(np.rot90, C, 3, (1, 2)),
    case(np.roll, X, 2), case(np.roll, X, (1, -1), (0, 1)), case(np.roll, X, 1, axis=1), case(np.roll, E, 1, axis=0),
    case(np.transpose, Z), case(np.reshape, Z, 6),
]  # fmt: skip

COPIES = [
    case(np.ndarray.astype, X, np.float32), case(np.ndarray.astype, X, complex),
    *([case(np.astype, X, np.float32)] if hasattr(np, "astype") else []),
    case(np.copy, X), case(np.ndarray.copy, X), case(np.asarray, X), case(np.asarray, [0.3, S]), case(np.asanyarray, X),
    case(np.asarray_chkfinite, X),
    case(np.ascontiguousarray, X.T), case(np.asfortranarray, X),
    case(np.array, X), case(np.array, [V, V * 2]), case(np.array, [0.5, 1.5, S]), case(np.array, (0.5, 1.5)),
    case(np.array, [[0.5, 1.5], [2.5, 3.5]]), case(np.array, [[V, V], [V, V]]), case(np.array, [[[0.5], [1.5]]]),
    case(np.array, 0.5), case(np.array, X, np.float32),
    case(np.ndarray.item, X[:1, :1]), case(np.ndarray.item, X, 4), case(np.ndarray.item, X, 1, 2),
    case(np.ndarray.item, X, -2), case(np.ndarray.item, X, (1, 2)), case(np.ndarray.item, V, (-1,)),
]  # fmt: skip

REPEATS = [
    case(np.broadcast_to, V, (2, 3)), case(np.broadcast_to, X[:, :1], (2, 5)), case(np.broadcast_to, 0.5, (2, 5)),
    case(np.broadcast_arrays, V, X), case(np.broadcast_arrays, X[:, :1], V, S), case(np.broadcast_arrays, X),
    case(np.ix_, V), case(np.ix_, V, X[0, :2]), case(np.ix_, V, X[0, :2], X[1]),
    case(np.meshgrid, V, X[0, :2]), case(np.meshgrid, V, X[0, :2], indexing="ij"),
    case(np.meshgrid, V, X[0, :2], X[1]), case(np.meshgrid, V),
    case(np.tile, V, 2), case(np.tile, X, (2, 1, 3)), case(np.tile, C, 2), case(np.tile, X, (2, 3)),
    case(np.tile, S, 3),
    case(np.tile, E, (2, 2)),
    case(np.repeat, X, 2), case(np.repeat, X, 2, axis=1), case(np.repeat, X, [1, 0, 3], axis=-1),
    case(np.repeat, V, 3, 0),
    case(np.repeat, X, np.array([1, 2, 0, 1, 3, 1])), case(np.ndarray.repeat, X, 2), case(np.repeat, E, 2, axis=1),
    case(np.resize, X, (3, 3)), case(np.resize, X, 4),
    *(case(fn, x) for fn in (np.atleast_1d, np.atleast_2d, np.atleast_3d) for x in (S, V, X, C)),
    *(case(fn, S, V, X) for fn in (np.atleast_1d, np.atleast_2d, np.atleast_3d)),
]  # fmt: skip

JOINS = [
    case(np.concatenate, [X, X[:1]]), case(np.concatenate, [X, X[:, :1], X], 1), case(np.concatenate, [C, C], axis=-1),
    case(np.concatenate, [V, X], axis=None), case(np.concatenate, C), case(np.concatenate, C, 1),
    case(np.concatenate, [X]),
    case(np.concatenate, [V] * 6), case(np.concatenate, [C, C, C], axis=2), case(np.concatenate, (X, E)),
    case(np.concatenate, [Z, X]), case(np.concatenate, C, axis=None),
    case(np.vstack, [V, X]), case(np.vstack, [V, V]), case(np.vstack, (C, C)), case(np.vstack, C), case(np.vstack, X),
    case(np.hstack, [V, V[:2]]), case(np.hstack, [X, X[:, :1]]), case(np.hstack, [S, V]), case(np.hstack, C),
    case(np.hstack, [V] * 5),
    case(np.dstack, [V, V]), case(np.dstack, [X, X]), case(np.dstack, [C, X[:, :, None]]),
    case(np.column_stack, [V[:2], X]), case(np.column_stack, [V, V, V]), case(np.column_stack, (X, X)),
    case(np.stack, [X, X]), case(np.stack, [X, X], 1), case(np.stack, [X, X, X], axis=-1), case(np.stack, C, axis=1),
    case(np.stack, [0.5, S]),
    case(np.block, [[X, X], [X, X]]), case(np.block, [V, V]), case(np.block, [[X, X[:, :1]], [np.ones((1, 4))]]),
    case(np.block, X),
    case(np.block, [V, S]), case(np.block, [[V, S], [np.ones(4)]]),
    case(np.append, V, V[:2]), case(np.append, X, X[:1], axis=0), case(np.append, X, X[:, :1], axis=1),
    case(np.append, X, S),
    case(np.append, X, X), case(np.append, C, C, -1),
]  # fmt: skip

PARTS = [
    case(np.split, X, 2), case(np.split, X, 3, axis=1), case(np.split, V, [1]), case(np.split, C, [1, 3], 2),
    case(np.array_split, V, 2), case(np.array_split, X, 2, axis=1),
    case(np.vsplit, X, 2), case(np.hsplit, X, 3), case(np.hsplit, V, [2]), case(np.dsplit, C, 2),
    *([case(np.unstack, X), case(np.unstack, C, axis=2)] if hasattr(np, "unstack") else []),
]  # fmt: skip

CASES: list[Case] = [*MOVES, *COPIES, *REPEATS, *JOINS, *PARTS]
