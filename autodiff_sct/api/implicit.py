"""`implicit_root` and `linearize`: the implicit function theorem, and a derivative as a linear function."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate  # noqa: F401  (the rules of solutions are there once SciPy is)

from ..errors import ArgumentValueError
from .arguments import checked_callable
from .gradients import jvp

__all__ = ["ImplicitRoot", "implicit_root", "linear_map", "linearize", "solution"]


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


def linearize(fn: Callable[..., Any], *args: Any) -> tuple[Any, Callable[..., Any]]:
    """Compute the value of `fn` and the linear map that its derivative is there.

    The map runs the tangent program of `fn` at copies of the arguments, so it costs a `jvp` each time, which computes
    the value again; what is compiled is compiled once.  ``vmap(linear)(directions)`` applies it to many directions in
    one run, which computes the value once.  `vjp` returns the transposed map, and keeps what the value's run computed.

    Parameters
    ----------
    fn : callable
        What is differentiated.
    *args : array, float, or containers of them
        Its arguments.

    Returns
    -------
    value
        What `fn` returns.
    linear : callable
        Takes one direction for each argument, of its shape, and returns the tangent, in the structure of the value.

    Raises
    ------
    TypeError, ValueError
        As `jvp`, when the map is called.

    Examples
    --------
    >>> import numpy as np
    >>> value, linear = linearize(lambda x: x**2, np.array([1.0, 3.0]))
    >>> value, linear(np.array([1.0, 0.0])), linear(np.array([0.0, 1.0]))
    (array([1., 9.]), array([2., 0.]), array([0., 6.]))
    """
    return linear_map(checked_callable(fn), copy.deepcopy(args))


def linear_map(fn: Callable[..., Any], args: Any) -> tuple[Any, Callable[..., Any]]:
    """The value and the map; the compiler follows this in the place of `linearize`."""

    def linear(*directions: Any) -> Any:
        return jvp(fn, args, directions)[1]

    return fn(*args), linear
