"""Python's collector of cycles, paused: nearly all that a compilation makes lives until its end."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

_pausing: set[object] = set()  # those for whose sake the collector is off: none if it was before


@contextmanager
def paused() -> Iterator[None]:
    """Pause the collector, unless it is off already; the last one to end switches it on."""
    own = object()
    if gc.isenabled() or _pausing:
        _pausing.add(own)
    gc.disable()
    try:
        yield
    finally:
        if own in _pausing:
            _pausing.remove(own)
            if not _pausing:
                gc.enable()


def resume() -> None:
    """Switch the collector on in a forked child, which has none of the threads that have paused it."""
    if _pausing:
        _pausing.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=resume)
