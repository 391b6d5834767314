"""Saves in the place of others: operands of several values, and truth values of comparisons.

::

    t = r * x                              saved_x.append(x)
    saved_t.append(t)                      x = r * x * (1.0 - x)
    t2 = 1.0 - x                           ...
    saved_t2.append(t2)             ->     x = saved_x.pop()
    x = t * t2                             d_x = d_x * (1.0 - x) * r - d_x * (r * x)
    ...
    d_x = d_x * saved_t2.pop() * r - d_x * saved_t.pop()

An operation on arrays gives no less than it is given: what it is computed from is as small.  An array of which items
are wanted is saved in their place if it is known to be short.

::

    for i in range(n):                            for i in range(n):
        t = w @ x                                     t = w @ x
        saved_t.append(t)                             saved_positive.append(t > 0)
        x = np.maximum(t, 0)                          x = np.maximum(t, 0)
    ...                                    ->     ...
    for i in range(n - 1, -1, -1):                for i in range(n - 1, -1, -1):
        d_t = np.where(saved_t.pop() > 0, d_x, 0)     d_t = np.where(saved_positive.pop(), d_x, 0)

They are an eighth as large.  The arrays are those that a step makes and nobody writes, and no vectors, which are mostly
short; two of them have one shape, so that the comparison cannot fail.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import gast

from ... import ir
from ...analysis.alias import Regions
from ...analysis.liveness import readers_of
from ...analysis.ownership import Generations, is_number
from ...analysis.remarks import note
from ...analysis.subscript_uses import item_index
from ...domain.facts import Num, is_same
from ...interp.kernel.specialiser import Specialiser
from ...ir.traversal import read_instead, replaced
from .availability import AtHand, is_arithmetic
from .subscript_dependence import Places

if TYPE_CHECKING:
    from .insert import Record


def common_sources(record: Record, forward: ir.Block) -> None:
    """Want the variables of a block that two or more of the wanted ones can be computed from."""
    wanted = record.wanted[id(forward)]
    while True:
        served: dict[str, list[str]] = defaultdict(list)
        there = AtHand(record, forward, {})
        for name in sorted(wanted, key=order):
            lacking = there.lacking(name)
            if lacking is not None and len(lacking) == 1:
                served[min(lacking)].append(name)
        source = next((n for n, names in served.items() if len(names) > 1 and is_worth(record, forward, n)), None)
        if source is None:
            return
        wanted.add(source)
        record.readers[source] = [x for n in served[source] for x in record.readers.get(n, ())]


def is_worth(record: Record, forward: ir.Block, name: str) -> bool:
    """True if a variable of the block is no larger than what is computed from it, if that are items of an array."""
    facts = record.s.facts[name]
    if not record.is_local(name, forward) or not isinstance(facts, Num) or facts.kind != "array":
        return record.is_local(name, forward)
    items = [n for n in record.wanted[id(forward)] if record.is_item_of(n, name)]
    lengths = [record.s.lengths_in(forward).canonical(axis) for axis in facts.dims or (None,)]
    return not items or (len(lengths) == 1 and isinstance(lengths[0], int) and lengths[0] <= 2 * len(items))


def order(name: str) -> int:
    """The position of a variable among those of its program."""
    return int(name.rpartition(".")[2])


def lasting(s: Specialiser, memory: Generations, forward: ir.Block, reverse: ir.Block) -> dict[str, Any]:
    """Items that stay as a loop read them: the reverse sweep reads them again, and nothing is saved.

    ::

        for i in range(n):                       saved_t.append(x[j]) ... saved_t.pop()
            for j in range(i):            ->     x[j]
                rest = rest - a[i, j] * x[j]
            x[i] = rest / a[i, i]

    An array that a loop writes is another one in each step, but not each of its items is: above, no step writes
    ``x[j]`` after it was read, since ``j`` is less than ``i``, and ``i`` grows. So it is for every read of which all
    writes that come later are of other places (see `subscript_dependence`).

    The numbers of loops that stay in an array as long as it is reached, each with the item that it is.

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
    """True if a number that a statement reads or stores is an item until the end of the program."""
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
    """The numbers that a block reads or computes again, each with the one that was first.

    Numbers that a step reads twice from one place, or computes twice, are one number to the reverse sweep, saved once.

    ::

        saved_t.append(u[i])                   saved_t.append(u[i])
        face = u[i] + slope[i]          ->     face = u[i] + slope[i]
        saved_t2.append(u[i])                  rest = 1.0 - u[i]
        rest = 1.0 - u[i]

    Nothing may have been written there in between. Of what is computed, only sums, products and the like of other
    numbers count, into which nothing can be written, and of those only what the step itself makes: the rest is not
    saved.
    """
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
    """True if a statement reads a number from an array."""
    if not isinstance(stmt, ir.Let) or stmt.effect or not isinstance(stmt.expr, gast.Subscript):
        return False
    base, facts = stmt.expr.value, s.facts[stmt.target]
    if not isinstance(base, gast.Name) or not ir.is_variable(base.id) or not isinstance(facts, Num):
        return False
    return isinstance(s.facts[base.id], Num) and facts.dims == () and (facts.python or facts.kind == "npscalar")


def is_computed(s: Specialiser, stmt: Any) -> bool:
    """True if a statement computes a number from others by one of Python's operators."""
    if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1 or not is_arithmetic(stmt.expr):
        return False
    operands = ir.children(stmt.expr)
    plain = all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)
    return plain and all(is_number(s.facts[n]) for n in (stmt.target, *ir.variables_in(stmt.expr)))


def dedupe_carried_saves(s: Specialiser, where: Regions, reverse: ir.Block) -> None:
    """Save one value for the end of a step of a loop and the begin of the next, which are equal.

    ::

        for i in range(n):                   for i in range(n):
            saved_h2.append(h)                   saved_h.append(h)
            h = np.tanh(w @ h)                   h = np.tanh(w @ h)
            saved_h.append(h)                ...
        ...                            ->    for i in range(n - 1, -1, -1):
        for i in range(n - 1, -1, -1):           d_t = d_h * (1 - h * h)
            h = saved_h.pop()                    h = saved_h.pop()
            d_t = d_h * (1 - h * h)              d_w += np.outer(d_t, h)
            h = saved_h2.pop()
            d_w += np.outer(d_t, h)

    The reverse of the last step begins with the value after the loop, and the reverse of each other one with what that
    of the step after it has read back. Nobody may write into the values, and there must be one before the first step.

    Let the loops of the reverse sweep carry what would be saved twice, in place; the inner ones first.
    """
    for node in [x for x in reversed(ir.walk(reverse)) if isinstance(x, ir.Loop) and x.primal is not None]:
        if any(inner.rerun is not None for inner in ir.inside(node) if isinstance(inner, ir.Loop)):
            continue  # what runs a segment again names what it reads
        read = {n for stmt in node.body for n in ir.reads_inside(stmt)}
        made = {n for stmt in node.primal.body for n in ir.ir_targets(stmt)}
        for c in node.primal.carries:
            if c.phi in read and c.next in read & made and keeps_values(s, where, c):
                carry(s, node, c)


def keeps_values(s: Specialiser, where: Regions, c: ir.Carry) -> bool:
    """True if a variable has a value before the first step, and keeps each of its values as they are."""
    names = [n for n in (c.init, c.phi, c.next, c.out) if n is not None]
    if len(names) < 4 or c.out in s.unbound:
        return False
    return all(isinstance(s.facts[n], Num) and not where.is_written(n) for n in names)


def carry(s: Specialiser, node: ir.Loop, c: ir.Carry) -> None:
    """Give the value after a step a variable that the reverse loop carries."""
    after, first = (s.fresh_like(c.phi, s.facts[str(c.next)]) for _ in range(2))
    if c.phi in s.named:
        s.named |= {after, first}
    for stmt in ir.walk(node.body):
        read_instead(stmt, {str(c.next): after})
    node.carries.append(ir.Carry(after, c.out, c.phi, first))


MOST = 4  # comparisons of one array, which together are half as large


def compare_before(s: Specialiser, where: Regions, reverse: ir.Block, final: ir.Return) -> None:
    """Move comparisons of the loops of the reverse sweep into the loops that these reverse, in place."""
    loops = [x for x in ir.walk(reverse) if isinstance(x, ir.Loop) and x.primal is not None and not x.again]
    readers = readers_of([*ir.walk(reverse), final]) if loops else {}
    for loop in loops:
        if loop.rerun is None:
            move(s, where, loop, readers)


def move(s: Specialiser, where: Regions, loop: ir.Loop, readers: dict[str, list[Any]]) -> None:
    """Move those of one loop."""
    body = loop.primal.body
    makers = {x.target: x for x in body if isinstance(x, ir.Let) and len(x.targets) == 1}
    tests = {x: compared(x) for x in loop.body if is_comparison(s, x)}
    read = {n for names in tests.values() for n in names}
    kept = {n for n in read if n not in makers or not is_array(s, n) or where.is_written(n)}
    kept |= {n for n in read if len(readers[n]) > MOST or not tests.keys() >= {*readers[n]} - {loop}}
    while spread := {n for names in tests.values() if kept & {*names} for n in names} - kept:
        kept |= spread
    for stmt, names in tests.items():
        if kept.isdisjoint(names):
            loop.body.remove(stmt)
            body.insert(max(body.index(makers[n]) for n in names) + 1, stmt)
            note(s, stmt, "compared before, since truth values are smaller than what is compared")


def is_comparison(s: Specialiser, stmt: Any) -> bool:
    """True if a statement compares an array with another one of its shape, or with a number of the text."""
    if not isinstance(stmt, ir.Let) or not isinstance(stmt.expr, gast.Compare) or len(stmt.expr.ops) != 1:
        return False
    sides, names = (stmt.expr.left, stmt.expr.comparators[0]), compared(stmt)
    plain = all(isinstance(side, (gast.Name, gast.Constant)) for side in sides)
    facts = [s.facts.get(n) for n in names]
    if not plain or not all(isinstance(f, Num) and f.dims is not None for f in facts):
        return False
    return bool(names) and all(s.where_made(*names).are_equal(f.dims, facts[0].dims) for f in facts[1:])  # type: ignore


def is_array(s: Specialiser, name: str) -> bool:
    """True for an array with two axes and more: vectors in loops are mostly short."""
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.kind == "array" and (facts.ndim or 0) > 1 and not facts.tensor


def compared(stmt: Any) -> list[str]:
    """The variables that a statement compares."""
    return list(ir.variables_in(stmt.expr)) if isinstance(stmt, ir.Let) else []
