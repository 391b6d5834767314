"""Captured values of functions made inside the program, for derivatives that are taken there.

The inner derivative is a program of its own: what the function captures from the outer one becomes further arguments of
the inner one, so that the outer derivative passes through them.  Parameters stay what they are in both: inputs that are
read from outside, known by object, so that they can be differentiated by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...tensor import Parameter
from ..domain.facts import Facts, Listed, Mapped, Num, Pair
from ..domain.pytree import Branch, Listing, Static
from ..domain.pytree import Leaf as LeafTree
from ..domain.values import (
    Bound,
    Choice,
    Closure,
    Const,
    Frame,
    Leaf,
    ListV,
    MaybeV,
    Obj,
    PartialV,
    Poison,
    SliceV,
    Suspended,
    TupleV,
    Value,
    Wrapped,
)
from ..interp.containers.sources import Source, is_range, over_range
from ..interp.kernel.specialiser import Specialiser
from ..interp.world.boundary import receive
from ..interp.world.captures import import_external
from ..interp.world.normalized_bodies import free_names
from ..interp.world.partial_keys import known_keys


class Capture:
    """Carries a function from one specialiser into another, its captured variables as arguments."""

    def __init__(self, outer: Specialiser) -> None:
        self.outer = outer
        self.values: list[Value] = []
        self.frames: dict[int, Frame] = {}
        self.leaves: dict[str, Value] = {}
        self.given: dict[Any, Value] = {}  # what the inner program begins with of the outer one's variables

    def into(self, inner: Specialiser, table: Any, fn: Value) -> Value:
        self.values, self.frames, self.leaves, self.given = [], {}, {}, {}
        self.inner, self.table = inner, table
        inner.identities = self.outer.identities  # an outside object has one number in both
        return self.value(fn)

    def refuse_changes(self, written: frozenset[str]) -> None:
        """The inner program has variables and arrays of its own: what it does to the outer one's would be lost."""
        names = [key[1] for key, value in self.given.items() if not self.is_kept(value, self.inner.env.get(key))]
        names += [p for leaf in self.leaves.values() if (p := self.table.owners.get(leaf.name)) in written]
        if names:
            raise self.outer.refuse(
                "nested-derivative",
                f"a function that is differentiated inside the program changes {names[0]!r}, which lives outside it",
                "return the value instead",
            )

    def is_kept(self, given: Value, now: Value) -> bool:
        """True if a variable has the value that it was given, of which it may be known by now that it is not None."""
        if isinstance(given, MaybeV) and isinstance(now, TupleV):
            return self.inner.leaves(given) == self.inner.leaves(now)
        return bool(given == now)

    def value(self, value: Value) -> Value:
        if isinstance(value, Leaf):
            return self.leaf(value)
        if isinstance(value, TupleV):
            return TupleV(tuple(self.value(v) for v in value.items), value.cls)
        if isinstance(value, MaybeV):
            return replace(value, items=tuple(self.value(v) for v in value.items))
        if isinstance(value, SliceV):
            return SliceV(self.value(value.start), self.value(value.stop), self.value(value.step))
        if isinstance(value, Closure):
            frame = self.frame(value.frame)
            self.reach(value)
            defaults = tuple(self.value(v) for v in value.defaults)
            kw = tuple(None if v is None else self.value(v) for v in value.kw_defaults)
            return Closure(value.node, frame, defaults, kw, value.name)
        if isinstance(value, Bound):
            return Bound(value.function, self.value(value.self))
        if isinstance(value, PartialV):
            return PartialV(
                self.value(value.function),
                tuple(self.value(a) for a in value.args),
                {k: self.value(v) for k, v in value.keywords.items()},
            )
        if isinstance(value, Choice):
            return Choice(self.leaf(value.test), self.value(value.then), self.value(value.orelse))
        if isinstance(value, Wrapped):
            return value.captured(self.value)
        if is_range(value):
            return over_range(self.inner, [self.value(bound) for bound in value.bounds])
        if isinstance(value, (Source, Suspended)) or isinstance(value, Obj) and value.id in self.outer.cursors:
            return Poison("a function that is differentiated inside the program goes on with an iterator from outside")
        if isinstance(value, Obj):
            return self.object(value)
        return value

    def leaf(self, value: Leaf) -> Value:
        if value.name not in self.leaves and (known := self.parameter(value)) is not None:
            self.leaves[value.name] = known
        elif value.name not in self.leaves:
            name = f"{self.outer.hints[value.name].lstrip('_')}_outer"
            taken = set(self.table.names.values())
            number = 1
            while (candidate := name if number == 1 else f"{name}{number}") in taken:
                number += 1
            tree = tree_of_facts(self.outer, self.outer.facts[value.name])
            self.leaves[value.name] = receive(self.inner, self.table, candidate, tree)
            self.values.append(value)
        return self.leaves[value.name]

    def parameter(self, value: Leaf) -> Value | None:
        """The same Parameter, read from outside by the inner program, too."""
        found = next((e for e in self.outer.externals.values() if e.name == value.name), None)
        if found is None or not isinstance(found.key, Parameter):
            return None
        return import_external(self.inner, found.read, found.symbol, ("captured", id(found.key)))

    def object(self, value: Obj) -> Value:
        if value.id in self.outer.objects:
            self.inner.objects[value.id] = self.outer.objects[value.id]
        for key in self.outer.fields(value):
            if (value.id, key) not in self.inner.env and (value.id, key) not in self.given:
                self.give((value.id, key), self.outer.env[(value.id, key)])
        return value

    def frame(self, frame: Frame) -> Frame:
        """A frame of the outer program, with what its functions can see of it."""
        if id(frame) in self.frames:
            return self.frames[id(frame)]
        copy = Frame(-len(self.frames) - 1, frame.parsed, frame.globals, frame.free, frame.locals, frame.nonlocals)
        copy.tree = frame.tree
        self.frames[id(frame)] = copy
        if frame.cls is not None:  # what super() means in it
            copy.cls, copy.self = frame.cls, self.value(frame.self)
        if frame.parent is not None:
            copy.parent = self.frame(frame.parent)
        return copy

    def reach(self, closure: Closure) -> None:
        """Bring in the variables that a function may read of the activations around it."""
        names = free_names(closure)
        frame: Frame | None = closure.frame
        while frame is not None:
            copy = self.frames[id(frame)]
            for key, value in list(self.outer.env.items()):
                known = isinstance(key, tuple) and len(key) == 2 and key[0] == frame.id and key[1] in names
                if known and (copy.id, key[1]) not in self.given and not isinstance(value, ListV):
                    self.give((copy.id, key[1]), value)
            frame = frame.parent

    def give(self, key: Any, value: Value) -> None:
        """Let the inner program begin with a variable."""
        self.given[key] = value  # a function may reach itself
        self.given[key] = self.inner.env[key] = self.value(value)


def tree_of(s: Specialiser, value: Value) -> Any:
    """The tree of an argument."""
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
