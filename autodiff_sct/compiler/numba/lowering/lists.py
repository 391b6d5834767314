"""The program's own lists of numbers, of such lists and of tuples: changed and shared as Python's are.

Each is a list of the compiler behind, of one kind of items, and looks after its places itself: a place outside it
raises there as in Python, and the call is given up.  What is read out of a list is put into a variable at once, for the
next statement may change it.  A list that nobody changes and that no branch or loop hands on needs no memory: it is a
tuple (`changed_lists`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gast

from ... import ir
from ...analysis.alias import roots_of
from ...domain.facts import Listed, Num, Pair
from ...ir.function import Function
from ..kinds import (
    BOOL,
    COUNTED,
    FLOAT32,
    FLOAT64,
    INT64,
    WIDTH,
    Axis,
    Bundle,
    Grid,
    Item,
    Items,
    Number,
    Value,
    none_of,
)
from ..passes.affine import constant_form, form_of
from ..passes.index_functions import dtype_name
from ..state import Scope, State
from .expressions import lower, number
from .scalars import as_float, as_truth, binary, constant_of, within
from .tape_index import whole_number

METHODS = ("append", "pop", "insert", "extend", "reverse", "clear")


def changed_lists(s: Function, program: ir.Block) -> set[int]:
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
    """True if a variable holds a list that has to be one."""
    facts = state.s.facts.get(target)
    return isinstance(facts, Listed) and facts.is_tuple is False and bool(roots_of(facts) & state.lists)


def item_of(state: State, variable: str) -> Item:
    """The items of a list by its facts."""
    facts = state.s.facts[variable]
    return described(state, state.s.elements_of(facts) if isinstance(facts, Listed) else None)


def described(state: State, element: Any) -> Item:
    if element is None:  # nothing is ever put into it
        return Number(None, FLOAT64, None)
    if isinstance(element, Listed) and element.is_tuple is False:
        return Items(None, described(state, state.s.elements_of(element)))
    if isinstance(element, Pair) and element.cls is None and element.items:
        items = tuple(described(state, facts) for facts in element.items)
        if all(isinstance(item, Number) for item in items):
            return Bundle(items)
    if not isinstance(element, Num) or element.dims != () or element.kind == "array":
        raise state.outside("a list of something else than numbers")
    if element.dtype not in (FLOAT64, INT64, BOOL):
        raise state.outside("a list of numbers that are not of double precision")
    python = True if element.python else False if element.kind == "npscalar" else None
    return Number(None, element.dtype, python, COUNTED)


def kind_of(item: Item) -> Any:
    """The kind that the compiler behind must see as one type of items."""
    if isinstance(item, Items):
        return ("list", kind_of(item.item))
    return tuple(map(kind_of, item.items)) if isinstance(item, Bundle) else item.dtype.name


def define(state: State, target: str, item: Item) -> Items:
    """Note that a variable holds a list."""
    state.define(target, ("list", kind_of(item)))
    state.values[target] = Items(ir.name(target), item)
    return state.values[target]  # type: ignore[no-any-return]


def let_list(state: State, target: str, value: Items) -> None:
    state.emit(ir.Let((target,), value.expr, effect=True))
    define(state, target, value.item)


def let_given(state: State, target: str, value: Items) -> None:
    """A list in a variable of the program: what is put into it later may be other numbers than those in it now."""
    let_list(state, target, Items(value.expr, as_told(state, target, value.item)))


def as_told(state: State, target: str, item: Item) -> Item:
    """The items of a list by its facts where these tell, else their present kind."""
    facts = state.s.facts.get(target)
    element = state.s.elements_of(facts) if isinstance(facts, Listed) else None
    if element is None or not is_told(state, element):
        return item
    told = described(state, element)
    if kind_of(told) != kind_of(item):
        raise state.outside("a list of values of several kinds")
    return told


def new_list(state: State, items: tuple[Value, ...], item: Item) -> Items:
    made = [fitting(state, value, item) for value in items]
    return Items(gast.List(made, gast.Load()) if made else none_of(item), item)


def let_new(state: State, target: str, values: tuple[Value, ...]) -> None:
    """``items = [a, b]``."""
    let_list(state, target, new_list(state, values, item_of(state, target)))


def as_items(state: State, value: Value, like: Item | None = None) -> Items:
    """A list, also where one is known item by item, or an error."""
    if isinstance(value, Bundle) and like is not None:
        return new_list(state, value.items, like)
    if isinstance(value, Bundle) and value.items and not any(isinstance(item, Number) for item in value.items):
        lists = [in_variable(state, as_items(state, item)) for item in value.items]
        return new_list(state, tuple(lists), Items(None, lists[0].item))
    if isinstance(value, Bundle) and all(isinstance(item, Number) for item in value.items):
        kinds = {item.dtype for item in value.items}
        origins = {item.python for item in value.items}
        python = origins.pop() if len(origins) == 1 else None
        dtype = kinds.pop() if len(kinds) == 1 else FLOAT64
        if dtype == FLOAT32:
            raise state.outside("a list of numbers that are not of double precision")
        return new_list(state, value.items, Number(None, dtype, python, COUNTED))
    if not isinstance(value, Items):
        raise state.outside("something else than a list of numbers where one is needed")
    if like is not None and kind_of(value.item) != kind_of(like):
        raise state.outside("a list of numbers of several kinds")
    return value


def in_variable(state: State, value: Items) -> Items:
    if isinstance(value.expr, gast.Name):
        return value
    variable = state.fresh("items", FLOAT64)
    let_list(state, variable, value)
    return state.values[variable]  # type: ignore[no-any-return]


def fitting(state: State, value: Value, item: Item) -> Any:
    """A value as an item of a list."""
    if isinstance(item, Items):
        return in_variable(state, as_items(state, value, item.item)).expr
    if isinstance(item, Bundle):
        if not isinstance(value, Bundle) or len(value.items) != len(item.items):
            raise state.outside("a list of values of several kinds")
        return ir.tuple_([fitting(state, v, each) for v, each in zip(value.items, item.items)])
    if not isinstance(value, Number):
        raise state.outside("a list of something else than numbers")
    if item.dtype == FLOAT64 and value.dtype in (FLOAT64, INT64):
        if item.python and not value.python and not state.reversing:
            raise state.outside("a list of Python's numbers into which one of NumPy's is put")
        return as_float(value)
    if value.dtype != item.dtype:
        raise state.outside("a list of numbers of several kinds")
    if value.dtype == INT64 and value.bits > COUNTED:
        value = state.let(value)
        state.check(within(value.expr, COUNTED))
    return value.expr


def taken(state: State, expr: Any, item: Item) -> Value:
    """An item of a list, in variables."""
    if isinstance(item, Items):
        return in_variable(state, Items(expr, item.item))
    if isinstance(item, Number):
        return read(state, expr, item)
    names = [state.fresh("item", each.dtype) for each in item.items]
    state.emit(ir.Let(tuple(names), expr, effect=True))
    numbers = [Number(ir.name(n), each.dtype, each.python, each.bits) for n, each in zip(names, item.items)]
    state.values |= dict(zip(names, numbers))
    return Bundle(tuple(numbers))


def read(state: State, expr: Any, item: Number, hint: str = "item") -> Number:
    """A number that an expression takes out of a list, in a variable."""
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
    return taken(state, ir.subscript(base.expr, place), base.item)


def cut(state: State, index: gast.Slice) -> Any:
    parts = [None if p is None else whole_number(state, number(state, p)) for p in (index.lower, index.upper)]
    step = None if index.step is None else constant_of(number(state, index.step).expr)
    if index.step is not None and (not isinstance(step, int) or step == 0):
        raise state.outside("a slice whose step is not known before the run")
    return gast.Slice(*parts, None if step is None else ir.constant(step))


def length(state: State, value: Items) -> Number:
    size = Number(None, INT64, True, WIDTH)
    return read(state, ir.call("len", in_variable(state, value).expr), size, "n")


def of_numbers(state: State, value: Items) -> Items:
    if not isinstance(value.item, Number):
        raise state.outside("numbers out of a list of lists or tuples")
    return value


def total(state: State, value: Items) -> Number:
    """``sum(items)``."""
    value = of_numbers(state, value)
    start = ir.constant(0.0 if value.item.dtype == FLOAT64 else 0)
    dtype = FLOAT64 if value.item.dtype == FLOAT64 else INT64
    python = value.item.python if value.item.dtype == FLOAT64 else True
    result = read(state, ir.call("sum", value.expr, start), Number(None, dtype, python, COUNTED), "total")
    if dtype == INT64:
        state.check(within(result.expr, COUNTED))
    return result


def extreme(state: State, name: str, value: Items) -> Number:
    """``min(items)`` and ``max(items)``."""
    value = of_numbers(state, value)
    function = {"min": "least_item", "max": "greatest_item"}[name]
    state.imported.add(function)
    return read(state, ir.call(function, in_variable(state, value).expr), value.item)


def zeros(state: State, value: Value, fill: float) -> Items:
    """The derivatives of the items of a list, at first.

    They are Python's numbers or NumPy's as the items are: where a sum may be another, the program converts it.
    """
    values = in_variable(state, as_items(state, value))
    if not isinstance(values.item, Number):
        return zeros_of_lists(state, values, fill)
    one = gast.List([ir.constant(fill)], gast.Load())
    return Items(ir.binop(one, gast.Mult, ir.call("len", values.expr)), Number(None, FLOAT64, values.item.python))


def zeros_of_lists(state: State, values: Items, fill: float) -> Items:
    """Derivatives of lists and of tuples are lists."""
    inner = values.item
    if isinstance(inner, Bundle):
        origins = {each.python for each in inner.items}
        row: Item = Number(None, FLOAT64, origins.pop() if len(origins) == 1 else None)
        fresh: Any = gast.List([ir.constant(fill)] * len(inner.items), gast.Load())
    else:
        row = Number(None, FLOAT64, getattr(inner.item, "python", None))
        fresh = None
    if isinstance(inner, Items) and not isinstance(inner.item, Number):
        raise state.outside("lists of lists of lists")
    result = in_variable(state, Items(none_of(Items(None, row)), Items(None, row)))
    with each_place(state, length(state, values)) as place:
        if fresh is None:
            item = taken(state, ir.subscript(values.expr, place), inner)
            fresh = zeros(state, item, fill).expr
        state.emit(ir.Effect(ir.call(ir.attribute(result.expr, "append"), fresh)))
    return result


@contextmanager
def each_place(state: State, count: Number) -> Iterator[Any]:
    """Write a loop over the places of a list."""
    index = state.fresh("i", INT64)
    last = form_of(state, count.expr).plus(constant_form(1), -1)
    with state.inside(Scope("range", index, constant_form(0), last)) as body:
        state.define(index, INT64)
        yield ir.name(index)
    state.emit(ir.Loop("range", body, [], index, (count.expr,)))


def joined_lists(state: State, op: type, left: Value, right: Value) -> Items:
    """``items + others`` and ``items * n``."""
    if op is gast.Add:
        like = next((v.item for v in (left, right) if isinstance(v, Items)), None)
        a, b = (in_variable(state, as_items(state, v, like)) for v in (left, right))
        return Items(ir.binop(a.expr, gast.Add, b.expr), of_either(a.item, b.item))
    if op is gast.Mult and isinstance(left, (Items, Bundle)) and isinstance(right, Number) and right.dtype == INT64:
        items = as_items(state, left)
        return Items(ir.binop(items.expr, gast.Mult, right.expr), items.item)
    raise state.outside("an operator between lists")


def popped(state: State, base: Items, args: list[Any]) -> Value:
    """``items.pop()``."""
    places = [whole_number(state, number(state, a)) for a in args]
    return taken(state, ir.call(ir.attribute(base.expr, "pop"), *places), base.item)


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
    if stmt.aug is not None:
        base = of_numbers(state, base)
    if stmt.aug in (gast.Add, gast.Sub) and base.item.dtype == FLOAT64:
        return state.emit(ir.Store(base.expr.id, place, fitting(state, value, base.item), stmt.aug))
    if stmt.aug is not None:
        old = read(state, ir.subscript(base.expr, place), base.item)
        if not isinstance(value, Number):
            raise state.outside("a list of something else than numbers")
        value = binary(stmt.aug, old, value, state.check)
    state.emit(ir.Store(base.expr.id, place, fitting(state, value, base.item)))


def takes_out(state: State, expr: Any, base: str) -> bool:
    """True if an expression takes an item out of a list that may be the one named."""
    calls = [n.func for n in ir.nodes(expr) if isinstance(n, gast.Call) and getattr(n.func, "attr", "") == "pop"]
    names = [f.value.id for f in calls if isinstance(f.value, gast.Name) and f.value.id not in state.stacks]
    return any(roots_of(state.s.facts[n]) & roots_of(state.s.facts[base]) for n in names)


def added_items(state: State, name: str, values: list[Value]) -> None:
    """`add_items` and `add_carried` of the run time."""
    shadow, cotangents = (in_variable(state, as_items(state, v)) for v in values)
    if name == "add_items" and all(isinstance(v.item, Items) for v in (shadow, cotangents)):
        count, other = length(state, shadow), length(state, cotangents)
        state.check(gast.Compare(count.expr, [gast.Eq()], [other.expr]))
        with each_place(state, count) as place:
            rows = [taken(state, ir.subscript(v.expr, place), v.item) for v in (shadow, cotangents)]
            added_items(state, name, rows)
        return
    if not kind_of(shadow.item) == kind_of(cotangents.item) == FLOAT64.name:
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
    if of_numbers(state, value).item.dtype == BOOL:
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
    items = [v.item for v in values if isinstance(v, Items)]
    item = of_either(items[0], items[-1])
    found = []
    for value, body in zip(values, sides):
        with state.writing() as extra:
            given = Items(none_of(item), item) if value is None else as_items(state, value, item)
            found.append(in_variable(state, given).expr.id)
        body += extra
    define(state, target, item)
    return found


def of_either(a: Item, b: Item) -> Item:
    """The facts of the items of one of two lists."""
    if isinstance(a, Items) and isinstance(b, Items):
        return Items(None, of_either(a.item, b.item))
    if isinstance(a, Bundle) and isinstance(b, Bundle):
        return Bundle(tuple(of_either(x, y) for x, y in zip(a.items, b.items)))
    if isinstance(a, Number) and isinstance(b, Number) and a.python != b.python:
        return Number(None, a.dtype, None, a.bits)
    return a


def entering(state: State, phi: str, init: Value) -> Items:
    """The kind of a list as a loop carries it at its begin: where the facts do not tell its items, the list does."""
    facts = state.s.facts[phi]
    element = state.s.elements_of(facts) if isinstance(facts, Listed) else None
    told = is_told(state, element)
    if told or not isinstance(init, Items):
        item = item_of(state, phi)
        given = Items(none_of(item), item) if init is None else as_items(state, init, item)
        return Items(in_variable(state, given).expr, item)
    return init


def is_told(state: State, element: Any) -> bool:
    """True if the facts of a list tell what its items are."""
    if isinstance(element, Listed):
        return is_told(state, state.s.elements_of(element))
    return not isinstance(element, Num) or element.dtype is not None


def coming_back(state: State, value: Value, item: Item) -> str:
    """The list that a loop hands to its next iteration."""
    given = Items(none_of(item), item) if value is None else as_items(state, value, item)
    return str(in_variable(state, given).expr.id)
