"""Functions that call themselves, as the program knows them: their parameters, their results, and a call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import gast

from ... import ir
from ...analysis.alias import every_root, written_by
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Leaf, TupleV, Value
from ...ir.builder import Specialiser
from ..kernel.user_errors import Ended
from .call_keys import beside, general


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
