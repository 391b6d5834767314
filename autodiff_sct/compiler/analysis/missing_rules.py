"""Rules of functions: the parameters that they have entries for, and advice where there is none."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import gast
import numpy as np

from ...rules.table import TABLE
from ..frontend.parse import parse

__all__ = ["full_name", "is_of_scipy", "rule_to_write"]

HOMES_OF_UFUNCS = ("scipy.special",)
NAMESPACES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}


def full_name(fn: Any) -> str:
    """The name by which a user of SciPy calls a function; of others, their own."""
    name: str = getattr(fn, "__name__", str(fn))
    if isinstance(stands_for := getattr(fn, "stands_for", None), str):
        return stands_for
    owner = getattr(fn, "__self__", None)
    distribution = getattr(owner, "name", None)
    if isinstance(distribution, str) and type(owner).__module__.startswith("scipy.stats"):
        return f"scipy.stats.{distribution}.{name}"
    home = getattr(fn, "__module__", None) or ""
    if home.startswith("autodiff_sct.rules.scipy."):
        return f"scipy.{home.rpartition('.')[2]}.{name}"
    module = next(iter(modules_of(fn)), "")
    return f"{module}.{name}" if module else name


def modules_of(fn: Any) -> list[str]:
    """The public modules of SciPy that have a function, of which the first is where it is documented."""
    if isinstance(fn, np.ufunc):
        candidates = list(HOMES_OF_UFUNCS)
    else:
        parts = (getattr(fn, "__module__", None) or "").split(".")
        public = [k for k, part in enumerate(parts) if part.startswith("_")]
        parts = parts[: public[0]] if public else parts
        candidates = [".".join(parts[:k]) for k in range(2, len(parts) + 1)] if parts[:1] == ["scipy"] else []
    name = getattr(fn, "__name__", "")
    return [module for module in candidates if getattr(sys.modules.get(module), name, None) is fn]


def is_of_scipy(fn: Any) -> bool:
    """True for the functions and classes that SciPy documents, and for the methods of its distributions."""
    return full_name(fn).startswith("scipy.")


def rule_to_write(fn: Any) -> str:
    """The remedy for a function of SciPy."""
    name = getattr(fn, "__name__", "")
    twins = [f"{space}.{name}" for space, module in NAMESPACES.items() if getattr(module, name, None) in TABLE]
    instead = f"call {twins[0]}, which has a rule, or " if twins else ""
    parameters = parameters_of(fn)
    first = parameters.split(",")[0].partition("=")[0] or "x"
    return (
        f"{instead}wrap its result in stop_gradient, or register a rule:\n"
        f"    @autodiff_sct.rule.reverse({full_name(fn)})\n"
        f"    def {name}_rule(y, d, {parameters}):\n"
        f"        return ...  # the cotangent of {first}, from the result y and its cotangent d"
    )


def parameters_of(fn: Any) -> str:
    """The parameters of a function, as they stand in a definition after ``y`` and ``d``."""
    if isinstance(fn, np.ufunc):
        return "x" if fn.nin == 1 else ", ".join(f"x{k}" for k in range(1, fn.nin + 1))
    try:
        found = inspect.signature(fn)
    except (TypeError, ValueError):
        return "*arguments"
    return str(inspect.Signature([plain(p) for p in found.parameters.values()]))[1:-1]


def plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter without its annotation, under a name of its own, with a default that can be written."""
    name = f"{parameter.name}_" if parameter.name in ("y", "d") else parameter.name
    written = parameter.default is parameter.empty or isinstance(parameter.default, (str, int, float, type(None)))
    default = parameter.default if written else None
    return parameter.replace(name=name, annotation=parameter.empty, default=default)


@functools.cache
def with_entries(fn: Callable[..., Any]) -> frozenset[str]:
    """Names of the parameters that the rules of a function of the table have an entry for on some path.

    >>> import numpy as np
    >>> sorted(with_entries(np.interp))
    ['fp', 'left', 'right', 'x', 'xp']
    >>> sorted(with_entries(np.reshape))
    ['a']
    """
    row = TABLE[fn]
    places = {k for rule in (row.reverse, row.forward) if rule is not None for k in places_of(rule)}
    parameters = list(row.signature.parameters.values())
    several = [k for k, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL]  # what a starred entry is for
    return frozenset(p.name for k, p in enumerate(parameters[: several[0] + 1 if several else None]) if k in places)


def places_of(rule: Any) -> set[int]:
    """The places of the entries that a rule, or a function that computes its result, returns."""
    if not isinstance(rule, FunctionType):
        return {0}
    returned = [node.value for node in gast.walk(parse(rule).tree) if isinstance(node, gast.Return)]
    return {k for value in returned for k in places_in(value, rule)}


def places_in(value: Any, rule: FunctionType) -> Iterator[int]:
    if isinstance(value, gast.IfExp):
        yield from places_in(value.body, rule)
        yield from places_in(value.orelse, rule)
    elif isinstance(value, gast.Tuple):
        for k, entry in enumerate(value.elts):
            if isinstance(entry, gast.Starred):
                yield from range(k, k + MOST)
            elif not isinstance(entry, gast.Constant) or entry.value is not None:
                yield k
    elif isinstance(value, gast.Call) and isinstance(called := named(value.func, rule), FunctionType):
        yield from places_of(called) if called.__module__.startswith(__name__.split(".")[0]) else {0}
    else:
        yield 0


MOST = 20  # entries that are written as one list: more than any function has parameters


def named(node: Any, rule: FunctionType) -> Any:
    """The object that a name of the module of a rule stands for."""
    if isinstance(node, gast.Attribute):
        return getattr(named(node.value, rule), node.attr, None)
    return rule.__globals__.get(node.id) if isinstance(node, gast.Name) else None
