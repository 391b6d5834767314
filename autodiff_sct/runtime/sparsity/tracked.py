"""Index sets: for each number of an array, the inputs that it depends on, found by running an emitted program.

`Tracked` stands for an array with its values.  Its elements are rows of a `Store`, a sparse matrix with a column for
each input; a view has the rows of what it is a view of, so that what is written through one is seen through the other.
A function that is not known here makes each number of its result depend on all that it was given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from scipy.sparse import csr_array, vstack

__all__ = ["Run", "Tracked", "Untraceable"]


class Untraceable(Exception):
    """The program does something that index sets cannot follow."""


class Run:
    """One run of a program: the number of inputs, and whether its course depended on their values."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.value_dependent = False

    def fresh(self, value: Any, rows: csr_array | None = None) -> Tracked:
        """Return an array of its own, whose elements depend on the inputs in `rows`, or on none."""
        array = np.asarray(value)
        if rows is None:
            rows = csr_array((array.size, self.inputs), dtype=np.bool_)
        return Tracked(self, value, Store(rows), np.arange(array.size).reshape(array.shape))


class Store:
    """The inputs that the elements of a piece of memory depend on."""

    def __init__(self, rows: csr_array) -> None:
        self.rows = rows

    def take(self, index: np.ndarray) -> csr_array:
        return self.rows[index.ravel()]

    def put(self, index: np.ndarray, rows: csr_array) -> None:
        """Replace rows."""
        count = self.rows.shape[0]
        order = np.arange(count)
        order[index.ravel()] = count + np.arange(index.size)
        self.rows = csr_array(vstack([self.rows, rows], format="csr")[order])


def ones(rows: Any) -> csr_array:
    """Return a matrix with ones where another one has entries."""
    found = csr_array(rows)
    found.sum_duplicates()
    return csr_array((np.ones(found.nnz, np.bool_), found.indices, found.indptr), shape=found.shape)


class Tracked(NDArrayOperatorsMixin):
    """An array, or a number, with the inputs that each element depends on."""

    __array_priority__ = 1000

    def __init__(self, run: Run, value: Any, store: Store, index: np.ndarray) -> None:
        self.run, self.value, self.store, self.index = run, value, store, index

    shape = property(lambda self: np.shape(self.value))
    ndim = property(lambda self: np.ndim(self.value))
    size = property(lambda self: np.size(self.value))
    dtype = property(lambda self: np.asarray(self.value).dtype)
    flags = property(lambda self: np.asarray(self.value).flags)
    T = property(lambda self: np.transpose(self))
    real = property(lambda self: self if self.dtype.kind != "c" else refuse("complex numbers"))

    @property
    def rows(self) -> csr_array:
        return self.store.take(self.index)

    def known(self) -> Any:
        """Return the value, on which the course of the program depends from here."""
        self.run.value_dependent = True
        return self.value

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.known())

    def __index__(self) -> int:
        return self.known().__index__()

    def __int__(self) -> int:
        return int(self.known())

    def __float__(self) -> float:
        raise Untraceable("a number is converted")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise Untraceable("an array comes to a function that takes plain arrays only")

    def __copy__(self) -> Tracked:
        return self.run.fresh(copy.copy(self.value), self.rows)

    def __getattr__(self, name: str) -> Any:
        if name == "copy":
            return lambda order="C": self.__copy__()
        if name == "astype":
            return lambda dtype, **_: self.run.fresh(np.asarray(self.value).astype(dtype), self.rows)
        if name == "item":
            return lambda: self if not self.ndim else self.reshape(())[()]
        if name == "flatten":
            return lambda: np.ravel(self).__copy__()
        if name == "reshape":
            return lambda *n, **k: np.reshape(self, n[0] if len(n) == 1 else n, **k)
        if name == "transpose":
            return lambda *axes: np.transpose(self, axes[0] if len(axes) == 1 else axes or None)
        if name in (
            "sum",
            "mean",
            "ravel",
            "squeeze",
            "swapaxes",
            "max",
            "min",
            "prod",
            "dot",
            "cumsum",
            "take",
            "std",
        ):
            return lambda *args, **kwargs: getattr(np, name)(self, *args, **kwargs)
        raise AttributeError(f"tracked arrays have no attribute {name!r}")

    def part(self, value: Any, index: np.ndarray) -> Tracked:
        """Return a part of this array, which shares its memory or does not."""
        if (
            isinstance(value, np.ndarray)
            and isinstance(self.value, np.ndarray)
            and np.may_share_memory(value, self.value)
        ):
            return Tracked(self.run, value, self.store, index)
        return self.run.fresh(value, self.store.take(index))

    def __getitem__(self, key: Any) -> Tracked:
        key = plain(key)
        return self.part(self.value[key], np.asarray(self.index[key]))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = plain(key)
        places = np.asarray(self.index[key])
        inside = value.value if isinstance(value, Tracked) else value
        rows = spread([value], places.shape, self.run)
        self.value[key] = inside
        self.store.put(places, rows)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if method == "at" or (out is not None and len(out) != 1) or kwargs.get("where", True) is not True:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        values = [v.value if isinstance(v, Tracked) else v for v in inputs]
        if method != "__call__" or ufunc.signature is not None or ufunc.nout != 1:
            if out is not None:
                raise Untraceable(f"{ufunc.__name__} writes into an array")
            if method == "reduce" and ufunc is np.add:
                return total(np.add.reduce, *inputs, **{"axis": 0, **kwargs})
            return unknown(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)
        if out is None:
            found = ufunc(*values, **kwargs)
            return self.run.fresh(found, None if ufunc in FLAT else spread(inputs, np.shape(found), self.run))
        (target,) = out
        if not isinstance(target, Tracked):
            raise Untraceable(f"{ufunc.__name__} writes into an array from outside")
        if not target.ndim and not isinstance(target.value, np.ndarray):
            return self.__array_ufunc__(ufunc, method, *inputs, **kwargs)
        rows = spread(inputs, target.shape, self.run)
        ufunc(*values, out=target.value, **kwargs)
        target.store.put(target.index, rows)
        return target

    def __array_function__(self, fn: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rule = FUNCTIONS.get(fn)
        return unknown(fn, args, kwargs) if rule is None else rule(*args, **kwargs)


def refuse(what: str) -> Any:
    raise Untraceable(what)


FLAT = {np.greater, np.less, np.greater_equal, np.less_equal, np.equal, np.not_equal, np.isnan, np.isfinite, np.isinf}
FLAT |= {np.sign, np.floor, np.ceil, np.rint, np.trunc, np.logical_not, np.logical_and, np.logical_or, np.signbit}


def plain(key: Any) -> Any:
    """Return an index whose values are known."""
    if isinstance(key, tuple):
        return tuple([plain(part) for part in key])
    return key.known() if isinstance(key, Tracked) else key


def spread(values: Any, shape: tuple[int, ...], run: Run) -> csr_array:
    """Return the union of what operands depend on, element by element of what they are broadcast to."""
    tracked = [v for v in values if isinstance(v, Tracked)]
    whole = csr_array((int(np.prod(shape)), run.inputs), dtype=np.bool_)
    for v in tracked:
        index = v.index
        while index.ndim > len(shape) and index.shape[0] == 1:
            index = index[0]
        whole = whole + v.store.take(np.broadcast_to(index, shape))
    return ones(whole)


def all_tracked(value: Any) -> list[Tracked]:
    if isinstance(value, Tracked):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [found for part in inside for found in all_tracked(part)]


def values_of(value: Any) -> Any:
    if isinstance(value, Tracked):
        return value.value
    if isinstance(value, dict):
        return {key: values_of(part) for key, part in value.items()}
    return type(value)([values_of(part) for part in value]) if type(value) in (tuple, list) else value


def unknown(fn: Any, args: Any, kwargs: Any) -> Any:
    """A function of which nothing is known: all of its result depends on all that it is given."""
    if kwargs.get("out") is not None:
        raise Untraceable(f"{fn.__name__} writes into an array")
    tracked = all_tracked([args, kwargs])
    run = tracked[0].run
    found = fn(*values_of(args), **values_of(kwargs))
    every = np.unique(np.concatenate([t.rows.indices for t in tracked]))

    def dense(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            items = [dense(part) for part in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if not isinstance(value, (np.ndarray, np.generic, float)):
            raise Untraceable(f"{getattr(fn, '__name__', fn)} returns no array")
        count = np.size(value)
        start = np.arange(count + 1) * every.size
        rows = csr_array(
            (np.ones(count * every.size, np.bool_), np.tile(every, count), start), shape=(count, run.inputs)
        )
        return run.fresh(value, rows)

    return dense(found)


def moving(fn: Any) -> Callable[..., Any]:
    """A function that moves or repeats the elements of one array."""

    def apply(a: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(a, Tracked) or all_tracked([args, kwargs]):
            return unknown(fn, (a, *args), kwargs)
        return a.part(fn(a.value, *args, **kwargs), fn(a.index, *args, **kwargs))

    return apply


def joining(fn: Any) -> Callable[..., Any]:
    """A function that puts arrays together."""

    def apply(parts: Any, *args: Any, **kwargs: Any) -> Any:
        run = all_tracked(list(parts))[0].run
        if kwargs.get("out") is not None:
            raise Untraceable(f"{fn.__name__} writes into an array")
        each = [part if isinstance(part, Tracked) else run.fresh(np.asarray(part)) for part in parts]
        starts = np.cumsum([0, *[part.size for part in each]])
        indices = [np.arange(part.size).reshape(part.shape) + start for part, start in zip(each, starts)]
        rows = csr_array(vstack([part.rows for part in each], format="csr"))
        return run.fresh(fn([p.value for p in each], *args, **kwargs), rows[fn(indices, *args, **kwargs).ravel()])

    return apply


def total(fn: Any, a: Any, axis: Any = None, **kwargs: Any) -> Any:
    """A sum or a mean along axes."""
    if not isinstance(a, Tracked) or kwargs.keys() - {"keepdims", "dtype"}:
        return unknown(fn, (a, axis), kwargs)
    found = fn(a.value, axis=axis, **kwargs)
    kept = np.sum(a.index, axis=axis, keepdims=True)
    places = np.broadcast_to(np.arange(kept.size).reshape(kept.shape), a.shape).ravel()
    summed = csr_array((np.ones(a.size, np.bool_), (places, np.arange(a.size))), shape=(kept.size, a.size))
    return a.run.fresh(found, ones(summed @ a.rows))


def where(condition: Any, *branches: Any) -> Any:
    tracked = all_tracked([condition, *branches])
    if len(branches) != 2:
        tracked[0].run.value_dependent = True
        return np.where(values_of(condition))
    found = np.where(values_of(condition), *map(values_of, branches))
    return tracked[0].run.fresh(found, spread(branches, found.shape, tracked[0].run))


def diff(a: Any, n: int = 1, axis: int = -1, **kwargs: Any) -> Any:
    if n != 1 or axis != -1 or kwargs:
        return unknown(np.diff, (a, n, axis), kwargs)
    return a[..., 1:] - a[..., :-1]


FUNCTIONS: dict[Any, Callable[..., Any]] = {np.where: where, np.diff: diff}
for _name in (
    "reshape ravel transpose swapaxes moveaxis expand_dims squeeze broadcast_to flip roll repeat tile take rot90 "
    "diagonal atleast_1d atleast_2d copy"
).split():
    FUNCTIONS[getattr(np, _name)] = moving(getattr(np, _name))
for _name in "concatenate stack hstack vstack column_stack".split():
    FUNCTIONS[getattr(np, _name)] = joining(getattr(np, _name))
for _name in "sum mean".split():
    FUNCTIONS[getattr(np, _name)] = partial(total, getattr(np, _name))
for _name in "shape ndim size".split():
    FUNCTIONS[getattr(np, _name)] = lambda a, _name=_name: getattr(a, _name)
FUNCTIONS[np.iscomplexobj] = lambda x: x.dtype.kind == "c"
FUNCTIONS[np.result_type] = lambda *values: np.result_type(*[v.dtype if isinstance(v, Tracked) else v for v in values])
FUNCTIONS[np.real] = lambda a: a.real


class TrackedNumPy:
    """The module `numpy`, whose new arrays are tracked: what is written into them may depend on inputs."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        if name in ("zeros", "ones", "empty", "full", "eye", "identity"):
            return lambda *args, **kwargs: self._made(value, args, kwargs)
        if name in ("zeros_like", "ones_like", "empty_like", "full_like"):
            return lambda *args, **kwargs: self._made(value, args, kwargs)
        if name in ("array", "asarray", "ascontiguousarray", "asfortranarray", "asanyarray"):
            return lambda a, dtype=None, **kwargs: self._array(value, a, dtype, kwargs)
        return value

    def _made(self, fn: Any, args: Any, kwargs: Any) -> Tracked:
        fill = all_tracked([args[1:], kwargs])
        found = self._run.fresh(fn(*values_of(args), **values_of(kwargs)))
        if fill and fn in (np.full, np.full_like):
            found.store.put(found.index, spread(fill, found.shape, self._run))
        elif fill:
            raise Untraceable(f"{fn.__name__} of numbers that depend on inputs")
        return found

    def _array(self, fn: Any, a: Any, dtype: Any, kwargs: Any) -> Any:
        if not all_tracked([a]):
            found = fn(a, dtype, **kwargs)
            return self._run.fresh(found) if fn is np.array else found
        if isinstance(a, (list, tuple)):
            return self._array(fn, np.stack([self._array(np.asarray, part, None, {}) for part in a]), dtype, kwargs)
        if not isinstance(a, Tracked):
            return self._run.fresh(np.asarray(a))
        same = dtype is None or np.dtype(dtype) == a.dtype
        value = a if isinstance(a.value, np.ndarray) else self._run.fresh(np.asarray(a.value), a.rows)
        return value if same and fn is not np.array else self._run.fresh(np.array(a.value, dtype), a.rows)
