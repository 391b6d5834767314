"""``base[index] op= value``: the item is read before the value is computed, and written after it."""

from __future__ import annotations

from typing import Any

from ... import ir
from ...analysis.alias import changed_through, reachable
from ...domain.values import Leaf, Obj, Value
from ...ir.builder import Specialiser
from ..containers import items
from ..containers.missing_keys import make_missing, sees_missing
from ..kernel import emit_op
from ..objects.objects import has_method
from ..objects.tables import method_of
from .expressions import evaluate
from .subscripts import place_of


def augment_item(s: Specialiser, node: Any) -> None:
    base, index = place_of(s, node.target)
    place, env = len(s.block), dict(s.env)
    if has_own_items(s, base):
        old = items.get_item(s, base, index)
        items.set_item(s, base, index, emit_op.augment(s, old, type(node.op), evaluate(s, node.value)))
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
        items.set_item(s, base, index, emit_op.augment(s, old, type(node.op), value))
    else:
        items.augment_item(s, base, index, type(node.op), value)


def has_own_items(s: Specialiser, base: Value) -> bool:
    """Whether a method of the user's reads an item, which may do anything."""
    if isinstance(base, Leaf):
        return method_of(s, base, "__getitem__") is not None
    return isinstance(base, Obj) and base.cls not in (list, dict) and has_method(s, base, "__getitem__")


def is_changed(s: Specialiser, base: Value, block: ir.Block, env: dict[Any, Value]) -> bool:
    """Whether statements may have changed what is in a container; `env` was there before them."""
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
