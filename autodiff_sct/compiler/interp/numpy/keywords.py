"""Arguments of NumPy's functions: lists and objects read as arrays, settings that say the same as others, dtypes.

Rules ask the arguments that they have entries for about their shapes, and the cotangent of a list is that of its items.
"""

from __future__ import annotations

import math
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from ....rules.table import TABLE
from ... import ir
from ...analysis.missing_rules import with_entries
from ...domain.facts import Listed, Num, Pair
from ...domain.values import Bound, Const, ListV, Obj, TupleV, Value
from ..arrays.emit_op import array_of_list, numpy_call
from ..containers.iterators import Cursor
from ..containers.sources import Source
from ..kernel.bind_arguments import places
from ..kernel.handlers import otherwise
from ..kernel.operations import as_list, attribute_of, call_python, call_value
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..world.class_guards import found_in

UNSTACK = {np.unstack} if hasattr(np, "unstack") else set()
SPREADS = (np.var, np.std, np.nanvar, np.nanstd)


# Settings of elementwise functions that say what is so without them, but for how the result lies in memory.
BY_DEFAULT = {"casting": "same_kind", "order": "K", "subok": True, "dtype": None}


def rewritten(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The meaning of a call with such settings."""
    if isinstance(fn, np.ufunc) and fn.signature is None and not BY_DEFAULT.keys().isdisjoint(kwargs):
        return elementwise(s, fn, args, kwargs)
    if fn is np.average and ("returned" in kwargs or len(args) > 3):
        return average(s, args, kwargs)
    if fn is np.linspace and ("retstep" in kwargs or len(args) > 4):
        return linspace(s, args, kwargs)
    if fn in SPREADS and "correction" in kwargs and "ddof" not in kwargs:
        kwargs = {"ddof" if k == "correction" else k: v for k, v in kwargs.items()}
        return rewritten(s, fn, args, kwargs) or numpy_call(s, fn, args, kwargs)
    if fn in (np.var, np.std) and "mean" in kwargs:
        if kwargs.keys() - {"axis", "mean", "ddof", "keepdims"} or len(args) > 2:
            raise s.refuse(
                "numpy-form", f"np.{fn.__name__} with a mean and more settings cannot be followed", "leave the mean out"
            )
        first, *axis = args
        around = variance_around if fn is np.var else deviation_around
        named = {k: array_of_list(s, v) if k == "mean" else v for k, v in kwargs.items()}
        return call_python(s, around, [array_of_list(s, first), *axis], named)
    if fn is np.nan_to_num and ("copy" in kwargs or len(args) > 1):
        return nan_to_num(s, args, kwargs)
    if fn is np.pad and any(isinstance(v, Obj) and v.cls is dict for v in [*args[1:2], *kwargs.values()]):
        raise s.refuse("numpy-form", "np.pad with widths in a dict cannot be followed", "give a pair for each axis")
    if fn in UNSTACK and not is_known(s, args[0], kwargs.get("axis", Const(0))):
        return call_python(s, unstacked, args, kwargs)
    return None


def elementwise(s: Specialiser, fn: np.ufunc, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A ufunc told the dtype that it computes with: one of arrays of that dtype."""
    if "out" in kwargs or len(args) > fn.nin:
        return None
    named = {k: v for k, v in kwargs.items() if k not in BY_DEFAULT or v != Const(BY_DEFAULT[k])}
    asked = named.pop("dtype", None)
    if asked is not None:
        known = [s.num(a) for a in args]
        dtype = np.dtype(s.static(asked)) if s.is_static(asked) else None
        if dtype is None or dtype.kind not in "fc" or (dtype.char,) * fn.nin not in loops(fn):
            return None
        if not any(f is not None and f.kind == "array" for f in known):
            return None
        if any(f is None or f.dtype is None or not np.can_cast(f.dtype, dtype, "same_kind") for f in known):
            return None
        args = [
            call_value(s, Bound("astype", a), [asked], {}) if f is not None and not f.python and f.dtype != dtype else a
            for a, f in zip(args, known)
        ]
    return None if len(named) == len(kwargs) else numpy_call(s, fn, args, named)


def loops(fn: np.ufunc) -> set[tuple[str, ...]]:
    """The dtypes of arguments that a ufunc computes with, of those that it returns, too."""
    return {tuple(given) for given, made in (t.split("->") for t in fn.types) if set(made) <= set(given)}


def average(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.average`` told whether to return the weights, too."""
    named = dict(zip(places(np.average), args)) | kwargs
    returned = s.static(named.pop("returned"))
    named = {k: array_of_list(s, v) if k in ("a", "weights") else v for k, v in named.items()}
    if returned:
        return call_python(s, average_and_weight, [], named)
    return numpy_call(s, np.average, [named.pop("a")], named)


def linspace(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.linspace`` told whether to return the step, too."""
    named = dict(zip(places(np.linspace), args)) | kwargs
    returned = s.static(named.pop("retstep"))
    first = [named.pop(name) for name in ("start", "stop")]
    points = numpy_call(s, np.linspace, first, named)
    if not returned:
        return points
    return TupleV((points, call_python(s, step_of, first, {k: named[k] for k in ("num", "endpoint") if k in named})))


def nan_to_num(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """``np.nan_to_num`` that writes into its argument; of a number, it cannot."""
    named = dict(zip(places(np.nan_to_num), args)) | kwargs
    copied, x = s.static(named.pop("copy")), named.pop("x")
    facts = s.num(x)
    if copied or facts is not None and facts.kind in ("float", "npscalar"):
        return None
    return call_python(s, nan_to_num_in_place, [x], named)


def is_known(s: Specialiser, x: Value, axis: Value) -> bool:
    """True if it is known how long an axis is."""
    facts = s.num(x)
    if facts is None or facts.dims is None or not s.is_static(axis):
        return False
    return isinstance(facts.dims[s.static(axis)], int)


def average_and_weight(a: Any, axis: Any = None, weights: Any = None, keepdims: Any = False) -> Any:
    average = np.average(a, axis, weights, keepdims=True) if keepdims else np.average(a, axis, weights)
    if weights is None:
        share = np.full_like(average, a.size / average.size)
        return average, share if average.ndim > 0 else np.sum(share)
    if weights.dtype != average.dtype:
        weights = weights.astype(average.dtype)
    if weights.ndim < a.ndim and average.ndim > 0:
        return average, np.full_like(average, np.sum(weights))
    return average, np.sum(weights, axis, keepdims=True) if keepdims else np.sum(weights, axis)


def nan_to_num_in_place(x: Any, **settings: Any) -> Any:
    x[...] = np.nan_to_num(x, **settings)
    return x


def step_of(start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    parts = num - 1 if endpoint else num
    return np.subtract(stop, start) / parts if parts > 0 else math.nan


def variance_around(a: Any, axis: Any = None, mean: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    distance = a - mean
    if np.iscomplexobj(distance):
        squares = np.real(distance) * np.real(distance) + np.imag(distance) * np.imag(distance)
    else:
        squares = distance * distance
    left = together(a, axis) - ddof
    return np.sum(squares, axis, keepdims=keepdims) / (max(left, 0) if ddof > 1 else left)


def deviation_around(a: Any, axis: Any = None, mean: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    return np.sqrt(variance_around(a, axis, mean, ddof, keepdims))


def together(a: Any, axis: Any) -> Any:
    """The number of elements that a reduction takes together."""
    if axis is None:
        return a.size
    if isinstance(axis, tuple):
        return math.prod([a.shape[k] for k in axis])
    return a.shape[axis]


def unstacked(x: Any, axis: Any = 0) -> Any:
    return tuple(np.moveaxis(x, axis, 0)) if axis != 0 else tuple(x)


OF_DTYPES = (np.finfo, np.iinfo, np.dtype, np.issubdtype, np.promote_types, np.can_cast, np.isdtype)
OF_ARRAYS = (np.result_type, np.common_type, np.iscomplexobj, np.isrealobj, np.isscalar)
DUMMIES: dict[str | None, Any] = {"bool": bool, "int": int, "float": float, "complex": complex}


def told(s: Specialiser, args: list[Value], kwargs: dict[str, Value], fn: Any) -> Value | None:
    """The answer of a function, written as the user did; None where it needs more than kinds and dtypes."""
    try:
        given = [dummy(s, value) if fn in OF_ARRAYS else s.static(value) for value in args]
        named = {name: s.static(value) for name, value in kwargs.items()}
    except LookupError:
        return None
    try:
        answer = fn(*given, **named)
    except (TypeError, ValueError) as error:
        raise always(s, type(error), str(error)) from error
    called = ir.attribute(s.bind("np", np), fn.__name__)
    return Const(answer, ir.call(called, *map(s.expr, args), **{name: s.expr(v) for name, v in kwargs.items()}))


def dummy(s: Specialiser, value: Value) -> Any:
    """A number or an array of no items of the same kind and dtype; raises LookupError where these are not known."""
    facts = None if isinstance(value, Const) else s.facts_of(value)
    if not isinstance(facts, Num) or facts.row is not None:
        return s.static(value)
    if facts.kind in DUMMIES:
        return DUMMIES[facts.kind]()
    if facts.kind is None or facts.dtype is None:
        raise LookupError
    return facts.dtype.type(0) if facts.kind == "npscalar" else np.empty(0, facts.dtype)


for fn in (*OF_DTYPES, *OF_ARRAYS):
    otherwise(fn)(partial(told, fn=fn))


# Functions whose rules take a list item by item.
OF_LISTS = frozenset(
    [np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.concatenate, np.stack, np.vstack, np.hstack]
    + [np.dstack, np.column_stack, np.block, np.select, np.choose, np.einsum, np.linalg.multi_dot]
)
# Parameters without an entry that rules ask for their shapes.
WITHOUT_ENTRY: dict[Any, str] = {np.polyfit: "w", np.bincount: "x", np.select: "default"}
# Where functions of several arrays have the list of them, whose items may be lists that NumPy reads as arrays.
OF_PARTS: dict[Any, int] = {
    **dict.fromkeys([np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack], 0),
    np.linalg.multi_dot: 0,
    np.select: 1,
    np.choose: 1,
}
OF_SECTIONS = {"sos"}  # a parameter of SciPy's filters without an entry
COEFFICIENTS = {"b", "a"}  # of the filters of scipy.signal, where a number is a polynomial of degree 0
PAIRS = {"lu_and_piv", "c_and_lower", "c_or_cr"}  # parameters of SciPy that are given a tuple of arrays

# Functions whose rules ask what they are given for its type and its axes, so that a Python number is made an array.
OF_NUMBERS = frozenset(
    [np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, np.ptp, np.median, np.nanmedian]
    + [np.quantile, np.nanquantile, np.percentile, np.nanpercentile]
)


Arguments = tuple[list[Value], dict[str, Value]]


def with_arrays(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Arguments:
    """The arguments of a call, with arrays for what the function reads as arrays."""
    args = [as_operand(s, a) for a in args]
    if isinstance(fn, np.ufunc):
        return [array_of_list(s, a) for a in args], kwargs
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        operands = len(args) if fn.__name__ == "outer" else 1  # what follows them are axes and places
        return [*(array_of_list(s, a) for a in args[:operands]), *args[operands:]], kwargs
    if fn is np.einsum and s.is_static(args[0]) and isinstance(s.static(args[0]), str):
        return [args[0], *(array_of_list(s, a) for a in args[1:])], kwargs
    at = OF_PARTS.get(fn, len(args))
    if at < len(args):
        args[at] = with_parts(s, args[at])
    if fn in OF_NUMBERS and args and (facts := s.num(args[0])) is not None and facts.python:
        args[0] = numpy_call(s, np.asarray, [args[0]], {})
    wanted = read_as_arrays(fn)
    if not wanted or not any(holds_floats(s, s.facts[n]) for a in (*args, *kwargs.values()) for n in s.leaves(a)):
        return args, kwargs
    names = [p.name for p in TABLE[fn].signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    by_position = [*names, *names[-1:] * (len(args) - len(names))]
    args = [as_array(s, fn, name, a) if name in wanted else a for name, a in zip(by_position, args)]
    return args, {k: as_array(s, fn, k, v) if k in wanted else v for k, v in kwargs.items()}


def read_as_arrays(fn: Any) -> frozenset[str]:
    """Parameters of a function of NumPy or SciPy that its rule reads as arrays."""
    known = frozenset(WITHOUT_ENTRY.get(fn, "").split())
    if fn not in TABLE or fn in OF_LISTS or not is_of_arrays(fn):
        return known
    return known | with_entries(fn) | OF_SECTIONS


def is_of_arrays(fn: Any) -> bool:
    """True for functions of NumPy and SciPy, and those that stand for functions of SciPy in the program."""
    parts = (getattr(fn, "__module__", None) or "numpy").split(".")
    return parts[0] in ("numpy", "scipy") or "scipy" in parts


def as_array(s: Specialiser, fn: Any, name: str, value: Value) -> Value:
    if name in COEFFICIENTS and fn.__module__.startswith("scipy.signal") and getattr(s.num(value), "python", False):
        value = ListV((value,), s.site())
    return with_parts(s, value) if name in PAIRS and isinstance(value, TupleV) else array_of_list(s, value)


def with_parts(s: Specialiser, value: Value) -> Value:
    """A list or tuple of arrays, with arrays for its items that are lists."""
    if not isinstance(value, (ListV, TupleV)):
        return value
    parts = tuple(array_of_list(s, part) for part in value.items)
    return ListV(parts, value.site) if isinstance(value, ListV) else TupleV(parts)


def as_operand(s: Specialiser, value: Value) -> Value:
    """The array that an object says it is, by its ``__array__``; the list that an iterator goes through."""
    if isinstance(value, Obj) and isinstance(found_in(s, value.cls, "__array__"), FunctionType):
        return call_value(s, attribute_of(s, value, "__array__"), [], {})
    if isinstance(value, Source) or isinstance(value, Obj) and value.cls is Cursor:
        return as_list(s, value)
    return value


def holds_floats(s: Specialiser, facts: Any) -> bool:
    """True if something is, or holds, numbers through which derivatives may pass."""
    if isinstance(facts, Num):
        return facts.differentiable
    if isinstance(facts, Pair):
        return any(holds_floats(s, item) for item in facts.items)
    return isinstance(facts, Listed) and holds_floats(s, s.elements_of(facts))
