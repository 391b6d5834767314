"""Kinds of the native stage: a number, or an array whose elements can be written down.

A `Grid` is an array that has not been made: its axes, its dtype, and the expression of one element.  Fusion is nothing
else: operations on grids write larger expressions, and only a statement that needs memory runs loops over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from ...errors import Origin
from .. import ir
from .bailout import WIDTH as WIDTH

BOOL, INT64 = np.dtype(bool), np.dtype(np.int64)
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
COUNTED = 31  # bits of integers that loops carry
# Functions of `functions` that expressions call without `State.imported` telling so.
SCALARS = {"reserve", "reserve_parts", "half_power", "remainder", "floor_divide"}
SINGLE_BITS = 24  # bits of integers that single precision holds
DTYPES = {BOOL, INT64, FLOAT32, FLOAT64}


class Outside(Exception):
    """A statement that is outside the native dialect."""

    def __init__(self, reason: str, origin: Origin | None = None) -> None:
        super().__init__(reason)
        self.reason, self.origin = reason, origin


@dataclass(frozen=True)
class Number:
    """A scalar expression; `python` tells a Python number from a NumPy one (None: either).

    An integer is less than ``2**bits`` away from zero.  Python's grow as they like, so that none of more than 63 bits
    is native; NumPy's wrap round, here as there.
    """

    expr: Any
    dtype: np.dtype
    python: bool | None = False
    bits: int = 63


@dataclass(frozen=True)
class Axis:
    """The length of an axis; two axes with one `key` have one length."""

    length: Any
    key: Any
    one: bool = False


ONE = Axis(ir.constant(1), 1, True)


@dataclass(frozen=True)
class Grid:
    """An array: `at` gives the expression of the element at an index, `view` that of the array if it is in memory."""

    axes: tuple[Axis, ...]
    dtype: np.dtype
    at: Callable[[list[Any]], Any]
    view: Any = None
    contiguous: bool = False  # made here, so in C order
    copied: bool = False  # whatever it shows, it is to have memory of its own
    detached: bool = False  # a copy of what NumPy has a view of

    @property
    def ndim(self) -> int:
        return len(self.axes)


@dataclass(frozen=True)
class Bundle:
    """A tuple whose items are known one by one."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Items:
    """A list, and what is known of each item: a number, a list or a tuple without an expression."""

    expr: Any
    item: Any


@dataclass(frozen=True)
class Raw:
    """An argument before it is known what is in it."""

    expr: Any


Item = Any  # Number, Items or Bundle
Value = Any  # Number, Grid, Bundle, Items or Raw


def promote(a: Number, b: Number) -> np.dtype:
    """The dtype of an arithmetic operation, by NumPy's rules: Python numbers are weak."""
    if a.dtype == b.dtype:
        return a.dtype
    for unknown, other in ((a, b), (b, a)):
        if unknown.dtype == FLOAT32 and unknown.python is None:
            if other.python is True:
                return FLOAT32
            if other.dtype == FLOAT64:
                raise Outside("a number that may be a Python or a NumPy one meets double precision")
    for strong, weak in ((a, b), (b, a)):
        if weak.python is False or strong.python is not False:
            continue
        if weak.python is None and strong.dtype == FLOAT32 and weak.dtype.kind == "f":
            raise Outside("a number that may be a Python or a NumPy one meets single precision")
        if strong.dtype.kind == "f":
            return strong.dtype
    return np.result_type(a.dtype, b.dtype)


def joined(a: Number, b: Number) -> tuple[np.dtype, bool | None]:
    """The dtype and the origin of a number that is one of two."""
    for one, other in ((a, b), (b, a)):
        if (
            one.dtype == FLOAT32 != other.dtype
            and other.python
            and (other.dtype == FLOAT64 or other.bits <= SINGLE_BITS)
        ):
            return FLOAT32, None
    if a.dtype != b.dtype and {a.dtype, b.dtype} != {INT64, FLOAT64}:
        raise Outside(f"a number is {a.dtype} on one path and {b.dtype} on another")
    return np.result_type(a.dtype, b.dtype), a.python if a.python == b.python else None


def as_dtype(number: Number, dtype: np.dtype) -> Any:
    """The expression of a number in a wider or narrower floating-point type, cast only where it is needed."""
    if number.dtype == dtype or (dtype == FLOAT64 and number.dtype != BOOL):
        return number.expr
    return ir.call(f"np.{dtype.name}", number.expr)


def none_of(item: Item) -> Any:
    """A list of no items, of which is known what they would be."""
    return ir.subscript(gast.List([nothing_like(item)], gast.Load()), gast.Slice(None, ir.constant(0), None))


def nothing_like(item: Item) -> Any:
    if isinstance(item, Items):
        return none_of(item.item)
    if isinstance(item, Bundle):
        return ir.tuple_([nothing_like(each) for each in item.items])
    return ir.constant({BOOL: False, INT64: 0}.get(item.dtype, 0.0))
