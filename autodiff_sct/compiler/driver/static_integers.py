"""Integers that are settings: an order, a degree, an axis.

How many results there are, which helper is called, or how many axes an array has may depend on an integer.  Where a
program is refused as one for any integer, it is compiled for the very integers that it is given, and for others again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import Refused
from ..domain.compiled import Emitted
from ..domain.pytree import Branch, Static, is_setting

if TYPE_CHECKING:
    from ..ir.request import Request
    from .dispatch import Compiled

__all__ = ["for_settings", "settings_of"]


def settings_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells calls apart that a program for given integers serves."""
    return tuple([value if is_setting(value) else None for value in values])


def for_settings(compiled: Compiled, request: Request, values: tuple[Any, ...]) -> tuple[Emitted, Any] | None:
    """The program for given integers, and what its arguments are made of; None where it is refused, too."""
    parameters = fixed(request.parameters, values)
    if parameters == request.parameters and not request.settings_met:
        return None
    try:
        emitted = compiled.repeatable(replace(compiled.request(parameters, request.wrt), by_settings=True))
    except Refused:
        return None
    compiled.by_settings, compiled.arity = True, -1  # from now on, calls are told apart by them
    compiled.met.clear()
    return emitted, (parameters, request.wrt)


def fixed(parameters: dict[str, Any], values: tuple[Any, ...]) -> dict[str, Any]:
    """What the arguments are made of, where integers that are settings are known."""
    found = {name: value for name, value in zip(parameters, values) if is_setting(value)}
    return {name: (kind, known(found[name]) if name in found else tree) for name, (kind, tree) in parameters.items()}


def known(value: Any) -> Any:
    """The tree of a setting."""
    if isinstance(value, tuple):
        return Branch(tuple, tuple(range(len(value))), tuple(map(known, value)))
    return Static(value)
