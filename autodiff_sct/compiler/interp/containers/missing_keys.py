"""Missing keys: dicts that hold nothing yet, and those that make what is missing.

Those that hold nothing yet are told when the program is specialised::

    if (i, j) in memo:           in the first activation of a recursive function, nothing has been put into `memo`:
        return memo[i, j]        the branch is dropped there, and in the compiled activations it is kept
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...domain.facts import BOOL, Listed, Mapped, Opaque, Pair
from ...domain.values import Leaf, Obj, Value
from ..kernel.operations import branch, call_value, get_item, set_item
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended


def key_error(s: Specialiser, key: Value) -> Ended:
    s.block.append(ir.Raise(gast.Raise(ir.call(ir.name("KeyError"), s.expr(key)), None), s.where()))
    return Ended()


def holds_nothing(s: Specialiser, facts: Mapped) -> bool:
    """True if nothing has been put into a dict of the program's on any path that leads here.

    A loop or a recursive function around is specialised again once something has, so that this holds of its last text.
    """
    if s.elements_of(facts) is not None or facts.roots & s.factories.keys():
        return False
    sites = [site for site, root in s.roots.items() if root in facts.roots]
    if not all(site[0] in ("dict", "parameter") and ("filled", site) not in s.dynamic for site in sites):
        return False
    for rec in s.recursions.values():
        if rec.working:
            rec.empty |= facts.roots
    return True


def note_unseen(s: Specialiser, values: list[Value]) -> None:
    """Note that code which is not followed may put anything into dicts that seem to be empty."""
    pending = [s.facts[name] for value in values for name in s.leaves(value)]
    seen: set[int] = set()
    while pending:
        facts = pending.pop()
        if isinstance(facts, Pair):
            pending += facts.items
        elif isinstance(facts, (Listed, Mapped)) and not facts.roots <= seen:
            seen |= facts.roots
            element = s.elements_of(facts)
            if element is not None:
                pending.append(element)
            elif isinstance(facts, Mapped):
                s.put_element(facts, Opaque())


def call_factory(s: Specialiser, place: Any) -> Value:
    return call_value(s, s.factories[place], [], {})


def sees_missing(s: Specialiser, base: Value, block: ir.Block) -> bool:
    """True if statements may see that a dict makes the value of a key."""
    facts = s.facts_of(base)
    if isinstance(base, Obj) and base.id in s.factories:
        return True
    if not isinstance(facts, Mapped) or facts.roots.isdisjoint(s.factories):
        return False
    return any(facts.roots & s.facts[name].roots for name in ir.uses_in(block) if name in s.facts)


def make_missing(s: Specialiser, base: Value, key: Value) -> None:
    """Make the value of a key that is read, where the dict makes what it lacks."""
    facts = s.facts_of(base)
    if isinstance(base, Leaf) and isinstance(facts, Mapped):
        fill_missing(s, base, facts, key)
    elif isinstance(base, Obj) and base.id in s.factories:
        get_item(s, base, key)


def fill_missing(s: Specialiser, base: Leaf, facts: Mapped, key: Value) -> None:
    """A defaultdict makes the value of a key that it lacks."""
    places = [root for root in facts.roots if root in s.factories]
    if not places:
        return
    if len(facts.roots) > 1:
        raise s.refuse("dict-method", "a defaultdict meets another dict", "use dicts without a factory")
    found = s.let(gast.Compare(s.expr(key), [gast.NotIn()], [ir.name(base.name)]), BOOL, hint="missing")
    branch(s, found, lambda: set_item(s, base, key, call_factory(s, places[0])), lambda: None)
