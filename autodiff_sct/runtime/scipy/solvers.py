"""Arguments and results of SciPy's solvers in a differentiated program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from typing import Any

import numpy as np
from scipy import optimize

from ...errors import NotDifferentiable

__all__ = [
    "Fitted",
    "LeastSquares",
    "Linear",
    "Minimum",
    "Nonlinear",
    "Root",
    "Solution",
    "Trajectory",
    "closed",
    "inside",
    "real_matrix",
]


def closed(fn: Callable[..., Any], count: int, *captured: Any) -> Callable[..., Any]:
    """A function of `count` arguments after its first, with what it captures behind them."""

    def call(x: Any, *arguments: Any) -> Any:
        return fn(x, *arguments[:count], *captured)

    return call


def model_of(fn: Callable[..., Any], count: int, *captured: Any) -> Callable[..., Any]:
    """A model of `count` parameters, which SciPy counts, with what it captures behind them."""
    model = partial(called, fn, count, captured)
    names = ["x", *(f"parameter{k}" for k in range(count))]
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    model.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return model


def called(fn: Callable[..., Any], count: int, captured: Any, x: Any, *parameters: Any) -> Any:
    """The value of such a model."""
    return fn(x, *parameters, *captured)


def limits(bounds: Any, x: Any) -> tuple[Any, Any]:
    """The lower and the upper bounds of a solution: two numbers or arrays, or an object ``Bounds``."""
    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds
    return np.broadcast_to(low, np.shape(x)).astype(float), np.broadcast_to(high, np.shape(x)).astype(float)


def limits_of_pairs(bounds: Any, x: Any) -> tuple[Any, Any]:
    """The same of the bounds of ``minimize``, which may be one pair for each number."""
    if isinstance(bounds, optimize.Bounds):
        return limits(bounds, x)
    low = [-np.inf if pair[0] is None else pair[0] for pair in bounds]
    return limits((low, [np.inf if pair[1] is None else pair[1] for pair in bounds]), x)


for _fn in (limits, limits_of_pairs):
    _fn.stands_for = "a bound of scipy.optimize"  # type: ignore[attr-defined]


def inside(x: Any, bounds: Any) -> None:
    """Raise if a minimum lies at one of its bounds, where it does not move with the function."""
    low, high = bounds
    if min(x - low, high - x) <= 1e-4 * (high - low):
        raise NotDifferentiable(
            "the minimum lies at a bound, where its derivative is another one",
            "give it bounds that it does not reach",
            code="solution",
        )


def real_matrix(matrix: Any) -> None:
    """Raise if a sparse matrix is complex: the derivative of its systems is one of real numbers."""
    if matrix.dtype.kind == "c":
        raise NotDifferentiable(
            "systems with a complex sparse matrix have no derivative here",
            "solve for the real and the imaginary part",
            code="setting",
        )


class Linear:
    """``LinearConstraint(A, lb, ub)``."""

    stands_for = "scipy.optimize.LinearConstraint"

    def __init__(self, A: Any, lb: Any = -np.inf, ub: Any = np.inf, keep_feasible: Any = False) -> None:
        self.A, self.lb, self.ub = A, lb, ub

    def fun(self, x: Any) -> Any:
        return self.A @ x


class Nonlinear:
    """``NonlinearConstraint(fun, lb, ub)``."""

    stands_for = "scipy.optimize.NonlinearConstraint"

    def __init__(
        self, fun: Any, lb: Any, ub: Any, jac: Any = "2-point", hess: Any = None, keep_feasible: Any = False
    ) -> None:
        self.fun, self.lb, self.ub = fun, lb, ub


class Root:
    """The result of ``root_scalar``."""

    stands_for = "what scipy.optimize.root_scalar returns"

    def __init__(self, root: Any, converged: Any, flag: Any, iterations: Any, function_calls: Any) -> None:
        self.root = root
        self.converged = converged
        self.flag = flag
        self.iterations = iterations
        self.function_calls = function_calls


class Solution:
    """The result of ``root``."""

    stands_for = "what scipy.optimize.root returns"

    def __init__(
        self, made: Any, fn: Any, arguments: Any, x: Any, success: Any, status: Any, message: Any, nfev: Any
    ) -> None:
        self.made = made
        self.fn = fn
        self.arguments = arguments
        self.x = x
        self.success = success
        self.status = status
        self.message = message
        self.nfev = nfev

    @property
    def fun(self) -> Any:
        return residuals(self.made, self.fn, self.x, *self.arguments)


class Minimum:
    """The result of ``minimize`` and its like."""

    stands_for = "what a minimiser of scipy.optimize returns"

    def __init__(self, x: Any, fun: Any, success: Any, message: Any, nfev: Any, nit: Any) -> None:
        self.x = x
        self.fun = fun
        self.success = success
        self.message = message
        self.nfev = nfev
        self.nit = nit


class LeastSquares:
    """The result of ``least_squares``."""

    stands_for = "what scipy.optimize.least_squares returns"

    def __init__(
        self, made: Any, fn: Any, arguments: Any, x: Any, cost: Any, success: Any, message: Any, nfev: Any, status: Any
    ) -> None:
        self.made = made
        self.fn = fn
        self.arguments = arguments
        self.x = x
        self.cost = cost
        self.success = success
        self.message = message
        self.nfev = nfev
        self.status = status

    @property
    def fun(self) -> Any:
        return residuals(self.made, self.fn, self.x, *self.arguments)

    @property
    def jac(self) -> Any:
        return slopes(self.made, self.fn, self.x, *self.arguments)


def residuals(made: Any, fn: Any, x: Any, *arguments: Any) -> Any:
    """The residuals at a solution."""
    return made.fun


def slopes(made: Any, fn: Any, x: Any, *arguments: Any) -> Any:
    """The derivatives of residuals at a solution."""
    return made.jac


class Fitted:
    """The result of ``lsq_linear``."""

    stands_for = "what scipy.optimize.lsq_linear returns"

    def __init__(self, x: Any, cost: Any, fun: Any, success: Any, message: Any, status: Any, nit: Any) -> None:
        self.x = x
        self.cost = cost
        self.fun = fun
        self.success = success
        self.message = message
        self.status = status
        self.nit = nit


class Trajectory:
    """The result of ``solve_ivp``."""

    stands_for = "what scipy.integrate.solve_ivp returns"

    def __init__(self, t: Any, y: Any, success: Any, status: Any, message: Any, nfev: Any) -> None:
        self.t = t
        self.y = y
        self.success = success
        self.status = status
        self.message = message
        self.nfev = nfev


# Linear least squares, of which SciPy finds the solution


def between_bounds(found: Any, a: Any, b: Any, low: Any, high: Any) -> Any:
    """The solution of linear least squares of which some elements lie at their bounds."""
    slope = a.T @ (a @ found - b)
    below = (found - low <= 1e-6 * (1 + np.abs(found))) & (slope >= 0)
    above = (high - found <= 1e-6 * (1 + np.abs(found))) & (slope <= 0)
    free = ~(below | above)
    held = np.where(below, low, np.where(above, high, 0.0))
    right = np.where(free, a.T @ (b - a @ held), held)
    return np.linalg.solve(np.where(free[:, None] & free, a.T @ a, np.eye(found.size)), right)


def residual(a: Any, x: Any, b: Any) -> Any:
    return a @ x - b


def half_squares(a: Any, x: Any, b: Any) -> Any:
    return 0.5 * np.sum((a @ x - b) ** 2)


def distance(a: Any, x: Any, b: Any) -> Any:
    return np.sqrt(np.sum((a @ x - b) ** 2))
