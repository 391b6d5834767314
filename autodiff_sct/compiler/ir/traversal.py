"""Traversal and substitution: the parts, reads and definitions of statements, and variables replaced in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gast

from . import statements as ir
from .statements import SIMPLE, Block, Effect, If, Let, Loop, Raise, Return, Store, Try, With, variables_in


def same_line(a: Any, b: Any) -> bool:
    """True if two statements stand for one line of the user's, or for none."""
    one, other = (None if x.origin is None else (x.origin.file, x.origin.line) for x in (a, b))
    return one == other


def bodies(stmt: Any) -> Sequence[Block]:
    """The blocks nested directly in a statement."""
    kind = type(stmt)
    if kind in SIMPLE:
        return ()
    if kind is If:
        return [stmt.then, stmt.orelse]
    if kind is Loop:
        return [stmt.head, stmt.body]
    if kind is With:
        return [stmt.body]
    if kind is Try:
        return [stmt.body, *(block for _, _, block in stmt.handlers), stmt.final]
    return []


def adjoint_bodies(stmt: Any) -> Sequence[Block]:
    """The blocks nested directly in a statement of the reverse sweep, but for what runs the forward sweep again."""
    return () if type(stmt) in SIMPLE or getattr(stmt, "again", False) else bodies(stmt)


def adjoint_walk(block: Block) -> list[Any]:
    """Every statement of a block of the reverse sweep and of the blocks inside it, as `adjoint_bodies` tells."""
    found: list[Any] = []
    gather(block, found, adjoint_bodies)
    return found


def walk(block: Block) -> list[Any]:
    """Every statement of a block and of the blocks inside it, in order."""
    found: list[Any] = []
    gather(block, found, bodies)
    return found


def gather(block: Block, found: list[Any], inside_of: Callable[[Any], Sequence[Block]]) -> None:
    """Add every statement of a block, and of those that control statements have inside, to a list."""
    begin = 0
    for place in [k for k, kind in enumerate(map(type, block)) if kind not in SIMPLE]:
        found += block[begin : place + 1]
        begin = place + 1
        for inner in inside_of(block[place]):
            if inner:
                gather(inner, found, inside_of)
    found += block[begin:] if begin else block


def blocks(block: Block) -> list[Block]:
    """A block and the blocks inside it."""
    found: list[Block] = []
    pending = [block]
    while pending:
        inner = pending.pop()
        found.append(inner)
        pending += [body for stmt in reversed(inner) for body in reversed(bodies(stmt))]
    return found


def inside(stmt: Any) -> Sequence[Any]:
    """A statement and every one of the blocks inside it, in order."""
    return (stmt,) if type(stmt) in SIMPLE else walk([stmt])


def expressions(stmt: Any) -> list[Any]:
    """The expressions of a statement itself, without the blocks inside it."""
    kind = type(stmt)
    if kind is Let or kind is Effect:
        return [stmt.expr]
    if kind is Store:
        return [stmt.index, stmt.value]
    if kind is If:
        return [stmt.test]
    if kind is Loop:
        return [e for e in (*stmt.bounds, stmt.test, stmt.stop, stmt.every, stmt.folder) if e is not None]
    if kind is Return:
        return [stmt.value]
    if kind is Raise:
        return [stmt.node]
    if kind is With:
        return [expr for expr, _ in stmt.items]
    return []


def reads(stmt: Any) -> Sequence[str]:
    """The variables that a statement itself reads, without the blocks inside it."""
    kind = type(stmt)
    if kind is Let or kind is Effect:
        return getattr(stmt.expr, "variables_in_it", None) or variables_in(stmt.expr)
    if kind is Store:
        return (stmt.base, *variables_in(stmt.index), *variables_in(stmt.value))
    found: list[str] = []
    for expr in expressions(stmt):
        found += variables_in(expr)
    if kind is Loop and stmt.rerun is not None:
        found += stmt.rerun.names.values()
    return found


def uses(stmt: Any) -> Sequence[str]:
    """The variables that a statement itself reads, or passes on from its blocks and between its iterations."""
    kind = type(stmt)
    if kind is Let:
        return getattr(stmt.expr, "variables_in_it", None) or variables_in(stmt.expr)
    if kind is If:
        return [*reads(stmt), *(n for m in stmt.merges for n in (m.then, m.orelse) if n)]
    if kind is Loop:
        return [*reads(stmt), *(n for c in stmt.carries for n in (c.init, c.next) if n)]
    if kind is Try:
        return [*reads(stmt), *(n for _, sources in stmt.merges for n in sources if n)]
    return reads(stmt)


def reads_inside(stmt: Any) -> Sequence[str]:
    """All the variables that a statement and the blocks inside it read, those that they pass on too."""
    return reads(stmt) if type(stmt) in SIMPLE else uses_in([stmt])


def uses_in(block: Block) -> list[str]:
    """All the variables that the statements of a block read or pass on, and those of the blocks inside it."""
    found: list[str] = []
    for stmt in walk(block):
        if type(stmt) is Let:
            found += getattr(stmt.expr, "variables_in_it", None) or variables_in(stmt.expr)
        else:
            found += uses(stmt)
    return found


def defined_in(stmt: Any) -> set[str]:
    """The variables that are defined inside a control statement."""
    result = {name for block in bodies(stmt) for inner in walk(block) for name in ir_targets(inner)}
    if isinstance(stmt, Loop):
        result |= {c.phi for c in stmt.carries} | ({stmt.index} if stmt.index else set())
    return result


def defined(block: Block) -> set[str]:
    """The variables that a block and the blocks inside it define."""
    return {name for stmt in walk(block) for name in ir_targets(stmt)}


def ir_targets(stmt: Any) -> Sequence[str]:
    """The variables that a statement itself defines, without the blocks inside it."""
    kind = type(stmt)
    if kind is Let:
        return stmt.targets  # type: ignore[no-any-return]
    if kind is If:
        return [m.target for m in stmt.merges]
    if kind is Try:
        return [target for target, _ in stmt.merges] + ([stmt.took] if stmt.took else [])
    if kind is Loop:
        names = [n for c in stmt.carries for n in (c.phi, c.out)]
        unpacked = [n for n in variables_in(stmt.items) if n != stmt.index] if stmt.items is not None else []
        return names + [n for n in (stmt.index, stmt.trips) if n is not None] + unpacked
    if kind is With:
        return [n for _, n in stmt.items if n is not None]
    return ()


def around(block: Block, stmt: Any) -> list[Any]:
    """The statements of a block that a statement is inside of, the outermost first."""
    for outer in block:
        for body in bodies(outer):
            if any(inner is stmt for inner in body):
                return [outer]
            if found := around(body, stmt):
                return [outer, *found]
    return []


def results(stmt: Any) -> list[str]:
    """The variables that a statement defines where it ends."""
    if isinstance(stmt, Loop):
        return [c.out for c in stmt.carries]
    return [*ir_targets(stmt)] if isinstance(stmt, (If, Try)) else []


def is_reading(stmt: object) -> bool:
    """True if a statement reads a variable, which raises where that is unbound, and does nothing else."""
    return isinstance(stmt, Effect) and isinstance(stmt.expr, gast.Name)


def ends_in_raise(block: Block) -> bool:
    """True if a block ends in a ``raise``: behind an ``assert`` the program goes on where that holds."""
    return bool(block) and isinstance(block[-1], Raise) and not isinstance(block[-1].node, gast.Assert)


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
    own = {name: ir.name(names[name]) for name in reads(stmt) if name in names}
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
