"""Items that stay as a loop read them: the reverse sweep reads them again, and nothing is saved.

::

    for i in range(n):                       saved_t.append(x[j]) ... saved_t.pop()
        for j in range(i):            ->     x[j]
            rest = rest - a[i, j] * x[j]
        x[i] = rest / a[i, i]

An array that a loop writes is another one in each step, but not each of its items is: above, no step writes ``x[j]``
after it was read, since ``j`` is less than ``i``, and ``i`` grows.  So it is for every read of which all writes that
come later are of other places (see `item_places`).

Numbers that a step reads twice from one place, or computes twice, are one number to the reverse sweep, saved once.

::

    saved_t.append(u[i])                   saved_t.append(u[i])
    face = u[i] + slope[i]          ->     face = u[i] + slope[i]
    saved_t2.append(u[i])                  rest = 1.0 - u[i]
    rest = 1.0 - u[i]

Nothing may have been written there in between.  Of what is computed, only sums, products and the like of other numbers
count, into which nothing can be written, and of those only what the step itself makes: the rest is not saved.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions
from ...analysis.fresh_allocations import Generations
from ...analysis.ownership import is_number
from ...analysis.subscript_uses import item_index
from ...domain.facts import Num, is_same
from ...ir.builder import Specialiser
from ...ir.rewrite import replaced
from .cost_model import is_arithmetic
from .subscript_dependence import Places


def lasting(s: Specialiser, memory: Generations, forward: ir.Block, reverse: ir.Block) -> dict[str, Any]:
    """The numbers of loops that stay in an array as long as it is reached, each with the item that it is.

    What the reverse sweep puts back takes away what was stored there, but not what was read before.
    """
    program, where = ir.walk(forward), memory.where
    if any(isinstance(stmt, ir.Try) for stmt in program):
        return {}
    found = {stmt: place for stmt in program if (place := place_of(s, where, stmt)) is not None}
    back = {where.of(stmt.base) for stmt in ir.walk(reverse) if isinstance(stmt, ir.Store)} if found else set()
    found = {x: place for x, place in found.items() if isinstance(x, ir.Let) or where.of(x.base) not in back}
    if not found:
        return {}
    places = Places(forward)
    return {name: item for stmt, (name, item) in found.items() if stays(places, stmt, name, item, memory)}


def stays(places: Places, stmt: Any, name: str, item: Any, memory: Generations) -> bool:
    """Whether a number that a statement reads or stores is an item until the end of the program."""
    maker, array = places.makers.get(name), item.value.id
    if maker is None or places.blocks[maker] != places.blocks[stmt] or any(loop.every for loop in places.around[stmt]):
        return False
    if array in places.inside:  # bound by a loop, and read by an inner one: kept once for all its items
        return places.depth(array) < len(places.around[stmt]) and memory.is_steady(array)
    writes = memory.writes[memory.where.of(array)]
    return all(places.is_apart(stmt, item, write) for write in reversed(writes))  # the last ones are likelier not


def place_of(s: Specialiser, where: Regions, stmt: Any) -> tuple[str, Any] | None:
    """The number that a statement reads from an array that the program writes, or puts there, and its item."""
    if isinstance(stmt, ir.Let) and not stmt.effect and isinstance(stmt.expr, gast.Subscript):
        name, item = stmt.target, stmt.expr
    elif isinstance(stmt, ir.Store) and stmt.aug is None and isinstance(stmt.value, gast.Name):
        name, item = stmt.value.id, ir.subscript(ir.name(stmt.base), stmt.index)
    else:
        return None
    facts, array = s.facts.get(name), s.facts.get(getattr(item.value, "id", ""))
    if not isinstance(facts, Num) or not isinstance(array, Num) or array.kind != "array":
        return None
    if facts.dims != () or facts.kind not in ("npscalar", None):  # None: a number, whether Python's or NumPy's
        return None
    if not is_same(facts.dtype, array.dtype) or item_index(s, item.value.id, item.slice) is None:
        return None
    return (name, item) if where.is_written(item.value.id) else None


def twins(s: Specialiser, where: Regions, block: ir.Block) -> dict[str, str]:
    """The numbers that a block reads or computes again, each with the one that was first."""
    found: dict[str, str] = {}
    known: dict[tuple[str, str], str] = {}
    computed: dict[str, str] = {}
    made: set[str] = set()  # what the block makes, and what is computed of that: the rest is there without being saved
    for stmt in block:
        if not is_computed(s, stmt):
            made.update(ir.ir_targets(stmt))
        elif not made.isdisjoint(ir.variables_in(stmt.expr)):
            made.add(stmt.target)
            key = gast.dump(replaced(stmt.expr, {n: ir.name(first) for n, first in found.items()}))
            first = computed.setdefault(key, stmt.target)
            found |= {stmt.target: first} if first != stmt.target else {}
            continue
        if is_read(s, stmt):
            first = known.setdefault((stmt.expr.value.id, gast.dump(stmt.expr.slice)), stmt.target)
            found |= {stmt.target: first} if first != stmt.target else {}
            continue
        inside = ir.inside(stmt)
        if any(isinstance(x, ir.Effect) or getattr(x, "effect", False) for x in inside):
            known.clear()
        written = {region for x in inside for region in where.written_in(x)}
        known = {place: first for place, first in known.items() if where.of(place[0]) not in written}
    return found


def is_read(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement reads a number from an array."""
    if not isinstance(stmt, ir.Let) or stmt.effect or not isinstance(stmt.expr, gast.Subscript):
        return False
    base, facts = stmt.expr.value, s.facts[stmt.target]
    if not isinstance(base, gast.Name) or not ir.is_variable(base.id) or not isinstance(facts, Num):
        return False
    return isinstance(s.facts[base.id], Num) and facts.dims == () and (facts.python or facts.kind == "npscalar")


def is_computed(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement computes a number from others by one of Python's operators."""
    if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1 or not is_arithmetic(stmt.expr):
        return False
    operands = ir.children(stmt.expr)
    plain = all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)
    return plain and all(is_number(s.facts[n]) for n in (stmt.target, *ir.variables_in(stmt.expr)))
