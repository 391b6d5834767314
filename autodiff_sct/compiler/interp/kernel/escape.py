"""Escape of arrays: ``y += x`` makes a new value of ``y`` only where nobody else sees its memory.

::

    pairs.append((y, k))        a tuple in a list
    def g(a, b=y): ...          a default, as in `functools.partial(f, y)`
    z = zip([y], [x])           an iterator that has not been gone through
    y * o.step().y              an operand, while a method changes what it was taken from
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ....errors import UnsupportedSyntax
from ... import ir
from ...analysis.definite_assignment import sources
from ...domain.facts import Listed, Mapped, Num, Pair
from ...domain.values import (
    Bound,
    Choice,
    Closure,
    Later,
    Leaf,
    ListV,
    MaybeV,
    PartialV,
    Super,
    Suspended,
    TupleV,
    Value,
    Wrapped,
)
from .program_values import UNFOLLOWED
from .specialiser import Specialiser


def is_shared(s: Specialiser, value: Leaf, outer: bool) -> bool:
    """True if somebody else may see a change of an array's memory.

    `outer` tells that the array is called by a name, or is the attribute of an object, from outside the activation:
    callers may be about to use it in an expression.
    """
    facts = s.facts[value.name]
    roots = facts.roots if isinstance(facts, Num) else frozenset()
    if roots & s.held or (outer and not roots <= made_here(s)):
        return True
    if any(isinstance(e.facts, Num) and e.facts.roots & roots for e in s.externals.values()):
        return True
    if any(roots & found for element in s.elements.values() for found in roots_in(element)):
        return True
    sources = [item for source in s.cursors.values() for item in source.items or ()]
    seen = (found for held in [*s.env.values(), *sources] for n in held_by(held) for found in roots_in(s.facts[n]))
    return sum(bool(roots & found) for found in seen) > 1


def made_here(s: Specialiser) -> frozenset[int]:
    """The roots of memory that the activation being written has made itself."""
    id = s.frame.id if s.frame else 0
    return frozenset(root for site, root in s.roots.items() if isinstance(site, tuple) and site[0] == id)


def roots_in(facts: Any) -> Iterator[frozenset[int]]:
    """The roots of the memory of a value, and of the items of a tuple; what lists hold is kept by their roots."""
    if isinstance(facts, Pair):
        for item in facts.items:
            yield from roots_in(item)
    elif isinstance(facts, (Num, Listed, Mapped)):
        yield facts.roots


def held_by(value: Value) -> Iterator[str]:
    """The variables that a value of a name refers to; the fields of an object have names of their own."""
    if isinstance(value, Leaf):
        yield value.name
    for part in parts_of(value):
        yield from held_by(part)


def roots_held(s: Specialiser, values: Iterable[Value]) -> frozenset[int]:
    """The roots of the memory that some values refer to."""
    names = [name for value in values for name in held_by(value)]
    return frozenset().union(*(found for name in names for found in roots_in(s.facts[name])))


def parts_of(value: Value) -> list[Value]:
    """The objects that a compile-time value refers to; the fields of an object have keys of their own."""
    if isinstance(value, (TupleV, ListV, MaybeV)):
        return list(value.items)
    if isinstance(value, Closure):
        return [*value.defaults, *value.kw_defaults]
    if isinstance(value, PartialV):
        return [value.function, *value.args, *value.keywords.values()]
    if isinstance(value, (Bound, Super)):
        return [value.self]
    if isinstance(value, Choice):
        return [value.then, value.orelse]
    if isinstance(value, Wrapped):
        return [value.fn]
    if isinstance(value, Later):
        return [value.item]
    if isinstance(value, Suspended):
        return [value.fn, *value.args, *value.kwargs.values()]
    return []


def holds_reference(s: Specialiser, facts: Any, seen: frozenset[int] = frozenset()) -> bool:
    """True if a value is a reference, or contains one."""
    if isinstance(facts, Num):
        return facts.row is not None
    if isinstance(facts, Pair):
        return any(holds_reference(s, item, seen) for item in facts.items)
    if isinstance(facts, (Listed, Mapped)) and facts.roots - seen:
        return holds_reference(s, s.elements_of(facts), seen | facts.roots)
    return False


def refuse_references(s: Specialiser, *values: Value) -> None:
    """Numbers of rows must not leave the program, nor be taken for numbers."""
    for value in values:
        for name in s.leaves(value):
            if holds_reference(s, s.facts[name]):
                raise s.refuse("list-of-objects", UNFOLLOWED, "use its fields, or keep the objects in a tuple")


def refuse_lost_references(s: Specialiser, program: ir.Block) -> None:
    """Refuse a container of references that is something else on another path: they would be taken for numbers."""
    mixed = {root for root, held in s.mixed.items() if any(holds_reference(s, facts) for facts in held)}
    for stmt in ir.walk(program):
        lost = [n for n in ir.reads(stmt) if mixed and getattr(s.facts[n], "roots", frozenset()) & mixed]
        for target, names in sources(stmt):
            if not holds_reference(s, s.facts[target]):
                lost += [target for n in names if n is not None and holds_reference(s, s.facts[n])]
        if lost:
            raise UnsupportedSyntax(
                f"{s.in_words(lost[0])} is, or holds, a container of objects and something else",
                "give them two names",
                stmt.origin,
                code="different-kinds",
            )
