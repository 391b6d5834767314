"""Adjoints of reading and of storing through an index, and of padding an array with its own elements.

Reading one position twice adds two cotangents up; storing to one position twice leaves the first value without any.
Plain ``shadow[index] += d`` gets both wrong where an integer index repeats, and is right, and fastest, elsewhere.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import thresholds
from ..errors import AliasError
from .broadcast import zeros_like

__all__ = ["add_at", "diagonal_adjoint", "gather_adjoint", "stored", "strided_places", "unpad"]


def add_at(shadow: Any, index: Any, cotangent: Any) -> None:
    """Add the cotangent of ``x[index]`` to `shadow`, the cotangent of ``x``, in place.

    Parameters
    ----------
    shadow : array, list or dict
        Changed in place.
    index : any index that NumPy takes, or a key
        Integer arrays may name a position several times: all of its shares are added.
    cotangent : scalar or array
        Of the shape of ``x[index]``, or broadcasting to it.
    """
    if not isinstance(shadow, np.ndarray):
        add_to_items(shadow, index, cotangent)
        return
    if not shadow.size:  # NumPy lets one take what is not there of nothing, but not add to it
        return
    if np.iscomplexobj(cotangent) and not np.iscomplexobj(shadow):
        cotangent = np.real(cotangent)
    if not may_repeat(index):
        shadow[index] += cotangent
    elif is_row_index(index) and is_worth_a_flat_index(shadow, np.size(index)):
        add_rows(shadow, np.asarray(index), cotangent)
    elif is_number_index(shadow, index) and shadow.flags.c_contiguous and index[0].size > thresholds.ADDED_ONE_BY_ONE:
        add_numbers(shadow, index, cotangent)
    else:
        np.add.at(shadow, plain(index), cotangent)


def gather_adjoint(cotangent: Any, x: Any, index: Any) -> Any:
    """The cotangent of `x` from that of ``x[index]``: zero but at `index`, where shares of one position are added."""
    shadow = zeros_like(x)
    add_at(shadow, index, cotangent)
    return shadow


def diagonal_adjoint(cotangent: Any, x: np.ndarray, offset: int = 0) -> np.ndarray:
    """The cotangent of a matrix `x` from that of ``np.diagonal(x, offset)``, an array or one number for all of it.

    >>> diagonal_adjoint(2.0, np.ones((2, 3)), 1)
    array([[0., 2., 0.],
           [0., 0., 2.]])
    """
    shadow = zeros_like(x)
    rows, columns = shadow.shape
    right, down = max(offset, 0), max(-offset, 0)
    first, length = down * columns + right, max(0, min(rows - down, columns - right))
    if np.iscomplexobj(cotangent) and not np.iscomplexobj(shadow):
        cotangent = np.real(cotangent)
    shadow.flat[first : first + length * (columns + 1) : columns + 1] = cotangent
    return shadow


def strided_places(x: Any, shape: Any, strides: Any) -> Any:
    """The places of the numbers that ``as_strided(x, shape, strides)`` shows, in the order of the memory of `x`.

    Raises
    ------
    AliasError
        If `x` has gaps in memory, or the view leaves it.
    """
    view = as_strided(x, shape, strides)
    if not x.flags.c_contiguous:
        raise AliasError("as_strided shows an array that has gaps in memory", "copy it first (`.copy()`)")
    offsets = [step * np.arange(length) for step, length in zip(view.strides, view.shape, strict=True)]
    places, rest = divmod(sum(np.ix_(*offsets)) if offsets else np.array(0), x.itemsize)
    if np.any(rest) or np.any(places < 0) or np.any(places >= x.size):
        raise AliasError("as_strided shows memory outside its array", "give it a shape and strides that stay inside")
    return np.broadcast_to(places, view.shape)


def stored(shadow: Any, index: Any) -> Any:
    """The cotangent of the value stored by ``a[index] = value``, from `shadow`, that of ``a`` afterwards.

    A fresh copy of ``shadow[index]``, zero where the value did not last because `index` names its position again later.
    """
    if not isinstance(shadow, np.ndarray):
        return shadow[index]
    taken = shadow[index]
    if not may_repeat(index):
        return taken.copy() if isinstance(taken, np.ndarray) else taken
    order = np.arange(taken.size).reshape(taken.shape)
    # Storing the order itself shows which of several values NumPy keeps.
    last = np.empty(shadow.shape, dtype=order.dtype)
    last[index] = order
    return np.where(last[index] == order, taken, zeros_like(taken))


def add_to_items(shadow: Any, index: Any, cotangent: Any) -> None:
    """Add to one item of a list or dict, or to each of a slice of a list."""
    if isinstance(index, slice):
        for position, part in zip(list(range(len(shadow)))[index], cotangent, strict=True):
            shadow[position] = plus(shadow[position], part)
    else:
        shadow[index] = plus(shadow[index], cotangent)


def plus(a: Any, b: Any) -> Any:
    """`a` with `b` added, in the memory of `a` where it has any.

    None and the number zero, cotangents of what nothing depends on, add nothing.
    """
    if b is None or isinstance(a, (dict, list)) and np.isscalar(b) and b == 0:
        return a
    if isinstance(a, dict):
        for key, item in b.items():
            a[key] = plus(a.get(key, 0.0), item)
        return a
    if isinstance(a, list):
        for k, item in enumerate(b):
            a[k] = plus(a[k], item)
        return a
    if isinstance(b, (list, tuple, dict)):  # `a` is the zero of what was not there
        return copy.deepcopy(b)
    if isinstance(a, np.ndarray) and np.broadcast_shapes(a.shape, np.shape(b)) == a.shape:
        a += np.real(b) if np.iscomplexobj(b) and not np.iscomplexobj(a) else b
        return a
    return a + b


def may_repeat(index: Any) -> bool:
    """True if `index` may name one position twice: only several integers do."""
    if isinstance(index, tuple):
        return any(may_repeat(part) for part in index)
    if isinstance(index, np.ndarray):
        return index.dtype.kind != "b" and index.size > 1
    return isinstance(index, list) and may_repeat(np.asarray(index))


def is_worth_a_flat_index(shadow: np.ndarray, rows: int) -> bool:
    """True if to add to so many rows takes longer than to number what is in them."""
    return (
        shadow.ndim > 1
        and shadow.flags.c_contiguous
        and rows * math.prod(shadow.shape[1:]) > thresholds.ADDED_ONE_BY_ONE
    )


def is_row_index(index: Any) -> bool:
    """True if `index` picks whole rows by an integer array or list."""
    return isinstance(index, list) or isinstance(index, np.ndarray)


def is_number_index(shadow: np.ndarray, index: Any) -> bool:
    """True if `index` picks single numbers of an array with several axes, by an array of integers for each axis."""
    if not isinstance(index, tuple) or len(index) != shadow.ndim or shadow.ndim < 2:
        return False
    return all(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in index)


def plain(index: Any) -> Any:
    """`index` with its lists as arrays, the form in which ``np.add.at`` is fast."""
    return np.asarray(index) if isinstance(index, list) else index


def add_rows(shadow: np.ndarray, rows: np.ndarray, cotangent: Any) -> None:
    """Add to whole rows of a contiguous `shadow`: one flat index is several times as fast as an index of rows."""
    length = shadow[0].size
    flat = (rows % len(shadow)).reshape(-1, 1) * length + np.arange(length)
    parts = np.broadcast_to(cotangent, rows.shape + shadow.shape[1:])
    np.add.at(shadow.reshape(-1), flat.reshape(-1), parts.reshape(-1).astype(shadow.dtype, copy=False))


def add_numbers(shadow: np.ndarray, index: tuple[np.ndarray, ...], cotangent: Any) -> None:
    """Add to single numbers of a contiguous `shadow`, by a flat index too, unless some are counted from the end."""
    try:
        flat = np.ravel_multi_index(index, shadow.shape)
    except (TypeError, ValueError):
        np.add.at(shadow, index, cotangent)
        return
    parts = np.broadcast_to(cotangent, flat.shape)
    np.add.at(shadow.reshape(-1), flat.reshape(-1), parts.reshape(-1).astype(shadow.dtype, copy=False))


def unpad(cotangent: Any, pad_width: Any, mode: str) -> Any:
    """The cotangent of ``a`` from that of ``np.pad(a, pad_width, mode)``, in new memory.

    Parameters
    ----------
    cotangent : array
        Of the shape of the padded array.
    pad_width : int, pair, or pair for each axis
        As for ``np.pad``.
    mode : {"edge", "reflect", "symmetric", "wrap"}
        As for ``np.pad``.
    """
    widths = np.broadcast_to(pad_width, (cotangent.ndim, 2)).tolist()
    result = cotangent.copy() if not np.any(widths) else cotangent
    for axis, (before, after) in enumerate(widths):
        if before or after:
            result = np.moveaxis(folded(np.moveaxis(result, axis, 0), before, after, mode), 0, axis)
    return result


def folded(d: Any, before: int, after: int, mode: str) -> Any:
    """The same along the first axis."""
    length = len(d) - before - after
    inner = d[before : before + length].copy()
    if mode == "edge":
        inner[0] += d[:before].sum(axis=0)
        inner[-1] += d[before + length :].sum(axis=0)
    elif max(before, after) < length:
        low, high = d[:before], d[before + length :]
        if mode == "wrap":
            inner[length - before :] += low
            inner[:after] += high
        else:
            skipped = int(mode == "reflect")  # the border itself is not repeated
            inner[skipped : skipped + before] += low[::-1]
            inner[length - skipped - after : length - skipped] += high[::-1]
    else:  # the border is longer than the array, which is repeated in it
        inner[...] = 0
        np.add.at(inner, np.pad(np.arange(length), (before, after), mode), d)  # type: ignore[call-overload]
    return inner
