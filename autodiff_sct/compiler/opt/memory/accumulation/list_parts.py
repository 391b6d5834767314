"""The cotangent of a list of arrays that became one array is the list of the parts of the array's.

::

    d_xs = zeros_like(xs)
    parts = 2 * d_out * np.stack(xs)
    items = []                             ->    d_xs = list(2 * d_out * np.stack(xs))
    for k in range(len(xs)):
        items.append(parts[k])
    add_items(d_xs, items)

The parts have the shape and the dtype of the items, and nobody else holds them: where the array is read again, or may
be another's, it is copied.
"""

from __future__ import annotations

from typing import Any

import gast

from .... import ir
from ....analysis.alias import roots_of
from ....analysis.remarks import hand_on
from ....domain.facts import Listed, Num, is_same
from ....ir.builder import Specialiser


def split_stacked(s: Specialiser, back: ir.Block) -> None:
    """Rewrite the reverse sweep, in place."""
    for block in [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]:
        for effect in [stmt for stmt in block if isinstance(stmt, ir.Effect)]:
            if (given := called(effect, "add_items")) is not None:
                begin_with(s, back, block, effect, *(getattr(arg, "id", "") for arg in given))


def begin_with(s: Specialiser, back: ir.Block, block: ir.Block, effect: ir.Effect, name: str, items: str) -> None:
    """Let the cotangent of a list be what is added to it, where it was zeros until then."""
    end = block.index(effect)
    start = next((k for k in range(end) if name in ir.ir_targets(block[k])), None)
    filled = next((k for k in range(end) if is_filling(block[k], items)), None)
    if start is None or filled is None or times_read(back, items) != 2:
        return
    zeros, loop = called(block[start], "zeros_like"), block[filled]
    original = getattr(zeros[0], "id", "") if zeros is not None and len(zeros) == 1 else ""
    parts = part_of(loop, items)
    if not original or s.fits.get(items) != original or length_of(loop) != original or parts is None:
        return
    between = [stmt for stmt in block[start + 1 : end] if stmt is not loop]
    if not is_like(s, parts, original) or any(may_change(stmt, name, original) for stmt in between):
        return
    array = (
        ir.name(parts)
        if is_ours(s, back, block[: filled + 1], parts)
        else ir.call(ir.attribute(ir.name(parts), "copy"))
    )
    new = ir.Let((name,), ir.call(gast.Name("list", gast.Load(), None, None), array), None, effect.origin)
    given, taken = s.facts[name], s.facts[items]
    if isinstance(given, Listed) and isinstance(taken, Listed) and (held := s.elements_of(taken)) is not None:
        s.put_element(given, held)
    hand_on(s, loop, new)
    made = next(k for k in range(filled) if items in ir.ir_targets(block[k]))
    block[end] = new
    for k in sorted((start, made, filled), reverse=True):
        del block[k]


def called(stmt: Any, name: str) -> list[Any] | None:
    """The arguments of a statement that only calls a function of a name."""
    expr = stmt.expr if isinstance(stmt, (ir.Let, ir.Effect)) else None
    return expr.args if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == name else None


def is_filling(stmt: Any, items: str) -> bool:
    """Whether a statement is a loop that only appends to a list."""
    return isinstance(stmt, ir.Loop) and not stmt.carries and stmt.stop is None and appended(stmt, items) is not None


def appended(loop: ir.Loop, items: str) -> Any:
    """What each step of a loop that does nothing else appends to a list."""
    expr = loop.body[0].expr if len(loop.body) == 1 and isinstance(loop.body[0], ir.Effect) else None
    func = expr.func if isinstance(expr, gast.Call) and len(expr.args) == 1 else None
    appends = isinstance(func, gast.Attribute) and func.attr == "append" and getattr(func.value, "id", "") == items
    return expr.args[0] if appends and expr is not None else None


def part_of(loop: ir.Loop, items: str) -> str | None:
    """The array whose parts a loop appends, one after the other."""
    value = appended(loop, items)
    if not isinstance(value, gast.Subscript) or getattr(value.slice, "id", "") != loop.index:
        return None
    return getattr(value.value, "id", None)


def length_of(loop: ir.Loop) -> str | None:
    """The list that has as many items as a loop has steps."""
    bound = loop.bounds[0] if loop.kind == "range" and len(loop.bounds) == 1 else None
    if not isinstance(bound, gast.Call) or getattr(bound.func, "id", "") != "len":
        return None
    return getattr(bound.args[0], "id", None)


def is_like(s: Specialiser, parts: str, original: str) -> bool:
    """Whether the parts of an array have the rank and the dtype of the items of a list."""
    whole, facts = s.facts.get(parts), s.facts[original]
    item = s.elements_of(facts) if isinstance(facts, Listed) else None
    if not isinstance(whole, Num) or not isinstance(item, Num) or whole.kind != "array" or not item.ndim:
        return False
    return whole.ndim == item.ndim + 1 and whole.dtype is not None and is_same(whole.dtype, item.dtype)


def may_change(stmt: Any, name: str, original: str) -> bool:
    """Whether a statement uses the cotangent, or may change the list that it is one of."""
    reads = ir.reads_inside(stmt)
    return name in reads or (original in reads and not all(map(only_computes, ir.inside(stmt))))


def only_computes(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop) or (isinstance(stmt, ir.Let) and not stmt.effect)


def is_ours(s: Specialiser, back: ir.Block, before: ir.Block, parts: str) -> bool:
    """Whether an array is made by the statements `before`, the last of which read its memory."""
    maker = next((stmt for stmt in before if parts in ir.ir_targets(stmt)), None)
    if not isinstance(maker, ir.Let) or maker.in_place or not is_made(maker):
        return False
    memory, early = roots_of(s.facts[parts]), {inner for stmt in before for inner in ir.inside(stmt)}
    after = [stmt for stmt in ir.walk(back) if stmt not in early]
    return bool(memory) and not any(memory & roots_of(s.facts[n]) for stmt in after for n in ir.uses(stmt))


def is_made(maker: ir.Let) -> bool:
    """Whether a statement makes an array by arithmetic, or of zeros."""
    made = maker.expr.func if isinstance(maker.expr, gast.Call) else None
    return isinstance(maker.expr, gast.BinOp) or getattr(made, "attr", "") == "zeros_like"


def times_read(back: ir.Block, name: str) -> int:
    """How often the reverse sweep reads a variable."""
    return sum(list(ir.uses(stmt)).count(name) for stmt in ir.walk(back))
