"""Integrals over regions, and filters that start from a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import integrate, signal

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

RNG = np.random.default_rng(37)
INTEGRALS = [
    lambda a: integrate.dblquad(lambda y, x: x * y**a, 0, 2, 0, 1)[0],
    lambda a: integrate.dblquad(lambda y, x: np.exp(-a * x) * y, 0, a, lambda x: 0.1 * x, lambda x: 1 - a * x / 2)[0],
    lambda a: integrate.dblquad(lambda y, x, s: np.exp(-s * x * y), 0.0, 1.0, 0.0, a, args=(a,), epsabs=1e-10)[0],
    lambda a: integrate.tplquad(lambda z, y, x: a * x * y * z, 1, 2, 2, 3, 0, a)[0],
    lambda a: integrate.tplquad(lambda z, y, x: x + y * z, 0, a, 0, lambda x: x, lambda x, y: x * y, lambda x, y: a)[0],
    lambda a: integrate.nquad(lambda x, y: x * y * a, [lambda y: [0, 1 - a * y], [0, 0.5]])[0],
    lambda a: integrate.nquad(lambda x, y, s: np.exp(-s * x * y), [[0, 1], [0, a]], args=(a,))[0],
    lambda a: integrate.nquad(lambda x, s: np.exp(-s * x), [lambda s: (0, s)], args=(a,))[0],
]


@pytest.mark.parametrize("fn", INTEGRALS)
def test_integrals_over_regions(fn: Any) -> None:
    check_program(fn, 0.8, step=1e-4, second=False)


def test_second_derivatives_of_integrals_over_regions() -> None:
    check_program(lambda a: integrate.dblquad(lambda y, x: np.exp(-a * x * y), 0, 1, 0, 1)[0], 0.8, step=1e-4)


def test_what_integrals_over_regions_refuse() -> None:
    for fn in (
        lambda a: integrate.dblquad(lambda y, x: a * x * y, 0, 1, 0, 1)[1],
        lambda a: integrate.nquad(lambda x, y: a * x * y, [[0, 1], [0, 1]], opts={"epsabs": 1e-3})[0],
        lambda a: integrate.nquad(lambda x, y, z, w: a * x, [[0, 1]] * 4)[0],
    ):
        with pytest.raises(AutodiffError):
            ad.grad(fn)(0.8)


@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_cumulative_integrals_by_parabolas(n: int) -> None:
    def fn(y: Any, x: Any) -> Any:
        along = integrate.cumulative_simpson(y, x=np.cumsum(x**2), axis=0, initial=x[0])
        return np.sum(along**3) + np.sum(integrate.cumulative_simpson(y[:, 0], dx=x[0] ** 2, initial=0) ** 2)

    check_program(fn, RNG.normal(size=(n, 2)), 1.0 + RNG.uniform(size=n), second=n == 4)
    check_program(lambda y: np.sum(integrate.cumulative_simpson(y, x=np.arange(n) ** 2) ** 3), RNG.normal(size=(2, n)))


LOW = signal.butter(3, 0.2)
SECTIONS = signal.butter(4, 0.3, output="sos")


@pytest.mark.parametrize("n", [1, 2, 40])
def test_filters_from_a_state(n: int) -> None:
    wave, start = RNG.normal(size=n), RNG.normal(size=2)

    def fn(b: Any, a: Any, x: Any, zi: Any) -> Any:
        y, end = signal.lfilter(b, a, x, zi=zi)
        return np.sum(y**2) + np.sum(end**3)

    b, a = np.array([0.4, 0.3, 0.1]), np.array([1.3, -0.4, 0.2])
    check_program(fn, b, a, wave, start, second=n == 40)
    check_program(lambda x, zi: fn(b[:2], a, x, zi), wave, start, second=False)

    def twice(x: Any) -> Any:
        zi = signal.lfilter_zi(*LOW)
        y, _ = signal.lfilter(*LOW, x, zi=zi * x[0])
        z, end = signal.lfilter(*LOW, y, zi=zi * y[0])
        return np.sum(z**2) + np.sum(end)

    check_program(twice, wave, second=False)


def test_sections_and_axes() -> None:
    zi = signal.sosfilt_zi(SECTIONS)
    check_program(lambda x: np.sum(signal.sosfilt(SECTIONS, x, zi=zi * x[0])[0] ** 2), RNG.normal(size=30))
    rows, start = RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2))
    fn = lambda x, zi: np.sum(signal.lfilter(*LOW, x, axis=0, zi=zi)[0] ** 3)
    check_program(fn, rows, start)
    check_program(lambda x, zi: np.sum(signal.lfilter(*LOW, x, zi=zi)[1] ** 3), rows.T.copy(), start.T.copy())
    check_program(lambda x, zi: np.sum(signal.lfilter(*LOW, x, zi=zi)[1] ** 3), rows.T, start.T)
