"""Lists and dicts that change their length while a loop goes over them: noticed, refused where need be.

::

    for v in items:                 for key in table:
        items.append(v)                 del table[key]

A loop goes over as many items as there are when it begins; Python sees those that come later, and raises where a dict
has got or lost a key.  A `for` over a list is specialised again then, as one that asks before each step whether there
is another item (`growing`); the others are refused.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import roots_of, written_by
from ...domain.facts import Listed, Mapped
from ...ir.builder import Specialiser
from ...ir.program_values import Restart


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
