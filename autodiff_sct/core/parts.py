"""Parts of the package that are read when they are needed, by code that stands below them.

The package's ``__init__``, which stands above all, names their modules in `MODULES`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["MODULES", "part"]

MODULES: dict[str, str] = {}


def part(name: str) -> ModuleType:
    """The module of a part, read now if it has not been."""
    return import_module(MODULES[name])
