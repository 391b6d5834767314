"""Objects and containers at the boundary of emitted code."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np

from ..errors import AliasError
from .broadcast import are_floats, unbroadcast

__all__ = [
    "all_different",
    "build",
    "detached",
    "is_sparse",
    "like",
    "only_looking",
    "peek",
    "permute",
    "permute_back",
    "put_back",
    "put_popped",
    "rebuild",
    "swap",
    "take_inserted",
]

MISSING = object()
NUMBERS = (float, np.float64)


def build(cls: Any, /, **fields: Any) -> Any:
    """An object of `cls` with these attributes; its ``__init__`` has been differentiated and is not run again."""
    obj = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(obj, name, value)
    return obj


def rebuild(obj: Any, /, **fields: Any) -> Any:
    """A shallow copy of `obj` with other attributes: a gradient in the container of its argument."""
    result = obj.copy() if is_sparse(obj) else copy.copy(obj)  # SciPy sorts the places of elements in place
    for name, value in fields.items():
        object.__setattr__(result, name, value)
    return result


def is_sparse(value: Any) -> bool:
    """True for a matrix or an array of ``scipy.sparse``."""
    library = sys.modules.get("scipy.sparse")
    return library is not None and bool(library.issparse(value))


def detached(value: Any) -> Any:
    """A copy of a container and of the arrays in it."""
    if isinstance(value, tuple):
        items = [detached(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [detached(item) for item in value]
    if isinstance(value, dict):
        return {key: detached(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def only_looking(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The result of a function that is given arrays which it cannot write into.

    Raises
    ------
    AliasError
        If it changes an array, a list or a dict that it is given.
    """
    given = read_only((args, kwargs))
    before = contents(given)
    try:
        result = fn(*given[0], **given[1])
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise AliasError(
            f"{fn.__name__} writes into an array that it is given", "give it a copy", code="unknown-write"
        ) from error
    if contents(given) != before:
        raise AliasError(
            f"{fn.__name__} changes a list or a dict that it is given",
            "change it before",
            code="unknown-write",
        )
    return result


def read_only(value: Any) -> Any:
    """Containers of views of the same arrays, which cannot be written through."""
    if type(value) in (tuple, list):
        return type(value)(read_only(item) for item in value)
    if type(value) is dict:
        return {key: read_only(item) for key, item in value.items()}
    if not isinstance(value, np.ndarray) or not value.flags.writeable:
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def contents(value: Any) -> Any:
    """The contents of containers: equal as long as they hold the same objects."""
    if type(value) in (tuple, list):
        return [contents(item) for item in value]
    if type(value) is dict:
        return [(key, contents(item)) for key, item in value.items()]
    return id(value)


def like(shadow: Any, value: Any) -> Any:
    """The shadow of a container, in the types of the container itself: a tuple's shadow is a list."""
    kind = type(value)
    if kind in NUMBERS and type(shadow) is kind:
        return shadow
    if (kind is list or kind is tuple) and are_floats(shadow) and are_floats(value) and len(shadow) == len(value):
        return kind(shadow)
    if isinstance(value, tuple):
        items = [like(d, v) for d, v in zip(shadow, value, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [like(d, v) for d, v in zip(shadow, value, strict=True)]
    if isinstance(value, dict):
        return {key: like(shadow[key], value[key]) for key in value}
    return unbroadcast(shadow, value)


def peek(table: Any, key: Any) -> Any:
    """The value under a key of a dict before it is assigned; a mark where there is none."""
    return table.get(key, MISSING)


def put_back(table: Any, key: Any, old: Any) -> None:
    """Undo an assignment to a dict."""
    if old is MISSING:
        del table[key]
    else:
        table[key] = old


put_back.changed = (0,)  # type: ignore[attr-defined]


def swap(items: Any, i: Any, j: Any) -> None:
    """Let two items of a list change places."""
    items[i], items[j] = items[j], items[i]


swap.changed = (0,)  # type: ignore[attr-defined]


def permute(items: list[Any], order: list[int]) -> None:
    """Let the items of a list stand in an order: first the one whose number is the first of `order`."""
    items[:] = [items[k] for k in order]


permute.changed = (0,)  # type: ignore[attr-defined]


def permute_back(items: list[Any], order: list[int]) -> None:
    """Undo `permute`."""
    moved = items[:]
    for k, item in zip(order, moved):
        items[k] = item


permute_back.changed = (0,)  # type: ignore[attr-defined]


def put_popped(items: list[Any], index: int, item: Any) -> None:
    """Undo ``items.pop(index)``, which took out an item."""
    items.insert(index if index >= 0 else len(items) + 1 + index, item)


put_popped.changed = (0,)  # type: ignore[attr-defined]


def take_inserted(items: list[Any], index: int) -> Any:
    """Undo ``items.insert(index, item)``; returns the item.

    As with slices, an index beyond an end means that end.
    """
    before = len(items) - 1
    return items.pop(min(index, before) if index >= 0 else max(before + index, 0))


take_inserted.changed = (0,)  # type: ignore[attr-defined]


def all_different(items: Any, seen: set[int] | None = None) -> None:
    """Check that no array or list is in a container twice.

    Raises
    ------
    AliasError
        If one is: a deep copy would have to hold one thing in two places, too.
    """
    seen = set() if seen is None else seen
    for item in items:
        if isinstance(item, (np.ndarray, list)):
            if id(item) in seen:
                raise AliasError(
                    "a list that is copied deeply holds one array twice", "copy the arrays one by one", code="copy"
                )
            seen.add(id(item))
        if isinstance(item, (list, tuple)):
            all_different(item, seen)
