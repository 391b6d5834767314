"""Arrays as loops: broadcasting, making an array, storing into one, and reducing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ... import ir
from ...domain.facts import INT
from ..kinds import BOOL, FLOAT32, FLOAT64, INT64, ONE, Axis, Grid, Number, Value
from ..lowering.scalars import as_dtype, as_float, compare, constant_of, extreme
from ..state import Scope, State
from .affine import constant_form, length_form

Function = Callable[[list[Number]], Number]
LEAVES = (gast.Name, gast.Subscript, gast.Constant)


def elementwise(state: State, function: Function, operands: Sequence[Value]) -> Value:
    """A function of numbers, applied to numbers or to arrays element by element."""
    if all(isinstance(x, Number) for x in operands):
        return function(list(operands))
    operands = [state.let(x) if isinstance(x, Number) else x for x in operands]
    axes = broadcast(state, [x for x in operands if isinstance(x, Grid)])
    items = [x if isinstance(x, Number) else spread_once(state, x, axes) for x in operands]
    with state.writing() as extra:
        sample = function([x if isinstance(x, Number) else Number(ir.name("x"), x.dtype) for x in items])
    if extra:
        raise state.outside("an operation on arrays that has to be checked element by element")

    def at(index: list[Any]) -> Any:
        parts = [x if isinstance(x, Number) else Number(fitted(x, index), x.dtype) for x in items]
        return function(parts).expr

    return Grid(axes, sample.dtype, at)


def spread_once(state: State, grid: Grid, axes: tuple[Axis, ...]) -> Grid:
    """An operand whose elements are used several times: made first, unless it is cheap."""
    own = grid.axes
    repeated = len(own) < len(axes) or any(a.one and not b.one for a, b in zip(own, axes[len(axes) - len(own) :]))
    if not repeated or isinstance(grid.at([ir.name("i")] * len(own)), LEAVES):
        return grid
    return made(state, grid)


def broadcast(state: State, grids: list[Grid]) -> tuple[Axis, ...]:
    """The axes of the result of an element-wise operation; lengths that may differ are checked."""
    axes: tuple[Axis, ...] = grids[0].axes
    for grid in grids[1:]:
        longer, shorter = (axes, grid.axes) if len(axes) >= len(grid.axes) else (grid.axes, axes)
        cut = len(longer) - len(shorter)
        axes = longer[:cut] + tuple(common(state, a, b) for a, b in zip(longer[cut:], shorter))
    return axes


def common(state: State, a: Axis, b: Axis) -> Axis:
    if a.one or b.one:
        return b if a.one else a
    state.same_length(a, b)
    return a


def fitted(grid: Grid, index: list[Any]) -> Any:
    """The element of an operand at an index of the result."""
    own = index[len(index) - grid.ndim :]
    return grid.at([ir.constant(0) if axis.one else i for axis, i in zip(grid.axes, own)])


def over(state: State, axes: Sequence[Axis], body: Callable[[list[Any]], None]) -> None:
    """Loops over the places of some axes, with `body` inside."""
    within(state, list(axes), [], body)


def within(state: State, axes: list[Axis], index: list[Any], body: Callable[[list[Any]], None]) -> None:
    if not axes:
        return body(index)
    axis, *rest = axes
    if axis.one:
        return within(state, rest, [*index, ir.constant(0)], body)
    if is_short(axis):
        for k in range(axis.key):
            within(state, rest, [*index, ir.constant(k)], body)
        return
    variable = state.s.fresh("ijkl"[min(len([i for i in index if isinstance(i, gast.Name)]), 3)], INT)
    scope = Scope("range", variable, constant_form(0), length_form(state, axis).plus(constant_form(1), -1))
    with state.inside(scope) as block:
        state.define(variable, INT64)
        within(state, rest, [*index, ir.name(variable)], body)
    loop = ir.Loop("range", block, [], variable, (state.lasting(axis),))
    loop.axis = axis.key  # type: ignore[attr-defined]
    state.emit(loop)


def along(state: State, axis: Axis, body: Callable[[list[Any]], None]) -> None:
    """A loop over the places of one axis, which is not put together with others."""
    variable = state.s.fresh("i", INT)
    scope = Scope("range", variable, constant_form(0), length_form(state, axis).plus(constant_form(1), -1))
    with state.inside(scope) as block:
        state.define(variable, INT64)
        body([ir.name(variable)])
    state.emit(ir.Loop("range", block, [], variable, (axis.length,)))


def is_short(axis: Axis) -> bool:
    """True if the places of an axis are written out one by one."""
    return isinstance(axis.key, int) and 0 < axis.key <= thresholds.LENGTH_WRITTEN_OUT


def shape_of(state: State, axes: Sequence[Axis]) -> Any:
    lengths = [state.lasting(axis) for axis in axes]
    return lengths[0] if len(lengths) == 1 else ir.tuple_(lengths)


def dtype_name(dtype: np.dtype) -> Any:
    return ir.dotted("np.bool_" if dtype == BOOL else f"np.{dtype.name}")


def new_array(state: State, variable: str, axes: tuple[Axis, ...], dtype: np.dtype, maker: str = "empty") -> Grid:
    state.emit(ir.Let((variable,), new_memory(state, axes, dtype, maker)))
    return state.array(variable, axes, dtype, True)


def new_memory(state: State, axes: tuple[Axis, ...], dtype: np.dtype, maker: str = "empty") -> Any:
    """The call that makes the memory of an array."""
    extra = () if dtype == FLOAT64 else (dtype_name(dtype),)
    return ir.call(f"np.{maker}", shape_of(state, axes), *extra)


def make(state: State, grid: Grid, variable: str) -> Grid:
    """Put an array into memory of its own, under a name."""
    if not grid.axes:
        raise state.outside("an array of rank 0")
    constant = grid.at([ir.name("i")] * grid.ndim)
    if constant_of(constant) == 0 and str(constant_of(constant)) != "-0.0":
        return new_array(state, variable, grid.axes, grid.dtype, "zeros")
    result = new_array(state, variable, grid.axes, grid.dtype)
    over(state, result.axes, lambda index: state.emit(ir.Store(variable, ir.whole_index(index), grid.at(index))))
    return result


def made(state: State, grid: Grid, hint: str = "t") -> Grid:
    """An array in memory: the variable itself, or a new one."""
    if isinstance(grid.view, gast.Name):
        return grid
    return make(state, grid, state.s.fresh(hint, INT))


def in_memory(state: State, grid: Grid) -> Any:
    """The expression of an array for NumPy's functions."""
    return grid.view if grid.view is not None else made(state, grid).view


def in_order(state: State, grid: Grid) -> Grid:
    """An array in memory of its own, in C order."""
    return grid if grid.contiguous and isinstance(grid.view, gast.Name) else make(state, grid, state.s.fresh("t", INT))


def added_lengths(a: Any, b: Any) -> Any:
    """The sum of two lengths."""
    if isinstance(a, gast.Constant) and isinstance(b, gast.Constant):
        return ir.constant(a.value + b.value)
    return b if constant_of(a) == 0 else ir.binop(a, gast.Add, b)


# -- storing


def store(state: State, base: str, target: Grid, value: Value, aug: type | None) -> None:
    """``target = value`` or ``target op= value``, where `target` is an array or a part of one."""
    if isinstance(value, Number):
        value = state.let(value)
        return over(state, target.axes, lambda index: store_item(state, target, index, value, aug))
    missing = target.ndim - value.ndim
    if missing < 0:
        extra, value = value.axes[: -target.ndim] if target.ndim else value.axes, value
        if not all(axis.one for axis in extra):
            raise state.outside("an array is stored into one of lower rank")
        value = leading_dropped(value, -missing)
        missing = 0
    for a, b in zip(target.axes[missing:], value.axes):
        if not b.one:
            if a.one:
                raise state.outside("a longer axis is stored into one of length 1")
            state.same_length(a, b)
    value = spread_once(state, value, target.axes)
    if overlaps(state, base, target, value):
        value = make(state, value, state.s.fresh("t", INT))
    source = value

    def body(index: list[Any]) -> None:
        store_item(state, target, index, Number(fitted(source, index), source.dtype), aug)

    over(state, target.axes, body)


def leading_dropped(grid: Grid, count: int) -> Grid:
    return Grid(grid.axes[count:], grid.dtype, lambda index: grid.at([ir.constant(0)] * count + index))


def store_item(state: State, target: Grid, index: list[Any], value: Number, aug: type | None) -> None:
    item = target.at(index)
    if not isinstance(item, gast.Subscript):
        raise state.outside("a place that is not a part of an array")
    expr = stored_number(state, value, target.dtype)
    state.emit(ir.Store(item.value.id, item.slice, expr, aug))


def stored_number(state: State, value: Number, dtype: np.dtype) -> Any:
    """A number as an array of `dtype` takes it."""
    if value.dtype.kind == "f" and dtype.kind != "f" or dtype == BOOL != value.dtype:
        raise state.outside(f"{value.dtype} is stored into an array of {dtype}")
    return as_float(value) if dtype == FLOAT64 else as_dtype(value, dtype)


def overlaps(state: State, base: str, target: Grid, value: Grid) -> bool:
    """True if storing an element may change one that is read later: then the value is made first."""
    probe = [ir.name(f"probe{k}") for k in range(target.ndim)]
    own = gast.dump(target.at(probe))
    for node in gast.walk(fitted(value, probe)):
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            if state.may_alias(base, node.value.id) and gast.dump(node) != own:
                return True
    return False


# -- reducing


def reduced(state: State, kind: str, value: Grid, axes: tuple[int, ...], keep: bool) -> Value:
    """The sum, the greatest or the least over some axes."""
    if kind == "sum" and value.dtype.kind != "f" and value.dtype not in (INT64, BOOL):
        raise state.outside(f"a sum of {value.dtype}")
    rest = tuple(axis for k, axis in enumerate(value.axes) if k not in axes)
    if not rest:
        total = to_number(state, kind, value)
        if not keep:
            return total
        return Grid((ONE,) * value.ndim, total.dtype, lambda index: total.expr)
    kept = tuple(ONE if k in axes else axis for k, axis in enumerate(value.axes))
    result = to_array(state, kind, value, axes, rest)
    if not keep:
        return result
    where = [k for k in range(value.ndim) if k not in axes]
    return Grid(kept, result.dtype, lambda index: result.at([index[k] for k in where]))


STARTS = {"sum": 0, "product": 1}
HINTS = {"sum": "total", "product": "product", "maximum": "largest", "minimum": "smallest"}


def start_of(kind: str, dtype: np.dtype, first: Any) -> Any:
    if kind in STARTS:
        return ir.constant(float(STARTS[kind]) if dtype.kind == "f" else STARTS[kind])
    return first


def step(kind: str, so_far: Any, item: Any, dtype: np.dtype) -> Any:
    if kind in STARTS:
        return ir.binop(so_far, gast.Add if kind == "sum" else gast.Mult, item)
    return extreme(kind, Number(so_far, dtype), Number(item, dtype)).expr


def to_number(state: State, kind: str, value: Grid) -> Number:
    """A reduction over all axes.  Single precision is summed in double: the loop has no pairs to sum."""
    dtype = INT64 if value.dtype == BOOL else value.dtype
    wide = FLOAT64 if kind in STARTS and dtype == FLOAT32 else dtype
    hint = HINTS[kind]
    start, out = state.fresh(hint, wide), state.s.fresh(hint, INT)
    if kind not in STARTS:
        for axis in value.axes:
            if not axis.one:
                state.check(gast.Compare(ir.constant(0), [gast.Lt()], [axis.length]))
    first = start_of(kind, dtype, value.at([ir.constant(0)] * value.ndim))
    state.emit(ir.Let((start,), first))

    def following(so_far: Any, index: list[Any]) -> Any:
        return step(kind, so_far, value.at(index), wide)

    accumulate(state, list(value.axes), [], start, out, wide, following)
    state.define(out, wide)
    total = Number(ir.name(out), wide, False)
    return Number(ir.call("np.float32", total.expr), FLOAT32, False) if wide != dtype else total


def accumulate(
    state: State, axes: list[Axis], index: list[Any], init: str, out: str, kind: Any,
    body: Callable[[Any, list[Any]], Any],
) -> None:  # fmt: skip
    """Loops that carry one number from `init` to `out`."""
    while axes and axes[0].one:
        axes, index = axes[1:], [*index, ir.constant(0)]
    if not axes:
        state.emit(ir.Let((out,), body(ir.name(init), index)))
        return
    if is_short(axes[0]):
        for k in range(axes[0].key):
            after = out if k == axes[0].key - 1 else state.fresh(state.s.hints[out], kind)
            accumulate(state, axes[1:], [*index, ir.constant(k)], init, after, kind, body)
            init = after
        return
    variable = state.s.fresh("ijkl"[min(len([i for i in index if isinstance(i, gast.Name)]), 3)], INT)
    phi, following = (state.s.fresh_like(out, INT) for _ in "ab")
    scope = Scope("range", variable, constant_form(0), length_form(state, axes[0]).plus(constant_form(1), -1))
    with state.inside(scope) as block:
        for name in (phi, following):
            state.define(name, kind)
        state.define(variable, INT64)
        accumulate(state, axes[1:], [*index, ir.name(variable)], phi, following, kind, body)
        if isinstance(block[-1], ir.Let):
            block[-1].in_place = True  # type: ignore[attr-defined]
    carry = ir.Carry(phi, init, following, out)
    loop = ir.Loop("range", block, [carry], variable, (state.lasting(axes[0]),))
    loop.axis = axes[0].key  # type: ignore[attr-defined]
    state.emit(loop)


def to_array(state: State, kind: str, value: Grid, axes: tuple[int, ...], rest: tuple[Axis, ...]) -> Grid:
    """A reduction over some axes."""
    dtype = INT64 if value.dtype == BOOL else value.dtype
    variable = state.s.fresh(HINTS[kind], INT)
    wide = FLOAT64 if kind in STARTS and dtype == FLOAT32 else dtype
    where = [k for k in range(value.ndim) if k not in axes]
    if kind in STARTS:
        result = new_array(state, variable, rest, wide, "zeros" if kind == "sum" else "ones")
    else:
        for k in axes:
            if not value.axes[k].one:
                state.check(gast.Compare(ir.constant(0), [gast.Lt()], [value.axes[k].length]))
        first = value

        def start(index: list[Any]) -> Any:
            full = [ir.constant(0)] * value.ndim
            for k, i in zip(where, index):
                full[k] = i
            return first.at(full)

        result = make(state, Grid(rest, dtype, start), variable)

    def body(index: list[Any]) -> None:
        item = result.at([index[k] for k in where])
        if kind in STARTS:
            op = gast.Add if kind == "sum" else gast.Mult
            state.emit(ir.Store(variable, item.slice, value.at(index), op))
        else:
            state.emit(ir.Store(variable, item.slice, step(kind, item, value.at(index), dtype)))

    over(state, value.axes, body)
    if wide == dtype:
        return result
    return Grid(rest, dtype, lambda index: ir.call("np.float32", result.at(index)))


def all_or_any(state: State, name: str, value: Value) -> Number:
    """``np.all`` and ``np.any`` of an array: how many elements are true."""
    if isinstance(value, Number):
        return compare(gast.NotEq, value, Number(ir.constant(0), INT64, True)) if value.dtype != BOOL else value
    if value.dtype != BOOL:
        raise state.outside(f"np.{name} of numbers")
    count = to_number(state, "sum", value)
    if name == "any":
        return Number(gast.Compare(count.expr, [gast.Gt()], [ir.constant(0)]), BOOL, False)
    return Number(gast.Compare(count.expr, [gast.Eq()], [size_expr(value)]), BOOL, False)


def size_expr(value: Grid) -> Any:
    """The number of elements of an array."""
    result: Any = None
    for axis in value.axes:
        if not axis.one:
            result = axis.length if result is None else ir.binop(result, gast.Mult, axis.length)
    return result if result is not None else ir.constant(1)
