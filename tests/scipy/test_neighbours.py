"""Nearest neighbours: distances to points of trees that exist outside, and of those that a program makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import KDTree, cKDTree

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError

OUTSIDE = KDTree(np.cos(np.arange(40.0)).reshape(20, 2))


def from_outside(x):
    d, i = OUTSIDE.query(np.c_[x, x**2])
    return np.sum(d**2 * i)


def among_themselves(x):
    points = np.c_[x, np.roll(x, 1)]
    tree = KDTree(points)
    d, i = tree.query(points, k=3)
    near, _ = tree.query([0.1, 0.2], p=1)
    return np.sum(d[:, 1] ** 2) + np.sum((points - points[i[:, 1]]) ** 2) + near * tree.n


def within(x):
    points = np.c_[x, np.roll(x, 1)]
    pairs = cKDTree(points).query_pairs(1.0, output_type="ndarray")
    return np.sum(np.exp(-np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)))


def in_a_loop(x):
    tree, total = cKDTree(np.eye(3)), 0.0
    for k in range(3):
        d, j = tree.query(x[k : k + 3] * 0.3, k=2)
        total += d[0] * d[1] * (j[0] + 1)
    return total


@pytest.mark.parametrize("size", [6, 60])
@pytest.mark.parametrize("program", [from_outside, among_themselves, within, in_a_loop], ids=lambda fn: fn.__name__)
def test_neighbours(program: Any, size: int) -> None:
    x = np.random.default_rng(1).normal(size=size)
    assert ad.value_and_grad(program)(x)[0] == program(x)
    ad.check_grads(program, (x,), eps=1e-5)


def test_sets_of_pairs_are_refused() -> None:
    with pytest.raises(AutodiffError, match="output_type='ndarray'"):
        ad.grad(lambda x: np.sum(x) * len(KDTree(x).query_pairs(1.0)))(np.eye(3))
