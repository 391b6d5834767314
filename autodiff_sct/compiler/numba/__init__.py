"""The native back end: emitted programs as machine code, by way of numba.

`program` writes what the compiler found, statement by statement, in a dialect of numbers, arrays and loops: whole-array
operations become loops over elements (`grids`), lists of saved values become arrays (`saving`), indices are proved or
checked (`linear`).  `function` runs it, with the NumPy program behind; `files` keeps its machine code.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import warnings
from typing import Any

__all__ = ["NativeWarning", "NoRoom", "natively", "stays_numpy"]


class NativeWarning(UserWarning):
    """A program that was to run as machine code runs as NumPy code: the message names the line and the reason."""


class NoRoom(Exception):
    """A native program saved more values than there was room for."""


def stays_numpy(what: str, reason: str) -> None:
    """Warn that something was to be native and is not."""
    warnings.warn(NativeWarning(f"{what} stays NumPy code\n{reason}"), stacklevel=2)


def natively(backend: str, emitted: Any, hint: str, *program: Any) -> Any:
    """An emitted function in its native form; as it is where there is none.

    Parameters
    ----------
    backend : {'numba', 'auto'}
        With ``"auto"``, a program is native if it has loops and is wholly in the dialect, and nothing is said if not.
    emitted : Emitted
        The NumPy program.
    hint : str
        What it is, for warnings.
    *program
        What `native_program` is called with.
    """
    from .bailout import NativeFunction
    from .kinds import Outside
    from .program import native_program

    if backend == "auto" and importlib.util.find_spec("numba") is None:
        return emitted
    try:
        native = native_program(*program)
    except Outside as outside:
        if backend == "numba":
            shown = f"{outside.origin.show()}\n" if outside.origin is not None else ""
            stays_numpy(f"the {hint}", f"{shown}{outside.reason}")
        return emitted
    if backend == "auto" and not native.loops:
        return emitted
    function = NativeFunction(native, emitted.function, f"the {hint}", emitted.namespace)
    return dataclasses.replace(emitted, text=native.text, function=function, namespace={})
