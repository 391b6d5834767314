"""The reverse of lists and of reads of items: a list's shadow is a list of the cotangents of its items.

The reverse of lists: a list's shadow is a list of the cotangents of its items.

What is put into a list takes its cotangent out of the shadow, and what is taken out puts it back.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ....errors import NoRule
from ....rules.shape import array_of_floats, asarray_of_floats
from ....rules.table import TABLE
from ....runtime import broadcast, memory, objects, scatter
from ... import ir
from ...domain.facts import FLOAT, INT, UNKNOWN, Facts, Listed, Mapped, Num, Pair, unless_none
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import indexing
from ...interp.kernel.specialiser import Specialiser
from ...ir.function import Role
from ..strong_zeros import rule_for
from .container_aliasing import (
    check_copied,
    check_put,
    is_distinct,
    loops_around,
    may_repeat,
    written_later,
    written_regions,
)
from .cotangents import (
    copied,
    helper,
    spread,
)

if TYPE_CHECKING:
    from .transform import Reverse

PYTHONS = tuple(map(np.dtype, (np.float16, np.float32, np.float64)))  # whose numbers Python's floats hold


def list_made(r: Reverse, stmt: ir.Let) -> None:
    assert stmt.op is not None
    items = stmt.op.arguments.get("items")
    if items is None:
        return
    if stmt.target in r.shared_lists:
        return
    shadow = r.shadows.of(stmt.target)
    held = held_by(r.s, stmt.target)
    for k, item in enumerate(items.items):
        check_put(r, stmt, item, stmt.target)
        give_item(r, stmt, item, shadow, Const(k), held)


def rule_of(s: Specialiser, op: ir.Op, d: Value) -> Any:
    """The reverse of an operation; that of the array of a list of Python's floats gives Python's floats, too."""
    rule = {np.array: array_of_floats, np.asarray: asarray_of_floats}.get(op.fn)
    items, have = op.arguments.get("object", op.arguments.get("a")), s.num(d)
    facts = s.facts[items.name] if rule is not None and isinstance(items, Leaf) else None
    if not isinstance(facts, Listed) or facts_of_item(s.elements_of(facts)) != FLOAT:
        return rule_for(s, TABLE[op.fn], "reverse")
    real = have is not None and have.ndim == 1 and have.dtype is not None and have.dtype in PYTHONS
    return rule if real else TABLE[op.fn].reverse


def note_parts(s: Specialiser, op: ir.Op, entries: dict[str, Value]) -> None:
    """The cotangents of the items of a list that became one array have the shapes of the items, and the other way."""
    if op.fn not in (np.stack, np.array, np.asarray, np.ndarray.tolist):
        return
    for p, entry in entries.items():
        argument = op.arguments[p]
        if not isinstance(argument, Leaf) or not isinstance(entry, Leaf):
            continue
        found, have = s.facts[argument.name], s.facts[entry.name]
        if isinstance(found, Listed):
            s.fits.setdefault(entry.name, argument.name)
        elif op.fn is np.ndarray.tolist and isinstance(found, Num) and isinstance(have, Num):
            s.fits.setdefault(entry.name, argument.name)
            s.facts[entry.name] = replace(have, dims=found.dims)


def joined(r: Reverse, stmt: ir.Let) -> None:
    """``y = a + b`` of lists: each gets its part."""
    s = r.s
    assert stmt.op is not None
    check_copied(r, stmt)
    a, b = stmt.op.arguments["a"], stmt.op.arguments["b"]
    shadow = s.expr(r.shadows.of(stmt.target))
    length = ir.call(gast.Name("len", gast.Load(), None, None), s.expr(a))
    for name, part in ((a.name, gast.Slice(None, length, None)), (b.name, gast.Slice(length, None, None))):
        if r.activity.active(name):
            d = s.let(ir.subscript(shadow, part), UNKNOWN, may_raise=False)
            s.block.append(ir.Effect(helper(s, memory.add_items, r.shadows.of(name), d), s.origin, "adjoint"))


def replaced(r: Reverse, stmt: ir.Store, shadow: Leaf, value: Leaf) -> None:
    """``x[:] = value`` of lists."""
    s = r.s
    assert stmt.op is not None
    if r.activity.active(value.name):
        s.block.append(ir.Effect(helper(s, memory.add_items, r.shadows.of(value.name), shadow), s.origin, "adjoint"))
    r.overwritten.restore(stmt)
    zero = helper(s, broadcast.zeros_like, r.overwritten.old(stmt))
    s.block.append(ir.Store(shadow.name, stmt.index, zero, None, s.origin))


def give_item(r: Reverse, stmt: Any, item: Value, shadow: Leaf, index: Value, held: Facts | None) -> None:
    """The cotangent of something that was put into a list, which holds items of these facts."""
    s = r.s
    if isinstance(item, TupleV):
        if any(r.activity.active(n) for n in s.leaves(item)):
            inner = s.let(ir.subscript(s.expr(shadow), s.expr(index)), UNKNOWN, may_raise=False)
            parts = held.items if isinstance(held, Pair) else [held] * len(item.items)
            for k, (part, facts) in enumerate(zip(item.items, parts)):
                give_item(r, stmt, part, inner, Const(k), facts)
    elif isinstance(item, Leaf) and r.activity.active(item.name):
        d = s.let(ir.subscript(s.expr(shadow), s.expr(index)), facts_of_item(held), may_raise=False)
        give_put(r, stmt, item.name, d, False)


def held_by(s: Specialiser, name: str) -> Facts | None:
    """The facts of the items of a list: its shadow holds Python numbers only where it does, too."""
    facts = s.facts[name]
    return s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else None


def give_popped(r: Reverse, stmt: Any, value: Value, d: Leaf) -> None:
    s = r.s
    if isinstance(value, Leaf):
        give_put(r, stmt, value.name, d, True)
    elif isinstance(value, TupleV):
        for k, part in enumerate(value.items):
            if any(r.activity.active(n) for n in s.leaves(part)):
                inner = s.let(
                    ir.subscript(s.expr(d), ir.constant(k)),
                    UNKNOWN,
                    may_raise=False,
                    hint="d_item",
                    role=Role.COTANGENT,
                )
                give_popped(r, stmt, part, inner)


def give_put(r: Reverse, stmt: Any, name: str, d: Leaf, owned: bool) -> None:
    """The cotangent of what was put into a list: its own, as it was then."""
    if r.activity.active(name) and r.has_shadow(name) and isinstance(r.s.facts[name], Listed):
        give_list(r, stmt, name, d)
    else:
        r.add(name, d, owned)


def give_list(r: Reverse, stmt: Any, name: str, d: Leaf) -> None:
    """Give a list the cotangents that its items had at a statement; its shadow is as long as the list became."""
    loops = loops_around(r, stmt)
    if any(written_later(r, stmt, region, loops) for region in written_regions(r, name)):
        s = r.s
        s.block.append(ir.Effect(helper(s, memory.add_carried, r.shadows.of(name), d), s.origin, "adjoint"))
    else:
        r.add_items(name, r.shadows.of(name), d)


def popped(r: Reverse, stmt: ir.Let) -> None:
    """``x = items.pop()``: its cotangent goes back onto the shadow."""
    s = r.s
    assert stmt.op is not None
    base = stmt.op.arguments["x"]
    r.overwritten.restore(stmt)
    if not r.activity.active(base.name):
        return
    shadow = r.shadows.of(base.name)
    if r.has_shadow(stmt.target) and r.activity.active(stmt.target):
        value: Value = r.shadows.of(stmt.target)
    else:
        found = r.take(stmt.target)
        value = zero_of_item(s.facts[stmt.target]) if found is None else found.value
        if found is not None and not found.owned:
            value = copied(s, value)
    s.block.append(ir.Effect(put_again(s, shadow, stmt.op.arguments.get("index"), value), s.origin, "adjoint"))


def put_again(s: Specialiser, items: Leaf, index: Value | None, item: Value) -> Any:
    """The call that undoes ``items.pop(index)``."""
    if index is None:
        return ir.call(ir.attribute(s.expr(items), "append"), s.expr(item))
    if is_from_front(index):
        return ir.call(ir.attribute(s.expr(items), "insert"), s.expr(index), s.expr(item))
    return helper(s, objects.put_popped, items, index, item)


def take_again(s: Specialiser, items: Leaf, index: Value | None = None) -> Any:
    """The call that undoes ``items.append(item)``, or ``items.insert(index, item)``."""
    if index is None or index == Const(0):
        return ir.call(ir.attribute(s.expr(items), "pop"), *([] if index is None else [s.expr(index)]))
    return helper(s, objects.take_inserted, items, index)


def is_from_front(index: Value) -> bool:
    return isinstance(index, Const) and type(index.value) is int and index.value >= 0


def zero_of_item(facts: Facts) -> Value:
    """The cotangent of an item that nothing depends on: what is unpacked has to be there for each part."""
    return ListV(tuple(map(zero_of_item, facts.items))) if isinstance(facts, Pair) else Const(0.0)


def facts_of_item(facts: Facts | None) -> Num:
    """The facts of an item's cotangent: that of a number is a number."""
    if not isinstance(facts, Num) or facts.dims != () or facts.kind == "array":
        return UNKNOWN
    if facts.kind == "float":
        return FLOAT
    return Num(None, facts.dtype, ()) if facts.dtype == np.float64 else UNKNOWN


def is_list_of_numbers(r: Reverse, items: Value) -> bool:
    """True if a value is a list of run-time length that holds nothing but numbers."""
    facts = r.s.facts_of(items)
    if not isinstance(items, Leaf) or not isinstance(facts, Listed):
        return False
    return facts_of_item(r.s.elements_of(facts)) is not UNKNOWN


def is_sum_of_numbers(r: Reverse, op: ir.Op) -> bool:
    """True if a sum of a list of run-time length is that of numbers alone."""
    items, *start = op.arguments.values()
    return is_list_of_numbers(r, items) and not any(may_be_broadcast(r, items, value) for value in start)


def may_be_broadcast(r: Reverse, items: Leaf, start: Value | None = None) -> bool:
    """True if items of a list may be broadcast where they are added up or multiplied, beginning with `start`."""
    facts = r.s.facts[items.name]
    item = r.s.elements_of(facts) if isinstance(facts, Listed) else None
    if not isinstance(item, Num):
        return False
    if item.dims is None or None in item.dims:
        return True
    first = None if start is None or isinstance(start, Const) else r.s.num(start)
    if first is None or first.dims == ():
        return False
    return first.dims is None or [n == 1 for n in first.dims] != [n == 1 for n in item.dims] or None in first.dims


# Functions that broadcast the items of a list, by the parameter that the list is.
BROADCASTING = {sum: "iterable", math.prod: "iterable", np.choose: "choices", np.select: "choicelist"}


def fit_items(r: Reverse, op: ir.Op, entries: dict[str, Value]) -> None:
    """Give the items of a list that may have been broadcast cotangents of their own shapes."""
    name = BROADCASTING.get(op.fn, "")
    items, entry = op.arguments.get(name), entries.get(name)
    if not isinstance(items, Leaf) or not isinstance(entry, Leaf) or not isinstance(r.s.facts[items.name], Listed):
        return
    chosen = op.fn in (np.choose, np.select)  # by conditions that may be larger than all items
    if chosen or may_be_broadcast(r, items, op.arguments.get("start")):
        fitted = helper(r.s, broadcast.unbroadcast, entry, items)
        entries[name] = r.s.let(fitted, r.s.facts[entry.name], may_raise=False)


def numbers_summed(r: Reverse, stmt: ir.Let) -> None:
    """``y = sum(items)``: each item gets the cotangent of the sum."""
    s = r.s
    assert stmt.op is not None
    items, incoming = stmt.op.arguments["iterable"], r.incoming(stmt)
    start = stmt.op.arguments.get("start", Const(0))
    if incoming is None:
        return
    d = incoming[0]
    index = s.fresh("i", INT)
    length = ir.call(gast.Name("len", gast.Load(), None, None), s.expr(items))
    loop = ir.Loop("range", [], [], index, (length,), origin=s.origin)
    with s.writing(loop.body):
        r.add_at(r.shadows.of(items.name), Leaf(index), d)
    s.block.append(loop)
    if isinstance(start, Leaf) and r.activity.active(start.name):
        r.add(start.name, d, False)


def appended(r: Reverse, stmt: ir.Effect) -> None:
    """``items.append(value)``, or ``items.insert(index, value)``"""
    s = r.s
    base, value, *index = stmt.operands
    if r.activity.active(base.name):
        check_put(r, stmt, value, base.name)
        taken, facts = take_again(s, r.shadows.of(base.name), *index), facts_of_item(held_by(s, base.name))
        d = s.let(taken, facts, effect=True, hint="d_item", role=Role.COTANGENT)
        give_popped(r, stmt, value, d)
    r.overwritten.restore(stmt)


NOTHING, ZERO = Const(None), Const(0.0)
PRODUCTS = {operator.matmul, np.matmul, np.linalg.matmul, np.dot, np.ndarray.dot, np.linalg.solve}


def item_read(r: Reverse, stmt: ir.Let) -> None:
    """``y = x[index]``"""
    s = r.s
    assert stmt.op is not None
    base, index = stmt.op.arguments["x"], stmt.op.arguments.get("index")
    facts = unless_none(s.facts[base.name])
    if r.shadows.is_view(stmt) or (isinstance(facts, Num) and facts.python):  # of a number: it raises
        return
    if index is None:
        raise NoRule("something of unknown structure is unpacked", "unpack a tuple or an array", stmt.origin)
    incoming = r.incoming(stmt)
    if incoming is None:
        return
    d = incoming[0]
    if isinstance(facts, (Listed, Mapped, Pair)):
        if isinstance(s.facts[stmt.target], Listed):  # a slice of a list
            check_copied(r, stmt)
            s.block.append(ir.Effect(helper(s, scatter.add_at, r.shadows.of(base.name), index, d), s.origin, "adjoint"))
        else:
            r.add_at(r.shadows.of(base.name), index, d)
        return
    if not isinstance(facts, Num):
        reason = f"{s.in_words(base.name)} is None on some paths and a container on others, or of several kinds"
        raise NoRule(reason, "keep its items in variables of their own", stmt.origin)
    if not all(indexing.is_basic(s, p) for p in indexing.parts_of(index)) and not is_distinct(r, index):
        d = spread(s, d, stmt.target)
    if facts.dims == () and not r.has_shadow(base.name):
        r.add(base.name, d, False)  # what a mask or an axis makes of a number holds nothing else
    else:
        add_part(r, base.name, index, d)
    if r.joint and not r.attempts:
        stmt.may_raise = False  # the cotangent is indexed alike, and that fails alike


def add_part(r: Reverse, name: str, index: Value, d: Value) -> None:
    """Add `d` to the cotangent of ``name[index]``."""
    s = r.s
    if not r.activity.active(name):
        return
    buffer = r.shadows.of(name) if r.has_shadow(name) else r.buffer(name)
    facts: Any = s.facts[name]
    if not may_repeat(r, index) and facts.dims is not None:
        r.add_at(buffer, index, d)
    else:
        s.block.append(ir.Effect(helper(s, scatter.add_at, buffer, index, d), s.origin, "adjoint"))
