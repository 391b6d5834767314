"""An emitted function, run on index sets; colours: columns without a common row, which one direction serves."""

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

__all__ = ["coloured", "pattern_of"]


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


def coloured(pattern: csr_array) -> np.ndarray:
    """Return a colour for each column, numbered from 0.

    In a band, columns that are as far from each other as the widest row may share a colour.  Where that takes more than
    twice as many colours as the fullest row has entries, each column in turn gets the first colour that no column has
    with which it shares a row (greedy colouring at distance 2: A. R. Curtis, M. J. D. Powell and J. K. Reid, "On the
    estimation of sparse Jacobian matrices", IMA Journal of Applied Mathematics 13 (1974)).
    """
    rows = np.diff(pattern.indptr)
    if not pattern.nnz:
        return np.zeros(pattern.shape[1], int)
    filled = rows > 0
    starts = pattern.indptr[:-1][filled]
    widest = np.max(
        np.maximum.reduceat(pattern.indices, starts) - np.minimum.reduceat(pattern.indices, starts), initial=0
    )
    if widest + 1 <= 2 * np.max(rows):
        return np.arange(pattern.shape[1]) % (widest + 1)
    return greedy(pattern)


def greedy(pattern: csr_array) -> np.ndarray:
    """Return the first colour for each column that none of its neighbours has."""
    columns = pattern.tocsc()
    colours = np.full(pattern.shape[1], -1)
    for j in range(pattern.shape[1]):
        taken = set()
        for i in columns.indices[columns.indptr[j] : columns.indptr[j + 1]]:
            taken.update(colours[pattern.indices[pattern.indptr[i] : pattern.indptr[i + 1]]].tolist())
        colour = 0
        while colour in taken:
            colour += 1
        colours[j] = colour
    return colours
