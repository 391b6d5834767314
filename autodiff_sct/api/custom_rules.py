"""`rule`: derivatives for users' own functions, in the form of the package's own table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..core import process_state
from ..errors import ArgumentTypeError, ArgumentValueError
from ..rules import table
from .arguments import name_of
from .checking import check_grads

__all__ = ["check_rule", "constant", "rule"]

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

    A rule whose parameters after ``y`` and ``d`` have other names than the function's is a TypeError.  `check_rule`
    compares a rule with differences; `constant` declares that a function has no derivative.

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

    constant: Callable[..., Any]

    def __call__(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register an elementwise derivative."""
        return registrar(table.elementwise, fns)

    def linear(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register the transpose of functions that are linear in their first parameter."""
        return registrar(table.linear, fns)

    def reverse(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register the reverse-mode derivative."""
        return registrar(table.reverse, fns)

    def forward(self, *fns: Callable[..., Any]) -> Callable[[F], F]:
        """Register the forward-mode derivative."""
        return registrar(table.forward, fns)


def constant(fn: F, *others: Callable[..., Any]) -> F:
    """Declare that a function carries no derivative, and return it: also the decorator ``@constant``.

    Calls of it stay calls in the emitted program.  The compiler does not look into them, and what they return is a
    constant to derivatives, whatever the arguments are.

    Parameters
    ----------
    fn, *others : callable
        The functions, which must not change their arguments.

    Raises
    ------
    TypeError
        If one of them cannot be called.

    Examples
    --------
    >>> from autodiff_sct import grad
    >>> @constant
    ... def price(table, day):
    ...     return float(table.get(day, "1.0"))
    >>> grad(lambda x, table: x**2 * price(table, "mon"))(3.0, {"mon": "2.0"})
    12.0
    """
    table.nondifferentiable(*checked((fn, *others)))
    return fn


Rule.constant = staticmethod(constant)


def check_rule(fn: Callable[..., Any], *args: Any) -> None:
    """Compare the registered derivative of `fn` at `args` with central differences.

    Both modes and the second order are compared as far as the rule has them.

    Parameters
    ----------
    fn : callable
        A function with a rule.
    *args
        Arguments of it: arrays, numbers and containers of them, away from kinks.

    Raises
    ------
    DerivativeMismatch
        Where the rule differs from the differences.
    ValueError
        If `fn` has no rule.

    Examples
    --------
    >>> import math
    >>> check_rule(math.exp, 0.5)
    """
    row = table.TABLE.get(fn)
    if row is None:
        raise ArgumentValueError(f"{name_of(fn)} has no rule: register one with `@autodiff_sct.rule({name_of(fn)})`")
    modes = ["fwd"] if row.forward is not None or row.kind == "linear" else []
    modes += ["rev"] if row.reverse is not None else []
    check_grads(fn, args, 2 if row.reverse is not None else 1, modes)


def registrar(register: Callable[..., Any], fns: tuple[Any, ...]) -> Callable[[F], F]:
    """Return the decorator that registers a rule of functions: TypeError unless it takes what they take."""
    checked(fns)

    def decorate(text: F) -> F:
        if not inspect.isfunction(text):
            raise ArgumentTypeError(
                "`@rule` takes the function whose derivative is registered: "
                f"write `@rule({name_of(fns[0])})` above the rule, a function of its own"
            )
        for fn in fns:
            require_same_parameters(fn, text)
        return register(*fns)(text)

    return decorate


def require_same_parameters(fn: Callable[..., Any], text: Callable[..., Any]) -> None:
    """TypeError unless a rule takes ``y``, ``d`` and the parameters of its function, where these are known."""
    taken = [p.name for p in inspect.signature(text).parameters.values()]
    try:
        wanted = [p.name for p in inspect.signature(fn).parameters.values()]
    except (TypeError, ValueError):
        wanted = taken[2:]  # of a builtin without a signature
    if len(taken) < 2 or (inspect.isfunction(fn) and taken[2:] != wanted):
        expected = ", ".join(["y", "d", *wanted])
        raise ArgumentTypeError(
            f"the rule of {name_of(fn)} takes ({', '.join(taken)}): write `def {text.__name__}({expected})`, "
            "for the result, the incoming derivative, and the function's own parameters"
        )


def checked(fns: tuple[Any, ...]) -> tuple[Callable[..., Any], ...]:
    """The functions, noted down; TypeError unless there is one and all can be called."""
    if not fns or not all(callable(fn) for fn in fns):
        raise ArgumentTypeError(f"rule takes the functions whose derivative is registered, not {fns!r}")
    process_state.REGISTERED.extend(fns)
    return fns


rule = Rule()
