"""Native tapes: places of saved values, and arrays saved as parts of one.

Places of saved values, by the loops that save them.

A loop that saves one value in each iteration counts them after itself, and one that takes them out before itself; in
between, the place is told by the loop's own index, and no iteration waits for the one before it:

    for i in range(n):                       for i in range(n):
        saved[np.uint64(used)] = x               saved[np.uint64(used + i)] = x
        used += 1                            used += n

Arrays that a loop saves, as parts of one array.

Arrays of one shape that a loop over a range makes and saves are made where they are saved, so that no iteration asks
for memory and no list holds them:

    for i in range(n):                       saved = reserve_parts(saved, used, n, (len(b),))
        t = np.empty(len(b))                 for i in range(n):
        ...                                      t = saved[used + i]
        saved.append(t)                          ...

The program must not write such an array after it was saved (`is_written`): if there has to be more room, what was
saved moves.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import roots_of
from ..kinds import BOOL, INT64, Axis, Grid
from ..passes.affine import Form, constant_form, proved
from ..passes.index_functions import over, place
from ..state import State


def by_index(state: State, body: ir.Block, index: str, low: Form, high: Form, step: int) -> tuple[ir.Block, ir.Block]:
    """Take the counting out of a loop over the whole numbers from `low` to `high`: what is to run before and after."""
    before: ir.Block = []
    after: ir.Block = []
    trips = high.plus(low, -1).plus(constant_form(1))
    number = trips.expr() if proved(state, trips) else ir.call("max", trips.expr(), ir.constant(0))
    at = Form(((index, 1, ir.name(index)),))
    for name, stmt in counted_once(body).items():
        adds = isinstance(stmt.expr.op, gast.Add)
        # What is saved first is taken out last.
        upwards = adds == (step == 1)
        offset = at.plus(low, -1) if upwards else high.plus(at, -1)
        place = ir.binop(ir.name(name), gast.Add, offset.expr()) if offset.expr() != 0 else ir.name(name)
        body.remove(stmt)
        for other in body:
            replace_in(other, {name: place})
        stmt.expr.value = number
        (after if adds else before).append(stmt)
    return before, after


def counted_once(body: ir.Block) -> dict[str, ir.Effect]:
    """The counters that each iteration moves by one, all in the block itself, with the statement that does it."""
    found: dict[str, list[ir.Effect]] = {}
    for stmt in body:
        if isinstance(stmt, ir.Effect) and isinstance(stmt.expr, gast.AugAssign):
            if isinstance(stmt.expr.value, gast.Constant) and stmt.expr.value.value == 1:
                found.setdefault(stmt.expr.target.id, []).append(stmt)
    inner = {
        n
        for s in body
        for block in ir.bodies(s)
        for t in ir.walk(block)
        for e in ir.expressions(t)
        for n in ir.names_in(e)
    }
    return {name: stmts[0] for name, stmts in found.items() if len(stmts) == 1 and name not in inner}


def replace_in(stmt: Any, mapping: dict[str, Any]) -> None:
    if isinstance(stmt, (ir.Let, ir.Effect)):
        stmt.expr = ir.substitute(stmt.expr, mapping)
    elif isinstance(stmt, ir.Store):
        stmt.index, stmt.value = ir.substitute(stmt.index, mapping), ir.substitute(stmt.value, mapping)


# The functions that put a product into the memory that they are given last.
PRODUCTS = ("matrix_vector", "vector_matrix", "matrix_matrix")


def may_be_parts(state: State, variable: str, value: Grid) -> bool:
    """True if what is saved in a list may be part of one array."""
    return (
        variable in state.together
        and state.scopes[-1].kind == "range"  # each iteration saves, so that the room is not made in vain
        and not any(scope.stops for scope in state.scopes)
        and all(is_lasting(state, axis) for axis in value.axes)
        and (not isinstance(value.view, gast.Name) or (is_fresh(state, value) and not is_written(state, value)))
    )


def is_lasting(state: State, axis: Axis) -> bool:
    """True if a length is the same wherever the program is."""
    return isinstance(axis.key, int) or axis.key in state.lengths


def is_fresh(state: State, value: Grid) -> bool:
    return made_here(state, value.view.id) is not None


def is_written(state: State, value: Grid) -> bool:
    facts = state.s.facts.get(value.view.id)
    return facts is not None and bool(roots_of(facts) & state.written)


def made_here(state: State, variable: str) -> ir.Let | None:
    """The statement of this block that makes the memory of an array, under whatever name."""
    lets = {stmt.targets[0]: stmt for stmt in state.out if isinstance(stmt, ir.Let)}
    stmt = lets.get(variable)
    while stmt is not None and isinstance(stmt.expr, gast.Name):
        stmt = lets.get(stmt.expr.id)
    return stmt if stmt is not None and called(stmt.expr) in ("empty", "zeros", *PRODUCTS) else None


def called(expr: Any) -> str:
    """The last name of the function that an expression calls."""
    if not isinstance(expr, gast.Call):
        return ""
    return str(getattr(expr.func, "attr", "") or getattr(expr.func, "id", ""))


def put_in_place(state: State, stmt: ir.Let, memory: Any) -> None:
    """Make an array in some memory instead of in new one."""
    name = called(stmt.expr)
    if name in PRODUCTS:
        stmt.expr = ir.call(name, *stmt.expr.args[:-1], memory)
        return
    stmt.expr = memory
    if name == "zeros":
        at = state.out.index(stmt) + 1
        state.out[at:at] = zeroed(state, stmt.targets[0])


def zeroed(state: State, variable: str) -> ir.Block:
    """Set an array to zero, element by element."""
    grid = state.values[variable]
    zero = ir.constant({BOOL: False, INT64: 0}.get(grid.dtype, 0.0))
    with state.writing() as out:
        over(state, grid.axes, lambda index: state.emit(ir.Store(variable, place(index), zero)))
    return out
