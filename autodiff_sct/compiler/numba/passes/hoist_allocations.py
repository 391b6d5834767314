"""Memory made once for all iterations of a loop.

An array that one iteration makes, uses and forgets, and whose lengths do not change, is made before the loop; where it
has to start with zeros, each iteration sets them.  Asking for memory costs more than filling ten elements of it.

    for i in range(n):                   t = np.empty(len(b))
        t = np.empty(len(b))             for i in range(n):
        for j in range(len(t)):              for j in range(len(t)):
            t[j] = x[i, j] - b[j]                t[j] = x[i, j] - b[j]

Nobody may see such an array beyond its iteration: it is not saved, carried to the next, merged by a branch or returned,
neither itself nor what shows its memory (`held`).
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ..kinds import Grid
from ..lowering.tape import row_of
from ..lowering.tape_index import PRODUCTS, called, zeroed
from ..state import State

# Functions that keep nothing of what they are given.
LENDING = {*PRODUCTS, "inside", "dot", "solve", "inv", "cholesky", "det", "slogdet"}


def hoisted(state: State, first: ir.Block, second: ir.Block, small: bool) -> None:
    """Make memory before the loops of a program; arrays that may yet become numbers only if `small`."""
    beyond = held(state, [*first, *second])
    for block in (first, second):
        block[:] = before_loops(state, block, beyond, small)


def before_loops(state: State, block: ir.Block, beyond: set[str], small: bool) -> ir.Block:
    result: ir.Block = []
    for stmt in block:
        for inner in ir.bodies(stmt):
            inner[:] = before_loops(state, inner, beyond, small)
        if isinstance(stmt, ir.Loop):
            result += taken_out(state, stmt, beyond, small)
        result.append(stmt)
    return result


def taken_out(state: State, loop: ir.Loop, beyond: set[str], small: bool) -> ir.Block:
    """The memory that is made before a loop instead of in it."""
    inside, found, body = ir.defined_in(loop), [], []
    for stmt in loop.body:
        made = maker_of(state, stmt, small) if isinstance(stmt, ir.Let) and stmt.targets[0] not in beyond else None
        if made is None or inside & set(ir.names_in(made)):
            body.append(stmt)
            continue
        found.append(ir.Let(stmt.targets, made, None, stmt.origin))
        inside -= set(stmt.targets)
        body += filled(state, stmt)
    loop.body[:] = body
    return found


def maker_of(state: State, stmt: ir.Let, small: bool) -> Any:
    """The call that makes the memory of a new array; None where a statement is something else."""
    grid, name = state.values.get(stmt.targets[0]), called(stmt.expr)
    if not isinstance(grid, Grid) or (row_of(grid) is not None and not small):
        return None
    if name in ("empty", "zeros"):
        return ir.call("np.empty", *stmt.expr.args)
    if name not in PRODUCTS or called(stmt.expr.args[-1]) != "empty":  # a part of an array is another in each iteration
        return None
    return stmt.expr.args[-1] if small else None


def filled(state: State, stmt: ir.Let) -> ir.Block:
    """Fill in each iteration memory that was made before."""
    name = called(stmt.expr)
    if name == "empty":
        return []
    if name in PRODUCTS:
        return [ir.Effect(ir.call(name, *stmt.expr.args[:-1], ir.name(stmt.targets[0])), stmt.origin)]
    state.origin = stmt.origin
    return zeroed(state, stmt.targets[0])


def held(state: State, program: ir.Block) -> set[str]:
    """The variables whose memory somebody may see after the iteration that made it."""
    found: set[str] = set()
    shown: dict[str, list[str]] = {}  # variable -> those that it shows the memory of
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Let) and isinstance(stmt.expr, (gast.Name, gast.Subscript)):
            shown.setdefault(stmt.targets[0], []).extend(given_away(state, stmt.expr))
            continue
        found |= {n for m in getattr(stmt, "merges", ()) for n in (m.then, m.orelse) if n}
        found |= {n for c in getattr(stmt, "carries", ()) for n in (c.init, c.next) if n}
        found |= {n for expr in ir.expressions(stmt) for n in given_away(state, expr)}
    waiting = list(found)
    while waiting:
        for name in shown.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def given_away(state: State, expr: Any) -> list[str]:
    """The names in an expression of which more than elements and lengths are read."""
    if isinstance(expr, gast.Name):
        return [expr.id]
    if isinstance(expr, gast.Attribute) and expr.attr == "shape" or called(expr) == "len":
        return []
    if isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name):
        own = [] if is_element(state, expr) else [expr.value.id]
        return [*own, *given_away(state, expr.slice)]
    if called(expr) in LENDING:
        return [n for arg in expr.args for n in given_away(state, arg) if n not in lent(arg)]
    return [name for inner in ir.children(expr) for name in given_away(state, inner)]


def lent(arg: Any) -> list[str]:
    """The array that a function is given, or a part of which."""
    base = arg.value if isinstance(arg, gast.Subscript) else arg
    return [base.id] if isinstance(base, gast.Name) else []


def is_element(state: State, expr: Any) -> bool:
    """True if a subscript names one place of an array."""
    entries = expr.slice.elts if isinstance(expr.slice, gast.Tuple) else [expr.slice]
    grid = state.values.get(expr.value.id)
    parts = [
        e for e in entries if isinstance(e, (gast.Slice, gast.Constant)) and type(getattr(e, "value", e)) is not int
    ]
    return not parts and isinstance(grid, Grid) and grid.ndim == len(entries)
