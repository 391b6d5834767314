"""Singular vectors of complex matrices: a derivative where a result does not depend on their phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import autodiff_sct as ad
from autodiff_sct.errors import NoRule

RNG = np.random.default_rng(0)
SHAPES = [(3, 5), (5, 3), (4, 4), (2, 4, 3)]


def magnitudes(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.abs(u) ** 3) + np.sum(np.sin(s)) + np.sum(np.abs(vh) ** 3 * np.arange(vh.shape[-1]))


def unitary_factor(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.real((u @ vh) ** 2 * (1 + 2j))) + np.sum(np.imag((u * s[..., None, :]) @ vh))


def projection(a: Any) -> Any:
    u = np.linalg.svd(a, full_matrices=False)[0][..., :1]
    return np.sum(np.real(u @ np.conj(np.swapaxes(u, -1, -2)))[..., 0, 1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fn", [magnitudes, unitary_factor, projection])
def test_both_modes_and_both_orders(fn: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    ad.check_grads(fn, (RNG.normal(size=shape) + 1j * RNG.normal(size=shape),))


def test_a_real_matrix_made_complex() -> None:
    ad.check_grads(lambda x: magnitudes(x + 1j), (RNG.normal(size=(4, 3)),))


def test_scipy() -> None:
    def fn(a: Any) -> Any:
        u, s, vh = linalg.svd(a, full_matrices=False)
        return np.sum(np.abs(u @ vh) ** 3) + np.sum(s)

    ad.check_grads(fn, (RNG.normal(size=(4, 3)) + 1j * RNG.normal(size=(4, 3)),))


def test_a_result_that_depends_on_the_phase_is_refused() -> None:
    def fn(a: Any) -> Any:
        return np.sum(np.real(np.linalg.svd(a, full_matrices=False)[0]))

    with pytest.raises(NoRule, match="phase of np.linalg.svd's singular vectors"):
        ad.grad(fn)(RNG.normal(size=(4, 3)) + 1j * RNG.normal(size=(4, 3)))
