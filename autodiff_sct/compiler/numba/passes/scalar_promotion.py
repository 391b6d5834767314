"""Memory out of loops: sums at one place of an array as variables, and arrays made once for all iterations.

The compiler behind does not know that two arrays share no memory, so it would store each sum before it reads the next
element, and make no vector code.

    for j in range(k + 1, n):                    total = 0.0
        d_t = -d_A[i, j]                         for j in range(k + 1, n):
        d_A[k, j] += d_t * A[i, k]                   d_t = -d_A[i, j]
        d_A[i, k] += d_t * A[k, j]       ->          d_A[k, j] += d_t * A[i, k]
                                                     total += d_t * A[k, j]
                                                 if total != 0.0:
                                                     d_A[i, k] += total

Everything else in the loop has to touch other arrays or other places: places are other ones if they differ on some axis
by a constant, in every iteration.  A loop that does not run touches nothing, so that a zero is not added.

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
from ...frontend.builders import assign
from ..kinds import FLOAT64, Grid
from ..lowering.tape import named, row_of
from ..lowering.tape_index import PRODUCTS, called, zeroed
from ..state import State
from .affine import Form, constant_form, form_of, reads_memory

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
            result += taken_before(state, stmt, beyond, small)
        result.append(stmt)
    return result


def taken_before(state: State, loop: ir.Loop, beyond: set[str], small: bool) -> ir.Block:
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


Ranges = dict[str, tuple[Form, Form]]  # the index of a loop -> its least and greatest value


def accumulated(state: State, block: ir.Block, ranges: Ranges) -> None:
    """Rewrite the inner loops of a block; `ranges` are those of the loops around."""
    for stmt in list(block):
        if not isinstance(stmt, ir.Loop):
            for inner in ir.bodies(stmt):
                accumulated(state, inner, ranges)
            continue
        here = {**ranges, **range_of(state, stmt)}
        accumulated(state, stmt.body, here)
        if stmt.index in here and stmt.stop is None and not any(isinstance(x, ir.Loop) for x in ir.walk(stmt.body)):
            before, after = taken_out(state, stmt, here)
            place = block.index(stmt)
            block[place : place + 1] = [*before, stmt, *after]


def range_of(state: State, loop: ir.Loop) -> Ranges:
    """The least and the greatest value of a loop's index, where its step is 1 or -1."""
    if loop.kind != "range" or loop.index is None:
        return {}
    bounds = [form_of(state, b) for b in loop.bounds]
    start, stop = (constant_form(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) > 2 else constant_form(1)
    if step.terms or step.constant not in (1, -1):
        return {}
    last = stop.plus(constant_form(step.constant), -1)
    return {loop.index: (start, last) if step.constant == 1 else (last, start)}


def taken_out(state: State, loop: ir.Loop, ranges: Ranges) -> tuple[ir.Block, ir.Block]:
    """Add up what a loop adds to places that stay the same: what is to run before and after it."""
    inside = list(ir.walk(loop.body))
    changing = ir.defined_in(loop) | {n for stmt in inside for n in assigned_by(stmt)}
    before: ir.Block = []
    after: ir.Block = []
    names: dict[tuple[str, str], str] = {}
    for stmt in [s for s in inside if isinstance(s, ir.Store) and may_wait(state, s, changing)]:
        place = (stmt.base, gast.dump(stmt.index))
        if place not in names:
            if not all(is_apart(state, stmt, other, loop, ranges) for other in inside):
                continue
            names[place] = named(state, "total")
            total = ir.name(names[place])
            before.append(ir.Effect(assign(names[place], ir.constant(0.0)), stmt.origin))
            test = gast.Compare(total, [gast.NotEq()], [ir.constant(0.0)])
            put = ir.Store(stmt.base, stmt.index, total, gast.Add, stmt.origin)
            after.append(ir.If(test, [put], [], [], stmt.origin))
        assert stmt.aug is not None
        added = gast.AugAssign(gast.Name(names[place], gast.Store(), None, None), stmt.aug(), stmt.value)
        replace_in(loop.body, stmt, ir.Effect(added, stmt.origin))
    return before, after


def replace_in(block: ir.Block, old: Any, new: Any) -> None:
    for k, stmt in enumerate(block):
        if stmt is old:
            block[k] = new
        for inner in ir.bodies(stmt):
            replace_in(inner, old, new)


def assigned_by(stmt: Any) -> list[str]:
    """The variables that an assignment without a definition changes."""
    expr = stmt.expr if isinstance(stmt, ir.Effect) else None
    targets = (
        expr.targets if isinstance(expr, gast.Assign) else [expr.target] if isinstance(expr, gast.AugAssign) else []
    )
    return [n.id for t in targets for n in (t.elts if isinstance(t, gast.Tuple) else [t]) if isinstance(n, gast.Name)]


def may_wait(state: State, stmt: ir.Store, changing: set[str]) -> bool:
    """True if a statement adds a float to a place that is the same in every iteration."""
    fixed = changing.isdisjoint([stmt.base, *ir.names_in(stmt.index)]) and not reads_memory(stmt.index)
    kind = state.kinds.get(stmt.base)
    element = is_element(state, ir.subscript(ir.name(stmt.base), stmt.index))
    return fixed and element and stmt.aug in (gast.Add, gast.Sub) and isinstance(kind, tuple) and kind[0] == FLOAT64


def is_apart(state: State, stmt: ir.Store, other: Any, loop: ir.Loop, ranges: Ranges) -> bool:
    """True if a statement of a loop leaves alone the place to which another adds, but to add to it."""
    places = [(other.base, other.index)] if isinstance(other, ir.Store) else []
    if places and other.aug in (gast.Add, gast.Sub) and same_place(stmt, other):
        places = []
    exprs = ir.expressions(other)
    if any(state.may_alias(stmt.base, n) for e in exprs for n in as_wholes(state, e)):
        return False
    nodes = [n for e in exprs for n in ir.nodes(e) if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name)]
    places += [
        (n.value.id, n.slice) for n in nodes if n.value.id in state.s.facts
    ]  # saved values have memory of their own
    return all(
        not state.may_alias(stmt.base, base)
        or (base == stmt.base and differ(state, stmt.index, index, str(loop.index), ranges))
        for base, index in places
    )


def as_wholes(state: State, expr: Any) -> list[str]:
    """The arrays in an expression of which more than single elements and lengths are read or written."""
    if isinstance(expr, gast.Name):
        return [expr.id] if isinstance(state.kinds.get(expr.id), tuple) else []
    if isinstance(expr, gast.Attribute) and expr.attr == "shape" or called(expr) == "len":
        return []
    if isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name) and is_element(state, expr):
        return as_wholes(state, expr.slice)
    return [name for inner in ir.children(expr) for name in as_wholes(state, inner)]


def same_place(a: ir.Store, b: ir.Store) -> bool:
    return a.base == b.base and gast.dump(a.index) == gast.dump(b.index)


def differ(state: State, a: Any, b: Any, index: str, ranges: Ranges) -> bool:
    """True if two places are never the same; `b` may change with the index of the loop."""
    pairs = zip(*(i.elts if isinstance(i, gast.Tuple) else [i] for i in (a, b)))
    return any(differ_on_axis(form_of(state, x), form_of(state, y), index, ranges) for x, y in pairs)


def differ_on_axis(a: Form, b: Form, index: str, ranges: Ranges) -> bool:
    low, high = (at_end(b.plus(a, -1), index, ranges, end) for end in (0, 1))
    apart = (not low.terms and low.constant > 0) or (not high.terms and high.constant < 0)
    return apart and at_least_zero(a, ranges) and at_least_zero(b, ranges)  # negative ones count from the other end


def at_end(form: Form, index: str, ranges: Ranges, end: int) -> Form:
    """The least or the greatest value of a sum over the iterations of a loop."""
    key = gast.dump(ir.name(index))
    factor = form.factor(key)
    return form if factor == 0 else form.without(key).plus(ranges[index][end if factor > 0 else 1 - end], factor)


def at_least_zero(form: Form, ranges: Ranges) -> bool:
    for index in reversed(ranges):
        form = at_end(form, index, ranges, 0)
    return not form.terms and form.constant >= 0
