"""The lines of a callable that a refusal names when no statement of it is to blame: its definition, its return."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import gast

from ....errors import AutodiffError, Origin
from ...frontend.parse import Parsed, parse

PACKAGE = str(Path(__file__).resolve().parents[3]) + os.sep


def users_line(place: Origin | None, fn: Any, derivatives: list[tuple[Any, Origin | None]]) -> Origin | None:
    """The user's line that a refusal names.

    Of a line of an emitted text, that is the one behind it, or where the derivative is taken; of none, the definition
    of `fn`.
    """
    place = place or place_of_definition(fn)
    if place is None or not is_ours(place):
        return place
    found = [line for function, where in derivatives for line in (behind(place, function), where)]
    return next((line for line in found if line is not None and not is_ours(line)), place)


def is_ours(place: Origin) -> bool:
    """True for a line of an emitted text, or of this package."""
    return place.file.startswith(("<", PACKAGE))


def behind(place: Origin, function: Any) -> Origin | None:
    """The user's line that a line of an emitted function comes from."""
    origins = getattr(function, "__autodiff_origins__", {})
    known = [line for line in origins if line <= place.line]
    return origins[max(known)] if known and place.file == function.__code__.co_filename else None


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
