"""What solvers of SciPy are given and return, where a differentiated program calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import NotDifferentiable

__all__ = ["LeastSquares", "Minimum", "Root", "Solution", "Trajectory", "closed", "inside", "real_matrix"]


def closed(fn: Callable[..., Any], count: int, *captured: Any) -> Callable[..., Any]:
    """A function of `count` arguments after its first, with what it captures behind them."""

    def call(x: Any, *arguments: Any) -> Any:
        return fn(x, *arguments[:count], *captured)

    return call


def inside(x: Any, bounds: Any) -> None:
    """Raise if a minimum lies at one of its bounds, where it does not move with the function."""
    low, high = bounds
    if min(x - low, high - x) <= 1e-4 * (high - low):
        raise NotDifferentiable(
            "the minimum lies at a bound, where its derivative is another one", "give it bounds that it does not reach"
        )


def real_matrix(matrix: Any) -> None:
    """Raise if a sparse matrix is complex: the derivative of its systems is one of real numbers."""
    if matrix.dtype.kind == "c":
        raise NotDifferentiable(
            "systems with a complex sparse matrix have no derivative here", "solve for the real and the imaginary part"
        )


class Root:
    """What ``root_scalar`` returns."""

    def __init__(self, root: Any, converged: Any, flag: Any, iterations: Any, function_calls: Any) -> None:
        self.root = root
        self.converged = converged
        self.flag = flag
        self.iterations = iterations
        self.function_calls = function_calls


class Solution:
    """What ``root`` returns."""

    def __init__(self, x: Any, success: Any, status: Any, message: Any, nfev: Any) -> None:
        self.x = x
        self.success = success
        self.status = status
        self.message = message
        self.nfev = nfev


class Minimum:
    """What ``minimize`` and its like return."""

    def __init__(self, x: Any, fun: Any, success: Any, message: Any, nfev: Any, nit: Any) -> None:
        self.x = x
        self.fun = fun
        self.success = success
        self.message = message
        self.nfev = nfev
        self.nit = nit


class LeastSquares:
    """What ``least_squares`` returns."""

    def __init__(self, x: Any, cost: Any, success: Any, message: Any, nfev: Any, status: Any) -> None:
        self.x = x
        self.cost = cost
        self.success = success
        self.message = message
        self.nfev = nfev
        self.status = status


class Trajectory:
    """What ``solve_ivp`` returns."""

    def __init__(self, t: Any, y: Any, success: Any, status: Any, message: Any, nfev: Any) -> None:
        self.t = t
        self.y = y
        self.success = success
        self.status = status
        self.message = message
        self.nfev = nfev
