"""Inlining of values that only the next statement reads, where that stays short.

::

    items = [d_t[k] for k in range(n)]
    add_items(d_q, items)                  ->    add_items(d_q, [d_t[k] for k in range(n)])

    v = x[i]
    d_x[i] = 2 * d_out * v                 ->    d_x[i] = 2 * d_out * x[i]

    halt = path != 0
    if halt:                               ->    if path != 0:
        break                                        break

Nothing runs between the two, and nothing with an effect is evaluated before it in the second: it has the value that it
had.  What the user gave a name keeps it, but for items that the reverse sweep reads again.
"""

from __future__ import annotations

from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...ir.function import TAPE
from ...ir.patterns import is_method, is_pop_call, size
from ...text.expressions import COLUMNS, columns_of
from .assignments import blocks

COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def inline_next(body: list[Any], again: bool, indent: int = 1) -> None:
    """Rewrite the body of an emitted function, in place; `again` if it is of the reverse sweep."""
    result: list[Any] = []
    for stmt in body:
        while result and is_absorbed(result[-1], stmt, again, COLUMNS - 4 * indent):
            absorb(result.pop(), stmt)
        for inner in blocks(stmt):
            inline_next(inner, again, indent + 1)
        result.append(stmt)
    body[:] = result


def is_absorbed(stmt: Any, following: Any, again: bool, columns: int) -> bool:
    """True if what a statement computes may stand in the one after it, which alone reads it."""
    if not getattr(stmt, "read_once", False) or (is_branch(following) and isinstance(stmt.value, gast.Constant)):
        return False
    if not (stmt.temporary or (again and is_item(stmt.value)) or is_listed(stmt.value, following)):
        return False
    name, read = stmt.targets[0].id, evaluated(following)
    if ir.names_in(read).count(name) != 1 or name in forked(read) or (is_base(name, following) and has_pop(stmt.value)):
        return False
    if popped_before(name, read):
        return False
    if has_pop(stmt.value) and (getattr(following, "effect", False) or held(stmt.value) & {*ir.names_in(read)}):
        return False
    if isinstance(stmt.value, (gast.ListComp, gast.IfExp)) and (is_indexed(name, read) or is_branch(following)):
        return False
    if stmt.effect and not is_first(name, following):
        return False
    width = sum(map(columns_of, read)) + columns_of(stmt.value) + beside(following)
    return width <= columns and sum(map(size, [*read, stmt.value])) <= thresholds.OPERATIONS_READ_NEXT


def evaluated(stmt: Any) -> list[Any]:
    """The expressions that a statement evaluates once, before it does anything."""
    if isinstance(stmt, gast.Assign):
        places = [t for t in stmt.targets if isinstance(t, gast.Subscript)]
        return [stmt.value, *(part for place in places for part in (place.value, place.slice))]
    if isinstance(stmt, gast.AugAssign):
        place = [stmt.target.value, stmt.target.slice] if isinstance(stmt.target, gast.Subscript) else []
        return [*place, stmt.value]
    if isinstance(stmt, (gast.Expr, gast.Return)):
        return [stmt.value]
    if isinstance(stmt, gast.If):
        return [stmt.test]
    return [stmt.iter] if isinstance(stmt, gast.For) else []


def beside(stmt: Any) -> int:
    """The columns of a statement besides what it evaluates."""
    target = (
        stmt.target if isinstance(stmt, gast.AugAssign) else stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    )
    return 8 if target is None or isinstance(target, gast.Subscript) else columns_of(target) + 4


def forked(tree: Any, inside: bool = False) -> set[str]:
    """The names in parts of expressions that are evaluated on a condition, or again and again."""
    if isinstance(tree, list):
        return set().union(*(forked(each, inside) for each in tree))
    if isinstance(tree, gast.Name):
        return {tree.id} if inside else set()
    first: list[Any] = []
    if isinstance(tree, gast.IfExp):
        first = [tree.test]
    elif isinstance(tree, gast.BoolOp):
        first = [tree.values[0]]
    elif isinstance(tree, COMPREHENSIONS):
        first = [tree.generators[0].iter]
    elif not isinstance(tree, gast.Lambda):
        return forked(ir.children(tree), inside)
    once = set(ir.names_in(first))
    return forked(first, inside) | {n for n in ir.names_in(tree) if n not in once}


def is_item(expr: Any) -> bool:
    """True if an expression is an item of something at a place that has a name."""
    index = expr.slice if isinstance(expr, gast.Subscript) else None
    return isinstance(index, (gast.Name, gast.Constant)) and isinstance(expr.value, gast.Name)


def popped_before(name: str, read: list[Any]) -> bool:
    """True if a value is popped before a variable is read; nothing else refers to lists of saved values."""
    lists = {n.id for expr in read for n in ir.nodes(expr) if getattr(n, "role", None) in TAPE}
    names = [n for n in ir.names_in(read) if n == name or n not in lists]
    return bool(held(read) & {*names[: names.index(name)]})


def is_indexed(name: str, read: list[Any]) -> bool:
    """True if an item or a part of a variable is taken."""
    parts = [node.value for expr in read for node in ir.nodes(expr) if isinstance(node, gast.Subscript)]
    return any(getattr(part, "id", None) == name for part in parts)


def is_listed(expr: Any, following: Any) -> bool:
    """True if a statement makes the list of an array's numbers over which a loop goes."""
    return isinstance(following, gast.For) and is_method(expr, "tolist")


def is_branch(stmt: Any) -> bool:
    return isinstance(stmt, (gast.If, gast.For))


def is_base(name: str, stmt: Any) -> bool:
    """True if a statement stores into a variable."""
    target = (
        stmt.target if isinstance(stmt, gast.AugAssign) else stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    )
    return isinstance(target, gast.Subscript) and name in ir.names_in(target.value)


def has_pop(expr: Any) -> bool:
    return any(is_pop_call(node) for node in ir.nodes(expr))


def held(expr: Any) -> set[str]:
    """The lists that an expression pops from."""
    return {name for node in ir.nodes(expr) if is_pop_call(node) for name in ir.names_in(node.func.value)}


def is_first(name: str, stmt: Any) -> bool:
    """True if a statement evaluates a variable before anything but other names and constants."""
    if isinstance(stmt, gast.AugAssign):
        return isinstance(stmt.target, gast.Name) and leads(name, stmt.value)
    return isinstance(stmt, (gast.Assign, gast.Return, gast.Expr)) and leads(name, stmt.value)


def leads(name: str, expr: Any) -> bool:
    """True if an expression that reads a variable evaluates it before it computes anything."""
    if isinstance(expr, gast.Name):
        return expr.id == name
    operands: list[Any] = []
    if isinstance(expr, gast.BinOp):
        operands = [expr.left, expr.right]
    elif isinstance(expr, gast.UnaryOp):
        operands = [expr.operand]
    elif isinstance(expr, gast.Attribute):
        operands = [expr.value]
    elif isinstance(expr, gast.Call):
        operands = [expr.func, *expr.args]
    elif isinstance(expr, gast.Subscript):
        operands = [expr.value, expr.slice]
    for operand in operands:
        if name in ir.names_in(operand):
            return leads(name, operand)
        if not isinstance(operand, (gast.Name, gast.Constant)) and operand is not getattr(expr, "func", None):
            return False
    return False


def absorb(stmt: Any, following: Any) -> None:
    """Write what a statement computes into the one after it, in place."""
    mapping = {stmt.targets[0].id: stmt.value}
    if isinstance(following, (gast.Assign, gast.AugAssign)):
        for target in following.targets if isinstance(following, gast.Assign) else [following.target]:
            if isinstance(target, gast.Subscript):
                target.value, target.slice = (ir.substitute(e, mapping) for e in (target.value, target.slice))
    for part in ("value", "test", "iter"):
        if isinstance(getattr(following, part, None), gast.AST):
            setattr(following, part, ir.substitute(getattr(following, part), mapping))
    if has_pop(stmt.value) or stmt.effect:
        following.effect = True
    if getattr(following, "origin", None) is None and getattr(stmt, "origin", None) is not None:
        following.origin, following.repeats = stmt.origin, getattr(stmt, "repeats", False)
    comments = [x.comment for x in (stmt, following) if getattr(x, "comment", None)]
    if comments:
        following.comment = "\n".join(dict.fromkeys(comments))
