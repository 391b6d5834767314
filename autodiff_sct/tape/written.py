"""The one operation that NumPy has no pure function for, with its rule: an array with a part of it written over."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AliasError
from ..runtime import stored

__all__ = ["followed", "written", "written_rule"]


def followed(x: Any, path: tuple[Any, ...]) -> Any:
    """The view of `x` to which the steps of `path` lead."""
    for step in path:
        x = step(x)
    return x


def written(x: Any, value: Any, path: tuple[Any, ...], index: Any, order: Any) -> Any:
    """A copy of `x`, laid out in `order`, with `value` written into its view at `path`, at `index`."""
    y = np.array(x, order=order)
    part_of(y, path)[index] = value
    return y


def part_of(y: Any, path: tuple[Any, ...]) -> Any:
    """The view of `y` at `path`, which shares its memory as the one did that was written to."""
    part = followed(y, path)
    if path and part.size and not np.may_share_memory(part, y):
        raise AliasError("a view was written to whose like cannot be made of the cotangent", "write by index instead")
    return part


def written_rule(y, d, x, value, path, index, order):  # type: ignore[no-untyped-def]
    """The rule of a write: no derivative for what was written over, that of its place for what was written."""
    return written(d, 0.0, path, index, order), stored(followed(d, path), index)
