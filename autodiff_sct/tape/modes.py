"""Modes of the tape, and the scopes of a rule's module as the tape reads them.

The names of the rules' modules as the tape means them, so that a rule runs on tensors as on arrays.

The run-time helpers that have rows are recorded when they meet a tensor, and ``isinstance`` takes a tensor for an
array.  Everything else is what it is for the compiler.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import Token
from functools import partial
from typing import Any

import numpy as np

from ..core.process_state import RECORDING
from ..rules.table import TABLE, Rule

__all__ = ["OWN", "enable_grad", "is_ours", "no_grad", "scope_of"]


class Switch(ContextDecorator):
    """Recording set one way inside a ``with`` block or a decorated function, for this thread or task."""

    recording: bool

    def __init__(self) -> None:
        self.tokens: list[Token[bool]] = []

    def __enter__(self) -> None:
        self.tokens.append(RECORDING.set(self.recording))

    def __exit__(self, *error: Any) -> None:
        RECORDING.reset(self.tokens.pop())

    def _recreate_cm(self) -> Switch:
        # Each call of a decorated function enters a switch of its own: calls may run in several threads.
        return type(self)()


class no_grad(Switch):
    """Do not record: results are constants.

    Examples
    --------
    >>> from autodiff_sct.tape import tensor
    >>> x = tensor(2.0, requires_grad=True)
    >>> with no_grad():
    ...     y = x * x
    >>> y.requires_grad
    False
    """

    recording = False


class enable_grad(Switch):
    """Record again, inside of `no_grad`."""

    recording = True


# Rows of the tape's own: of writing into an array.
OWN: dict[Callable[..., Any], Rule] = {}

SCOPES: dict[str, dict[str, Any]] = {}
PACKAGE = __name__.partition(".")[0]


def is_ours(fn: Any) -> bool:
    """True if `fn` is a Python function of this package's rules, whose text says all that it does."""
    return (
        isinstance(fn, types.FunctionType)
        and fn.__module__.startswith((f"{PACKAGE}.rules.", f"{PACKAGE}.ops.", f"{PACKAGE}.tape.written"))
        and fn.__closure__ is None
    )


def scope_of(names: dict[str, Any]) -> dict[str, Any]:
    """The names of a module, its functions and those that it imports bound to such scopes themselves."""
    module = names["__name__"]
    if module not in SCOPES:
        found: dict[str, Any] = {}
        SCOPES[module] = found
        found |= {name: meant_by(value) for name, value in names.items()} | {"isinstance": is_instance}
    return SCOPES[module]


def meant_by(value: Any) -> Any:
    """The meaning to the tape of a name in a rule's module."""
    if isinstance(value, types.FunctionType) and (value in TABLE or value in OWN):
        return partial(recorded, value)
    if not is_ours(value):
        return value
    twin = types.FunctionType(value.__code__, scope_of(value.__globals__), value.__name__, value.__defaults__)
    twin.__kwdefaults__ = value.__kwdefaults__
    return twin


def recorded(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a helper, on the tape if there is a tensor among its arguments."""
    from .engine import call, has_tensor

    return call(fn, args, kwargs) if has_tensor(args) else fn(*args, **kwargs)


STANDING_FOR = {np.float64: np.float32(0), np.complex128: np.complex64(0)}
ARRAY = np.empty(0)


def is_instance(x: Any, cls: Any) -> bool:
    """``isinstance`` as rules mean it: a tensor is an array, and a double of NumPy's is no Python number."""
    return isinstance(ARRAY if hasattr(type(x), "__autodiff_taped__") else STANDING_FOR.get(type(x), x), cls)
