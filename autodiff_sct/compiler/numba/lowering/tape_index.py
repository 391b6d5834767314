"""Subscripts: numbers and parts out of arrays; places of saved values on native tapes.

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
from ...domain.facts import Dim
from ...ir.patterns import is_ellipsis, subscript_parts
from ..kinds import BOOL, INT64, ONE, Axis, Grid, Number, Value
from ..passes.affine import Form, check_index, constant_form, form_of, length_form, proved, require
from ..passes.index_functions import over
from ..state import State
from .scalars import constant_of


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
        over(state, grid.axes, lambda index: state.emit(ir.Store(variable, ir.whole_index(index), zero)))
    return out


def part(state: State, base: Grid, index: Any, number: Any) -> Value:
    """``base[index]``; `number` lowers the integers in it."""
    entries = subscript_parts(index)
    plain = [e for e in entries if not is_new(state, e) and not is_ellipsis(e)]
    if len(plain) > base.ndim:
        raise state.outside("more indices than axes")
    full = gast.Slice(None, None, None)
    rest = [full] * (base.ndim - len(plain))
    where = next((k for k, e in enumerate(entries) if is_ellipsis(e)), len(entries))
    entries = [*entries[:where], *rest, *[e for e in entries[where:] if not is_ellipsis(e)]]
    axes: list[Axis] = []
    moves: list[Any] = []  # for each axis of the base, the place there as a function of the index
    shown: list[Any] = []
    own = iter(base.axes)
    for entry in entries:
        if is_new(state, entry):
            axes.append(ONE)
            shown.append(ir.constant(None))
            continue
        axis = next(own)
        if isinstance(entry, gast.Slice):
            length, move = section(state, axis, entry, number)
            moves.append((len(axes), move))
            axes.append(length)
            shown.append(entry_shown(entry, number))
        else:
            place = whole_number(state, number(entry))
            check_index(state, place, axis)
            if not isinstance(base.view, gast.Name):
                place = from_start(state, place, axis)
            moves.append((None, constantly(place)))
            shown.append(place)

    def at(indices: list[Any]) -> Any:
        return base.at([move(indices[k] if k is not None else None) for k, move in moves])

    if not axes:
        return Number(base.at([move(None) for _, move in moves]), base.dtype, False)
    view = ir.subscript(base.view, shown[0] if len(shown) == 1 else ir.tuple_(shown)) if base.view is not None else None
    return Grid(tuple(axes), base.dtype, at, view)


def from_start(state: State, place: Any, axis: Axis) -> Any:
    """An index as one from the start: what is not in memory under a name is not told by places from the end."""
    form = form_of(state, place)
    if proved(state, form):
        return place
    other = length_form(state, axis).plus(form)
    if not form.terms:
        return other.expr()
    chosen = gast.IfExp(gast.Compare(place, [gast.Lt()], [ir.constant(0)]), other.expr(), place)
    return state.let(Number(chosen, INT64, True), "k").expr


def constantly(place: Any) -> Any:
    return lambda index: place


def is_new(state: State, entry: Any) -> bool:
    if isinstance(entry, gast.Constant):
        return entry.value is None
    return isinstance(entry, gast.Attribute) and entry.attr == "newaxis"


def whole_number(state: State, value: Value) -> Any:
    if not isinstance(value, Number) or value.dtype != INT64:
        raise state.outside("an index that is not a whole number")
    value = state.settled(value)
    return state.let(value, "k").expr if not simple(value.expr) else value.expr


def simple(expr: Any) -> bool:
    """True if an index may be written out as often as it is used."""
    parts = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context)
    return all(isinstance(n, parts) for n in gast.walk(expr))


def entry_shown(entry: Any, number: Any) -> Any:
    parts = [None if p is None else number(p).expr for p in (entry.lower, entry.upper, entry.step)]
    return gast.Slice(*parts)


def section(state: State, axis: Axis, entry: Any, number: Any) -> tuple[Axis, Any]:
    """The axis that a slice leaves, and where an index of it is in the axis that it cuts."""
    lower, upper, step = (None if p is None else number(p) for p in (entry.lower, entry.upper, entry.step))
    count = 1 if step is None else constant_of(step.expr)
    if count == -1 and lower is None and upper is None:
        last = length_form(state, axis).plus(constant_form(1), -1)
        return axis, lambda i: last.plus(form_of(state, i), -1).expr()
    if not isinstance(count, int) or count == 0:
        raise state.outside("a slice whose step is not known before the run")
    if axis.one and (lower is not None or upper is not None):
        raise state.outside("a slice of an axis of length 1")
    if lower is None and upper is None and count == 1:
        return axis, lambda i: i
    length = length_form(state, axis)
    if count < 0:
        last = length.plus(constant_form(1), -1)
        start = last if lower is None else bound(state, lower, length)
        stop = constant_form(-1) if upper is None else bound(state, upper, length)
        for form in (last.plus(start, -1), stop.plus(constant_form(1)), start.plus(stop, -1)):
            require(state, form)
        return stepped(state, start.plus(stop, -1), start, count)
    start = constant_form(0) if lower is None else bound(state, lower, length)
    stop = length if upper is None else bound(state, upper, length)
    # NumPy cuts slices off at the ends; here they have to lie inside.
    for form in (start, length.plus(stop, -1), stop.plus(start, -1)):
        require(state, form)
    size = stop.plus(start, -1)
    if count > 1:
        return stepped(state, size, start, count)
    result = Axis(size.expr(), key_of(axis, size, length), not size.terms and size.constant == 1)
    return result, lambda i: shifted(state, i, start)


def stepped(state: State, size: Form, start: Form, count: int) -> tuple[Axis, Any]:
    """The axis that each `count`-th place of a section leaves, from its end where that is negative."""
    step = abs(count)
    if not size.terms:
        length: Any = ir.constant(-(-size.constant // step))
        key: Any = length.value
    else:
        whole = size.plus(constant_form(step - 1)).expr()
        length = state.let(Number(ir.binop(whole, gast.FloorDiv, ir.constant(step)), INT64, True), "n").expr
        key = ("step", step, tuple(sorted((repr(k), c) for k, c, _ in size.terms)), size.constant)
    return Axis(length, key, key == 1), lambda i: form_of(state, i).times(count).plus(start).expr()


def shifted(state: State, index: Any, start: Form) -> Any:
    if not start.terms and start.constant == 0:
        return index
    return form_of(state, index).plus(start).expr()


def bound(state: State, value: Number, length: Form) -> Form:
    """The end of a slice as a place: a negative literal counts from the end."""
    if value.dtype != INT64:
        raise state.outside("a slice that is not of whole numbers")
    value = state.settled(value)
    constant = constant_of(value.expr)
    if constant is not None and constant < 0:
        return length.plus(constant_form(int(constant)))
    form = form_of(state, value.expr if simple(value.expr) else state.let(value, "k").expr)
    require(state, form)
    return form


def key_of(axis: Axis, size: Form, length: Form) -> Any:
    """The key of a length: an offset from the whole axis, or the sum that it is."""
    if not size.terms:
        return size.constant
    difference = size.plus(length, -1)
    if not difference.terms:
        if difference.constant == 0:
            return axis.key
        if isinstance(axis.key, Dim):
            return Dim(axis.key.symbol, axis.key.offset + difference.constant)
        return ("cut", axis.key, difference.constant)
    return ("sum", tuple(sorted((repr(k), c) for k, c, _ in size.terms)), size.constant)


def transposed(grid: Grid, order: list[int], view: Any) -> Grid:
    """The axes of an array in another order."""
    inverse = {axis: k for k, axis in enumerate(order)}
    axes = tuple(grid.axes[axis] for axis in order)
    return Grid(axes, grid.dtype, lambda index: grid.at([index[inverse[k]] for k in range(grid.ndim)]), view)


def expanded(grid: Grid, axis: int) -> Grid:
    """An array with a new axis of length 1."""
    place = axis % (grid.ndim + 1)
    axes = (*grid.axes[:place], ONE, *grid.axes[place:])
    view = None if grid.view is None else ir.call("np.expand_dims", grid.view, ir.constant(axis))
    return Grid(axes, grid.dtype, lambda index: grid.at([*index[:place], *index[place + 1 :]]), view)
