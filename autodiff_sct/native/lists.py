"""The program's own lists of numbers: appended to, taken out of, shared under several names as Python's are.

Each is a list of the compiler behind, of one kind of numbers, and looks after its places itself: a place outside it
raises there as in Python, and the call is given up.  What is read out of a list is put into a variable at once, for the
next statement may change it.  A list that nobody changes and that no branch or loop hands on needs no memory: it is a
tuple (`changed_lists`).
"""

from __future__ import annotations

from typing import Any

import gast

from ..compiler import ir
from ..compiler.facts import Listed, Num
from ..compiler.regions import roots_of
from ..compiler.specialise.state import Specialiser
from .elements import as_float, as_truth, binary, constant_of, within
from .expressions import lower, number
from .grids import dtype_name
from .indexing import whole_number
from .kinds import BOOL, COUNTED, FLOAT64, INT64, WIDTH, Axis, Bundle, Grid, Items, Number, Value, none_of
from .state import State

METHODS = ("append", "pop", "insert", "extend", "reverse", "clear")


def changed_lists(s: Specialiser, program: ir.Block) -> set[int]:
    """The lists that the program changes, hands on in branches and loops, or saves."""
    found: set[str] = set()
    for stmt in ir.walk(program):
        found |= {m.target for m in getattr(stmt, "merges", ()) if not isinstance(stmt, ir.Try)}
        found |= {c.phi for c in getattr(stmt, "carries", ())}
        if isinstance(stmt, ir.Store):
            found.add(stmt.base)
        for node in [n for expr in ir.expressions(stmt) for n in ir.nodes(expr) if isinstance(n, gast.Call)]:
            if getattr(node.func, "attr", "") in METHODS and isinstance(node.func.value, gast.Name):
                found |= {node.func.value.id, *(arg.id for arg in node.args if isinstance(arg, gast.Name))}
    facts = [s.facts.get(name) for name in sorted(found)]
    return {root for each in facts if isinstance(each, Listed) for root in roots_of(each)}


def is_changed(state: State, target: str) -> bool:
    """Whether a variable holds a list that has to be one."""
    facts = state.s.facts.get(target)
    return isinstance(facts, Listed) and facts.is_tuple is False and bool(roots_of(facts) & state.lists)


def item_of(state: State, variable: str) -> Number:
    """What the facts of a list tell of its items."""
    facts = state.s.facts[variable]
    element = state.s.elements_of(facts) if isinstance(facts, Listed) else None
    if element is None:  # nothing is ever put into it
        return Number(None, FLOAT64, None)
    if not isinstance(element, Num) or element.dims != () or element.kind == "array":
        raise state.outside("a list of something else than numbers")
    if element.dtype not in (FLOAT64, INT64, BOOL):
        raise state.outside("a list of numbers that are not of double precision")
    python = True if element.python else False if element.kind == "npscalar" else None
    return Number(None, element.dtype, python, COUNTED)


def define(state: State, target: str, item: Number) -> Items:
    """Note that a variable holds a list."""
    state.define(target, ("list", item.dtype.name))
    state.values[target] = Items(ir.name(target), item)
    return state.values[target]  # type: ignore[no-any-return]


def let_list(state: State, target: str, value: Items) -> None:
    state.emit(ir.Let((target,), value.expr, effect=True))
    define(state, target, value.item)


def new_list(state: State, items: tuple[Value, ...], item: Number) -> Items:
    made = [fitting(state, value, item) for value in items]
    return Items(gast.List(made, gast.Load()) if made else none_of(item), item)


def let_new(state: State, target: str, values: tuple[Value, ...]) -> None:
    """``items = [a, b]``."""
    let_list(state, target, new_list(state, values, item_of(state, target)))


def as_items(state: State, value: Value, like: Number | None = None) -> Items:
    """A list, also where one is known item by item, or an error."""
    if isinstance(value, Bundle) and all(isinstance(item, Number) for item in value.items):
        kinds = {item.dtype for item in value.items}
        origins = {item.python for item in value.items}
        python = origins.pop() if len(origins) == 1 else None
        dtype = INT64 if kinds == {INT64} else FLOAT64
        return new_list(state, value.items, like or Number(None, dtype, python, COUNTED))
    if not isinstance(value, Items):
        raise state.outside("something else than a list of numbers where one is needed")
    if like is not None and value.item.dtype != like.dtype:
        raise state.outside("a list of numbers of several kinds")
    return value


def in_variable(state: State, value: Items) -> Items:
    if isinstance(value.expr, gast.Name):
        return value
    variable = state.fresh("items", FLOAT64)
    let_list(state, variable, value)
    return state.values[variable]  # type: ignore[no-any-return]


def fitting(state: State, value: Value, item: Number) -> Any:
    """A number as an item of a list."""
    if not isinstance(value, Number):
        raise state.outside("a list of something else than numbers")
    if item.dtype == FLOAT64 and value.dtype in (FLOAT64, INT64):
        return as_float(value)
    if value.dtype != item.dtype:
        raise state.outside("a list of numbers of several kinds")
    if value.dtype == INT64 and value.bits > COUNTED:
        value = state.let(value)
        state.check(within(value.expr, COUNTED))
    return value.expr


def read(state: State, expr: Any, item: Number, hint: str = "item") -> Number:
    """What an expression takes out of a list, in a variable."""
    variable = state.fresh(hint, item.dtype)
    state.emit(ir.Let((variable,), expr, effect=True))
    state.values[variable] = Number(ir.name(variable), item.dtype, item.python, item.bits)
    return state.values[variable]  # type: ignore[no-any-return]


# -- what is done with lists


def subscript(state: State, base: Items, index: Any) -> Value:
    """``items[k]`` and ``items[a:b]``."""
    if isinstance(index, gast.Slice):
        return Items(ir.subscript(base.expr, cut(state, index)), base.item)
    place = whole_number(state, number(state, index))
    return read(state, ir.subscript(base.expr, place), base.item)


def cut(state: State, index: gast.Slice) -> Any:
    parts = [None if p is None else whole_number(state, number(state, p)) for p in (index.lower, index.upper)]
    step = None if index.step is None else constant_of(number(state, index.step).expr)
    if index.step is not None and (not isinstance(step, int) or step == 0):
        raise state.outside("a slice whose step is not known before the run")
    return gast.Slice(*parts, None if step is None else ir.constant(step))


def length(state: State, value: Items) -> Number:
    size = Number(None, INT64, True, WIDTH)
    return read(state, ir.call("len", in_variable(state, value).expr), size, "n")


def total(state: State, value: Items) -> Number:
    """``sum(items)``."""
    start = ir.constant(0.0 if value.item.dtype == FLOAT64 else 0)
    dtype = FLOAT64 if value.item.dtype == FLOAT64 else INT64
    python = value.item.python if value.item.dtype == FLOAT64 else True
    result = read(state, ir.call("sum", value.expr, start), Number(None, dtype, python, COUNTED), "total")
    if dtype == INT64:
        state.check(within(result.expr, COUNTED))
    return result


def extreme(state: State, name: str, value: Items) -> Number:
    """``min(items)`` and ``max(items)``."""
    function = {"min": "least_item", "max": "greatest_item"}[name]
    state.imported.add(function)
    return read(state, ir.call(function, in_variable(state, value).expr), value.item)


def zeros(state: State, value: Value, fill: float) -> Items:
    """The derivatives of the items of a list, at first.

    They are Python's numbers or NumPy's as the items are: where a sum may be another, the program converts it.
    """
    values = in_variable(state, as_items(state, value))
    one = gast.List([ir.constant(fill)], gast.Load())
    return Items(ir.binop(one, gast.Mult, ir.call("len", values.expr)), Number(None, FLOAT64, values.item.python))


def joined_lists(state: State, op: type, left: Value, right: Value) -> Items:
    """``items + others`` and ``items * n``."""
    if op is gast.Add:
        like = next(v.item for v in (left, right) if isinstance(v, Items))
        a, b = (in_variable(state, as_items(state, v, like)) for v in (left, right))
        python = a.item.python if a.item.python == b.item.python else None
        return Items(ir.binop(a.expr, gast.Add, b.expr), Number(None, like.dtype, python, COUNTED))
    if op is gast.Mult and isinstance(left, Items) and isinstance(right, Number) and right.dtype == INT64:
        return Items(ir.binop(left.expr, gast.Mult, right.expr), left.item)
    raise state.outside("an operator between lists")


def popped(state: State, base: Items, args: list[Any]) -> Number:
    """``items.pop()``."""
    places = [whole_number(state, number(state, a)) for a in args]
    return read(state, ir.call(ir.attribute(base.expr, "pop"), *places), base.item)


def method(state: State, base: Items, name: str, exprs: list[Any]) -> None:
    """A statement that changes a list."""
    if name == "pop":
        popped(state, base, exprs)
        return
    args = [lower(state, expr) for expr in exprs]
    if name == "append":
        given = [fitting(state, args[0], base.item)]
    elif name in ("reverse", "clear") and not args:
        given = []
    elif name == "insert":
        given = [whole_number(state, args[0]), fitting(state, args[1], base.item)]
    elif name == "extend" and isinstance(args[0], (Items, Bundle)):
        given = [in_variable(state, as_items(state, args[0], base.item)).expr]
    else:
        raise state.outside(f"the method {name!r} of a list")
    state.emit(ir.Effect(ir.call(ir.attribute(base.expr, name), *given)))


def stored(state: State, base: Items, stmt: ir.Store) -> None:
    """``items[k] = value``, ``items[k] op= value`` and ``items[a:b] = others``."""
    assert isinstance(base.expr, gast.Name)
    if stmt.aug is not None and takes_out(state, stmt.value, stmt.base):
        raise state.outside("an item of a list that is taken out while one is changed")
    value = lower(state, stmt.value)
    if isinstance(stmt.index, gast.Slice):
        if stmt.aug is not None or stmt.index.step is not None:
            raise state.outside("a slice of a list that is changed")
        others = in_variable(state, as_items(state, value, base.item))
        state.emit(ir.Store(base.expr.id, cut(state, stmt.index), others.expr))
        return
    place = whole_number(state, number(state, stmt.index))
    if stmt.aug in (gast.Add, gast.Sub) and base.item.dtype == FLOAT64:
        return state.emit(ir.Store(base.expr.id, place, fitting(state, value, base.item), stmt.aug))
    if stmt.aug is not None:
        old = read(state, ir.subscript(base.expr, place), base.item)
        if not isinstance(value, Number):
            raise state.outside("a list of something else than numbers")
        value = binary(stmt.aug, old, value, state.check)
    state.emit(ir.Store(base.expr.id, place, fitting(state, value, base.item)))


def takes_out(state: State, expr: Any, base: str) -> bool:
    """Whether an expression takes an item out of a list that may be the one named."""
    calls = [n.func for n in ir.nodes(expr) if isinstance(n, gast.Call) and getattr(n.func, "attr", "") == "pop"]
    names = [f.value.id for f in calls if isinstance(f.value, gast.Name) and f.value.id not in state.stacks]
    return any(roots_of(state.s.facts[n]) & roots_of(state.s.facts[base]) for n in names)


def added_items(state: State, name: str, values: list[Value]) -> None:
    """`add_items` and `add_carried` of the run time."""
    shadow, cotangents = (in_variable(state, as_items(state, v)) for v in values)
    if not shadow.item.dtype == cotangents.item.dtype == FLOAT64:
        raise state.outside("derivatives that are whole numbers")
    state.imported.add(name)
    state.emit(ir.Effect(ir.call(name, shadow.expr, cotangents.expr)))


def added_part(state: State, shadow: Items, args: list[Any]) -> None:
    """`add_at` of the run time for a slice of a list."""
    _, index, cotangents = args
    if not isinstance(index, gast.Call) or getattr(index.func, "id", "") != "slice":
        raise state.outside("an index that is not known before the run")
    parts = [None if isinstance(a, gast.Constant) and a.value is None else a for a in index.args]
    start, stop, step = parts if len(parts) == 3 else (*parts, None) if len(parts) == 2 else (None, parts[0], None)
    value = in_variable(state, as_items(state, lower(state, cotangents), shadow.item))
    shown = cut(state, gast.Slice(start, stop, step))
    bounds = [ir.constant(None) if p is None else p for p in (shown.lower, shown.upper, shown.step)]
    state.imported.add("add_part")
    state.emit(ir.Effect(ir.call("add_part", shadow.expr, ir.call("slice", *bounds), value.expr)))


def array(state: State, value: Items) -> Grid:
    """``np.array(items)``."""
    if value.item.dtype == BOOL:
        raise state.outside("an array of truth values")
    items = in_variable(state, value)
    if value.item.dtype == INT64:  # of no items, it would be an array of floats
        state.check(as_truth(length(state, items)))
    variable = state.s.fresh("t", state.s.facts.get(items.expr.id) or Num())
    made = ir.call("np.array", items.expr, dtype_name(value.item.dtype))
    state.emit(ir.Let((variable,), made, effect=True))
    return state.array(variable, (Axis(None, (variable, 0)),), value.item.dtype, True)


# -- branches and loops


def handed_on(state: State, target: str, names: list[str | None], sides: list[ir.Block]) -> list[str]:
    """The lists that a variable may be after a branch; there is an empty one where it is not bound."""
    values = [None if n is None else state.values.get(n) for n in names]
    item = next(v.item for v in values if isinstance(v, Items))
    item = replace_python(item, values)
    found = []
    for value, body in zip(values, sides):
        with state.writing() as extra:
            given = Items(none_of(item), item) if value is None else as_items(state, value, item)
            found.append(in_variable(state, given).expr.id)
        body += extra
    define(state, target, item)
    return found


def replace_python(item: Number, values: list[Value]) -> Number:
    same = all(v is None or (isinstance(v, Items) and v.item.python == item.python) for v in values)
    return item if same else Number(None, item.dtype, None, item.bits)


def entering(state: State, phi: str, init: Value) -> Items:
    """What a loop carries as a list, as it enters: where the facts do not tell its items, that list does."""
    facts = state.s.facts[phi]
    element = state.s.elements_of(facts) if isinstance(facts, Listed) else None
    told = not isinstance(element, Num) or element.dtype is not None
    if told or not isinstance(init, Items):
        item = item_of(state, phi)
        given = Items(none_of(item), item) if init is None else as_items(state, init, item)
        return Items(in_variable(state, given).expr, item)
    return init


def coming_back(state: State, value: Value, item: Number) -> str:
    """The list that a loop hands to its next iteration."""
    given = Items(none_of(item), item) if value is None else as_items(state, value, item)
    return str(in_variable(state, given).expr.id)
