"""Functions of NumPy and SciPy without a rule: their text is followed, unless they are compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, laguerre, legendre, polynomial
from scipy import fft, linalg, ndimage, optimize, signal

import autodiff_sct as ad
from autodiff_sct.errors import NoRule, Refused
from tests.compiler.checked import check_gradient

X = np.array([1.2, 0.7, -0.3, 2.1, 0.5])
ONES = np.ones((5, 5))

FOLLOWED: list[Callable[[Any], Any]] = [
    optimize.rosen,
    optimize.rosen_der,
    optimize.rosen_hess,
    lambda x: chebyshev.chebval(0.3, x),
    chebyshev.chebder,
    chebyshev.chebfromroots,
    legendre.legint,
    lambda x: legendre.leggrid2d(X, X, np.outer(x, X)),
    lambda x: hermite.hermsub(x, X[:3]),
    hermite.hermcompanion,
    lambda x: polynomial.polyval(0.4, x),
    lambda x: np.kaiser(5, 2.0) * x,
    ndimage.center_of_mass,
    lambda x: signal.windows.gaussian(7, x[0]),
    lambda x: signal.windows.triang(7) @ np.tile(x, 2)[:7],
    # calls that the rule of the function does not take
    lambda x: np.polyint(x, 2, k=[1.0, 2.0]) ** 2,
    lambda x: np.poly1d(x).integ()(x[0]),
    lambda x: np.cov(np.stack([x, x**2]), fweights=[1, 2, 3, 1, 1]) ** 2,
    lambda x: np.cov(x, aweights=np.arange(1.0, 6.0)) * x,
]


@pytest.mark.parametrize("fn", FOLLOWED)
def test_texts_are_followed_where_a_derivative_passes_through(fn: Callable[[Any], Any]) -> None:
    check_gradient(lambda x: total(fn(x)), (X,))


def total(result: Any) -> Any:
    return sum(result) if isinstance(result, tuple) else np.sum(result)


def test_texts_are_not_followed_where_none_does() -> None:
    def fn(x: Any) -> Any:
        return np.sum(x * chebyshev.chebval(X, X))

    check_gradient(fn, (X,))
    assert "chebval(" in ad.adjoint_source(fn, X)


def test_what_is_compiled_is_refused_with_the_place_in_the_text() -> None:
    with pytest.raises(
        NoRule, match=r"(?s)scipy.ndimage.fourier_gaussian has no derivative rule .*where its text goes on"
    ):
        ad.grad(lambda x: np.sum(ndimage.fourier_gaussian(x, 1.0)))(X)


def written(x: Any) -> Any:
    y = np.zeros_like(x)
    ndimage.gaussian_filter1d(x, 1.0, output=y)
    return np.sum(y * y)


def written_by_place(x: Any) -> Any:
    y = np.zeros_like(x)
    ndimage.gaussian_filter1d(x, 1.0, -1, 0, y)
    return np.sum(y * y)


def written_without_a_rule(x: Any) -> Any:
    y = np.zeros_like(x)
    ndimage.percentile_filter(x, 50, 3, output=y)
    return np.sum(y * y)


@pytest.mark.parametrize("fn", [written, written_by_place, written_without_a_rule])
def test_arrays_that_scipy_writes_into_are_refused(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(Refused):
        ad.grad(fn)(X)


def test_a_number_is_no_image() -> None:
    for fn in (ndimage.gaussian_gradient_magnitude, ndimage.gaussian_laplace):
        with pytest.raises(Refused):
            ad.grad(fn)(0.3, 0.4)


def test_lists_of_rules_live_in_the_run() -> None:
    check_gradient(lambda x: np.sum(signal.decimate(np.tile(x, 8), 3) ** 2), (X,))


def solved(x: Any) -> Any:
    y = x * 2.0
    w = np.sin(y)
    return np.sum(w) + np.sum(linalg.solve(ONES + 4 * np.eye(5), y, overwrite_b=True) ** 2)


def transformed(x: Any) -> Any:
    y = x + 0j
    w = np.sum(np.abs(y * y))
    return w + np.abs(fft.fft(y, overwrite_x=True)[2])


def triangular(x: Any) -> Any:
    y = np.exp(x)
    w = np.sin(y)
    return np.sum(linalg.solve_triangular(np.tri(5), y, 0, True, False, True)) + np.sum(w)


@pytest.mark.parametrize("fn", [solved, transformed, triangular])
def test_what_may_be_overwritten_is_kept_for_the_reverse_sweep(fn: Callable[[Any], Any]) -> None:
    check_gradient(fn, (X,))


@pytest.mark.parametrize("division", [hermite.hermdiv, laguerre.lagdiv])
def test_several_results_of_a_call_carry_derivatives(division: Callable[..., Any]) -> None:
    try:
        gradient = ad.grad(division)(X, X[:2])
    except Refused:
        return
    assert np.any(gradient != 0)


# -- what was found on the way


def cast(*arrays: Any) -> Iterator[Any]:
    dtype = np.result_type(*arrays)
    return (a.astype(dtype) for a in arrays)


def unpacked(x: Any) -> Any:
    a, b = cast(x, 2 * x)
    return np.sum(a * b)


def stopped(x: Any) -> Any:
    n = np.arange(1, stop=7)
    w = n * x[0]
    return np.sum(np.concatenate([w, np.flip(w[1:])]) ** 2)


def open_grid(x: Any) -> Any:
    (g,) = np.ogrid[[slice(0, n) for n in x.shape]]
    return np.sum(x * g)


def masked(x: Any) -> Any:
    return np.sum(x) * np.ma.array(X).count()


def of_a_set(x: Any) -> Any:
    codes = {"d", "D"} & {"d"}
    return x[0] * len(min(codes, key="fdD".index))


@pytest.mark.parametrize("fn", [unpacked, stopped, open_grid, masked, of_a_set])
def test_what_library_texts_contain(fn: Callable[[Any], Any]) -> None:
    check_gradient(fn, (X,))


def weighed(x: Any) -> Any:
    counts, _ = np.histogramdd(np.stack([X, -X], 1), 3, None, None, x)
    return np.sum(counts**2)


def first_of_several(x: Any) -> Any:
    return np.sum(np.histogramdd(np.stack([X, -X], 1), 3, weights=x)[0] ** 2)


@pytest.mark.parametrize("fn", [weighed, first_of_several])
def test_a_tuple_of_a_function_that_cannot_be_followed_carries_derivatives(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(NoRule, match="histogramdd"):
        ad.grad(fn)(X)
