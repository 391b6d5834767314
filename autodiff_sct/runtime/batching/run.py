"""An emitted function, run once for all examples."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .. import broadcast
from ..linalg import slopes
from ..rebinding import Binding
from . import functions  # noqa: F401  (fills the table)
from .creation import BatchedNumPy, Kind
from .lanes import Lanes, aligned, count_in, per_example

__all__ = ["run"]


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
    return Binding(BatchedNumPy(count), BUILTINS, HELPERS, OneByOne).bound(function)(*args)


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


def nan_at_zero_norm(y: Any, d: Any) -> Any:
    """Zeros, and NaN where a derivative meets the slope of a norm that is zero."""
    if count_in((y, d)) is None:
        return slopes.nan_at_zero_norm(y, d)
    return Lanes(slopes.nan_at_zero_norm(*aligned([y, d])))


HELPERS: dict[Any, Callable[..., Any]] = {broadcast.cast: cast, slopes.nan_at_zero_norm: nan_at_zero_norm}
BUILTINS = {"float": Kind(float), "int": Kind(int), "complex": Kind(complex), "isinstance": is_instance}
