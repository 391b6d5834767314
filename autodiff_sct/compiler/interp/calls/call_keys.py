"""Kinds of calls: what two calls of a recursive function share if one compiled function serves both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from ...analysis.alias import every_root
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Bound, Closure, Const, Leaf, ListV, Obj, PartialV, SliceV, TupleV, Value
from ...ir.builder import Specialiser
from ..world.names import home

NESTED_LISTS = 8  # lists of lists that are passed


def kind_of(s: Specialiser, facts: Facts | None, around: frozenset[int] = frozenset()) -> Any:
    """The kind that arguments share which one function serves; `around` are the lists around an element."""
    if isinstance(facts, Num):
        return ("num", facts.kind, facts.dtype, facts.ndim, facts.tensor, facts.row)
    if isinstance(facts, (Listed, Mapped)):
        inside = "itself" if facts.roots <= around else kind_of(s, s.elements_of(facts), around | facts.roots)
        return (type(facts).__name__, inside)
    if isinstance(facts, Pair):
        return ("pair", facts.cls, *(kind_of(s, f, around) for f in facts.items))
    return ("opaque", facts.cls) if isinstance(facts, Opaque) else None


class Signature:
    """The kind of a call's arguments, and the values that live at run time among them."""

    def __init__(self, s: Specialiser, bound: dict[str, Value], moving: frozenset[Any] = frozenset()) -> None:
        self.s, self.moving = s, moving
        self.leaves: list[tuple[str, Value]] = []
        self.integers: dict[Any, int] = {}
        self.seen: set[Any] = set()
        self.keep: list[Any] = []
        self.key = tuple((name, self.visit(value, (name,))) for name, value in bound.items())

    def is_leaf(self, value: Value, path: Any) -> bool:
        if isinstance(value, Const):
            if type(value.value) is int:
                self.integers[path] = value.value
                return path in self.moving
            return isinstance(value.value, (float, complex, np.generic))
        return isinstance(value, Leaf)

    def visit(self, value: Value, path: Any) -> Any:
        if self.is_leaf(value, path):
            self.leaves.append((str(path[0]), value))
            return ("leaf", kind_of(self.s, self.s.facts_of(value)))
        if isinstance(value, TupleV):
            return ("tuple", value.cls, *(self.visit(v, (*path, k)) for k, v in enumerate(value.items)))
        if isinstance(value, SliceV):
            parts = (value.start, value.stop, value.step)
            return ("slice", *(self.visit(v, (*path, k)) for k, v in enumerate(parts)))
        return self.fixed(value)

    def fixed(self, value: Value) -> Any:
        """The key of a value known at compile time: equal only to itself."""
        s = self.s
        if isinstance(value, Leaf):
            return ("variable", value.name)
        if isinstance(value, Const):
            return ("const", value)
        if isinstance(value, (TupleV, ListV)):
            return ("items", *(self.fixed(v) for v in value.items))
        if isinstance(value, Bound):
            return ("bound", id(value.function), self.fixed(value.self))
        self.keep.append(value)
        if isinstance(value, Obj):
            if value.id in self.seen:
                return ("object", value.id)
            self.seen.add(value.id)
            fields = () if value.id in s.objects else s.fields(value)
            return ("object", value.id, *((f, self.fixed(s.env[(value.id, f)])) for f in fields))
        if isinstance(value, Closure):
            return self.closure(value)
        if isinstance(value, PartialV):
            parts = [value.function, *value.args, *value.keywords.values()]
            return ("partial", *(self.fixed(v) for v in parts))
        return ("value", id(value))

    def closure(self, closure: Closure) -> Any:
        """A function of the program: its text, and what its free variables stand for."""
        identity = (id(closure.node), closure.frame.id)
        if identity in self.seen:
            return ("closure", *identity)
        self.seen.add(identity)
        found = []
        for name in dict.fromkeys(n.id for n in gast.walk(closure.node) if isinstance(n, gast.Name)):
            owner = home(closure.frame, name)
            value = None if owner is None else self.s.env.get((owner.id, name))
            if value is not None:
                found.append((name, self.fixed(value)))
        return ("closure", *identity, *found)


def rebuilt(value: Value, path: Any, signature: Signature, params: list[str]) -> Value:
    """An argument with a parameter in the place of each run-time value; takes from `params` in the order of `visit`."""
    if signature.is_leaf(value, path):
        return Leaf(params.pop(0))
    if isinstance(value, TupleV):
        return TupleV(tuple(rebuilt(v, (*path, k), signature, params) for k, v in enumerate(value.items)), value.cls)
    if isinstance(value, SliceV):
        parts = [rebuilt(v, (*path, k), signature, params) for k, v in enumerate((value.start, value.stop, value.step))]
        return SliceV(*parts)
    return value


# -- facts of parameters


def general(s: Specialiser, facts: Facts, site: Any) -> Facts:
    """Facts of a parameter: those that every argument of its kind shares, in memory of its own."""
    if isinstance(facts, Num) and facts.row is not None:
        return facts
    if isinstance(facts, Num):
        dims = None if facts.dims is None else (None,) * len(facts.dims)
        own = facts.kind in ("array", None) and dims != ()
        return Num(facts.kind, facts.dtype, dims, frozenset([s.root(site)]) if own else frozenset(), None, facts.tensor)
    if isinstance(facts, (Listed, Mapped)):
        result = type(facts)(frozenset([s.root(site)]))
        element = s.elements_of(facts)
        if element is not None:
            if depth_of(site) > NESTED_LISTS:
                raise s.refuse(
                    "recursion", "a list that is passed to a recursive function holds itself", "pass what is in it"
                )
            s.put_element(result, general(s, element, (site, "element")))
        return result
    if isinstance(facts, Pair):
        return Pair(tuple(general(s, f, (site, k)) for k, f in enumerate(facts.items)), facts.cls)
    return facts


def depth_of(site: Any) -> int:
    """The number of lists around the element of a parameter that a site stands for."""
    depth = 0
    while isinstance(site, tuple) and len(site) == 2:  # also where the lists are in tuples
        depth += site[1] == "element"
        site = site[0]
    return depth


def beside(s: Specialiser, own: Facts | None, given: Facts | None) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """The memory of a parameter and of what it holds, each beside the memory of the argument that it stands for."""
    if isinstance(own, (Listed, Mapped)) and isinstance(given, type(own)):
        every_root(s, given)  # a list that holds itself is refused
        yield own.roots, given.roots
        yield from beside(s, s.elements_of(own), s.elements_of(given))
    elif isinstance(own, Pair) and isinstance(given, Pair) and len(own.items) == len(given.items):
        for inner, item in zip(own.items, given.items):
            yield from beside(s, inner, item)
    else:
        yield every_root(s, own), every_root(s, given)
