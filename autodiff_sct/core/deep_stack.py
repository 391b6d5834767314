"""Recursion over deep trees, and Python's collector of cycles, paused.

Trees that are deeper than Python's recursion limit.

A pass over a tree is a recursive function, and an expression may be thousands deep. `deeply` runs such a function as
it is, and only where that hits the recursion limit runs it again on a thread of its own with a large stack. The
function must therefore be free of side effects until it returns.
"""

from __future__ import annotations

import contextvars
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from .process_state import Lock

P = ParamSpec("P")
R = TypeVar("R")

STACK_BYTES = 256 * 1024 * 1024
RECURSION_LIMIT = 50_000  # of 5 kB each: more than any level of the interpreter takes

_one_at_a_time = Lock()
_on_roomy_thread = threading.local()


def deeply(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `function`, with room for deep recursion if it needs that.

    Raises
    ------
    RecursionError
        If even the large stack is not enough.
    """
    try:
        return function(*args, **kwargs)
    except RecursionError:
        if getattr(_on_roomy_thread, "active", False):
            raise
    return _on_a_large_stack(lambda: function(*args, **kwargs))


def _on_a_large_stack(thunk: Callable[[], R]) -> R:
    outcome: list[Any] = []
    context = contextvars.copy_context()

    def run() -> None:
        _on_roomy_thread.active = True
        try:
            outcome.extend((True, context.run(thunk)))
        except BaseException as error:
            outcome.extend((False, error))

    # Both settings belong to the whole process, hence the lock and the restoring.
    with _one_at_a_time:
        limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
        sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
        try:
            thread = threading.Thread(target=run, name="autodiff_sct-deep")
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(size)
    succeeded, value = outcome
    if succeeded:
        return value
    raise value


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
