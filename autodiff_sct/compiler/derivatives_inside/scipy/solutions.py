"""Integrals of a user's function, its roots and its minima, by the implicit function theorem.

A function here takes ``fn`` first and the numbers that `fn` depends on last: what a program gives it as ``args``, and
what it captures.  Those with a derivative are `inputs`; the others are in `fixed`, and `order` tells them apart: True
stands for one of the inputs.  The rules differentiate `fn` themselves, so that their own derivatives are of any order.
"""

from functools import partial

import numpy as np
from scipy import integrate

from ....api import grad, jacrev, jvp, vjp
from ....errors import NotDifferentiable
from ....rules.shape import upto
from ....rules.table import forward, reverse, static


def given(order, fixed, inputs):
    """The arguments of the user's function after the first, in their order."""
    return tuple([inputs[place] if free else fixed[place] for free, place in order])


def by_inputs(fn, x, order, fixed, *inputs):
    """The user's function at a point, as a function of what it depends on besides."""
    return fn(x, *given(order, fixed, inputs))


# Integrals


def integral(fn, a, b, order, fixed, *inputs):
    """``scipy.integrate.quad``."""
    return integrate.quad(fn, a, b, args=given(order, fixed, inputs))


integral.stands_for = "scipy.integrate.quad"  # type: ignore[attr-defined]


@reverse(integral)
def of_integral(y, d, fn, a, b, order, fixed, *inputs):
    check_estimate(d[1])
    return (
        None,
        -d[0] * fn(a, *given(order, fixed, inputs)),
        d[0] * fn(b, *given(order, fixed, inputs)),
        None,
        None,
        *[d[0] * integral_of_slope(fn, k, a, b, order, fixed, inputs) for k in upto(len(inputs))],
    )


@forward(integral)
def push_integral(y, d, fn, a, b, order, fixed, *inputs):
    return (
        None,
        (-d * at_limit(fn, a, given(order, fixed, inputs)), None),
        (d * at_limit(fn, b, given(order, fixed, inputs)), None),
        None,
        None,
        *[(np.sum(d * integral_of_slope(fn, k, a, b, order, fixed, inputs)), None) for k in upto(len(inputs))],
    )


def at_limit(fn, limit, arguments):
    """The integrand at a limit that moves: an infinite one does not, and there the integrand may be no number."""
    return 0.0 if np.isinf(limit) else fn(limit, *arguments)


def integral_of_slope(fn, k, a, b, order, fixed, inputs):
    """The integral of the derivative with respect to one of the inputs."""
    slope = partial(slope_at, fn, place_of(order, k))
    if np.ndim(inputs[k]) == 0:
        return integrate.quad(slope, a, b, args=given(order, fixed, inputs))[0]
    return integrate.quad_vec(slope, a, b, args=given(order, fixed, inputs))[0]


def slope_at(fn, place, *arguments):
    return grad(fn, place)(*arguments)


@static
def place_of(order, k):
    """The position of the `k`-th input among the arguments of the user's function."""
    return 1 + order.index((True, k))


def check_estimate(d):
    """Refuse the estimate of an error."""
    if d is not None:
        raise NotImplementedError("scipy.integrate.quad's estimate of its error has no derivative")


def vector_integral(fn, a, b, order, fixed, *inputs):
    """``scipy.integrate.quad_vec``."""
    return integrate.quad_vec(fn, a, b, args=given(order, fixed, inputs))


vector_integral.stands_for = "scipy.integrate.quad_vec"  # type: ignore[attr-defined]


@reverse(vector_integral)
def of_vector_integral(y, d, fn, a, b, order, fixed, *inputs):
    check_estimate(d[1])
    return (
        None,
        -np.sum(d[0] * fn(a, *given(order, fixed, inputs))),
        np.sum(d[0] * fn(b, *given(order, fixed, inputs))),
        None,
        None,
        *[integral_of_pull(fn, k, a, b, d[0], order, fixed, inputs) for k in upto(len(inputs))],
    )


@forward(vector_integral)
def push_vector_integral(y, d, fn, a, b, order, fixed, *inputs):
    return (
        None,
        (-d * fn(a, *given(order, fixed, inputs)), None),
        (d * fn(b, *given(order, fixed, inputs)), None),
        None,
        None,
        *[(integral_of_push(fn, k, a, b, d, order, fixed, inputs), None) for k in upto(len(inputs))],
    )


def integral_of_pull(fn, k, a, b, d, order, fixed, inputs):
    """The integral of the cotangent of one of the inputs."""
    pull = partial(pulled_at, fn, place_of(order, k))
    if np.ndim(inputs[k]) == 0:
        return integrate.quad(pull, a, b, args=(d, *given(order, fixed, inputs)))[0]
    return integrate.quad_vec(pull, a, b, args=(d, *given(order, fixed, inputs)))[0]


def pulled_at(fn, place, x, d, *arguments):
    return grad(partial(weighted, fn, d), place)(x, *arguments)


def weighted(fn, d, *arguments):
    """A weighted sum of what a function returns."""
    return np.sum(d * fn(*arguments))


def integral_of_push(fn, k, a, b, d, order, fixed, inputs):
    """The integral of the tangent that one of the inputs gives."""
    push = partial(pushed_at, fn, order, k)
    return integrate.quad_vec(push, a, b, args=(d, *given(order, fixed, inputs)))[0]


def pushed_at(fn, order, k, x, d, *arguments):
    place = place_of(order, k) - 1
    return jvp(partial(moved_input, fn, place, x, arguments), (arguments[place],), (d,))[1]


def moved_input(fn, place, x, arguments, value):
    """The function at a point with another value for one of its arguments."""
    return fn(x, *arguments[:place], value, *arguments[place + 1 :])


# Roots.  The derivative of the root of ``fn(y, *inputs)`` solves the linearised equation.


def root(fn, order, fixed, *inputs):
    """The result of a root solver of SciPy: the number or the vector at which `fn` is 0."""
    raise NotImplementedError("a root is found by the solver that the program calls")


@reverse(root)
def of_root(y, d, fn, order, fixed, *inputs):
    weight = adjoint_solution(fn, y, d, given(order, fixed, inputs))
    pull = vjp(partial(by_inputs, fn, y, order, fixed), *inputs)[1]
    return None, None, None, *pull(weight)


@forward(root)
def push_root(y, d, fn, order, fixed, *inputs):
    return None, None, None, *[tangent_solution(fn, y, d, k, order, fixed, inputs) for k in upto(len(inputs))]


def adjoint_solution(fn, y, d, arguments):
    """The cotangent of the equation's residual."""
    slopes = slopes_at_root(fn, y, arguments)
    if np.ndim(y) == 0:
        return -d / slopes
    return -np.linalg.solve(slopes.T, d)


def tangent_solution(fn, y, d, k, order, fixed, inputs):
    """The tangent of the solution, as one of the inputs moves along `d`; those of others come here, too."""
    if np.ndim(d) != np.ndim(inputs[k]):
        return y
    arguments = given(order, fixed, inputs)
    moved = jvp(partial(moved_input, fn, place_of(order, k) - 1, y, arguments), (inputs[k],), (d,))[1]
    slopes = slopes_at_root(fn, y, arguments)
    if np.ndim(y) == 0:
        return -moved / slopes
    return -np.linalg.solve(slopes, moved)


def slopes_at_root(fn, y, arguments):
    """The derivative of the residual by the solution, for which the solution has to be one."""
    if np.ndim(y) == 0:
        slope = grad(fn)(y, *arguments)
        check_root(abs(y), abs(fn(y, *arguments) / slope))
        return slope
    slopes = jacrev(fn)(y, *arguments)
    step = np.linalg.solve(slopes, np.asarray(fn(y, *arguments)))
    check_root(np.max(np.abs(y)), np.max(np.abs(step)))
    return slopes


def check_root(size, step):
    """Refuse a point where the solver stopped without a root: Newton's next step from it is too long for its size."""
    if step > 0.01 * (1 + size):
        raise NotDifferentiable(
            "the solver stopped at no solution: the derivative of what it returned is not known", code="solution"
        )


# Equations that are solved where something else is asked for


def fixed_equation(fn, x, *arguments):
    """The residual of a fixed point."""
    return fn(x, *arguments) - x


def stationary(fn, x, *arguments):
    """The residual at a minimum: the gradient."""
    return grad(fn)(x, *arguments)


def stationary_within(fn, x, low, high, *arguments):
    """The residual at a minimum between bounds: the gradient, or the distance from the bound that is reached."""
    slope = grad(fn)(x, *arguments)
    below, above = x - low <= 1e-6 * (1 + np.abs(x)), high - x <= 1e-6 * (1 + np.abs(x))
    held = (below & (slope > 0)) | (above & (slope < 0))
    return np.where(held, x - np.where(below, low, high), slope)


def saddle(fn, constraints, ends, z, active, low, high, *arguments):
    """The residual at a minimum under constraints, of the point and of the multipliers behind it."""
    x, factors = point_of(z, active), z[z.size - active.size :]
    slope = stationary_within(partial(lagrangian, fn, constraints, ends), x, low, high, factors, *arguments)
    return np.concatenate([slope, np.where(active, constrained(constraints, ends, x, *arguments), factors)])


def point_of(z, multipliers):
    return z[: z.size - multipliers.size]


def lagrangian(fn, constraints, ends, x, factors, *arguments):
    first, behind = ends[0]
    return fn(x, *arguments[first:behind]) - np.sum(factors * constrained(constraints, ends, x, *arguments))


def constrained(constraints, ends, x, *arguments):
    """The values of all constraints in one vector."""
    return np.concatenate([value_of(constraints[k], x, arguments, ends[k + 1]) for k in upto(len(constraints))])


def value_of(constraint, x, arguments, ends):
    return np.reshape(constraint(x, *arguments[ends[0] : ends[1]]), -1)


def linear(x, matrix):
    return matrix @ x


def nearer_end(fn, x, low, high, *arguments):
    """The distance of a function's values from the end that they are nearer to."""
    values = np.reshape(np.asarray(fn(x, *arguments)), -1)
    return np.where((low == high) | (values - low <= high - values), values - low, high - values)


def active_ones(constraints, ends, equal, x, *arguments):
    """True for the constraints that hold as equations."""
    values = [value_of(constraints[k], x, arguments, ends[k + 1]) for k in upto(len(constraints))]
    near = [equal[k] | (np.abs(values[k]) <= 1e-6 * (1 + np.max(np.abs(x)))) for k in upto(len(constraints))]
    return np.concatenate(near)


def multipliers(fn, constraints, ends, x, active, low, high, *arguments):
    """The factors with which the slopes of active constraints add up to that of the function, but at a bound."""
    first, behind = ends[0]
    slope = grad(fn)(x, *arguments[first:behind])
    within = (x - low > 1e-6 * (1 + np.abs(x))) & (high - x > 1e-6 * (1 + np.abs(x)))
    slopes = jacrev(partial(constrained, constraints, ends))(x, *arguments) * active[:, None] * within
    return np.linalg.pinv(slopes.T, 1e-10) @ (slope * within)


def value_first(fn, x, *arguments):
    """The value of a function that returns its derivative, too."""
    return fn(x, *arguments)[0]


def half_square(fn, loss, scale, x, *arguments):
    """Half the sum of the squares of residuals, which ``least_squares`` minimises, or of what a loss makes of them."""
    z = (np.asarray(fn(x, *arguments)) / scale) ** 2
    return 0.5 * scale**2 * np.sum(lost(loss, z))


def lost(loss, z):
    """The loss of a squared residual."""
    if loss == "soft_l1":
        return 2 * (np.sqrt(1 + z) - 1)
    if loss == "huber":
        return np.where(z <= 1, z, 2 * np.sqrt(np.where(z <= 1, 1.0, z)) - 1)
    if loss == "cauchy":
        return np.log1p(z)
    return np.arctan(z) if loss == "arctan" else z


def misfit(fn, count, parameters, xdata, ydata, sigma, *captured):
    """Half the sum of the squares of the weighted residuals that ``curve_fit`` minimises."""
    return 0.5 * np.sum(weighted_residuals(fn, count, parameters, xdata, ydata, sigma, *captured) ** 2)


def weighted_residuals(fn, count, parameters, xdata, ydata, sigma, *captured):
    residual = fn(xdata, *[parameters[k] for k in upto(count)], *captured) - ydata
    if sigma is None:
        return residual
    return residual / sigma if np.ndim(sigma) == 1 else np.linalg.solve(np.linalg.cholesky(sigma), residual)


def covariance(fn, count, absolute, parameters, xdata, ydata, sigma, *captured):
    """The covariance of the parameters that ``curve_fit`` estimates."""
    residual = partial(weighted_residuals, fn, count)
    slope = jacrev(residual)(parameters, xdata, ydata, sigma, *captured)
    found = np.linalg.inv(slope.T @ slope)
    if absolute:
        return found
    rest = residual(parameters, xdata, ydata, sigma, *captured)
    return found * (np.sum(rest**2) / (rest.size - count))


def slopes_at(fn, x, *arguments):
    return jacrev(fn)(x, *arguments)


def vector_of(fn, x, *arguments):
    """The result of a function, as an array where it is a list."""
    return np.asarray(fn(x, *arguments))


def least_value(fn, x, order, fixed, *inputs):
    """The value of the function at its minimum."""
    return fn(x, *given(order, fixed, inputs))


@reverse(least_value)
def of_least_value(y, d, fn, x, order, fixed, *inputs):
    value, pull = vjp(partial(by_all, fn, order, fixed), x, *inputs)
    d_x, *d_inputs = pull(d)
    return None, d_x, None, None, *d_inputs


@forward(least_value)
def push_least_value(y, d, fn, x, order, fixed, *inputs):
    return (
        None,
        np.sum(d * grad(fn)(x, *given(order, fixed, inputs))),
        None,
        None,
        *[value_along(fn, x, d, k, order, fixed, inputs) for k in upto(len(inputs))],
    )


def value_along(fn, x, d, k, order, fixed, inputs):
    """The tangent of the least value, as one of the inputs moves along `d`; those of others come here, too."""
    if np.ndim(d) != np.ndim(inputs[k]):
        return 0.0
    moved = partial(moved_input, fn, place_of(order, k) - 1, x, given(order, fixed, inputs))
    return jvp(moved, (inputs[k],), (d,))[1]


def by_all(fn, order, fixed, x, *inputs):
    return fn(x, *given(order, fixed, inputs))
