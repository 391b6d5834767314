"""The reverse of writes, and views that nothing writes.

Views that are as good as copies: they are used before anybody writes the memory that they show.

Their cotangents are added to that of the base as a copy's are: ``d_L = np.diag(d / np.diag(L))``, where a view that may
be written has its cotangent in the memory of the base's.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from ....errors import AliasError
from ....rules.table import NONDIFFERENTIABLE, TABLE
from ....runtime import broadcast, memory, scatter
from ... import ir
from ...analysis.alias import MOVES, move
from ...domain.facts import UNKNOWN, Facts, Listed, Mapped, Num
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op, indexing, value_dependent
from ...interp.calls.instantiate_rule import apply_rule
from ...interp.kernel.specialiser import Specialiser, is_slice
from ..value_flow import joins
from .container_aliasing import check_put, end_of, holds_memory, may_repeat, writes
from .cotangents import copied, fit, helper, numpy_call
from .lists import appended, give_item, replaced

if TYPE_CHECKING:
    from ...interp.kernel.specialiser import Specialiser
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


# Views of which elements share memory: no view of a cotangent beside them adds up.
OVERLAPPING = {np.imag, np.broadcast_to, np.broadcast_arrays, sliding_window_view, as_strided}

DIAGONALS = (np.diag, np.diagonal, np.ndarray.diagonal)


def check_parts(stmt: ir.Let) -> None:
    """Refuse several views at once that are no parts of one array: ``np.broadcast_arrays`` has one of each argument."""
    if stmt.op is not None and stmt.op.fn not in value_dependent.PARTS:
        raise AliasError("several arrays have views that are made at once, and are written", COPY, stmt.origin)


def check_number(s: Specialiser, stmt: ir.Let) -> None:
    """Refuse what is the array itself for one number, and new for others, where only the run tells the number."""
    if stmt.op is not None and value_dependent.is_itself(s, stmt.op):
        raise AliasError("a number decides whether this is an array that is written, or a new one", COPY, stmt.origin)


def check_base(stmt: ir.Let, active: list[str]) -> None:
    """Refuse what may show one of several arrays, of which some carry derivatives: a view has that of its base."""
    if stmt.op is not None and stmt.op.fn is not operator.getitem and active not in ([], [*stmt.op.shares[:1]]):
        raise AliasError("which of several arrays this shows is known only at run time", COPY, stmt.origin)


COPY = "copy it (`.copy()`)"


def is_settled(r: Reverse, stmt: ir.Let) -> bool:
    """True if a view that is better taken for a copy is used before the next write."""
    regions = [r.regions.of(target) for target in stmt.targets]
    if not is_better_copied(r, stmt) or stmt not in r.order or None in regions:
        return False
    names = {name for target in stmt.targets for name in r.aliases(target)}
    if names & (r.outputs | {n for other in r.order for _, sources in joins(other) for n in sources}):
        return False
    if any(is_kept(r, other, names) for other in r.order):
        return False
    start, end = r.order[stmt], max(r.last.get(n, 0) for n in names)
    loops = [loop for loop in r.order if isinstance(loop, ir.Loop) and start < r.order[loop] <= end]
    end = max([end, *(end_of(r, loop) for loop in loops)])
    return not any(start < place <= end for region in regions if region is not None for place in writes(r, region))


def is_kept(r: Reverse, stmt: Any, names: set[str]) -> bool:
    """True if a statement may put one of some variables where it is found again under another name."""
    if names.isdisjoint(ir.reads(stmt)):
        return False
    if isinstance(stmt, ir.Let):
        return not all(isinstance(r.s.facts[target], Num) for target in stmt.targets)
    return isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Store) and not isinstance(r.s.facts[stmt.base], Num))


def is_better_copied(r: Reverse, stmt: ir.Let) -> bool:
    """True if a view is one that overlaps itself, or the diagonal of a square matrix."""
    if stmt.op is None or stmt.op.fn in OVERLAPPING:
        return stmt.op is not None
    given = list(stmt.op.arguments.values())
    matrix = given[0] if stmt.op.fn in DIAGONALS and len(given) == 1 else None
    if not isinstance(matrix, Leaf):
        return False
    facts = r.s.num(matrix)
    if facts is None or facts.dims is None or len(facts.dims) != 2:
        return False
    return r.s.same_lengths(facts.dims[:1], facts.dims[1:])
