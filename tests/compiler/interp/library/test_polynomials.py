"""Polynomials as objects: NumPy's classes of them, and what their texts stand on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Legendre, Polynomial, polyutils

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, check_tangent

X = np.array([0.7, -0.4, 1.3])


def with_zeros(x: Any) -> Any:
    return np.concatenate([np.zeros(2), x, np.zeros(1)])


def arithmetic(x: Any) -> Any:
    p = Polynomial(x)
    return (p.deriv() * p - 2 * p)(0.3)


def quotient(x: Any) -> Any:
    return (Polynomial(x) // Polynomial(x[:2]))(0.2)


def windowed(x: Any) -> Any:
    p = Chebyshev(x, domain=[0, 2])
    return p(0.3) ** 2 + p.integ(lbnd=0.1)(0.3) + (p * p)(0.2) + np.sum(p.coef)


def fitted(x: Any) -> Any:
    p = Legendre.fit(np.linspace(0.0, 1.0, len(x)), x, 2)
    return p(0.3) + p.deriv()(x[1]) + np.sum(p.linspace(5)[1])


def interpolated(x: Any) -> Any:
    p = Chebyshev.interpolate(lambda t: np.exp(-t * x[0]), 5)
    return p(0.3) + p.deriv()(x[1])


def poly1d(x: Any) -> Any:
    p = np.poly1d(x)
    return (p * p)(0.3) + p.deriv()(0.2) + (p + 1)(0.1) + p[1] + (2 * p - p)(0.3) + np.sum(p.c) + np.polyval(p, x[0])


def roots(x: Any) -> Any:
    p = np.poly1d([1.0, -4.0 - 0.1 * x[0] ** 2, 1.0])
    return np.sum(p.r.real**2) + np.poly1d(x, True)(0.4)


def products(x: Any) -> Any:
    whole, rest = np.polydiv(np.polymul(x, x), np.array([1.0, x[0]]))
    return np.sum(whole**2) + np.sum(rest**3)


PROGRAMS: list[Callable[[Any], Any]] = [arithmetic, quotient, windowed, fitted, interpolated, poly1d, roots, products]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_polynomials(fn: Callable[[Any], Any]) -> None:
    check_gradient(fn, (X,))
    check_tangent(fn, (X,))
    assert ad.value_and_grad(fn)(X)[0] == fn(X)


def test_leading_zeros_of_a_polynomial_are_left_out() -> None:
    check_gradient(lambda x: np.poly1d(with_zeros(x))(0.3) ** 2, (X,))
    check_gradient(lambda x: Polynomial(with_zeros(x)).trim()(0.3) ** 2, (X,))


@pytest.mark.parametrize("trim", ["fb", "f", "B"])
def test_zeros_at_both_ends_are_left_out(trim: str) -> None:
    check_gradient(lambda x: np.sum(np.trim_zeros(with_zeros(x), trim) ** 2 * X[0]), (X,))
    check_gradient(lambda x: np.sum(x) + np.sum(np.trim_zeros(0.0 * x, trim)), (X,))


def test_substitutes_compute_what_numpy_does() -> None:
    from autodiff_sct.compiler.interp.library import substitutes

    for c in ([1.0, 2.0, 0.0], [0.0], [0, 0, 3], [1j, 0.0], np.arange(4.0)[::-1]):
        for trim in (True, False):
            same(substitutes.as_series([c, [1]], trim), polyutils.as_series([c, [1]], trim))
        for d in ([1.0], [0.5, -2.0, 1.0, 4.0]):
            same(substitutes.added(c, d), polyutils._add(c, d))
            same(substitutes.subtracted(c, d), polyutils._sub(c, d))
            same(substitutes.divided(c, d), np.polynomial.polynomial.polydiv(c, d))
            same(substitutes.divided(d, [1.0, 3.0]), np.polynomial.polynomial.polydiv(d, [1.0, 3.0]))
        same(substitutes.mapdomain(c, [-1, 1], [0, 3]), polyutils.mapdomain(c, [-1, 1], [0, 3]))
        for ends in ("fb", "f", "b"):
            same(substitutes.trim_zeros(c, ends), np.trim_zeros(c, ends))
    for ends in ({}, {"to_end": [1, 2.5]}, {"to_begin": 3.0}, {"to_begin": [[1.0]], "to_end": ()}):
        same(substitutes.ediff1d([[1.0, 4.0], [2.0, 7.0]], **ends), np.ediff1d([[1.0, 4.0], [2.0, 7.0]], **ends))
    for x, period in ((np.linspace(-9, 9, 7), 5), (np.array(3.3), -4.0), ([0.1, 99.0], 2.5)):
        given = (x, [0.4, 3.0, 1.1, 2.2], [1.0, -2.0, 0.5, 3.0])
        same(np.ravel(substitutes.interp(*given, period=period)), np.ravel(np.interp(*given, period=period)))


def test_differences_with_ends_and_periodic_interpolation() -> None:
    check_gradient(lambda x: np.sum(np.ediff1d(x, to_begin=x[0] ** 2, to_end=[1.0, 2.0]) ** 2), (X,))
    heights = np.array([0.3, 1.2, -0.4])
    check_gradient(lambda x, y: np.sum(np.interp(7 * x, np.arange(3.0), y, period=3.0) ** 2), (X, heights))
    check_gradient(lambda p: np.sum(np.interp([0.2, 1.9], p, heights, period=4.0) ** 2), (np.array([0.1, 2.7, 1.4]),))


def same(ours: Any, theirs: Any) -> None:
    """Assert that two results are of the same types and have the same bits."""
    for a, b in zip([*ours], [*theirs], strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b)


def test_the_dict_of_an_object_is_its_fields() -> None:
    def fn(x: Any) -> Any:
        state = SimpleState(x)
        state.__dict__["speed"] = 2.0 * state.__dict__["place"]
        vars(state).update(mass=x[0])
        return np.sum(state.speed * state.place) * state.mass + len(vars(state))

    check_gradient(fn, (X,))


class SimpleState:
    speed: Any
    mass: Any

    def __init__(self, place: Any) -> None:
        self.place = place


def test_an_object_is_the_array_that_it_says() -> None:
    class Measured:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.values

    check_gradient(lambda x: np.sum(np.sin(Measured(x))) + np.dot(Measured(x * x), x) + np.std(Measured(x)), (X,))


def test_compiling_a_second_derivative_of_a_product_ends() -> None:
    """The emitted gradient holds a refusal for a path; it is the same program each time that it is emitted."""

    def product(x: Any) -> Any:
        p = Polynomial([1.0, x[0], x[1]])
        return (p.deriv() * p)(0.3)

    x = np.array([0.5, 0.7])
    np.testing.assert_allclose(ad.grad(product)(x), [1 + 0.6 * x[0] + 0.27 * x[1], 0.6 + 0.27 * x[0] + 0.108 * x[1]])
    with pytest.raises(ad.AutodiffError):
        ad.grad(lambda z: np.sum(ad.grad(product)(z) ** 2))(x)
