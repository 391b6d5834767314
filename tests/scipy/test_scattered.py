"""Interpolations on grids and between scattered points, and splines as ``splrep`` has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import interpolate
from scipy.sparse.linalg import spsolve

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

RNG = np.random.default_rng(31)
FIRST, SECOND = np.array([0.0, 0.7, 1.1, 2.0, 2.4, 3.0]), np.linspace(1.0, 4.0, 7)
TABLE = np.sin(FIRST)[:, None] * np.cos(SECOND) + SECOND
PLACES = np.array([[0.31, 1.72], [2.21, 3.13], [1.63, 2.26]])
ON_GRID = interpolate.RegularGridInterpolator((FIRST, SECOND), TABLE)
POINTS = RNG.uniform(size=(30, 2))
AMONG = np.array([[0.43, 0.51], [0.6, 0.45], [0.33, 0.62]])
HEIGHTS = POINTS[:, 0] ** 2 + np.sin(3 * POINTS[:, 1])
SCATTERED = interpolate.LinearNDInterpolator(POINTS, HEIGHTS)
KNOTS = np.linspace(0.0, 10.0, 9) ** 1.1
TCK = interpolate.splrep(KNOTS, np.sin(KNOTS))


@pytest.mark.parametrize("method", ["linear", "nearest", "slinear", "cubic", "quintic"])
def test_grids(method: str) -> None:
    def fn(values: Any, x: Any) -> Any:
        if method in ("linear", "nearest"):
            table = interpolate.RegularGridInterpolator((FIRST, SECOND), values, method=method)
        else:  # by a direct method instead of an iteration
            table = interpolate.RegularGridInterpolator((FIRST, SECOND), values, method=method, solver=spsolve)
        return np.sum(table(x) ** 2)

    check_program(fn, TABLE, PLACES, second=method in ("linear", "nearest"))
    check_program(lambda v, x: np.sum(interpolate.interpn((FIRST, SECOND), v, x) ** 2), TABLE, PLACES)


def test_grids_by_their_axes_and_of_other_shapes() -> None:
    knots = lambda g, h: np.sum(interpolate.RegularGridInterpolator((g, h), TABLE)(PLACES) ** 2)
    check_program(knots, FIRST, SECOND)
    solid = RNG.normal(size=(6, 7, 6, 2))
    grid = (FIRST, SECOND, FIRST)
    places = np.array([[[0.3, 1.7, 0.4], [2.2, 3.1, 1.9]]])
    check_program(
        lambda v, x: np.sum(interpolate.RegularGridInterpolator(grid, v)(x) ** 2), solid, places, second=False
    )
    line = lambda v, x: np.sum(interpolate.RegularGridInterpolator((FIRST,), v)(x) ** 2)
    check_program(line, FIRST**2, np.array([0.3, 1.7]))
    for n in (2, 130):
        axis = np.linspace(0.0, 3.0, n)
        check_program(lambda v, x: np.sum(interpolate.interpn((axis,), v, x) ** 2), np.cos(axis), np.array([[0.41]]))


def test_outside_of_grids() -> None:
    beyond = np.array([[-0.4, 1.7], [2.2, 4.6], [1.6, 2.3]])
    for fill in (None, 2.5):
        make = lambda v: interpolate.RegularGridInterpolator((FIRST, SECOND), v, bounds_error=False, fill_value=fill)
        check_program(lambda v, x: np.sum(make(v)(x) ** 2), TABLE, beyond)
    with pytest.raises(ValueError, match="out of bounds"):
        ad.grad(lambda v: np.sum(interpolate.interpn((FIRST, SECOND), v, beyond)))(TABLE)


def test_grids_from_outside() -> None:
    check_program(lambda x: np.sum(ON_GRID(x) ** 2), PLACES)
    check_program(lambda a, b: np.sum(ON_GRID((a, b)) ** 2), 1.3, 2.3)
    check_program(lambda a, b: np.sum(ON_GRID((a, b)) ** 2), PLACES[:, :1], PLACES[:, 1])


def test_scattered_points() -> None:
    fn = lambda p, v, x: np.sum(interpolate.LinearNDInterpolator(p, v)(x) ** 2)
    check_program(fn, POINTS, HEIGHTS, AMONG)
    two = np.stack([HEIGHTS, HEIGHTS**2], 1)
    check_program(lambda v, x: np.sum(interpolate.griddata(POINTS, v, x) ** 2), two, AMONG)
    x, y = np.mgrid[0.3:0.7:4j, 0.3:0.7:5j]
    check_program(lambda v: np.sum(interpolate.griddata(POINTS, v, (x, y), "linear", rescale=True) ** 2), HEIGHTS)
    check_program(lambda v: np.sum(interpolate.griddata(POINTS, v, (x, y), method="nearest") ** 2), HEIGHTS)
    check_program(lambda a, b: np.sum(SCATTERED(a, b) ** 2), AMONG[:, 0], AMONG[:, 1])
    check_program(lambda x: np.sum(SCATTERED(x) ** 2), AMONG)


def test_points_outside_of_all_simplices() -> None:
    beyond = np.array([[0.5, 0.5], [7.0, 7.0]])
    fn = lambda v, x: np.sum(interpolate.LinearNDInterpolator(POINTS, v, fill_value=0.5)(x) ** 2)
    check_program(fn, HEIGHTS, beyond)
    assert ad.grad(fn, 1)(HEIGHTS, beyond)[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_splines_as_tuples(degree: int) -> None:
    def fn(y: Any, x: Any) -> Any:
        tck = interpolate.splrep(KNOTS, y, k=degree)
        smooth = np.sum(interpolate.splev(x, tck, der=1) ** 2) if degree > 1 else 0.0
        return np.sum(interpolate.splev(x, tck) ** 2) + smooth + interpolate.splint(-1.0, 6.0, tck) ** 2

    check_program(fn, np.sin(KNOTS), np.array([0.3, 4.4, 11.1]), second=False)


def test_splines_from_outside() -> None:
    check_program(lambda x: np.sum(interpolate.splev(x, TCK) ** 2), np.array([0.3, 4.4, 9.1]))
    check_program(lambda x: np.sum(interpolate.splev(x, TCK, der=2)), np.array([0.3, 4.4, 9.1]))
    check_program(lambda a, b: interpolate.splint(a, b, TCK), 0.5, 7.5)
    check_program(lambda k: np.sum(interpolate.splev([0.3, 4.4], interpolate.splrep(k, np.sin(KNOTS)))), KNOTS)


REFUSED = [
    lambda v: np.sum(interpolate.RegularGridInterpolator((FIRST, SECOND), v, method="pchip")(PLACES)),
    lambda v: np.sum(interpolate.griddata(POINTS, v[0, 0] * HEIGHTS, AMONG, method="cubic")),
    lambda v: np.sum(interpolate.splev(PLACES[0], interpolate.splrep(SECOND, v[0], s=0.1))),
    lambda v: np.sum(interpolate.splev(v[0], TCK, ext=1)),
]


@pytest.mark.parametrize("fn", REFUSED)
def test_what_is_refused(fn: Any) -> None:
    with pytest.raises(AutodiffError):
        ad.grad(fn)(TABLE)
