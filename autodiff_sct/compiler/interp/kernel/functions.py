"""Kinds of functions by callee."""

from __future__ import annotations

import inspect
import math
import types
from collections import deque
from typing import Any

import numpy as np

from ...domain.facts import FLOAT, INT, Facts, Opaque
from ...domain.values import Bound, Choice, Closure, Const, PartialV, Value, home_of
from ...ir.builder import Specialiser

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
