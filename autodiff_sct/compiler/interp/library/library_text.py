"""Functions and classes of NumPy and SciPy that have no rule and are written in Python.

They are called as they stand, for most calls carry no derivative.  A program that is refused is compiled again: where
floats are given to such a function, its text is followed then, and that of those that it calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np

from ....errors import NoRule, Refused
from ...domain.attempt import Way
from ...domain.facts import Listed, Mapped, Num, Pair
from ...domain.foreign_objects import home_of, is_compiled
from ...domain.values import Bound, Closure, Leaf, Obj, PartialV, Suspended, Value
from ...ir.builder import Specialiser
from ..objects.tables import class_of_row
from .substitutes import SUBSTITUTES

__all__ = ["explained", "follows", "text_of"]

HOMES = ("numpy", "scipy")
SUBCLASSES = ("numpy.ma", "numpy.matrixlib")  # what is done to masked arrays and to matrices is not followed
PYTHONS_OWN = (Closure, PartialV, Suspended)  # what cannot be given to a function that is not followed


def explained(first: Refused, last: Refused, unfollowed: Iterable[Refused]) -> Refused:
    """The refusal that users see: of the call in their text, with the reason why the library's is not followed."""
    last = next((error for error in (last, *unfollowed) if error.origin and is_in_library(error.origin.file)), last)
    if first is last or last.origin is None or not is_in_library(last.origin.file):
        return first
    if not isinstance(first, NoRule):
        return first
    place = f"{os.path.basename(last.origin.file)}:{last.origin.line}"
    reason = f"{first.reason} ({place}, where its text goes on: {last.reason})"
    return type(first)(reason, first.remedy, first.origin, first.code)


def is_in_library(file: str) -> bool:
    """True for the file of a text of NumPy's or SciPy's."""
    packages = os.path.dirname(os.path.dirname(np.__file__))
    return file.startswith(tuple(os.path.join(packages, home, "") for home in HOMES))


def text_of(fn: Any) -> Any:
    """The Python function or the class written in Python behind a callable of NumPy or SciPy; None for others."""
    if (text := SUBSTITUTES.get((getattr(fn, "__module__", None), getattr(fn, "__qualname__", "")))) is not None:
        return text
    fn = getattr(fn, "_implementation", fn)  # of NumPy's functions that other array classes may override
    home = home_of(fn)
    if home.split(".")[0] not in HOMES or home.startswith(SUBCLASSES):
        return None
    if isinstance(fn, type):
        return fn if isinstance(getattr(fn, "__init__", None), FunctionType) and not is_compiled(fn) else None
    return fn if isinstance(fn, FunctionType) else None


def follows(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if the text of a library function is followed here."""
    if any(is_stand_in(s, value) for value in (*args, *kwargs.values())):
        return False
    return is_inside(s) or (takes_floats(s, args, kwargs) and s.attempt.takes(Way.TEXTS))


def is_stand_in(s: Specialiser, value: Value) -> bool:
    """True for an object that stands for one of a library's classes, which that library's texts would not recognise."""
    return hasattr(value.cls if isinstance(value, Obj) else class_of_row(s, value), "stands_for")


def is_inside(s: Specialiser) -> bool:
    """True if the statement that is specialised is one of such a text."""
    known = s.frame.globals if s.frame is not None else {}
    return str(known.get("STANDS_FOR", known.get("__name__"))).split(".")[0] in HOMES


def takes_floats(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if a derivative may pass through an argument of a call."""
    return any(may_carry(s, value) for value in (*args, *kwargs.values()))


def may_carry(s: Specialiser, value: Value) -> bool:
    """True if a derivative may pass through an argument, or if only a text that is followed can take it."""
    if isinstance(value, PYTHONS_OWN) or (isinstance(value, Obj) and value.id not in s.objects):
        return True
    if isinstance(value, Bound) and not isinstance(value.self, Leaf):
        return may_carry(s, value.self)
    return any(may_hold(s, s.facts[name]) for name in s.leaves(value))


def may_hold(s: Specialiser, facts: Any) -> bool:
    """True if something of these facts is a float, or holds floats."""
    if isinstance(facts, Pair):
        return any(may_hold(s, item) for item in facts.items)
    if isinstance(facts, (Listed, Mapped)):
        element = s.elements_of(facts)
        return element is not None and may_hold(s, element)
    return isinstance(facts, Num) and facts.differentiable
