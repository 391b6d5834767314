"""The reverse of writes: ``a[index] = v`` gives the cotangent of that part of ``a`` to ``v``, and leaves zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gast
import numpy as np

from ....rules.table import NONDIFFERENTIABLE, TABLE
from ....runtime import broadcast, memory, scatter
from ... import ir
from ...analysis.list_permutations import MOVES, move
from ...domain.facts import UNKNOWN, Facts, Listed, Mapped, Num
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op, indexing
from ...interp.calls.instantiate_rule import apply_rule
from ...ir.element_facts import is_slice
from .container_aliasing import check_put, holds_memory
from .cotangents import copied, fit, helper, numpy_call
from .injective_index import may_repeat
from .lists import appended, give_item, replaced

if TYPE_CHECKING:
    from ...ir.builder import Specialiser
    from .transform import Reverse


def stored(r: Reverse, stmt: ir.Store) -> None:
    s = r.s
    assert stmt.op is not None
    arguments = stmt.op.arguments
    base = arguments.get("x")
    if base is None:
        return
    if not r.activity.active(base.name):
        r.overwritten.restore(stmt)
        return
    shadow, index, value = r.shadows.of(base.name), arguments["index"], arguments["value"]
    facts = s.facts[base.name]
    if isinstance(facts, Listed) and is_slice(index):
        replaced(r, stmt, shadow, value)
    elif isinstance(facts, (Listed, Mapped)):
        check_put(r, stmt, value, base.name)
        give_item(r, stmt, value, shadow, index, s.elements_of(facts))
        if holds_memory(r, s.elements_of(facts)):
            r.overwritten.restore(stmt)
            zero = helper(s, broadcast.zeros_like, r.overwritten.old(stmt))
            s.block.append(ir.Store(shadow.name, s.expr(index), zero, None, s.origin))
        else:
            r.store(shadow, index, Const(0.0))
            r.overwritten.restore(stmt)
    elif stmt.aug is not None and stmt.op.fn in NONDIFFERENTIABLE:
        r.overwritten.restore(stmt)
        r.store(shadow, index, Const(0.0))
    elif stmt.aug in (gast.Add, gast.Sub) and not may_repeat(r, index):
        r.overwritten.restore(stmt)
        slot = part_of(r, shadow, index, copy=True)
        if stmt.aug is gast.Sub:
            slot = s.let(gast.UnaryOp(gast.USub(), s.expr(slot)), s.facts_of(slot), may_raise=False)
        give_stored(r, value, slot)
    elif stmt.aug is not None:
        augmented(r, stmt, shadow, index, value)
    else:
        r.overwritten.restore(stmt)
        slot = part_of(r, shadow, index, copy=True)
        r.store(shadow, index, Const(0.0))
        give_stored(r, value, slot)


def give_stored(r: Reverse, value: Value, slot: Value) -> None:
    s = r.s
    if isinstance(value, (ListV, TupleV)):
        total = emit_op.apply(s, np.array, numpy_call(s, "array", s.expr(value)), [value], {})
        if any(r.activity.active(n) for n in s.leaves(value)):
            fitted = fit(s, slot, total.name)
            for k, item in enumerate(value.items):
                r.give(
                    item,
                    s.let(ir.subscript(s.expr(fitted), ir.constant(k)), UNKNOWN, may_raise=False),
                    slot,
                    False,
                    [],
                )
    elif isinstance(value, Leaf) and r.activity.active(value.name):
        if isinstance(s.facts[value.name], Listed):
            part, axes = s.num(slot), axes_of(s, s.facts[value.name])
            if axes is None or part is None or part.dims is None or len(part.dims) != axes:
                total = emit_op.apply(s, np.array, numpy_call(s, "array", s.expr(value)), [value], {})
                slot = fit(s, slot, total.name)
            s.block.append(ir.Effect(helper(s, memory.add_items, r.shadows.of(value.name), slot), s.origin, "adjoint"))
        else:
            r.add(value.name, slot, True)


def axes_of(s: Specialiser, facts: Facts | None) -> int | None:
    """The number of axes of the array that is made of a list."""
    if isinstance(facts, Listed):
        inner = axes_of(s, s.elements_of(facts))
        return None if inner is None else inner + 1
    return len(facts.dims) if isinstance(facts, Num) and facts.dims is not None else None


def part_of(r: Reverse, shadow: Leaf, index: Value, copy: bool) -> Value:
    """The cotangent of ``a[index]`` as a value of its own."""
    s = r.s
    if may_repeat(r, index):
        facts = s.facts_of(indexing.load_item(s, shadow, index))
        s.block.pop()
        return s.let(helper(s, scatter.stored, shadow, index), facts, may_raise=False)
    if index == Const(Ellipsis):
        return copied(s, shadow)
    taken = indexing.load_item(s, shadow, index)
    facts = s.facts_of(taken)
    if not copy or not isinstance(facts, Num) or facts.kind == "npscalar":
        return taken
    if facts.kind != "array":
        return s.let(helper(s, scatter.stored, shadow, index), facts, may_raise=False)
    is_copy = not facts.roots & s.facts[shadow.name].roots  # as what arrays of integers and masks pick is
    return taken if is_copy else copied(s, taken)


def augmented(r: Reverse, stmt: ir.Store, shadow: Leaf, index: Value, value: Value) -> None:
    """``a[index] op= value``: read, operate, store."""
    s, op_ = r.s, stmt.op
    assert op_ is not None
    base = op_.arguments["x"]
    row = TABLE[op_.fn]
    assert row.reverse is not None
    new = indexing.load_item(s, base, index) if index != Const(Ellipsis) else base
    new = copied(s, new)
    old = r.overwritten.old(stmt)
    r.overwritten.restore(stmt)
    d = part_of(r, shadow, index, copy=True)
    names = list(row.signature.parameters)[:2]
    entries = apply_rule(s, row.reverse, op_.fn, new, d, dict(zip(names, (old, value))))
    kept = fit(s, as_large(s, entries[names[0]], old.name), old.name)
    apart = isinstance(value, Leaf) and not r.has_shadow(value.name)
    if apart and r.activity.active(value.name):
        r.give(value, entries[names[1]], d, True, [])
    if may_repeat(r, index):
        r.store(shadow, index, Const(0.0))
        s.block.append(ir.Effect(helper(s, scatter.add_at, shadow, index, kept), s.origin, "adjoint"))
    else:
        r.store(shadow, index, kept)
    if not apart and any(r.activity.active(n) for n in s.leaves(value)):
        r.give(value, entries[names[1]], d, True, [])


def as_large(s: Specialiser, d: Value, old: str) -> Value:
    """The cotangent of what an assignment changes in place: the operand does not make it larger."""
    have, want = s.num(d), s.facts[old]
    if isinstance(d, Leaf) and have is not None and isinstance(want, Num) and have.ndim == want.ndim:
        s.facts[d.name] = replace(have, dims=want.dims)
    return d


def effect(r: Reverse, stmt: ir.Effect) -> None:
    if stmt.kind in ("append", "insert"):
        appended(r, stmt)
    elif stmt.kind == "delete":
        deleted(r, stmt)
    elif stmt.kind in MOVES:
        moved(r, stmt)
    elif stmt.kind in ("add.at", "subtract.at"):
        added_at(r, stmt)
    elif stmt.kind.startswith("list."):
        r.overwritten.restore(stmt)


def moved(r: Reverse, stmt: ir.Effect) -> None:
    """``items[i], items[j] = items[j], items[i]`` and the like: the cotangents change places, too."""
    base, *operands = stmt.operands
    if r.activity.active(base.name):
        back = move(r.s, stmt.kind, r.shadows.of(base.name), *operands, back=True)
        r.s.block.append(ir.Effect(back, r.s.origin, "adjoint"))
    r.overwritten.restore(stmt)


def deleted(r: Reverse, stmt: ir.Effect) -> None:
    """``del table[key]``"""
    s = r.s
    base, key = stmt.operands
    r.overwritten.restore(stmt)
    if r.activity.active(base.name):
        zero = helper(s, broadcast.zeros_like, r.overwritten.olds[stmt])
        s.block.append(ir.Store(r.shadows.of(base.name).name, s.expr(key), zero, None, s.origin))


def added_at(r: Reverse, stmt: ir.Effect) -> None:
    """``np.add.at(a, index, value)``: what was there stays in the sum."""
    s = r.s
    base, index, value = stmt.operands
    r.overwritten.restore(stmt)
    if r.activity.active(base.name) and any(r.activity.active(n) for n in s.leaves(value)):
        d = indexing.load_item(s, r.shadows.of(base.name), index)
        if stmt.kind == "subtract.at":
            d = s.let(gast.UnaryOp(gast.USub(), s.expr(d)), s.facts_of(d), may_raise=False)
        give_stored(r, value, copied(s, d))
