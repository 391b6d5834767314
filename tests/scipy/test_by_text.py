"""Calls whose values SciPy computes and whose derivatives are those of texts: rotations, estimates, interpolations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import interpolate, stats
from scipy.spatial.transform import Rotation

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

RNG = np.random.default_rng(29)
POINTS, WEIGHTS = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3))
OUTSIDE = Rotation.from_rotvec([0.3, -0.4, 0.9])
KNOTS = np.array([0.0, 0.4, 1.1, 1.5, 2.2, 3.0])
VALUES = np.array([0.1, 0.9, 0.7, 0.8, 0.2, -0.9])
PLACES = np.array([0.1, 0.7, 1.33, 2.9])
SAMPLE = RNG.normal(size=12)
ESTIMATE = stats.gaussian_kde(SAMPLE)


@pytest.mark.parametrize("length", [1e-3, 0.9, 3.0, 4.0, 6.0])
def test_rotations_by_vectors(length: float) -> None:
    v = length * np.array([0.48, -0.6, 0.64])

    def fn(v: Any, points: Any) -> Any:
        turn = Rotation.from_rotvec(v)
        back = turn.apply(points, inverse=True)
        return np.sum(WEIGHTS * turn.apply(points) ** 3) + np.sum(back**3) + np.sum(np.sin(turn.as_matrix()))

    check_program(fn, v, POINTS)
    check_program(lambda v: np.sum(Rotation.from_rotvec(v).as_quat() ** 3), v)


@pytest.mark.parametrize("length", [1e-4, 0.9, 3.0])
def test_vectors_of_rotations(length: float) -> None:
    v, w = length * np.array([0.48, -0.6, 0.64]), np.array([0.5, 0.2, -0.4])
    check_program(lambda v: np.sum(np.sin(Rotation.from_rotvec(v).as_rotvec())), v)
    check_program(lambda v: np.sum(np.sin((OUTSIDE * Rotation.from_rotvec(v)).as_rotvec())), w)
    check_program(lambda v: np.sum((Rotation.from_rotvec(v) * OUTSIDE).inv().as_quat() ** 3), w)
    check_program(lambda v: Rotation.from_rotvec(v).magnitude() ** 2, w)


def test_a_turn_by_nothing_has_second_derivatives() -> None:
    fn = lambda v: np.sum(WEIGHTS * Rotation.from_rotvec(v).apply(POINTS))
    check_program(fn, np.zeros(3), step=1e-4, rtol=1e-6)


def test_many_rotations() -> None:
    def fn(v: Any, q: Any) -> Any:
        turns = Rotation.from_quat(q) * Rotation.from_rotvec(v)
        return np.sum(turns.apply([1.0, 2.0, 3.0]) ** 3) + np.sum(turns.as_matrix() ** 3) + np.sum(turns.as_rotvec())

    check_program(fn, POINTS, RNG.normal(size=(5, 4)))
    check_program(lambda v: np.sum(Rotation.from_rotvec(v).apply(POINTS) ** 3), WEIGHTS)


@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zx"])
def test_angles_of_euler(seq: str) -> None:
    angles = np.array([0.4, -0.7, 1.9])[: len(seq)]
    check_program(lambda a: np.sum(Rotation.from_euler(seq, a).apply(POINTS) ** 3), angles)
    check_program(lambda a: np.sum(Rotation.from_euler(seq, 50 * a, degrees=True).as_matrix() ** 3), angles)
    check_program(lambda a: np.sum(Rotation.from_euler("z", a).as_quat() ** 3), 0.7)


def test_rotations_from_outside() -> None:
    check_program(lambda x: np.sum(OUTSIDE.apply(x) ** 3) + np.sum(OUTSIDE.inv().apply(x) ** 2), POINTS)
    check_program(lambda v: np.sum(Rotation.from_rotvec(v).as_euler("xyz") ** 2), np.array([0.3, -0.5, 0.8]))
    with pytest.raises(AutodiffError):
        ad.grad(lambda m: np.sum(Rotation.align_vectors(m, np.eye(3))[0].as_rotvec()))(np.eye(3))


def test_kernel_density_estimates() -> None:
    check_program(lambda x, q: np.sum(stats.gaussian_kde(x)(q) ** 2), SAMPLE, PLACES)
    check_program(lambda x, q: np.sum(stats.gaussian_kde(x, "silverman").pdf(q) ** 2), SAMPLE, PLACES)
    check_program(lambda x, q: np.sum(stats.gaussian_kde(x, bw_method=0.4)(q) ** 2), SAMPLE, PLACES)
    check_program(
        lambda x, q: np.sum(stats.gaussian_kde(x).logpdf(q)), RNG.normal(size=(2, 9)), RNG.normal(size=(2, 4))
    )
    check_program(lambda q: np.sum(ESTIMATE(q) ** 2) + np.sum(ESTIMATE.logpdf(q)), PLACES)
    check_program(lambda q: ESTIMATE.evaluate(q)[0], 0.3)
    with pytest.raises(AutodiffError, match="no weights"):
        ad.grad(lambda x: stats.gaussian_kde(x, weights=np.ones(12))(PLACES)[0])(SAMPLE)


def test_multivariate_densities() -> None:
    scale = POINTS.T @ POINTS + np.eye(3)
    check_program(lambda x, m: np.sum(stats.multivariate_normal.pdf(x, m, 2.0) ** 2), POINTS, np.ones(3))
    check_program(
        lambda x, v: np.sum(stats.multivariate_normal.logpdf(x, np.ones(3), v)), POINTS, np.array([1, 2, 0.5])
    )
    check_program(lambda x, c: np.sum(stats.multivariate_normal.logpdf(x, cov=c)), POINTS, scale)
    check_program(lambda x, s: stats.wishart.logpdf(x, 6, s), scale, np.eye(3) + 0.1)
    check_program(lambda x, s: stats.invwishart.logpdf(x, 6, s), scale, np.eye(3) + 0.1)
    check_program(lambda q: stats.multinomial.logpmf([3, 4, 5], 12, q / np.sum(q)), np.array([0.2, 0.3, 0.5]))


@pytest.mark.parametrize("values", [VALUES, VALUES[::-1].copy(), np.array([0.0, 0.1, 0.5, 2.0, 2.1, 7.0])], ids=str)
def test_interpolations(values: Any) -> None:
    for make in (interpolate.PchipInterpolator, interpolate.Akima1DInterpolator):
        check_program(lambda k, y, x: np.sum(make(k, y)(x) ** 2), KNOTS, values, PLACES)
    hermite = lambda k, y, d, x: np.sum(interpolate.CubicHermiteSpline(k, y, d)(x) ** 2)
    check_program(hermite, KNOTS, values, np.cos(KNOTS), PLACES)


def test_splines_of_other_degrees() -> None:
    check_program(lambda y, x: np.sum(interpolate.make_interp_spline(KNOTS, y, 1)(x) ** 2), VALUES, PLACES)
    check_program(lambda y, x: np.sum(interpolate.make_interp_spline(KNOTS, y, k=2)(x) ** 2), VALUES, PLACES)
    check_program(lambda y, x: np.sum(interpolate.make_interp_spline(KNOTS, y)(x) ** 2), VALUES, PLACES)
    for univariate in (
        lambda y, x: np.sum(interpolate.InterpolatedUnivariateSpline(KNOTS, y)(x) ** 2),
        lambda y, x: np.sum(interpolate.InterpolatedUnivariateSpline(KNOTS, y, k=2)(x) ** 2),
    ):
        check_program(univariate, VALUES, PLACES)
    check_program(lambda y, x: np.sum(interpolate.UnivariateSpline(KNOTS, y, s=0)(x) ** 2), VALUES, PLACES)
    check_program(lambda y, x: np.sum(interpolate.interp1d(KNOTS, y, kind="quadratic")(x) ** 2), VALUES, PLACES)
    check_program(lambda y, x: np.sum(interpolate.interp1d(KNOTS, y, kind="cubic")(x) ** 2), VALUES, PLACES)
    check_program(lambda y, x: np.sum(interpolate.make_interp_spline(KNOTS, y)(x, 1) ** 2), VALUES, PLACES)
    check_program(lambda y: np.sum(interpolate.UnivariateSpline(KNOTS, y, s=0)(PLACES, 1)) ** 2, VALUES)
    check_program(lambda y: interpolate.PchipInterpolator(KNOTS, y).integrate(0, 1) ** 2, VALUES)
    with pytest.raises(AutodiffError):
        ad.grad(lambda y: np.sum(interpolate.UnivariateSpline(KNOTS, y)(PLACES)))(VALUES)
