"""Splines and sparse matrices in differentiated programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import integrate, interpolate, optimize, sparse
from scipy.sparse.linalg import spsolve

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

KNOTS = np.linspace(0.0, 3.0, 7)
VALUES = np.sin(KNOTS)
PLACES = np.array([0.1, 1.33, 2.71])
MATRIX = sparse.csr_array(np.array([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]]))
SMOOTH = interpolate.CubicSpline(KNOTS, VALUES)
BASIS = interpolate.make_interp_spline(KNOTS, VALUES, k=3)


def test_splines_from_outside() -> None:
    for spline in (SMOOTH, BASIS, interpolate.PchipInterpolator(KNOTS, VALUES)):
        check_program(lambda x: np.sum(spline(x) ** 2), PLACES)
    check_program(lambda x: SMOOTH(x) ** 2, 0.7)
    check_program(lambda x: np.sum(SMOOTH(x, 1)), PLACES)


def test_splines_made_inside() -> None:
    check_program(lambda y, x: np.sum(interpolate.CubicSpline(KNOTS, y)(x) ** 2), VALUES, PLACES)
    natural = lambda y, x: np.sum(interpolate.CubicSpline(KNOTS, y, bc_type="natural")(x, 1) ** 2)
    check_program(natural, VALUES, PLACES)

    def both(y: Any) -> Any:
        spline = interpolate.CubicSpline(KNOTS, y)
        return np.sum(spline(PLACES)) * np.sum(spline.derivative()(PLACES) ** 2)

    check_program(both, VALUES)
    with pytest.raises(AutodiffError, match="no derivative with respect to 'knots'"):
        ad.grad(lambda k: np.sum(interpolate.CubicSpline(k, VALUES)(PLACES)))(KNOTS)


def test_linear_interpolation() -> None:
    places = np.array([0.1, 1.33, 2.71])
    check_program(lambda k, v, x: np.sum(interpolate.interp1d(k, v)(x) ** 2), KNOTS, VALUES, places)
    with pytest.raises(AutodiffError, match="do not increase"):
        ad.grad(lambda v: np.sum(interpolate.interp1d(KNOTS[::-1], v)(places)))(VALUES)


def test_products_with_sparse_matrices() -> None:
    x = np.array([1.0, 2.0, 3.0])
    check_program(lambda x: np.sum((MATRIX @ x) ** 3), x)
    check_program(lambda x: np.sum(MATRIX.dot(x) ** 3), x)
    check_program(lambda x: np.sum((MATRIX.T @ x) ** 3), x)
    check_program(lambda x: np.sum((x @ MATRIX) ** 3), x)
    check_program(lambda x: np.sum((MATRIX @ x) ** 3), np.ones((3, 2)))
    check_program(lambda x: np.sum((sparse.diags([1.0, 2.0, 3.0]).tocsr() @ x) ** 3), x)
    with pytest.raises(AutodiffError, match="let the function capture it"):
        ad.grad(lambda x, m: np.sum((m @ x) ** 2))(x, MATRIX)


def test_complex_numbers_are_refused() -> None:
    z = np.array([1.0, 2.0, 3.0])
    refused = [
        lambda x: np.sum(np.abs(spsolve(MATRIX.tocsc() * 1j, x))),
        lambda x: np.sum(np.abs(spsolve(MATRIX.tocsc(), x * 1j))),
        lambda x: np.sum(np.abs(interpolate.CubicSpline(np.arange(3.0), x * 1j)([0.5, 1.5]))),
        lambda x: np.sum(np.abs(integrate.solve_ivp(lambda t, y: 1j * y, (0, 1), x + 0j).y)),
        lambda x: np.abs(optimize.newton(lambda y: y**2 + x[0], 1j)),
        lambda x: np.sum(np.abs(integrate.quad_vec(lambda t: x * 1j, 0, 1)[0])),
    ]
    for fn in refused:
        with pytest.raises(AutodiffError, match="complex|real"):
            ad.grad(fn)(z)


def test_an_inverse_problem_with_a_laplacian() -> None:
    """The source of a field that is known, by the adjoint of a sparse solve, at 10,000 unknowns."""
    n = 100
    line = sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sparse.eye_array(n)
    laplacian = (sparse.kron(line, eye) + sparse.kron(eye, line)).tocsc()
    rng = np.random.default_rng(0)
    seen = spsolve(laplacian, rng.normal(size=n * n))

    def loss(source: Any) -> Any:
        return 0.5 * np.sum((spsolve(laplacian, source) - seen) ** 2)

    source, way, h = np.zeros(n * n), rng.normal(size=n * n), 1e-4
    value, gradient = ad.value_and_grad(loss)(source)
    assert value == loss(source)
    slope = (loss(source + h * way) - loss(source - h * way)) / (2 * h)
    np.testing.assert_allclose(gradient @ way, slope, 1e-6)
    check_program(lambda b: np.sum(spsolve(MATRIX.tocsc(), b) ** 3), np.array([1.0, 2.0, 3.0]))
