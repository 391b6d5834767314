"""Assignments of a part of an array to another part of it.

NumPy assigns as if from a copy, with one exception: a line of numbers goes straight to a line that runs the same way
through memory, or to where a mask says.  Where the two have different strides, ``y[::2] = y[:3]`` may read numbers that
it has just written.  Its derivative would be another program's, so the emitted code checks that this does not happen:

    in_order(y[::2], y[:3])
    y[::2] = y[:3]

Parts that are cut alike (``y[1:] = y[:-1]``, ``A[0] = A[1]``) need no check, and neither do matrices.
"""

from __future__ import annotations

from typing import Any

import gast

from ....runtime.memory import apart, in_order
from ... import ir
from ...domain.facts import Num
from ...domain.values import Leaf, Value
from ..kernel.specialiser import Specialiser
from .indexing import basic_facts, is_basic, parts_of


def check_overlap(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    """Emit the check before ``base[index] = value``, where it is needed."""
    if not reads_from(s, base, value):
        return
    if not all(is_basic(s, part) for part in parts_of(index)):
        if is_full_mask(s, base, index):
            check_apart(s, base, value)
        return
    facts = s.num(base)
    if facts is not None and facts.dims is not None and len(basic_facts_dims(s, facts, index)) > 1:
        return
    lane = lane_of(s, ir.subscript(ir.name(base.name), s.expr(index)))
    if lane is None or lane != lane_of(s, s.expr(value)):
        emit(s, in_order, ir.subscript(ir.name(base.name), s.expr(index)), s.expr(value))


def check_apart(s: Specialiser, base: Leaf, value: Value) -> None:
    """Emit a check that `value` has no memory of `base`."""
    if shares_memory(s, base, value):
        emit(s, apart, ir.name(base.name), s.expr(value))


def emit(s: Specialiser, check: Any, target: Any, value: Any) -> None:
    s.block.append(ir.Effect(ir.call(s.bind(check.__name__, check), target, value), s.where()))


def reads_from(s: Specialiser, base: Leaf, value: Value) -> bool:
    """True if a value may be a line of numbers in the memory of an array."""
    given = s.num(value)
    return given is not None and given.ndim in (None, 1) and shares_memory(s, base, value)


def shares_memory(s: Specialiser, base: Leaf, value: Value) -> bool:
    """True if a value may be an array in the memory of another."""
    target, given = s.num(base), s.num(value)
    if not isinstance(value, Leaf) or target is None or given is None:
        return False
    return given.kind in (None, "array") and bool(target.roots & given.roots)


def is_full_mask(s: Specialiser, base: Leaf, index: Value) -> bool:
    facts, mask = s.num(base), s.num(index)
    if mask is None or facts is None:
        return False
    return (mask.dtype is None or mask.dtype.kind == "b") and (facts.ndim is None or mask.ndim == facts.ndim)


def basic_facts_dims(s: Specialiser, facts: Num, index: Value) -> tuple[Any, ...]:
    found = basic_facts(s, facts, parts_of(index))
    return found.dims or () if isinstance(found, Num) else ()


def lane_of(s: Specialiser, expr: Any) -> Any:
    """The path of a line of numbers through an array: at each index the axes that are cut, and how.

    None where the text does not say.
    """
    cuts: list[Any] = []
    while True:
        if isinstance(expr, gast.Name):
            made = s.definitions.get(expr.id)
            if not isinstance(made, gast.Subscript):
                return expr.id, tuple(cuts)
            expr = made
        if not isinstance(expr, gast.Subscript) or not isinstance(s.facts.get(getattr(expr.value, "id", "")), Num):
            return None
        cut = cut_of(expr.slice)
        if cut is None:
            return None
        if set(cut) not in ({1}, {0}):  # one that keeps all axes, or one that takes a part along the first ones
            cuts.append(cut)
        expr = expr.value


def cut_of(index: Any) -> tuple[int, ...] | None:
    """The step along each axis that an index names, 0 where it takes a single place."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    if len(parts) == 1 and isinstance(parts[0], gast.Constant) and parts[0].value is Ellipsis:
        return (1,)
    steps = [step_of(part) for part in parts]
    return None if None in steps else tuple(step for step in steps if step is not None)


def step_of(part: Any) -> int | None:
    if isinstance(part, gast.Constant) and (part.value is None or part.value is Ellipsis):
        return None
    if not isinstance(part, gast.Slice):
        return 0
    if part.step is None:
        return 1
    return part.step.value if isinstance(part.step, gast.Constant) else None
