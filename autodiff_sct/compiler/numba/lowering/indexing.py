"""Subscripts: numbers out of arrays, and parts of arrays as arrays."""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...domain.facts import Dim
from ...ir.patterns import is_ellipsis, subscript_parts
from ..kinds import INT64, ONE, Axis, Grid, Number, Value
from ..passes.affine import Form, check_index, constant_form, form_of, length_form, proved, require
from ..state import State
from .scalars import constant_of


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
