"""Ordinary differential equations with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import integrate

import autodiff_sct as ad
from autodiff_sct.api.entry import compiled
from autodiff_sct.compiler.derivatives_inside.scipy import trajectories
from tests.scipy.checked import check_program

TIMES = np.linspace(0, 5, 7)
START = np.array([2.0, 1.0])
TIGHT = {"rtol": 1e-9, "atol": 1e-10}
LOOSE = {"step": 1e-3, "rtol": 1e-3, "second": False}  # what adaptive steps leave of a central difference


def prey(t: Any, z: Any, a: Any, b: Any) -> Any:
    return [a * z[0] - b * z[0] * z[1], 0.1 * z[0] * z[1] - 0.5 * z[1]]


def pendulum(y: Any, t: Any, b: Any, c: Any) -> Any:
    theta, omega = y
    return [omega, -b * omega - c * np.sin(theta)]


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "BDF"])
def test_solve_ivp(method: str) -> None:
    def energy(start: Any, a: Any, b: Any) -> Any:
        settings = {"rtol": 1e-7, "atol": 1e-9} if method in ("RK23", "BDF", "Radau") else TIGHT
        sol = integrate.solve_ivp(prey, (0, 5), start, method=method, t_eval=TIMES, args=(a, b), **settings)
        return np.sum(sol.y**2)

    check_program(energy, START, 0.6, 0.3, **LOOSE)


def test_a_start_of_integers() -> None:
    def total(a: Any, b: Any) -> Any:
        return np.sum(integrate.solve_ivp(prey, [0, 2], [10, 5], "LSODA", args=(a, b), t_eval=[0, 1, 2], **TIGHT).y)

    check_program(total, 0.6, 0.3, **LOOSE)


def test_what_the_slope_captures() -> None:
    def last(start: Any, a: Any) -> Any:
        slope = lambda t, z: np.array([a * z[0] - 0.3 * z[0] * z[1], 0.1 * z[0] * z[1] - np.sin(t) * z[1]])
        sol = integrate.solve_ivp(slope, (0.0, 5.0), start, **TIGHT)
        return np.sum(sol.y[:, -1] ** 2)

    check_program(last, START, 0.6, **LOOSE)


def test_backwards_in_time() -> None:
    def first(start: Any, a: Any) -> Any:
        return np.sum(integrate.solve_ivp(prey, (2.0, 0.0), start, args=(a, 0.3), t_eval=[1.5, 0.0], **TIGHT).y ** 3)

    check_program(first, START, 0.6, **LOOSE)


def test_odeint_from_a_number() -> None:
    def decay(y, t, k):
        return -k * y / (1 + y)

    def of_a_number(y, t, k):
        return k * y[0] - t

    for slope in (decay, of_a_number):
        check_program(lambda y, k: np.sum(integrate.odeint(slope, y, TIMES, args=(k,))[:, 0] ** 2), 1.5, 0.7, **LOOSE)


def test_odeint() -> None:
    check_program(lambda y, b: np.sum(integrate.odeint(pendulum, y, TIMES, args=(b, 5.0)) ** 2), START, 0.25, **LOOSE)
    check_program(lambda y, b: integrate.odeint(prey, y, TIMES, (b, 0.3), tfirst=True)[-1, 0], START, 0.6, **LOOSE)


def test_times_of_unknown_rank() -> None:
    """Times that an object of another package hands out, in both modes and to second order."""
    pandas = pytest.importorskip("pandas")
    frame, start = pandas.DataFrame({"day": [0, 1, 2, 4]}), np.array([1.0, 0.5])

    def by_steps(a: Any, days: Any) -> Any:
        return np.sum(integrate.solve_ivp(prey, (0, 4), start, args=(a, 0.3), t_eval=days, **TIGHT).y ** 2)

    def by_lsoda(a: Any, days: Any) -> Any:
        return np.sum(integrate.odeint(prey, start, days, (a, 0.3), rtol=1e-10, atol=1e-12, tfirst=True) ** 2)

    for program in (by_steps, by_lsoda):

        def of_frame(a: Any, program: Any = program) -> Any:
            return program(a, frame["day"].to_numpy())

        check_program(of_frame, 0.6, **LOOSE)
        np.testing.assert_allclose(ad.hessian(of_frame)(0.6), ad.hessian(program)(0.6, np.array([0.0, 1, 2, 4])), 1e-6)


def test_tangents_are_compiled_once() -> None:
    def last(a: Any) -> Any:
        return integrate.solve_ivp(prey, (0, 2), START, args=(a, 0.3), **TIGHT).y[0, -1]

    for a in (0.6, 0.7):
        ad.jvp(last, (a,), (1.0,))
    with_argument = trajectories.with_argument
    assert len([*compiled("Pushforward", with_argument, (0,), False).variants]) == 1


def test_a_rate_fitted_to_observations() -> None:
    """Gradient descent finds the rates with which the observations were made."""
    seen = integrate.solve_ivp(prey, (0, 5), START, args=(0.6, 0.3), t_eval=TIMES, **TIGHT).y

    def loss(rates: Any) -> Any:
        sol = integrate.solve_ivp(prey, (0, 5), START, args=(rates[0], rates[1]), t_eval=TIMES, **TIGHT)
        return np.mean((sol.y - seen) ** 2)

    rates, gradient = np.array([0.55, 0.33]), ad.grad(loss)
    start = loss(rates)
    for _ in range(20):
        rates = rates - 0.002 * gradient(rates)
    assert loss(rates) < 0.05 * start


def test_second_derivatives() -> None:
    def by_steps(start: Any, a: Any) -> Any:
        return np.sum(integrate.solve_ivp(prey, (0, 0.3), start, args=(a, 0.3), t_eval=[0.1, 0.3], **TIGHT).y ** 2)

    def by_lsoda(start: Any, a: Any) -> Any:
        return np.sum(integrate.odeint(pendulum, start, [0.0, 0.1, 0.2], (a, 2.0), rtol=1e-10, atol=1e-12) ** 2)

    for fn in (by_steps, by_lsoda):
        gradient, h = ad.grad(fn, (0, 1)), 1e-4
        way = np.array([0.3, -0.7])
        ends = [gradient(START + k * h * way, 0.6 + k * h) for k in (1, -1)]
        curved = [(a - b) / (2 * h) for a, b in zip(*ends, strict=True)]

        def slope(start: Any, a: Any) -> Any:
            d_start, d_a = gradient(start, a)
            return np.sum(d_start * way) + d_a

        for found, wanted in zip(ad.grad(slope, (0, 1))(START, 0.6), curved, strict=True):
            np.testing.assert_allclose(found, wanted, 1e-5, 1e-5)
        found = ad.jvp(gradient, (START, 0.6), (way, 1.0))[1]
        for each, wanted in zip(found, curved, strict=True):
            np.testing.assert_allclose(each, wanted, 1e-5, 1e-5)


def test_interpolants_are_refused() -> None:
    with pytest.raises(Exception, match="dense_output"):
        ad.grad(lambda a: np.sum(integrate.solve_ivp(prey, (0, 1), START, args=(a, 0.3), dense_output=True).y))(0.6)


@pytest.mark.parametrize("method", ["RK45", "RK23", "Radau", "LSODA"])
def test_ends_of_the_interval(method: str) -> None:
    tolerance = {"rtol": 1e-9, "atol": 1e-11}
    slope = lambda t, y, a: np.array([-a * y[0] + t * y[1], -y[1] * y[0]])

    def fn(a: Any, begin: Any, end: Any) -> Any:
        y = integrate.solve_ivp(slope, (begin, end), [1.0, 0.5], method, args=(a,), **tolerance).y
        return np.sum(y[:, -1] ** 2)

    check_program(fn, 0.7, 0.2, 1.3, step=1e-3, rtol=1e-4, second=False)


def test_times_that_move() -> None:
    slope = lambda t, y, a: -a * y + t

    def fn(a: Any, times: Any, begin: Any) -> Any:
        ivp = integrate.solve_ivp(slope, (begin, 2.0), [0.5], t_eval=times, args=(a,), rtol=1e-10, atol=1e-12)
        path = integrate.odeint(slope, [0.5], times, args=(a,), tfirst=True, rtol=1e-11, atol=1e-13)
        return np.sum(ivp.y**2) + np.sum(path**3)

    check_program(fn, 0.7, np.array([0.4, 0.9, 1.7]), 0.1, step=1e-3, rtol=1e-4, second=False)
    end = lambda t: np.sum(
        integrate.solve_ivp(lambda t, y: -y * t, (0, t), [0.5], rtol=1e-10, atol=1e-12).y[:, -1] ** 2
    )
    check_program(end, 1.3, step=1e-3, rtol=1e-4)
