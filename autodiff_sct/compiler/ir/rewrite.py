"""Variables in statements, replaced by expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast

from .. import ir


def replaced(expr: Any, mapping: dict[str, Any]) -> Any:
    """An expression of a statement with variables replaced; itself where it has none of them."""
    return expr if mapping.keys().isdisjoint(ir.variables_in(expr)) else ir.substitute(expr, mapping)


def replaced_node(expr: Any, node: Any, new: Any) -> Any:
    """An expression with another one in place of each node that is like a given one; itself where there is none."""
    return with_node(expr, type(node), gast.dump(node), new)


def with_node(expr: Any, kind: type, key: str, new: Any) -> Any:
    """The same, where the node is of a kind and is dumped as a key."""
    if type(expr) is kind and gast.dump(expr) == key:
        return new
    if isinstance(expr, list):
        items = [with_node(item, kind, key, new) for item in expr]
        return expr if all(map(operator.is_, items, expr)) else items
    parts = {part: getattr(expr, part, None) for part in ir.PARTS.get(type(expr), ())}
    found = {part: with_node(old, kind, key, new) for part, old in parts.items() if old is not None}
    if all(found[part] is parts[part] for part in found):
        return expr
    return type(expr)(*[found.get(field, getattr(expr, field, None)) for field in expr._fields])


def with_operands(expr: Any, change: Callable[[Any], Any]) -> Any:
    """An expression with what it operates on, or calls a function with, changed; itself where all of that stays."""
    kind = type(expr)
    if kind is gast.BinOp:
        left, right = change(expr.left), change(expr.right)
        return expr if left is expr.left and right is expr.right else ir.operation(left, expr.op, right)
    if kind is gast.UnaryOp:
        operand = change(expr.operand)
        return expr if operand is expr.operand else gast.UnaryOp(expr.op, operand)
    if kind is gast.Call:
        args = [change(a) for a in expr.args]
        return expr if all(map(operator.is_, args, expr.args)) else gast.Call(expr.func, args, expr.keywords)
    if kind is gast.Subscript:
        value = change(expr.value)
        return expr if value is expr.value else ir.subscript(value, expr.slice)
    return expr


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


def read_instead(stmt: Any, names: Mapping[str, str]) -> None:
    """Let a statement itself read other variables, and hand on those at the end of its blocks and between its steps."""
    own = {name: ir.name(names[name]) for name in ir.reads(stmt) if name in names}
    if own:
        substitute_own(stmt, own)
    if isinstance(stmt, ir.Loop):
        for c in stmt.carries:
            c.init, c.next = names.get(c.init or "", c.init), names.get(c.next or "", c.next)
    elif isinstance(stmt, ir.If):
        for m in stmt.merges:
            m.then, m.orelse = names.get(m.then or "", m.then), names.get(m.orelse or "", m.orelse)
    elif isinstance(stmt, ir.Try):
        stmt.merges = [(target, [names.get(n or "", n) for n in sources]) for target, sources in stmt.merges]


def followed(names: Mapping[str, str]) -> dict[str, str]:
    """The end of the chain of variables that stand for one another, for each."""

    def last(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    return {name: last(name) for name in names}


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
