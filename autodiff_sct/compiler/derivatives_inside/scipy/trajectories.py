"""Solutions of ordinary differential equations: the discrete adjoint of Runge-Kutta steps.

The derivative of what ``solve_ivp`` returns for the methods RK45 and RK23 is that of the steps that it has accepted, of
which the times are kept as they are, and of the interpolation between them (Dormand and Shampine).  For other methods,
and for ``odeint``, whose steps cannot be taken again, it is the derivative of a solution by RK45 with a relative
tolerance of 1e-9: that of the exact solution, as accurately.
"""

from functools import partial

import numpy as np
from scipy import integrate

from ....api import grad, jvp
from ....rules.shape import upto
from ....rules.table import forward, nondifferentiable, reverse, static
from .solutions import given, place_of

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def trajectory(fn, first, method, span, times, options, order, fixed, start, *inputs):
    """The result of an initial value solver of SciPy: the states at `times`, one in each column."""
    raise NotImplementedError("a trajectory is found by the solver that the program calls")


trajectory.stands_for = "scipy.integrate.solve_ivp"  # type: ignore[attr-defined]


@reverse(trajectory)
def of_trajectory(y, d, fn, first, method, span, times, options, order, fixed, start, *inputs):
    steps = accepted_steps(fn, first, method, span, options, start, *given(order, fixed, inputs))
    total = partial(weighted, d, fn, first, known(method), times, steps, order, fixed)
    if len(inputs) == 0:
        return None, None, None, None, None, None, None, None, grad(total)(start)
    d_start, *d_inputs = grad(total, upto(1 + len(inputs)))(start, *inputs)
    return None, None, None, None, None, None, None, None, d_start, *d_inputs


@forward(trajectory)
def push_trajectory(y, d, fn, first, method, span, times, options, order, fixed, start, *inputs):
    steps = accepted_steps(fn, first, method, span, options, start, *given(order, fixed, inputs))
    return (
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        moved_trajectory(d, fn, first, known(method), times, steps, 0, order, fixed, start, *inputs),
        *[
            moved_trajectory(
                d, fn, first, known(method), times, steps, place_of(order, k), order, fixed, start, *inputs
            )
            for k in upto(len(inputs))
        ],
    )


def moved_trajectory(d, fn, first, method, times, steps, place, order, fixed, start, *inputs):
    """The tangent of the trajectory, as its start (at place 0) or one of the arguments moves along `d`: a call."""
    return tangent_of_trajectory(d, fn, first, method, times, steps, place, (start, *given(order, fixed, inputs)))


moved_trajectory.stands_for = "a second derivative of scipy.integrate.solve_ivp"  # type: ignore[attr-defined]


@reverse(moved_trajectory)
def of_moved_trajectory(y, w, d, fn, first, method, times, steps, place, order, fixed, start, *inputs):
    total = partial(weighted_tangent, w, fn, first, method, times, steps, place, order, fixed)
    d_d, d_start, *d_inputs = grad(total, upto(2 + len(inputs)))(d, start, *inputs)
    return d_d, None, None, None, None, None, None, None, None, d_start, *d_inputs


def weighted_tangent(w, fn, first, method, times, steps, place, order, fixed, d, start, *inputs):
    """A weighted sum of the tangents of the states."""
    arguments = (start, *given(order, fixed, inputs))
    return np.sum(w * tangent_of_trajectory(d, fn, first, method, times, steps, place, arguments))


def tangent_of_trajectory(d, fn, first, method, times, steps, place, arguments):
    moved = partial(with_argument, fn, first, method, times, steps, arguments[:place], arguments[place + 1 :])
    return jvp(moved, (arguments[place],), (d,))[1]


def accepted_steps(fn, first, method, span, options, start, *arguments):
    """The times of the steps that a solver accepts."""
    settings = {k: v for k, v in zip(("rtol", "atol", "max_step", "first_step"), options) if v is not None}
    settings = settings if known(method) == method else TIGHT

    def slope(t, y):
        return fn(t, y, *arguments) if first else fn(y, t, *arguments)

    found = integrate.solve_ivp(slope, span, start, known(method), dense_output=True, **settings)
    if not found.success:
        raise FloatingPointError(f"the steps of a differential equation cannot be taken again: {found.message}")
    return found.sol.ts


nondifferentiable(accepted_steps)


@static
def known(method):
    """The method whose steps are taken again."""
    return method if method in TABLEAUS else "RK45"


def replayed(fn, first, method, times, steps, order, fixed, start, *inputs):
    """The trajectory, as a function of its start and of the inputs."""
    return from_start(fn, first, method, times, steps, given(order, fixed, inputs), start)


def weighted(d, fn, first, method, times, steps, order, fixed, start, *inputs):
    """A weighted sum of the states."""
    return np.sum(d * replayed(fn, first, method, times, steps, order, fixed, start, *inputs))


def with_argument(fn, first, method, times, steps, before, after, value):
    """The trajectory, as a function of its start or of one of the arguments."""
    arguments = (*before, value, *after)
    return from_start(fn, first, method, times, steps, arguments[1:], arguments[0])


def from_start(fn, first, method, times, steps, arguments, start):
    """The trajectory, as a function of its start."""
    y, slope = start, slope_of(fn, first, steps[0], start, arguments)
    states, slopes = [y], []
    for n in range(steps.size - 1):
        h = steps[n + 1] - steps[n]
        ks = stages(fn, first, method, steps[n], h, y, slope, arguments)
        y = y + h * combined(weights_of(method), ks)
        slope = slope_of(fn, first, steps[n + 1], y, arguments)
        states.append(y)
        slopes.append(np.stack([*ks, slope]))
    if times is None:
        return np.stack(states, axis=1)
    places = np.clip(np.searchsorted(forwards(steps, steps), forwards(steps, times)) - 1, 0, steps.size - 2)
    sizes = np.diff(steps)[places]
    between = np.cumprod(np.tile(((times - steps[places]) / sizes)[:, None], degree_of(method)), axis=1)
    weights = between @ interpolation_of(method)
    inside = np.sum(weights[:, :, None] * np.stack(slopes)[places], axis=1)
    return (np.stack(states)[places] + sizes[:, None] * inside).T


def forwards(steps, times):
    """Times that increase, also where those of the steps decrease."""
    return times if steps[-1] >= steps[0] else -times


def slope_of(fn, first, t, y, arguments):
    return np.asarray(fn(t, y, *arguments) if first else fn(y, t, *arguments))


def stages(fn, first, method, t, h, y, slope, arguments):
    """The slopes in one step, but for that at its end."""
    ks = [slope]
    for c, row in stages_of(method):
        ks.append(slope_of(fn, first, t + c * h, y + h * combined(row, ks), arguments))
    return ks


def combined(weights, ks):
    return sum([w * k for w, k in zip(weights, ks) if w != 0])


TABLEAUS = {"RK45": integrate.RK45, "RK23": integrate.RK23}


@static
def stages_of(method):
    """The time in the step and the weights of the slopes before, of each stage after the first."""
    table = TABLEAUS[method]
    return tuple((float(c), tuple(map(float, a[:k]))) for k, (c, a) in enumerate(zip(table.C, table.A)) if k)


@static
def weights_of(method):
    return tuple(map(float, TABLEAUS[method].B))


@static
def degree_of(method):
    return TABLEAUS[method].P.shape[1]


def interpolation_of(method):
    return TABLEAUS[method].P.T
