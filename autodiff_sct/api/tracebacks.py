"""Tracebacks of what a call of the package raises: the user's frames, without those of the compiler.

A refusal comes without frames below the call.  An exception of the user's function comes with the frames that Python
would show for the function itself: it is called again, where that changes nothing and does not take long.  Otherwise
the frames of this package are left out, and a note names the user's line.  ``AUTODIFF_SCT_TRACEBACK=full`` keeps all.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from ..errors import PACKAGE, REPEATABLE, ArgumentTypeError, AutodiffError
from .other_names import KEYWORDS

__all__ = ["presented", "shortened"]

F = TypeVar("F", bound=Callable[..., Any])


def shortened(primal: Callable[..., Any] | None) -> Callable[[F], F]:
    """Make a call of the package raise what `presented` returns; `primal` calls the user's function likewise."""

    def decorate(fn: F) -> F:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            try:
                return fn(*args, **kwargs)
            except Exception as error:
                failure = error
            try:
                raise presented(failure, primal, args, kwargs)
            finally:
                del failure  # which holds this frame

        return call  # type: ignore[return-value]

    return decorate


def presented(
    error: Exception, primal: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Exception:
    """The exception to raise in the place of one; `primal` with the arguments calls the user's function once more."""
    repeatable = vars(error).pop(REPEATABLE, None)
    if os.environ.get("AUTODIFF_SCT_TRACEBACK") == "full":
        return error
    if primal is None and isinstance(error, TypeError):
        error = of_keyword(error)
    if isinstance(error, AutodiffError):
        return error.with_traceback(None)
    if repeatable is None:  # of no emitted program: a fault of the package
        return error
    if repeatable and primal is not None:
        try:
            primal(*args, **kwargs)
        except Exception as again:
            error = again
    try:
        return error.with_traceback(users_frames(error.__traceback__))
    finally:
        del error  # whose frames go back to this one


def of_keyword(error: TypeError) -> TypeError:
    """The error of a call with a keyword of another library, with the one to write instead."""
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    hint = KEYWORDS.get(found[1]) if found else None
    return ArgumentTypeError(f"{error}: {hint}") if hint else error


def users_frames(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of the package."""
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
            kept.append(traceback)
        traceback = traceback.tb_next
    found = None
    for each in reversed(kept):
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found
