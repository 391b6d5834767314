"""Whether the tape records: a switch that is thread's and task's own, and that the compiler's calls look at too."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["RECORDING"]

RECORDING: ContextVar[bool] = ContextVar("recording", default=True)
