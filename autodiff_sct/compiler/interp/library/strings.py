"""Methods of strings: those of constants are computed here; of others, what kind of thing they return is known."""

from __future__ import annotations

import types
from typing import Any

from ... import ir
from ...domain.constant_folding import is_cheap
from ...domain.facts import BOOL, INT, Facts, Opaque
from ...domain.values import Const, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import handles, otherwise

WHOLE = ("count", "find", "index", "rfind", "rindex")
TESTS = (
    "endswith", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "isupper",
    "startswith",
)  # fmt: skip
TEXT = (
    "capitalize", "casefold", "center", "format", "join", "ljust", "lower", "lstrip", "replace", "rjust", "rstrip",
    "strip", "swapcase", "title", "upper", "zfill",
)  # fmt: skip


def returned_by(name: str) -> Facts:
    """The facts of the result of a method of a string."""
    if name in WHOLE:
        return INT
    if name in TESTS:
        return BOOL
    return Opaque(str) if name in TEXT else Opaque()


def computed(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The result of a method of a constant string where all of its arguments are constants, too."""
    known = isinstance(fn, types.BuiltinMethodType) and isinstance(fn.__self__, str)
    if not known or not all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return None
    given, named = [s.static(v) for v in args], {k: s.static(v) for k, v in kwargs.items()}
    if not is_cheap(fn, given, named):
        return None
    try:
        result = fn(*given, **named)
    except (IndexError, KeyError, TypeError, ValueError):
        return None  # the call raises when it runs
    return Const(result) if isinstance(result, (str, int)) else None


@otherwise(str)
def text_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The text of a constant."""
    value = args[0].value if len(args) == 1 and isinstance(args[0], Const) and not kwargs else None
    return Const(str(value)) if type(value) in (str, int, bool) else None


@handles(ord)
def code_point(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if s.is_static(args[0]) and isinstance(letter := s.static(args[0]), str) and len(letter) == 1:
        return Const(ord(letter))
    return s.let(ir.call("ord", s.expr(args[0])), INT, hint="code")
