"""Integrals of a user's function, its roots and its minima, by the implicit function theorem.

A function here takes ``fn`` first and the numbers that `fn` depends on last: what a program gives it as ``args``, and
what it captures.  Those with a derivative are `inputs`; the others are in `fixed`, and `order` tells them apart: True
stands for one of the inputs.  The rules differentiate `fn` themselves, so that their own derivatives are of any order.
"""

from functools import partial

import numpy as np
from scipy import integrate

from ....api import grad, jacrev, jvp, vjp
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
        (-d * fn(a, *given(order, fixed, inputs)), None),
        (d * fn(b, *given(order, fixed, inputs)), None),
        None,
        None,
        *[(np.sum(d * integral_of_slope(fn, k, a, b, order, fixed, inputs)), None) for k in upto(len(inputs))],
    )


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
    """What a solver of SciPy's returns: the number or the vector at which `fn` is 0."""
    raise NotImplementedError("a root is found by the solver that the program calls")


@reverse(root)
def of_root(y, d, fn, order, fixed, *inputs):
    weight = adjoint_solution(fn, y, d, given(order, fixed, inputs))
    pull = vjp(partial(by_inputs, fn, y, order, fixed), *inputs)[1]
    return None, None, None, *pull(weight)


@forward(root)
def push_root(y, d, fn, order, fixed, *inputs):
    return None, None, None, *[tangent_solution(fn, y, d, k, order, fixed, inputs) for k in upto(len(inputs))]


def fitted(fn, order, fixed, *inputs):
    """``scipy.optimize.curve_fit``: the parameters and their covariance."""
    raise NotImplementedError("parameters are found by the solver that the program calls")


fitted.stands_for = "scipy.optimize.curve_fit"  # type: ignore[attr-defined]


@reverse(fitted)
def of_fitted(y, d, fn, order, fixed, *inputs):
    if d[1] is not None:
        raise NotImplementedError("scipy.optimize.curve_fit is differentiable in the parameters only")
    weight = adjoint_solution(fn, y[0], d[0], given(order, fixed, inputs))
    pull = vjp(partial(by_inputs, fn, y[0], order, fixed), *inputs)[1]
    return None, None, None, *pull(weight)


@forward(fitted)
def push_fitted(y, d, fn, order, fixed, *inputs):
    return (
        None,
        None,
        None,
        *[(tangent_solution(fn, y[0], d, k, order, fixed, inputs), y[1] * np.nan) for k in upto(len(inputs))],
    )


def adjoint_solution(fn, y, d, arguments):
    """The cotangent of the equation's residual."""
    if np.ndim(y) == 0:
        return -d / grad(fn)(y, *arguments)
    return -np.linalg.solve(jacrev(fn)(y, *arguments).T, d)


def tangent_solution(fn, y, d, k, order, fixed, inputs):
    """The tangent of the solution, as one of the inputs moves along `d`; those of others come here, too."""
    if np.ndim(d) != np.ndim(inputs[k]):
        return y
    arguments = given(order, fixed, inputs)
    moved = jvp(partial(moved_input, fn, place_of(order, k) - 1, y, arguments), (inputs[k],), (d,))[1]
    if np.ndim(y) == 0:
        return -moved / grad(fn)(y, *arguments)
    return -np.linalg.solve(jacrev(fn)(y, *arguments), moved)


# Equations that are solved where something else is asked for


def fixed_equation(fn, x, *arguments):
    """The residual of a fixed point."""
    return fn(x, *arguments) - x


def stationary(fn, x, *arguments):
    """The residual at a minimum: the gradient."""
    return grad(fn)(x, *arguments)


def half_square(fn, x, *arguments):
    """Half the sum of the squares of residuals, which ``least_squares`` minimises."""
    return 0.5 * np.sum(fn(x, *arguments) ** 2)


def misfit(fn, count, parameters, xdata, ydata, sigma, *captured):
    """Half the sum of the squares of the weighted residuals that ``curve_fit`` minimises."""
    residual = fn(xdata, *[parameters[k] for k in upto(count)], *captured) - ydata
    return 0.5 * np.sum((residual if sigma is None else residual / sigma) ** 2)


def vector_of(fn, x, *arguments):
    """What a function returns, as an array where it is a list."""
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
