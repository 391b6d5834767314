"""Nearest neighbours of ``scipy.spatial``: SciPy finds them, and the distances have the derivatives of these texts."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Neighbours"]


class Neighbours:
    """``KDTree(data)``."""

    stands_for = "a KDTree"

    def __init__(self, made: Any, data: Any) -> None:
        self.made = made
        self.data_of = data

    @property
    def data(self) -> Any:
        return self.data_of

    @property
    def n(self) -> Any:
        return self.data_of.shape[0]

    @property
    def m(self) -> Any:
        return self.data_of.shape[1]

    def query(self, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0, workers: Any = 1) -> Any:
        return nearest(self.made, self.data_of, x, k, eps, p)

    def query_pairs(self, r: Any, p: Any = 2.0, eps: Any = 0, output_type: Any = "set") -> Any:
        return pairs(self.made, r, p, eps, output_type)


def nearest(made: Any, data: Any, x: Any, k: Any, eps: Any, p: Any) -> Any:
    return made.query(x, k, eps, p)


def pairs(made: Any, r: Any, p: Any, eps: Any, output_type: Any) -> Any:
    return made.query_pairs(r, p, eps, output_type)


def distances(data: Any, x: Any, found: Any, single: Any, p: Any) -> Any:
    """The distances of points to those found next to them."""
    places = x if single else x[..., None, :]
    return np.linalg.norm(places - data[found], p, axis=-1)
