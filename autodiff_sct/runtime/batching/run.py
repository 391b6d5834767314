"""An emitted function, run once for all examples."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .. import broadcast
from . import functions  # noqa: F401  (fills the table)
from .creation import BatchedNumPy, Kind
from .lanes import Lanes, count_in, per_example

__all__ = ["run"]


class BatchedMath:
    """The module ``math``, whose functions take lanes as well."""

    def __getattr__(self, name: str) -> Any:
        single, of_arrays = getattr(math, name), getattr(np, NUMPYS.get(name, name), None)
        if not callable(single) or not isinstance(of_arrays, np.ufunc):
            return single
        return lambda *args: of_arrays(*args) if any(isinstance(a, Lanes) for a in args) else single(*args)


NUMPYS = {"pow": "power", "fabs": "fabs", "isnan": "isnan"}


def run(function: FunctionType, count: int, args: list[Any]) -> Any:
    """Call an emitted function with lanes among its arguments.

    Parameters
    ----------
    function : function
        What was emitted for one example.  It must have no effects besides its result.
    count : int
        The number of examples.
    args : list
        Its arguments; lanes, or containers of them, where examples differ.

    Raises
    ------
    Unbatchable
        If it does something that has no form for all examples at once.
    Diverges
        If examples go different ways.
    """
    return Binding(count).bound(function)(*args)


class Binding:
    """Functions of emitted programs, and of this package that these call, with globals for a batch."""

    def __init__(self, count: int) -> None:
        self.numpy, self.math = BatchedNumPy(count), BatchedMath()
        self.done: dict[FunctionType, FunctionType] = {}

    def bound(self, function: FunctionType) -> FunctionType:
        """Return a function of the same text with other globals."""
        if function in self.done:
            return self.done[function]
        namespace: dict[str, Any] = {"__builtins__": builtins, **BUILTINS}
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
            return self.numpy if value is np else self.math
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "scipy":
            return OneByOne(value)
        if not isinstance(value, FunctionType):
            return value
        if value in HELPERS:
            return HELPERS[value]
        ours = value.__module__.startswith(PACKAGE) if value.__module__ else False
        return self.bound(value) if ours or value.__globals__ is user.__globals__ else value


class OneByOne:
    """A module whose functions run example by example, but for its universal functions."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        if isinstance(value, ModuleType):
            return OneByOne(value)
        if not isinstance(value, FunctionType):
            return value
        return lambda *args, **kwargs: (
            per_example(value, args, kwargs) if count_in(args, kwargs) else value(*args, **kwargs)
        )


def names_in(code: CodeType) -> set[str]:
    """Return the names that a function may read from its module."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return {*code.co_names}.union(*map(names_in, inner))


def is_instance(value: Any, kinds: Any) -> bool:
    """``isinstance`` for lanes as for what they are in one example."""
    kinds = tuple([getattr(kind, "kind", kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))])
    if not isinstance(value, Lanes):
        return isinstance(value, kinds)
    return issubclass(np.ndarray if value.ndim else value.dtype.type, kinds)


def cast(cotangent: Any, like: Any) -> Any:
    """A cotangent of the right shape in the dtype of derivatives of `like`."""
    if not isinstance(like, Lanes) and not isinstance(cotangent, Lanes):
        return broadcast.cast(cotangent, like)
    dtype = like.dtype if isinstance(like, Lanes) else np.result_type(like)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    content = cotangent if isinstance(cotangent, Lanes) else np.asarray(cotangent)
    return (content.real if content.dtype.kind == "c" != dtype.kind else content).astype(dtype, copy=False)


PACKAGE = "autodiff_sct.runtime."
HELPERS: dict[Any, Callable[..., Any]] = {broadcast.cast: cast}
BUILTINS = {"float": Kind(float), "int": Kind(int), "complex": Kind(complex), "isinstance": is_instance}
