"""MindSpore's execution settings: accepted, and without effect where there is nothing to choose."""

from __future__ import annotations

from typing import Any

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "get_context",
    "jit",
    "jit_class",
    "ms_function",
    "mutable",
    "set_context",
    "set_device",
]

GRAPH_MODE, PYNATIVE_MODE = 0, 1
SETTINGS: dict[str, Any] = {"mode": PYNATIVE_MODE, "device_target": "CPU"}


def set_context(**settings: Any) -> None:
    """Keep settings such as ``mode=GRAPH_MODE`` or ``device_target='CPU'``: everything is compiled to NumPy anyhow."""
    SETTINGS.update(settings)


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Keep the name of a device: everything runs on the CPU."""
    SETTINGS.update(device_target=device_target, device_id=device_id)


def get_context(name: str) -> Any:
    """A setting that was kept.

    Raises
    ------
    KeyError
        If it was not set.
    """
    return SETTINGS[name]


def jit(fn: Any = None, **settings: Any) -> Any:
    """The function itself: gradient functions are compiled, with or without this decorator.

    Parameters
    ----------
    fn : callable, optional
        The function; without it the call with its settings is a decorator.
    """
    return mutable if fn is None else fn


def mutable(input: Any, dynamic_len: bool = False) -> Any:
    """The value itself: arguments of any kind may be differentiated."""
    return input


jit_class = ms_function = jit
