"""Entries of rules: the parameters of a function that stand for arrays, as the texts of its rules tell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import gast

from ...rules.table import TABLE
from ..frontend.parse import parse


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
