"""`Chunked`: an array whose numbers dask computes later, with NumPy's meaning of views and of writing.

A dask array never changes.  A `Chunked` array is a piece of memory, which holds a dask array and gets another one when
it is written into, and a path of views that leads from it: ``a[1:].T += x`` replaces what `a` holds, and every other
view of `a` sees that.  A number, such as a sum over all axes, is no memory: ``total += x`` makes another number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...errors import ArgumentTypeError

__all__ = ["FUNCTIONS", "Chunked", "chunked_in", "plain", "refusal"]

View = tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]  # what it shows of an array; the array after a write
REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
REDUCTIONS |= {"logical_and": "all", "logical_or": "any"}


def refusal(what: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{what} has no lazy form for dask arrays. "
        "Compute it outside and pass it as an argument, or take the gradient of each part with `parallel.map_grad`."
    )


class Memory:
    """A dask array in the place of memory that is written, and how often it was replaced."""

    def __init__(self, array: Any) -> None:
        self.array, self.version = array, 0


class Chunked(NDArrayOperatorsMixin):
    """A dask array in the place of a NumPy array, a view of one, or a number."""

    __array_priority__ = 1000

    def __init__(self, array: Any, is_number: bool = False) -> None:
        if any(n != n for n in array.shape):
            raise refusal("an array whose shape depends on values, as `x[mask]` has,")
        self.memory, self.is_number = Memory(array), is_number
        self.path: tuple[View, ...] = ()
        self.seen: tuple[int, Any] = (0, array)

    def view(self, shown: Callable[[Any], Any], written: Callable[[Any, Any], Any]) -> Chunked:
        """Return a view of this array."""
        found = Chunked(shown(self.array))
        found.memory, found.path = self.memory, (*self.path, (shown, written))
        found.seen = (self.memory.version, found.seen[1])
        return found

    @property
    def array(self) -> Any:
        """The dask array that it stands for now."""
        version, found = self.seen
        if version != self.memory.version:
            found = self.memory.array
            for shown, _ in self.path:
                found = shown(found)
            self.seen = (self.memory.version, found)
        return found

    def write(self, value: Any) -> None:
        """Replace all numbers of this array, and of what it is a view of."""
        steps = [self.memory.array]
        for shown, _ in self.path:
            steps.append(shown(steps[-1]))
        new = fitting(value, steps[-1])
        for before, (_, written) in zip(reversed(steps[:-1]), reversed(self.path)):
            new = written(before, new)
        self.memory.array = new
        self.memory.version += 1

    shape = property(lambda self: tuple(int(n) for n in self.array.shape))
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: int(self.array.size))
    dtype = property(lambda self: self.array.dtype)
    T = property(lambda self: np.transpose(self))
    real = property(lambda self: self if self.dtype.kind != "c" else Chunked(self.array.real, self.is_number))
    imag = property(lambda self: Chunked(self.array.imag, self.is_number))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        raise refusal("a branch or a loop that depends on numbers")

    def __index__(self) -> int:
        raise refusal("an index that is computed from arrays")

    def __int__(self) -> int:
        raise refusal("an integer that is computed from arrays")

    def __float__(self) -> float:
        raise refusal("a number that is computed from arrays and converted here")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise refusal("a function that takes NumPy's arrays only")

    def __copy__(self) -> Chunked:
        return Chunked(self.array, self.is_number)

    def __getattr__(self, name: str) -> Any:
        if name == "copy":
            return lambda order="C": self.__copy__()
        if name == "astype":
            return lambda dtype, **_: Chunked(self.array.astype(np.dtype(dtype)), self.is_number)
        if name == "item":
            return lambda: Chunked(self.array.reshape(()), True)
        if name == "fill":
            return self.write
        if name == "flatten":
            return lambda order="C": Chunked(self.array.ravel())
        if name == "reshape":
            return lambda *n, **k: np.reshape(self, n[0] if len(n) == 1 else n, **k)
        if name == "transpose":
            return lambda *axes: np.transpose(self, axes[0] if len(axes) == 1 else axes or None)
        if name.startswith("_") or not callable(getattr(np.ndarray, name, None)) or not hasattr(np, name):
            raise AttributeError(f"dask arrays have no attribute {name!r} here")
        return lambda *args, **kwargs: getattr(np, name)(self, *args, **kwargs)

    def __getitem__(self, key: Any) -> Chunked:
        key = checked_key(key)
        found = self.array[key]
        if not found.ndim and not any(part is Ellipsis for part in (key if isinstance(key, tuple) else (key,))):
            return Chunked(found, True)
        if any(isinstance(part, (np.ndarray, list)) for part in (key if isinstance(key, tuple) else (key,))):
            return Chunked(found)
        return self.view(lambda a: a[key], lambda a, new: stored(a, key, new))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = checked_key(key)
        self.write(stored(self.array, key, plain(value)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs.get("where", True) is not True:
            raise refusal(f"np.{ufunc.__name__} with `where`")
        values = [plain(value) for value in inputs]
        if method == "__call__":
            found = ufunc(*values, **kwargs)
        elif method == "reduce" and ufunc.__name__ in REDUCTIONS and not kwargs.keys() - {"axis", "keepdims", "dtype"}:
            found = getattr(np, REDUCTIONS[ufunc.__name__])(*values, **{"axis": 0, **kwargs})
        elif method == "outer":
            first, second = values
            found = ufunc(first.reshape((*first.shape, *(1,) * np.ndim(second))), second, **kwargs)
        else:
            raise refusal(f"np.{ufunc.__name__}.{method}")
        results = found if isinstance(found, tuple) else (found,)
        made = [Chunked(result, not result.ndim) for result in results]
        for k, target in enumerate(out or ()):
            if not isinstance(target, Chunked):
                raise refusal(f"np.{ufunc.__name__} into an array of NumPy's")
            if not target.is_number:
                target.write(results[k])
                made[k] = target
        return tuple(made) if isinstance(found, tuple) else made[0]

    def __array_function__(self, fn: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = FUNCTIONS.get(fn)
        if own is not None:
            return own(*args, **kwargs)
        where: Any = da
        for part in (fn.__module__ or "numpy").split(".")[1:]:
            where = where if part.startswith("_") or part == "lib" else getattr(where, part, None)
        if kwargs.get("out") is not None or not hasattr(where, fn.__name__):
            raise refusal(f"np.{fn.__name__}")
        return wrapped(fn(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()}), fn)


def wrapped(value: Any, fn: Any) -> Any:
    """Return what a function of dask returned; it has computed nothing."""
    if isinstance(value, (tuple, list)):
        return type(value)(wrapped(part, fn) for part in value)
    if not hasattr(value, "__dask_graph__"):
        raise refusal(f"np.{fn.__name__}")
    return Chunked(value, not value.ndim)


def plain(value: Any) -> Any:
    """Return a value with dask arrays in it."""
    if isinstance(value, Chunked):
        return value.array
    if isinstance(value, np.ndarray):
        return value.copy()  # which may change before it is read
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return type(value)([plain(part) for part in value]) if type(value) in (tuple, list) else value


def chunked_in(value: Any) -> bool:
    """True if there is a lazy array in nested tuples and lists."""
    return isinstance(value, Chunked) or (isinstance(value, (tuple, list)) and any(map(chunked_in, value)))


def checked_key(key: Any) -> Any:
    """Return an index that does not depend on numbers of lazy arrays."""
    if chunked_in(key):
        raise refusal("an index or a mask that is computed from arrays")
    return key


def fitting(value: Any, like: Any) -> Any:
    """Return a value in the shape, the dtype and the chunks of an array that it is written into."""
    value = da.asarray(value).astype(like.dtype)
    if value.ndim > like.ndim:
        value = value.reshape(value.shape[value.ndim - like.ndim :])
    found = da.broadcast_to(value, like.shape) if value.shape != like.shape else value
    return found.rechunk(like.chunks)


def stored(array: Any, key: Any, value: Any) -> Any:
    """Return the array that ``array[key] = value`` makes."""
    whole = key is Ellipsis or key == slice(None) if not isinstance(key, (tuple, np.ndarray, list)) else key == ()
    if whole:
        return fitting(value, array)
    value, found = fitting(value, array[key]), array.copy()
    if isinstance(key, tuple) and any(part is None for part in key):
        key = tuple(part for part in key if part is not None)  # dask has no new axes there
        value = value.reshape(array[key].shape)
    found[key] = value
    return found


# -- functions of NumPy that return views, or what is known already


def transpose(a: Any, axes: Any = None) -> Chunked:
    axes = tuple(range(a.ndim))[::-1] if axes is None else tuple(k % a.ndim for k in axes)
    back = tuple(np.argsort(axes).tolist())
    return a.view(lambda x: x.transpose(axes), lambda x, new: new.transpose(back))


def swapaxes(a: Any, axis1: int, axis2: int) -> Chunked:
    axes = list(range(a.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return transpose(a, axes)


def axes_after(ndim: int, source: Any, destination: Any) -> list[int]:
    """Return the axes of an array in the order in which ``moveaxis`` puts them."""
    return list(np.moveaxis(np.empty(range(ndim)), source, destination).shape)


def reshape(a: Any, /, shape: Any = None, order: str = "C", **kwargs: Any) -> Chunked:
    if order != "C" or kwargs.keys() - {"copy"}:
        raise refusal(f"np.reshape in order {order!r}")
    return a.view(lambda x: x.reshape(shape), lambda x, new: new.reshape(x.shape))


def in_shape_of(fn: Any) -> Callable[..., Chunked]:
    """A function that only adds or drops axes of length 1, or makes one axis of all."""

    def apply(a: Any, *args: Any, **kwargs: Any) -> Chunked:
        return reshape(a, fn(np.broadcast_to(np.zeros(()), a.shape), *args, **kwargs).shape)

    return apply


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Chunked:
    def written(x: Any, new: Any) -> Any:
        raise ValueError("assignment destination is read-only")

    return array.view(lambda x: np.broadcast_to(x, shape), written)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if where is not True or not isinstance(dst, Chunked):
        raise refusal("np.copyto with `where` or into an array of NumPy's")
    dst.write(plain(src))


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return isinstance(a, Chunked) and isinstance(b, Chunked) and a.memory is b.memory


def dtypes(fn: Any) -> Callable[..., Any]:
    """A function that reads the dtypes of its arguments only."""
    return lambda *values: fn(*[value.dtype if isinstance(value, Chunked) else value for value in values])


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.transpose: transpose,
    np.swapaxes: swapaxes,
    np.moveaxis: lambda a, source, destination: transpose(a, axes_after(a.ndim, source, destination)),
    np.reshape: reshape,
    np.ravel: lambda a, order="C": reshape(a, -1, order),
    np.expand_dims: in_shape_of(np.expand_dims),
    np.squeeze: in_shape_of(np.squeeze),
    np.atleast_1d: in_shape_of(np.atleast_1d),
    np.broadcast_to: broadcast_to,
    np.copyto: copyto,
    np.may_share_memory: may_share_memory,
    np.shares_memory: may_share_memory,
    np.copy: lambda a, **_: a.__copy__(),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.result_type: dtypes(np.result_type),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
}
