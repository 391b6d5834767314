"""An item that is stored where it was read: the container holds it already, so the assignment changes nothing.

``v = values[k]; v += step; values[k] = v`` of arrays changes the array in place and leaves the list as it is.  Without
the assignment, the item has one place in the list's shadow from its reading to its last use.
"""

from __future__ import annotations

import operator
from typing import Any

from ... import ir
from ...analysis.alias import reachable, roots_of, written_arguments, written_by
from ...domain.facts import Num
from ...domain.values import Leaf, Value
from ...ir.builder import Specialiser


def is_put_back(s: Specialiser, base: Leaf, index: Value, value: Value) -> bool:
    """True if a container surely holds an array at an index already, since it was read there in this block."""
    if not isinstance(value, Leaf) or not is_array(s, value):
        return False
    place = next((k for k in range(len(s.block) - 1, -1, -1) if reads(s.block[k], value, base, index)), None)
    if place is None:
        return False
    own = roots_of(s.facts[base.name])
    return not any(own & changed(s, stmt) for stmt in ir.walk(s.block[place + 1 :]))


def is_array(s: Specialiser, value: Leaf) -> bool:
    """True for an array, which is changed in place and whose reading returns the object that is stored."""
    facts = s.facts[value.name]
    return isinstance(facts, Num) and facts.kind == "array" and bool(facts.roots)


def reads(stmt: Any, value: Leaf, base: Leaf, index: Value) -> bool:
    """True for the statement that reads `value` as ``base[index]``."""
    if not isinstance(stmt, ir.Let) or stmt.targets != (value.name,) or stmt.op is None:
        return False
    return stmt.op.fn is operator.getitem and stmt.op.arguments == {"x": base, "index": index}


def changed(s: Specialiser, stmt: Any) -> set[int] | frozenset[int]:
    """The roots of the memory that a statement may change; a call may change all that its arguments lead to."""
    if (base := written_by(stmt)) is not None:
        return roots_of(s.facts[base])
    return frozenset().union(*(reachable(s, s.facts[n]) for n in written_arguments(stmt).values()))


__all__ = ["is_put_back"]
