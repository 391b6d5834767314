"""Interpolation by radial basis functions: SciPy computes it; of these texts derivatives are taken."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["DEGREES", "KERNELS", "SCALE_FREE", "Radial", "radial", "radial_at"]

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
