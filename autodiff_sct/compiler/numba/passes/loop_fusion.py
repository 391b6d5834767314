"""Loops over elements, for vector code: those that follow each other are made one, and run forwards where they may.

``for i: t[i] = e; for i: u[i] += t[i]`` becomes one loop where every element that one of them writes is touched by the
other at the same place only: then each iteration of the second may run right after that of the first.  Statements in
between move before or after the pair, and stay where they are if neither is possible.

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
from ..kinds import FLOAT64, Grid, Items
from ..state import State
from .affine import constant_form, form_of
from .scalar_promotion import as_wholes


def fused(state: State, block: ir.Block) -> ir.Block:
    """A block with its loops over elements put together, and the blocks inside it."""
    result: ir.Block = []
    for stmt in block:
        result.append(stmt)
        if is_elements(stmt):
            merge_last(state, result)
    for stmt in result:
        for inner in ir.bodies(stmt):
            inner[:] = fused(state, inner)
    return result


def is_elements(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop) and getattr(stmt, "axis", None) is not None


def merge_last(state: State, block: ir.Block) -> None:
    """Merge the last statement, a loop, into one before it, if there is one that fits."""
    last = block[-1]
    for place in range(len(block) - 2, -1, -1):
        stmt = block[place]
        if is_elements(stmt) and stmt.axis == last.axis:
            moved = around(state, stmt, block[place + 1 : -1], last)
            if moved is not None and compatible(state, stmt, last):
                before, after = moved
                block[place:] = [*before, together(stmt, last), *after]
                return
        if not movable(state, stmt):
            return


def movable(state: State, stmt: Any) -> bool:
    """True if the order of a statement and a loop matters through variables and memory reads only."""
    if isinstance(stmt, ir.Effect):
        return isinstance(stmt.expr, gast.Assert)
    if isinstance(stmt, ir.Let) and stmt.effect:
        return not any(isinstance(state.values.get(n), Items) for n in ir.names_in(stmt.expr))
    return isinstance(stmt, ir.Let) or is_elements(stmt)


def around(state: State, first: ir.Loop, between: ir.Block, last: ir.Loop) -> tuple[ir.Block, ir.Block] | None:
    """The statements between two loops, those to run before both and those to run after; None if one has to stay."""
    made = {c.out for c in first.carries}
    written = written_by([first])
    later = written_by([last])
    needed = names_of([last])
    before: ir.Block = []
    after: ir.Block = []
    for stmt in between:
        reads = names_of([stmt])
        depends = bool(reads & made) or is_elements(stmt) or touches(state, reads_memory(state, stmt), written)
        targets = set(ir.ir_targets(stmt))
        if not depends and not (is_second_name(stmt) and not targets & needed):
            before.append(stmt)
            continue
        if isinstance(stmt, ir.Effect) or targets & needed or touches(state, reads_memory(state, stmt), later):
            return None
        if is_elements(stmt):
            return None
        made |= targets
        after.append(stmt)
    return before, after


def is_second_name(stmt: Any) -> bool:
    """True if a statement gives a variable another name: where the first is not used later, the two become one."""
    return isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Name)


def written_by(block: ir.Block) -> set[str]:
    return {stmt.base for stmt in ir.walk(block) if isinstance(stmt, ir.Store)}


def names_of(block: ir.Block) -> set[str]:
    found: set[str] = set()
    for stmt in ir.walk(block):
        found |= {n for expr in ir.expressions(stmt) for n in ir.names_in(expr)}
        found |= {n for c in getattr(stmt, "carries", []) for n in (c.init, c.next) if n}
        if isinstance(stmt, ir.Store):
            found.add(stmt.base)
    return found


def reads_memory(state: State, stmt: Any) -> set[str]:
    """The arrays of which a statement reads elements, or that it gives to a function."""
    found: set[str] = set()
    for inner in ir.inside(stmt):
        for expr in ir.expressions(inner):
            for node in gast.walk(expr):
                if is_item(node):
                    found.add(node.value.id)
            found |= {n for n in given(expr, False) if isinstance(state.values.get(n), Grid)}
    return found


def given(expr: Any, called: bool) -> list[str]:
    """The names that an expression gives to functions (but those that only ask for a length) or has as indices."""
    if isinstance(expr, gast.Name):
        return [expr.id] if called else []
    if getattr(expr, "attr", "") == "shape" or isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len":
        return []
    if isinstance(expr, gast.Subscript):
        return [*given(expr.value, called), *given(expr.slice, True)]  # an array as an index is read
    called = called or isinstance(expr, gast.Call)
    return [name for inner in ir.children(expr) for name in given(inner, called)]


def is_item(node: Any) -> bool:
    """True if an expression is an element of an array of the program's, not of one of saved values."""
    return isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and ir.is_variable(node.value.id)


def touches(state: State, reads: set[str], written: set[str]) -> bool:
    return any(state.may_alias(a, b) for a in reads for b in written)


def compatible(state: State, first: ir.Loop, last: ir.Loop) -> bool:
    """True if each element that one loop writes is touched by the other in the same iteration only."""
    if {c.out for c in first.carries} & names_of([last]) or disturbs(first, last):
        return False
    x, y = accesses(first), accesses(last)
    for a, a_index, a_writes in x:
        for b, b_index, b_writes in y:
            same = a == b and gast.dump(a_index) == gast.dump(b_index) and moves(a_index)
            if (a_writes or b_writes) and state.may_alias(a, b) and not same:
                return False
    return True


def disturbs(first: ir.Loop, last: ir.Loop) -> bool:
    """True if one loop adds to one place of memory, while the other calls functions and would run several at a time."""
    return adds_up(first) != adds_up(last) and (calls(first) or calls(last))


def adds_up(loop: ir.Loop) -> bool:
    """True if a loop itself adds to a place that is the same in each iteration."""
    stores = [s for s in loop.body if isinstance(s, ir.Store) and s.aug is not None]
    return any(loop.index not in ir.names_in(s.index) for s in stores)


def calls(loop: ir.Loop) -> bool:
    exprs = [expr for stmt in loop.body for expr in ir.expressions(stmt)]
    return any(isinstance(node, gast.Call) for expr in exprs for node in gast.walk(expr))


def moves(index: Any) -> bool:
    """True if an index names another element in each iteration of the outermost loop."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(is_shifted(part) for part in parts)


def is_shifted(part: Any) -> bool:
    """True if an index is the outermost loop's variable, or that and a number."""
    if isinstance(part, gast.BinOp) and isinstance(part.op, (gast.Add, gast.Sub)):
        return isinstance(part.right, gast.Constant) and is_shifted(part.left)
    return isinstance(part, gast.Name) and part.id == "index0"


def accesses(loop: ir.Loop) -> list[tuple[str, Any, bool]]:
    """The elements that a loop touches: array, index with the loops' variables numbered, and whether it is written."""
    found: list[tuple[str, Any, bool]] = []

    def visit(block: ir.Block, numbered: dict[str, Any]) -> None:
        for stmt in block:
            inner = numbered
            if isinstance(stmt, ir.Loop):
                inner = {**numbered, stmt.index or "": ir.name(f"index{len(numbered)}")}
            if isinstance(stmt, ir.Store):
                found.append((stmt.base, ir.substitute(stmt.index, numbered), True))
            for expr in ir.expressions(stmt):
                for node in gast.walk(expr):
                    if is_item(node):
                        found.append((node.value.id, ir.substitute(node.slice, numbered), False))
            for body in ir.bodies(stmt):
                visit(body, inner)

    visit([loop], {})
    return found


def together(first: ir.Loop, last: ir.Loop) -> ir.Loop:
    """One loop that does what two did."""
    mapping = {last.index or "": ir.name(first.index or "")}
    body = [*first.body, *renamed(last.body, mapping)]
    result = ir.Loop("range", body, [*first.carries, *last.carries], first.index, first.bounds, origin=first.origin)
    result.axis = first.axis  # type: ignore[attr-defined]
    return result


def renamed(block: ir.Block, mapping: dict[str, Any]) -> ir.Block:
    """Statements of a loop over elements under another index."""
    for stmt in ir.walk(block):
        if isinstance(stmt, (ir.Let, ir.Effect)):
            stmt.expr = ir.substitute(stmt.expr, mapping)
        elif isinstance(stmt, ir.If):
            stmt.test = ir.substitute(stmt.test, mapping)
        elif isinstance(stmt, ir.Store):
            stmt.index, stmt.value = ir.substitute(stmt.index, mapping), ir.substitute(stmt.value, mapping)
        elif isinstance(stmt, ir.Loop):
            stmt.bounds = tuple(ir.substitute(b, mapping) for b in stmt.bounds)
    return block


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
        if not same or not differs(index, loop.index, defined):
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


def differs(index: Any, counter: str | None, defined: set[str]) -> bool:
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
