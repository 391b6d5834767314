"""What a branch leaves as zero is not added: the additions after it are in the sides that have something to add.

::

    if took_condition.pop():                if took_condition.pop():
        d_left, d_right = d_t, 0.0              d_u[i - 1] -= d_t
    else:                             ->    else:
        d_left, d_right = 0.0, d_t              d_u[i + 1] += d_t
    d_u[i - 1] -= d_left
    d_u[i + 1] += d_right

It is done for numbers that nobody else reads, where the text does not become longer.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import Num
from ..ir import reads_inside
from ..optimise import count_uses
from ..peephole import is_literal_zero, touches
from ..regions import roots_of
from ..specialise.state import Specialiser


def add_in_branches(s: Specialiser, program: ir.Block, back: ir.Block) -> None:
    """Rewrite the reverse sweep of a program, in place."""
    blocks = [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]
    if not any(isinstance(a, ir.If) and isinstance(b, ir.Store) for block in blocks for a, b in zip(block, block[1:])):
        return
    uses = count_uses(program)
    values = {x.target: x.expr for x in ir.walk(back) if isinstance(x, ir.Let) and len(x.targets) == 1}
    for block in blocks:
        for stmt in [x for x in block if isinstance(x, ir.If) and x.merges and x.path is None]:
            run = additions(s, block, stmt, uses)
            ends = sides(stmt, {store: store.value.id for store in run}, values) if run else None
            if ends is not None and sum(len(found) for _, found in ends) <= len(run):
                place(s, ends)
                block[:] = [x for x in block if x not in run]
                forget(stmt, {store.value.id for store in run}, values)


def additions(s: Specialiser, block: ir.Block, branch: ir.If, uses: dict[str, int]) -> list[ir.Store]:
    """The additions right after a branch of numbers that only they read."""
    merged = {m.target for m in branch.merges}
    numbers = {n for n in merged if isinstance(f := s.facts[n], Num) and f.dims == () and not f.tensor}
    run: list[ir.Store] = []
    for stmt in block[block.index(branch) + 1 :]:
        if not isinstance(stmt, ir.Store) or stmt.aug not in (gast.Add, gast.Sub):
            break
        if getattr(stmt.value, "id", "") not in numbers or {stmt.base, *ir.names_in(stmt.index)} & merged:
            break
        if any(isinstance(node, gast.Call) for node in ir.nodes(stmt.index)):
            break  # what an index takes from a list it takes in each step
        run.append(stmt)
    read = [store.value.id for store in run]
    return [store for store in run if read.count(store.value.id) == uses[store.value.id]]


def sides(
    branch: ir.If, wanted: dict[ir.Store, str], values: dict[str, Any]
) -> list[tuple[ir.Block, list[tuple[ir.Store, str]]]] | None:
    """The sides of a branch, each with the additions that it has to make and of what; None where that is not known."""
    table = {m.target: m for m in branch.merges}
    found: list[tuple[ir.Block, list[tuple[ir.Store, str]]]] = []
    for block, side in ((branch.then, "then"), (branch.orelse, "orelse")):
        names = {store: getattr(table[name], side) for store, name in wanted.items()}
        if None in names.values():
            return None
        names = {store: name for store, name in names.items() if not is_literal_zero(values.get(name))}
        inner = block[-1] if block and isinstance(block[-1], ir.If) and block[-1].path is None else None
        deeper = {m.target for m in inner.merges} if inner is not None else set()
        if inner is not None and names and deeper.issuperset(names.values()):
            nested = sides(inner, names, values)
            if nested is None:
                return None
            found += nested
        else:
            found.append((block, list(names.items())))
    return found


def place(s: Specialiser, ends: list[tuple[ir.Block, list[tuple[ir.Store, str]]]]) -> None:
    """Put additions where what they add is made, or at the end of a side where something touches the memory before."""
    for block, found in ends:
        for store, name in found:
            region = roots_of(s.facts[store.base])
            made = next((k for k, x in enumerate(block) if name in ir.ir_targets(x)), len(block)) + 1
            free = not any(touches(s, x, region, False) for x in block[made:])
            added = ir.Store(store.base, store.index, ir.name(name), store.aug, store.origin)
            block.insert(made if free else len(block), added)


def forget(branch: ir.If, names: set[str], values: dict[str, Any]) -> None:
    """Drop what a branch left for additions that are in its sides now."""
    gone = {n for m in branch.merges if m.target in names for n in (m.then, m.orelse)}
    branch.merges = [m for m in branch.merges if m.target not in names]
    for block in (branch.then, branch.orelse):
        inner = block[-1] if block else None
        passed = {n for m in branch.merges for n in (m.then, m.orelse)}
        if isinstance(inner, ir.If):
            forget(inner, {m.target for m in inner.merges} & gone - passed - set(read_in(block[:-1])), values)
        read = {*read_in(block), *passed}
        block[:] = [
            x for x in block if not (isinstance(x, ir.Let) and x.target in gone - read and is_literal_zero(x.expr))
        ]


def read_in(block: ir.Block) -> list[str]:
    return [n for stmt in block for n in reads_inside(stmt)]
