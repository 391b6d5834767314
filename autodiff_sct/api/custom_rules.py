"""`rule`: derivatives for users' own functions, in the form of the package's own table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..entry import REGISTERED
from ..errors import ArgumentTypeError
from ..rules import table

__all__ = ["rule"]

F = TypeVar("F", bound=Callable[..., Any])


class Rule:
    """Register the derivative of functions: ``@rule(fn)``, or one of its methods.

    The decorated function is ``rule(y, d, *arguments)``: ``y`` is the result, ``d`` the incoming derivative, and the
    rest are the function's own parameters with the same names, order and defaults.  It returns for each differentiable
    parameter the linear map that its derivative obeys, applied to ``d``: one entry, or a tuple with None where there is
    no derivative.  The text is inlined into adjoints, so it is also what is read there.

    ================  ====================================================  =============================
    decorator         what the text says                                    forward mode
    ================  ====================================================  =============================
    ``rule``          factors of ``d``, element by element                  the same text
    ``rule.linear``   the transpose, in the first parameter                 calls the function
    ``rule.reverse``  derivatives of the inputs from that of the result     needs a ``rule.forward``
    ``rule.forward``  the result's share of an input's derivative ``d``     is this
    ================  ====================================================  =============================

    ``rule.constant(fn)`` declares that the derivative of `fn` is zero wherever there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_sct import grad
    >>> def cube(x):
    ...     return x * x * x
    >>> @rule(cube)
    ... def cube_rule(y, d, x):
    ...     return d * 3 * x**2
    >>> grad(cube)(2.0)
    12.0
    """

    def __call__(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register an elementwise derivative."""
        return table.elementwise(*checked(fns))

    def linear(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register the transpose of functions that are linear in their first parameter."""
        return table.linear(*checked(fns))

    def reverse(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register the reverse-mode derivative."""
        return table.reverse(*checked(fns))

    def forward(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register the forward-mode derivative."""
        return table.forward(*checked(fns))

    def constant(self, *fns: Callable[..., Any]) -> None:
        """Declare functions whose derivative is zero wherever there is one."""
        table.nondifferentiable(*checked(fns))


def checked(fns: tuple[Any, ...]) -> tuple[Callable[..., Any], ...]:
    """The functions, noted down; TypeError unless there is one and all can be called."""
    if not fns or not all(callable(fn) for fn in fns):
        raise ArgumentTypeError(f"rule takes the functions whose derivative is registered, not {fns!r}")
    REGISTERED.extend(fns)
    return fns


rule = Rule()
