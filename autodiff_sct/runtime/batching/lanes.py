"""`Lanes`: the values of one variable in all examples of a batch, along the first axis of one array; ufuncs of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...core import thresholds

__all__ = [
    "Diverges",
    "Lanes",
    "Unbatchable",
    "aligned",
    "apply",
    "count_in",
    "example",
    "lifted",
    "matmul",
    "ndim",
    "per_example",
]


class Unbatchable(Exception):
    """The program does something that has no form for all examples at once."""


class Diverges(Exception):
    """The examples go different ways from here; `masks` tells which go together."""

    def __init__(self, masks: list[np.ndarray]) -> None:
        super().__init__(f"the examples go {len(masks)} different ways")
        self.masks = masks


FUNCTIONS: dict[Any, Callable[..., Any]] = {}  # functions of NumPy over lanes; the others run example by example
METHODS: dict[str, Callable[..., Any]] = {}  # methods of arrays over lanes


class Lanes(NDArrayOperatorsMixin):
    """The values of one variable in all examples: ``data[k]`` is that of example `k`.

    An object without axes is a number: an operator with ``=`` makes a new one, as of NumPy's scalars.
    """

    __slots__ = ("data",)
    __array_priority__ = 1000

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape[1:]

    @property
    def ndim(self) -> int:
        return self.data.ndim - 1

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def T(self) -> Lanes:
        return Lanes(self.data.transpose(0, *range(self.data.ndim - 1, 0, -1)))

    @property
    def flags(self) -> Any:
        return self.data[0].flags

    @property
    def real(self) -> Lanes:
        return Lanes(self.data.real)

    @property
    def imag(self) -> Lanes:
        return Lanes(self.data.imag)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def one(self) -> Any:
        """Return the number that this is in every example: Diverges where the examples differ."""
        if self.ndim:
            raise Unbatchable("an array is taken for a number")
        values = np.unique(self.data, equal_nan=False)
        if len(values) > thresholds.WAYS_OF_A_BATCH:
            raise Unbatchable(f"the examples go more than {thresholds.WAYS_OF_A_BATCH} different ways")
        if len(values) > 1:
            raise Diverges([self.data == value for value in values])
        return self.data[0].item()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        return bool(Lanes(self.data.reshape(-1).astype(bool)).one())

    def __index__(self) -> int:
        return operator.index(self.one())

    def __int__(self) -> int:
        return int(Lanes(self.data.reshape(len(self.data)).astype(int)).one())

    def __float__(self) -> float:
        raise Unbatchable("a number of one example is taken out of the batch")

    __complex__ = __float__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise Unbatchable("an array of all examples comes to where one of a single example is wanted")

    def __copy__(self) -> Lanes:
        return Lanes(self.data.copy())

    def __deepcopy__(self, memo: Any) -> Lanes:
        return Lanes(self.data.copy())

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(f"arrays of a batch have no attribute {name!r}")
        return partial(METHODS[name], self)

    # -- items

    def __getitem__(self, key: Any) -> Any:
        if holds_lanes(key):
            found = self.gathered(key)
        elif mixes_axes(key):
            return per_example(operator.getitem, (self, key), {})
        else:
            found = self.data[(slice(None), *as_tuple(key))]
        if found.ndim > 1 or key is Ellipsis:
            return Lanes(found)
        if any(part is Ellipsis for part in as_tuple(key)):
            raise Unbatchable("an array without axes is a view of another one")
        return Lanes(found.copy())  # a number does not change with the array that it was in

    def __setitem__(self, key: Any, value: Any) -> None:
        if mixes_axes(key):
            raise Unbatchable("indices on both sides of a slice are stored to")
        place: Any = (slice(None), *as_tuple(key)) if not holds_lanes(key) else self.places(key)
        if not isinstance(value, Lanes):
            self.data[place] = value
            return
        inside = self.data[place].ndim - 1
        if value.ndim > inside:
            raise Unbatchable("what is stored has more axes than its place")
        self.data[place] = raised(value, inside)

    def gathered(self, key: Any) -> np.ndarray:
        """Return what each example has at places of its own."""
        found = self.data[self.places(key)]
        return np.asarray(found)

    def places(self, key: Any) -> tuple[Any, ...]:
        """Return the index of places that each example has for itself."""
        parts = as_tuple(key)
        if not all(is_integral(part) for part in parts):
            raise Unbatchable("an index of a batch stands beside slices, or is a mask")
        most = max(ndim(part) for part in parts)
        rows = np.arange(len(self.data)).reshape(-1, *(1,) * most)
        return (rows, *aligned(parts))

    # -- NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        return apply(ufunc, method, inputs, out, kwargs)

    def __array_function__(self, fn: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rule = FUNCTIONS.get(fn)
        return per_example(fn, args, kwargs) if rule is None else rule(*args, **kwargs)


def as_tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def holds_lanes(key: Any) -> bool:
    return any(isinstance(part, Lanes) for part in as_tuple(key))


def is_integral(part: Any) -> bool:
    """True for an index that is an integer or an array of them."""
    if isinstance(part, (bool, np.bool_)) or part is None or part is Ellipsis or isinstance(part, slice):
        return False
    return (part if isinstance(part, Lanes) else np.asarray(part)).dtype.kind in "iu"


def mixes_axes(key: Any) -> bool:
    """True if the axes of arrays among the indices come first, because a slice stands between two of them."""
    parts = as_tuple(key)
    if not any(ndim(part) or isinstance(part, (list, bool)) for part in parts if not isinstance(part, slice)):
        return False
    chosen = [k for k, part in enumerate(parts) if not (isinstance(part, slice) or part is None or part is Ellipsis)]
    return chosen[-1] - chosen[0] + 1 != len(chosen)


def ndim(value: Any) -> int:
    """Return the number of axes in one example."""
    return value.ndim if isinstance(value, Lanes) else np.ndim(value)


def raised(value: Lanes, axes: int) -> np.ndarray:
    """Return the array with axes of length 1 behind the first, as broadcasting puts them in front in one example."""
    return value.data[(slice(None), *(None,) * (axes - value.ndim))] if axes > value.ndim else value.data


def aligned(values: Any, axes: int = 0) -> list[Any]:
    """Return the arrays so that they broadcast as in each example."""
    most = max([axes, *map(ndim, values)])
    return [raised(v, most) if isinstance(v, Lanes) else v for v in values]


def lifted(value: Any, count: int) -> Lanes:
    """Return a value that all examples share as lanes."""
    if isinstance(value, Lanes):
        return value
    array = np.asarray(value)
    return Lanes(np.broadcast_to(array, (count, *array.shape)))


def count_in(*values: Any) -> int | None:
    """Return the number of examples, None where no lanes are among the values."""
    for value in values:
        if isinstance(value, Lanes):
            return len(value.data)
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
        if inside and (found := count_in(*inside)) is not None:
            return found
    return None


def example(value: Any, k: int) -> Any:
    """Return what a value is in example `k`."""
    if isinstance(value, Lanes):
        return value.data[k]
    if isinstance(value, dict):
        return {key: example(v, k) for key, v in value.items()}
    if isinstance(value, (tuple, list)):
        items = [example(v, k) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def per_example(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that has no form for all examples once for each."""
    count = count_in(args, kwargs)
    if kwargs.get("out") is not None or not count:
        raise Unbatchable(f"{getattr(fn, '__name__', fn)} writes into an array, or has no examples")
    return joined([fn(*example(args, k), **example(kwargs, k)) for k in range(count)], fn)


def joined(results: list[Any], fn: Any) -> Any:
    """Return what a function returned for each example as one value."""
    first = results[0]
    if isinstance(first, (tuple, list)):
        items = [joined([result[k] for result in results], fn) for k in range(len(first))]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if not isinstance(first, (np.ndarray, np.generic, int, float, complex)):
        raise Unbatchable(f"{getattr(fn, '__name__', fn)} returns no array")
    if any(np.shape(result) != np.shape(first) for result in results):
        raise Unbatchable(f"{getattr(fn, '__name__', fn)} returns arrays of different shapes")
    return Lanes(np.stack(results))


REDUCED = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
REDUCED |= {np.logical_and: np.all, np.logical_or: np.any}
ACCUMULATED = {np.add: np.cumsum, np.multiply: np.cumprod}


def apply(ufunc: Any, method: str, inputs: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
    """Carry out a call of a universal function, or of one of its methods."""
    target = out[0] if out is not None and len(out) == 1 else None
    if out is not None and not isinstance(target, Lanes):
        raise Unbatchable(f"{ufunc.__name__} writes into an array that all examples share")
    if method == "__call__" and ufunc.signature is None:
        return elementwise(ufunc, inputs, target, kwargs)
    if target is not None:
        raise Unbatchable(f"{ufunc.__name__} writes its result into an array")
    if method == "at":
        return scatter(ufunc, *inputs)
    if ufunc is np.matmul and not kwargs:
        return matmul(*inputs)
    if method == "reduce" and ufunc in REDUCED:
        return FUNCTIONS[REDUCED[ufunc]](*inputs, **{"axis": 0, **kwargs})
    if method == "accumulate" and ufunc in ACCUMULATED:
        return FUNCTIONS[ACCUMULATED[ufunc]](*inputs, **{"axis": 0, **kwargs})
    if method == "outer" and len(inputs) == 2 and isinstance(inputs[0], Lanes):
        first, second = inputs
        spread = Lanes(first.data[(..., *(None,) * ndim(second))])
        return elementwise(ufunc, (spread, second), None, kwargs)
    return per_example(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)


def elementwise(ufunc: Any, inputs: tuple[Any, ...], target: Lanes | None, kwargs: dict[str, Any]) -> Any:
    """Carry out an elementwise function; one that writes into a number returns another number, as NumPy's are."""
    where = kwargs.pop("where", True)
    axes = max(0 if target is None else target.ndim, ndim(where))
    *operands, where = aligned((*inputs, where), axes)
    if where is not True:
        kwargs["where"] = where
    if target is None or not target.ndim:
        found = ufunc(*operands, **kwargs)
        return tuple([Lanes(part) for part in found]) if isinstance(found, tuple) else Lanes(np.asarray(found))
    ufunc(*operands, out=raised(target, axes), **kwargs)
    return target


def scatter(ufunc: Any, base: Any, index: Any, *values: Any) -> None:
    """``ufunc.at(base, index, value)``, for each example into its own array."""
    if not isinstance(base, Lanes) or not base.ndim:
        raise Unbatchable(f"{ufunc.__name__}.at writes into an array that all examples share")
    from .lanes import example

    for k in range(len(base.data)):
        ufunc.at(base.data[k], example(index, k), *[example(value, k) for value in values])


def matmul(a: Any, b: Any) -> Any:
    """The product of matrices and vectors: one product for all examples where one factor is shared."""
    rows, columns = ndim(a), ndim(b)
    if not rows or not columns:
        raise ValueError("matmul: an operand has no axes")
    if rows == 1 and columns == 1:
        first, second = aligned((a, b))
        return Lanes(np.matmul(first[..., None, :], second[..., :, None])[..., 0, 0])
    if columns == 1 and rows == 2 and not isinstance(a, Lanes):
        return Lanes(b.data @ a.T)
    if rows == 1 and columns == 2 and not isinstance(b, Lanes):
        return Lanes(a.data @ b)
    first = Lanes(a.data[:, None, :]) if rows == 1 and isinstance(a, Lanes) else a[None, :] if rows == 1 else a
    second = Lanes(b.data[:, :, None]) if columns == 1 and isinstance(b, Lanes) else b[:, None] if columns == 1 else b
    found = np.matmul(*aligned((first, second)))
    if rows == 1:
        found = found[..., 0, :]
    return Lanes(found[..., 0] if columns == 1 else found)
