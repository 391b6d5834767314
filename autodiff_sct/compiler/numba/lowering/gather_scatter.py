"""Subscripts by arrays: places named by whole numbers or by truth values, read and written one after the other."""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import Any

import gast

from ... import ir
from ...domain.facts import INT
from ...frontend.builders import assign
from ...ir.patterns import is_ellipsis, subscript_parts
from ..kinds import BOOL, FLOAT32, FLOAT64, INT64, Axis, Grid, Number, Value
from ..passes.index_functions import (
    along,
    broadcast,
    fitted,
    in_order,
    made,
    make,
    new_array,
    over,
    store,
    store_item,
    to_number,
)
from ..state import State
from .expressions import arithmetic, lower, number, resolved
from .tape import named
from .tape_index import is_new, part, section


def arrays_of(state: State, index: Any) -> dict[int, Grid]:
    """The arrays among the entries of a subscript, by their place."""
    found = {}
    for k, entry in enumerate(subscript_parts(index)):
        plain = isinstance(entry, (gast.Slice, gast.Constant)) or is_new(state, entry) or is_slice(state, entry)
        value = None if plain else lower(state, entry)
        if isinstance(value, Grid):
            found[k] = value
    return found


def is_slice(state: State, entry: Any) -> bool:
    """True if an entry is ``slice(...)``."""
    return isinstance(entry, gast.Call) and resolved(state, entry.func) is builtins.slice


def as_slice(state: State, entry: Any) -> Any:
    """A slice as one writes it in a subscript."""
    if not is_slice(state, entry):
        return entry
    parts = [None if isinstance(a, gast.Constant) and a.value is None else a for a in entry.args]
    first, second, *rest = parts if len(parts) > 1 else [None, *parts]
    return gast.Slice(first, second, rest[0] if rest else None)


def gathered(state: State, base: Grid, index: Any, arrays: dict[int, Grid], written: str | None = None) -> Grid:
    """``base[index]`` where some entries are arrays of whole numbers; its elements are those of the base itself.

    `written` is the array that is about to be written at these places, if one is.
    """
    entries = [as_slice(state, entry) for entry in subscript_parts(index)]
    if any(is_ellipsis(e) or is_new(state, e) for e in entries) or len(entries) > base.ndim:
        raise state.outside("a subscript of arrays with new axes")
    chosen = sorted(arrays)
    if any(arrays[k].dtype != INT64 for k in chosen) or chosen[-1] - chosen[0] + 1 != len(chosen):
        raise state.outside("a subscript of several arrays apart from each other")
    if any(k not in arrays and not isinstance(e, gast.Slice) for k, e in enumerate(entries)):
        raise state.outside("a subscript of arrays and numbers")
    base = made(state, base)
    places = [checked(state, arrays[k], base.axes[k], written) for k in chosen]
    among = broadcast(state, places)
    entries += [gast.Slice(None, None, None)] * (base.ndim - len(entries))
    first = chosen[0]  # what stands before are slices, which keep one axis each
    axes: list[Axis] = []
    moves: list[Any] = []
    for k, entry in enumerate(entries):
        if k == first:
            axes += among
        if k in arrays:
            moves.append(taken(places[chosen.index(k)], first, len(among)))
        else:
            axis, move = section(state, base.axes[k], entry, lambda e: number(state, e))
            moves.append(at_axis(move, len(axes)))
            axes.append(axis)
    return Grid(tuple(axes), base.dtype, lambda i: base.at([move(i) for move in moves]), copied=True)


def taken(places: Grid, first: int, count: int) -> Any:
    """The place that an array names, as a function of the index of the result."""
    return lambda index: fitted(places, index[first : first + count])


def at_axis(move: Any, axis: int) -> Any:
    return lambda index: move(index[axis])


def checked(state: State, places: Grid, axis: Axis, written: str | None) -> Grid:
    """An array of places in memory, all of them inside an axis; in memory of its own where that may be written."""
    if written is not None and isinstance(places.view, gast.Name) and state.may_alias(written, places.view.id):
        places = make(state, places, state.s.fresh("t", INT))
    places = made(state, places)
    state.imported.add("inside")
    state.check(ir.call("inside", places.view, axis.length))
    return places


def compressed(state: State, base: Grid, mask: Grid) -> Grid:
    """``base[mask]``: the elements where a mask of the same shape holds."""
    same_shape(state, base, mask)
    variable = state.s.fresh("t", INT)
    flat = [
        ir.call(ir.attribute(in_order(state, x).view, "ravel")) if x.ndim > 1 else made(state, x).view
        for x in (base, mask)
    ]
    state.emit(ir.Let((variable,), ir.subscript(flat[0], flat[1])))
    return state.array(variable, (Axis(None, (variable, 0)),), base.dtype, True)


def same_shape(state: State, base: Grid, mask: Grid) -> None:
    if base.ndim != mask.ndim or any(a.one != b.one for a, b in zip(base.axes, mask.axes)):
        raise state.outside("a mask of another shape")
    for a, b in zip(base.axes, mask.axes):
        if not a.one:
            state.same_length(a, b)


def read(state: State, base: Grid, index: Any) -> Grid | None:
    """The value of a subscript by arrays; None if there are none in it."""
    arrays = arrays_of(state, index)
    if not arrays:
        return None
    if arrays.get(0) is not None and arrays[0].dtype == BOOL and len(subscript_parts(index)) == 1:
        return compressed(state, base, arrays[0])
    return gathered(state, base, index, arrays)


def written(state: State, base: str, target: Grid, index: Any, value: Value, aug: type | None) -> bool:
    """Store into a subscript by arrays; False if there are none in it."""
    arrays = arrays_of(state, index)
    if not arrays:
        return False
    if arrays.get(0) is not None and arrays[0].dtype == BOOL and len(subscript_parts(index)) == 1:
        store_masked(state, target, arrays[0], value, aug)
        return True
    places = gathered(state, target, index, arrays, base)
    if aug is not None:  # of places that are named twice, the last result stays
        value = arithmetic(state, aug, places, value)
    scatter(state, base, places, value, None)
    return True


def scatter(state: State, base: str, places: Grid, value: Value, aug: type | None) -> None:
    """Store one element after the other: of places that are named twice, what comes last stays, or all is added."""
    if isinstance(value, Grid):
        value = make(state, value, state.s.fresh("t", INT))
    store(state, base, places, value, aug)


def added(state: State, args: list[Any], op: type = gast.Add) -> None:
    """``add_at(shadow, index, cotangent)``; ``np.add.at`` and ``np.subtract.at``."""
    shadow, value = lower(state, args[0]), lower(state, args[2])
    if not isinstance(shadow, Grid) or not isinstance(shadow.view, gast.Name) or not isinstance(value, (Grid, Number)):
        raise state.outside("a derivative that is no array")
    arrays = arrays_of(state, args[1])
    if not arrays:
        raise state.outside("an index that is not known before the run")
    if arrays.get(0) is not None and arrays[0].dtype == BOOL and len(subscript_parts(args[1])) == 1:
        return store_masked(state, shadow, arrays[0], value, op)
    scatter(state, shadow.view.id, gathered(state, shadow, args[1], arrays, shadow.view.id), value, op)


def stored(state: State, args: list[Any], keywords: dict[str, Any]) -> Value:
    """``stored(shadow, index)``: what lies at some places, zero where another one names the same place later."""
    shadow = lower(state, args[0])
    if not isinstance(shadow, Grid):
        raise state.outside("a derivative that is no array")
    arrays = arrays_of(state, args[1])
    if not arrays:
        value = part(state, shadow, args[1], lambda e: number(state, e))
        return replace(value, copied=True) if isinstance(value, Grid) else value
    if all(grid.dtype == BOOL for grid in arrays.values()):
        value = read(state, shadow, args[1])
        assert value is not None
        return value
    if list(arrays) != [0] or arrays[0].ndim != 1 or len(subscript_parts(args[1])) != 1:
        raise state.outside("places named by several arrays, some of them perhaps twice")
    places = checked(state, arrays[0], shadow.axes[0], None)
    value = gathered(state, shadow, args[1], arrays)
    last = new_array(state, state.s.fresh("last", INT), (shadow.axes[0],), INT64)
    along(state, places.axes[0], lambda i: state.emit(ir.Store(last.view.id, places.at(i), i[0])))
    zero = ir.call(f"np.{value.dtype.name}", ir.constant(0)) if value.dtype == FLOAT32 else ir.constant(0.0)

    def at(index: list[Any]) -> Any:
        own = ir.subscript(last.view, places.at(index[:1]))
        return gast.IfExp(gast.Compare(own, [gast.Eq()], [index[0]]), value.at(index), zero)

    return Grid(value.axes, value.dtype, at, copied=True)


def from_gather(state: State, args: list[Any], keywords: dict[str, Any]) -> Value:
    """``gather_adjoint(cotangent, x, index)``: zeros like `x`, to which the shares are added."""
    pattern = lower(state, args[1])
    if not isinstance(pattern, Grid):
        raise state.outside("a derivative that is no array")
    variable = state.s.fresh("t", INT)
    shadow = new_array(state, variable, pattern.axes, pattern.dtype if pattern.dtype.kind == "f" else FLOAT64, "zeros")
    value = lower(state, args[0])
    arrays = arrays_of(state, args[2])
    if not arrays or any(grid.dtype != INT64 for grid in arrays.values()):
        raise state.outside("an index that is not known before the run")
    scatter(state, variable, gathered(state, shadow, args[2], arrays), value, gast.Add)
    return shadow


def diagonal(state: State, args: list[Any], keywords: dict[str, Any]) -> Value:
    """``diag``, ``diagonal`` of a square matrix; ``diag`` of a vector."""
    value = lower(state, args[0])
    if len(args) != 1 or keywords or not isinstance(value, Grid) or value.ndim > 2:
        raise state.outside("a diagonal with options")
    if value.ndim == 2:
        a, b = value.axes
        if not (a.one and b.one):
            state.same_length(a, b)
        return Grid((a,), value.dtype, lambda i: value.at([i[0], i[0]]), copied=True)
    zero = ir.call(f"np.{value.dtype.name}", ir.constant(0)) if value.dtype.kind == "f" else ir.constant(0)

    def at(index: list[Any]) -> Any:
        i, j = index
        return gast.IfExp(gast.Compare(i, [gast.Eq()], [j]), value.at([i]), zero)

    return Grid((value.axes[0],) * 2, value.dtype, at)


def trace(state: State, args: list[Any], keywords: dict[str, Any]) -> Value:
    value = diagonal(state, args, keywords)
    if value.ndim != 1:
        raise state.outside("the trace of something else than a matrix")
    return to_number(state, "sum", value)


def store_masked(state: State, target: Grid, mask: Grid, value: Value, aug: type | None) -> None:
    """Store where a mask holds: one number, or one element of an array after the other."""
    same_shape(state, target, mask)
    mask = make(state, mask, state.s.fresh("mask", INT))
    counter = None
    if isinstance(value, Number):
        value = state.let(value)
    elif value.ndim == 1 and not value.axes[0].one:
        value = make(state, value, state.s.fresh("t", INT))
        state.check(gast.Compare(to_number(state, "sum", mask).expr, [gast.Eq()], [value.axes[0].length]))
        counter = named(state, "taken")
        state.emit(ir.Effect(assign(counter, ir.constant(0))))
    else:
        raise state.outside("an array stored where a mask holds")

    def body(index: list[Any]) -> None:
        with state.writing() as then:
            item = value if counter is None else Number(value.at([ir.name(counter)]), value.dtype)
            store_item(state, target, index, item, aug)
            if counter is not None:
                place = gast.Name(counter, gast.Store(), None, None)
                state.emit(ir.Effect(gast.AugAssign(place, gast.Add(), ir.constant(1))))
        state.emit(ir.If(mask.at(index), then, [], []))

    over(state, target.axes, body)
