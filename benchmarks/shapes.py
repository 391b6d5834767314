"""Small programs at any size, each one shape of code whose gradient could cost more than the program: see `growth`.

`SHAPES` gives for each the function, its arguments at a size, the positions that are differentiated, and the sizes,
which span three decades of time or of elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Shape:
    """A program, its arguments at a size, and the smallest and the largest size."""

    primal: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    wrt: tuple[int, ...]
    sizes: tuple[int, int]


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape)


def trace_of_tanh(a):
    """A loop over the diagonal of a matrix."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return np.sum(a + trace)


def items(x):
    """A loop over all items of a vector."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def nested_lists(rows):
    """A loop over all numbers of a list of lists."""
    total = 0.0
    for row in rows:
        for value in row:
            total += value * value
    return total


def cholesky(a):
    return np.sum(np.linalg.cholesky(a))


def covariance(x):
    """Each column against the columns from it on, written into a row and a column of the result."""
    n, m = x.shape
    x = x - np.mean(x, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = x[:, i] @ x[:, i:m] / n
    return np.sum(cov * cov)


def there_and_back(a, x):
    """Two products of a matrix with a vector."""
    return np.sum((a @ x) @ a)


def chain(a, x):
    """Twenty products of a matrix with a vector."""
    for _ in range(20):
        x = np.tanh(a @ x)
    return np.sum(x)


def pixels(x, w, b):
    """A convolution as a loop over pixels."""
    k = w.shape[0]
    rows, columns = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for i in range(rows):
        for j in range(columns):
            out[:, i, j, :] = np.sum(x[:, i : i + k, j : j + k, :, None] * w[None], axis=(1, 2, 3)) + b
    return np.sum(out)


def slope(x):
    return np.sum(np.gradient(x) ** 2)


def ranked(x):
    return np.sum(np.sort(x) * np.arange(len(x)))


def row_maxima(x):
    return np.sum(np.max(x, axis=1) ** 2)


def diffusion(u):
    """A stencil in place, twenty steps."""
    u = u.copy()
    for _ in range(20):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def substitution(a, b):
    """Forward substitution, row by row."""
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x)


def checked(a, w):
    """Only a shape may be wrong in what the gradient does not need."""
    return np.sum((a + 1.0) * w)


SHAPES = {
    "trace_of_tanh": Shape(trace_of_tanh, lambda n: (random(n, n),), (0,), (50, 1600)),
    "items": Shape(items, lambda n: (random(n),), (0,), (1_000, 1_000_000)),
    "nested_lists": Shape(nested_lists, lambda n: (random(n, n).tolist(),), (0,), (30, 1_000)),
    "cholesky": Shape(cholesky, lambda n: (random(n, n) + n * np.eye(n),), (0,), (50, 800)),
    "covariance": Shape(covariance, lambda n: (random(n, n),), (0,), (15, 480)),
    "there_and_back": Shape(there_and_back, lambda n: (random(n, n), random(n)), (0, 1), (40, 1280)),
    "chain": Shape(chain, lambda n: (random(n, n) / n, random(n)), (0, 1), (40, 1280)),
    "pixels": Shape(pixels, lambda n: (random(4, n, n, 3), random(3, 3, 3, 8), random(8)), (0, 1, 2), (6, 128)),
    "slope": Shape(slope, lambda n: (random(n),), (0,), (2_000, 2_000_000)),
    "ranked": Shape(ranked, lambda n: (random(n),), (0,), (500, 500_000)),
    "row_maxima": Shape(row_maxima, lambda n: (random(n, n),), (0,), (45, 1440)),
    "diffusion": Shape(diffusion, lambda n: (random(n),), (0,), (1_000, 1_000_000)),
    "substitution": Shape(substitution, lambda n: (random(n, n) + n * np.eye(n), random(n)), (0, 1), (60, 1920)),
    "checked": Shape(checked, lambda n: (random(n, n), random(n)), (0, 1), (45, 1440)),
}
