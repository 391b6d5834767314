"""Where only the shape of a value is read, another value of that shape that is at hand anyway stands in.

::

    t = error ** 2                                        d_error = d_out / error.size * 2 * error
    d_error = d_out / t.size * 2 * error        ->

An elementwise function of one array and numbers has the array's shape and dtype; so ``t``, or a list of all its values,
need not be kept for its shape.  For a size alone, any array will do whose axes are known to have the same lengths.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .facts import Num
from .optimise import substitute_own
from .specialise.state import Specialiser

ATTRIBUTES = {"size", "shape", "ndim", "dtype"}
LIKE = {"zeros_like": 0, "full_like": 0, "empty_like": 0, "unbroadcast": 1, "spread": 1}  # which argument shows a shape


def stand_in(s: Specialiser, reverse: ir.Block) -> None:
    """Rewrite the shapes that the reverse sweep reads, in place."""
    made = {name for stmt in ir.walk(reverse) for name in ir.ir_targets(stmt)}
    rewrite(s, reverse, made)


def rewrite(s: Specialiser, block: ir.Block, made: set[str]) -> None:
    """Rewrite a block of the reverse sweep, which made some variables itself, and the blocks inside it."""
    for stmt in block:
        for inner in ir.bodies(stmt):
            rewrite(s, inner, made)
    at_hand: dict[str, str] = {}  # what is alike -> one of the forward sweep whose content the block reads
    for name in [n for stmt in block for n in contents(stmt) if n not in made]:
        at_hand.setdefault(s.alike.get(name, name), name)
    sized: dict[Any, str] = {}
    for name in [n for stmt in block for n in contents(stmt) if n not in made and lengths(s, n) is not None]:
        sized.setdefault(lengths(s, name), name)
    for stmt in block:
        read = contents(stmt)
        wanted = {n: sized.get(lengths(s, n), n) for n in sizes(stmt) if n not in read and sizes(stmt) == shapes(stmt)}
        wanted |= {
            n: at_hand[s.alike.get(n, n)] for n in shapes(stmt) if n not in read and s.alike.get(n, n) in at_hand
        }
        if any(old != new for old, new in wanted.items()):
            substitute_own(stmt, {old: ir.name(new) for old, new in wanted.items()})


def lengths(s: Specialiser, name: str) -> Any:
    """The lengths of an array's axes, where all are known."""
    facts = s.facts[name]
    if not isinstance(facts, Num) or facts.kind != "array" or not facts.dims or None in facts.dims:
        return None
    return tuple(s.canonical(axis) for axis in facts.dims)


def sizes(stmt: Any) -> list[str]:
    """The variables of which a statement reads the size."""
    nodes = [node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
    sized = [node.value for node in nodes if isinstance(node, gast.Attribute) and node.attr == "size"]
    return [node.id for node in sized if isinstance(node, gast.Name) and ir.is_variable(node.id)]


def shapes(stmt: Any) -> list[str]:
    """The variables of which a statement reads the shape or the dtype."""
    return [node.id for expr in ir.expressions(stmt) for node in shapes_in(expr)]


def contents(stmt: Any) -> list[str]:
    """The variables whose content a statement reads."""
    exprs = ir.expressions(stmt)
    shown = {id(node) for expr in exprs for node in shapes_in(expr)}
    names = [n for expr in exprs for n in ir.nodes_in(expr) if isinstance(n, gast.Name) and ir.is_variable(n.id)]
    return [n.id for n in names if id(n) not in shown]


def shapes_in(expr: Any) -> list[Any]:
    """The variables of which an expression reads no more than the shape or the dtype."""
    found = []
    for node in ir.nodes_in(expr):
        if isinstance(node, gast.Attribute) and node.attr in ATTRIBUTES:
            found.append(node.value)
        elif isinstance(node, gast.Call) and (k := LIKE.get(called(node))) is not None and len(node.args) > k:
            found.append(node.args[k])
    return [node for node in found if isinstance(node, gast.Name) and ir.is_variable(node.id)]


def called(node: gast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))
