"""What values of the program are made of, as the arguments of a program of their own."""

from __future__ import annotations

from typing import Any

from ..domain.facts import Facts, Listed, Mapped, Num, Pair
from ..domain.pytree import Branch, Listing, Static
from ..domain.pytree import Leaf as LeafTree
from ..domain.values import Const, Leaf, Obj, TupleV, Value
from ..interp.world.partial_keys import known_keys
from ..ir.builder import Specialiser


def tree_of(s: Specialiser, value: Value) -> Any:
    """What an argument is made of."""
    if isinstance(value, Const):
        return (
            LeafTree(s.facts_of(value))
            if isinstance(s.facts_of(value), Num) and type(value.value) is not bool
            else Static(value.value)
        )
    if isinstance(value, TupleV):
        return Branch(value.cls or tuple, tuple(range(len(value.items))), tuple(tree_of(s, v) for v in value.items))
    if isinstance(value, Obj) and value.id in s.objects:
        return Static(s.objects[value.id][0])
    if isinstance(value, Obj):
        keys = tuple(k for k in s.fields(value) if k not in getattr(value.cls, "of_program", ()))
        return Branch(value.cls, keys, tuple(tree_of(s, s.env[(value.id, k)]) for k in keys))
    if isinstance(value, Leaf):
        return tree_of_facts(s, s.facts[value.name])
    raise s.refuse(
        "nested-derivative",
        "a function is passed to a gradient inside a differentiated function",
        "let the inner function capture it",
    )


def tree_of_facts(s: Specialiser, facts: Facts) -> Any:
    if isinstance(facts, Mapped) and (known := known_keys(s, facts)) is not None:
        return Branch(dict, tuple(known), tuple(tree_of_facts(s, f) for f in known.values()))
    if isinstance(facts, (Listed, Mapped)):
        element = s.elements_of(facts)
        return Listing(
            None if element is None else tree_of_facts(s, element), list if isinstance(facts, Listed) else dict
        )
    if isinstance(facts, Pair):
        return Branch(
            facts.cls or tuple, tuple(range(len(facts.items))), tuple(tree_of_facts(s, f) for f in facts.items)
        )
    return LeafTree(facts)
