"""Functions as text: pickled by value with what they read, and made from text for code that has no file.

Pickle names a function by its module, which fails for lambdas and nested functions, and for a decorated function finds
the gradient function in its place.  Here the function itself travels, with those that it calls in its own module; what
belongs to other modules is still named.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
import linecache
import marshal
import textwrap
import types
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["by_value", "from_source"]


def by_value(fn: Any) -> Any:
    """`fn` itself, or what pickles in the place of a Python function and unpickles as an equal one."""
    return Carrier.of(fn, getattr(fn, "__module__", None), {})


class Carrier:
    """A function as it is pickled; its state is filled in last, so that functions may refer to each other."""

    def __init__(self, fn: types.FunctionType, carried: dict[int, Carrier]) -> None:
        carried[id(fn)] = self
        # Kept alive: an id is only that of one object while the object lives.
        self.fn = fn
        self.carried = carried

    @classmethod
    def of(cls, value: Any, module: str | None, carried: dict[int, Carrier]) -> Any:
        """`value`, or its carrier where pickle cannot name it or should not."""
        if isinstance(value, types.FunctionType) and (value.__module__ == module or not nameable(value)):
            return carried.get(id(value)) or cls(value, carried)
        if isinstance(value, types.ModuleType):
            return CarriedModule(value.__name__)
        if isinstance(value, functools.partial):
            return CarriedPartial(cls.of(value.func, module, carried), value.args, value.keywords)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        fn = self.fn
        linecache.checkcache(fn.__code__.co_filename)  # the file may have changed
        lines = linecache.getlines(fn.__code__.co_filename, fn.__globals__)
        start = (marshal.dumps(fn.__code__), lines, fn.__name__, fn.__qualname__, fn.__module__)
        return make_function, (*start, len(fn.__closure__ or ())), self.state(), None, None, set_state

    def state(self) -> dict[str, Any]:
        """The attributes that are set after construction."""
        fn = self.fn
        carry = functools.partial(Carrier.of, module=fn.__module__, carried=self.carried)
        names = [name for name in global_names(fn.__code__) if name in fn.__globals__]
        return {
            "globals": {name: carry(fn.__globals__[name]) for name in names},
            "cells": [carry(cell.cell_contents) for cell in filled(fn.__closure__ or ())],
            "defaults": fn.__defaults__,
            "kwdefaults": fn.__kwdefaults__,
            "doc": fn.__doc__,
            "dict": {key: value for key, value in fn.__dict__.items() if key != "__wrapped__"},
        }


class CarriedModule:
    """A module, which is named."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.name,)


class CarriedPartial:
    """A partial whose function is carried."""

    def __init__(self, func: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.parts = (func, args, keywords)

    def __reduce__(self) -> tuple[Any, ...]:
        return make_partial, self.parts


def make_partial(func: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The partial that was pickled."""
    return functools.partial(func, *args, **keywords)


def nameable(fn: types.FunctionType) -> bool:
    """True if pickle finds `fn` itself under its name."""
    found: Any = None
    try:
        found = importlib.import_module(fn.__module__)
        for part in fn.__qualname__.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return False
    return found is fn and fn.__module__ != "__main__"


def filled(cells: tuple[types.CellType, ...]) -> tuple[types.CellType, ...]:
    """The cells, all of which must hold something."""
    for cell in cells:
        try:
            cell.cell_contents  # noqa: B018
        except ValueError:
            raise TypeError("a function whose closure is not filled yet cannot be pickled") from None
    return cells


def global_names(code: types.CodeType) -> list[str]:
    """The names that code, and code inside it, may read as globals."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= dict.fromkeys(global_names(constant))
    return list(names)


def make_function(
    code: bytes, lines: list[str], name: str, qualname: str, module: str, cells: int
) -> types.FunctionType:
    """The function that was pickled, without what it refers to; its source is where `inspect` looks for it."""
    loaded = marshal.loads(code)
    file = carried_file(loaded.co_filename, lines)
    namespace = {"__builtins__": builtins, "__name__": module}
    closure = tuple(types.CellType() for _ in range(cells))
    fn = types.FunctionType(renamed(loaded, file), namespace, name, None, closure)
    fn.__qualname__ = qualname
    fn.__module__ = module
    return fn


def carried_file(path: str, lines: list[str]) -> str:
    """The name under which linecache holds the lines of a carried file; another one for other lines."""
    name = file = f"<pickled {path.removeprefix('<pickled ').removesuffix('>')}>"
    count = 1
    while file in linecache.cache and linecache.getlines(file) != lines:
        count += 1
        file = name.replace(">", f" ({count})>")
    # No modification time: linecache keeps such an entry, as it does that of an interactive session.
    linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    return file


def renamed(code: types.CodeType, file: str) -> types.CodeType:
    """The code, and code inside it, as of another file."""
    inner = (
        renamed(constant, file) if isinstance(constant, types.CodeType) else constant for constant in code.co_consts
    )
    return code.replace(co_filename=file, co_consts=tuple(inner))


def set_state(fn: types.FunctionType, state: dict[str, Any]) -> None:
    """Give an unpickled function what it refers to."""
    fn.__globals__.update(state["globals"])
    for cell, value in zip(fn.__closure__ or (), state["cells"]):
        cell.cell_contents = value
    fn.__defaults__, fn.__kwdefaults__, fn.__doc__ = state["defaults"], state["kwdefaults"], state["doc"]
    fn.__dict__.update(state["dict"])


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
