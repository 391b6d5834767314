"""``base[index] op= value``: the item is read before the value is computed, and written after it."""

from __future__ import annotations

from functools import partial
from typing import Any

import gast

from ... import ir
from ...analysis.alias import changed_through, reachable
from ...domain.facts import Listed, Num, Opaque, is_same
from ...domain.values import Const, Leaf, Obj, Value
from ..arrays import emit_op
from ..arrays.transfer import facts_of_call
from ..containers import items, lists
from ..containers.lists import extend_list
from ..containers.missing_keys import make_missing, sees_missing
from ..kernel import operations
from ..kernel.escape import is_shared
from ..kernel.handlers import OPERATORS, evaluate
from ..kernel.operations import call_method_of, call_value, defines, items_of, operate
from ..kernel.specialiser import Specialiser
from ..objects.objects import call_method
from ..objects.tables import method_of
from ..world.class_guards import has_method
from .expressions import place_of


def augment_item(s: Specialiser, node: Any) -> None:
    base, index = place_of(s, node.target)
    place, env = len(s.block), dict(s.env)
    if has_own_items(s, base):
        old = items.get_item(s, base, index)
        items.set_item(s, base, index, augment(s, old, type(node.op), evaluate(s, node.value)))
        return
    value = evaluate(s, node.value)
    if sees_missing(s, base, s.block[place:]):
        del s.block[place:]
        s.env = env
        make_missing(s, base, index)
        place, env = len(s.block), dict(s.env)
        value = evaluate(s, node.value)
    if is_changed(s, base, s.block[place:], env):
        old = read_before(s, base, index, place, env)
        items.set_item(s, base, index, augment(s, old, type(node.op), value))
    else:
        items.augment_item(s, base, index, type(node.op), value)


def has_own_items(s: Specialiser, base: Value) -> bool:
    """True if a method of the user's reads an item, which may do anything."""
    if isinstance(base, Leaf):
        return method_of(s, base, "__getitem__") is not None
    return isinstance(base, Obj) and base.cls not in (list, dict) and has_method(s, base, "__getitem__")


def is_changed(s: Specialiser, base: Value, block: ir.Block, env: dict[Any, Value]) -> bool:
    """True if statements may have changed what is in a container; `env` was there before them."""
    if isinstance(base, Obj) and any(k[0] == base.id and s.env.get(k) is not env[k] for k in env if type(k) is tuple):
        return True
    roots = {root for n in s.leaves(base) for root in reachable(s, s.facts[n])}
    written = {n for stmt in ir.walk(block) for n in changed_through(stmt)}
    return any(roots & reachable(s, s.facts[n]) for n in written)


def read_before(s: Specialiser, base: Value, index: Value, place: int, env: dict[Any, Value]) -> Value:
    """``base[index]`` as it is at a place of the block, which is where Python reads it."""
    now, s.env = s.env, env
    try:
        with s.writing([], s.lengths) as block:
            old = items.get_item(s, base, index)
    finally:
        s.env = now
        s.block[place:place] = block
    return old


SET_UPDATES = {
    gast.BitOr: "update",
    gast.BitAnd: "intersection_update",
    gast.Sub: "difference_update",
    gast.BitXor: "symmetric_difference_update",
}


@defines(operations.augment)
def augment(s: Specialiser, old: Value, op: type, value: Value, outer: bool = False) -> Value:
    """``old op= value``: the new value of the name, which may be one from outside the activation."""
    if op is gast.BitOr and lists.is_dict(s, old):
        call_method_of(s, old, "update", [value], {})
        return old
    if op in SET_UPDATES and s.facts_of(old) == Opaque(set) == s.facts_of(value):
        call_method_of(s, old, SET_UPDATES[op], [value], {})
        return old
    if isinstance(old, Obj) and old.cls is list and op is gast.Add:
        extend_list(s, old, value)
        return old
    if isinstance(old, Obj) and old.cls is list and old.id[0] == "list" and op is gast.Mult:
        lists.hold(s, old, items_of(s, operate(s, op, old, value), None))
        return old
    if isinstance(old, Obj):
        method = f"__i{OPERATORS[op][2]}__"
        return call_method(s, old, method, [value]) if has_method(s, old, method) else operate(s, op, old, value)
    if (own := method_of(s, old, f"__i{OPERATORS[op][2]}__")) is not None:
        return call_value(s, own, [value], {})
    facts = s.facts_of(old)
    if isinstance(facts, Listed) and op is gast.Add and facts.is_tuple is False:
        extend_list(s, old, value)
        return old
    if isinstance(facts, Listed):
        new = operate(s, op, old, value)
        if op is gast.Mult and facts.is_tuple is False and isinstance(s.facts_of(new), Listed):
            lists.replace_items(s, old, new)
            return old
        return new
    emit_op.refuse_unknown(s, old)
    if not isinstance(old, Leaf) or not isinstance(facts, Num) or facts.python or facts.kind == "npscalar":
        return updated(s, op, old, value)
    fn, python, _ = OPERATORS[op]
    computed = partial(facts_of_call, s, python, [old, value], {}, elementwise=op is not gast.MatMult)
    with s.learning_no_lengths():  # the operation is yet to be written, and may be the one that raises
        result = computed()
    fits = (
        isinstance(result, Num)
        and (result.kind == "array" or facts.kind != "array")  # an operator makes a scalar of a 0-d array
        and result.dtype is not None
        and is_same(result.dtype, facts.dtype)
        and emit_op.same_shape(facts, result)
    )
    if fits and not is_shared(s, old, outer):
        return updated(s, op, old, value)
    is_number = facts.dims == () and not facts.roots
    same_dtype = isinstance(result, Num) and is_same(result.dtype, facts.dtype)
    if facts.kind is None and (is_number or (same_dtype and not is_shared(s, old, outer))):
        return operate(s, op, old, value)
    if facts.kind is None:
        raise s.refuse(
            "different-kinds",
            "only the run tells whether this is a number or an array that others see change",
            "copy it",
        )
    computed()  # what meets here has one length from here on
    return emit_op.store_augmented(s, old, Const(Ellipsis), op, value)


def updated(s: Specialiser, op: type, old: Value, value: Value) -> Value:
    """``old op= value`` as a new value, which remembers how the user wrote it."""
    new = operate(s, op, old, value)
    facts, last = s.num(old), s.block[-1] if s.block else None
    if facts is None or not isinstance(old, Leaf) or not isinstance(last, ir.Let) or Leaf(last.target) != new:
        return new
    if facts.kind == "array":
        last.augments = True
        s.replaced |= facts.roots
    elif facts.dims == () and not facts.roots:
        last.counted = old.name
    return new
