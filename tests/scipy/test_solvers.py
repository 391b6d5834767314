"""Integrals, roots, minima and fits: programs that give SciPy a function of what is differentiated."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import integrate, linalg, optimize, special

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError, NotDifferentiable
from tests.scipy.checked import check_program

W = np.array([0.5, 1.0, 0.3])
X = np.linspace(0.0, 1.0, 9)
Y = 2 * np.exp(-1.3 * X) + 0.05 * np.sin(20 * X)
ITERATED = {"step": 1e-4, "rtol": 1e-3}  # for solvers with tolerances of about 1e-8


def bell(x: Any, a: Any) -> Any:
    return np.exp(-a * x**2)


def cubic(x: Any, a: Any) -> Any:
    return x**3 + a * x - 2


def decay(x: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * x)


def test_integrals() -> None:
    check_program(lambda a: integrate.quad(bell, 0.0, 2.0, args=(a,))[0], 1.3)
    check_program(lambda a: integrate.quad(lambda x: np.sin(a * x), 0.0, 1.0)[0], 1.3)
    check_program(lambda a, b: integrate.quad(lambda x: np.sin(a * x), a, b)[0], 0.3, 1.2)
    check_program(lambda a: integrate.quad(lambda x: np.exp(-a * x * x), -np.inf, np.inf)[0], 1.3)
    check_program(lambda w: integrate.quad(lambda x: np.sum(np.cos(w * x)), 0, 1.0)[0], W)
    check_program(lambda w: np.sum(integrate.quad_vec(lambda x: np.cos(w * x), 0, 1.0)[0] ** 2), W)


def test_an_error_estimate_has_no_derivative() -> None:
    with pytest.raises((AutodiffError, NotImplementedError), match="estimate"):
        ad.grad(lambda a: integrate.quad(bell, 0.0, 2.0, args=(a,))[1])(1.3)


def test_roots_of_numbers() -> None:
    for solver in (optimize.brentq, optimize.brenth, optimize.ridder, optimize.bisect, optimize.toms748):
        check_program(lambda a: solver(lambda t: t**3 - a, 0.0, 4.0), 1.3)
    check_program(lambda a: optimize.brentq(cubic, 0.0, 4.0, args=(a,), xtol=1e-14), 1.3)
    check_program(lambda a: optimize.newton(lambda t: t**3 - a, 1.0), 1.3)
    check_program(lambda a: optimize.newton(lambda t: t**3 - a, 1.0, fprime=lambda t: 3 * t**2), 1.3)
    check_program(lambda a: optimize.root_scalar(lambda t: t**3 - a, bracket=[0.0, 4.0]).root, 1.3)
    check_program(lambda a: optimize.root_scalar(lambda t: t**3 - a, x0=1.0, x1=2.0).root, 1.3)
    check_program(lambda a: optimize.fixed_point(lambda x: np.cos(a * x), 0.5), 0.9, rtol=1e-4)
    check_program(lambda a: a * optimize.fixed_point(np.cos, 0.5), 0.9)


def test_what_a_function_captures() -> None:
    """Arrays that are overwritten later, items of dicts, attributes of objects, and integrals of roots."""

    class Model:
        def __init__(self, k: Any) -> None:
            self.k = k

        def residual(self, x: Any) -> Any:
            return x**3 - self.k

    def overwritten(a: Any) -> Any:
        w = np.array([a, 1.0])
        first = integrate.quad(lambda x: w[0] * x, 0, 1)[0]
        w[0] = 5.0
        return first * w[1] + integrate.quad(lambda x: w[0] * x, 0, 1)[0]

    def in_dict(a: Any) -> Any:
        p = {"a": a, "b": 2.0}
        return integrate.quad(lambda x: p["a"] * x ** p["b"], 0, 1)[0]

    def in_loop(a: Any) -> Any:
        total = 0.0
        for k in range(3):
            total = total + optimize.brentq(lambda y: y**3 + y - a * k, -1.0, 5.0)
        return total

    check_program(overwritten, 1.3)
    check_program(in_dict, 1.3)
    check_program(in_loop, 1.3)
    check_program(lambda a: optimize.brentq(Model(a).residual, 0.0, 5.0), 1.3)
    inner = lambda a: integrate.quad(lambda x: optimize.brentq(lambda y: y**3 + y - a * x, -1.0, 5.0), 0.0, 1.0)[0]
    check_program(inner, 1.3, second=False)


def test_roots_of_systems() -> None:
    def circle(a: Any, w: Any) -> Any:
        found = optimize.fsolve(lambda x: [x[0] * np.cos(x[1]) - a, x[1] * x[0] - x[1] - w[0]], np.array([1.0, 1.0]))
        return np.sum(found**2)

    check_program(circle, 4.0, W)
    check_program(lambda w: np.sum(optimize.root(lambda x: x**3 + x - w, np.ones(3)).x ** 2), W)
    check_program(lambda w: np.sum(optimize.fixed_point(lambda x: np.cos(w * x), 0.5 * np.ones(3), xtol=1e-12)), W)


def test_minima() -> None:
    def minimum(w: Any) -> Any:
        return optimize.minimize(lambda x: np.sum((x - w) ** 4 + (x - w**2) ** 2), np.zeros(3), tol=1e-10)

    check_program(lambda w: np.sum(minimum(w).x ** 2), W, **ITERATED)
    check_program(lambda w: minimum(w).fun, W, **ITERATED)
    check_program(lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 4 + (x - 1) ** 2).x, 1.7, **ITERATED)
    inside = lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 4 + (x - 1) ** 2, bounds=(0, 5)).x
    check_program(inside, 1.7, step=1e-2, rtol=1e-2)
    with pytest.raises(AutodiffError, match="at a bound"):
        ad.grad(lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0, 1)).x)(1.7)


def test_fits() -> None:
    check_program(lambda y: np.sum(optimize.curve_fit(decay, X, y, p0=[1.0, 1.0])[0] ** 2), Y, **ITERATED)

    def residual(p: Any, y: Any) -> Any:
        return decay(X, p[0], p[1]) - y

    def fit(y: Any) -> Any:
        found = optimize.least_squares(residual, np.ones(2), args=(y,), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        return np.sum(found.x**2) + found.cost

    check_program(fit, Y, **ITERATED)

    def weighted(x: Any, y: Any, sigma: Any) -> Any:
        parameters, covariance = optimize.curve_fit(decay, x, y, p0=[1.0, 1.0], sigma=sigma)
        return np.sum(parameters**2)

    check_program(weighted, X, Y, 0.5 + X, **ITERATED)


def test_a_front_fitted_with_an_error_function() -> None:
    """The place and the width of a front, as they depend on what was measured."""

    def front(x: Any, place: Any, width: Any) -> Any:
        return 0.5 * special.erfc((x - place) / width)

    measured = front(X, 0.4, 0.2) + 0.01 * np.cos(9 * X)

    def place(y: Any) -> Any:
        return optimize.curve_fit(front, X, y, p0=[0.5, 0.3])[0][0]

    check_program(place, measured, **ITERATED)


def test_settings_without_a_derivative_are_refused() -> None:
    with pytest.raises(AutodiffError, match="has no derivative"):
        ad.grad(lambda a: integrate.quad(bell, 0.0, 2.0, args=(a,), weight="cos", wvar=1.0)[0])(1.3)


TIMES = np.linspace(0.0, 3.0, 12)
SEEN = 2.5 * np.exp(-1.3 * TIMES) + 0.5 + 0.01 * np.sin(30 * TIMES)
FINE = {"xtol": 1e-14, "ftol": 1e-14}


def valley(x: Any, a: Any, b: Any) -> Any:
    return (a - x[0]) ** 2 + 5 * b * (x[1] - x[0] ** 2) ** 2


def slope_of_valley(x: Any, a: Any, b: Any) -> Any:
    r = x[1] - x[0] ** 2
    return np.array([-2 * (a - x[0]) - 20 * b * r * x[0], 10 * b * r])


@pytest.mark.parametrize("bounds", [[(0, None), (0, 0.9)], [(None, 9.0), (0, 9.0)], optimize.Bounds([0, 0], [9, 0.9])])
def test_minima_within_bounds(bounds: Any) -> None:
    def fn(a: Any, b: Any) -> Any:
        options = {"ftol": 1e-15, "gtol": 1e-11}
        found = optimize.minimize(
            valley, [0.5, 0.5], (a, b), "L-BFGS-B", slope_of_valley, bounds=bounds, options=options
        )
        return np.sum(np.sin(found.x)) + found.fun

    check_program(fn, 1.2, 0.7, step=1e-4, rtol=1e-4)


def test_functions_that_return_their_derivatives_too() -> None:
    both = lambda x, a, b: (valley(x, a, b), slope_of_valley(x, a, b))

    def least(a: Any, b: Any) -> Any:
        return np.sum(optimize.minimize(both, [0.5, 0.5], (a, b), jac=True, method="BFGS", options={"gtol": 1e-10}).x)

    check_program(least, 1.2, 0.7, rtol=1e-4)
    cubic = lambda x, c: (x**3 - c * x - 1, 3 * x**2 - c)
    check_program(lambda c: optimize.root_scalar(cubic, (c,), x0=2.0, fprime=True, method="newton").root, 1.3)


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_robust_losses(loss: str) -> None:
    def fn(seen: Any) -> Any:
        residual = lambda p, t: p[0] * np.exp(-p[1] * t) + p[2] - seen
        found = optimize.least_squares(residual, np.ones(3), args=(TIMES,), loss=loss, f_scale=0.1, gtol=1e-14, **FINE)
        return np.sum(np.sin(found.x)) + found.cost + np.sum(found.fun**2)

    check_program(fn, SEEN, step=1e-4, rtol=1e-3, second=False)


def test_fits_without_a_first_guess() -> None:
    model = lambda x, a, b, c: a * np.exp(-b * x) + c

    def fn(seen: Any) -> Any:
        found, spread = optimize.curve_fit(model, TIMES, seen, **FINE)
        return np.sum(np.sin(found)) + np.sum(np.sqrt(np.diag(spread)))

    check_program(fn, SEEN, step=1e-4, rtol=1e-3, second=False)
    bounded = lambda seen: np.sum(np.sin(optimize.curve_fit(model, TIMES, seen, bounds=(0, [9, 9, 0.3]), **FINE)[0]))
    check_program(bounded, SEEN, step=1e-4, rtol=1e-3, second=False)
    line = lambda seen: np.sum(np.sin(optimize.curve_fit(lambda x, a, b: a + b * x, TIMES, seen)[0]))
    check_program(line, SEEN, step=1e-4, rtol=1e-3)


def test_reports_and_several_numbers() -> None:
    cubic = lambda x, c: x**3 - c
    check_program(lambda c: optimize.brentq(cubic, 0.0, 3.0, (c,), xtol=1e-14, full_output=True)[0], 1.3)
    many = lambda c: np.sum(optimize.newton(cubic, np.full(3, 1.5), lambda x, c: 3 * x**2, (c,)) ** 2)
    check_program(many, np.array([1.1, 2.0, 3.3]))
    with pytest.raises(AutodiffError, match="'hess_inv' of what a minimiser"):
        ad.grad(lambda a: optimize.minimize(valley, [0.5, 0.5], (a, 0.7)).hess_inv[0, 0])(1.2)


def test_a_point_that_is_no_root_has_no_derivative() -> None:
    def product(x: Any, a: Any) -> Any:
        return np.array([x[0] + x[1] - a, x[0] * x[1] - 2.0 * a])

    def stopped(a: Any) -> Any:
        return np.sum(optimize.root(product, [2.0, 0.1], args=(a,), options={"maxfev": 3}).x ** 2)

    with pytest.raises(NotDifferentiable, match="stopped at no solution"):
        ad.grad(stopped)(1.5)
    with pytest.raises(NotDifferentiable, match="stopped at no solution"):
        ad.jvp(stopped, (1.5,), (1.0,))


def speed(edges: Any, degree: Any, s: Any) -> Any:
    binomial, total = 1, edges[:, 0] * (1.0 - s) ** (degree - 1)
    for k in range(1, degree):
        binomial = binomial * (degree - k) // k
        total = total + binomial * s**k * (1.0 - s) ** (degree - 1 - k) * edges[:, k]
    return np.linalg.norm(total)


def test_an_integrand_that_loops_at_second_order() -> None:
    def length(nodes: Any) -> Any:
        degree = nodes.shape[1] - 1
        edges = degree * (nodes[:, 1:] - nodes[:, :-1])
        return integrate.quad(partial(speed, edges, degree), 0.0, 1.0)[0]

    check_program(length, np.array([[0.0, 1.0, 2.0, 4.0], [0.0, 2.0, 1.0, 3.0]]))


def test_the_tangents_of_a_matrix_and_a_right_side_are_added() -> None:
    """Of a solver that returns None in the place of one of its results."""
    a, b = np.cos(np.arange(15.0)).reshape(5, 3), np.sin(np.arange(5.0) ** 2)
    t_a, t_b = np.sin(np.arange(15.0)).reshape(5, 3), np.cos(np.arange(5.0))

    def squares(a: Any, b: Any) -> Any:
        return np.sum(linalg.lstsq(a, b, lapack_driver="gelsy")[0] ** 2)

    ends = squares(a + 1e-6 * t_a, b + 1e-6 * t_b), squares(a - 1e-6 * t_a, b - 1e-6 * t_b)
    assert ad.jvp(squares, (a, b), (t_a, t_b))[1] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_a_limit_at_infinity_has_no_tangent() -> None:
    """Also where the integrand is no number there."""

    def tail(a: Any, b: Any) -> Any:
        return integrate.quad(lambda t: np.exp(t - t * t), a, b)[0]

    assert ad.jvp(tail, (0.3, np.inf), (1.0, 0.0))[1] == pytest.approx(-np.exp(0.3 - 0.09), rel=1e-9)


def gorge(z: Any, a: Any) -> Any:
    return np.sum((z - a) ** 4 + 2 * (z - a**2) ** 2) + z[0] * z[1]


def slopes_of_gorge(z: Any, a: Any) -> Any:
    return 4 * (z - a) ** 3 + 4 * (z - a**2) + np.array([z[1], z[0]])


def valued_gorge(z: Any, a: Any) -> Any:
    return gorge(z, a), slopes_of_gorge(z, a)


def misses(z: Any, a: Any) -> Any:
    return np.array([z[0] - a[0], z[1] - a[1], z[0] * z[1] - 1.0])


@pytest.mark.parametrize("fn", [
    lambda a: optimize.fmin_bfgs(lambda z: gorge(z, a), [0.1, 0.2], gtol=1e-9, disp=0),
    lambda a: optimize.fmin_bfgs(gorge, np.zeros(2), fprime=slopes_of_gorge, args=(a,), gtol=1e-10, disp=False),
    lambda a: optimize.fmin_cg(gorge, np.zeros(2), slopes_of_gorge, (a,), gtol=1e-10, disp=False),
    lambda a: optimize.fmin(gorge, np.zeros(2), (a,), xtol=1e-11, ftol=1e-14, disp=False),
    lambda a: optimize.fmin_powell(gorge, np.zeros(2), args=(a,), xtol=1e-11, ftol=1e-14, disp=False),
    lambda a: optimize.fmin_ncg(gorge, np.zeros(2), slopes_of_gorge, args=(a,), avextol=1e-12, disp=False),
    lambda a: optimize.fmin_l_bfgs_b(lambda z: gorge(z, a), np.zeros(2), approx_grad=True, factr=1, pgtol=1e-9)[0],
    lambda a: optimize.fmin_l_bfgs_b(gorge, np.zeros(2), slopes_of_gorge, (a,), factr=1, pgtol=1e-12)[1],
    lambda a: optimize.fmin_l_bfgs_b(valued_gorge, np.zeros(2), args=(a,), bounds=[(0, 0.1), (None, 9)], factr=1)[0],
    lambda a: optimize.fmin_slsqp(lambda z: gorge(z, a), np.zeros(2), bounds=[(-1, 0.1), (-9, 9)], acc=1e-15, iprint=0),
    lambda a: np.hstack(optimize.fmin_bfgs(gorge, np.zeros(2), args=(a,), gtol=1e-9, full_output=True, disp=0)[:2]),
    lambda a: optimize.leastsq(misses, [0.5, 0.5], args=(a,), xtol=1e-13, ftol=1e-14)[0],
    lambda a: optimize.leastsq(lambda z: misses(z, a), [0.5, 0.5], xtol=1e-13, ftol=1e-14)[0],
])  # fmt: skip
def test_minimisers_by_their_own_names(fn: Any) -> None:
    check_program(lambda a: np.sum(fn(a) ** 2), np.array([0.4, 0.9]), **ITERATED)


def test_a_minimiser_that_stops_early() -> None:
    """The derivative is that of the minimum, which two solvers find to different digits."""
    a = np.array([0.4, 0.9])
    early = lambda a: np.sum(optimize.fmin_tnc(valued_gorge, np.zeros(2), args=(a,), disp=0)[0] ** 2)
    exact = lambda a: np.sum(optimize.fmin_bfgs(gorge, np.zeros(2), args=(a,), gtol=1e-9, disp=0) ** 2)
    np.testing.assert_allclose(ad.grad(early)(a), ad.grad(exact)(a), 1e-3)


def test_settings_of_minimisers_that_are_refused() -> None:
    for fn in (
        lambda a: optimize.fsolve(misses, np.zeros(2), args=(a,), full_output=True, col_deriv=1)[0][0],
        lambda a: optimize.leastsq(misses, np.zeros(2), args=(a,), full_output=True)[0][0],
    ):
        with pytest.raises(AutodiffError, match="full_output|col_deriv"):
            ad.grad(fn)(np.array([0.4, 0.9]))


@pytest.mark.parametrize("name", ["broyden1", "broyden2", "newton_krylov", "diagbroyden"])
def test_iterations_to_a_root(name: str) -> None:
    solver = getattr(optimize, name)
    check_program(lambda a: np.sum(solver(lambda z: z**3 + z - a, np.ones(2), f_tol=1e-13) ** 2), np.array([0.4, 0.9]))


def test_a_root_with_its_report() -> None:
    def fn(a: Any) -> Any:
        z, found, flag, message = optimize.fsolve(lambda z: z**3 + z - a, np.ones(2), full_output=True, xtol=1e-13)
        if flag != 1:
            raise RuntimeError(message)
        return np.sum(z**2) * (found["nfev"] > 0)

    check_program(fn, np.array([0.4, 0.9]))


TARGET = np.array([0.3, 0.9, -0.4])
CONSTRAINTS: list[Any] = [
    lambda a: {"type": "eq", "fun": lambda z: np.sum(z) - a[0]},
    lambda a: [{"type": "ineq", "fun": lambda z, s: s - np.sum(z**2), "args": (a[1],)}],
    lambda a: ({"type": "ineq", "fun": lambda z: 9 - z[0]}, {"type": "eq", "fun": lambda z: [z[0] - z[1] * a[2]]}),
    lambda a: {"type": "eq", "fun": lambda z: z[0] ** 2 - a[1], "jac": lambda z: np.array([2 * z[0], 0.0, 0.0])},
    lambda a: optimize.LinearConstraint(np.array([[1.0, 1.0, 1.0]]), a[0], a[0]),
    lambda a: [optimize.NonlinearConstraint(lambda z: z[0] * z[1] + a[2], -np.inf, 0.1)],
]


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_minima_under_constraints(constraints: Any) -> None:
    def fn(a: Any, target: Any) -> Any:
        loss = lambda z: np.sum((z - target) ** 2) + 0.1 * np.sum(z**4)
        start = np.array([0.5, 0.1, 0.2])
        given = constraints(a)
        found = optimize.minimize(loss, start, method="SLSQP", constraints=given, options={"ftol": 1e-15})
        return np.sum(found.x**3) + found.fun

    check_program(fn, np.array([0.7, 0.4, -0.3]), TARGET, step=1e-3, rtol=1e-4, second=False)


def test_constraints_and_bounds_together() -> None:
    def fn(a: Any, target: Any) -> Any:
        found = optimize.minimize(
            lambda z: np.sum((z - target) ** 2), np.zeros(3), bounds=[(-0.1, None), (None, a[1]), (None, None)],
            constraints={"type": "eq", "fun": lambda z: np.sum(z) - a[0]}, options={"ftol": 1e-15},
        )  # fmt: skip
        return np.sum(found.x**3)

    check_program(fn, np.array([0.7, 0.4]), np.array([-0.6, 0.9, 0.2]), step=1e-3, rtol=1e-4)


def test_constraints_from_outside_are_refused() -> None:
    outside = optimize.LinearConstraint(np.ones((1, 3)), 1, 1)
    with pytest.raises(AutodiffError, match="made outside"):
        ad.grad(lambda a: optimize.minimize(lambda z: (z[0] - a) ** 2, np.zeros(3), constraints=outside).fun)(0.5)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_linear_least_squares_within_bounds(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.uniform(0.2, 1.0, size=(n + 2, n)) + np.eye(n + 2, n), rng.normal(size=n + 2)

    def fn(a: Any, b: Any) -> Any:
        x, rest = optimize.nnls(a, b)
        fit = optimize.lsq_linear(a, b, bounds=(-0.2, 0.3), tol=1e-14)
        return np.sum(x**2) + rest + np.sum(fit.x**3) + fit.cost + np.sum(fit.fun**3)

    check_program(fn, a, b, step=1e-5, rtol=1e-4, second=n == 3)
    check_program(lambda a, b: np.sum(optimize.lsq_linear(a, b).x ** 2), a, b, second=False)


def test_minima_of_functions_of_a_number() -> None:
    loss = lambda t, a: (t - a) ** 2 + 0.1 * t**4
    for find in (
        lambda a: optimize.fminbound(loss, -2, 2, args=(a,), xtol=1e-10),
        lambda a: optimize.brent(loss, args=(a,), tol=1e-12),
        lambda a: optimize.golden(loss, args=(a,), tol=1e-12),
    ):
        check_program(find, 0.7, step=1e-3, rtol=1e-4)
