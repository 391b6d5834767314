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
    check_program(lambda k: np.sum(interpolate.CubicSpline(k, VALUES)(PLACES)), KNOTS)


MAKERS = [
    interpolate.CubicSpline,
    lambda k, y: interpolate.CubicSpline(k, y, bc_type=((1, 0.3), (2, -0.2))),
    lambda k, y: interpolate.CubicSpline(k, y, bc_type=("not-a-knot", "clamped")),
]


@pytest.mark.parametrize("make", MAKERS)
def test_conditions_at_the_ends(make: Any) -> None:
    def fn(k: Any, y: Any) -> Any:
        spline = make(k, y)
        return np.sum(spline(PLACES) ** 2) + np.sum(spline.derivative()(PLACES) ** 2) + spline.integrate(0.2, 2.5) ** 2

    for size in (2, 3, 130):
        knots = np.linspace(0.0, 3.0, size) ** 1.2
        check_program(fn, knots, np.cos(knots), second=False)


def test_periodic_splines() -> None:
    way = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.0])

    def fn(y: Any, x: Any) -> Any:
        return np.sum(interpolate.CubicSpline(KNOTS, np.append(y, y[0]), bc_type="periodic")(x) ** 2)

    check_program(fn, way[:6], np.array([-1.0, 0.3, 2.2, 4.5]))


SEVERAL = [
    lambda y: interpolate.CubicSpline(KNOTS, y, axis=1),
    lambda y: interpolate.make_interp_spline(KNOTS, y, axis=1),
    lambda y: interpolate.PchipInterpolator(KNOTS, y, axis=1),
]


@pytest.mark.parametrize("make", SEVERAL)
def test_splines_of_several_values(make: Any) -> None:
    values = np.cos(np.arange(21.0)).reshape(3, 7)
    check_program(lambda y, x: np.sum(make(y)(x) ** 2 * np.arange(1.0, 4.0)[:, None]), values, PLACES, second=False)


B_SPLINES = [
    lambda x, y: interpolate.make_interp_spline(x, y, k=1),
    lambda x, y: interpolate.make_interp_spline(x, y, k=2),
    lambda x, y: interpolate.make_interp_spline(x, y, bc_type="natural"),
    lambda x, y: interpolate.make_interp_spline(x, y, 5),
]


@pytest.mark.parametrize("make", B_SPLINES)
def test_b_splines_through_values(make: Any) -> None:
    def fn(k: Any, y: Any, x: Any) -> Any:
        spline = make(k, y)
        return np.sum(spline(x) ** 2) + np.sum(spline.derivative()(x) * spline(x)) + np.sum(spline.c**2)

    check_program(fn, KNOTS, VALUES, PLACES, second=False)


def test_b_splines_by_coefficients() -> None:
    knots = np.array([0.0, 0, 0, 0, 1, 2, 2.5, 3, 3, 3, 3])

    def fn(c: Any, x: Any) -> Any:
        spline = interpolate.BSpline(knots, c, 3)
        return np.sum(spline(x) ** 2) + np.sum(spline.derivative(2)(x)) ** 2 + spline.integrate(0.3, 2.0) ** 2

    check_program(fn, np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.7]), PLACES)
    assert ad.grad(lambda x: interpolate.BSpline(knots, knots[:7], 3)(x, 4))(0.5) == 0


SHEETS = [
    lambda x, y, z: interpolate.RectBivariateSpline(x, y, z),
    lambda x, y, z: interpolate.RectBivariateSpline(x, y, z, kx=2, ky=1),
]


@pytest.mark.parametrize("make", SHEETS)
def test_splines_of_two_variables(make: Any) -> None:
    others = np.linspace(1.0, 4.0, 6)
    table = np.sin(KNOTS)[:, None] * np.cos(others)

    def fn(z: Any, x: Any, y: Any) -> Any:
        spline = make(KNOTS, others, z)
        return (
            np.sum(spline.ev(x, y) ** 2)
            + np.sum(spline(x, y) ** 2)
            + np.sum(spline.ev(x, y, dx=1))
            + spline.ev(9.0, 1.5)
        )

    check_program(fn, table, PLACES, PLACES + 0.95, second=False)


@pytest.mark.parametrize("kind", ["linear", "nearest", "previous", "next", "quadratic", "cubic"])
def test_tables(kind: str) -> None:
    check_program(lambda y, x: np.sum(interpolate.interp1d(KNOTS, y, kind=kind)(x) ** 2), VALUES, PLACES)
    outside = np.array([-0.3, 1.1, 3.6])
    if kind in ("previous", "next"):
        return  # NaN outside
    further = lambda y, x: np.sum(interpolate.interp1d(KNOTS, y, kind=kind, fill_value="extrapolate")(x) ** 2)
    check_program(further, VALUES, outside, second=False)


def test_tables_with_values_for_what_is_outside() -> None:
    outside = np.array([-0.3, 1.1, 3.6])

    def fn(y: Any, x: Any) -> Any:
        table = interpolate.interp1d(KNOTS, y, bounds_error=False, fill_value=(2.0, 3.0), axis=0)
        return np.sum(table(x) ** 2)

    check_program(fn, VALUES, outside)
    check_program(fn, np.stack([VALUES, VALUES**2], 1), outside)


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
    check_program(lambda x: np.sum((MATRIX @ (MATRIX @ np.sin(x))) ** 3), x)
    assert "matrix.T @ " in ad.grad(lambda x: np.sum((MATRIX @ np.sin(x)) ** 2)).source_for(x)  # no outer product


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
