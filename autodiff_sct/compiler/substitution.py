"""Variables in statements, replaced by expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import ir


def replaced(expr: Any, mapping: dict[str, Any]) -> Any:
    """An expression of a statement with variables replaced; itself where it has none of them."""
    return expr if mapping.keys().isdisjoint(ir.variables_in(expr)) else ir.substitute(expr, mapping)


def substitute_in(stmt: Any, mapping: dict[str, Any]) -> None:
    """Replace variables in a simple statement."""
    if isinstance(stmt, (ir.Let, ir.Effect)):
        stmt.expr = replaced(stmt.expr, mapping)
    elif isinstance(stmt, ir.Store):
        new = mapping.get(stmt.base)
        stmt.base = new.id if new is not None else stmt.base
        stmt.index, stmt.value = replaced(stmt.index, mapping), replaced(stmt.value, mapping)
    elif isinstance(stmt, ir.Return):
        stmt.value = replaced(stmt.value, mapping)


def substitute_own(stmt: Any, mapping: dict[str, Any]) -> None:
    """Replace variables in what a statement itself reads, without the blocks inside it."""
    if type(stmt) is ir.Let:
        stmt.expr = replaced(stmt.expr, mapping)
    elif isinstance(stmt, ir.If):
        stmt.test = replaced(stmt.test, mapping)
    elif isinstance(stmt, ir.Loop):
        stmt.bounds = tuple(replaced(b, mapping) for b in stmt.bounds)
        stmt.test = None if stmt.test is None else replaced(stmt.test, mapping)
        stmt.stop = None if stmt.stop is None else replaced(stmt.stop, mapping)
    elif isinstance(stmt, ir.Raise):
        stmt.node = replaced(stmt.node, mapping)
    elif isinstance(stmt, ir.With):
        stmt.items = [(replaced(expr, mapping), n) for expr, n in stmt.items]
    else:
        substitute_in(stmt, mapping)


def change_own(stmt: Any, change: Callable[[Any], Any]) -> None:
    """Change the expressions of a statement itself, without the blocks inside it."""
    if isinstance(stmt, (ir.Let, ir.Effect)):
        stmt.expr = change(stmt.expr)
    elif isinstance(stmt, ir.Store):
        stmt.index, stmt.value = change(stmt.index), change(stmt.value)
    elif isinstance(stmt, ir.If):
        stmt.test = change(stmt.test)
    elif isinstance(stmt, ir.Loop):
        stmt.bounds = tuple(map(change, stmt.bounds))
        stmt.test = None if stmt.test is None else change(stmt.test)
        stmt.stop = None if stmt.stop is None else change(stmt.stop)
    elif isinstance(stmt, ir.Return):
        stmt.value = change(stmt.value)
    elif isinstance(stmt, ir.Raise):
        stmt.node = change(stmt.node)
    elif isinstance(stmt, ir.With):
        stmt.items = [(change(expr), n) for expr, n in stmt.items]
