"""Solutions of ordinary differential equations: the discrete adjoint of Runge-Kutta steps.

The derivative of what ``solve_ivp`` returns for the methods RK45 and RK23 is that of the steps that it has accepted, of
which the times are kept as they are, and of the interpolation between them (Dormand and Shampine).  For other methods,
and for ``odeint``, whose steps cannot be taken again, it is the derivative of a solution by RK45 with a relative
tolerance of 1e-9: that of the exact solution, as accurately.  The times at which the states are asked for may move, and
so may the first and the last step with the ends of the interval.
"""

from functools import partial

import numpy as np
from scipy import integrate

from ....api import grad, jvp
from ....api.entry import compiled
from ....rules.shape import upto
from ....rules.table import forward, nondifferentiable, reverse, static
from .solutions import given

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def trajectory(fn, first, method, span, options, places, order, fixed, times, begin, end, start, *inputs):
    """The result of an initial value solver of SciPy: the states at `times`, or at its steps, one in each column.

    `places` are those of the arguments from `times` on that may have a derivative.
    """
    raise NotImplementedError("a trajectory is found by the solver that the program calls")


trajectory.stands_for = "scipy.integrate.solve_ivp"  # type: ignore[attr-defined]


@reverse(trajectory)
def of_trajectory(y, d, fn, first, method, span, options, places, order, fixed, times, begin, end, start, *inputs):
    steps = accepted_steps(fn, first, method, span, options, start, *given(order, fixed, inputs))
    total = partial(weighted, d, fn, first, known(method), steps, order, fixed)
    found = grad(total, places)(times, begin, end, start, *inputs)
    return (
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        *[entry(found, places, k) for k in upto(4 + len(inputs))],
    )


def entry(found, places, k):
    """The cotangent of one of the arguments, None for one without a derivative."""
    return None if index_of(places, k) is None else found[index_of(places, k)]


@static
def index_of(places, k):
    return places.index(k) if k in places else None


@forward(trajectory)
def push_trajectory(y, d, fn, first, method, span, options, places, order, fixed, times, begin, end, start, *inputs):
    steps = accepted_steps(fn, first, method, span, options, start, *given(order, fixed, inputs))
    settings = (fn, first, known(method), steps, places, order, fixed)
    return (
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        *[moved_trajectory(k, d, *settings, times, begin, end, start, *inputs) for k in upto(4 + len(inputs))],
    )


def moved_trajectory(place, d, fn, first, method, steps, places, order, fixed, times, begin, end, start, *inputs):
    """The tangent of the trajectory, as one of the arguments from `times` on moves along `d`: a call."""
    arguments = times, begin, end, start, *inputs
    others = fn, first, method, steps, order, fixed, arguments[:place], arguments[place + 1 :]
    push = compiled("Pushforward", with_argument, (0,), False)  # all are its arguments: it is compiled once
    return push.run((arguments[place], *others), {}, (d,))[1]


moved_trajectory.stands_for = "a second derivative of scipy.integrate.solve_ivp"  # type: ignore[attr-defined]


@reverse(moved_trajectory)
def of_moved_trajectory(
    y, w, place, d, fn, first, method, steps, places, order, fixed, times, begin, end, start, *inputs
):
    total = partial(weighted_tangent, w, place, fn, first, method, steps, order, fixed)
    found = grad(total, after_first(places))(d, times, begin, end, start, *inputs)
    return (
        None,
        found[0],
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        *[entry(found, after_first(places), 1 + k) for k in upto(4 + len(inputs))],
    )


@static
def after_first(places):
    """The places behind another argument, and that of it."""
    return (0, *(1 + k for k in places))


def weighted_tangent(w, place, fn, first, method, steps, order, fixed, d, *arguments):
    """A weighted sum of the tangents of the states."""
    return np.sum(w * tangent_of_trajectory(place, d, fn, first, method, steps, order, fixed, arguments))


def tangent_of_trajectory(place, d, fn, first, method, steps, order, fixed, arguments):
    before, after = arguments[:place], arguments[place + 1 :]

    def moved(value):
        return with_argument(value, fn, first, method, steps, order, fixed, before, after)

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


def replayed(fn, first, method, steps, order, fixed, times, begin, end, start, *inputs):
    """The trajectory, as a function of the times, of its start and of the inputs."""
    arguments = given(order, fixed, inputs)
    return from_start(fn, first, method, times, between_ends(begin, steps, end), arguments, start)


def between_ends(begin, steps, end):
    """The times of the steps, of which the first and the last may move."""
    before = steps[:1] if begin is None else np.reshape(begin, (1,))
    behind = steps[-1:] if end is None else np.reshape(end, (1,))
    return steps if begin is None and end is None else np.concatenate([before, steps[1:-1], behind])


def weighted(d, fn, first, method, steps, order, fixed, *arguments):
    """A weighted sum of the states."""
    return np.sum(d * replayed(fn, first, method, steps, order, fixed, *arguments))


def with_argument(value, fn, first, method, steps, order, fixed, before, after):
    """The trajectory, as a function of one of the arguments."""
    return replayed(fn, first, method, steps, order, fixed, *before, value, *after)


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
    slope = np.asarray(fn(t, y, *arguments) if first else fn(y, t, *arguments))
    return np.reshape(slope, 1) if slope.ndim == 0 else slope


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
