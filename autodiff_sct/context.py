"""MindSpore's execution settings: accepted, and without effect where there is nothing to choose."""

from __future__ import annotations

from typing import Any

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "get_context", "set_context"]

GRAPH_MODE, PYNATIVE_MODE = 0, 1
SETTINGS: dict[str, Any] = {"mode": PYNATIVE_MODE, "device_target": "CPU"}


def set_context(**settings: Any) -> None:
    """Keep settings such as ``mode=GRAPH_MODE`` or ``device_target='CPU'``: everything is compiled to NumPy anyhow."""
    SETTINGS.update(settings)


def get_context(name: str) -> Any:
    """A setting that was kept.

    Raises
    ------
    KeyError
        If it was not set.
    """
    return SETTINGS[name]
