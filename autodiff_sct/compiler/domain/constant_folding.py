"""Constant folding: constants that are small and quickly found, as a bound taken beforehand shows.

`is_cheap` decides before a call on constants is carried out; a call that is not cheap is emitted as the user wrote it,
and runs when the program runs.  `smaller` gives constants in whose place the facts of a result are the same.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from types import BuiltinMethodType
from typing import Any

import numpy as np

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
