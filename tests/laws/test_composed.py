"""Rules beside other operations, in programs whose derivatives only the whole compiler gets right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_sct import grad, jvp, value_and_grad
from autodiff_sct.errors import AutodiffError
from autodiff_sct.runtime import unbroadcast

pytestmark = pytest.mark.once

RNG = np.random.default_rng(3)
X, V = RNG.uniform(0.5, 1.5, (2, 3)), np.array([1.0, 2.0, -0.5])
STACK, ONE = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3), RNG.normal(size=(1, 3, 3))


def differences(fn: Callable[..., Any], x: np.ndarray, *rest: Any) -> np.ndarray:
    step, result = 1e-6, np.zeros_like(x)
    for place in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[place] = step
        result[place] = (fn(x + moved, *rest) - fn(x - moved, *rest)) / (2 * step)
    return result


# Results whose axes are not those of the first operand.


def shortened_spectrum(x: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x, 1) * x))


def lengthened_spectrum(x: Any) -> Any:
    return np.sum(np.abs(np.fft.ifft(x, n=5)) ** 2)


def zeros_of_another_shape(x: Any) -> Any:
    return np.sum((np.zeros_like(x, shape=(1,)) + np.sum(x)) * x * x)


@pytest.mark.parametrize("fn", [shortened_spectrum, lengthened_spectrum, zeros_of_another_shape])
def test_other_axes(fn: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(fn)(V), differences(fn, V), 1e-6)


def solved(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b) * a)


def test_stack_of_equations_with_one_right_side() -> None:
    np.testing.assert_allclose(grad(solved)(STACK, ONE), differences(solved, STACK, ONE), 1e-6, 1e-8)
    found = grad(solved, 1)(STACK, ONE)
    np.testing.assert_allclose(found, differences(lambda b, a: solved(a, b), ONE, STACK), 1e-6, 1e-8)


# Derivatives of derivatives.


def running_products(x: Any) -> Any:
    return np.sum(np.cumprod(x) ** 2)


def test_tangent_of_a_function_that_is_linear_but_for_a_constant() -> None:
    """The adjoint of a running product shifts ones in, of which there is no tangent."""
    t = np.array([0.3, 0.2, -0.4])
    tangent = jvp(lambda x: grad(running_products)(x), (V,), (t,))[1]
    ahead, back = (grad(running_products)(V + step * t) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(tangent, (ahead - back) / 2e-6, 1e-6)


def fitted(x: Any, like: Any) -> Any:
    y = unbroadcast(x, like)
    return np.sum(y * y * y)


def weighted(x: Any, like: Any) -> Any:
    return np.sum(grad(fitted)(x, like) * X)


def test_fitted_derivatives_are_no_views() -> None:
    found = grad(weighted)(X, X[:, :1])
    np.testing.assert_allclose(found, differences(weighted, X, X[:, :1]), 1e-6)


# Functions that return several results, of which there happens to be one.


def counted(x: Any) -> Any:
    places = np.nonzero(x > 0)[0]
    return np.sum(x[places] * len(places))


def unpacked(x: Any) -> Any:
    (places,) = np.where(x > 0)
    (same,) = np.broadcast_arrays(x[places])
    return same * places.size


def split_in_one(x: Any) -> Any:
    return np.split(x, 1)[0] * np.ix_(x)[0] * np.meshgrid(x)[0]


@pytest.mark.parametrize("fn", [counted, unpacked, split_in_one])
def test_one_of_several_results(fn: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(fn)(V)
    np.testing.assert_array_equal(value, fn(V))
    np.testing.assert_allclose(gradient, differences(lambda x: np.sum(fn(x)), V), 1e-6)
    np.testing.assert_allclose(np.sum(jvp(fn, (V,), (np.ones(3),))[1]), np.sum(gradient))


def correlated(m: Any) -> Any:
    return np.sum(np.corrcoef(m) * np.cov(m, bias=True))


@pytest.mark.parametrize("m", [STACK[0], STACK[0][:1], V], ids=["matrix", "row", "vector"])
def test_rank_of_covariances(m: np.ndarray) -> None:
    np.testing.assert_allclose(grad(correlated)(m), differences(correlated, m), 1e-6, 1e-9)


def turned(z: Any) -> Any:
    return np.sum(np.real(np.sign(z) * (1 + 2j)))


def test_sign_of_complex_numbers() -> None:
    z = np.array([1 + 2j, 0.5 - 1j, 0j])
    expected = differences(lambda x: turned(x + 1j * z.imag), z.real) - 1j * differences(
        lambda y: turned(z.real + 1j * y), z.imag
    )
    np.testing.assert_allclose(grad(turned)(z)[:2], expected[:2], 1e-6, 1e-8)
    assert grad(turned)(z)[2] == 0
    assert grad(lambda x: np.sum(np.sign(x)))(V).tolist() == [0, 0, 0]


# Settings that only the run knows.

AT_RUN_TIME = {
    "pad": lambda x, n: np.pad(x, n),
    "pad each side": lambda x, n: np.pad(x, ((n, 0), (0, 2 * n)), "edge"),
    "pad by a list": lambda x, n: np.pad(x, [(n, 0), (0, n)]),
    "tensordot of axes": lambda x, n: np.tensordot(x, x, ([n], [n])),
    "rfft": lambda x, n: np.abs(np.fft.rfft(x, n + 3)),
    "take": lambda x, n: np.take(x, 0, n),
    "concatenate": lambda x, n: np.concatenate([x, x * x], n),
    "split": lambda x, n: np.array_split(x, 2, n)[1],
    "median": lambda x, n: np.median(x, n),
    "norm": lambda x, n: np.linalg.norm(x, axis=n),
}


@pytest.mark.parametrize("fn", AT_RUN_TIME.values(), ids=AT_RUN_TIME)
@pytest.mark.parametrize("n", [0, 1])
def test_settings_at_run_time(fn: Callable[..., Any], n: int) -> None:
    def loss(x: Any, n: Any) -> Any:
        y = fn(x, n)
        return np.sum(y * y)

    expected = differences(loss, X, n)
    np.testing.assert_allclose(grad(loss)(X, n), expected, 1e-6, 1e-8)
    tangent = jvp(lambda x: loss(x, n), (X,), (np.cos(X),))[1]
    np.testing.assert_allclose(tangent, np.sum(expected * np.cos(X)), 1e-6)


# Functions that call functions.

CALLING = {
    "piecewise": lambda x: np.piecewise(x, [x < 0, x > 1.5], [lambda t: t * t, 3.0, lambda t: t**3]),
    "piecewise, otherwise": lambda x: np.piecewise(x, [x < 0, x > 1.5], [np.sin, lambda t: t * t]) * x,
    "piecewise of numbers": lambda x: np.piecewise(x, [x < 0, x >= 0], [-1, 1]) * x,
    "numbers of lanes": lambda x: np.apply_along_axis(lambda r: np.sum(r * r) * r[0], 0, np.outer(x, x)),
    "lanes of lanes": lambda x: np.apply_along_axis(np.cumsum, 0, np.outer(x, x)),
    "sorted lanes": lambda x: np.apply_along_axis(np.sort, 1, np.outer(x, x + 0.1)),
    "matrices of lanes": lambda x: np.apply_along_axis(np.outer, 0, np.outer(x, x + 0.1), x[:2]),
    "named lanes": lambda x: np.apply_along_axis(func1d=np.diff, axis=-1, arr=np.outer(x, x * x), n=2),
    "over axes": lambda x: np.apply_over_axes(np.sum, np.outer(x, x), [0, 1]) * x,
    "over an axis": lambda x: np.apply_over_axes(np.sum, np.outer(x, x), -1) * x,
    "from places": lambda x: np.fromfunction(lambda i, j: x[0] * i + x[1] * j * j, (2, 3)),
    "from whole places": lambda x: np.fromfunction(lambda i: x * i, (3,), dtype=int),
}


@pytest.mark.parametrize("fn", CALLING.values(), ids=CALLING)
def test_functions_that_call_functions(fn: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(fn)(V)
    np.testing.assert_array_equal(value, fn(V))
    np.testing.assert_allclose(gradient, differences(lambda x: np.sum(fn(x)), V), 1e-6, 1e-8)


# Lists where NumPy reads arrays.

WEIGHTS = [1, 2, 3]
OF_LISTS = {
    "cross": lambda v: np.cross(v, [1.0, 2.0, 3.0]),
    "cross, second": lambda v: np.cross([1, 2, 3], v),
    "convolve": lambda v: np.convolve(v, [1, -2, 1], "same"),
    "dot with a global": lambda v: np.dot(v, WEIGHTS) * v,
    "method dot": lambda v: v.dot([1, 2, 3]) * v,
    "matmul": lambda v: [[1, 2, 3], [0, 1, 0]] @ v,
    "matmul, first": lambda v: v @ [[1, 2], [3, 4], [5, 6]],
    "power": lambda v: np.power(v, [0, 1, 2]),
    "operator": lambda v: v ** [0, 1, 2],
    "arctan2": lambda v: np.arctan2([1.0, 2.0, 3.0], v),
    "tensordot": lambda v: np.tensordot(v, [1, 2, 3], 1) * v,
    "einsum": lambda v: np.einsum("i,i->", v, [1, 2, 3]) * v,
    "einsum by lists": lambda v: np.einsum(v, [0], [1, 2, 3], [1], [1, 0]),
    "einsum by lists, implicit": lambda v: np.einsum(v, [0], v, [0]) * v,
    "average": lambda v: np.average(v, weights=[1, 2, 3]) * v,
    "trapezoid": lambda v: np.trapezoid(v, [0, 1, 3]) * v,
    "gradient": lambda v: np.gradient(v, [0, 1, 3]),
    "concatenate": lambda v: np.concatenate([[1.0], v, [2, 3]]),
    "stack": lambda v: np.stack([v, [1, 2, 3]]),
    "solve": lambda v: np.linalg.solve([[2.0, 1.0, 0], [0, 3.0, 1], [1, 0, 2]], v),
}


@pytest.mark.parametrize("fn", OF_LISTS.values(), ids=OF_LISTS)
def test_lists_where_numpy_reads_arrays(fn: Callable[..., Any]) -> None:
    def loss(v: Any) -> Any:
        y = fn(v)
        return np.sum(y * y)

    np.testing.assert_array_equal(value_and_grad(fn)(V)[0], fn(V))
    np.testing.assert_allclose(grad(loss)(V), differences(loss, V), 1e-5, 1e-7)


# Constants whose dtype only their numbers tell.

TURN = np.array([[0.0, -1.0], [1.0, 0.0]])
OF_UNKNOWN_DTYPE = {
    "eigenvalues": lambda: np.linalg.eig(TURN)[0],
    "eigenvectors": lambda: np.linalg.eig(TURN)[1][0],
    "eigvals": lambda: np.linalg.eigvals(TURN),
    "roots": lambda: np.roots(np.array([1.0, 0.0, 1.0])),
    "roots of negative numbers": lambda: np.emath.sqrt(np.array([-1.0, 4.0])),
    "real if close": lambda: np.real_if_close(np.array([1.0 + 0j, 2.0 + 1j])),
}


@pytest.mark.parametrize("constant", OF_UNKNOWN_DTYPE.values(), ids=OF_UNKNOWN_DTYPE)
def test_constants_that_may_be_complex(constant: Callable[[], Any]) -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.abs(x * constant() + 0.5))

    found = grad(loss)(V[:2])
    assert found.dtype == float
    np.testing.assert_allclose(found, differences(loss, V[:2]), 1e-6)


# Methods and attributes whose functions take their array elsewhere.


def compressed(x: Any) -> Any:
    return x.compress([True, False, True], axis=1) * x[:, :2]


def matrices_transposed(x: Any) -> Any:
    return np.stack([x, x * x]).mT * 2.0


@pytest.mark.parametrize("fn", [compressed, matrices_transposed])
def test_methods(fn: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(fn)(X)
    np.testing.assert_array_equal(value, fn(X))
    np.testing.assert_allclose(gradient, differences(lambda x: np.sum(fn(x)), X), 1e-6)
    np.testing.assert_allclose(np.sum(jvp(fn, (X,), (np.ones_like(X),))[1]), np.sum(gradient))


# Calls that a rule refuses.

REFUSED = {
    "complete factors": lambda x: np.linalg.qr(x, "complete")[0],
}


@pytest.mark.parametrize("fn", REFUSED.values(), ids=REFUSED)
def test_refusals_are_located(fn: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.abs(fn(x)))

    for derive in (lambda: grad(loss)(STACK[0]), lambda: jvp(loss, (STACK[0],), (STACK[0],))):
        with pytest.raises(AutodiffError, match=r"(?s)test_composed.py:.*np\."):
            derive()


def test_a_tuple_is_no_list() -> None:
    """Cut where only the run tells, it is a tuple, which is no list to a comparison."""

    def loss(x: Any, k: Any) -> Any:
        return np.sum(x) * (1.0 if x.shape[:k] == (2,) else 2.0)

    of_axes = grad(loss)
    assert (of_axes(X, 1)[0, 0], of_axes(X, 2)[0, 0]) == (1, 2)
    assert grad(lambda x: loss(x, 1))(X)[0, 0] == 1
