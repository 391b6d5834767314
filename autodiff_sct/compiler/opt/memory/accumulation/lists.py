"""The cotangent of a list is the first list of cotangents that it is given.

::

    d_items = zeros_like(items)                d_items = d_rows.pop()
    add_items(d_items, d_rows.pop())   ->

    d_items = zeros_like(items)                d_items = [d_y[k] for k in range(len(items))]
    d_t = [d_y[k] for k in range(n)]   ->
    add_items(d_items, d_t)

What is popped off a list of cotangents belongs to nobody else, whatever it holds.  Any other list has to be of numbers,
for arrays in it might be changed later; of an array that is given, a list is made.  What nobody reads is not popped at
the end of the sweep.
"""

from __future__ import annotations

from typing import Any

import gast

from .....runtime import broadcast, memory
from .... import ir
from ....ad.reverse.lists import UNKNOWN, facts_of_item
from ....analysis.alias import reachable, roots_of
from ....analysis.effects import touches
from ....analysis.liveness import count_uses
from ....analysis.remarks import hand_on
from ....domain.facts import Listed, Num, is_same
from ....ir.function import Function

ADDING = (memory.add_items, memory.add_carried)


def elide_list_zeros(s: Function, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the blocks of the reverse sweep, in place."""
    if all(value is not broadcast.zeros_like for value in s.globals.values()):  # no list begins as zeros
        return
    uses = count_uses([*reverse, final])
    for block in [reverse, *(inner for stmt in ir.adjoint_walk(reverse) for inner in ir.adjoint_bodies(stmt))]:
        for zero in [stmt for stmt in block if is_zeros(s, stmt)]:
            begin_with(s, block, zero, uses)
    drop_last_pops(s, reverse, final)


def begin_with(s: Function, block: ir.Block, zero: ir.Let, uses: dict[str, int]) -> None:
    """Let the first addition to a list of zeros make the list."""
    first = next((x for x in block[block.index(zero) + 1 :] if zero.target in ir.reads_inside(x)), None)
    given = given_to(s, first, zero.target)
    if first is None or given is None:
        return
    maker = next((x for x in block if isinstance(x, ir.Let) and x.targets == (given,)), None)
    numbers = is_of_numbers(s, zero.expr.args[0])
    if maker is not None and uses.get(given) == 1 and (is_popped(maker) or numbers and is_new(s, maker)):
        maker.targets = zero.targets
        block.remove(first)
    elif numbers:
        whole: Any = ir.name(given)
        kept = maker is None or uses[given] > count_uses(block)[given] or is_used_after(s, block, first, given)
        if kept or not is_list(s, given):
            whole = ir.call(gast.Name("list", gast.Load(), None, None), whole)
        block[block.index(first)] = ir.Let(zero.targets, whole, None, first.origin)
    else:
        return
    block.remove(zero)


def is_used_after(s: Function, block: ir.Block, stmt: Any, name: str) -> bool:
    """True if the list of a name is still in use after a statement."""
    roots, after = roots_of(s.facts[name]), block[block.index(stmt) + 1 :]
    return not roots or any(roots & reachable(s, s.facts[n]) for x in after for n in ir.reads_inside(x))


def is_zeros(s: Function, stmt: Any) -> bool:
    """True if a statement makes a list of zeros."""
    return isinstance(stmt, ir.Let) and calls(s, stmt.expr, broadcast.zeros_like) and is_list(s, stmt.target)


def is_list(s: Function, name: str) -> bool:
    return isinstance(s.facts[name], Listed)


def calls(s: Function, expr: Any, *functions: Any) -> bool:
    return isinstance(expr, gast.Call) and s.globals.get(getattr(expr.func, "id", "")) in functions


def given_to(s: Function, stmt: Any, name: str) -> str | None:
    """The variable whose items a statement adds to those of a list."""
    if not isinstance(stmt, ir.Effect) or not calls(s, stmt.expr, *ADDING):
        return None
    to, given = stmt.expr.args
    is_other = isinstance(given, gast.Name) and given.id != name
    return given.id if is_other and getattr(to, "id", None) == name else None


def is_popped(maker: ir.Let) -> bool:
    return maker.effect and isinstance(maker.expr, gast.Call) and getattr(maker.expr.func, "attr", None) == "pop"


def is_of_numbers(s: Function, items: Any) -> bool:
    facts = s.facts.get(getattr(items, "id", ""))
    return isinstance(facts, Listed) and facts_of_item(s.elements_of(facts)) is not UNKNOWN


def is_new(s: Function, maker: ir.Let) -> bool:
    """True if a statement makes a list that shares nothing with others."""
    expr = maker.expr
    if isinstance(expr, gast.Subscript):
        return isinstance(expr.slice, gast.Slice) and isinstance(expr.value, gast.Name) and is_list(s, expr.value.id)
    return isinstance(expr, (gast.ListComp, gast.List))


def drop_last_pops(s: Function, reverse: ir.Block, final: ir.Return) -> None:
    """Drop what at the end only takes items out of lists that nobody reads any more."""
    uses = count_uses([*reverse, final])
    read = set(ir.reads(final))
    for stmt in reversed(reverse):
        inside = ir.inside(stmt)
        pops = [x for x in inside if is_unread_pop(s, x, uses)]
        if pops:
            read.update(name for x in inside if x not in pops for name in ir.reads(x))
            roots = {root for name in read for root in reachable(s, s.facts[name])}
            gone = {x for x in pops if roots.isdisjoint(roots_of(s.facts[x.expr.func.value.id]))}
            for block in [reverse, *(body for x in inside for body in ir.bodies(x))]:
                block[:] = [x for x in block if x not in gone]
        read.update(ir.reads_inside(stmt))


def is_unread_pop(s: Function, stmt: Any, uses: dict[str, int]) -> bool:
    """True if a statement takes the last item out of a list, and nobody reads that."""
    if not isinstance(stmt, ir.Let) or uses.get(stmt.target) or not is_popped(stmt) or stmt.expr.args:
        return False
    popped = stmt.expr.func.value
    return isinstance(popped, gast.Name) and popped.id in s.facts and is_list(s, popped.id)


def split_stacked(s: Function, back: ir.Block) -> None:
    """The cotangent of a list of arrays that became one array is the list of the parts of the array's.

    ::

        d_xs = zeros_like(xs)
        parts = 2 * d_out * np.stack(xs)
        items = []                             ->    d_xs = list(2 * d_out * np.stack(xs))
        for k in range(len(xs)):
            items.append(parts[k])
        add_items(d_xs, items)

    The parts have the shape and the dtype of the items, and nobody else holds them: where the array is read again, or
    may be another's, it is copied.

    Rewrite the reverse sweep, in place.
    """
    for block in [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]:
        for effect in [stmt for stmt in block if isinstance(stmt, ir.Effect)]:
            if (given := called(effect, "add_items")) is not None:
                begin_with_parts(s, back, block, effect, *(getattr(arg, "id", "") for arg in given))


def begin_with_parts(s: Function, back: ir.Block, block: ir.Block, effect: ir.Effect, name: str, items: str) -> None:
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
    """True if a statement is a loop that only appends to a list."""
    return isinstance(stmt, ir.Loop) and not stmt.carries and stmt.stop is None and appended(stmt, items) is not None


def appended(loop: ir.Loop, items: str) -> Any:
    """The values that each step of a loop that does nothing else appends to a list."""
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


def is_like(s: Function, parts: str, original: str) -> bool:
    """True if the parts of an array have the rank and the dtype of the items of a list."""
    whole, facts = s.facts.get(parts), s.facts[original]
    item = s.elements_of(facts) if isinstance(facts, Listed) else None
    if not isinstance(whole, Num) or not isinstance(item, Num) or whole.kind != "array" or not item.ndim:
        return False
    return whole.ndim == item.ndim + 1 and whole.dtype is not None and is_same(whole.dtype, item.dtype)


def may_change(stmt: Any, name: str, original: str) -> bool:
    """True if a statement uses the cotangent, or may change the list that it is one of."""
    reads = ir.reads_inside(stmt)
    return name in reads or (original in reads and not all(map(only_computes, ir.inside(stmt))))


def only_computes(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop) or (isinstance(stmt, ir.Let) and not stmt.effect)


def is_ours(s: Function, back: ir.Block, before: ir.Block, parts: str) -> bool:
    """True if an array is made by the statements `before`, the last of which read its memory."""
    maker = next((stmt for stmt in before if parts in ir.ir_targets(stmt)), None)
    if not isinstance(maker, ir.Let) or maker.in_place or not is_made(maker):
        return False
    memory, early = roots_of(s.facts[parts]), {inner for stmt in before for inner in ir.inside(stmt)}
    after = [stmt for stmt in ir.walk(back) if stmt not in early]
    return bool(memory) and not any(memory & roots_of(s.facts[n]) for stmt in after for n in ir.uses(stmt))


def is_made(maker: ir.Let) -> bool:
    """True if a statement makes an array by arithmetic, or of zeros."""
    made = maker.expr.func if isinstance(maker.expr, gast.Call) else None
    return isinstance(maker.expr, gast.BinOp) or getattr(made, "attr", "") == "zeros_like"


def times_read(back: ir.Block, name: str) -> int:
    """The number of reads of a variable in the reverse sweep."""
    return sum(list(ir.uses(stmt)).count(name) for stmt in ir.walk(back))


def assign_list_items(s: Function, block: ir.Block) -> None:
    """The cotangent of a list of numbers begins with what each of them gets from their sum.

    ::

        d_items = zeros_like(items)            d_items = [d_t] * len(items)
        d_items[0] += d_out * total            d_items[0] += d_out * total
        for i in range(len(items)):    ->
            d_items[i] += d_t

    Only additions to the list may stand before the loop, for they may change places with it.

    Rewrite a block of the reverse sweep and the blocks inside it, in place.
    """
    for inner in [block, *(body for stmt in ir.adjoint_walk(block) for body in ir.adjoint_bodies(stmt))]:
        for loop in [stmt for stmt in inner if isinstance(stmt, ir.Loop)]:
            begin_with_sum(s, inner, loop)


def begin_with_sum(s: Function, block: ir.Block, loop: ir.Loop) -> None:
    """Let the loop that adds a number to each item go, where the list is all zeros but for other additions."""
    add = loop.body[0] if len(loop.body) == 1 and not loop.carries and loop.stop is None else None
    if not isinstance(add, ir.Store) or add.aug is not gast.Add or not is_over(loop, add):
        return
    name, end = add.base, block.index(loop)
    start = next((k for k in range(end) if name in ir.ir_targets(block[k])), None)
    if start is None or not is_zero_list(s, block[start], loop):
        return
    first = next(k for k in range(start + 1, end + 1) if name in ir.reads_inside(block[k]))
    items = block[start].expr.args[0]
    if not all(is_addition(s, stmt, name) for stmt in block[first:end]):
        return
    others = [stmt for stmt in block[first:end] if name in ir.reads_inside(stmt)]
    read = {root for stmt in [loop, add, *others] for n in ir.reads(stmt) if n != name for root in roots_of(s.facts[n])}
    if any(touches(s, stmt, read, True) or is_effect(stmt) for stmt in block[start + 1 : end] if stmt not in others):
        return
    length = ir.call(gast.Name("len", gast.Load(), None, None), items)
    new = ir.Let((name,), ir.binop(gast.List([add.value], gast.Load()), gast.Mult, length), None, add.origin)
    hand_on(s, loop, new)
    made = {n for stmt in block[first:end] for n in ir.ir_targets(stmt)}
    if made & set(ir.names_in(add.value)):
        block[first : end + 1] = [*(stmt for stmt in block[first:end] if stmt not in others), new, *others]
    else:
        block[first : end + 1] = [new, *block[first:end]]
    del block[start]


def is_over(loop: ir.Loop, add: ir.Store) -> bool:
    """True if a loop adds to each item of as many as its range has, and each time the same."""
    bound = loop.bounds[0] if loop.kind == "range" and len(loop.bounds) == 1 else None
    is_length = isinstance(bound, gast.Call) and getattr(bound.func, "id", "") == "len"
    at_index = isinstance(add.index, gast.Name) and add.index.id == loop.index
    return is_length and at_index and not {loop.index, add.base} & set(ir.names_in(add.value))


def is_zero_list(s: Function, stmt: Any, loop: ir.Loop) -> bool:
    """True if a statement makes a list of as many zeros as a loop has steps."""
    expr = stmt.expr if isinstance(stmt, ir.Let) else None
    if not isinstance(expr, gast.Call) or getattr(expr.func, "id", "") != "zeros_like" or len(expr.args) != 1:
        return False
    (items,) = expr.args
    facts = s.facts.get(getattr(items, "id", ""))
    same = getattr(loop.bounds[0].args[0], "id", None) == getattr(items, "id", "")
    return same and isinstance(facts, Listed) and facts_of_item(s.elements_of(facts)) is not UNKNOWN


def is_addition(s: Function, stmt: Any, name: str) -> bool:
    """True if a statement does not touch a list, or only adds to an item of it."""
    if name not in ir.reads_inside(stmt):
        return True
    adds = isinstance(stmt, ir.Store) and stmt.base == name and stmt.aug in (gast.Add, gast.Sub)
    return adds and name not in [*ir.names_in(stmt.value), *ir.names_in(stmt.index)]


def is_effect(stmt: Any) -> bool:
    """True if a statement may change the length of a list."""
    return any(isinstance(x, (ir.Effect, ir.Try, ir.With)) for x in ir.inside(stmt))
