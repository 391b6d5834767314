"""Inner loops of the reverse sweep that may as well run forwards.

The reverse sweep runs each loop backwards. Where no iteration needs another, the order does not matter, and forwards
the compiler behind makes better vector code of it:

    for k in range(m - 1, -1, -1):               for k in range(m):
        d = x[i, k] - x[j, k]             ->         d = x[i, k] - x[j, k]
        d_x[i, k] += d_r * d                         d_x[i, k] += d_r * d

A loop qualifies if all that it hands on are sums, and each array that it writes is either only added to, or touched at
one place alone, another one in each iteration.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ..kinds import FLOAT64
from ..state import State
from .affine import constant_form, form_of
from .scalar_promotion import as_wholes


def forwards(state: State, first: ir.Block, second: ir.Block) -> None:
    """Turn the loops of a native program round, in place."""
    program = [*first, *second]
    bounds: set[str] = set()
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Loop) and is_backward(stmt) and is_free(state, stmt):
            bounds |= set(ir.names_in(stmt.bounds[0]))
            start, stop = (form_of(state, b).plus(constant_form(1)) for b in stmt.bounds[:2])
            first = [stop.expr()] if stop.terms or stop.constant else []
            stmt.bounds = (*first, start.expr())
    unread = bounds - read_in(program)
    drop(first, unread)
    drop(second, unread)


def is_backward(loop: ir.Loop) -> bool:
    """True if a loop counts down by one, over the whole of its range."""
    step = loop.bounds[2] if loop.kind == "range" and len(loop.bounds) == 3 else None
    down = isinstance(step, gast.UnaryOp) and isinstance(step.op, gast.USub) and getattr(step.operand, "value", 0) == 1
    return down and loop.stop is None and loop.trips is None


def is_free(state: State, loop: ir.Loop) -> bool:
    """True if the iterations of a loop may run in any order."""
    body = ir.walk(loop.body)
    if not all(map(is_plain, body)) or not all(is_sum(state, loop.body, body, c) for c in loop.carries):
        return False
    if any(as_wholes(state, expr) for stmt in body for expr in ir.expressions(stmt)):
        return False
    reads, writes = touched(state, body)
    defined = ir.defined_in(loop)
    for base, index, _ in writes:
        near = [w for w in writes if state.may_alias(base, w[0])]
        read = [r for r in reads if state.may_alias(base, r[0])]
        if not read and all(added for _, _, added in near):
            continue
        same = all(b == base and gast.dump(at) == gast.dump(index) for b, at, *_ in (*near, *read))
        if not same or not moves(index, loop.index, defined):
            return False
    return True


def is_plain(stmt: Any) -> bool:
    """True if a statement only computes, stores, chooses, checks, or does that over a range."""
    if isinstance(stmt, ir.Loop):
        return stmt.kind == "range" and stmt.stop is None
    if isinstance(stmt, ir.Effect):
        return isinstance(stmt.expr, gast.Assert)
    return isinstance(stmt, (ir.Store, ir.If)) or (isinstance(stmt, ir.Let) and not stmt.effect)


def is_sum(state: State, block: ir.Block, body: ir.Block, carry: ir.Carry) -> bool:
    """True if what a loop carries is only added to, in statements of the loop itself."""
    name: str | None = carry.phi
    while name is not None and name != carry.next:
        uses = [stmt for stmt in body for expr in ir.expressions(stmt) for n in ir.names_in(expr) if n == name]
        if len(uses) != 1 or is_merged(body, name) or uses[0] not in block or not adds_to(uses[0], name):
            return False
        name = uses[0].targets[0]
    read = any(n == name for stmt in body for expr in ir.expressions(stmt) for n in ir.names_in(expr))
    return name is not None and not read and not is_merged(body, name) and state.kinds.get(carry.phi) == FLOAT64


def is_merged(body: ir.Block, name: str) -> bool:
    return any(name in (m.then, m.orelse) for stmt in body for m in getattr(stmt, "merges", ()))


def adds_to(stmt: Any, name: str) -> bool:
    expr = stmt.expr if isinstance(stmt, ir.Let) else None
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Add, gast.Sub)) and is_name(expr.left, name)


def is_name(expr: Any, name: str | None) -> bool:
    return isinstance(expr, gast.Name) and expr.id == name


def touched(state: State, body: ir.Block) -> tuple[list[tuple[str, Any]], list[tuple[str, Any, bool]]]:
    """The elements that are read, and those that are written, with whether that only adds to them."""
    writes = [(s.base, s.index, s.aug in (gast.Add, gast.Sub)) for s in body if isinstance(s, ir.Store)]
    nodes = [n for stmt in body for expr in ir.expressions(stmt) for n in ir.nodes(expr)]
    reads = [(n.value.id, n.slice) for n in nodes if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name)]
    return [r for r in reads if r[0] in state.s.facts], writes  # saved values have memory of their own


def moves(index: Any, counter: str | None, defined: set[str]) -> bool:
    """True if a place is another one in each iteration: on one axis it is the counter, or that and a number."""
    for part in index.elts if isinstance(index, gast.Tuple) else [index]:
        if isinstance(part, gast.BinOp) and isinstance(part.op, (gast.Add, gast.Sub)):
            part = part.left if isinstance(part.right, gast.Constant) else part
        if is_name(part, counter):
            return not (defined - {counter}) & set(ir.names_in(index))
    return False


def read_in(program: ir.Block) -> set[str]:
    """The variables that anything reads."""
    found: set[str] = set()
    for stmt in ir.walk(program):
        found |= {n for expr in ir.expressions(stmt) for n in ir.names_in(expr)}
        found |= {n for c in getattr(stmt, "carries", ()) for n in (c.init, c.next) if n}
        found |= {n for m in getattr(stmt, "merges", ()) for n in (m.then, m.orelse) if n}
        found |= {stmt.base} if isinstance(stmt, ir.Store) else set()
    return found


def drop(block: ir.Block, names: set[str]) -> None:
    """Leave out the bounds that nothing reads any more."""
    block[:] = [s for s in block if not (isinstance(s, ir.Let) and s.targets[0] in names and len(s.targets) == 1)]
    for stmt in block:
        for inner in ir.bodies(stmt):
            drop(inner, names)
