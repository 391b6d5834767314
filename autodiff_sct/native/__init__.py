"""The native back end: emitted programs as machine code, by way of numba.

`program` writes what the compiler found, statement by statement, in a dialect of numbers, arrays and loops: whole-array
operations become loops over elements (`grids`), lists of saved values become arrays (`saving`), indices are proved or
checked (`linear`).  `function` runs it, with the NumPy program behind; `files` keeps its machine code.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["NativeWarning", "natively"]


class NativeWarning(UserWarning):
    """A program that was to run as machine code runs as NumPy code: the message names the line and the reason."""


def natively(
    backend: str, plain: Callable[..., Any], write: Callable[[], Any], title: str
) -> tuple[Callable[..., Any], str | None]:
    """The native form of an emitted function and its text; the function itself and None where there is none.

    Parameters
    ----------
    backend : {'numba', 'auto'}
        With ``"auto"``, a program is native if it has loops and is wholly in the dialect, and nothing is said if not.
    plain : callable
        The NumPy program.
    write : callable
        Writes the native program.
    title : str
        What it is, for warnings.
    """
    from .function import NativeFunction
    from .kinds import Outside
    from .program import Native

    if backend == "auto" and importlib.util.find_spec("numba") is None:
        return plain, None
    try:
        native: Native = write()
    except Outside as outside:
        if backend == "numba":
            shown = f"{outside.origin.show()}\n" if outside.origin is not None else ""
            warnings.warn(NativeWarning(f"{title} stays NumPy code\n{shown}{outside.reason}"), stacklevel=2)
        return plain, None
    if backend == "auto" and not native.loops:
        return plain, None
    return NativeFunction(native, plain, title), native.text
