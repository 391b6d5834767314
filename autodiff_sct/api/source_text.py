"""Functions from text, for code that has no file."""

from __future__ import annotations

import itertools
import linecache
import textwrap
import types
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["from_source"]

COUNT = itertools.count(1)


def from_source(text: str, namespace: dict[str, Any] | None = None) -> Any:
    """Make the function that a text defines, so that it can be differentiated.

    Parameters
    ----------
    text : str
        One or more definitions, of which the last function counts, or one lambda expression.
    namespace : dict, optional
        The globals that the function reads, ``globals()`` for instance; what the text defines is not put there.
        Without one the text makes its own, and its functions see each other.

    Returns
    -------
    function
        An ordinary function.

    Raises
    ------
    SyntaxError
        If the text is no Python.
    TypeError
        If it is no string.
    ValueError
        If it defines no function.

    Examples
    --------
    >>> from autodiff_sct import grad
    >>> grad(from_source("def cube(x): return x ** 3"))(2.0)
    12.0
    """
    from ..compiler.frontend.source_text import Text, register

    if not isinstance(text, str):
        raise ArgumentTypeError(f"from_source takes the text of a function, not {text!r}")
    source = textwrap.dedent(text).strip("\n") + "\n"
    file = f"<source {next(COUNT)}>"
    # No modification time: linecache keeps such an entry, as it does that of an interactive session.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    seen = {"__name__": "__main__"} if namespace is None else namespace
    is_lambda = source.lstrip("(").startswith("lambda")
    code = compile(source, file, "eval" if is_lambda else "exec")
    register(code, Text(file, source))
    if is_lambda:
        found = eval(code, seen)
    else:
        made: dict[str, Any] = seen if namespace is None else {}
        exec(code, seen, made)
        functions = [v for v in made.values() if isinstance(v, types.FunctionType) and v.__code__.co_filename == file]
        found = functions[-1] if functions else None
    if not isinstance(found, types.FunctionType):
        raise ArgumentValueError("the text given to from_source defines no function")
    return found
