"""Arguments that a function or a method does not take: the call raises what it raises in Python.

Signatures tell, and where Python has none, a call with empty tuples for arguments does.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import re
import types
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from ...domain.facts import Listed, Mapped, Num, Opaque
from ...domain.values import ListV, Obj, Rest, TupleV, Value
from ...ir.builder import Specialiser
from .raising import always

# What may be called with any arguments and does nothing beside.
HARMLESS = {getattr(builtins, name) for name in (
    "abs all any bool complex dict divmod enumerate filter float frozenset getattr hasattr int isinstance iter len "
    "list map max min next pow range reversed round set slice sorted str sum tuple type zip"
).split()}  # fmt: skip
HARMLESS |= {functools.partial, functools.reduce, deque, OrderedDict, defaultdict}
MODULES = ("itertools", "math", "operator")
SAYS_SO = re.compile(r"\btakes\b|expected (at (least|most) )?\d|keyword argument|missing \d|must have at least")
DICTS = (dict, OrderedDict, defaultdict, Counter)


@lru_cache(maxsize=1024)
def signature(fn: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function; None where Python does not know it."""
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


def objection(fn: Callable[..., Any], count: int, names: Iterable[str], is_harmless: bool) -> str | None:
    """The objection of a function to so many arguments by position, or to some by these names."""
    args, kwargs = [()] * count, dict.fromkeys(names, ())
    known = signature(fn)
    if known is None and not is_harmless:
        return None
    if known is not None and binds(known, args, kwargs):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fn(*args, **kwargs)
    except TypeError as error:
        return str(error) if SAYS_SO.search(str(error)) else None
    except (ArithmeticError, AttributeError, LookupError, ValueError):
        return None  # it takes them, though not with these values
    return None


def binds(known: inspect.Signature, args: list[Any], kwargs: dict[str, Any]) -> bool:
    try:
        known.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def check_arguments(s: Specialiser, fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]) -> None:
    """Raise what a function of a library raises that is given other arguments than it takes."""
    if any(isinstance(a, Rest) for a in args):
        return
    plain = isinstance(fn, (type, types.BuiltinFunctionType)) and fn.__module__ in MODULES
    is_harmless = plain or fn in HARMLESS or isinstance(fn, np.ufunc)
    if (said := objection(fn, len(args), kwargs, is_harmless)) is not None:
        raise always(s, TypeError, said)


def check_method(s: Specialiser, base: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> None:
    """Raise what a method raises that is given other arguments than it takes, whichever class the object may have."""
    if name.startswith("_") or any(isinstance(a, Rest) for a in args):
        return
    classes = [cls for cls in classes_of(s, base) if hasattr(cls, name)]
    found = [objection_of_method(cls, name, len(args), tuple(kwargs)) for cls in classes]
    if found and None not in found:
        raise always(s, TypeError, found[0])


@lru_cache(maxsize=1024)
def objection_of_method(cls: type, name: str, count: int, names: tuple[str, ...]) -> str | None:
    """The objection of a method of an object of a class to so many arguments, and to some by these names."""
    empty = np.zeros(0) if cls is np.ndarray else cls()
    return objection(getattr(empty, name), count, names, True)


def classes_of(s: Specialiser, base: Value) -> tuple[type, ...]:
    """The classes of which an object may be; none where that is not known."""
    if isinstance(base, TupleV):
        return (tuple,) if base.cls is None else ()
    if isinstance(base, ListV):
        return (list,)
    if isinstance(base, Obj):
        return DICTS if base.cls is dict else (list, deque) if base.cls is list else ()
    facts = s.facts_of(base)
    if isinstance(facts, Listed):
        ends = facts.roots & s.deques
        return (list,) if not ends else (deque,) if ends == facts.roots else (list, deque)
    if isinstance(facts, Mapped):
        return DICTS
    if isinstance(facts, Num):
        return (np.ndarray,) if facts.kind == "array" and not facts.tensor else ()
    return (facts.cls,) if isinstance(facts, Opaque) and facts.cls in (str, bytes, set, frozenset) else ()
