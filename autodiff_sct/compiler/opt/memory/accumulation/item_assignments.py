"""What is added to an item of zeros for the first time is assigned.

::

    d_x = np.zeros_like(x)                  d_x = np.zeros_like(x)
    for i in range(n - 1, -1, -1):    ->    for i in range(n - 1, -1, -1):
        d_x[i] += d_t * t                       d_x[i] = d_t * t

No line before it, and none in an earlier step of the loops around it, has written that item.
"""

from __future__ import annotations

from typing import Any

import gast

from .... import ir
from ....ad.tape.subscript_dependence import Places
from ....analysis.alias import roots_of
from ....ir.builder import Specialiser
from ....ir.negation import negated, signed
from .first_touch import is_new_zeros


def assign_items(s: Specialiser, program: ir.Block, back: ir.Block) -> None:
    """Rewrite additions in the reverse sweep of a program, in place."""
    zeros = {stmt.target for stmt in back if is_new_zeros(s, stmt)}
    stores: dict[str, list[ir.Store]] = {}
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Store) and stmt.base in zeros:
            stores.setdefault(stmt.base, []).append(stmt)
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop)] if stores else []
    looped = {stmt for loop in loops for stmt in ir.walk(loop.body)}
    stores = {base: found for base, found in stores.items() if any(is_addition(x) and x in looped for x in found)}
    if not stores:
        return
    places, hidden = Places(program), written_elsewhere(s, program, stores.keys())
    for base in stores.keys() - hidden:
        first = [store for store in stores[base] if is_addition(store) and is_first(places, store, stores[base])]
        for store in first:
            if store.aug is gast.Sub:
                positive = negated(store.value)
                store.value = signed(store.value) if positive is None else positive
            store.aug = None


def is_addition(store: ir.Store) -> bool:
    return store.aug in (gast.Add, gast.Sub)


def is_first(places: Places, store: ir.Store, stores: list[ir.Store]) -> bool:
    """Whether no statement writes an item before another one adds to it."""
    return bool(places.around[store]) and all(
        places.is_apart(other, ir.subscript(ir.name(other.base), other.index), store) for other in stores
    )


def written_elsewhere(s: Specialiser, program: ir.Block, names: Any) -> set[str]:
    """Those of some arrays that have other names, or that something else than an assignment may write."""
    met = {n for stmt in program for n in [*ir.reads_inside(stmt), *ir.defined([stmt])] if n in s.facts}
    found = {n for n in names for other in met - {n} if roots_of(s.facts[n]) & roots_of(s.facts[other])}
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Effect) or isinstance(stmt, ir.Let) and (stmt.effect or stmt.in_place):
            found |= set(ir.reads(stmt))
    return found
