"""Arrays that loops touch item by item are lists while they run: NumPy takes 40 to 100 ns for an item, a list 15.

::

    x = np.zeros(n)                        x = [0.0] * n
    for i in range(n):                     b_items = b.tolist()
        rest = b[i]                        for i in range(n):
        for j in range(i):           ->        rest = b_items[i]
            rest = rest - a[i, j] * x[j]       a_row = a_rows[i]
        x[i] = rest / a[i, i]                  for j in range(i):
    return np.sum(x * x)                           rest = rest - a_row[j] * x[j]
                                               x[i] = rest / a_row[i]
                                           x = np.array(x)
                                           return np.sum(x * x)

It pays where all numbers of a loop are Python floats, which have the bits of a ``np.float64`` and a fifth of its cost.
What a list and a float do differently they do by raising: an index out of range, a quotient by zero, a power that
overflows. Such a call is run again as the program was before this pass (see `dispatch`), which gives the message, the
warning or the infinity that NumPy gives. So this is for programs that may be run again: without side effects, without
handlers of exceptions, outside ``with``; and neither for native programs nor for texts that are differentiated again.

Which arrays: float64, of one axis or two, that no other name leads to where they are changed, and beside them arrays
of int64 that nobody writes and whose items do nothing but tell places (``q[parent[i]]``) or are compared. A stretch of
statements that touches such an array by items only has it as a list, if a loop goes over it: a ``for`` over a range
that is no literal and that is not left early, whose variable, give or take a number, is the index, or tells it by an
array of places. In the body of a loop, where the list is made again and again, that range has to be the axis. So what
is converted is what is visited. Of an array of zeros of which a loop fills one row in each step, that row is the list.
An array of parameters, which the program touches by literal indices only, is a list throughout. An array of a few
numbers in the body of a loop, its length known, is a list where literal indices touch several of them.
"""

from __future__ import annotations

from typing import Any

import gast

from .....core import thresholds
from .... import ir
from ....analysis.effects import is_loop
from ....analysis.subscript_uses import Use, is_place_array, item_of, place_index, uses
from ....domain.facts import Num
from ....ir.function import Function
from .candidates import Site
from .representation import Flow
from .rewrite import Lists


def unbox_arrays(s: Function, program: ir.Block) -> bool:
    """Rewrite a program with lists for what it touches by items; whether there was something to gain."""
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop)]
    if not any(touches_item(s, stmt) for stmt in ir.walk(loops)):
        return False
    early = {loop.trips for loop in loops if loop.trips is not None}
    hoped: set[str] = set()
    changed = convert(Site(s, program, program, None, early), hoped)
    again = changed or bool(hoped)  # else it would be what it has been
    return again and convert(Site(s, program, program, None, early), settled=not changed) or changed


def touches_item(s: Function, stmt: Any) -> bool:
    """True if a statement itself reads or writes one item of something."""
    if isinstance(stmt, ir.Store) and place_index(s, stmt.base, stmt.index) is not None:
        return True
    return any(item_of(s, node, s.facts) is not None for expr in ir.expressions(stmt) for node in ir.nodes_in(expr))


def may_run_again(s: Function, program: ir.Block) -> bool:
    """True if nobody can tell that a program was run up to an exception and then once more."""
    if s.effects:
        return False
    return not any(isinstance(stmt, (ir.Try, ir.With)) for stmt in ir.walk(program))


def convert(site: Site, left: set[str] | None = None, settled: bool = False) -> bool:
    """Convert what there is in a block, unless that is `settled`, then in the blocks inside it.

    There, what may become a list around a loop for good, as soon as the loop has lists itself, is left for that, and
    noted, where somebody asks for what is `left`.
    """
    if not isinstance(site.owner, ir.Loop) and not any(isinstance(stmt, ir.Loop) for stmt in ir.walk(site.block)):
        return False
    changed = False
    while not settled and (stretches := found(site)) is not None:
        site.block[:] = Lists(site, *stretches).rewritten()
        site = Site(site.s, site.program, site.block, site.owner, site.early, site.hoped)
        changed = True
    deeper = False
    spans: dict[str, range] | None = None
    for place, stmt in enumerate(list(site.block)):
        hoped = site.hoped
        if is_loop(stmt) and left is not None and site.owner is None:
            spans = hoped_for(site) if spans is None else spans
            hoped |= {name for name, span in spans.items() if place in span}
            left |= hoped
        for inner in [stmt.body] if is_loop(stmt) else ir.bodies(stmt):
            if convert(Site(site.s, site.program, inner, stmt, site.early, hoped), left):
                deeper, spans = True, None
    if deeper and site.owner is None:  # with these, those around them may gain
        convert(Site(site.s, site.program, site.block, site.owner, site.early), left)
    return changed or deeper


def hoped_for(site: Site) -> dict[str, range]:
    """The places at the top of a program where arrays would be lists but for the contents of loops."""
    spans = {name: stretch(site, name, touched) for name, touched in used(site).items()}
    return {name: span for name, span in spans.items() if span is not None}


def found(site: Site) -> tuple[dict[str, range], Flow] | None:
    """The stretches of a block in which arrays are to be lists, and what comes from them.

    A stretch that is of no use, or in which types are seen, is left for one that begins later.
    """
    rest = {name: touched for name, touched in used(site).items() if name not in site.hoped}
    chosen = {name: span for name in rest if (span := stretch(site, name, rest[name])) is not None}
    while chosen:
        flow = Flow(
            site.s, site.program, {n: {id(site.block[k]) for k in span} for n, span in chosen.items()}, site.owner
        )
        lost = flow.refused or {n for n in chosen.keys() - gaining(site, chosen) if not site.is_short(n)}
        if not lost:
            return chosen, flow
        for name in lost:
            rest[name] = [(place, found) for place, found in rest[name] if place > chosen[name].start]
        chosen = {name: span for name in chosen if (span := stretch(site, name, rest[name])) is not None}
    return None


def gaining(site: Site, chosen: dict[str, range]) -> set[str]:
    """The arrays of loops all of whose items are Python floats; beside one of NumPy's numbers they are of no use.

    Arrays that a loop only writes may stay, beside parameters.
    """
    floats = {name for name, facts in site.s.facts.items() if isinstance(facts, Num) and is_of_floats(facts)}
    places = {name for name in chosen if is_place_array(site.s.facts[name])}
    result: set[str] = set()
    for place, stmt in enumerate(site.block):
        items = [u for u in uses(site.s, stmt, floats | places) if u.how == "item" and any(map(is_loop, u.around))]
        touched = {u.name for u in items} - places - site.hoped
        lists = {name for name in touched if place in chosen.get(name, ())}
        if touched and touched == lists:
            result |= touched | {u.name for u in items if place in chosen.get(u.name, ())}
        elif {u.name for u in items if not u.writes} - places - site.hoped <= lists:
            result |= lists - {u.name for u in items if not all(map(is_literal, u.index))}
    return result


def is_of_floats(facts: Num) -> bool:
    return facts.kind == "array" and facts.dtype is not None and facts.dtype.kind == "f"


def used(site: Site) -> dict[str, list[tuple[int, list[Use]]]]:
    """The statements that touch each array that may become a list, in the order of the program, and how."""
    arrays = site.candidates()
    result: dict[str, list[tuple[int, list[Use]]]] = {}
    if not arrays:
        return result
    for place, stmt in enumerate(site.block):
        by_name: dict[str, list[Use]] = {}
        for use in uses(site.s, stmt, arrays):
            by_name.setdefault(use.name, []).append(use)
        for name, touched in by_name.items():
            result.setdefault(name, []).append((place, touched))
    return result


def stretch(site: Site, name: str, touched: list[tuple[int, list[Use]]]) -> range | None:
    """The first stretch of statements that touch an array by items only and of which a loop goes over it."""
    places: list[int] = []
    pays, short, count, written = is_of_parameters(site, touched), site.is_short(name), 0, False
    for place, found in touched:
        hows = {use.how for use in found}
        if "whole" in hows:
            if pays and places:
                break
            places, count, written = [], 0, False
        elif "item" in hows:
            places.append(place)
            count += sum(use.how == "item" and all(map(is_literal, use.index)) for use in found)
            written = written or any(use.writes for use in found)
            pays = pays or site.covers(name, found) or (short and count > (thresholds.ITEMS_TOUCHED if written else 1))
    span = range(places[0], places[-1] + 1) if pays and places else None
    return span if span is not None and site.is_undisturbed(name, span) else None


def is_of_parameters(site: Site, touched: list[tuple[int, list[Use]]]) -> bool:
    """True if a program touches an array by literal indices only, in a loop too, as it does its parameters.

    Then it is short, and it may be returned at the end.
    """
    every = [(site.block[place], use) for place, found in touched for use in found]
    items = [use for _, use in every if use.how == "item"]
    literal = all(len(use.index) == 1 and is_literal(use.index[0]) for use in items)
    others = all(use.how != "whole" or isinstance(stmt, ir.Return) for stmt, use in every)
    return site.owner is None and literal and others and any(is_loop(x) for use in items for x in use.around)


def is_literal(index: Any) -> bool:
    return isinstance(index.operand if isinstance(index, gast.UnaryOp) else index, gast.Constant)
