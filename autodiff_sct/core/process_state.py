"""State of the process: parts of the package read when they are needed, and locks that are free in a forked child.

Parts of the package that are read when they are needed, by code that stands below them.

The package's ``__init__``, which stands above all, names their modules in `MODULES`.

A child has one thread, the one that forked: a lock that another one held at that moment would never be released there.
What a lock guards here is put into its table at once and at the end, so the child finds it whole.  A fork waits until
an import of the compiler is over.
"""

from __future__ import annotations

import logging  # noqa: F401  (takes its lock before a fork: after ours, for such handlers run backwards)
import os
import threading
import weakref
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from ..errors import ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError

__all__ = [
    "IMPORTING",
    "MODULES",
    "RECORDING",
    "REGISTERED",
    "Lock",
    "generator",
    "get_seed",
    "part",
    "require_recording",
    "set_seed",
]

RECORDING: ContextVar[bool] = ContextVar("recording", default=True)  # by thread and task
REGISTERED: list[Any] = []  # functions that users have registered a derivative for
STATE: dict[str, Any] = {}  # the generator of initial weights and of dropout, and the seed that it began with


def require_recording() -> None:
    """RuntimeError inside `autodiff_sct.tape.no_grad`."""
    if not RECORDING.get():
        raise ArgumentRuntimeError("a gradient was asked for inside no_grad(): ask for it outside, or in enable_grad()")


def generator() -> np.random.Generator:
    """The generator in use."""
    if not STATE:
        STATE["generator"] = np.random.default_rng()
    found: np.random.Generator = STATE["generator"]
    return found


def get_seed() -> int | None:
    """The seed that was set; None where none was."""
    return STATE.get("seed")


def set_seed(seed: int) -> None:
    """Start the random numbers of the package anew, and NumPy's global ones, as MindSpore does.

    Raises
    ------
    TypeError
        If `seed` is not an int.
    ValueError
        If it is negative.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ArgumentTypeError(f"a seed is an int, not {seed!r}")
    if seed < 0:
        raise ArgumentValueError(f"a seed is not negative: {seed}")
    STATE.update(generator=np.random.default_rng(seed), seed=seed)
    np.random.seed(seed % 2**32)


MODULES: dict[str, str] = {}


def part(name: str) -> ModuleType:
    """The module of a part, read now if it has not been."""
    return import_module(MODULES[name])


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
