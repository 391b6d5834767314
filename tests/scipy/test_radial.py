"""Programs that interpolate by radial basis functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.interpolate import RBFInterpolator

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from autodiff_sct.runtime.scipy.scattered import KERNELS, SCALE_FREE
from tests.scipy.checked import check_program

RNG = np.random.default_rng(43)
POINTS, VALUES, SEVERAL, PLACES = (RNG.normal(size=shape) for shape in ((12, 2), 12, (12, 3), (5, 2)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels(kernel: str) -> None:
    scaled = {} if kernel in SCALE_FREE else {"epsilon": 1.3}
    check_program(lambda d, x: np.sum(np.sin(RBFInterpolator(POINTS, d, kernel=kernel, **scaled)(x))), VALUES, PLACES)


def test_points_and_settings() -> None:
    check_program(lambda y, d: np.sum(np.sin(RBFInterpolator(y, d)(PLACES))), POINTS, VALUES)
    check_program(
        lambda d: np.sum(np.sin(RBFInterpolator(POINTS, d, smoothing=0.3, degree=0, kernel="linear")(PLACES))), SEVERAL
    )

    def by_settings(smoothing: Any, epsilon: Any) -> Any:
        made = RBFInterpolator(POINTS, VALUES, smoothing=smoothing, epsilon=epsilon, kernel="gaussian", degree=-1)
        return np.sum(np.sin(made([[0.1, 0.2], [0.3, 0.4]])))

    check_program(by_settings, 0.4, 1.2)
    line = np.linspace(0.0, 1.0, 12)[:, None]
    check_program(lambda d: np.sum(np.sin(RBFInterpolator(line, d)(np.array([[0.3]])))), VALUES)


def test_what_is_refused() -> None:
    for settings in ({"neighbors": 3}, {"degree": 3, "kernel": "cubic"}, {"epsilon": 2.0}):
        with pytest.raises(AutodiffError, match="RBFInterpolator with"):
            ad.grad(lambda d: np.sum(RBFInterpolator(POINTS, d, **settings)(PLACES)))(VALUES)
