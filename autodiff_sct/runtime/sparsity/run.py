"""An emitted function, run on index sets."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .. import broadcast
from ..linalg.slopes import nan_at_zero_norm
from ..rebinding import Binding
from .tracked import Run, Tracked, TrackedNumPy, Untraceable, all_tracked, unknown

__all__ = ["pattern_of"]


def pattern_of(function: FunctionType, args: list[Any], position: int) -> tuple[csr_array, bool]:
    """Return the pattern of the Jacobian with respect to one argument, and True if it depends on values.

    Parameters
    ----------
    function : function
        What was emitted.  It must have no effects besides its result.
    args : list
        Its arguments.
    position : int
        That of the argument, an array or a number.

    Raises
    ------
    Untraceable
        If the program does something that index sets cannot follow.
    """
    x = args[position]
    run = Run(np.size(x))
    identity = csr_array(
        (np.ones(run.inputs, np.bool_), np.arange(run.inputs), np.arange(run.inputs + 1)), shape=(run.inputs,) * 2
    )
    given = [*args]
    given[position] = run.fresh(x.copy() if isinstance(x, np.ndarray) else x, identity)
    names = {"isinstance": is_instance, "float": single(float), "int": single(int)}
    found = Binding(TrackedNumPy(run), names, {broadcast.cast: cast, nan_at_zero_norm: no_number}, Unknown).bound(
        function
    )(*given)
    if not isinstance(found, Tracked):
        found = run.fresh(found)
    pattern = found.rows
    pattern.sort_indices()
    return pattern, run.value_dependent


def no_number(y: Any, d: Any) -> float:
    """Zero: what holds at single points is not part of a pattern."""
    return 0.0


class Unknown:
    """A module of SciPy: all of a result depends on all that its function was given."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        if isinstance(value, ModuleType):
            return Unknown(value)
        if not isinstance(value, FunctionType):
            return value
        return lambda *args, **kwargs: (
            unknown(value, args, kwargs) if all_tracked([args, kwargs]) else value(*args, **kwargs)
        )


def single(kind: Any) -> Callable[..., Any]:
    """Return ``float`` and the like for numbers that depend on inputs."""

    def convert(value: Any = 0) -> Any:
        if not isinstance(value, Tracked):
            return kind(value)
        if kind is int:
            return int(value)
        if value.size != 1:
            raise Untraceable("an array is converted to a number")
        return value.run.fresh(np.float64(np.asarray(value.value).item()), value.rows)

    convert.kind, convert.dtype = kind, np.dtype(kind)  # type: ignore[attr-defined]
    return convert


def is_instance(value: Any, kinds: Any) -> bool:
    """``isinstance`` for what is tracked as for its value."""
    kinds = tuple([getattr(kind, "kind", kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))])
    return isinstance(value.value if isinstance(value, Tracked) else value, kinds)


def cast(cotangent: Any, like: Any) -> Any:
    """A cotangent of the right shape in the dtype of derivatives of `like`."""
    plain = like.value if isinstance(like, Tracked) else like
    if not isinstance(cotangent, Tracked):
        return broadcast.cast(cotangent, plain)
    return cotangent.run.fresh(broadcast.cast(np.asarray(cotangent.value), plain), cotangent.rows)
