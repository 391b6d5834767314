"""Facts of results from NumPy itself: a function is run on dummies whose every axis has length 1."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import product
from typing import Any

import numpy as np

from ...core import thresholds
from .constant_folding import LONGEST, is_cheap, smaller
from .facts import DTYPES, OF_THREE, Facts, Num, Opaque, Pair, join, of_value


def dummy(facts: Any, length: int = 1, integer: int = 1) -> Any:
    """A value that the facts describe; raises ValueError where they are not enough to make one."""
    if isinstance(facts, Num):
        if facts.kind == "int":
            return integer
        if facts.python:
            return {"float": 1.0, "bool": True, "complex": 1.0 + 0j}[facts.kind or ""]
        if facts.row is not None or facts.dtype is None or facts.dims is None or (facts.kind is None and facts.dims):
            raise ValueError("unknown")
        array = np.ones((length,) * len(facts.dims), facts.dtype)
        return array if facts.kind == "array" else array[()]
    if isinstance(facts, Pair):
        items = [dummy(item, length, integer) for item in facts.items]
        return tuple(items) if facts.cls is None else facts.cls(*items)
    raise ValueError("unknown")


def of_result(result: Any) -> Facts:
    """The facts of what a function returned for dummies: nothing is known of the lengths of axes."""
    if isinstance(result, np.ndarray) and type(result) is not np.ndarray:
        return Opaque()  # a masked array, say, whose methods are its own
    if isinstance(result, tuple) and getattr(result, "__dict__", None):
        return Opaque(type(result))  # it holds more than its items
    if isinstance(result, np.ndarray) and result.dtype.kind in "biufc":
        return Num("array", result.dtype, (None,) * result.ndim)
    if isinstance(result, (tuple, list)) and all(isinstance(r, (np.ndarray, np.generic, float, int)) for r in result):
        return Pair(tuple(of_result(item) for item in result), type(result) if type(result) is not tuple else None)
    return of_value(result)


@lru_cache(maxsize=8192)
def evaluate_cached(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> Any:
    reason = "None"
    args, kwargs = with_smaller(args, kwargs)
    given = [*args, *(value for _, value in kwargs)]
    if all(isinstance(a, Static) for a in given) and not is_cheap(fn, [a.value for a in given]):
        raise ValueError("a constant that is computed when the program runs")
    lengths = ((1, 1), (1, 0), (2, 1), (3, 1), (4, 2), *((n, 1) for n in literal_lengths(args, kwargs)))
    for length, integer in ((3, 1),) if fn in OF_THREE else lengths:
        try:
            values = [realise(a, length, integer) for a in args]
            named = {k: realise(v, length, integer) for k, v in kwargs}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = fn(*values, **named)
        except Exception as error:
            reason = str(error)  # not the error itself, which holds on to all that is being compiled
            continue
        if length < 3 and any(array.size == 0 for array in arrays_in(result)):
            continue  # an empty result shows neither what it shares nor what it holds
        flat = [*values, *named.values()]
        shared = [
            k
            for k, value in enumerate(flat)
            if isinstance(value, np.ndarray) and any(np.may_share_memory(r, value) for r in arrays_in(result))
        ]
        if not shared and getattr(fn, "numpy_name", getattr(fn, "__name__", "")) in ("reshape", "ravel"):
            shared = [0]  # a view of an array with another layout than the dummy's
        return of_result(result), tuple(shared), isinstance(result, list)
    raise ValueError(reason)


def with_smaller(args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> Any:
    """The arguments of a call, with small numbers in the place of large ones: its result is no long array."""
    numbers = tuple(numbers_of((args, tuple(value for _, value in kwargs))))
    found = smaller(numbers)
    if found is numbers:
        return args, kwargs
    left = iter(found)
    return with_numbers(args, left), tuple([(name, with_numbers(value, left)) for name, value in kwargs])


def numbers_of(argument: Any) -> Iterator[Any]:
    """The constants in an argument that are numbers, also those inside tuples and lists."""
    if isinstance(argument, Static):
        argument = argument.value
    if type(argument) in (int, float):
        yield argument
    elif isinstance(argument, (tuple, list, Sequence)):
        for each in argument.items if isinstance(argument, Sequence) else argument:
            yield from numbers_of(each)


def with_numbers(argument: Any, left: Iterator[Any]) -> Any:
    """An argument with other numbers, taken in the order of `numbers_of`."""
    if isinstance(argument, Static):
        return Static(with_numbers(argument.value, left), argument.type)
    if isinstance(argument, Sequence):
        return Sequence(with_numbers(argument.items, left))
    if type(argument) in (int, float):
        return next(left)
    if type(argument) in (tuple, list):
        return type(argument)([with_numbers(each, left) for each in argument])
    if isinstance(argument, range):
        return argument[:LONGEST]
    return argument


def literal_lengths(args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> list[int]:
    """The largest integer that is asked for literally, where longer axes may be needed: those of windows."""
    literals = [a.value for a in (*args, *(v for _, v in kwargs)) if isinstance(a, Static)]
    numbers = [n for a in literals for n in (a if isinstance(a, (tuple, list)) else (a,)) if type(n) is int]
    return [n for n in [max(numbers, default=0)] if 4 < n <= thresholds.LONGEST_WINDOW]


def arrays_in(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [r for item in result for r in arrays_in(item)]
    return [result] if isinstance(result, np.ndarray) else []


@dataclass(frozen=True)
class Static:
    """An argument whose value is known at compile time."""

    value: Any
    type: type


def realise(argument: Any, length: int, integer: int) -> Any:
    if isinstance(argument, Static):
        return argument.value
    if isinstance(argument, tuple):
        return type(argument)(realise(a, length, integer) for a in argument)
    if isinstance(argument, Sequence):
        return [realise(a, length, integer) for a in argument.items]
    return dummy(argument, length, integer)


@dataclass(frozen=True)
class Sequence:
    """A list display given to a function."""

    items: tuple[Any, ...]


def evaluate(fn: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[Facts, tuple[int, ...], bool]:
    """The facts of ``fn(*args, **kwargs)``, which arguments its result may share memory with, and whether it is a list.

    Arguments are facts, `Static` values, or tuples and `Sequence` of these.  Raises ValueError where nothing can be
    said.
    """
    try:
        return evaluate_kinds(fn, tuple(args), tuple(kwargs.items()))
    except TypeError as error:  # an argument that cannot be hashed
        raise ValueError(str(error)) from error


@lru_cache(maxsize=8192)
def evaluate_kinds(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> Any:
    untyped = count_untyped((args, kwargs))
    return evaluate_any_dtype(fn, args, kwargs) if untyped else evaluate_cached(fn, args, kwargs)


def evaluate_any_dtype(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> Any:
    """The facts of a result that hold for every dtype, of arrays of known rank, and of dtypes as arguments."""
    count = count_untyped((args, kwargs))
    few = count <= 2  # of more, one dtype for all tells the rank
    outcomes = []
    for dtypes in product(DTYPES, repeat=count) if few else zip(*[DTYPES] * count):
        left = iter(dtypes)
        try:
            outcomes.append(evaluate_cached(fn, typed(args, left), typed(kwargs, left)))
        except ValueError:  # the function does not take these: the program fails where it meets them
            continue
    if not outcomes:
        raise ValueError("unknown")
    found, shared, is_list = zip(*outcomes)
    facts = reduce(join, found)
    conjugate = getattr(fn, "numpy_name", "") in ("conj", "conjugate")  # the array itself where it is real
    if any(is_list) or (len(set(shared)) > 1 and not conjugate) or not (few or isinstance(facts, Num)):
        raise ValueError("unknown")
    return facts if few else replace(facts, dtype=None), max(shared), False


def is_untyped(argument: Any) -> bool:
    if isinstance(argument, Num):
        return argument.kind in ("array", "npscalar") and argument.dims is not None and argument.dtype is None
    return argument == Opaque(np.dtype)


def count_untyped(argument: Any) -> int:
    """The number of arrays, NumPy's numbers and dtypes in an argument of which the dtype is not known."""
    if isinstance(argument, (tuple, Sequence)):
        return sum(map(count_untyped, argument if isinstance(argument, tuple) else argument.items))
    return is_untyped(argument)


def typed(argument: Any, dtypes: Iterator[np.dtype]) -> Any:
    """An argument in which these have the next of the dtypes."""
    if type(argument) is tuple:
        return tuple(typed(a, dtypes) for a in argument)
    if isinstance(argument, Sequence):
        return Sequence(tuple(typed(a, dtypes) for a in argument.items))
    if not is_untyped(argument):
        return argument
    dtype = next(dtypes)
    return Num(argument.kind, dtype, argument.dims) if isinstance(argument, Num) else Static(dtype, type(dtype))
