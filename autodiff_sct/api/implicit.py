"""`implicit_root`: derivatives of what a solver of the user's own returns, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate  # noqa: F401  (the rules of solutions are there once SciPy is)

from ..errors import ArgumentValueError
from .arguments import checked_callable

__all__ = ["ImplicitRoot", "implicit_root", "solution"]


def implicit_root(solve: Callable[..., Any], residual: Callable[..., Any]) -> ImplicitRoot:
    """Make the function that solves an equation, with the derivatives of its solution.

    ``implicit_root(solve, residual)(guess, *args)`` is what ``solve(guess, *args)`` returns: the ``x`` at which
    ``residual(x, *args)`` is 0.  The solver is called and not looked into: it may be any code.  The derivatives with
    respect to `args`, and to variables that `residual` captures, are those of the solution, of any order and in both
    modes; the guess has none.  They are as exact as the solution is, and cost one dense Jacobian of `residual` and one
    linear system with it.  It needs SciPy, as the package's rules for ``scipy.optimize`` do.

    Parameters
    ----------
    solve : callable
        ``solve(guess, *args)``, without effects that matter.  A solver that captures variables of a differentiated
        function is compiled, so it has to be code that the compiler can follow.
    residual : callable
        ``residual(x, *args)``, differentiable, of the shape of ``x``.

    Returns
    -------
    ImplicitRoot
        A function of a number or a vector of floats, the guess, and of numbers and arrays.  It returns a float64 of the
        guess's shape.

    Raises
    ------
    TypeError
        If `solve` or `residual` cannot be called.
    ValueError
        On the call, if the solver returns something of another shape than the guess.
    LinAlgError
        When a derivative is computed, if the Jacobian of `residual` is singular at the solution.

    Examples
    --------
    >>> from autodiff_sct import grad
    >>> def heron(x, a):
    ...     for _ in range(20):
    ...         x = 0.5 * (x + a / x)
    ...     return x
    >>> root = implicit_root(heron, lambda x, a: x * x - a)
    >>> float(root(1.0, 4.0)), float(grad(lambda a: root(1.0, a))(4.0))
    (2.0, 0.25)
    """
    return ImplicitRoot(checked_callable(solve), checked_callable(residual))


class ImplicitRoot:
    """A solver with the residual of its equation, made by `implicit_root`; called as the solver is."""

    def __init__(self, solve: Callable[..., Any], residual: Callable[..., Any]) -> None:
        self.solve = solve
        self.residual = residual

    def __call__(self, guess: Any, *args: Any) -> Any:
        return solution(self.solve, len(args), self.residual, guess, *args)


def solution(solve: Callable[..., Any], count: int, residual: Callable[..., Any], guess: Any, *args: Any) -> Any:
    """Return what a solver of `count` arguments finds, as a float64 of the shape of its guess."""
    found = solve(guess, *args[:count])
    if np.shape(found) != np.shape(guess):
        raise ArgumentValueError(
            f"the solver of implicit_root returned the shape {np.shape(found)} for a guess of shape {np.shape(guess)}: "
            "return the solution in the shape of the guess"
        )
    return np.asarray(found, np.float64) if np.ndim(guess) else np.float64(found)
