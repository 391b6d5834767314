"""Locks that are free in a forked child.

A child has one thread, the one that forked: a lock that another one held at that moment would never be released there.
What a lock guards here is put into its table at once and at the end, so the child finds it whole.  A fork waits until
an import of the compiler is over.
"""

from __future__ import annotations

import logging  # noqa: F401  (takes its lock before a fork: after ours, for such handlers run backwards)
import os
import threading
import weakref
from types import TracebackType

__all__ = ["IMPORTING", "Lock"]

_every: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """A reentrant lock, released in a child of the process."""

    __slots__ = ("__weakref__", "_held")

    def __init__(self) -> None:
        self._held = threading.RLock()
        _every.add(self)

    def __enter__(self) -> None:
        self._held.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._held.release()

    def renew(self) -> None:
        """Release what a thread holds that is no more."""
        self._held = threading.RLock()


def renew_all() -> None:
    for lock in list(_every):
        lock.renew()


IMPORTING = threading.RLock()  # held while the compiler is imported: Python's own locks of modules stay in a child


def after_in_child() -> None:
    IMPORTING.release()
    renew_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=IMPORTING.acquire, after_in_parent=IMPORTING.release, after_in_child=after_in_child)
