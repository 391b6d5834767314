"""Functions that call themselves: parameters, results and calls, and what calls share that one function serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import gast
import numpy as np

from ... import ir
from ...analysis.alias import every_root, written_by
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Bound, Closure, Const, Leaf, ListV, Obj, PartialV, SliceV, TupleV, Value
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended
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


@dataclass(eq=False)
class Recursion:
    """A function that calls itself, for one kind of arguments."""

    name: str  # of the emitted function without derivatives, a global of the emitted module
    site: Any
    params: list[str] = field(default_factory=list)
    captures: list[str] = field(default_factory=list)
    block: ir.Block = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    shape: Any = None  # of the result: what its leaves are; None where no round has found one
    written_itself: frozenset[str] = frozenset()  # parameters and captures whose memory the function writes
    written_inside: frozenset[str] = frozenset()  # those of which it writes the memory of what they hold
    effects: bool = False  # whether a call stays where nobody reads what it returns
    acts: bool = False  # whether a call does something besides returning and writing into the program's memory
    calls: list[ir.Let] = field(default_factory=list)
    called: bool = False  # whether what it returns was asked for while its body was being specialised
    outer_roots: frozenset[int] = frozenset()  # places of memory made outside, and those of the parameters
    variants: list[Any] = field(default_factory=list)  # emitted functions, by what is differentiated
    empty: frozenset[int] = frozenset()  # roots of dicts that its body takes for empty
    keep: Any = None  # values in the key whose identity counts
    working: bool = False  # whether its body is being specialised
    closed: bool = False  # whether what it reads and writes outside is known

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def written(self) -> frozenset[str]:
        """The parameters and captures whose memory, or that of what they hold, the function writes."""
        return self.written_itself | self.written_inside

    @property
    def inputs(self) -> list[str]:
        return [*self.params, *self.captures]


class ELEMENTS:  # marks, in a result's shape, a list together with the facts of its elements
    pass


def outer_roots(s: Specialiser, rec: Recursion) -> frozenset[int]:
    return rec.outer_roots | frozenset().union(*(every_root(s, s.facts[p]) for p in rec.params))


def call(s: Specialiser, rec: Recursion, arguments: list[Value]) -> Value:
    """One statement that calls a compiled recursive function."""
    rec.called = rec.called or rec.working
    if rec.shape is None:
        raise Ended
    for p, value in zip(rec.params, arguments):
        fill_elements(s, s.facts[p], s.facts_of(value))
    moved = mapping_of(s, rec, arguments)
    facts: list[Facts] = []
    gather(s, rec, rec.shape, moved, facts)
    given = dict(zip(rec.params, arguments)) | {c: Leaf(c) for c in rec.captures}
    expr = ir.call(ir.name(rec.name), *(s.stored(v) for v in given.values()))
    leaves = s.let_several(
        expr, facts or [Opaque(type(None))], ir.Op(cast(Any, rec), given), hint="result", effect=rec.effects
    )
    rec.calls.append(s.block[-1])
    for p, value in zip(rec.params, arguments):
        give_back(s, s.facts[p], s.facts_of(value), moved)
    return result_value(rec.shape, list(leaves), arguments)


def fill_elements(s: Specialiser, own: Facts, given: Facts) -> None:
    """Give the parameter the elements that may be in a list that is passed."""
    if isinstance(own, (Listed, Mapped)) and isinstance(given, (Listed, Mapped)):
        element = s.elements_of(given)
        if element is not None and s.elements_of(own) != element:
            general_element = general(s, element, ("element", min(own.roots)))
            old = s.elements_of(own)
            if isinstance(general_element, Num) and isinstance(old, Num):
                general_element = replace(general_element, roots=old.roots)
            s.put_element(own, general_element)


def give_back(s: Specialiser, own: Facts, given: Facts, moved: dict[int, frozenset[int]]) -> None:
    """Give the caller's list the elements that the function may have put into its parameter."""
    if isinstance(own, (Listed, Mapped)) and isinstance(given, (Listed, Mapped)):
        element = s.elements_of(own)
        if element is not None and own.roots != given.roots:
            s.put_element(given, translated(element, moved, None))


def mapping_of(s: Specialiser, rec: Recursion, arguments: list[Value]) -> dict[int, frozenset[int]]:
    """The caller's place of memory for each one that a parameter stands for."""
    moved: dict[int, frozenset[int]] = {}
    for p, value in zip(rec.params, arguments):
        for own, given in beside(s, s.facts[p], s.facts_of(value)):
            moved |= {root: moved.get(root, frozenset()) | given for root in own}
    return moved


def gather(s: Specialiser, rec: Recursion, shape: Any, moved: dict[int, frozenset[int]], facts: list[Facts]) -> None:
    """The facts of a result's leaves at a call."""
    if shape[0] == "tuple":
        for inner in shape[2]:
            gather(s, rec, inner, moved, facts)
    elif shape[0] == "leaf":
        facts.append(at_call(s, shape[1], moved, s.root(s.site(("result", place_of(s, rec, len(facts)))))))


def place_of(s: Specialiser, rec: Recursion, k: int) -> int:
    """The first result that may share memory with the given one."""
    if k >= len(rec.results):
        return k
    own = every_root(s, s.facts[rec.results[k]])
    return next((j for j in range(k) if own & every_root(s, s.facts[rec.results[j]])), k)


def at_call(s: Specialiser, facts: Facts, moved: dict[int, frozenset[int]], root: int) -> Facts:
    """The facts of a result for the caller: new memory, or an argument's."""
    if not isinstance(facts, Pair):
        return translated(facts, moved, root)
    if facts.cls is not ELEMENTS:
        return Pair(tuple(at_call(s, f, moved, s.root((root, k))) for k, f in enumerate(facts.items)), facts.cls)
    listed, element = facts.items
    listed = translated(listed, moved, root)
    if element is not None:
        s.put_element(listed, at_call(s, element, moved, s.root((root, "element"))))  # type: ignore[arg-type]
    return listed


def translated(facts: Facts, moved: dict[int, frozenset[int]], root: int | None) -> Facts:
    if isinstance(facts, Pair):
        return Pair(tuple(translated(f, moved, root) for f in facts.items), facts.cls)
    if isinstance(facts, (Num, Listed, Mapped)):
        roots = frozenset().union(*(moved.get(r, frozenset([r])) for r in facts.roots))
        own = root is not None and (not isinstance(facts, Num) or (facts.kind in ("array", None) and facts.dims != ()))
        return replace(facts, roots=roots | (frozenset([root]) if own and root is not None else frozenset()))
    return facts


def result_value(shape: Any, leaves: list[Leaf], arguments: list[Value]) -> Value:
    if shape[0] == "tuple":
        return TupleV(tuple(result_value(inner, leaves, arguments) for inner in shape[2]), shape[1])
    if shape[0] == "parameter":
        return arguments[shape[1]]
    return shape[1] if shape[0] == "const" else leaves.pop(0)


def acts(stmt: Any) -> bool:
    """The same of a statement without those inside it.

    To take an item off a list is to write into the list; to read a variable that may be unbound is to raise at most.
    """
    if isinstance(stmt, ir.Let):
        called = stmt.op.fn if stmt.op is not None else None
        if isinstance(called, Recursion):
            return called.acts
        return stmt.effect and written_by(stmt) is None and not is_plain_exception(called)
    return isinstance(stmt, ir.Effect) and written_by(stmt) is None and not isinstance(stmt.expr, gast.Name)


def is_plain_exception(called: Any) -> bool:
    """True for an exception class of Python or of this package, which does nothing where one is made."""
    own = isinstance(called, type) and issubclass(called, BaseException)
    return own and called.__module__.partition(".")[0] in ("builtins", "autodiff_sct")
