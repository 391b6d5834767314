"""Elementary functions of our own: their errors in units in the last place, and their special values."""

from __future__ import annotations

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from autodiff_sct.compiler.numba import math_library  # noqa: E402
from autodiff_sct.runtime.scan import products_of_others  # noqa: E402

SPECIAL = [0.0, np.inf, -np.inf, np.nan, 710.0, 709.7, -745.0, -746.0, -1e4, 1e-320, 5e-324, -1.0, 1e308, 1.0, 40.0]


@pytest.fixture(scope="module")
def vectorised():
    """Each function over the elements of an array, as emitted code runs it."""

    def over(function):
        @numba.njit(error_model="numpy", fastmath={"afn", "arcp", "contract", "nsz", "reassoc"})
        def run(x):
            result = np.empty(len(x))
            for i in range(len(x)):
                result[i] = function(x[i])
            return result

        return run

    return {name: over(getattr(math_library, name)) for name in ("exp", "log", "tanh", "sign")}


def worst(found, exact):
    """The greatest error in units in the last place, where the exact value is normal."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(float)
        error = np.abs(found - exact) / np.spacing(np.abs(rounded))
        return float(np.max(error[np.isfinite(rounded) & (np.abs(rounded) > 1e-300)], initial=0.0))


@pytest.mark.parametrize(
    "name, scales, bound", [("exp", (1e-8, 0.1, 1.0, 100.0, 300.0), 1.5), ("tanh", (1e-8, 0.1, 0.5, 1.0, 10.0), 3.0)]
)
def test_close_to_exact(vectorised, name, scales, bound):
    rng = np.random.default_rng(0)
    for scale in scales:
        x = rng.normal(size=20000) * scale
        exact = getattr(np, name)(x.astype(np.longdouble))
        assert worst(vectorised[name](x), exact) <= bound


def test_logarithm_close_to_exact(vectorised):
    rng = np.random.default_rng(1)
    for scale in (1e-8, 1e-2, 0.3, 1.0, 100.0):
        x = np.exp(rng.normal(size=20000) * scale)
        assert worst(vectorised["log"](x), np.log(x.astype(np.longdouble))) <= 1.5


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sign"])
def test_special_values(vectorised, name):
    x = np.array(SPECIAL)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(vectorised[name](x), getattr(np, name)(x), rtol=1e-14)


def test_extremes_pass_nan_on():
    for a, b in [(np.nan, 1.0), (1.0, np.nan), (2.0, 1.0), (1.0, 2.0), (1.0, 1.0)]:
        assert np.array_equal(math_library.maximum(a, b), np.maximum(a, b), equal_nan=True)
        assert np.array_equal(math_library.minimum(a, b), np.minimum(a, b), equal_nan=True)


@pytest.mark.parametrize("sizes", [(3, 4, 2), (0, 4, 2), (3, 0, 2), (40, 50, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products(sizes, dtype):
    n, m, k = sizes
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(n, m)).astype(dtype), rng.normal(size=(m, k)).astype(dtype)
    cases = [
        (math_library.matrix_vector, a, b[:, 0].copy(), n),
        (math_library.vector_matrix, b[:, 0].copy(), a.T.copy(), n),
        (math_library.matrix_matrix, a, b, (n, k)),
    ]
    for function, x, y, shape in cases:
        found = function(x, y, np.full(shape, np.nan, dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, x @ y, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=1e-5)


def test_half_powers():
    x = np.array([0.0, 0.3, 2.0, 1e100, np.inf, np.nan, -1.0])
    with np.errstate(invalid="ignore", over="ignore"):
        for k in range(4):
            found = [math_library.half_power(value, k) for value in x]
            np.testing.assert_allclose(found, x ** (k + 0.5), rtol=1e-15)


def test_logaddexp():
    x = np.array([0.0, 1.0, -800.0, np.inf, -np.inf, np.nan, np.inf, 3.0])
    y = np.array([0.0, 30.0, -801.0, 1.0, -np.inf, 0.0, np.inf, np.nan])
    found = [math_library.logaddexp(a, b) for a, b in zip(x, y)]
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_places_inside():
    assert math_library.inside(np.array([[0, -3], [2, 1]]), 3)
    assert not math_library.inside(np.array([3]), 3)
    assert not math_library.inside(np.array([-4]), 3)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_half_powers_of_zeros_and_infinities(k):
    x = np.array([np.inf, -np.inf, 0.0, -0.0, -1.0, np.nan, 1e-60, 1e60, 2.0])
    with np.errstate(all="ignore"):
        expected = x ** np.full(len(x), k + 0.5)
    found = np.array([math_library.half_power(value, k) for value in x])
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert not np.signbit(found[expected == 0]).any()


@pytest.mark.parametrize("size", [0, 1, 2, 7, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_other_elements(size, dtype):
    x = np.random.default_rng(size).uniform(0.8, 1.25, size).astype(dtype)
    for zeros in (0, 1, 2):
        x[:zeros] = 0.0
        found = math_library.products_of_others(x, np.empty_like(x))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, products_of_others(x), 1e-5 if dtype == np.float32 else 1e-13)
