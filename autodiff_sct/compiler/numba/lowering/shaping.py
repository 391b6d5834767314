"""Arrays in other shapes, put together, and made from rules."""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...domain.facts import INT
from ..kinds import FLOAT64, INT64, ONE, Axis, Bundle, Grid, Number, Value
from ..passes.index_functions import added_lengths, in_order, new_array, size_expr, store
from ..state import State
from .constructors import axis_of, stacked
from .expressions import arithmetic, dtype_of, lower, number, operands
from .reductions import Arguments, Keywords, in_dtype
from .scalars import cast, constant_of
from .tape_index import transposed


def reshaped(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``reshape``: of an array in order, the same memory; else of a copy, which nobody may write through."""
    if keywords or len(args) < 2:
        raise state.outside("a reshape with options")
    value = lower(state, args[0])
    if not isinstance(value, Grid):
        raise state.outside("a number in another shape")
    given = lower(state, args[1]) if len(args) == 2 else Bundle(tuple(lower(state, a) for a in args[1:]))
    items = [
        state.let(i) if isinstance(i, Number) else i for i in (given.items if isinstance(given, Bundle) else (given,))
    ]
    return in_shape(state, value, items)


def in_shape(state: State, value: Grid, items: list[Any]) -> Grid:
    """An array in the shape of some numbers, one of which may be -1."""
    if not items or not all(isinstance(i, Number) and i.dtype == INT64 for i in items):
        raise state.outside("a shape that is not of whole numbers")
    size = state.let(Number(size_expr(value), INT64, True), "n")
    open_ = [k for k, i in enumerate(items) if constant_of(i.expr) == -1]
    known: Any = ir.constant(1)
    for k, item in enumerate(items):
        if k not in open_:
            known = item.expr if constant_of(known) == 1 else ir.binop(known, gast.Mult, item.expr)
    if open_:
        state.check(gast.Compare(ir.constant(0), [gast.Lt()], [known]))
        items[open_[0]] = state.let(Number(ir.binop(size.expr, gast.FloorDiv, known), INT64, True), "n")
        known = ir.binop(known, gast.Mult, items[open_[0]].expr)
    axes = tuple(axis_of(state, item) for item in items)
    state.check(gast.Compare(known, [gast.Eq()], [size.expr]))
    own = value.contiguous and isinstance(value.view, gast.Name)
    source = in_order(state, value)
    variable = state.s.fresh(state.s.hints.get(source.view.id, "t"), INT)
    shape = ir.tuple_([axis.length for axis in axes])
    state.emit(ir.Let((variable,), ir.call(ir.attribute(source.view, "reshape"), shape)))
    state.share(variable, source.view.id)
    result = state.array(variable, axes, value.dtype, True)
    return result if own else Grid(result.axes, result.dtype, result.at, result.view, True, detached=True)


def flattened(copied: bool) -> Any:
    """``ravel``, ``flatten``."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        value = lower(state, args[0])
        if len(args) > 1 or keywords or not isinstance(value, Grid):
            raise state.outside("a flattened array with options")
        result = in_shape(state, value, [Number(ir.constant(-1), INT64, True, 1)])
        return Grid(result.axes, result.dtype, result.at, copied=True) if copied else result

    return handler


def squeezed(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``squeeze``: axes that are known to have length 1 are left out."""
    value = lower(state, args[0])
    if not isinstance(value, Grid):
        return value
    given = keywords.get("axis", args[1] if len(args) > 1 else None)
    if given is None:
        raise state.outside("a squeeze of axes that are not named")
    chosen = [constant_of(e) for e in (given.elts if isinstance(given, gast.Tuple) else [given])]
    if not all(isinstance(k, int) for k in chosen):
        raise state.outside("an axis that is not known before the run")
    dropped = {int(k) % value.ndim for k in chosen}  # type: ignore[arg-type]
    if not all(value.axes[k].one for k in dropped):
        raise state.outside("a squeeze of an axis whose length is not known before the run")
    kept = [k for k in range(value.ndim) if k not in dropped]

    def at(index: list[Any]) -> Any:
        full: list[Any] = [ir.constant(0)] * value.ndim
        for k, i in zip(kept, index):
            full[k] = i
        return value.at(full)

    if not kept:
        return Number(at([]), value.dtype, False)
    full = gast.Slice(None, None, None)
    places = [full if k in kept else ir.constant(0) for k in range(value.ndim)]
    view = None if value.view is None else ir.subscript(value.view, ir.tuple_(places))
    return Grid(tuple(value.axes[k] for k in kept), value.dtype, at, view)


def swapped(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``swapaxes``."""
    value = lower(state, args[0])
    places = [constant_of(a) for a in args[1:]]
    if not isinstance(value, Grid) or keywords or len(places) != 2 or not all(isinstance(k, int) for k in places):
        raise state.outside("swapaxes with options")
    order = list(range(value.ndim))
    a, b = (int(k) % value.ndim for k in places)  # type: ignore[arg-type]
    order[a], order[b] = order[b], order[a]
    view = None if value.view is None else ir.call("np.transpose", value.view, ir.constant(tuple(order)))
    return transposed(value, order, view)


def as_array(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``asarray``: what is an array already stays it."""
    if set(keywords) - {"dtype"} or len(args) > 2:
        raise state.outside("asarray with options")
    value = lower(state, args[0])
    if isinstance(value, Bundle):
        value = stacked(state, value)
    operands(state, value)
    dtype = keywords.get("dtype", args[1] if len(args) > 1 else None)
    if isinstance(value, Number) and value.python is not False:
        raise state.outside("an array of rank 0")
    wanted = value.dtype if dtype is None else dtype_of(state, dtype)
    return value if wanted == value.dtype else in_dtype(state, value, wanted)


def ones_where(op: type) -> Any:
    """``eye``, ``identity`` and ``tri``: ones in the columns that stand so to the row."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside("an identity matrix or a triangle of ones with options")
        axis = axis_of(state, number(state, args[0]))

        def at(index: list[Any]) -> Any:
            row, column = index
            return gast.IfExp(gast.Compare(column, [op()], [row]), ir.constant(1.0), ir.constant(0.0))

        return Grid((axis, axis), FLOAT64, at)

    return handler


def counted(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``arange``: between floats, the gap is that between the first two as they are rounded."""
    values = [number(state, a) for a in args]
    if keywords or len(values) not in (1, 2, 3) or not all(v.dtype in (INT64, FLOAT64) for v in values):
        raise state.outside("arange with options")
    zero, one = (Number(ir.constant(k), INT64, True) for k in (0, 1))
    values = [zero, *values] if len(values) == 1 else values
    start, stop, step = [*values, one][:3]
    if all(v.dtype == INT64 for v in values):
        return counted_whole(state, start, stop, step)
    start, stop, step = (state.let(cast(v, FLOAT64)) for v in (start, stop, step))
    state.check(gast.Compare(step.expr, [gast.NotEq()], [ir.constant(0)]))
    span = arithmetic(state, gast.Sub, stop, start)
    count = ir.call("int", ir.call("np.ceil", ir.binop(span.expr, gast.Div, step.expr)))
    gap = state.let(arithmetic(state, gast.Sub, arithmetic(state, gast.Add, start, step), start))
    return Grid(
        (long_enough(state, count),),
        FLOAT64,
        lambda index: ir.binop(start.expr, gast.Add, ir.binop(index[0], gast.Mult, gap.expr)),
    )


def counted_whole(state: State, start: Number, stop: Number, step: Number) -> Grid:
    """``arange`` of whole numbers."""
    if constant_of(start.expr) == 0 and constant_of(step.expr) == 1:
        return Grid((axis_of(state, stop),), INT64, lambda index: index[0])
    start, stop, step = map(state.let, (start, stop, step))
    if constant_of(step.expr) == 1:
        count = ir.binop(stop.expr, gast.Sub, start.expr)
        return Grid((long_enough(state, count),), INT64, lambda index: ir.binop(start.expr, gast.Add, index[0]))
    state.check(gast.Compare(step.expr, [gast.NotEq()], [ir.constant(0)]))
    back = ir.binop(ir.binop(start.expr, gast.Sub, stop.expr), gast.FloorDiv, step.expr)
    return Grid(
        (long_enough(state, gast.UnaryOp(gast.USub(), back)),),
        INT64,
        lambda index: ir.binop(start.expr, gast.Add, ir.binop(index[0], gast.Mult, step.expr)),
    )


def long_enough(state: State, count: Any) -> Axis:
    """An axis of so many numbers, of which there are not less than none."""
    length = state.let(Number(count, INT64, True), "n")
    state.check(gast.Compare(ir.constant(0), [gast.LtE()], [length.expr]))
    return axis_of(state, length)


def spaced(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``linspace``."""
    if keywords or len(args) != 3:
        raise state.outside("linspace with options")
    first, last, count = (state.let(number(state, a)) for a in args)
    axis = axis_of(state, count)
    state.check(gast.Compare(ir.constant(1), [gast.Lt()], [axis.length]))
    gaps = Number(ir.binop(axis.length, gast.Sub, ir.constant(1)), INT64, True)
    width = arithmetic(state, gast.Sub, last, first)
    step = state.let(arithmetic(state, gast.Mult, Number(ir.constant(1.0), FLOAT64, False), width))
    step = state.let(Number(ir.binop(step.expr, gast.Div, gaps.expr), FLOAT64, False))

    def at(index: list[Any]) -> Any:
        inner = ir.binop(first.expr, gast.Add, ir.binop(index[0], gast.Mult, step.expr))
        return gast.IfExp(gast.Compare(index[0], [gast.Eq()], [gaps.expr]), ir.call("float", last.expr), inner)

    return Grid((axis,), FLOAT64, at)


# -- put together


def parts_of(state: State, args: Arguments) -> list[Any]:
    value = lower(state, args[0])
    items = list(value.items) if isinstance(value, Bundle) else []
    if not items or not all(isinstance(item, Grid) for item in items):
        raise state.outside("arrays put together of which it is not known before the run how many there are")
    if len({(item.dtype, item.ndim) for item in items}) > 1:
        raise state.outside("arrays of several kinds put together")
    return items


def place_given(state: State, args: Arguments, keywords: Keywords, ndim: int) -> int:
    given = keywords.get("axis", args[1] if len(args) > 1 else ir.constant(0))
    place = constant_of(given)
    if set(keywords) - {"axis"} or not isinstance(place, int) or not -ndim <= place < ndim:
        raise state.outside("an axis that is not known before the run")
    return place % ndim


def concatenated(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``concatenate``."""
    items = parts_of(state, args)
    along = place_given(state, args, keywords, items[0].ndim)
    for other in items[1:]:
        for k, (a, b) in enumerate(zip(items[0].axes, other.axes)):
            if k != along and a.one != b.one:
                raise state.outside("arrays of several shapes put together")
            if k != along and not a.one:
                state.same_length(a, b)
    starts: list[Any] = [ir.constant(0)]
    for item in items:
        total = added_lengths(starts[-1], item.axes[along].length)
        starts.append(state.let(Number(total, INT64, True), "n").expr)
    axes = list(items[0].axes)
    axes[along] = axis_of(state, Number(starts[-1], INT64, True))
    result = new_array(state, state.s.fresh("t", INT), tuple(axes), items[0].dtype)
    for start, item in zip(starts, items):
        store(state, result.view.id, moved(result, item, along, start), item, None)
    return result


def moved(result: Grid, item: Grid, along: int, start: Any) -> Grid:
    """The part of an array that an item is put into."""

    def at(index: list[Any]) -> Any:
        place = index[along] if constant_of(start) == 0 else ir.binop(start, gast.Add, index[along])
        return result.at([*index[:along], place, *index[along + 1 :]])

    return Grid(item.axes, result.dtype, at)


def piled(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``stack`` of arrays along a new axis."""
    items = parts_of(state, args)
    return pile(state, items, place_given(state, args, keywords, items[0].ndim + 1))


def pile(state: State, items: list[Any], along: int) -> Grid:
    for other in items[1:]:
        for a, b in zip(items[0].axes, other.axes):
            if a.one != b.one:
                raise state.outside("arrays of several shapes put together")
            if not a.one:
                state.same_length(a, b)
    count = len(items)
    axis = ONE if count == 1 else Axis(ir.constant(count), count)
    axes = (*items[0].axes[:along], axis, *items[0].axes[along:])
    result = new_array(state, state.s.fresh("t", INT), axes, items[0].dtype)
    for k, item in enumerate(items):
        part = Grid(item.axes, item.dtype, lambda i, k=k: result.at([*i[:along], ir.constant(k), *i[along:]]))  # type: ignore[misc]
        store(state, result.view.id, part, item, None)
    return result


def triangle(lower_part: bool) -> Any:
    """``tril``, ``triu``."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        value = lower(state, args[0])
        shift = constant_of(keywords.get("k", args[1] if len(args) > 1 else ir.constant(0)))
        if not isinstance(value, Grid) or value.ndim != 2 or not isinstance(shift, int) or set(keywords) - {"k"}:
            raise state.outside("a triangle of something else than a matrix")
        zero = ir.constant(0.0 if value.dtype == FLOAT64 else 0)

        def at(index: list[Any]) -> Any:
            i, j = index
            edge = i if shift == 0 else ir.binop(i, gast.Add if shift > 0 else gast.Sub, ir.constant(abs(shift)))
            op = gast.LtE() if lower_part else gast.GtE()
            other = zero if value.dtype in (FLOAT64, INT64) else ir.call(f"np.{value.dtype.name}", zero)
            return gast.IfExp(gast.Compare(j, [op], [edge]), value.at(index), other)

        return Grid(value.axes, value.dtype, at)

    return handler
