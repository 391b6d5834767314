"""Refusals under the user's call: the frames of the compiler, of which nothing can be learned there, are left out.

``AUTODIFF_SCT_TRACEBACK=full`` keeps them.  What the user's own function raises keeps every frame.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import Refused

__all__ = ["shortened", "without_frames"]

F = TypeVar("F", bound=Callable[..., Any])


def without_frames(error: Refused) -> Refused:
    """Return a refusal without its frames so far, unless the user asked for all of them."""
    return error if os.environ.get("AUTODIFF_SCT_TRACEBACK") == "full" else error.with_traceback(None)


def shortened(fn: F) -> F:
    """Make a call of the package raise refusals without the frames below it."""

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Refused as error:
            raise without_frames(error) from error.__cause__

    return call  # type: ignore[return-value]
