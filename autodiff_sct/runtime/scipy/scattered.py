"""Interpolations of ``scipy.interpolate`` on grids and between scattered points, which a differentiated program makes.

`made` is SciPy's object, which computes the values.  The functions here compute the same in NumPy, and the derivatives
are theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from .splines import along

__all__ = ["DEGREES", "KERNELS", "SCALE_FREE", "Nearest", "OnGrid", "Radial", "Scattered", "radial", "radial_at"]


class OnGrid:
    """``RegularGridInterpolator(grid, values, method)``; `fill` is found outside, None continues what is inside."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, made: Any, grid: Any, values: Any, method: Any, fill: Any) -> None:
        self.made = made
        self.grid = grid
        self.values = values
        self.method = method
        self.fill = fill

    def __call__(self, xi: Any) -> Any:
        return on_grid(self.made, self.grid, self.values, self.method, self.fill, xi)


class Scattered:
    """``LinearNDInterpolator(points, values)``."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, made: Any, points: Any, values: Any, fill: Any) -> None:
        self.made = made
        self.points = points
        self.values = values
        self.fill = fill

    def __call__(self, *xi: Any) -> Any:
        return scattered(self.made, self.points, self.values, self.fill, xi)


class Nearest:
    """``NearestNDInterpolator(points, values)``."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, made: Any, values: Any) -> None:
        self.made = made
        self.values = values

    def __call__(self, *xi: Any) -> Any:
        return nearest(self.made, self.values, xi)


def on_grid(made: Any, grid: Any, values: Any, method: Any, fill: Any, xi: Any) -> Any:
    return made(xi)


def scattered(made: Any, points: Any, values: Any, fill: Any, xi: Any) -> Any:
    return made(*xi)


def nearest(made: Any, values: Any, xi: Any) -> Any:
    return made(*xi)


def stacked(*axes: Any) -> Any:
    """The points whose coordinates are in several arrays."""
    return np.stack(np.broadcast_arrays(*axes), -1)


def in_rows(x: Any, count: Any) -> Any:
    """Points as rows."""
    return np.reshape(x, (-1, count))


# On grids


def grid_at(grid: Any, values: Any, method: str, fill: Any, x: Any) -> Any:
    """The interpolation of values on a grid, at points."""
    n = len(grid)
    points = np.reshape(x, (-1, n))
    if method in ("linear", "nearest"):
        y = of_cells(grid, values, method, points)
    else:
        y = of_splines(grid, values, {"slinear": 1, "cubic": 3, "quintic": 5}[method], points)
    if fill is not None:
        low, high = np.stack([g[0] for g in grid]), np.stack([g[-1] for g in grid])
        outside = np.any((points < low) | (points > high), axis=1)
        y = np.where(along(outside, y.ndim - 1), fill, y)
    return np.reshape(y, (*np.shape(x)[:-1], *np.shape(values)[n:]))


def of_cells(grid: Any, values: Any, method: str, x: Any) -> Any:
    """The weighted sum of the values at the corners of the cell of each point, or the value at the nearest corner."""
    n = len(grid)
    cells = [np.clip(np.searchsorted(g, x[:, j], "right") - 1, 0, g.size - 2) for j, g in enumerate(grid)]
    t = np.stack([(x[:, j] - g[k]) / (g[k + 1] - g[k]) for j, (g, k) in enumerate(zip(grid, cells))], -1)
    if method == "nearest":
        return values[tuple([np.where(t[:, j] <= 0.5, k, k + 1) for j, k in enumerate(cells)])]
    sides = np.arange(2**n)[:, None] >> np.arange(n) & 1
    weights = np.prod(np.where(sides[:, None] == 1, t, 1 - t), axis=-1)
    corners = values[tuple([k + sides[:, j, None] for j, k in enumerate(cells)])]
    return np.sum(along(weights, values.ndim - n) * corners, axis=0)


def of_splines(grid: Any, values: Any, k: int, x: Any) -> Any:
    """A spline along each axis."""
    weights = [interpolate.make_interp_spline(g, np.eye(len(g)), k)(x[:, j]) for j, g in enumerate(grid)]
    y = np.tensordot(weights[0], values, 1)
    for w in weights[1:]:
        y = np.sum(along(w, y.ndim - 2) * y, axis=1)
    return y


# Between scattered points


def scattered_at(made: Any, points: Any, values: Any, fill: Any, x: Any) -> Any:
    """The linear interpolation between the corners of the simplex of each point."""
    shape = np.shape(x)[:-1]
    x = np.reshape(x, (-1, np.shape(points)[1]))
    corners, outside = simplices(made, x)
    p = points[corners]
    edges = np.swapaxes(p[:, :-1] - p[:, -1:], 1, 2)
    t = np.linalg.solve(edges, (x - p[:, -1])[:, :, None])[:, :, 0]
    weights = np.concatenate([t, 1 - np.sum(t, axis=1, keepdims=True)], axis=1)
    y = np.sum(along(weights, values.ndim - 1) * values[corners], axis=1)
    y = np.where(along(outside == 1, values.ndim - 1), fill, y)
    return np.reshape(y, (*shape, *np.shape(values)[1:]))


def simplices(made: Any, x: Any) -> Any:
    """The corners of the simplex in which each point is, and 1 for the points that are in none."""
    scaled = x if made.scale is None else (x - made.offset) / made.scale
    found = made.tri.find_simplex(np.ascontiguousarray(scaled, float))
    return made.tri.simplices[found], (found < 0).astype(int)


def coordinates(made: Any) -> int:
    """The number of coordinates of a point."""
    return int(made.points.shape[1])


def nearest_at(made: Any, values: Any, x: Any) -> Any:
    """The value of the point that is nearest to each."""
    return values[neighbours(made, x)]


def neighbours(made: Any, x: Any) -> Any:
    """The numbers of the points that are nearest."""
    return made.tree.query(x if made.scale is None else (x - made.offset) / made.scale)[1]


def content(made: Any) -> Any:
    """The points and the values of an interpolation that exists outside."""
    points = made.points if made.scale is None else made.points * made.scale + made.offset
    return points, np.reshape(made.values, (len(points), *made.values_shape))


SCALE_FREE = ("linear", "thin_plate_spline", "cubic", "quintic")  # kernels whose distances may have any scale
KERNELS = (*SCALE_FREE, "multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian")
DEGREES = {"thin_plate_spline": 1, "cubic": 1, "quintic": 2}  # of the polynomials, where it is not 0


class Radial:
    """``RBFInterpolator(y, d, ...)``."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, made: Any, y: Any, d: Any, smoothing: Any, epsilon: Any, kernel: Any, degree: Any) -> None:
        self.made = made
        self.y = y
        self.d = d
        self.smoothing = smoothing
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree

    def __call__(self, x: Any) -> Any:
        return radial(self.made, self.y, self.d, self.smoothing, self.epsilon, self.kernel, self.degree, x)


def radial(made: Any, y: Any, d: Any, smoothing: Any, epsilon: Any, kernel: Any, degree: Any, x: Any) -> Any:
    return made(x)


def radial_at(y: Any, d: Any, smoothing: Any, epsilon: Any, kernel: Any, degree: Any, x: Any) -> Any:
    """The values at `x` of what takes the values `d` at the points `y`."""
    middle = np.mean(y, 0)
    own, at = monomials(y - middle, degree), monomials(x - middle, degree)
    terms = own.shape[1]
    matrix = np.concatenate(
        [
            np.concatenate([basis(y, y, epsilon, kernel) + smoothing * np.eye(len(y)), own], 1),
            np.concatenate([own.T, np.zeros((terms, terms))], 1),
        ]
    )
    values = np.reshape(d, (len(y), -1))
    weights = np.linalg.solve(matrix, np.concatenate([values, np.zeros((terms, values.shape[1]))]))
    found = np.concatenate([basis(x, y, epsilon, kernel), at], 1) @ weights
    return np.reshape(found, (len(x), *d.shape[1:]))


def monomials(x: Any, degree: Any) -> Any:
    """The monomials up to a degree of at most 2 in the coordinates of points, one a column."""
    constant = np.ones((len(x), 1 if degree >= 0 else 0))
    if degree < 1:
        return constant
    if degree == 1:
        return np.concatenate([constant, x], 1)
    first, second = np.triu_indices(x.shape[1])
    return np.concatenate([constant, x, x[:, first] * x[:, second]], 1)


def basis(x: Any, y: Any, epsilon: Any, kernel: Any) -> Any:
    """The kernel of the distances between points; distances of zero have the derivative zero."""
    squares = np.sum((epsilon * (x[:, None, :] - y)) ** 2, -1)
    if kernel == "gaussian":
        return np.exp(-squares)
    if kernel == "multiquadric":
        return -np.sqrt(squares + 1)
    if kernel == "inverse_multiquadric":
        return 1 / np.sqrt(squares + 1)
    if kernel == "inverse_quadratic":
        return 1 / (squares + 1)
    apart = squares > 0
    squares = np.where(apart, squares, 1.0)
    if kernel == "thin_plate_spline":
        return np.where(apart, squares * np.log(squares) / 2, 0.0)
    if kernel == "cubic":
        return np.where(apart, squares * np.sqrt(squares), 0.0)
    if kernel == "quintic":
        return np.where(apart, -(squares**2) * np.sqrt(squares), 0.0)
    return np.where(apart, -np.sqrt(squares), 0.0)
