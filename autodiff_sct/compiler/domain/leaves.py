"""The numbers and arrays in an argument: one by one, and put back into containers of the same structure."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...tensor import Tensor

__all__ = ["children", "holds_chunked", "is_chunked", "is_number", "leaves", "replaced", "with_children"]


def is_number(x: Any) -> bool:
    """True if `x` is a number or an array that has a derivative."""
    if isinstance(x, (float, complex)):
        return True
    return isinstance(x, (Tensor, np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "fc"


def children(x: Any) -> dict[Any, Any] | None:
    """The children of a container by index, key or attribute; None for no container."""
    if isinstance(x, (tuple, list)):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return x
    plain = x is None or callable(x) or isinstance(x, (Tensor, np.ndarray, np.generic, str, bytes, int, float, complex))
    if plain or type(x).__module__ in ("builtins", "numpy.random"):
        return None
    from .pytree import field_names, refuse_other_arrays

    refuse_other_arrays(x)
    return {name: getattr(x, name) for name in field_names(x)}


def with_children(x: Any, found: dict[Any, Any]) -> Any:
    """A container like `x` that holds something else."""
    if isinstance(x, (tuple, list)):
        items = list(found.values())
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return found
    from ...runtime.objects import rebuild

    return rebuild(x, **found)


def is_chunked(x: Any) -> bool:
    """True for a dask array; dask is not imported for it."""
    return type(x).__module__.startswith("dask.array") and hasattr(x, "__dask_graph__")


def holds_chunked(x: Any) -> bool:
    """True for a dask array, and for nested tuples, lists and dicts that hold one; they may hold themselves."""
    waiting, met = [x] if "dask.array" in sys.modules else [], set()
    while waiting:
        part = waiting.pop()
        if is_chunked(part):
            return True
        if isinstance(part, (tuple, list, dict)) and id(part) not in met:
            met.add(id(part))
            waiting += part.values() if isinstance(part, dict) else part
    return False


def leaves(x: Any, like: Any) -> Iterator[Any]:
    """The leaves of `x` where `like` has its numbers and arrays."""
    if is_number(like):
        yield x
        return
    inside = children(like)
    if inside is not None:
        here = children(x) or {}
        for key, part in inside.items():
            yield from leaves(here[key], part)


def replaced(x: Any, found: Iterator[Any]) -> Any:
    """`x` with other numbers and arrays, in order."""
    if is_number(x):
        return next(found)
    inside = children(x)
    return x if inside is None else with_children(x, {key: replaced(part, found) for key, part in inside.items()})
