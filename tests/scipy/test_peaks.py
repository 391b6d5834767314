"""Peaks of signals, whose places are constants, and areas below samples at places that have a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, ndimage, signal

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError


def of_smoothed(x):
    y = ndimage.gaussian_filter1d(np.tile(x, 4), 1.0)
    peaks, _ = signal.find_peaks(y)
    return np.sum(y[peaks] ** 2)


def heights(x):
    y = np.tile(x, 3) * np.sin(np.arange(3 * x.size))
    peaks, report = signal.find_peaks(y, height=0.1, distance=2, prominence=0.05)
    return np.sum(report["peak_heights"] ** 2 * peaks) + report["prominences"] @ y[peaks] + len(peaks)


def above_a_level(x):
    peaks, _ = signal.find_peaks(x, height=0.2 * x.max())
    return x[peaks].sum() if len(peaks) > 0 else x.sum()


def by_places(x):
    t = np.cumsum(np.exp(0.2 * x))
    return integrate.simpson(np.sin(t), x=t) + integrate.simpson(np.sin(t[:-1]) * x[:-1], x=t[:-1])


def of_rows(x):
    t = np.cumsum(np.exp(0.2 * x[:5]))
    rows = integrate.simpson(np.outer(t, x[:3]), x=t, axis=0)
    return np.sum(rows**2) + integrate.simpson(x[:2], x=t[:2]) + integrate.simpson(x, dx=0.1)


def up_to_a_bound(x):
    t = np.linspace(0, x[0] ** 2 + 1, 21)
    return integrate.simpson(np.exp(-t), x=t)


PROGRAMS = (of_smoothed, heights, above_a_level, by_places, of_rows, up_to_a_bound)


@pytest.mark.parametrize("size", [7, 60])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda fn: fn.__name__)
def test_peaks(program: Any, size: int) -> None:
    x = np.random.default_rng(3).normal(size=size)
    assert ad.value_and_grad(program)(x)[0] == program(x)
    ad.check_grads(program, (x,), eps=1e-4)


def test_other_reports_are_refused() -> None:
    with pytest.raises(AutodiffError, match="height, distance and prominence"):
        ad.grad(lambda x: np.sum(signal.find_peaks(x, width=1)[1]["widths"]))(np.sin(np.arange(9.0)))
