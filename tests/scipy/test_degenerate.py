"""SciPy's decompositions at equal eigenvalues and singular values: right in both modes, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import autodiff_sct as ad
from autodiff_sct.errors import NotDifferentiable
from autodiff_sct.rules import table
from autodiff_sct.rules.table import load_optional
from autodiff_sct.runtime.linalg import degenerate

RNG = np.random.default_rng(0)
C, WAY = RNG.normal(size=(2, 4, 4))
METRIC = np.diag([1.0, 2.0, 3.0, 4.0])
Q = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
POINTS = [np.eye(4), np.diag([1.0, 1.0, 2.0, 3.0]), Q @ np.diag([1.0, 2.0, 2.0, 2.0]) @ Q.T, RNG.normal(size=(4, 4))]


def exponential(a: Any) -> Any:
    w, v = linalg.eigh(a + a.T)
    return np.sum((v * np.exp(w)) @ v.T * C)


def generalised(a: Any) -> Any:
    w, v = linalg.eigh((a + a.T) @ METRIC + METRIC @ (a + a.T), METRIC)
    return np.sum((v * np.exp(0.1 * w)) @ v.T * C)


def values_alone(a: Any) -> Any:
    return np.sum(np.cos(linalg.eigvalsh(a + a.T)))


def polar_factor(a: Any) -> Any:
    u, _, vh = linalg.svd(a)
    return np.sum((u @ vh) * C)


def nuclear_norm(a: Any) -> Any:
    return np.sum(linalg.svdvals(a))


def of_any_matrix(a: Any) -> Any:
    w, v = linalg.eig(a @ a.T)
    return np.real(np.sum(((v * np.exp(w)) @ np.linalg.inv(v)) * C))


def one_vector(a: Any) -> Any:
    _, v = linalg.eigh(a + a.T)
    return np.sum(v[:, 0] ** 2 * C[0])


@pytest.mark.parametrize("a", POINTS)
@pytest.mark.parametrize("f", [exponential, generalised, values_alone, polar_factor, nuclear_norm, of_any_matrix])
def test_right(f: Callable[[Any], Any], a: np.ndarray) -> None:
    h = 1e-4
    wanted = (8 * (f(a + h * WAY) - f(a - h * WAY)) - f(a + 2 * h * WAY) + f(a - 2 * h * WAY)) / (12 * h)
    np.testing.assert_allclose(np.sum(ad.grad(f)(a) * WAY), wanted, rtol=1e-5)
    with np.errstate(invalid="ignore"):  # of a complex number over NaN
        np.testing.assert_allclose(ad.jvp(f, (a,), (WAY,))[1], wanted, rtol=1e-5)


def test_what_depends_on_the_basis_is_refused() -> None:
    with pytest.raises(NotDifferentiable):
        ad.grad(one_vector)(np.eye(4))


def test_every_rule_that_may_find_a_degenerate_spectrum_has_a_perturbed_function() -> None:
    load_optional()
    for row in table.TABLE.values():
        names: set[str] = set()
        for rule in filter(None, (row.reverse, row.forward)):
            names |= set(rule.__code__.co_names)
        if names & {"eigh_adjoint", "eig_adjoint", "svd_adjoint", "svd_tangent", "infinite_at_equal", "nan_at_equal"}:
            perturbed = {other.perturbed for other in table.TABLE.values()}
            assert row.perturbed is not None or row.fn in perturbed, row.fn


def test_what_is_not_perturbed_is_refused_near_a_degenerate_point() -> None:
    equal = np.array([1.0, 1.0])
    gaps, inner = equal[None, :] - equal[:, None], np.array([[0.0, 1.0], [2.0, 0.0]])
    with degenerate.perturbation(0.0):
        degenerate.infinite_at_equal(gaps, inner, equal)
    with degenerate.perturbation(1.0), pytest.raises(NotDifferentiable):
        degenerate.infinite_at_equal(gaps, inner, equal)
    with degenerate.perturbation(1.0):
        assert np.isnan(degenerate.nan_at_equal(gaps, inner, equal)[0, 1])
