"""The functions of SciPy that have rules: the laws of the table, and their derivatives by the compiler."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import linalg, special

import autodiff_sct as ad
from autodiff_sct.errors import NoRule
from autodiff_sct.rules.table import TABLE, Rule
from tests.laws.checker import Case, check, full_name, is_inexact, leaves
from tests.laws.test_rules import referred_to
from tests.scipy import arrays, bessel, distributions, equations, factors, images, integrals, structured
from tests.scipy import linalg as of_linalg
from tests.scipy import special as of_special

MODULES = (of_special, arrays, images, bessel, distributions, integrals, of_linalg, factors, equations, structured)
CASES = [item for module in MODULES for item in module.CASES]
HOMES = {TABLE[item.fn].home for item in CASES}
STAND_INS = {row.perturbed for row in TABLE.values()}  # near degenerate spectra: see `test_degenerate`
ROWS = [row for row in TABLE.values() if row.home in HOMES and row.fn not in STAND_INS]
ONCE = {special.elliprf}  # whose second derivative is refused
RNG = np.random.default_rng(5)


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("item", CASES, ids=str)
def test_laws(item: Case) -> None:
    check(item.fn, *item.args, **item.kwargs)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: full_name(row.fn))
def test_row(row: Rule) -> None:
    assert row.reverse is not None and (row.forward is not None or row.kind == "linear")
    assert any(item.fn is row.fn for item in CASES)
    assert row.fn in ONCE or all(fn.__module__.startswith("autodiff_sct") for fn in referred_to(row))


def total(item: Case, x: Any, places: Any) -> Any:
    """A number that depends on all of a result, as a function of the last array that is given."""
    given, place = item.args, place_of(item)
    result = item.fn(*given[:place], x, *given[place + 1 :], **item.kwargs)
    if places is None:
        return np.sum(np.sin(np.real(result)))
    return sum([np.sum(np.sin(np.real(result[k]))) for k in places])


def place_of(item: Case) -> int:
    return max(k for k, a in enumerate(item.args) if isinstance(a, np.ndarray) and is_inexact(a))


def places_of(item: Case) -> Any:
    """The results that are differentiable numbers, where there are several."""
    result = item.fn(*item.args, **item.kwargs)
    return tuple(k for k, part in enumerate(result) if is_inexact(part)) if isinstance(result, tuple) else None


TURNING = {linalg.svd, linalg.eig}  # the signs or phases of their vectors are arbitrary
REAL = [item for item in CASES if not any(map(np.iscomplexobj, leaves(item.args))) and item.fn not in TURNING]


@pytest.mark.parametrize("item", REAL, ids=str)
def test_derivatives_by_the_compiler(item: Case) -> None:
    x, places = item.args[place_of(item)], places_of(item)
    way = RNG.normal(size=x.shape)

    def fn(x: Any) -> Any:
        return total(item, x, places)

    value, gradient = ad.value_and_grad(fn)(x)
    np.testing.assert_array_equal(value, fn(x))
    h = 1e-6
    slope = (fn(x + h * way) - fn(x - h * way)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient * way), slope, 1e-5, 1e-6)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (way,))[1], slope, 1e-5, 1e-6)
    if item.fn in ONCE:
        return
    derivative = ad.grad(fn)
    curved = (derivative(x + h * way) - derivative(x - h * way)) / (2 * h)
    second = ad.grad(lambda x: np.sum(ad.grad(fn)(x) * way))(x)
    np.testing.assert_allclose(second, curved, 1e-4, 1e-4 * max(1.0, float(np.max(np.abs(curved)))))


def test_settings_without_a_derivative_are_refused() -> None:
    a = np.eye(3) + 0.1
    refused = [
        lambda a: np.sum(linalg.qr(a[:, :2])[0]),
        lambda a: np.sum(linalg.inv(a, assume_a="diagonal")),
        lambda a: np.sum(linalg.polar(a[:2])[0]),
        lambda a: np.real(special.logsumexp(a + 1j, return_sign=True)[0]),
    ]
    for fn in refused:
        with pytest.raises((NotImplementedError, ad.AutodiffError)):
            ad.grad(fn)(a)


def test_what_is_refused_is_named_in_full() -> None:
    with pytest.raises(NoRule, match=r"scipy.special.jv has no derivative with respect to 'v'"):
        ad.grad(lambda v: special.jv(v, 2.0))(0.5)
    with pytest.raises(NoRule, match=r"scipy.special.jv has no derivative with respect to 'v'"):
        ad.jvp(lambda v: special.jv(v, 2.0), (0.5,), (1.0,))
    with pytest.raises(NoRule, match=r"(?s)scipy.linalg.ordqz has no .*def ordqz_rule\(y, d, A, B, sort="):
        ad.grad(lambda a: np.sum(linalg.ordqz(a, a)[0]))(np.eye(2))
    with pytest.raises(NoRule, match=r"(?s)returns what scipy.special.btdtria .*reverse\(scipy.special.btdtria\)"):
        ad.grad(lambda p: special.btdtria(p, 2.0, 0.3))(0.5)


def test_masked_elements_have_strong_zeros() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0])
    fn = lambda x: np.sum(np.where((x > 0) & (x < 1), special.logit(x), 0.0))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(fn)(x), [0.0, 0.0, 4.0, 0.0])
    far = np.array([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf]])
    found = ad.grad(lambda a: np.sum(special.logsumexp(a, axis=1)))(far)
    np.testing.assert_allclose(found, [[0.0, *special.softmax([0.0, 1.0])], [0.0, 0.0, 0.0]])


def test_functions_imported_where_they_are_called() -> None:
    def fn(x: Any) -> Any:
        from scipy.special import erf

        return np.sum(erf(x))

    x = np.linspace(-1, 1, 5)
    np.testing.assert_allclose(ad.grad(fn)(x), 2 / np.sqrt(np.pi) * np.exp(-(x**2)))
    np.testing.assert_allclose(ad.grad(special.erf)(0.5), 2 / np.sqrt(np.pi) * np.exp(-0.25))


def test_the_package_does_not_import_scipy() -> None:
    text = "import sys, numpy, autodiff_sct as ad; ad.grad(numpy.sum)(numpy.ones(3)); sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0
