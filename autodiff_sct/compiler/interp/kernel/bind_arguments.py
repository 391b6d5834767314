"""Python's binding of arguments to parameters, and arguments that a callee does not take.

Arguments that a function or a method does not take: the call raises what it raises in Python.

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
from ...domain.values import Const, ListV, Obj, Rest, TupleV, Value
from ...ir.builder import Specialiser
from .user_errors import always

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


def places(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that arguments by position are bound to; none where Python does not know them."""
    known = signature(fn)
    parameters = known.parameters.values() if known is not None else ()
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def in_place(
    fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, with those by name that stand right behind the others among the others."""
    args, kwargs = list(args), dict(kwargs)
    for name in places(fn)[len(args) :]:
        if name not in kwargs:
            break
        args.append(kwargs.pop(name))
    return args, kwargs


def bind_signature(
    s: Specialiser,
    spec: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    defaults: list[Value],
    kw_defaults: dict[str, Value],
    name: str,
) -> dict[str, Value]:
    """The arguments by parameter."""
    positional = [a.id for a in [*spec.posonlyargs, *spec.args]]
    others = None
    if args and isinstance(args[-1], Rest):
        args, others = args[:-1], args[-1].items
    if len(args) == len(positional) and not (kwargs or spec.vararg or spec.kwonlyargs or spec.kwarg):
        return dict(zip(positional, args))
    bound: dict[str, Value] = dict(zip(positional, args))
    rest, named = list(args[len(positional) :]), dict(kwargs)
    for parameter in [a.id for a in [*spec.args, *spec.kwonlyargs]]:
        if parameter in named:
            if parameter in bound:
                raise always(s, TypeError, f"{name}() got multiple values for argument {parameter!r}")
            bound[parameter] = named.pop(parameter)
    for parameter, default in zip(positional[len(positional) - len(defaults) :], defaults):
        bound.setdefault(parameter, default)
    for parameter, default in kw_defaults.items():
        bound.setdefault(parameter, default)
    if spec.vararg is not None:
        assert others is None or not rest
        bound[spec.vararg.id] = TupleV(tuple(rest)) if others is None else others
    elif rest:
        raise always(s, TypeError, too_many(name, len(positional), len(defaults), len(args)))
    if spec.kwarg is not None:
        obj = Obj(("kwargs", s.site(name)), dict)
        for key in s.fields(obj):
            del s.env[(obj.id, key)]
        for key, value in named.items():
            s.env[(obj.id, key)] = value
        s.env[("made", obj.id)] = Const(True)
        bound[spec.kwarg.id] = obj
    elif named:
        raise always(s, TypeError, f"{name}() got an unexpected keyword argument {next(iter(named))!r}")
    for parameter in [*positional, *(a.id for a in spec.kwonlyargs)]:
        if parameter not in bound:
            raise always(s, TypeError, f"{name}() missing 1 required positional argument: {parameter!r}")
    return bound


def too_many(name: str, most: int, optional: int, given: int) -> str:
    """The message of Python for a call with too many arguments by position."""
    taken = f"from {most - optional} to {most}" if optional else str(most)
    plural = "argument" if taken == "1" else "arguments"
    return f"{name}() takes {taken} positional {plural} but {given} {'was' if given == 1 else 'were'} given"
