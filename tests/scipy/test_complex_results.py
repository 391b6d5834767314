"""Functions of real matrices whose results are complex where the eigenvalues ask for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import autodiff_sct as ad

TURNED = np.random.default_rng(0).normal(size=(3, 3))  # with a pair of complex eigenvalues and a negative one
REGULAR = np.eye(3) * 3.0 + TURNED
FUNCTIONS = [scipy.linalg.sqrtm, scipy.linalg.logm, lambda a: scipy.linalg.fractional_matrix_power(a, 0.3)]


@pytest.mark.parametrize("a", [TURNED, REGULAR], ids=["complex", "real"])
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_real_functions_of_the_result(fn: Any, a: np.ndarray) -> None:
    for program in (
        lambda a: np.sum(np.abs(fn(a)) ** 2),
        lambda a: np.sum(fn(a).real),
        lambda a: np.sum(fn(a).imag ** 2),
        lambda a: np.real(np.trace(fn(a) @ fn(a))),
    ):
        gradient = ad.grad(program)(a)
        assert gradient.dtype == np.float64
        ad.check_grads(program, (a,), order=1)
