"""Statements that only raise, carried out as they stand where they cannot be followed.

A path that ends in ``raise`` has no derivative, so nothing has to be known of what its message is made of. Its
statements become a function of what they read, which is called where the path is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import gast

from ....errors import Refused
from ... import ir
from ...domain.values import Frame
from ...ir.builder import Specialiser
from ..kernel.user_errors import Ended
from ..world.names import home, load_name

STRAIGHT = (
    gast.Assign,
    gast.AugAssign,
    gast.AnnAssign,
    gast.Expr,
    gast.Pass,
    gast.Assert,
    gast.Import,
    gast.ImportFrom,
)
IMPORTS = (gast.Import, gast.ImportFrom)
CALLER = {
    "super",
    "__class__",
    "locals",
    "vars",
    "dir",
    "eval",
    "exec",
}  # what reads the variables of the function that calls it
LEAVES = (gast.Yield, gast.YieldFrom, gast.Await)


def raises_from(body: list[Any]) -> int | None:
    """The position from which statements do nothing but come to a ``raise``; None where they do not end in one."""
    if not body or not isinstance(body[-1], gast.Raise) or body[-1].exc is None:
        return None
    position = len(body) - 1
    while position and isinstance(body[position - 1], STRAIGHT):
        position -= 1
    return position


def raise_from(s: Specialiser, body: list[Any], follow: Callable[[], None]) -> None:
    """Follow statements that only raise; where one is refused, or would import, carry them out as they stand."""
    if s.attempts:  # a handler may catch what is raised, and goes on from what it knows
        return follow()
    if s.branches and any(isinstance(node, IMPORTS) for node in body):
        carry_out(s, body)
    mark, entry = len(s.block), dict(s.env)
    try:
        follow()
    except Refused:
        del s.block[mark:]
        s.env = entry
        carry_out(s, body)
        raise


def carry_out(s: Specialiser, body: list[Any]) -> None:
    """Call the statements as a function and end the path; do nothing where what they read cannot be given to them."""
    assert s.frame is not None
    names = parameters(s, s.frame, body)
    if names is None:
        return
    try:
        given = [s.expr(load_name(s, name)) for name in names]
    except Refused:
        return
    code = compiled(tuple(body), tuple(names), s.frame.parsed.file, s.frame.parsed.tree.name)
    fn = FunctionType(code, s.frame.globals)
    outer, s.node = s.node, body[-1]
    try:
        s.block.append(ir.Raise(gast.Raise(ir.call(s.bind("failed", fn), *given), None), s.where()))
    finally:
        s.node = outer
    raise Ended


def parameters(s: Specialiser, frame: Frame, body: list[Any]) -> list[str] | None:
    """The variables of the program that statements read; None where they need more than what these hold."""
    nodes = [node for statement in body for node in gast.walk(statement)]
    names = [node for node in nodes if isinstance(node, gast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, gast.Load)}
    bound |= {(alias.asname or alias.name).split(".")[0] for alias in nodes if isinstance(alias, gast.alias)}
    read = dict.fromkeys(node.id for node in names)
    if any(isinstance(node, LEAVES) for node in nodes) or CALLER & read.keys() or bound & frame.nonlocals:
        return None
    top = frame
    while top.parent is not None:
        top = top.parent
    found = []
    for name in read:
        owner = home(frame, name)
        if (owner.id, name) in s.env if owner is not None else name in top.free:
            found.append(name)
        elif owner is not None and name not in bound:
            return None  # it is not assigned: that is what is raised
    return found if all(map(str.isidentifier, found)) else None


@functools.lru_cache(maxsize=256)
def compiled(body: tuple[Any, ...], names: tuple[str, ...], file: str, name: str) -> CodeType:
    """The code of a function of some names that carries out statements of the function called `name`."""
    tree = gast.parse(f"def failed({', '.join(names)}): pass")
    tree.body[0].body = list(body)
    made: dict[str, Any] = {}
    exec(compile(gast.gast_to_ast(tree), file, "exec"), made)
    return made["failed"].__code__.replace(co_name=name)
