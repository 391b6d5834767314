"""Vectors that a loop saves in every iteration are rows of one array, if they are short.

::

    saved_x = []                              saved_x = rows(steps, len(x))
    for i in range(steps):                    for i in range(steps):
        saved_x.append(x)                         saved_x[i] = x
        x = x + dt * np.sin(a @ x)                x = x + dt * np.sin(a @ x)
    ...                                ->     ...
    for i in range(steps - 1, -1, -1):        for i in range(steps - 1, -1, -1):
        x = saved_x.pop()                         x = saved_x[i]

An array of a few numbers is mostly what Python keeps around them, some 110 bytes; how many they are, the run tells
(`runtime.memory`): what is longer stays a list of arrays.  Where a copy would be saved, rows of one array are made at
any size (`copied_rows`): storing into an array copies, storing into a list does not.  The loop runs to its end, the
number of its iterations and the length of what it saves are known before it, and each iteration saves one array and
reads it back.  Neither sweep writes to it: what the reverse sweep adds to a shadow, or puts back as it was, is seen by
all that are the same array, not by a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from ....runtime.memory import copied_rows, rows
from ... import ir
from ...analysis.alias import Regions, regions, roots_of, written_arguments
from ...analysis.liveness import count_uses
from ...analysis.remarks import hand_on
from ...domain.facts import Dim, Num
from ...interp.kernel.specialiser import Specialiser
from ...ir.patterns import is_copy, is_pop_call
from .packing import Saved, call_by_content, lists
from .shape_uses import replaced

DTYPES = {np.dtype(np.float64): "", np.dtype(np.float32): "float32", np.dtype(np.complex128): "complex128"}


def plan_rows(s: Specialiser, arguments: list[str], front: ir.Block, back: ir.Block) -> None:
    """Make room for what the loops of a whole program save in rows; what fills it is written by `write_rows`."""
    loops = {x.primal: x for x in back if isinstance(x, ir.Loop) and runs_through(x.primal)}
    found = lists(s, front, back) if loops else []
    planned, known = [], [*arguments]
    for stmt in front if found else ():
        if stmt in loops:
            inside = [x for x in found if x.pushed_in is stmt.body and x.popped_in is loops[stmt].body]
            planned += [(x, stmt, lengths) for x in inside if (lengths := lengths_of(s, stmt, x.value, known))]
        known += ir.ir_targets(stmt)
    where = memory(s, [*front, *back]) if planned else Regions()
    for saved, loop, lengths in planned:
        if where.of(saved.value) is not None and not where.is_written(saved.value):
            make_room(s, saved, lengths, front, loop)
            s.in_rows[saved.name] = loop, loops[loop]


def runs_through(loop: Any) -> bool:
    """True if a loop of the forward sweep counts up by one, from a small number, and is never left early."""
    if not isinstance(loop, ir.Loop) or loop.kind != "range" or loop.stop is not None or loop.every is not None:
        return False
    return len(loop.bounds) == 1 or (len(loop.bounds) == 2 and is_small(loop.bounds[0]))


def is_small(bound: Any) -> bool:
    return isinstance(bound, gast.Constant) and bound.value in (0, 1, 2)


def memory(s: Specialiser, program: ir.Block) -> Regions:
    """The memory of a program, and what of it either sweep may write."""
    where = regions([], s.facts, s.elements)
    for stmt in ir.walk(program):
        where.written |= {where.find(root) for name in changed_by(stmt) for root in roots_of(s.facts[name])}
    return where


def changed_by(stmt: Any) -> Sequence[str]:
    """The variables whose memory a statement may change."""
    if isinstance(stmt, ir.Store):
        return [stmt.base]
    if isinstance(stmt, ir.Let):
        acts = stmt.effect and not is_pop_call(stmt.expr)
        return ir.reads(stmt) if acts or stmt.in_place else [*written_arguments(stmt).values()]
    return ir.reads(stmt) if isinstance(stmt, ir.Effect) and stmt.kind != "save" else []


# -- lengths


def lengths_of(s: Specialiser, loop: ir.Loop, name: str, known: list[str]) -> list[Any]:
    """The lengths of an array that a loop makes, written with what is there before it; none where that cannot be."""
    facts = s.facts[name]
    if not isinstance(facts, Num) or facts.kind != "array" or not facts.dims or facts.dtype not in DTYPES:
        return []
    axes = [s.lengths_in(loop.body).canonical(axis) for axis in facts.dims]
    if facts.tensor or facts.whole or (len(axes) > 1 and not all(isinstance(axis, int) for axis in axes)):
        return []
    carried = [c.init for c in loop.carries if c.phi == name and c.init is not None]
    lengths = [length_of(s, loop, axis, [*carried, *known]) for axis in axes]
    return lengths if None not in lengths else []


def length_of(s: Specialiser, loop: ir.Loop, axis: Any, known: list[str]) -> Any | None:
    """The length of an axis, as that of an axis of some array."""
    if not isinstance(axis, Dim):
        return None if axis is None else ir.constant(axis)
    lengths = s.lengths_in(loop.body)
    counts = [n for n in known if (size := size_of(s, n)) is not None and lengths.canonical(size) == axis]
    if counts:
        return ir.name(counts[0])
    axes = [(k, n) for n in known for k, found in enumerate(axes_of(s, n)) if lengths.canonical(found) == axis]
    if not axes:
        return None
    k, name = min(axes, key=lambda found: (found[1] not in s.named, found[0]))
    return ir.subscript(ir.attribute(ir.name(name), "shape"), ir.constant(k)) if k else ir.call("len", ir.name(name))


def axes_of(s: Specialiser, name: str) -> tuple[Any, ...]:
    facts = s.facts[name]
    return facts.dims or () if isinstance(facts, Num) and facts.kind == "array" and not facts.tensor else ()


def size_of(s: Specialiser, name: str) -> Dim | None:
    """The axis that an integer measures, and that is as long as it says: no length is less than 0."""
    size = getattr(s.facts[name], "size", None)
    return size if isinstance(size, Dim) and size.offset >= 0 and not isinstance(size.symbol, str) else None


# -- the program


def make_room(s: Specialiser, saved: Saved, lengths: list[Any], front: ir.Block, loop: ir.Loop) -> None:
    """Let rows take the place of a list."""
    call_by_content(s, saved)
    dtype = DTYPES[s.facts[saved.value].dtype]  # type: ignore[union-attr]
    keywords = {"dtype": ir.attribute(s.bind("np", np), dtype)} if dtype else {}
    room = ir.call(s.bind("rows", rows), loop.bounds[-1], *lengths, **keywords)
    front[:] = [x for x in front if not (isinstance(x, ir.Let) and x.target == saved.name)]
    made = ir.Let((saved.name,), room)
    made.saves = True
    front.insert(front.index(loop), made)


def write_rows(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Fill and read rows by the counters of loops, in place; a list that only holds shapes by now stays one."""
    uses = count_uses([*front, *back]) if s.in_rows else {}
    for name, (loop, backwards) in s.in_rows.items():
        pushes = [x for x in loop.body if isinstance(x, ir.Effect) and name in ir.reads(x)]
        pops = [x for x in ir.walk(backwards.body) if name in ir.reads(x)]
        if uses.get(name) == 2 and pushes and pops and isinstance(pushes[0].expr.args[0], gast.Name):
            if fill_row(s, name, pushes[0], loop, uses):
                for made in rooms(front, name):
                    made.expr.func = s.bind("copied_rows", copied_rows)
            read_row(name, pops[0], ir.subscript(ir.name(name), ir.name(counter(s, backwards))))
        else:
            for made in rooms(front, name):
                made.expr = gast.List([], gast.Load())


def fill_row(s: Specialiser, name: str, push: ir.Effect, loop: ir.Loop, uses: dict[str, int]) -> bool:
    """Store what is appended, and what only that reads is computed there; return True if storing has to copy it."""
    value = push.expr.args[0]
    place = loop.body.index(push)
    loop.body[place] = row = ir.Store(name, ir.name(counter(s, loop)), value, None, push.origin)
    before = loop.body[place - 1] if place else None
    copies = False
    if isinstance(before, ir.Let) and before.targets == (value.id,) and uses[value.id] == 1 and not before.effect:
        copies = is_copy(before)
        row.value = before.expr.func.value if copies else before.expr
        hand_on(s, before, row)
        loop.body.remove(before)
    hand_on(s, push, row)
    return copies


def rooms(front: ir.Block, name: str) -> list[ir.Let]:
    """The statement that makes room for what a loop saves, if it is still there."""
    return [stmt for stmt in front if isinstance(stmt, ir.Let) and stmt.target == name]


def read_row(name: str, stmt: Any, row: Any) -> None:
    """Read a row where a statement takes the last item of a list."""
    for part in ("expr", "value", "index", "test"):
        for node in ir.nodes_in(getattr(stmt, part, None)):
            if is_pop_call(node) and getattr(node.func.value, "id", None) == name:
                setattr(stmt, part, replaced(getattr(stmt, part), node, row))
    if isinstance(stmt, ir.Let) and stmt.expr is row:
        stmt.effect = False


def counter(s: Specialiser, loop: ir.Loop) -> str:
    """The counter of a loop, of which nobody may have read it yet: ``for _ in range(n)``."""
    index = str(loop.index)
    if index not in s.named or not s.hints[index].strip("_"):
        s.hints[index] = "k"
        s.named.add(index)
    return index
