"""Workloads by name, and their functions under another library's `np`."""

from __future__ import annotations

import importlib
import pkgutil
from types import FunctionType, ModuleType
from typing import Any

from . import workloads


def names() -> list[str]:
    """The workloads there are, in alphabetical order."""
    return sorted(found.name for found in pkgutil.iter_modules(workloads.__path__))


def load(name: str) -> ModuleType:
    """The module of one workload."""
    return importlib.import_module(f"{workloads.__name__}.{name}")


def under(module: ModuleType, numpy: Any) -> dict[str, Any]:
    """The module's namespace with `np` bound to another library, in all its functions."""
    space: dict[str, Any] = {**vars(module), "np": numpy}
    for name, value in vars(module).items():
        if isinstance(value, FunctionType):
            space[name] = FunctionType(value.__code__, space, name, value.__defaults__, value.__closure__)
    return space
