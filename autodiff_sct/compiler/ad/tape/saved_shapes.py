"""Of what is read back for its shape only, the shape is saved.

::

    saved_z.append(z)                             saved_shape.append(z.shape)
    ...                                    ->     ...
    d_z = np.zeros(saved_z.pop().shape)           d_z = np.zeros(saved_shape.pop())

The array is free again as soon as its step is over.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.liveness import count_uses
from ...ir.builder import Specialiser
from ...ir.patterns import is_pop_call


def save_shapes(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite what fills such lists and what empties them, in place."""
    found = popped(back)
    if not found:
        return
    uses = count_uses([*front, *back])
    lists = {n: pops for n, pops in found.items() if uses[n] == 2 and n in s.saved and len(pops) == 1}
    for stmt in [x for block in ir.blocks(front) for x in block if isinstance(x, ir.Effect) and x.kind == "save"]:
        name = list_of(stmt.expr)
        if name in lists:
            [(reader, part, shape)] = lists[name]
            stmt.expr = ir.call(stmt.expr.func, ir.attribute(stmt.expr.args[0], "shape"))
            setattr(reader, part, replaced(getattr(reader, part), shape, shape.value))
            s.hints[name] = "saved_shape"


def popped(back: ir.Block) -> dict[str, list[tuple[Any, str, Any]]]:
    """Where the shape of what a list gives back is read: the statement, its part, and the expression."""
    found: dict[str, list[tuple[Any, str, Any]]] = {}
    for stmt in ir.adjoint_walk(back):
        for part in [part for part in ("expr", "value", "index") if isinstance(stmt, (ir.Let, ir.Store, ir.Effect))]:
            for node in ir.nodes_in(getattr(stmt, part, None)):
                if isinstance(node, gast.Attribute) and node.attr == "shape" and is_pop_call(node.value):
                    found.setdefault(str(list_of(node.value)), []).append((stmt, part, node))
    return found


def list_of(call: Any) -> str | None:
    """The list whose method an expression calls."""
    owner = getattr(getattr(call, "func", None), "value", None)
    return owner.id if isinstance(owner, gast.Name) else None


def replaced(expr: Any, old: Any, new: Any) -> Any:
    """An expression with one of its nodes replaced."""
    if expr is old:
        return new
    if isinstance(expr, list):
        return [replaced(item, old, new) for item in expr]
    if not isinstance(expr, gast.AST) or not any(node is old for node in ir.nodes_in(expr)):
        return expr
    return type(expr)(**{part: replaced(getattr(expr, part, None), old, new) for part in expr._fields})
