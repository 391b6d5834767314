"""Native programs as functions, with the NumPy program behind them.

Native code gives up where Python or NumPy would do something else than compute: raise, broadcast an axis that happened
to have length 1, grow an integer past 64 bits.  It has no side effects and changes none of its arguments, so the NumPy
program then runs from the start and does what is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import thresholds
from . import NativeWarning, NoRoom
from . import machine_code_cache as files

__all__ = ["WIDTH", "Native", "NativeFunction", "kinds_from", "kinds_told"]

WIDTH = 28  # bits of integers that come from outside, and of lengths: there is room for products of two and for sums
WHOLE = 2**WIDTH


@dataclass(frozen=True)
class Native:
    """The text of a native function and the kinds of its results: types, None where nothing is a number, or tuples."""

    name: str
    text: str
    results: Any
    loops: bool  # whether the program itself has loops


class NativeFunction:
    """An emitted function that runs natively.

    Attributes
    ----------
    text : str
        The native program.
    plain : callable
        The NumPy program for the same.
    names : dict
        What the names of the NumPy program stand for.
    """

    def __init__(self, native: Native, plain: Callable[..., Any], title: str, names: dict[str, Any]) -> None:
        self.text, self.plain, self.title, self.names = native.text, plain, title, names
        self.native, self.name, self.results = native, native.name, native.results
        self.count = plain.__code__.co_argcount
        self.kernel: Any = None
        self.whole: list[int] = []  # the places of integers
        self.rest: tuple[Any, ...] = ()  # seeds that a call leaves out, and the room for lists that grow
        self.overloads: Any = ()  # the kinds of arguments that there is machine code for
        self.known = 0  # how many of them were noted down in the cache
        self.convert: Any = None  # what gives results the types of `results`, where machine code does not
        self.told = False
        self.__code__ = plain.__code__
        self.__name__ = plain.__name__
        self.__autodiff_origins__ = getattr(plain, "__autodiff_origins__", {})

    def __call__(self, *args: Any) -> Any:
        kernel = self.kernel
        if kernel is None:
            kernel = self.loaded(args)
        for k in self.whole:
            if not -WHOLE < args[k] < WHOLE:
                return self.plain(*args)
        try:
            result = kernel(*args, *self.rest)
        except NoRoom:
            *seeds, room = self.rest
            self.rest = (*seeds, 8 * room)
            return self(*args)
        except Exception as error:
            return self.give_up(args, error)
        if len(self.overloads) != self.known:
            self.note(result)
        return result if self.convert is None else self.convert(result)

    def loaded(self, args: tuple[Any, ...]) -> Any:
        """The compiled function; what kinds of arguments a program is called with does not change."""
        import numba

        self.whole = [
            k for k, value in enumerate(args) if isinstance(value, (int, np.integer)) and type(value) is not bool
        ]
        ours = f"(.*[/\\\\])?<?{files.PREFIX}"  # the file's name without its ending, or that of a text
        warnings.filterwarnings("ignore", category=numba.NumbaPerformanceWarning, module=ours)
        self.kernel = files.program(self.text, self.name)
        grows = self.kernel.py_func.__code__.co_argcount > self.count
        self.rest = (1.0,) * (self.count - len(args)) + (thresholds.ITEMS_AT_FIRST,) * grows
        self.overloads = self.kernel.overloads
        return self.kernel

    def note(self, result: Any) -> None:
        """New machine code was made, or found in the cache: note down what is there, and which types it gives."""
        first = self.known == 0
        self.known = len(self.overloads)
        self.convert = conversion(self.results, result if first else None)
        if any(self.kernel.stats.cache_misses.values()):
            files.note(self.kernel.__module__)

    def give_up(self, args: tuple[Any, ...], error: Exception) -> Any:
        """Run the NumPy program; if it works, say once that the native one did not."""
        import numba

        uncompiled = isinstance(error, numba.errors.NumbaError)
        if uncompiled:
            self.kernel = lambda *args: self.plain(*args)
            self.overloads, self.known = (), 0
            self.convert = None
        result = self.plain(*args)
        if not self.told:
            self.told = True
            reason = f"numba: {str(error).splitlines()[0]}" if uncompiled else f"{type(error).__name__} {error}".strip()
            warnings.warn(NativeWarning(f"{self.title} ran as NumPy code ({reason})"), stacklevel=4)
        return result


PYTHON = (float, int, bool)  # the kinds of Python's own numbers


def kinds_told(kinds: Any) -> Any:
    """The kinds of results as JSON has them."""
    if isinstance(kinds, tuple):
        return [kinds_told(kind) for kind in kinds]
    return None if kinds is None else f"Python {kinds.__name__}" if kinds in PYTHON else np.dtype(kinds).name


def kinds_from(told: Any) -> Any:
    """The kinds of results from what `kinds_told` made of them."""
    if isinstance(told, list):
        return tuple(map(kinds_from, told))
    named = {f"Python {kind.__name__}": kind for kind in PYTHON}
    return None if told is None else named[told] if told in named else np.dtype(told).type


def conversion(kinds: Any, result: Any) -> Any:
    """The conversion of results to the types that NumPy gives them: natively, every number is a Python number.

    None where nothing has to be done, since `result`, one of them, has these types already.
    """
    if kinds is None or type(result) is kinds:
        return None
    if not isinstance(kinds, tuple):
        return kinds
    given = result if isinstance(result, tuple) else (None,) * len(kinds)
    parts = [conversion(kind, value) for kind, value in zip(kinds, given)]
    if not any(parts):
        return None

    def convert(value: Any) -> Any:
        return tuple([v if part is None else part(v) for part, v in zip(parts, value)])

    return convert
