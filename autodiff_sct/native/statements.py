"""Statements of the intermediate form, in the native dialect."""

from __future__ import annotations

from typing import Any

import gast

from ..compiler import ir
from ..compiler.emit import is_new_list
from ..compiler.facts import INT, Num
from ..compiler.regions import roots_of
from . import elements
from .elements import as_truth, constant_of
from .expressions import facts_number, lower, number
from .grids import make, made, store
from .indexing import part, whole_number
from .kinds import FLOAT64, INT64, Bundle, Grid, Number, Raw, Value, joined
from .linear import Form, constant_form, form_of
from .saving import begin, in_range, pushed, settle_demand
from .state import Scope, State


def block(state: State, stmts: ir.Block, after: ir.Block | None = None) -> None:
    """Lower a block; `after` are the statements that come after it at the same depth."""
    outer = state.following
    for k, stmt in enumerate(stmts):
        state.following = [*stmts[k + 1 :], *(after or [])]
        statement(state, stmt)
    state.following = outer


def statement(state: State, stmt: Any) -> None:
    found = LOWERINGS.get(type(stmt).__name__)
    state.origin = getattr(stmt, "origin", None) or state.origin
    if found is None:
        raise state.outside(f"a statement of the kind {type(stmt).__name__.lower()}")
    found(state, stmt)


# An array whose elements cost little is computed at each of a few uses instead of being made.
CHEAP_USES, CHEAP_WORK = 3, 4

# -- definitions


def let(state: State, stmt: ir.Let) -> None:
    if is_new_list(stmt):
        return begin(state, stmt.target)
    if len(stmt.targets) != 1:
        raise state.outside("several results at once")
    if is_argument(state, stmt.expr):
        return receive(state, stmt)
    value = lower(state, stmt.expr)
    if isinstance(value, Number):
        return let_number(state, stmt, value)
    if isinstance(value, Grid):
        return let_array(state, stmt, value)
    if isinstance(value, Bundle):
        state.values[stmt.target] = Bundle(tuple(kept(state, item) for item in value.items))
        return
    raise state.outside("a value that is no number or array")


def kept(state: State, value: Value) -> Value:
    """An item of a tuple, in a variable."""
    if isinstance(value, Number):
        return state.let(value)
    if isinstance(value, Grid) and not isinstance(value.view, gast.Name):
        raise state.outside("a tuple of arrays")
    return value


def is_argument(state: State, expr: Any) -> bool:
    """Whether an expression takes something out of an argument, or copies that."""
    if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "copy":
        expr = expr.func.value
    while isinstance(expr, gast.Subscript):
        expr = expr.value
    return isinstance(expr, gast.Name) and isinstance(state.values.get(expr.id), Raw)


def receive(state: State, stmt: ir.Let) -> None:
    """What an argument is, by the facts of the variable that it is put into."""
    target, expr = stmt.target, stmt.expr
    facts = state.s.facts[target]
    if isinstance(expr, gast.Call):
        variable = state.s.fresh(state.s.hints[target], facts)
        receive(state, ir.Let((variable,), expr.func.value))
        make(state, state.values[variable], target)
        return
    value = lower(state, expr)
    if isinstance(facts, Num) and facts.kind == "array" and facts.dims:
        state.array_of_facts(target)
    elif isinstance(facts, Num) and facts.dims == ():
        state.values[target] = facts_number(state, target)
        state.define(target, state.values[target].dtype)
    else:
        state.values[target] = value
        return
    if isinstance(value.expr, gast.Name):
        state.kinds[value.expr.id] = state.kinds[target]
    state.emit(ir.Let((target,), value.expr))


def let_number(state: State, stmt: ir.Let, value: Number) -> None:
    target = stmt.target
    check_facts(state, target, value.dtype, 0)
    if value.dtype == INT64:
        state.forms[target] = form_of(state, value.expr)
        size = getattr(state.s.facts.get(target), "size", None)
        if size is not None or not isinstance(value.expr, (gast.Name, gast.BinOp, gast.Constant)):
            del state.forms[target]
    state.define(target, value.dtype)
    state.emit(ir.Let((target,), value.expr, None, stmt.origin))
    state.values[target] = Number(ir.name(target), value.dtype, value.python, value.degree)


def check_facts(state: State, target: str, dtype: Any, ndim: int) -> None:
    """What was found here has to be what the compiler found, where that found anything."""
    facts = state.s.facts.get(target)
    if not isinstance(facts, Num):
        return
    if facts.dtype is not None and facts.dtype != dtype:
        raise state.outside(f"a value of {facts.dtype} that is {dtype} natively")
    if facts.dims is not None and len(facts.dims) != ndim:
        raise state.outside("an array whose rank is not known before the run")


def let_array(state: State, stmt: ir.Let, value: Grid) -> None:
    target = stmt.target
    check_facts(state, target, value.dtype, value.ndim)
    left = getattr(stmt.expr, "left", None)
    if getattr(stmt, "in_place", False) and isinstance(left, gast.Name) and in_place(state, stmt, left.id, value):
        return
    if value.view is not None:
        state.emit(ir.Let((target,), value.view, None, stmt.origin))
        state.share(target, *(n for n in ir.names_in(value.view) if isinstance(state.values.get(n), Grid)))
        state.array(target, value.axes, value.dtype, value.contiguous and isinstance(value.view, gast.Name))
        return
    shown = value.at([ir.name("i")] * value.ndim)
    if isinstance(shown, gast.Subscript) and not value.copied and is_view(state, target, stmt):
        raise state.outside("a view that there is no native form of")
    if used_at_once(state, target, shown):
        state.values[target] = value
    else:
        make(state, value, target)


def is_view(state: State, target: str, stmt: ir.Let) -> bool:
    return any(roots_of(state.s.facts[target]) & roots_of(state.s.facts[n]) for n in ir.reads(stmt))


def used_at_once(state: State, target: str, shown: Any) -> bool:
    """Whether an array is part of one later expression only, before which nothing that it reads is written."""
    left = state.uses.get(target, 0)
    if left > (CHEAP_USES if is_cheap(shown) else 1):
        return False
    sources = {n for n in ir.names_in(shown) if ir.is_variable(n)}
    for stmt in state.following:
        left -= ir.reads(stmt).count(target)
        if target in ir.reads(stmt):
            if not computes(state, stmt, target):
                return False
            if left == 0:
                return True
        for inner in ir.walk([stmt]):
            for base in written_in(inner):
                if any(state.may_alias(base, source) for source in sources):
                    return False
    return False


def computes(state: State, stmt: Any, target: str) -> bool:
    """Whether a statement only reads the elements of an array: no view of it is made, and nothing stored into it."""
    if isinstance(stmt, ir.Store):
        return stmt.base != target
    if not isinstance(stmt, ir.Let) or is_new_list(stmt) or target in written_in(stmt):
        return False
    facts = state.s.facts[stmt.target]
    number = isinstance(facts, Num) and facts.dims == ()
    return number or isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp, gast.Compare))


def is_cheap(shown: Any) -> bool:
    """Whether an element costs less than putting it into memory and taking it out again."""
    work = [n for n in gast.walk(shown) if isinstance(n, (gast.BinOp, gast.Call, gast.IfExp, gast.Compare))]
    return len(work) <= CHEAP_WORK and not any(
        isinstance(n, gast.Call) or isinstance(getattr(n, "op", None), gast.Div) or is_hard_power(n) for n in work
    )


def is_hard_power(node: Any) -> bool:
    return isinstance(getattr(node, "op", None), gast.Pow) and constant_of(node.right) not in (2, 3)


def written_in(stmt: Any) -> list[str]:
    """The variables through which a statement writes memory."""
    if isinstance(stmt, ir.Store):
        return [stmt.base]
    if isinstance(stmt, ir.Let) and getattr(stmt, "in_place", False):
        return [stmt.expr.left.id] if isinstance(stmt.expr.left, gast.Name) else []
    return []


def in_place(state: State, stmt: ir.Let, left: str, value: Grid) -> bool:
    """``d += e``, where nobody reads the old sum again."""
    old = state.values.get(left)
    right = stmt.expr.right
    if state.uses.get(left, 0) != 1 or not isinstance(old, Grid) or old.dtype != value.dtype or old.ndim != value.ndim:
        return False
    if any(a.one != b.one for a, b in zip(old.axes, value.axes)) or not isinstance(old.view, gast.Name):
        return False
    store(state, old.view.id, old, lower(state, right), type(stmt.expr.op))
    state.emit(ir.Let((stmt.target,), old.view, None, stmt.origin))
    state.share(stmt.target, old.view.id)
    state.array(stmt.target, old.axes, old.dtype, old.contiguous)
    return True


# -- memory


def store_stmt(state: State, stmt: ir.Store) -> None:
    base = state.values.get(stmt.base)
    if not isinstance(base, Grid):
        raise state.outside("an item of something that is no array is assigned")
    value = lower(state, stmt.value)
    if not isinstance(value, (Number, Grid)):
        raise state.outside("something that is no number is stored")
    target = part(state, base, stmt.index, lambda e: number(state, e))
    if stmt.aug not in (None, gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow):
        raise state.outside("an operator that assigns")
    if isinstance(target, Grid):
        return store(state, stmt.base, target, value, stmt.aug)
    if isinstance(value, Grid):
        raise state.outside("an array is stored into one place")
    from .grids import stored_number

    item = target.expr
    state.emit(ir.Store(item.value.id, item.slice, stored_number(state, value, base.dtype), stmt.aug, stmt.origin))


def effect(state: State, stmt: ir.Effect) -> None:
    expr = stmt.expr
    if stmt.kind == "save" and isinstance(expr, gast.Call) and expr.func.attr == "append":
        return pushed(state, expr.func.value.id, lower(state, expr.args[0]))
    if isinstance(expr, gast.Name) and expr.id in state.values:
        return
    raise state.outside("a statement with effects")


def raise_stmt(state: State, stmt: ir.Raise) -> None:
    """Whatever is raised, the NumPy program raises it: here the call is only given up."""
    if isinstance(stmt.node, gast.Assert):
        return state.check(as_truth(number(state, stmt.node.test)))
    state.emit(ir.Raise(gast.Raise(ir.name("ValueError"), None), stmt.origin))


# -- control


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
    merges = [merged(state, m, sides) for m in stmt.merges]
    state.emit(ir.If(test, sides[0], sides[1], merges, stmt.origin))


def merged(state: State, merge: ir.Merge, sides: list[ir.Block]) -> ir.Merge:
    """A variable that has one of two values, in one kind of memory."""
    names = [merge.then, merge.orelse]
    values = [None if n is None else state.values.get(n) for n in names]
    have = [v for v in values if v is not None]
    if len(have) < len([n for n in names if n is not None]) or not have or isinstance(have[0], (Bundle, Raw)):
        raise state.outside("a value of a branch that is no number or array")
    if None in names and merge.target in state.s.unbound:  # type: ignore[attr-defined]
        raise state.outside("a variable that one branch only assigns")
    if isinstance(have[0], Number):
        return merged_numbers(state, merge, sides, values, have)
    ranks = {(v.dtype, v.ndim) if isinstance(v, Grid) else None for v in have}
    if len(ranks) != 1 or None in ranks:
        raise state.outside("a variable that is an array in one branch only")
    sources = [n if n is not None else placeholder(state, have[0], body) for n, body in zip(names, sides)]
    contiguous = all(v is None or v.contiguous for v in values)
    state.share(merge.target, *sources)
    merged_array(state, merge.target, [v for v in have], contiguous)
    return ir.Merge(merge.target, sources[0], sources[1])


def merged_array(state: State, target: str, have: list[Grid], contiguous: bool) -> None:
    from .kinds import Axis, ONE

    axes = []
    for k, column in enumerate(zip(*(v.axes for v in have))):
        if len({a.one for a in column}) != 1:
            raise state.outside("a variable whose shape depends on a branch")
        same = len({a.key for a in column}) == 1
        axes.append(ONE if column[0].one else Axis(None, column[0].key if same else (target, k)))
    state.array(target, tuple(axes), have[0].dtype, contiguous)


def placeholder(state: State, like: Grid, body: ir.Block) -> str:
    """Memory for a variable that is not read on this path."""
    from .grids import dtype_name

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
    degree = max(v.degree for v in have)
    state.values[merge.target] = Number(ir.name(merge.target), dtype, python, degree)
    return ir.Merge(merge.target, sources[0], sources[1])


def as_variable(state: State, value: Number, dtype: Any) -> str:
    """A number of a dtype in a variable of its own."""
    if isinstance(value.expr, gast.Name) and value.dtype == dtype:
        return str(value.expr.id)
    variable = state.fresh("t", dtype)
    state.emit(ir.Let((variable,), elements.as_float(value) if dtype == FLOAT64 else value.expr))
    return variable


def loop(state: State, stmt: ir.Loop) -> None:
    if stmt.kind == "while":
        return while_loop(state, stmt)
    if stmt.kind != "range":
        raise state.outside("a loop over something else than a range")
    bounds = [state.let(number(state, b), "n") for b in range_bounds(state, stmt)]
    if any(b.dtype != INT64 for b in bounds):
        raise state.outside("a range that is not of whole numbers")
    start = bounds[0] if len(bounds) > 1 else Number(ir.constant(0), INT64, True, 0)
    stop = bounds[1] if len(bounds) > 1 else bounds[0]
    step = constant_of(bounds[2].expr) if len(bounds) > 2 else 1
    if step not in (1, -1):
        raise state.outside("a range with steps")
    low, high = form_of(state, start.expr), form_of(state, stop.expr).plus(constant_form(int(step)), -1)
    trips = high.plus(low, -1).times(int(step)).plus(constant_form(1))
    low, high = (low, high) if step == 1 else (high, low)
    assert stmt.index is not None
    carries = begin_carries(state, stmt, trips)
    outer_demand, state.demand = state.demand, {}
    scope = Scope("range", stmt.index, low, high)
    with state.inside(scope) as body:
        state.define(stmt.index, INT64)
        degree = max(start.degree, stop.degree, 1)
        state.values[stmt.index] = Number(ir.name(stmt.index), INT64, True, degree)
        define_phis(state, stmt, carries)
        block(state, stmt.body)
        end_carries(state, stmt, carries)
        if stmt.stop is not None:
            stop_test = as_truth(number(state, stmt.stop))
    demand, state.demand = state.demand, outer_demand
    state.out += scope.before
    settle_demand(state, demand, trips, state.out, in_range(state))
    if stmt.trips is not None:
        define_trips(state, stmt.trips)
    again = ir.Loop(
        "range", body, [c for c, _ in carries], stmt.index, tuple(b.expr for b in bounds),
        stop=stop_test if stmt.stop is not None else None, trips=stmt.trips, origin=stmt.origin,
    )  # fmt: skip
    finish_carries(state, carries)
    state.emit(again)


def range_bounds(state: State, stmt: ir.Loop) -> list[Any]:
    """The bounds of a loop; a range that is run backwards has bounds of its own."""
    first = stmt.bounds[0]
    if len(stmt.bounds) == 1 and isinstance(first, gast.Call) and getattr(first.func, "id", "") == "range":
        if len(first.args) != 1:
            raise state.outside("a range that is run backwards")
        return [ir.binop(first.args[0], gast.Sub, ir.constant(1)), ir.constant(-1), ir.constant(-1)]
    return list(stmt.bounds)


def define_trips(state: State, trips: str) -> None:
    state.define(trips, INT64)
    state.values[trips] = Number(ir.name(trips), INT64, True, 1)


def while_loop(state: State, stmt: ir.Loop) -> None:
    carries = begin_carries(state, stmt)
    outer_demand, state.demand = state.demand, {}
    with state.inside(Scope("while")) as head:
        define_phis(state, stmt, carries)
        block(state, stmt.head)
        test = as_truth(number(state, stmt.test))
        with state.writing() as body:
            block(state, stmt.body)
            end_carries(state, stmt, carries)
            if stmt.stop is not None:
                raise state.outside("a while loop that is left from the middle")
    state.demand = outer_demand
    if stmt.trips is not None:
        define_trips(state, stmt.trips)
    finish_carries(state, carries)
    state.emit(
        ir.Loop("while", body, [c for c, _ in carries], head=head, test=test, trips=stmt.trips, origin=stmt.origin)
    )


Carried = list[tuple[ir.Carry, Any]]


def begin_carries(state: State, stmt: ir.Loop, trips: Form | None = None) -> Carried:
    """What a loop carries, with its kind: what enters is made of that kind before the loop."""
    result: Carried = []
    if any(c.init is None and c.out in state.s.unbound for c in stmt.carries):  # type: ignore[attr-defined]
        check_runs(state, stmt, trips)
    for c in stmt.carries:
        facts = state.s.facts[c.phi]
        init = None if c.init is None else state.values.get(c.init)
        if isinstance(facts, Num) and facts.dims == () and facts.kind != "array":
            kind = facts_number(state, c.phi)
            if init is not None and not isinstance(init, Number):
                raise state.outside("a number that is an array before the loop")
            given = init if init is not None else Number(ir.constant(0), kind.dtype, True)
            joined(given, kind)
            name = as_variable(state, given, kind.dtype)
            result.append((ir.Carry(c.phi, name, None, c.out), kind))
        elif isinstance(facts, Num) and facts.dims:
            if init is None:
                init = nothing(state, facts)
            if not isinstance(init, Grid):
                raise state.outside("an array that is something else before the loop")
            result.append((ir.Carry(c.phi, c.init or init.view.id, None, c.out), init))
        else:
            raise state.outside(f"{state.s.hints[c.phi]!r}, of which it is not known before the run what it is")
    return result


def check_runs(state: State, stmt: ir.Loop, trips: Form | None) -> None:
    """A variable that only the loop assigns: the loop has to run, and its first iteration must not read it."""
    read = [c for c in stmt.carries if c.init is None and state.uses.get(c.phi, 0)]
    if trips is None or read:
        raise state.outside("a variable that has no value if the loop does not run")
    state.check(gast.Compare(ir.constant(0), [gast.Lt()], [trips.expr()]))


def nothing(state: State, facts: Num) -> Any:
    """Memory for a variable that nobody reads before it is assigned."""
    from .grids import dtype_name
    from .kinds import Axis

    if facts.dtype is None or facts.dims is None:
        raise state.outside("an array whose dtype or rank is not known before the run")
    variable = state.s.fresh("t", INT)
    ndim = len(facts.dims)
    shape = ir.constant((0,) * ndim) if ndim > 1 else ir.constant(0)
    state.emit(ir.Let((variable,), ir.call("np.empty", shape, dtype_name(facts.dtype))))
    axes = tuple(Axis(None, (variable, k)) for k in range(ndim))
    return state.array(variable, axes, facts.dtype, True)


def define_phis(state: State, stmt: ir.Loop, carries: Carried) -> None:
    for c, kind in carries:
        if isinstance(kind, Number):
            state.define(c.phi, kind.dtype)
            state.values[c.phi] = Number(ir.name(c.phi), kind.dtype, kind.python)
            if kind.dtype == INT64:
                state.counters.add(c.phi)
        else:
            grid = state.array_of_facts(c.phi, kind.contiguous)
            state.share(c.phi, *(n for n in (c.init,) if n is not None))
            if grid.ndim != kind.ndim or grid.dtype != kind.dtype:
                raise state.outside("an array that changes its kind in a loop")


def end_carries(state: State, stmt: ir.Loop, carries: Carried) -> None:
    for (carry, kind), c in zip(carries, stmt.carries):
        value = None if c.next is None else state.values.get(c.next)
        if isinstance(kind, Number):
            if not isinstance(value, Number):
                raise state.outside("a number that becomes something else in a loop")
            joined(value, kind)
            if kind.dtype == INT64:
                check_growth(state, c, value)
            carry.next = as_variable(state, value, kind.dtype)
        else:
            if not isinstance(value, Grid) or (value.ndim, value.dtype) != (kind.ndim, kind.dtype):
                raise state.outside("an array that changes its kind in a loop")
            carry.next = c.next


def check_growth(state: State, carry: ir.Carry, value: Number) -> None:
    """An integer may count in a loop; products and sums of such integers may outgrow 64 bits."""
    form = form_of(state, value.expr)
    own = gast.dump(ir.name(carry.phi))
    for key, count, expr in form.terms:
        if key == own and count == 1:
            continue
        if any(n in state.counters for n in ir.names_in(expr)):
            raise state.outside("an integer that may outgrow 64 bits in a loop")


def finish_carries(state: State, carries: Carried) -> None:
    for c, kind in carries:
        if isinstance(kind, Number):
            state.define(c.out, kind.dtype)
            state.values[c.out] = Number(ir.name(c.out), kind.dtype, kind.python)
            if kind.dtype == INT64:
                state.counters.add(c.out)
        else:
            phi = state.values[c.phi]
            following = state.values.get(c.next or "")
            contiguous = phi.contiguous and isinstance(following, Grid) and following.contiguous
            state.array_of_facts(c.out, contiguous)
            state.share(c.phi, c.out, *(n for n in (c.init, c.next) if n is not None))


LOWERINGS: dict[str, Any] = {
    "Let": let, "Store": store_stmt, "Effect": effect, "Raise": raise_stmt, "If": if_stmt, "Loop": loop,
}  # fmt: skip

__all__ = ["Form", "INT", "block", "made", "whole_number"]
