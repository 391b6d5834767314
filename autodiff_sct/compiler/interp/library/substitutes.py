"""Stand-ins for calls: texts for NumPy's functions, functions behind numba and caches, progress bars.

Texts that stand in for those of NumPy's Python functions which find out by trying what facts tell.

A substitute computes the same, bit for bit, for arrays and lists of real and complex numbers.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ...domain.facts import Opaque
from ...domain.values import Const, TupleV, Value, is_vectorized, python_of
from ..kernel.bind_arguments import Shown, look
from ..kernel.handlers import handles
from ..kernel.operations import call_constant, call_python, opaque_call
from ..kernel.specialiser import Specialiser

__all__ = ["SUBSTITUTES"]


class Progress:
    """A bar, and what is gone through while it counts."""

    def __init__(self, iterable: Any, bar: Any) -> None:
        self.iterable, self.bar = iterable, bar

    def __iter__(self) -> Any:
        for item in self.iterable:
            yield item
            self.bar.update(1)
        self.bar.close()

    def __len__(self) -> int:
        return len(self.iterable)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.bar.close()

    def update(self, count: Any = 1) -> None:
        self.bar.update(count)

    def close(self) -> None:
        self.bar.close()

    def set_description(self, *args: Any, **kwargs: Any) -> None:
        self.bar.set_description(*args, **kwargs)

    def set_postfix(self, *args: Any, **kwargs: Any) -> None:
        self.bar.set_postfix(*args, **kwargs)

    def set_postfix_str(self, *args: Any, **kwargs: Any) -> None:
        self.bar.set_postfix_str(*args, **kwargs)

    def write(self, *args: Any, **kwargs: Any) -> None:
        self.bar.write(*args, **kwargs)


def begin(cls: Any, iterable: Any = None, desc: Any = None, total: Any = None, **settings: Any) -> Any:
    if total is None and hasattr(iterable, "__len__"):
        total = len(iterable)
    return Progress(iterable, bar_of(cls, desc=desc, total=total, **settings))


def bar_of(cls: Any, **settings: Any) -> Any: ...


@handles(bar_of)
def make_bar(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made = ir.call(s.expr(args[0]), **{name: s.expr(value) for name, value in kwargs.items()})
    every = {f"argument {k}": value for k, value in enumerate(kwargs.values())}
    return s.let(made, Opaque(Shown), ir.Op(look, every), hint="bar", effect=True)


def bar_like(cls: type) -> Callable[..., Any] | None:
    """The stand-in of a class of progress bars; None for others."""
    bars = getattr(sys.modules.get("tqdm.std"), "tqdm", None)
    return functools.partial(begin, cls) if bars is not None and issubclass(cls, bars) else None


STANDS_FOR = "numpy"  # what is written here counts as text of that library


def as_series(alist: Any, trim: Any = True) -> Any:
    arrays = [np.array(a, ndmin=1) for a in alist]
    for a in arrays:
        if a.size == 0:
            raise ValueError("Coefficient array is empty")
        if a.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
    dtype = np.common_type(*arrays)
    return [np.array(np.ravel(a)[: degree(a) + 1] if trim else np.ravel(a), dtype=dtype) for a in arrays]


def trimseq(seq: Any) -> Any:
    return seq[: degree(seq) + 1]


def degree(coefficients: Any) -> Any:
    places = np.flatnonzero(coefficients)
    return places[-1] if len(places) > 0 else 0


def mapdomain(x: Any, old: Any, new: Any) -> Any:
    off, scl = mapparms(old, new)
    return off + scl * (np.asanyarray(x) if isinstance(x, (list, tuple)) else x)


def mapparms(old: Any, new: Any) -> Any:
    old_length, new_length = old[1] - old[0], new[1] - new[0]
    return (old[1] * new[0] - old[0] * new[1]) / old_length, new_length / old_length


def added(c1: Any, c2: Any) -> Any:
    [c1, c2] = as_series([c1, c2])
    if len(c1) > len(c2):
        return trimseq(np.concatenate([c1[: len(c2)] + c2, c1[len(c2) :]]))
    return trimseq(np.concatenate([c2[: len(c1)] + c1, c2[len(c1) :]]))


def subtracted(c1: Any, c2: Any) -> Any:
    [c1, c2] = as_series([c1, c2])
    if len(c1) > len(c2):
        return trimseq(np.concatenate([c1[: len(c2)] - c2, c1[len(c2) :]]))
    return trimseq(np.concatenate([c1 - c2[: len(c1)], -c2[len(c1) :]]))


def divided(c1: Any, c2: Any) -> Any:
    [c1, c2] = as_series([c1, c2])
    if c2[-1] == 0:
        raise ZeroDivisionError
    if len(c1) < len(c2):
        return c1[:1] * 0, c1
    if len(c2) == 1:
        return c1 / c2[-1], c1[:1] * 0
    last = len(c1) - len(c2)
    scaled = c2[:-1] / c2[-1]
    rest = np.copy(c1)
    for i in range(last, -1, -1):
        rest[i : i + len(scaled)] -= scaled * rest[i + len(scaled)]
    return rest[len(scaled) :] / c2[-1], trimseq(rest[: len(scaled)])


def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    if np.ndim(filt) != 1:
        raise ValueError("np.trim_zeros is differentiable for one axis: slice the array")
    places = np.flatnonzero(filt)
    if len(places) == 0:
        return filt[:0]
    first = places[0] if "f" in trim.lower() else 0
    last = places[-1] + 1 if "b" in trim.lower() else len(filt)
    return filt[first:last]


def real_if_zero(w: Any, t: Any) -> Any:
    return w.real.copy() if t.dtype.kind != "c" and np.all(w.imag == 0.0) else w


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    letters = [name[0].upper() for name in requirements or ()]
    if "C" in letters and "F" in letters:
        raise ValueError('Cannot specify both "C" and "F" order')
    if "C" in letters:
        array = np.asarray(a, dtype=dtype, order="C")
    elif "F" in letters:
        array = np.asarray(a, dtype=dtype, order="F")
    else:
        array = np.asarray(a, dtype=dtype)
    for letter in letters:
        if letter in "AWO" and not array.flags[letter]:
            return array.copy("F" if "F" in letters else "C" if "C" in letters else "A")
    return array


def apply_where(cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None) -> Any:
    given = list(args) if isinstance(args, tuple) else [args]
    shape = np.broadcast_shapes(np.shape(cond), *[np.shape(a) for a in given])
    chosen, lines = np.broadcast_to(cond, shape), [np.broadcast_to(a, shape) for a in given]
    there = f1(*[line[chosen] for line in lines])
    if f2 is None:
        result = np.full(shape, fill_value, np.result_type(there, fill_value))
    else:
        elsewhere = f2(*[line[~chosen] for line in lines])
        result = np.empty(shape, np.result_type(there, elsewhere))
        result[~chosen] = elsewhere
    result[chosen] = there
    return result


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """``np.interp`` with a period: the samples in order, and one of the period before and after on both sides."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    places, heights = np.asarray(xp, dtype=np.float64) % period, np.asarray(fp)
    order = np.argsort(places)
    places, heights = places[order], heights[order]
    places = np.concatenate((places[-1:] - period, places, places[0:1] + period))
    return np.interp(np.asarray(x) % period, places, np.concatenate((heights[-1:], heights, heights[0:1])))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    array = np.ravel(ary)
    parts = [array[1:] - array[:-1]]
    if to_begin is not None:
        parts.insert(0, np.ravel(np.asarray(to_begin, dtype=array.dtype)))
    if to_end is not None:
        parts.append(np.ravel(np.asarray(to_end, dtype=array.dtype)))
    return np.concatenate(parts)


SUBSTITUTES: dict[Any, Any] = {
    ("numpy", "interp"): interp,
    ("numpy", "ediff1d"): ediff1d,
    ("numpy.polynomial.polyutils", "as_series"): as_series,
    ("numpy.polynomial.polyutils", "trimseq"): trimseq,
    ("numpy.polynomial.polyutils", "mapdomain"): mapdomain,
    ("numpy.polynomial.polyutils", "_add"): added,
    ("numpy.polynomial.polyutils", "_sub"): subtracted,
    ("numpy.polynomial.polynomial", "polydiv"): divided,
    ("numpy", "trim_zeros"): trim_zeros,
    ("numpy", "require"): require,
    ("numpy.linalg._linalg", "_to_real_if_imag_zero"): real_if_zero,  # of NumPy 2.5
    ("scipy._lib.array_api_extra._lib._funcs", "apply_where"): apply_where,
    ("scipy._external.array_api_extra._lib._funcs", "apply_where"): apply_where,
}


def behind_of(fn: Any) -> Callable[..., Any] | None:
    """The function to follow in the place of a compiled one, or of a class of progress bars; None for others."""
    if isinstance(fn, type):
        return range if fn is getattr(sys.modules.get("numba"), "prange", None) else bar_like(fn)
    return python_of(fn)


def call_behind(s: Specialiser, callee: Const, behind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a compiled function, or of one with a cache, whose Python function is `behind`."""
    if hasattr(callee.value, "cache_info"):
        return call_cached(s, callee, behind, args, kwargs)
    if is_vectorized(callee.value) and not all(is_number(s, value) for value in args):
        behind = elementwise(behind)
    return call_constant(s, Const(behind), args, kwargs)


def is_number(s: Specialiser, value: Value) -> bool:
    """True for one number."""
    facts = s.num(value)
    return facts is not None and facts.dims == () and facts.kind != "array"


@functools.cache
def elementwise(fn: Any) -> np.vectorize:
    """A function of arrays, from that of their elements."""
    return np.vectorize(fn)


def call_cached(s: Specialiser, callee: Const, behind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function with a cache, called with floats: as if it had none, where that is no difference."""
    floats = [f for v in [*args, *kwargs.values()] if (f := s.num(v)) is not None and f.differentiable]
    if not floats:
        return opaque_call(s, s.expr(callee), callee.value, args, kwargs)
    mark = len(s.block)
    result = call_python(s, behind, args, kwargs)
    quiet = all(isinstance(stmt, (ir.Let, ir.If, ir.Raise)) for stmt in ir.walk(s.block[mark:]))
    if not quiet or not is_numbers(s, result):
        raise s.refuse("cached-function", f"{callee.value.__name__} has a cache, and does more than compute numbers")
    return result


def is_numbers(s: Specialiser, value: Value) -> bool:
    """True for one number, and for a tuple of numbers."""
    if isinstance(value, TupleV):
        return all(is_numbers(s, item) for item in value.items)
    facts = s.num(value)
    return facts is not None and facts.dims == ()
