"""Branches and loops, with what they merge and carry, in the native dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from ... import ir
from ...domain.facts import INT, Listed, Num
from ..kinds import COUNTED, FLOAT64, INT64, ONE, Axis, Bundle, Grid, Items, Number, Raw, joined
from ..passes.affine import Form, constant_form, form_of
from ..passes.index_functions import dtype_name
from ..state import Scope, State
from . import expressions, lists, scalars
from .expressions import facts_number, number
from .scalars import as_truth, constant_of, within
from .statements import LOWERINGS, block
from .tape import in_range, settle_demand
from .tape_index import by_index


def if_stmt(state: State, stmt: ir.If) -> None:
    test = as_truth(number(state, stmt.test))
    sides = []
    demands = []
    for side in (stmt.then, stmt.orelse):
        outer, state.demand = state.demand, {}
        with state.inside(Scope("if")) as body:
            block(state, side)
        demands.append(state.demand)
        state.demand = outer
        sides.append(body)
    for demand in demands:
        for variable, counts in demand.items():
            state.demand.setdefault(variable, []).extend(counts)
    merges = [*[merged(state, m, sides) for m in stmt.merges], *expressions.merged(state, stmt, sides)]
    if all(is_quick(state, inner) for side in sides for inner in side):
        state.out += [inner for side in sides for inner in side]
        sides = [[], []]
    state.emit(ir.If(test, sides[0], sides[1], merges, stmt.origin))


QUICK = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def is_quick(state: State, stmt: Any) -> bool:
    """True if a side of a branch does that sooner than a processor notices that it has guessed the other side.

    It then is done on both sides, and the branch is a choice between numbers.
    """
    if not isinstance(stmt, ir.Let) or stmt.effect or state.kinds.get(stmt.target) != FLOAT64:
        return False
    nodes = ir.nodes_in(stmt.expr)
    operations = [node for node in nodes if isinstance(node, gast.BinOp)]
    simple = all(isinstance(node, (gast.Name, gast.Constant, gast.UnaryOp, gast.BinOp)) for node in nodes)
    return simple and len(operations) <= 2 and all(isinstance(node.op, QUICK) for node in operations)


def merged(state: State, merge: ir.Merge, sides: list[ir.Block]) -> ir.Merge:
    """A variable that has one of two values, in one kind of memory."""
    names = [merge.then, merge.orelse]
    values = [None if n is None else state.values.get(n) for n in names]
    have = [v for v in values if v is not None]
    if any(isinstance(v, Items) for v in have):
        return ir.Merge(merge.target, *lists.handed_on(state, merge.target, names, sides))
    if len(have) < len([n for n in names if n is not None]) or not have or isinstance(have[0], (Bundle, Raw)):
        raise state.outside("a value of a branch that is no number or array")
    if isinstance(have[0], Number):
        return merged_numbers(state, merge, sides, values, have)
    ranks = {(v.dtype, v.ndim) if isinstance(v, Grid) else None for v in have}
    if len(ranks) != 1 or None in ranks:
        raise state.outside("a variable that is an array in one branch only")
    sources = [n if n is not None else placeholder(state, have[0], body) for n, body in zip(names, sides)]
    contiguous = all(v is None or v.contiguous for v in values)
    state.share(merge.target, *sources)
    merged_array(state, merge.target, have, contiguous)
    return ir.Merge(merge.target, sources[0], sources[1])


def merged_array(state: State, target: str, have: list[Grid], contiguous: bool) -> None:
    axes = []
    for k, column in enumerate(zip(*(v.axes for v in have))):
        if len({a.one for a in column}) != 1:
            raise state.outside("a variable whose shape depends on a branch")
        same = len({a.key for a in column}) == 1
        axes.append(ONE if column[0].one else Axis(None, column[0].key if same else (target, k)))
    state.array(target, tuple(axes), have[0].dtype, contiguous)


def placeholder(state: State, like: Grid, body: ir.Block) -> str:
    """Memory for a variable that is not read on this path."""
    variable = state.fresh("t", (like.dtype, like.ndim))
    shape = ir.constant((0,) * like.ndim) if like.ndim > 1 else ir.constant(0)
    body.append(ir.Let((variable,), ir.call("np.empty", shape, dtype_name(like.dtype))))
    return variable


def merged_numbers(
    state: State, merge: ir.Merge, sides: list[ir.Block], values: list[Any], have: list[Any]
) -> ir.Merge:
    if not all(isinstance(v, Number) for v in have):
        raise state.outside("a variable that is an array in one branch only")
    dtype, python = joined(have[0], have[-1])
    sources = []
    for value, body in zip(values, sides):
        with state.writing() as extra:
            given = Number(ir.constant(0), dtype, python) if value is None else value
            sources.append(as_variable(state, given, dtype))
        body += extra
    state.define(merge.target, dtype)
    bits = max(v.bits for v in have)
    state.values[merge.target] = Number(ir.name(merge.target), dtype, python, bits)
    return ir.Merge(merge.target, sources[0], sources[1])


def as_variable(state: State, value: Number, dtype: Any) -> str:
    """A number of a dtype in a variable of its own."""
    if isinstance(value.expr, gast.Name) and value.dtype == dtype:
        return str(value.expr.id)
    variable = state.fresh("t", dtype)
    state.emit(ir.Let((variable,), scalars.as_float(value) if dtype == FLOAT64 else scalars.as_dtype(value, dtype)))
    return variable


def loop(state: State, stmt: ir.Loop) -> None:
    if stmt.kind == "while":
        return while_loop(state, stmt)
    if stmt.kind != "range":
        raise state.outside("a loop over something else than a range")
    bounds = [state.let(state.settled(number(state, b)), "n") for b in range_bounds(state, stmt)]
    if any(b.dtype != INT64 for b in bounds):
        raise state.outside("a range that is not of whole numbers")
    start = bounds[0] if len(bounds) > 1 else Number(ir.constant(0), INT64, True, 1)
    stop = bounds[1] if len(bounds) > 1 else bounds[0]
    step = constant_of(bounds[2].expr) if len(bounds) > 2 else 1
    if not isinstance(step, int) or step == 0:
        raise state.outside("a range whose step is not known before the run")
    sign = 1 if step > 0 else -1
    low, high = form_of(state, start.expr), form_of(state, stop.expr).plus(constant_form(sign), -1)
    trips = trips_of(state, high.plus(low, -1).times(sign).plus(constant_form(1)), abs(step))
    if not trips.terms:
        high = low.plus(constant_form(max(trips.constant - 1, 0)), step)
    low, high = (low, high) if step > 0 else (high, low)
    assert stmt.index is not None
    carries = begin_carries(state, stmt)
    flags = [] if only_runs(state, stmt, trips) else expressions.begin(state, stmt)
    outer_demand, state.demand = state.demand, {}
    scope = Scope("range", stmt.index, low, high, stmt.stop is not None)
    with state.inside(scope) as body:
        state.define(stmt.index, INT64)
        bits = max(start.bits, stop.bits)
        state.values[stmt.index] = Number(ir.name(stmt.index), INT64, True, bits)
        define_phis(state, carries)
        expressions.enter(state, flags)
        block(state, stmt.body)
        end_carries(state, stmt, carries)
        expressions.end(state, stmt, flags)
        if stmt.stop is not None:
            stop_test = as_truth(number(state, stmt.stop))
    uncounted = (
        ([], []) if stmt.stop is not None or abs(step) > 1 else by_index(state, body, stmt.index, low, high, step)
    )
    demand, state.demand = state.demand, outer_demand
    state.out += scope.before
    settle_demand(state, demand, trips, state.out, in_range(state))
    state.out += uncounted[0]
    if stmt.trips is not None:
        define_trips(state, stmt.trips)
    again = ir.Loop(
        "range", body, [*[c for c, _ in carries], *flags], stmt.index, tuple(b.expr for b in bounds),
        stop=stop_test if stmt.stop is not None else None, trips=stmt.trips, origin=stmt.origin,
    )  # fmt: skip
    finish_carries(state, carries)
    state.emit(again)
    check_counts(state, stmt, carries)
    state.out += uncounted[1]


def range_bounds(state: State, stmt: ir.Loop) -> list[Any]:
    """The bounds of a loop; a range that is run backwards has bounds of its own."""
    first = stmt.bounds[0]
    if len(stmt.bounds) == 1 and isinstance(first, gast.Call) and getattr(first.func, "id", "") == "range":
        if len(first.args) != 1:
            return backwards(state, first.args)
        return [ir.binop(first.args[0], gast.Sub, ir.constant(1)), ir.constant(-1), ir.constant(-1)]
    return list(stmt.bounds)


def trips_of(state: State, distance: Form, step: int) -> Form:
    """The number of iterations of a loop over some distance (less than 1: none)."""
    if step == 1:
        return distance
    rounded = distance.plus(constant_form(step - 1))
    if not rounded.terms:
        return constant_form(rounded.constant // step)
    trips = state.let(Number(ir.binop(rounded.expr(), gast.FloorDiv, ir.constant(step)), INT64, True), "n")
    return form_of(state, trips.expr)


def backwards(state: State, args: list[Any]) -> list[Any]:
    """The bounds of a range that is run backwards."""
    start, stop = (state.let(number(state, a), "n") for a in args[:2])
    step = constant_of(number(state, args[2]).expr) if len(args) > 2 else 1
    if not isinstance(step, int) or step == 0:
        raise state.outside("a range whose step is not known before the run")
    distance = form_of(state, stop.expr).plus(form_of(state, start.expr), -1).times(1 if step > 0 else -1)
    trips = trips_of(state, distance, abs(step)).plus(constant_form(1), -1)
    last = form_of(state, start.expr).plus(trips, step)
    before = form_of(state, start.expr).plus(constant_form(1 if step > 0 else -1), -1)
    return [last.expr(), before.expr(), ir.constant(-step)]


def define_trips(state: State, trips: str) -> None:
    state.define(trips, INT64)
    state.values[trips] = Number(ir.name(trips), INT64, True, COUNTED)


def while_loop(state: State, stmt: ir.Loop) -> None:
    carries = begin_carries(state, stmt)
    flags = expressions.begin(state, stmt)
    outer_demand, state.demand = state.demand, {}
    with state.inside(Scope("while")) as head:
        define_phis(state, carries)
        expressions.enter(state, flags)
        block(state, stmt.head)
        test = as_truth(number(state, stmt.test))
        with state.writing() as body:
            block(state, stmt.body)
            end_carries(state, stmt, carries)
            expressions.end(state, stmt, flags)
            stop = None if stmt.stop is None else as_truth(number(state, stmt.stop))
    state.demand = outer_demand
    if stmt.trips is not None:
        define_trips(state, stmt.trips)
    finish_carries(state, carries)
    again = ir.Loop(
        "while", body, [*[c for c, _ in carries], *flags], head=head, test=test, stop=stop, trips=stmt.trips,
        origin=stmt.origin,
    )  # fmt: skip
    state.emit(again)
    check_counts(state, stmt, carries)


Carried = list[tuple[ir.Carry, Any]]


def begin_carries(state: State, stmt: ir.Loop) -> Carried:
    """The variables that a loop carries, with their kinds: initial values are converted before the loop."""
    result: Carried = []
    for c in stmt.carries:
        facts = state.s.facts[c.phi]
        init = None if c.init is None else state.values.get(c.init)
        if isinstance(facts, Num) and facts.dims == () and facts.kind != "array":
            kind = facts_number(state, c.phi, COUNTED)
            if init is not None and not isinstance(init, Number):
                raise state.outside("a number that is an array before the loop")
            given = init if init is not None else Number(ir.constant(0), kind.dtype, True)
            joined(given, kind)
            name = as_variable(state, given, kind.dtype)
            if is_python_integer(kind) and given.bits > COUNTED:
                state.check(within(ir.name(name), COUNTED))
            result.append((ir.Carry(c.phi, name, None, c.out), kind))
        elif isinstance(facts, Num) and facts.dims:
            if init is None:
                init = nothing(state, facts)
            if not isinstance(init, Grid):
                raise state.outside("an array that is something else before the loop")
            kept = replace(init, axes=carried_axes(state, c, init))
            result.append((ir.Carry(c.phi, c.init or init.view.id, None, c.out), kept))
        elif isinstance(facts, Listed):
            items = lists.entering(state, c.phi, init)
            result.append((ir.Carry(c.phi, items.expr.id, None, c.out), items))
        else:
            raise state.outside(f"{state.s.hints[c.phi]!r}, of which it is not known before the run what it is")
    return result


def carried_axes(state: State, carry: ir.Carry, init: Grid) -> tuple[Axis, ...]:
    """The axes of a carried array: what its facts say of lengths is compared before the loop."""
    described = state.array_of_facts(carry.phi)
    if (described.ndim, described.dtype) != (init.ndim, init.dtype):
        raise state.outside("an array that changes its kind in a loop")
    axes = []
    for k, (axis, given) in enumerate(zip(described.axes, init.axes)):
        if carry.init is None or not (axis.key == given.key or isinstance(axis.key, int) or axis.key in state.lengths):
            axis = Axis(axis.length, (carry.phi, k))
        else:
            compare_lengths(state, given, axis)
        axes.append(axis)
    return tuple(axes)


def compare_lengths(state: State, given: Axis, wanted: Axis) -> None:
    """See to it that an axis has the length that was found for the one it becomes."""
    if wanted.one and not given.one:
        raise state.outside("an array that changes its kind in a loop")
    if given.key != wanted.key:
        expected = (
            ir.constant(wanted.key) if isinstance(wanted.key, int) else state.lengths.get(wanted.key, wanted.length)
        )
        state.check(gast.Compare(given.length, [gast.Eq()], [expected]))


def only_runs(state: State, stmt: ir.Loop, trips: Form) -> bool:
    """Check that a loop runs, if that is all that it takes for the variables to be bound that it assigns."""
    carried = [c for c in stmt.carries if c.out in state.s.unbound]  # type: ignore[attr-defined]
    if any(c.init is not None or state.uses.get(c.phi, 0) or c.next in state.s.unbound for c in carried):
        return False
    if carried:
        state.check(gast.Compare(ir.constant(0), [gast.Lt()], [trips.expr()]))
    return True


def nothing(state: State, facts: Num) -> Any:
    """Memory for a variable that nobody reads before it is assigned."""
    if facts.dtype is None or facts.dims is None:
        raise state.outside("an array whose dtype or rank is not known before the run")
    variable = state.s.fresh("t", INT)
    ndim = len(facts.dims)
    shape = ir.constant((0,) * ndim) if ndim > 1 else ir.constant(0)
    state.emit(ir.Let((variable,), ir.call("np.empty", shape, dtype_name(facts.dtype))))
    axes = tuple(Axis(None, (variable, k)) for k in range(ndim))
    return state.array(variable, axes, facts.dtype, True)


def is_own(axis: Axis, variable: str) -> bool:
    """True if a length is known to be nothing else than that of a variable."""
    return isinstance(axis.key, tuple) and axis.key[0] == variable


def define_phis(state: State, carries: Carried) -> None:
    for c, kind in carries:
        if isinstance(kind, Number):
            state.define(c.phi, kind.dtype)
            state.values[c.phi] = Number(ir.name(c.phi), kind.dtype, kind.python, kind.bits)
            if kind.dtype == INT64:
                state.counters.add(c.phi)
        elif isinstance(kind, Items):
            lists.define(state, c.phi, kind.item)
        else:
            state.array(c.phi, kind.axes, kind.dtype, kind.contiguous)
            state.share(c.phi, *(n for n in (c.init,) if n is not None))


def end_carries(state: State, stmt: ir.Loop, carries: Carried) -> None:
    for (carry, kind), c in zip(carries, stmt.carries):
        value = None if c.next is None else state.values.get(c.next)
        if isinstance(kind, Number):
            if not isinstance(value, Number):
                raise state.outside("a number that becomes something else in a loop")
            joined(value, kind)
            carry.next = as_variable(state, value, kind.dtype)
            if is_python_integer(kind) and value.bits > COUNTED and not check_growth(state, c, value):
                state.check(within(ir.name(carry.next), COUNTED))
        elif isinstance(kind, Items):
            carry.next = lists.coming_back(state, value, kind.item)
        else:
            if not isinstance(value, Grid) or (value.ndim, value.dtype) != (kind.ndim, kind.dtype):
                raise state.outside("an array that changes its kind in a loop")
            for given, wanted in zip(value.axes, kind.axes):
                if not is_own(wanted, c.phi):
                    compare_lengths(state, given, wanted)
            carry.next = c.next


def check_counts(state: State, stmt: ir.Loop, carries: Carried) -> None:
    """Look at integers that only counted in a loop: on the way, they were between what they began and ended with."""
    for (_, kind), c in zip(carries, stmt.carries):
        value = state.values.get(c.next or "")
        if is_python_integer(kind) and isinstance(value, Number) and value.bits > COUNTED:
            if check_growth(state, c, value):
                state.check(within(ir.name(c.out), COUNTED))


def is_python_integer(kind: Any) -> bool:
    return isinstance(kind, Number) and kind.dtype == INT64 and kind.python is not False


def check_growth(state: State, carry: ir.Carry, value: Number) -> bool:
    """True if an integer only counts in a loop: then it is looked at after that, else in each iteration.

    Products and sums of such integers would soon outgrow 64 bits.
    """
    form = form_of(state, value.expr)
    own = gast.dump(ir.name(carry.phi))
    for key, count, expr in form.terms:
        if key == own and count == 1:
            continue
        if any(n in state.counters for n in ir.names_in(expr)):
            raise state.outside("an integer that may outgrow 64 bits in a loop")
    return form.without(own) == constant_form(form.constant) and form.factor(own) == 1 and abs(form.constant) < 2**8


def finish_carries(state: State, carries: Carried) -> None:
    for c, kind in carries:
        if isinstance(kind, Number):
            state.define(c.out, kind.dtype)
            state.values[c.out] = Number(ir.name(c.out), kind.dtype, kind.python, kind.bits)
            if kind.dtype == INT64:
                state.counters.add(c.out)
        elif isinstance(kind, Items):
            lists.define(state, c.out, kind.item)
        else:
            phi = state.values[c.phi]
            following = state.values.get(c.next or "")
            contiguous = phi.contiguous and isinstance(following, Grid) and following.contiguous
            own = [Axis(a.length, (c.out, k), a.one) if is_own(a, c.phi) else a for k, a in enumerate(kind.axes)]
            state.array(c.out, tuple(own), kind.dtype, contiguous)
            state.share(c.phi, c.out, *(n for n in (c.init, c.next) if n is not None))


LOWERINGS |= {"If": if_stmt, "Loop": loop}
