"""`linearize`: the value of a function and its derivative as a function of directions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from .arguments import checked_callable
from .gradients import jvp

__all__ = ["linear_map", "linearize"]


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
