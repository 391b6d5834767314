"""Frames of a run: those of the emitted program are not those of the text that the user wrote."""

from __future__ import annotations

import inspect
import sys
import traceback

import gast

from ...domain.values import Value
from ...ir.builder import Specialiser
from ..kernel.handlers import handles
from ..kernel.operations import opaque_call

LOOKS_AT_FRAMES = (
    *(sys._getframe, inspect.currentframe, inspect.stack, inspect.trace),
    *(traceback.extract_stack, traceback.format_stack, traceback.print_stack, traceback.walk_stack),
)
BY_NAME = (globals, locals, eval, exec)


@handles(*LOOKS_AT_FRAMES)
def frames(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    reason = "this looks at the frames of the run, which are those of the emitted program"
    raise s.refuse("hidden-variables", reason)


@handles(*BY_NAME)
def by_name(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    raise s.refuse("hidden-variables", "this reaches variables in a way that cannot be followed")


@handles(dir)
def names(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``dir()`` tells the variables of the frame, ``dir(x)`` what `x` has."""
    if not args:
        return by_name(s, args, kwargs)
    return opaque_call(s, gast.Name("dir", gast.Load(), None, None), dir, args, kwargs)
