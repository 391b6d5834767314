"""The lines of a callable that a refusal names when no statement of it is to blame: its definition, its return."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import gast

from ....errors import AutodiffError, Origin, Refused
from ...frontend.parse import Parsed, parse

PACKAGE = str(Path(__file__).resolve().parents[3]) + os.sep


@contextmanager
def located(fn: Any) -> Iterator[None]:
    """Let refusals that name no line name the definition of `fn`."""
    try:
        yield
    except Refused as error:
        error.origin = error.origin or place_of_definition(fn)
        raise


@contextmanager
def located_in_derivatives(met: list[tuple[Any, Origin | None]]) -> Iterator[None]:
    """Let refusals of a line of an emitted text name the user's line behind it, or where the derivative is taken."""
    try:
        yield
    except Refused as error:
        if error.origin is not None and is_ours(error.origin):
            found = [place for function, where in met for place in (behind(error.origin, function), where)]
            error.origin = next((p for p in found if p is not None and not is_ours(p)), error.origin)
        raise


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
