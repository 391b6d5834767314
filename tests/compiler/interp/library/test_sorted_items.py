"""Known items, sorted by a key that gives constants, stay known."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import autodiff_sct as ad


def by_keys(d: Any) -> Any:
    total = 0.0
    for i, (_, v) in enumerate(sorted(d.items(), key=operator.itemgetter(0), reverse=True)):
        total = total + np.sum(np.sin(v)) * (i + 1.0)
    return total


def of_its_gradient(d: Any) -> Any:
    gradient = ad.grad(by_keys)(d)
    return np.sum(gradient["a"] ** 2) + np.sum(np.sin(gradient["c"]))


def by_length(d: Any) -> Any:
    return sum(k * np.sum(v**2) for k, (_, v) in enumerate(sorted(d.items(), key=lambda pair: np.sum(pair[1]))))


def test_items_are_sorted_by_constants() -> None:
    d = {"c": np.array([0.3, 1.2]), "a": np.ones((2, 3)) / 3, "b": np.array([0.7])}
    for fn in (by_keys, of_its_gradient):
        ad.check_grads(fn, (d,))
    ad.check_grads(by_length, (d,), order=1)
