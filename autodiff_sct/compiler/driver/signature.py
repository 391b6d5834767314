"""The parameters of what is differentiated, and what is assumed of them where no example is given."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from ...core.parts import part
from ...errors import ArgumentTypeError
from ..domain.facts import UNKNOWN
from ..domain.foreign_objects import python_of
from ..domain.pytree import Leaf, Static, describe

__all__ = ["defaults_of", "general_tree", "signature_of"]


def signature_of(fn: Any) -> inspect.Signature:
    """The parameters of anything callable; those of ``construct`` for a Cell."""
    target = fn
    if hasattr(type(fn), "construct") and not inspect.isfunction(fn):
        target = fn.construct
    target = python_of(target) or target
    if not hasattr(target, "__code__") and (known := signature_of_known(target)) is not None:
        return known
    try:
        return inspect.signature(target, follow_wrapped=is_dispatcher(target))
    except ValueError:
        raise ArgumentTypeError(f"{target!r} does not tell its parameters; wrap it in a function") from None


def is_dispatcher(fn: Any) -> bool:
    """True for a function of NumPy's that other array classes may override: compiled, around one that is not."""
    return hasattr(fn, "_implementation")


def defaults_of(fn: Any) -> tuple[Any, ...]:
    """The stand-ins of arguments that are not given, which may change at any time."""
    if isinstance(fn, functools.partial):
        return (*fn.keywords, *fn.keywords.values(), *defaults_of(fn.func))
    fn = python_of(fn) or fn
    for name in ("construct", "__call__"):
        if not hasattr(fn, "__code__"):
            fn = getattr(type(fn), name, fn)
    return (getattr(fn, "__defaults__", None), *(getattr(fn, "__kwdefaults__", None) or {}).values())


def signature_of_known(fn: Any) -> inspect.Signature | None:
    """The signature of a function with a row in the table, or of its derivative: NumPy's do not all tell `out`."""
    while hasattr(type(fn), "__autodiff_gradient__"):
        fn = getattr(fn, "fn", None)
    if not callable(fn) or fn.__hash__ is None:
        return None
    from ...rules.optional import load_optional

    table = part("compiler").TABLE
    load_optional()
    if fn not in table and isinstance(fn, np.ufunc):
        return inspect.Signature([inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(fn.nin)])
    return table[fn].signature if fn in table else None


def general_tree(parameter: inspect.Parameter) -> Any:
    """The tree assumed for a parameter without an example."""
    default = parameter.default
    if default is not inspect.Parameter.empty and (
        default is None or isinstance(default, (bool, str)) or callable(default)
    ):
        return Static(default)
    if default is not inspect.Parameter.empty and isinstance(default, (int, float)):
        return describe(default, parameter.name)
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return describe((), parameter.name)
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return describe({}, parameter.name)
    if parameter.annotation in (int, "int"):
        return describe(1, parameter.name)
    if parameter.annotation in (float, "float"):
        return describe(1.0, parameter.name)
    return Leaf(UNKNOWN)
