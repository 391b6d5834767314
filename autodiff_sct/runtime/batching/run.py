"""An emitted function, run once for all examples: its NumPy, whose new arrays have room for each."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .. import broadcast
from ..linalg import slopes
from ..rebinding import Binding
from . import functions  # noqa: F401  (fills the table)
from .lanes import Lanes, Unbatchable, aligned, count_in, lifted, ndim, per_example

__all__ = ["BatchedNumPy", "Kind", "run"]


class Kind:
    """A class of numbers, as ``float`` is, that converts lanes as well; NumPy takes it for a dtype."""

    def __init__(self, kind: type) -> None:
        self.kind, self.dtype = kind, np.dtype(kind)

    def __call__(self, value: Any = 0) -> Any:
        if not isinstance(value, Lanes):
            return self.kind(value)
        return value.astype(self.kind) if issubclass(self.kind, np.generic) else Lanes(flat_numbers(value, self.kind))


def flat_numbers(value: Lanes, kind: type) -> np.ndarray:
    """Return the one number of each example."""
    return value.data.reshape(len(value.data)).astype(kind)


class BatchedNumPy:
    """The module `numpy` with its functions that make arrays."""

    float16, float32, float64 = (Kind(kind) for kind in (np.float16, np.float32, np.float64))
    complex64, complex128, int64, bool_ = (Kind(kind) for kind in (np.complex64, np.complex128, np.int64, np.bool_))

    def __init__(self, count: int) -> None:
        self.count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def shared(self, array: np.ndarray) -> Lanes:
        """Return a new array of one example as new arrays of all."""
        if not array.ndim:
            raise Unbatchable("an array without axes is made")
        return Lanes(np.repeat(array[None], self.count, axis=0))

    def zeros(self, shape: Any, dtype: Any = float, order: Any = "C") -> Lanes:
        return self.shared(np.zeros(sizes(shape), dtype, order))

    def ones(self, shape: Any, dtype: Any = float, order: Any = "C") -> Lanes:
        return self.shared(np.ones(sizes(shape), dtype, order))

    def empty(self, shape: Any, dtype: Any = float, order: Any = "C") -> Lanes:
        return self.zeros(shape, dtype, order)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Lanes:
        if not isinstance(fill_value, Lanes):
            return self.shared(np.full(sizes(shape), fill_value, dtype, order))
        made = self.zeros(shape, fill_value.dtype if dtype is None else dtype, order)
        made[...] = fill_value
        return made

    def eye(self, *args: Any, **kwargs: Any) -> Lanes:
        return self.shared(np.eye(*args, **kwargs))

    def identity(self, *args: Any, **kwargs: Any) -> Lanes:
        return self.shared(np.identity(*args, **kwargs))

    def zeros_like(self, a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, *, shape: Any = None) -> Any:
        return self.like(a, 0, dtype, shape)

    def ones_like(self, a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, *, shape: Any = None) -> Any:
        return self.like(a, 1, dtype, shape)

    def empty_like(self, a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, *, shape: Any = None) -> Any:
        return self.like(a, 0, dtype, shape)

    def full_like(
        self, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, *, shape: Any = None
    ) -> Any:
        return self.like(a, fill_value, dtype, shape)

    def like(self, a: Any, fill: Any, dtype: Any, shape: Any) -> Any:
        """Return an array like another one."""
        kind = (a if isinstance(a, Lanes) else np.asarray(a)).dtype if dtype is None else dtype
        lengths = sizes(shape) if shape is not None else a.shape if isinstance(a, Lanes) else np.shape(a)
        if not lengths:
            return Lanes(np.zeros(self.count, kind) + np.asarray(fill.data if isinstance(fill, Lanes) else fill, kind))
        return self.full(lengths, fill, kind)

    def array(self, value: Any, dtype: Any = None, copy: bool | None = True, **kwargs: Any) -> Any:
        if count_in(value) is None:
            return np.array(value, dtype, copy=copy, **kwargs)
        if kwargs.keys() - {"order", "ndmin"} or kwargs.get("ndmin", 0) > ndim_of(value):
            raise Unbatchable("np.array with these settings")
        found = stacked(value, self.count)
        kind = found.dtype if dtype is None else np.dtype(dtype)
        return Lanes(found.data.astype(kind, copy=bool(copy) or not isinstance(value, Lanes)))

    def asarray(self, value: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return self.array(value, dtype, None, **kwargs)

    asanyarray = ascontiguousarray = asfortranarray = asarray


def sizes(shape: Any) -> Any:
    """Return the lengths of axes, which have to be those of all examples."""
    return tuple([operator.index(n) for n in shape]) if isinstance(shape, (tuple, list)) else operator.index(shape)


def ndim_of(value: Any) -> int:
    return 1 + ndim_of(value[0]) if isinstance(value, (tuple, list)) and value else ndim(value)


def stacked(value: Any, count: int) -> Lanes:
    """Return nested lists of numbers and arrays as one array of all examples."""
    if not isinstance(value, (tuple, list)):
        return lifted(value, count)
    items = [stacked(item, count) for item in value]
    if len({item.shape for item in items}) != 1:
        raise Unbatchable("an array is made of parts of different shapes")
    return Lanes(np.stack(aligned(items), axis=1))


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
