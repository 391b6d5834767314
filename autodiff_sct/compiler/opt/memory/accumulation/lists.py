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
from ....analysis.liveness import count_uses
from ....domain.facts import Listed
from ....ir.builder import Specialiser

ADDING = (memory.add_items, memory.add_carried)


def elide_list_zeros(s: Specialiser, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the blocks of the reverse sweep, in place."""
    if all(value is not broadcast.zeros_like for value in s.globals.values()):  # no list begins as zeros
        return
    uses = count_uses([*reverse, final])
    for block in [reverse, *(inner for stmt in ir.adjoint_walk(reverse) for inner in ir.adjoint_bodies(stmt))]:
        for zero in [stmt for stmt in block if is_zeros(s, stmt)]:
            begin_with(s, block, zero, uses)
    drop_last_pops(s, reverse, final)


def begin_with(s: Specialiser, block: ir.Block, zero: ir.Let, uses: dict[str, int]) -> None:
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


def is_used_after(s: Specialiser, block: ir.Block, stmt: Any, name: str) -> bool:
    """Whether the list of a name is still in use after a statement."""
    roots, after = roots_of(s.facts[name]), block[block.index(stmt) + 1 :]
    return not roots or any(roots & reachable(s, s.facts[n]) for x in after for n in ir.reads_inside(x))


def is_zeros(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement makes a list of zeros."""
    return isinstance(stmt, ir.Let) and calls(s, stmt.expr, broadcast.zeros_like) and is_list(s, stmt.target)


def is_list(s: Specialiser, name: str) -> bool:
    return isinstance(s.facts[name], Listed)


def calls(s: Specialiser, expr: Any, *functions: Any) -> bool:
    return isinstance(expr, gast.Call) and s.globals.get(getattr(expr.func, "id", "")) in functions


def given_to(s: Specialiser, stmt: Any, name: str) -> str | None:
    """The variable whose items a statement adds to those of a list."""
    if not isinstance(stmt, ir.Effect) or not calls(s, stmt.expr, *ADDING):
        return None
    to, given = stmt.expr.args
    is_other = isinstance(given, gast.Name) and given.id != name
    return given.id if is_other and getattr(to, "id", None) == name else None


def is_popped(maker: ir.Let) -> bool:
    return maker.effect and isinstance(maker.expr, gast.Call) and getattr(maker.expr.func, "attr", None) == "pop"


def is_of_numbers(s: Specialiser, items: Any) -> bool:
    facts = s.facts.get(getattr(items, "id", ""))
    return isinstance(facts, Listed) and facts_of_item(s.elements_of(facts)) is not UNKNOWN


def is_new(s: Specialiser, maker: ir.Let) -> bool:
    """Whether a statement makes a list that shares nothing with others."""
    expr = maker.expr
    if isinstance(expr, gast.Subscript):
        return isinstance(expr.slice, gast.Slice) and isinstance(expr.value, gast.Name) and is_list(s, expr.value.id)
    return isinstance(expr, (gast.ListComp, gast.List))


def drop_last_pops(s: Specialiser, reverse: ir.Block, final: ir.Return) -> None:
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


def is_unread_pop(s: Specialiser, stmt: Any, uses: dict[str, int]) -> bool:
    """Whether a statement takes the last item out of a list, and nobody reads that."""
    if not isinstance(stmt, ir.Let) or uses.get(stmt.target) or not is_popped(stmt) or stmt.expr.args:
        return False
    popped = stmt.expr.func.value
    return isinstance(popped, gast.Name) and popped.id in s.facts and is_list(s, popped.id)
