"""Wrappers in installed packages that hand their arguments on: the wrapped function is followed, in the wrapper's run.

What such a wrapper does besides the call (checks of arguments, settings that it enters, what it makes of exceptions)
carries no derivative: Python carries it out in the run, as it stands (see `runtime.wrappers`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast

from ....errors import SourceUnavailable
from ....runtime.wrappers import running
from ... import ir
from ...domain.attempt import Way
from ...domain.facts import Opaque
from ...domain.foreign_objects import is_packaged
from ...domain.values import Value
from ...frontend.parse import parse
from ...frontend.supported_syntax import own_nodes
from ...ir.builder import Specialiser
from ..kernel.raising import Ended, run_block
from .validation import answer_of, is_plain, stand_in

__all__ = ["wrapped_call"]

LOOKS = frozenset({"get", "items", "keys", "values"})  # methods of a dict that do not change it


def wrapped_call(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], follow: Callable[[Any], Value]
) -> Value | None:
    """The value of a call of a wrapper, of which `follow` follows the wrapped function; None for other functions."""
    wrapped = getattr(fn, "__wrapped__", None)
    if not isinstance(wrapped, FunctionType) or not hands_on(fn, wrapped) or not s.attempt.takes(Way.LATE):
        return None
    if not all(is_plain(s, value) for value in (*args, *kwargs.values())):
        return None
    manager = answer_of(s, running, fn, args, kwargs, Opaque(running))
    block: ir.Block = []
    found: list[Value] = []
    origin = s.where()
    around = s.wrappers
    s.wrappers = (*around, (fn, [stand_in(s, a) for a in args], {k: stand_in(s, v) for k, v in kwargs.items()}))
    try:
        goes_on = run_block(s, block, lambda: found.append(follow(wrapped)))
    finally:
        s.wrappers = around
    s.block.append(ir.With([(ir.name(manager.name), None)], block, origin))
    if not goes_on:
        raise Ended
    return found[0]


def hands_on(fn: FunctionType, wrapped: FunctionType) -> bool:
    """True if a function of an installed package returns nothing but what its wrapped one makes of its arguments."""
    if not isinstance(fn, FunctionType) or not is_packaged(fn):
        return False
    names = {name for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()) if holds(cell, wrapped)}
    try:
        tree = parse(fn).tree
    except SourceUnavailable:
        return False
    given = tree.args
    if given.args or given.posonlyargs or given.kwonlyargs or given.vararg is None or given.kwarg is None:
        return False
    args, kwargs = given.vararg.id, given.kwarg.id
    nodes = list(own_nodes(tree))
    results = [node.value for node in nodes if isinstance(node, gast.Return)]
    if not results or not all(is_call_of(value, names, args, kwargs) for value in results):
        return False
    return not any(isinstance(node, (gast.Yield, gast.YieldFrom)) for node in nodes) and is_left(tree, args, kwargs)


def holds(cell: Any, wrapped: FunctionType) -> bool:
    """True if a closure variable is the wrapped function."""
    try:
        return cell.cell_contents is wrapped
    except ValueError:  # it is empty
        return False


def is_call_of(value: Any, names: set[str], args: str, kwargs: str) -> bool:
    """True for ``fn(*args, **kwargs)``."""
    return (
        isinstance(value, gast.Call)
        and getattr(value.func, "id", None) in names
        and len(value.args) == len(value.keywords) == 1
        and isinstance(value.args[0], gast.Starred)
        and getattr(value.args[0].value, "id", None) == args
        and value.keywords[0].arg is None
        and getattr(value.keywords[0].value, "id", None) == kwargs
    )


def is_left(tree: Any, args: str, kwargs: str) -> bool:
    """True if a wrapper does not change what it was given: its tuple has one name, its dict is only looked at."""
    looks: set[Any] = set()
    for node in gast.walk(tree):
        if isinstance(node, gast.Call):
            looks |= {keyword.value for keyword in node.keywords if keyword.arg is None}
        elif isinstance(node, gast.Attribute) and node.attr in LOOKS:
            looks.add(node.value)
        elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load):
            looks.add(node.value)
        elif isinstance(node, gast.Compare) and all(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
            looks |= {*node.comparators}
    names = [node for body in tree.body for node in gast.walk(body) if isinstance(node, gast.Name)]
    return all(isinstance(n.ctx, gast.Load) for n in names if n.id in (args, kwargs)) and all(
        n in looks for n in names if n.id == kwargs
    )
