"""Integers that are settings: an order, a degree, an axis.

How many results there are, which helper is called, or how many axes an array has may depend on an integer.  Where a
program is refused as one for any integer, it is compiled for the very integers that it is given, and for others again.
"""

from __future__ import annotations

from typing import Any

from ..domain.pytree import Branch, Static, is_setting

__all__ = ["fixed", "settings_of"]


def settings_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells calls apart that a program for given integers serves."""
    return tuple([value if is_setting(value) else None for value in values])


def fixed(parameters: dict[str, Any], values: tuple[Any, ...]) -> dict[str, Any]:
    """What the arguments are made of, where integers that are settings are known."""
    found = {name: value for name, value in zip(parameters, values) if is_setting(value)}
    return {name: (kind, known(found[name]) if name in found else tree) for name, (kind, tree) in parameters.items()}


def known(value: Any) -> Any:
    """The tree of a setting."""
    if isinstance(value, tuple):
        return Branch(tuple, tuple(range(len(value))), tuple(map(known, value)))
    return Static(value)
