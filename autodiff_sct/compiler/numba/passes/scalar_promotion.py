"""Scalar promotion: a sum that an inner loop adds to one place of an array is kept in a variable.

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
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ..kinds import FLOAT64
from ..lowering.tape import assign, named
from ..lowering.tape_index import called
from ..state import State
from .affine import Form, constant_form, form_of, reads_memory
from .hoist_allocations import is_element

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
