"""State of the process, and parts of the package that are read when they are needed.

Parts of the package that are read when they are needed, by code that stands below them.

The package's ``__init__``, which stands above all, names their modules in `MODULES`.
"""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError

__all__ = ["MODULES", "RECORDING", "REGISTERED", "generator", "get_seed", "part", "require_recording", "set_seed"]

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
