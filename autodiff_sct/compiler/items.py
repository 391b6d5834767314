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

Which arrays: float64, of one axis or two, made or received at the top of the program, and not seen under another name
while it is written. A stretch of statements that touches such an array by items only has it as a list, if a loop goes
over it: a ``for`` over a range that is no literal and that is not left early, whose variable, give or take a number, is
the index. So what is converted is what is visited.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .facts import Num
from .item_flow import Flow
from .item_lists import Lists
from .item_uses import Use, is_float_array, uses
from .record import reads_inside
from .regions import Regions, roots_of, written_arguments
from .sharing import reachable
from .specialise.state import Specialiser


def on_lists(s: Specialiser, where: Regions, program: ir.Block) -> ir.Block | None:
    """The program with lists for what it touches by items; None where there is nothing to gain, or to be lost."""
    if not may_run_again(s, where, program):
        return None
    changed = False
    while (stretches := found(s, program)) is not None:
        program = Lists(s, program, *stretches).rewritten()
        changed = True
    return program if changed else None


def may_run_again(s: Specialiser, where: Regions, program: ir.Block) -> bool:
    """Whether nobody can tell that a program was run up to an exception and then once more."""
    if s.effects or any(where.is_written(e.name) for e in s.externals.values()):
        return False
    return not any(isinstance(stmt, (ir.Try, ir.With)) for stmt in ir.walk(program))


def found(s: Specialiser, program: ir.Block) -> tuple[dict[str, range], Flow] | None:
    """The stretches of a program in which arrays are to be lists, and what comes from them.

    A stretch that is of no use, or in which types are seen, is left for one that begins later.
    """
    early = {x.trips for x in ir.walk(program) if isinstance(x, ir.Loop) and x.trips is not None}
    rest = used(s, program)
    chosen = {name: span for name in rest if (span := stretch(rest[name], early)) is not None}
    while chosen:
        flow = Flow(s, program, chosen)
        lost = flow.refused or chosen.keys() - gaining(s, program, chosen)
        if not lost:
            return chosen, flow
        for name in lost:
            rest[name] = [(place, found) for place, found in rest[name] if place > chosen[name].start]
        chosen = {name: span for name in chosen if (span := stretch(rest[name], early)) is not None}
    return None


def gaining(s: Specialiser, program: ir.Block, chosen: dict[str, range]) -> set[str]:
    """The arrays of loops all of whose items are Python floats; beside one of NumPy's numbers they are of no use."""
    floats = {name for name, facts in s.facts.items() if isinstance(facts, Num) and is_of_floats(facts)}
    result: set[str] = set()
    for place, stmt in enumerate(program):
        touched = {use.name for use in uses(s, stmt, floats) if use.how == "item" and any(map(is_loop, use.around))}
        if all(place in chosen.get(name, ()) for name in touched):
            result |= touched
    return result


def is_of_floats(facts: Num) -> bool:
    return facts.kind == "array" and facts.dtype is not None and facts.dtype.kind == "f"


def is_loop(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop)


def used(s: Specialiser, program: ir.Block) -> dict[str, list[tuple[int, list[Use]]]]:
    """For each array that may become a list, the statements that touch it and how."""
    arrays = candidates(s, program)
    result: dict[str, list[tuple[int, list[Use]]]] = {name: [] for name in arrays}
    for place, stmt in enumerate(program):
        by_name: dict[str, list[Use]] = {}
        for use in uses(s, stmt, arrays):
            by_name.setdefault(use.name, []).append(use)
        for name, touched in by_name.items():
            result[name].append((place, touched))
    return result


def candidates(s: Specialiser, program: ir.Block) -> set[str]:
    """The arrays made or received at the top of a program that no other name leads to while they are written."""
    read = {n for stmt in program for n in reads_inside(stmt) if n in s.facts}
    made = {target for stmt in program for target in ir.ir_targets(stmt) if isinstance(stmt, ir.Let)}
    outside = {external.name for external in s.externals.values()}
    written = written_roots(s, program)
    leading: dict[int, set[str]] = {}  # a place of memory -> the names that lead there
    for name in read:
        for root in reachable(s, s.facts[name]):
            leading.setdefault(root, set()).add(name)
    return {
        name
        for name in read & (made | outside)
        if is_float_array(s.facts[name])
        and (
            not roots_of(s.facts[name]) & written or not any(leading[root] - {name} for root in roots_of(s.facts[name]))
        )
    }


def written_roots(s: Specialiser, program: ir.Block) -> set[int]:
    """The places of the memory that a program may write."""
    written: set[int] = set()
    for stmt in ir.walk(program):
        names = written_arguments(stmt)
        if isinstance(stmt, ir.Store):
            names = [stmt.base]
        elif isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Let) and stmt.effect):
            names = ir.reads(stmt)
        written |= {root for n in names if n in s.facts for root in reachable(s, s.facts[n])}
    return written


def stretch(touched: list[tuple[int, list[Use]]], early: set[str]) -> range | None:
    """The first stretch of statements that touch an array by items only and of which a loop goes over it.

    `early` are the numbers of iterations of loops that are left early.
    """
    places: list[int] = []
    pays = False
    for place, found in touched:
        hows = {use.how for use in found}
        if "whole" in hows:
            if pays:
                break
            places = []
        elif "item" in hows:
            places.append(place)
            pays = pays or covers(found, early)
    return range(places[0], places[-1] + 1) if pays else None


def covers(found: list[Use], early: set[str]) -> bool:
    """Whether loops go over an array: for each axis there is one whose variable is the index."""
    items = [use for use in found if use.how == "item"]
    axes = range(len(items[0].index))
    return all(any(goes_along(use.index[axis], use.around, early) for use in items) for axis in axes)


def goes_along(index: Any, around: tuple[Any, ...], early: set[str]) -> bool:
    if isinstance(index, gast.BinOp) and isinstance(index.op, (gast.Add, gast.Sub)):
        return any(goes_along(a, around, early) and isinstance(b, gast.Constant) for a, b in both_ways(index))
    return isinstance(index, gast.Name) and any(is_long(x, early) and x.index == index.id for x in around)


def both_ways(expr: Any) -> list[tuple[Any, Any]]:
    return [(expr.left, expr.right), (expr.right, expr.left)]


def is_long(loop: Any, early: set[str]) -> bool:
    """Whether a loop goes to the end of a range that only the run tells."""
    if not isinstance(loop, ir.Loop):
        return False
    names = {name for bound in loop.bounds for name in ir.names_in(bound)}
    return loop.kind == "range" and loop.stop is None and bool(names) and not names & early
