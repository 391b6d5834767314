"""Results known at compile time: facts from dummies of length 1, and constants that are small and quickly found.

`is_cheap` decides before a call on constants is carried out; a call that is not cheap is emitted as the user wrote it,
and runs when the program runs.  `smaller` gives constants in whose place the facts of a result are the same.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import product
from types import BuiltinMethodType
from typing import Any

import numpy as np

from ...core import thresholds
from .facts import DTYPES, OF_THREE, Facts, Num, Opaque, Pair, join, of_value

MOST_BYTES = 1 << 20  # of a text or a container
MOST_BITS = 1 << 14  # of an integer, of which Python prints no more than 4,300 digits
MOST_ITEMS = 1 << 14  # of a sequence whose items become constants of their own
LARGE, LONGEST = 64, 4096  # an integer, and a product of integers, that an array of stand-ins may be long


def is_cheap(fn: Any, args: Iterable[Any], kwargs: Mapping[str, Any] | None = None) -> bool:
    """True if the result of a call on constants is known to be small before it is computed."""
    given = [*args, *(kwargs or {}).values()]
    if all(isinstance(value, int) for value in given) and not is_method_of_text(fn):
        return BITS.get(fn, bits_of_all)(given) <= MOST_BITS
    if is_method_of_text(fn):
        return bytes_of_text([fn.__self__, *given]) <= MOST_BYTES
    return BYTES.get(fn, bytes_of_all)(given) <= MOST_BYTES


def is_short(values: Any) -> bool:
    """True if the items of a constant are few enough to become constants of their own."""
    return not isinstance(values, range) or not values[MOST_ITEMS:]


def is_method_of_text(fn: Any) -> bool:
    return isinstance(fn, BuiltinMethodType) and isinstance(fn.__self__, (str, bytes))


# -- bounds on integers, in bits


def bits_of_all(given: list[Any]) -> int:
    return sum(value.bit_length() + 1 for value in given)


def bits_of_power(given: list[Any]) -> int:
    return given[0].bit_length() * max(abs(given[1]), 1)


def bits_of_shift(given: list[Any]) -> int:
    return given[0].bit_length() + max(given[1], 0)


BITS: dict[Any, Callable[[list[Any]], int]] = {
    operator.pow: bits_of_power,
    pow: bits_of_power,
    operator.lshift: bits_of_shift,
}


# -- bounds on texts and containers, in bytes


def size_of(value: Any) -> int:
    """The bytes of a constant, roughly: eight for what is not a text, a container or an array."""
    if isinstance(value, int):
        return value.bit_length() // 8 + 8
    if isinstance(value, (str, bytes)):
        return len(value) + 8
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, range):
        return 8 * max(-((value.start - value.stop) // value.step), 0)
    if isinstance(value, (tuple, list)):
        return 8 + sum(map(size_of, value))
    return 8


def bytes_of_all(given: list[Any]) -> int:
    return sum(map(size_of, given))


def bytes_of_repetition(given: list[Any]) -> int:
    """The bytes of ``a * b``, whichever is the number of times."""
    times = [value for value in given if isinstance(value, int)]
    return bytes_of_all([value for value in given if not isinstance(value, int)]) * max([1, *times])


def bytes_of_text(given: list[Any]) -> int:
    """The bytes that a method of a text makes: an argument for each of its letters and fields, and widths inside it."""
    text, *others = given
    widths = [abs(value) for value in others if isinstance(value, int)]
    return (len(text) + 1) * (1 + bytes_of_all(others)) + sum(widths) + sum(widths_in([text, *others]))


def bytes_of_format(given: list[Any]) -> int:
    """The bytes of ``text % values``, of which a width may be one."""
    if not isinstance(given[0], (str, bytes)):
        return bytes_of_all(given)
    return bytes_of_text([given[0], *(given[1] if isinstance(given[1], tuple) else given[1:])])


def widths_in(values: list[Any]) -> Iterable[int]:
    """The numbers that are written in texts, as widths of fields are; those of many digits are as good as endless."""
    for text in values:
        if isinstance(text, str):
            yield from (int(digits[:18]) for digits in re.findall(r"\d+", text))


BYTES: dict[Any, Callable[[list[Any]], int]] = {
    operator.mul: bytes_of_repetition,
    operator.mod: bytes_of_format,
}


# -- smaller constants


def smaller(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers in the place of large ones, in the same order and with the same signs.

    The kind, the dtype and the rank of a result are the same for them, and no array is long.

    >>> smaller((20000, -1, 3.0e8, 30000))
    (3, -1, 5.0, 4)
    """
    if entries_of(values) <= LONGEST and not any(map(is_large, values)):
        return values
    places = {size: 3 + k for k, size in enumerate(sorted({abs(v) for v in values if is_number(v) and abs(v) > 2}))}
    found = tuple(scaled(v, places) for v in values)
    if entries_of(found) > LONGEST:
        raise ValueError("so many axes are known only when the program runs")
    return found


def entries_of(values: tuple[Any, ...]) -> int:
    """The number of entries of an array whose axes all these integers are."""
    return math.prod(max(abs(v), 1) for v in values if type(v) is int and is_number(v))


def is_number(value: Any) -> bool:
    """True for a number that fits into NumPy's integers or is a finite float."""
    return (type(value) is int and -(2**63) <= value < 2**63) or (type(value) is float and math.isfinite(value))


def is_large(value: Any) -> bool:
    return is_number(value) and (abs(value) > LARGE or 0 < abs(value) < 1 / LARGE)


def scaled(value: Any, places: dict[float, int]) -> Any:
    if not is_number(value) or value == 0:
        return value
    if abs(value) < 1 / LARGE:
        return math.copysign(1 / 4, value)
    return type(value)(math.copysign(places[abs(value)], value)) if abs(value) > 2 else value


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
