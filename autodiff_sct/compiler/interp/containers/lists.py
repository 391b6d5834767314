"""Operations on lists: what changes their length, and what joins them."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.dummies import MOST_ITEMS
from ...domain.facts import BOOL, Listed, Mapped, Num, Opaque
from ...domain.values import Const, Leaf, ListV, Obj, SliceV, Suspended, TupleV, Value
from ..kernel import operations
from ..kernel.operations import (
    as_list,
    branch,
    call_method_of,
    call_python,
    call_value,
    defines,
    get_item,
    items_of,
    own_value,
    run_generator,
)
from ..kernel.program_values import Restart
from ..kernel.slice_lengths import site_of
from ..kernel.specialiser import Specialiser, as_element, element_facts, storable
from ..kernel.user_errors import always, scalar_class
from ..models import lists as models_lists
from ..objects import dict_views
from ..objects.attributes import limit_of
from ..objects.fields import refuse_frozen
from ..objects.tables import restart_tabled
from ..world.captures import append_outside
from .items import is_slice, iteration, new_dict, note_resized, own_list, spread
from .iteration import each
from .sources import over_range


def as_tuple(s: Specialiser, items: Value) -> Value:
    """A list of run-time length as a tuple."""
    facts = s.facts_of(items)
    if isinstance(facts, Listed):
        element, facts = s.elements_of(facts), Listed(frozenset([s.root(("tuple", s.site()))]), True)
        if element is not None:
            s.put_element(facts, element)
    return s.let(
        ir.call(gast.Name("tuple", gast.Load(), None, None), s.expr(items)),
        facts,
        ir.Op(list.copy, {"x": items}),
        hint="items",
    )


def of_array(s: Specialiser, base: Leaf, expr: Any, item: Num) -> Value:
    """A list of the numbers of an array of one axis."""
    listed = Listed(frozenset([s.root(("list", s.site()))]))
    s.put_element(listed, item)
    return s.let(expr, listed, ir.Op(np.ndarray.tolist, {"x": base}), hint="items", may_raise=False)


@defines(operations.append)
def append(s: Specialiser, base: Value, value: Value) -> None:
    """``base.append(value)``"""
    value = own_value(s, value)
    if isinstance(base, Obj) and base.cls is list:
        refuse_frozen(s, base)
        refuse_walked(s, base)
        if base.id in s.objects:
            append_outside(s, base, value)
        else:
            s.env[(base.id, len(s.fields(base)))] = value
        return
    assert isinstance(base, Leaf)
    put_in(s, base, value, None)
    drop_surplus(s, base, Const(0))


CHANGES = ("pop", "insert", "reverse", "clear")


def change(s: Specialiser, base: Obj, name: str, args: list[Value]) -> Value:
    """Carry out a method of lists on one that exists at compile time only."""
    refuse_frozen(s, base)
    items = items_of(s, base, None)
    given = [*map(s.static, args[:1]), *(own_value(s, value) for value in args[1:])]
    try:
        result = getattr(items, name)(*given)
    except (IndexError, TypeError) as error:
        raise always(s, type(error), *error.args) from error
    hold(s, base, items)
    return Const(None) if result is None else result


def refuse_walked(s: Specialiser, base: Obj) -> None:
    """Refuse to change the length of a list while an iterator or a generator with a name goes over it."""
    if base.id in s.walked_known:
        raise s.refuse(
            "changed-while-iterated",
            "a list changes its length while an iterator goes over it",
            "give the iterator a copy",
        )


def hold(s: Specialiser, base: Obj, items: list[Value]) -> None:
    """Put other items into a list that exists at compile time only."""
    refuse_frozen(s, base)
    refuse_walked(s, base)
    if base.id in s.objects:
        raise s.refuse("outside-write", "a list that lives outside the function is changed", "change a copy of it")
    for k in s.fields(base):
        del s.env[(base.id, k)]
    s.env |= {(base.id, k): item for k, item in enumerate(items)}


def insert(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    """``base.insert(index, value)``"""
    put_in(s, base, own_value(s, value), index)


def put_in(s: Specialiser, base: Leaf, value: Value, index: Value | None) -> None:
    """Put a value into a list that lives in a variable, before a place or at the end."""
    facts = s.facts[base.name]
    assert isinstance(facts, Listed)
    value = as_element(s, value)
    if not storable(s, value):
        write_out(s, facts, value)
        raise s.refuse("list-of-objects", "an object or a function is put into a list that lives at run time")
    keep_ranks_apart(s, facts, value)
    s.put_element(facts, element_facts(s.facts_of(value)))
    note_resized(s, facts)
    for root in facts.roots:
        s.note_filled(root)
    method = partial(ir.call, ir.attribute(ir.name(base.name), "append" if index is None else "insert"))
    if index is None:
        s.block.append(ir.Effect(method(s.stored(value)), s.where(), "append", (base, value)))
    else:
        s.block.append(ir.Effect(method(s.expr(index), s.stored(value)), s.where(), "insert", (base, value, index)))


def keep_ranks_apart(s: Specialiser, facts: Listed, value: Value) -> None:
    """A list to which arrays of several ranks are added, once each, stays at compile time: each item keeps its rank."""
    element, added, root = s.elements_of(facts), s.facts_of(value), min(facts.roots)
    if len(facts.roots) > 1 or s.nesting.get(root) != (s.loops, s.branches):
        return
    if not isinstance(element, Num) or not isinstance(added, Num) or element.ndim == added.ndim:
        return
    site = site_of(s, root)
    if site[0] == "list" and element.kind == added.kind == "array" and not {site, ("ranks", site)} & s.dynamic:
        raise Restart(("ranks", site))


def write_out(s: Specialiser, facts: Listed, value: Value) -> None:
    """A list that objects or functions are put into is kept at compile time, and the loops that fill it written out.

    A column of a table cannot be: the objects that it holds have a table, too.
    """
    s.write_out_loop()
    site = site_of(s, next(iter(facts.roots))) if len(facts.roots) == 1 else None
    if s.loops or s.branches or (site is not None and site[0] == "column"):
        restart_tabled(s, value)
    if site is not None and site[0] == "list" and ("static", site) not in s.dynamic:
        raise Restart(("static", site))


def copied(s: Specialiser, base: Leaf, facts: Listed, called: Any) -> Value:
    """The copy of a list: a list of its own."""
    copy = Listed(frozenset([s.root(("list", s.site()))]))
    element = s.elements_of(facts)
    if element is not None:
        s.put_element(copy, element)
    for root in facts.roots & s.limits.keys():
        s.limits[next(iter(copy.roots))] = s.limits[root]
    return s.let(called, copy, ir.Op(list.copy, {"x": base}), hint="items", may_raise=False)


def drop_surplus(s: Specialiser, base: Leaf, index: Value) -> None:
    """A deque that is longer than its `maxlen` loses the item at an end."""
    facts = s.facts[base.name]
    if not isinstance(facts, Listed) or facts.roots.isdisjoint(s.limits):
        return
    length = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(base.name))
    full = s.let(gast.Compare(length, [gast.Gt()], [s.expr(limit_of(s, facts))]), BOOL, hint="full")
    branch(s, full, lambda: pop(s, base, [index]), lambda: None)


def pop(s: Specialiser, base: Leaf, args: list[Value]) -> Value:
    facts = s.facts[base.name]
    assert isinstance(facts, Listed)
    given = {} if args in ([], [Const(-1)]) else {"index": args[0]}
    element = s.elements_of(facts)
    note_resized(s, facts)
    expr = ir.call(ir.attribute(ir.name(base.name), "pop"), *map(s.expr, given.values()))
    op = ir.Op(list.pop, {"x": base, **given})
    return spread(s, s.let(expr, element if element is not None else Opaque(), op, hint="item", effect=True))


def part(s: Specialiser, base: Value, start: Value, stop: Value) -> Value:
    """``base[start:stop]``"""
    bounds = (start, stop, Const(None))
    static = all(isinstance(b, Const) and b.expr is None for b in bounds)
    return get_item(s, base, Const(slice(*(b.value for b in bounds))) if static else SliceV(*bounds))


def joined(s: Specialiser, lists: list[Value]) -> Value:
    """``a + b + ...`` of lists that live in variables."""
    result = lists[0]
    for other in lists[1:]:
        beside = s.facts_of(result)
        facts = Listed(frozenset([s.root(("list", s.site("joined")))]), isinstance(beside, Listed) and beside.is_tuple)
        for one in (result, other):
            known = s.facts_of(one)
            element = s.elements_of(known) if isinstance(known, Listed) else None
            if element is not None:
                s.put_element(facts, element)
        expr = ir.binop(s.expr(result), gast.Add, s.expr(other))
        result = s.let(expr, facts, ir.Op(operator.concat, {"a": result, "b": other}), hint="items", may_raise=False)
    return result


def replace_items(s: Specialiser, base: Leaf, items: Value) -> None:
    """``base[:] = items``"""
    if isinstance(items, ListV):
        items = own_list(s, items)
    facts, given = s.facts[base.name], s.facts_of(items)
    if not isinstance(items, Leaf) or not isinstance(given, Listed):
        raise s.refuse("different-kinds", "the items of this list are replaced by something that is not a list")
    assert isinstance(facts, Listed)
    element = s.elements_of(given)
    if element is not None:
        s.put_element(facts, element)
    note_resized(s, facts)
    everything = Const(slice(None))
    op = ir.Op(operator.setitem, {"x": base, "index": everything, "value": items})
    s.block.append(ir.Store(base.name, s.expr(everything), s.expr(items), None, s.where(), op))


@defines(operations.replace_slice)
def replace_slice(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    """``base[start:stop] = value``, and ``del base[start:stop]`` where the value is empty."""
    start, stop, step = bounds_of(index)
    if step not in (Const(None), Const(1)):
        call_python(s, models_lists.set_steps, [base, index, value], {})
        return
    if not in_order(start, stop):
        raise s.refuse(
            "setting", "assignment to a slice of a list whose bounds are known only at run time", "assign item by item"
        )
    items = as_list(s, value)
    parts: list[Value] = [own_list(s, items) if isinstance(items, ListV) else items]
    if start != Const(None):
        parts.insert(0, part(s, base, Const(None), start))
    if stop != Const(None):
        parts.append(part(s, base, stop, Const(None)))
    replace_items(s, base, joined(s, parts) if len(parts) > 1 else parts[0])


def bounds_of(index: Value) -> tuple[Value, Value, Value]:
    if isinstance(index, SliceV):
        return index.start, index.stop, index.step
    found = index.value
    return Const(found.start), Const(found.stop), Const(found.step)


def in_order(start: Value, stop: Value) -> bool:
    """True if a slice is known not to end before it begins."""
    if Const(None) in (start, stop) or start == stop:
        return True
    known = isinstance(start, Const) and isinstance(stop, Const)
    return known and start.value <= stop.value and (start.value < 0) == (stop.value < 0)


def delete_item(s: Specialiser, base: Value, index: Value) -> None:
    """``del base[index]``"""
    if isinstance(base, Obj) and base.cls is dict and s.is_static(index):
        if base.id in s.objects or s.static(index) not in s.fields(base):
            raise s.refuse(
                "dict-key",
                f"the key {s.static(index)!r} cannot be deleted from this dict",
                "build a new dict without it",
            )
        refuse_frozen(s, base)
        del s.env[(base.id, s.static(index))]
    elif isinstance(base, Obj) and base.id[0] == "dict":
        raise Restart(base.id)
    elif isinstance(base, Obj) and base.id[0] == "list" and s.is_static(index):
        change(s, base, "__delitem__", [index])
    elif isinstance(base, Leaf) and isinstance(s.facts[base.name], Mapped):
        delete_key(s, base, index)
    elif isinstance(base, Leaf) and isinstance(s.facts[base.name], Listed):
        if is_slice(index):
            if bounds_of(index)[2] not in (Const(None), Const(1)):
                call_python(s, models_lists.delete_steps, [base, index], {})
            else:
                replace_slice(s, base, index, ListV((), s.site("nothing")))
        else:
            pop(s, base, [index])
    else:
        s.as_list(base)
        raise s.refuse(
            "unsupported-syntax",
            "`del` of an item of something else than a list or a dict cannot be followed",
            "build a new container without it",
        )


def delete_key(s: Specialiser, base: Leaf, key: Value) -> None:
    dict_views.refuse_change(s, base)
    expr = ir.call(ir.attribute(ir.name(base.name), "pop"), s.expr(key))
    s.block.append(ir.Effect(expr, s.where(), "delete", (base, key)))


def extend_list(s: Specialiser, base: Value, value: Value) -> None:
    if isinstance(value, Suspended):
        run_generator(s, value, lambda item: append(s, base, item))
        return
    if is_known_list(value):
        value = TupleV(tuple(items_of(s, value, None)))  # it may be the same list
    each(s, iteration(s, value), lambda item: append(s, base, item))


def combine(s: Specialiser, op: type, a: Value, b: Value) -> Value | None:
    """``+`` and ``*`` of tuples and lists."""
    a, b = (ListV(tuple(items_of(s, v, None)), s.site(k)) if is_known_list(v) else v for k, v in enumerate((a, b)))
    if op is gast.Add:
        if isinstance(a, TupleV) and isinstance(b, TupleV):
            return TupleV(a.items + b.items)
        if isinstance(a, ListV) and isinstance(b, ListV):
            return ListV(a.items + b.items, s.site())
        a, b = (own_list(s, v) if isinstance(v, ListV) and is_list(s, other) else v for v, other in ((a, b), (b, a)))
        a, b = (own_tuple(s, v) if isinstance(v, TupleV) and is_tuple(s, other) else v for v, other in ((a, b), (b, a)))
        if isinstance(known := s.facts_of(a), Listed) and isinstance(other := s.facts_of(b), Listed):
            if known.is_tuple is None or known.is_tuple != other.is_tuple:
                raise s.refuse("different-kinds", "a list and a tuple are joined", "make lists of both")
            return joined(s, [a, b])
        for one, other in ((a, b), (b, a)):
            if isinstance(one, (TupleV, ListV)) and isinstance(other, Leaf) and s.facts[other.name] == Opaque():
                raise s.refuse("different-kinds", "only the run tells what this is joined with")
        if is_list(s, a) and is_list(s, b):
            result = own_list(s, ListV((), s.site("sum")))
            extend_list(s, result, a)
            extend_list(s, result, b)
            return result
    if op is gast.Mult:
        for items, times in ((a, b), (b, a)):
            if isinstance(items, (TupleV, ListV)) and may_count(s, times):
                return repeat(s, items, times)
            if isinstance(s.facts_of(items), Listed) and may_count(s, times):
                return repeat_list(s, items, times)
    return None


def may_count(s: Specialiser, times: Value) -> bool:
    """True if a factor of a list may be a whole number, by which it is repeated; an array multiplies its items."""
    facts = s.num(times)
    if facts is None or facts.kind == "array":
        return facts is None
    name = scalar_class(facts)
    whole = facts.dtype is None or facts.dtype.kind in "iub"
    if name is not None and not whole:
        raise always(s, TypeError, f"can't multiply sequence by non-int of type {name!r}")
    return whole


def is_dict(s: Specialiser, value: Value) -> bool:
    return isinstance(s.facts_of(value), Mapped) or (isinstance(value, Obj) and value.cls is dict)


def union(s: Specialiser, a: Value, b: Value) -> Value:
    """``a | b`` of dicts."""
    result = new_dict(s)
    for part in (a, b):
        call_method_of(s, result, "update", [part], {})
    return result


def is_known_list(value: Value) -> bool:
    """True if a value is a list that exists at compile time only."""
    return isinstance(value, Obj) and value.cls is list


def is_list(s: Specialiser, value: Value) -> bool:
    return isinstance(value, ListV) or isinstance(s.facts_of(value), Listed) or is_known_list(value)


def is_tuple(s: Specialiser, value: Value) -> bool:
    """True if a value is a tuple as long as only the run tells."""
    facts = s.facts_of(value)
    return isinstance(facts, Listed) and facts.is_tuple is True


def own_tuple(s: Specialiser, value: TupleV) -> Value:
    """A tuple beside one that is as long as only the run tells."""
    return as_tuple(s, own_list(s, ListV(value.items, s.site("items"))))


def repeat(s: Specialiser, items: Any, times: Value) -> Value:
    items = type(items)(
        tuple(own_value(s, v) for v in items.items), items.cls if isinstance(items, TupleV) else items.site
    )
    if s.is_static(times) and isinstance(s.static(times), int) and len(items.items) * s.static(times) <= MOST_ITEMS:
        return (
            type(items)(items.items * s.static(times))
            if isinstance(items, TupleV)
            else ListV(items.items * s.static(times), items.site)
        )
    if any(map(is_slice, items.items)):
        raise s.refuse(
            "setting",
            "slices are repeated a number of times known only at run time",
            "bring the axis to the front: np.moveaxis",
        )
    if isinstance(items, TupleV):
        return as_tuple(s, repeat(s, ListV(items.items, s.site("repeated tuple")), times))
    if all(isinstance(v, Const) for v in items.items):
        listed = Listed(frozenset([s.root(("list", s.site()))]))
        for item in items.items:
            s.put_element(listed, element_facts(s.facts_of(item)))
        expr = ir.binop(s.expr(items), gast.Mult, s.expr(times))
        return s.let(expr, listed, ir.Op(operator.mul, {"items": items, "times": times}), hint="items")
    return repeat_list(s, own_list(s, ListV(items.items, s.site("repeated"))), times)


def repeat_list(s: Specialiser, items: Value, times: Value) -> Value:
    """``items * times`` of a list that lives in a variable."""
    if not isinstance(items, Leaf):
        raise s.refuse("list-of-objects", "a list of objects or functions is repeated", "write it out")
    if is_tuple(s, items):
        return as_tuple(s, repeat_list(s, call_value(s, Const(list), [items], {}), times))
    if s.is_static(times) and 0 < s.static(times) <= 4:
        copies = [get_item(s, items, Const(slice(None)))]
        return joined(s, copies + [items] * (s.static(times) - 1)) if s.static(times) > 1 else copies[0]
    result = own_list(s, ListV((), s.site("repetition")))
    each(s, over_range(s, [Const(0), times]), lambda _: extend_list(s, result, items))
    return result
