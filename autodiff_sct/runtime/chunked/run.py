"""An emitted function, run on dask arrays."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import dask.array as da
import numpy as np

from .. import broadcast, selection
from ..linalg import slopes
from ..rebinding import Binding
from .arrays import Chunked, chunked_in, plain, refusal

__all__ = ["lazy", "run"]


def run(function: FunctionType, args: list[Any]) -> Any:
    """Call an emitted function with lazy arrays among its arguments; it must have no effects besides its result."""
    names = {"isinstance": is_instance, "float": Kind(float), "int": Kind(int), "complex": Kind(complex)}
    numpy = LazyNumPy([arg.array for arg in args if isinstance(arg, Chunked)])
    return Binding(numpy, names, HELPERS, Eager).bound(function)(*args)


def lazy(value: Any) -> Any:
    """Return a dask array or an array of NumPy's as one that is computed later; other things stay."""
    if isinstance(value, np.ndarray):
        return Chunked(da.from_array(value.copy(), chunks=-1))  # the caller may change it
    return Chunked(value) if isinstance(value, da.Array) else value


class Eager:
    """A module of SciPy, whose functions take arrays of NumPy's only."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        if isinstance(value, ModuleType):
            return Eager(value)
        if not callable(value) or isinstance(value, (type, np.ufunc)):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            if chunked_in([*args, *kwargs.values()]):
                raise refusal(f"{self.module.__name__}.{name}")
            return value(*args, **kwargs)

        return call


class Kind:
    """A class of numbers, as ``float`` is, that converts lazy numbers as well; NumPy takes it for a dtype."""

    def __init__(self, kind: type) -> None:
        self.kind, self.dtype = kind, np.dtype(kind)

    def __call__(self, value: Any = 0) -> Any:
        if not isinstance(value, Chunked):
            return self.kind(value)
        if value.size != 1:
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        return Chunked(value.array.reshape(()).astype(self.dtype), True)


def is_instance(value: Any, kinds: Any) -> bool:
    """``isinstance`` for lazy arrays as for NumPy's."""
    kinds = tuple([getattr(kind, "kind", kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))])
    if not isinstance(value, Chunked):
        return isinstance(value, kinds)
    return issubclass(value.dtype.type if value.is_number else np.ndarray, kinds)


def cast(cotangent: Any, like: Any) -> Any:
    """A cotangent of the right shape in the dtype of derivatives of `like`."""
    if not isinstance(cotangent, Chunked):
        return broadcast.cast(cotangent, np.empty(0, like.dtype) if isinstance(like, Chunked) else like)
    dtype = like.dtype if isinstance(like, Chunked) else np.result_type(like)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    content = cotangent.real if cotangent.dtype.kind == "c" != dtype.kind else cotangent
    return content if content.dtype == dtype else content.astype(dtype)


def half_where(tied: Any, cotangent: Any) -> Any:
    """Half of a cotangent where two arrays tie, and 0 elsewhere."""
    return np.where(tied, cotangent / 2, 0)


def share_out(cotangent: Any, extreme: Any, axis: int, dtype: Any) -> Any:
    """The cotangent of an extreme along an axis, shared by all elements that have it."""
    return np.where(extreme, cotangent / extreme.sum(axis, dtype, keepdims=True), 0)


def nan_at_zero_norm(y: Any, d: Any) -> Any:
    """Zeros, and NaN where a derivative meets the slope of a norm that is zero."""
    return np.where((y == 0) & (d != 0), np.nan, 0.0)


HELPERS: dict[Any, Any] = {
    broadcast.cast: cast,
    selection.half_where: half_where,
    selection.share_out: share_out,
    slopes.nan_at_zero_norm: nan_at_zero_norm,
}


class LazyNumPy:
    """The module `numpy` whose new arrays have the chunks of arguments of the same lengths."""

    float16, float32, float64 = (Kind(kind) for kind in (np.float16, np.float32, np.float64))
    complex64, complex128, int64, bool_ = (Kind(kind) for kind in (np.complex64, np.complex128, np.int64, np.bool_))

    def __init__(self, arrays: list[Any]) -> None:
        self.chunks = {n: chunks for array in arrays for n, chunks in zip(array.shape, array.chunks)}

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        if name in ("arange", "linspace", "eye", "identity", "tri", "indices"):
            return lambda *args, **kwargs: lazy(value(*args, **kwargs))
        return value

    def filled(self, shape: Any, fill: Any, dtype: Any) -> Chunked:
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        chunks = tuple(self.chunks.get(n, n) for n in shape)
        if isinstance(fill, Chunked):
            found = da.broadcast_to(fill.array, shape).rechunk(chunks)
            return Chunked(found if dtype is None else found.astype(np.dtype(dtype)))
        return Chunked(da.full(shape, fill, dtype=None if dtype is None else np.dtype(dtype), chunks=chunks))

    def zeros(self, shape: Any, dtype: Any = float, order: str = "C") -> Chunked:
        return self.filled(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = float, order: str = "C") -> Chunked:
        return self.filled(shape, 1, dtype)

    def empty(self, shape: Any, dtype: Any = float, order: str = "C") -> Chunked:
        return self.filled(shape, 0, dtype)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Chunked:
        return self.filled(shape, fill_value, dtype)

    def zeros_like(self, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, *, shape: Any = None) -> Any:
        return self.like(a, 0, dtype, shape)

    def ones_like(self, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, *, shape: Any = None) -> Any:
        return self.like(a, 1, dtype, shape)

    def empty_like(self, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, *, shape: Any = None) -> Any:
        return self.like(a, 0, dtype, shape)

    def full_like(
        self, a: Any, fill: Any, dtype: Any = None, order: str = "K", subok: bool = True, *, shape: Any = None
    ) -> Any:
        return self.like(a, fill, dtype, shape)

    def like(self, a: Any, fill: Any, dtype: Any, shape: Any) -> Any:
        found = np.asarray(a) if not isinstance(a, Chunked) else a
        return self.filled(found.shape if shape is None else shape, fill, found.dtype if dtype is None else dtype)

    def array(self, a: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """A new array; of a list of lazy arrays and numbers, one above the other."""
        if isinstance(a, (list, tuple)) and chunked_in(a):
            found = Chunked(da.stack([plain(self.array(part)) for part in a]))
        else:
            found = Chunked(a.array) if isinstance(a, Chunked) else lazy(np.array(a))
        return found if dtype is None else found.astype(dtype)

    def asarray(self, a: Any, dtype: Any = None, **kwargs: Any) -> Any:
        same = isinstance(a, Chunked) and not a.is_number and (dtype is None or np.dtype(dtype) == a.dtype)
        return a if same else self.array(a, dtype)

    ascontiguousarray = asfortranarray = asanyarray = asarray

    def stack(self, arrays: Any, axis: int = 0, **kwargs: Any) -> Any:
        return np.stack([self.asarray(array) for array in arrays], axis, **kwargs)

    def concatenate(self, arrays: Any, axis: int = 0, **kwargs: Any) -> Any:
        return np.concatenate([self.asarray(array) for array in arrays], axis, **kwargs)
