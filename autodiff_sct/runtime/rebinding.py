"""Emitted functions with other globals: another `np`, for arrays that are not NumPy's."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

__all__ = ["Binding"]

PACKAGE = "autodiff_sct.runtime."


@dataclass
class Binding:
    """Functions of emitted programs, and of this package that these call, with other globals."""

    numpy: Any  # what they have for `np`
    names: dict[str, Any]  # what they have for built-in functions
    helpers: dict[Any, Callable[..., Any]]  # what they have for functions of this package
    module: Callable[[ModuleType], Any]  # what they have for a module of SciPy
    done: dict[FunctionType, FunctionType] = field(default_factory=dict)

    def bound(self, function: FunctionType) -> FunctionType:
        """Return a function of the same text with other globals."""
        if function in self.done:
            return self.done[function]
        namespace: dict[str, Any] = {"__builtins__": builtins, **self.names}
        copied = FunctionType(
            function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
        )
        copied.__kwdefaults__ = function.__kwdefaults__
        self.done[function] = copied
        for name in names_in(function.__code__):
            if name in function.__globals__:
                namespace[name] = self.other(function.__globals__[name], function)
        return copied

    def other(self, value: Any, user: FunctionType) -> Any:
        """Return what stands for a global of a function."""
        if value is np or value is math:
            return self.numpy if value is np else Mathematics()
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "scipy":
            return self.module(value)
        if not isinstance(value, FunctionType):
            return value
        if value in self.helpers:
            return self.helpers[value]
        ours = value.__module__.startswith(PACKAGE) if value.__module__ else False
        return self.bound(value) if ours or value.__globals__ is user.__globals__ else value


class Mathematics:
    """The module ``math``, whose functions take numbers that are not Python's as NumPy's do."""

    def __getattr__(self, name: str) -> Any:
        single, of_arrays = getattr(math, name), getattr(np, "power" if name == "pow" else name, None)
        if not callable(single) or not isinstance(of_arrays, np.ufunc):
            return single
        return lambda *args: (
            of_arrays(*args) if any(isinstance(a, NDArrayOperatorsMixin) for a in args) else single(*args)
        )


def names_in(code: CodeType) -> set[str]:
    """Return the names that a function may read from its module."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return {*code.co_names}.union(*map(names_in, inner))
