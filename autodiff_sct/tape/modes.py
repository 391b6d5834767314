"""Switching recording off and on."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import Token
from typing import Any

from ..core.process_state import RECORDING

__all__ = ["enable_grad", "no_grad"]


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
