"""The lines of a callable that a refusal names when no statement of it is to blame: its definition, its return."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import gast

from ..errors import AutodiffError, Origin, Refused
from .source.parse import Parsed, parse


@contextmanager
def located(fn: Any) -> Iterator[None]:
    """Let refusals that name no line name the definition of `fn`."""
    try:
        yield
    except Refused as error:
        error.origin = error.origin or place_of_definition(fn)
        raise


def place_of_definition(fn: Any) -> Origin | None:
    """The line with the `def` of a callable, where it has one that can be read."""
    parsed = parsed_of(fn)
    return None if parsed is None else parsed.origin(parsed.tree)


def place_of_result(fn: Any) -> Origin | None:
    """The line with the one `return` of a callable, or else its `def`."""
    parsed = parsed_of(fn)
    if parsed is None:
        return None
    found = [node for stmt in parsed.tree.body for node in returns(stmt)]
    return parsed.origin(found[0] if len(found) == 1 else parsed.tree)


def parsed_of(fn: Any) -> Parsed | None:
    """The text of a function, method, partial or object that is called."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if not isinstance(fn, (FunctionType, MethodType)):
        fn = getattr(type(fn), "construct", None) or type(fn).__call__
    try:
        return parse(fn)
    except AutodiffError:
        return None


def returns(node: Any) -> list[Any]:
    """The return statements of a statement, without those of functions in it."""
    if isinstance(node, gast.Return):
        return [node]
    if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)):
        return []
    return [found for child in gast.iter_child_nodes(node) for found in returns(child)]
