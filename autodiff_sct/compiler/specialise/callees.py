"""What kind of function a callee without a rule is."""

from __future__ import annotations

import math
import random
import types
from typing import Any

import numpy as np

from .state import Specialiser
from .values import Value

ORDINARY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
LIBRARIES = {
    "numpy", "scipy", "builtins", "math", "copy", "time", "logging", "warnings", "random", "json", "os", "sys", "re",
    "itertools", "functools", "operator",
}  # fmt: skip


def is_library(fn: Any) -> bool:
    """Functions whose Python text is not the user's: without a rule they are not differentiated."""
    module = getattr(fn, "__module__", None) or ""
    return module.split(".")[0] in LIBRARIES


# Builtins for which a class may have a method.
SPECIAL: dict[Any, str] = {
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
CHANGE_LISTS = {random.shuffle, random.Random.shuffle}
SHARE_MEMORY = {memoryview, np.frombuffer, np.nditer}


def is_pure(fn: Any) -> bool:
    """Whether a call does nothing but compute its result, so that it may be tried on dummies."""
    module = getattr(fn, "__module__", None) or ""
    if (
        isinstance(fn, types.BuiltinMethodType)
        and not isinstance(fn.__self__, types.ModuleType)
        and fn.__self__ is not None
    ):
        return False
    # What SciPy returns may depend on the numbers, as the dtype of a matrix's square root does.
    return module.split(".")[0] in ("numpy", "math", "operator") and not module.startswith("numpy.random")


def raises_so(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], error: Exception) -> bool:
    """Whether a function of constants raises what was raised where its value was computed for the compiler."""
    if not all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return False
    try:
        fn(*(s.static(a) for a in args), **{k: s.static(v) for k, v in kwargs.items()})
    except type(error):
        return True
    return False
