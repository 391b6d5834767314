"""Iterators whose sources change: those read at once here, and loops over what changes its length.

Lazy iterators, read at once where Python reads them step by step: their sources must stay until they end.

::

    large = filter(lambda v: v > low, items)       `items` and `low` are read here,
    for v in large: ...                            and here in Python

Lists and dicts that change their length while a loop goes over them: noticed, refused where need be.

::

    for v in items:                 for key in table:
        items.append(v)                 del table[key]

A loop goes over as many items as there are when it begins; Python sees those that come later, and raises where a dict
has got or lost a key.  A `for` over a list is specialised again then, as one that asks before each step whether there
is another item (`growing`); the others are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gast

from ... import ir
from ...analysis.alias import reachable, roots_of, written_by
from ...domain.facts import Listed, Mapped
from ...domain.values import Closure, Frame, Leaf, Obj, Value
from ...ir.builder import Specialiser
from ...ir.program_values import Restart
from ..kernel.escape import holds_reference, parts_of, roots_held
from ..world.normalized_bodies import free_names
from .sources import Ahead, Source


def read_ahead(s: Specialiser, given: list[Value], deeply: bool) -> Ahead:
    """The sources of an iterator: the containers of its arguments, and what the functions among them read.

    If not `deeply`, only which items they have.
    """

    variables: dict[Any, Value] = {}
    roots: frozenset[int] = frozenset()
    pending = list(given)
    while pending:
        value = pending.pop()
        facts = s.facts_of(value)
        roots |= reachable(s, facts) if deeply or facts is None else roots_of(facts)
        found = {place: s.env[place] for place in places_read(s, value) if place not in variables}
        variables |= found
        if not deeply:
            continue
        source = s.cursors.get(value.id) if isinstance(value, Obj) else value
        pending += [*found.values(), *parts_of(value)]
        pending += [*(source.items or ()), *source.given] if isinstance(source, Source) else []
    return Ahead(roots, variables)


def ahead_of_time(s: Specialiser, given: list[Value], before: dict[Any, Value], block: ir.Block, deeply: bool) -> Ahead:
    """The values that an iterator read all at once, and whether anything happened meanwhile."""
    seen = roots_held(s, before.values())
    written = (roots_of(s.facts[name]) for stmt in ir.walk(block) if (name := written_by(stmt)))
    lets = [stmt for stmt in ir.walk(block) if isinstance(stmt, ir.Let)]
    called = any(stmt.effect and not isinstance(s.facts[stmt.target], Listed) for stmt in lets)
    assigned = any(s.env.get(key) is not value and s.env.get(key) != value for key, value in before.items())
    return replace(read_ahead(s, given, deeply), happened=called or assigned or any(roots & seen for roots in written))


def places_read(s: Specialiser, value: Value) -> list[Any]:
    """The places where a function reads the activations around it, and those of fields of objects."""
    if isinstance(value, Leaf) and holds_reference(s, s.facts[value.name]):
        return [key for key in s.env if isinstance(key, tuple) and key[0] == "column"]
    if isinstance(value, Obj) and value.id not in s.cursors:
        return [(value.id, key) for key in s.fields(value) if (value.id, key) in s.env]
    if not isinstance(value, Closure):
        return []
    names = free_names(value)
    frames = [f.id for f in iter_frames(value.frame)]
    return [k for k in s.env if isinstance(k, tuple) and k[0] in frames and k[-1] in names]


def iter_frames(frame: Frame | None) -> Iterator[Frame]:
    """An activation and those around it."""
    while frame is not None:
        yield frame
        frame = frame.parent


def changes_outside(s: Specialiser, before: dict[Any, Value], block: ir.Block) -> bool:
    """True if statements assign names or fields that there were before, or write memory that these lead to."""
    for key, value in before.items():
        moved = isinstance(key, tuple) and key[0] in s.cursors
        if not moved and not ((now := s.env.get(key, value)) is value or now == value):
            return True
    written = [base for stmt in ir.walk(block) if (base := written_by(stmt)) is not None]
    if not written:
        return False
    known = {root for value in before.values() for n in s.leaves(value) for root in reachable(s, s.facts[n])}
    return any(not known.isdisjoint(roots_of(s.facts[base])) for base in written)


def refuse_resizing(s: Specialiser, lists: set[int], block: ir.Block) -> None:
    """A loop goes over lists, of these roots, as long as they were when the loop began."""
    tables = {s.tables_of_keys[root] for root in lists & s.tables_of_keys.keys()}
    for stmt in ir.walk(block) if lists else ():
        base = written_by(stmt)
        if base is not None and isinstance(s.facts[base], Mapped):
            same = [t for t in tables if roots_of(s.facts[base]) & roots_of(s.facts[t]) and not is_newer(s, base, t)]
            if same:
                refuse_new_keys(s, stmt, base)
        if base is None or isinstance(stmt, ir.Store) and not isinstance(stmt.index, gast.Slice):
            continue
        found = s.facts[base]
        if isinstance(found, Listed) and found.roots & lists and not is_only_filled(s, base, block):
            if s.growing and s.growing[-1] not in s.dynamic:
                raise Restart(s.growing[-1])
            raise s.refuse(
                "changed-while-iterated",
                "a list changes its length while a loop goes over it",
                "loop over a copy: `for x in list(xs)`",
            )


def is_newer(s: Specialiser, table: str, other: str) -> bool:
    """True if a dict is made in the block being written, where another one has a name already."""
    made = [stmt for stmt in s.block if isinstance(stmt, ir.Let) and stmt.target == table]
    if not made or made[0].op is None or made[0].op.fn is not dict:
        return False
    return all(other not in ir.ir_targets(stmt) for stmt in s.block[s.block.index(made[0]) :])


def refuse_new_keys(s: Specialiser, stmt: Any, table: str) -> None:
    """A dict that a loop goes over may get other values for its own keys; other keys might be new ones."""
    key = s.definitions.get(getattr(stmt.index, "id", "")) if isinstance(stmt, ir.Store) else None
    keys = s.facts.get(getattr(key.value, "id", "")) if isinstance(key, gast.Subscript) else None
    own = [s.keys_of.get(root, frozenset()) & roots_of(s.facts[table]) for root in roots_of(keys)] if keys else []
    if not any(own):
        raise s.refuse(
            "changed-while-iterated",
            "a dict may get or lose keys while a loop goes over it",
            "loop over a copy: `for key in list(table)`",
        )


def is_only_filled(s: Specialiser, base: str, body: ir.Block) -> bool:
    """True if a list is made in the block being written, and nothing before the end of a loop does more than fill it.

    So it is none that the loop goes over, wherever it may be put afterwards.
    """
    made = next((k for k, stmt in enumerate(s.block) if isinstance(stmt, ir.Let) and stmt.target == base), None)
    if made is None or not isinstance(s.definitions[base], gast.List):
        return False
    later = ir.walk([*s.block[made + 1 :], *body])
    return all([*ir.uses(stmt)].count(base) == (written_by(stmt) == base) for stmt in later)
