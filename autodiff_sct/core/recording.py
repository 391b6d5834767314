"""Whether the tape records: a switch of each thread and task, which the compiler's calls look at too."""

from __future__ import annotations

from contextvars import ContextVar

from ..errors import ArgumentRuntimeError

__all__ = ["RECORDING", "require_recording"]

RECORDING: ContextVar[bool] = ContextVar("recording", default=True)


def require_recording() -> None:
    """RuntimeError inside `autodiff_sct.tape.no_grad`."""
    if not RECORDING.get():
        raise ArgumentRuntimeError("a gradient was asked for inside no_grad(): ask for it outside, or in enable_grad()")
