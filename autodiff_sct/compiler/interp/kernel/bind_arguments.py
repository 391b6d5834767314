"""Kinds of functions by callee, and Python's binding of arguments to their parameters.

Arguments that a function or a method does not take: the call raises what it raises in Python.

Signatures tell, and where Python has none, a call with empty tuples for arguments does.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import re
import types
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from ...domain.facts import FLOAT, INT, Facts, Listed, Mapped, Num, Opaque
from ...domain.values import Bound, Choice, Closure, Const, ListV, Obj, PartialV, Rest, TupleV, Value, home_of
from .specialiser import Specialiser
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


ORDINARY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


SHOWING = {"matplotlib", "mpl_toolkits", "seaborn", "plotly", "IPython"}  # they look, and change nothing else


LIBRARIES = SHOWING | {
    "numpy", "scipy", "builtins", "math", "copy", "time", "logging", "warnings", "random", "json", "os", "sys", "re",
    "itertools", "functools", "operator", "dask",
}  # fmt: skip


def is_library(fn: Any) -> bool:
    """Functions whose Python text is not the user's: without a rule they are not differentiated."""
    return home_of(fn).split(".")[0] in LIBRARIES


class Shown:
    """The class of figures, axes and what else libraries make that only show what they are given."""


def look(*args: Any) -> None:
    """The effect of methods on their arguments."""


# Builtins for which a class may have a method.
SPECIAL: dict[Any, str] = {
    str: "__str__",
    repr: "__repr__",
    abs: "__abs__",
    round: "__round__",
    float: "__float__",
    int: "__int__",
    complex: "__complex__",
    reversed: "__reversed__",
    math.floor: "__floor__",
    math.ceil: "__ceil__",
    math.trunc: "__trunc__",
}


UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType)


CONTAINERS = {list, dict, deque, np.ndarray}  # a method of theirs may be called as `list.append(items, x)`


OUTPUTS = {"out", "output"}  # parameters of SciPy's functions for an array that takes the result


PERMITTED = ("scipy.linalg", "scipy.fft")  # modules whose functions may be permitted to overwrite arguments


WRITTEN = "written"  # in an operation, before the names of such parameters


DRAWN_WHOLE = ("getrandbits", "randint", "randrange")


DRAWN_REAL = (
    "betavariate", "expovariate", "gammavariate", "gauss", "lognormvariate", "normalvariate", "paretovariate", "random",
    "triangular", "uniform", "vonmisesvariate", "weibullvariate",
)  # fmt: skip


def drawn(name: str) -> Facts:
    """The facts of the result of a method of a generator of the module `random`."""
    return INT if name in DRAWN_WHOLE else FLOAT if name in DRAWN_REAL else Opaque()


def is_pure(fn: Any) -> bool:
    """True if a call does nothing but compute its result, so that it may be tried on dummies."""
    module = getattr(fn, "__module__", None) or ""
    if (
        isinstance(fn, types.BuiltinMethodType)
        and not isinstance(fn.__self__, types.ModuleType)
        and fn.__self__ is not None
    ):
        return False
    # What SciPy returns may depend on the numbers, as the dtype of a matrix's square root does.
    return module.split(".")[0] in ("numpy", "math", "operator") and not module.startswith("numpy.random")


def bound_by_name(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arguments of a library's function by the names of its parameters; none where the call raises."""
    try:
        return inspect.signature(fn).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}


def written_by_name(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arrays that a call of a library's function writes into: ``output=y``, where ``y`` is no dtype."""
    bound = bound_by_name(fn, args, kwargs) if isinstance(fn, types.FunctionType) and is_library(fn) else {}
    return {f"{WRITTEN} {name}": bound[name] for name in OUTPUTS & bound.keys() if not isinstance(bound[name], Const)}


def without_permissions(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call of SciPy's without ``overwrite_a=True``, which permits to use the memory of ``a``.

    The reverse sweep may have to read what is in it; that nothing is there afterwards no program can rely on.
    """
    if not (getattr(fn, "__module__", None) or "").startswith(PERMITTED) or isinstance(fn, type):
        return args, kwargs
    permitted = [name for name in bound_by_name(fn, args, kwargs) if name.startswith("overwrite_")]
    places = list(inspect.signature(fn).parameters) if permitted else []
    args = [Const(False) if places[k] in permitted else value for k, value in enumerate(args)] if permitted else args
    return args, {name: value for name, value in kwargs.items() if name not in permitted}


def raises_so(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], error: Exception) -> bool:
    """True if a function of constants raises what was raised where its value was computed for the compiler."""
    if not all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return False
    try:
        fn(*(s.static(a) for a in args), **{k: s.static(v) for k, v in kwargs.items()})
    except type(error):
        return True
    return False


def is_function(value: Value) -> bool:
    """True if a value is something that is called, and is followed where it is."""
    if isinstance(value, Const):
        return callable(value.value)
    return isinstance(value, (Closure, Bound, PartialV, Choice))
