"""Activity: the variables that depend on an input and that the result depends on, and writes behind ``stop_gradient``.

*Varied* depends on a differentiated input, *useful* reaches a differentiated output; *active* is both.  Memory is
varied or useful as a region.  Here is also where a derivative that would have to pass through something unknown is
refused.

``stop_gradient`` returns the array itself, through which no derivative passes.  What is read of it is a constant; a
write into it would change an array that carries a derivative in a place where the reverse sweep does not see it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import gast
import numpy as np

from ...errors import AliasError, NoRule, UnsupportedSyntax
from .. import ir
from ..analysis.alias import Regions, changed_through, written_by
from ..analysis.missing_rules import full_name, is_of_scipy, rule_to_write
from ..domain import pass_registry
from ..domain.facts import Listed, Mapped, Num, Opaque, Pair
from ..domain.values import Leaf
from ..interp.kernel.operations import opaque_call
from ..interp.kernel.specialiser import Specialiser
from ..interp.numpy.methods import opaque_method
from ..text.unparse import unparse
from .shift_invariance import cancelled
from .value_flow import (
    CATCHING,
    INERT,
    READERS,
    TEXT,
    Flow,
    entered,
    floats_in_brackets,
    flows,
    has_meaning,
    is_of_keys,
    is_reader,
    joins,
    keepers,
    key_flows,
    only_reads,
    operands,
    unknown_flow,
)

__all__ = ["Activity", "activity", "written_by"]

SUBSCRIPT = "write it with functions that have rules, or give the object a constant: `table[float(stop_gradient(x))]`"


@dataclass
class Activity:
    varied: set[str] = field(default_factory=set)
    useful: set[str] = field(default_factory=set)
    varied_regions: set[int] = field(default_factory=set)
    useful_regions: set[int] = field(default_factory=set)

    def active(self, name: str) -> bool:
        return name in self.varied and name in self.useful


class Analysis:
    """The fixed point, forwards for *varied* and backwards for *useful*."""

    def __init__(self, s: Specialiser, regions: Regions) -> None:
        self.s, self.regions = s, regions
        self.result = Activity()
        self.changed = False
        self.places: dict[str, frozenset[int]] = {}  # the regions of a variable, and of what it holds

    def carries(self, name: str) -> bool:
        """True if a variable's kind can carry a derivative."""
        facts = self.s.facts[name]
        if isinstance(facts, Num):
            return facts.differentiable
        if isinstance(facts, Opaque):  # what nothing is known of may carry one: using it is refused below
            return facts.cls is None or facts.cls not in INERT
        return isinstance(facts, (Listed, Mapped, Pair))

    def mark(self, names: set[str], regions: set[int], name: str) -> None:
        if name not in names and self.carries(name):
            names.add(name)
            self.changed = True
        if name not in names:
            return
        for region in self.regions_of(name) - regions:
            regions.add(region)
            self.changed = True

    def regions_of(self, name: str) -> set[int]:
        """The memory that is active with a variable: where it is written, and where it is a list or a dict."""
        facts = self.s.facts[name]
        found = {self.regions.find(root) for root in self.roots_inside(facts)} & self.regions.written
        region = self.regions.of(name)
        if region is not None and (region in self.regions.written or isinstance(facts, (Listed, Mapped))):
            found.add(region)
        return found

    def roots_inside(self, facts: Any) -> frozenset[int]:
        """The memory of what a list or a dict holds."""
        if not isinstance(facts, (Listed, Mapped)):
            return frozenset()
        element = self.s.elements_of(facts)
        mixed = [inner for root in facts.roots for inner in self.s.mixed.get(root, ())]
        held: list[frozenset[int]] = [getattr(inner, "roots", frozenset()) for inner in mixed]
        return frozenset().union(*held, element.roots if isinstance(element, (Num, Listed, Mapped)) else ())

    def is_varied(self, name: str) -> bool:
        r = self.result
        return name in r.varied or (self.is_in(name, r.varied_regions) and self.carries(name))

    def is_useful(self, name: str) -> bool:
        r = self.result
        return name in r.useful or (self.is_in(name, r.useful_regions) and self.carries(name))

    def is_in(self, name: str, regions: set[int]) -> bool:
        """True if the memory of a variable, or of the arrays in a list or dict, is in one of these regions."""
        if not regions:
            return False
        places = self.places.get(name)
        if places is None:
            inside = self.roots_inside(facts := self.s.facts[name])
            places = self.places[name] = frozenset(map(self.regions.find, [*facts.roots, *inside]))
        return not places.isdisjoint(regions)

    def spread_varied(self, flows: list[Flow]) -> list[Flow]:
        """Mark what depends on something varied; the flows that had none."""
        rest = []
        for flow in flows:
            if any(self.is_varied(n) for n in flow.sources):
                for name in flow.targets:
                    self.mark(self.result.varied, self.result.varied_regions, name)
            else:
                rest.append(flow)
        if self.result.varied_regions:
            for name in self.s.facts:
                if name not in self.result.varied and self.is_varied(name):
                    self.mark(self.result.varied, self.result.varied_regions, name)
        return rest

    def spread_useful(self, flows: list[Flow]) -> list[Flow]:
        """Mark what something useful depends on; the flows that lead to none."""
        rest = []
        for flow in reversed(flows):
            if any(self.is_useful(n) for n in flow.targets):
                for name in flow.sources:
                    self.mark(self.result.useful, self.result.useful_regions, name)
            else:
                rest.append(flow)
        if self.result.useful_regions:
            for name in self.s.facts:
                if name not in self.result.useful and self.is_useful(name):
                    self.mark(self.result.useful, self.result.useful_regions, name)
        return rest[::-1]

    # -- refusing

    def refuse_unknown(self, block: ir.Block) -> None:
        raising = set(before_raise(block))
        for stmt in ir.walk(block):
            self.refuse_mixed(stmt)
            self.refuse_kinds(stmt)
            if isinstance(stmt, ir.Let) and stmt.op is not None:
                self.check_let(stmt, stmt.op, stmt in raising)
            elif isinstance(stmt, ir.Let):
                self.refuse_passing(unknown_flow(self.s, stmt), stmt.origin)
                self.refuse_keys(stmt)
            elif isinstance(stmt, ir.With):
                self.refuse_passing([Flow([target], sources) for target, sources in entered(stmt)], stmt.origin)
            elif isinstance(stmt, ir.Effect) and stmt.kind.startswith("list."):
                if self.is_varied(stmt.operands[0].name):
                    raise UnsupportedSyntax(
                        f"list.{stmt.kind[5:]} of a list that carries a derivative",
                        "build a new list",
                        stmt.origin,
                        code="method",
                    )
            elif isinstance(stmt, ir.Store) and stmt.op is not None and "opaque" in stmt.op.arguments:
                if any(self.is_varied(n) for n in operands(self.s, stmt)):
                    raise NoRule(
                        "a value that carries a derivative is stored in an object of unknown class",
                        "store it in an array or a list",
                        stmt.origin,
                        code="kept-in-object",
                    )

    def refuse_keys(self, stmt: ir.Let) -> None:
        """Refuse to compute with keys of dicts that carry a derivative: they would come back without it."""
        if is_of_keys(self.s, stmt) and self.is_varied(stmt.target) and self.is_useful(stmt.target):
            raise UnsupportedSyntax(
                "the keys of a dict carry a derivative",
                "keep such numbers in its values, or in a list",
                stmt.origin,
                code="dict-key",
            )

    def refuse_mixed(self, stmt: Any) -> None:
        """Refuse a list of numbers and containers, whose items could be told apart only at run time."""
        for name in ir.reads(stmt) if self.s.mixed else ():
            if getattr(self.s.facts[name], "roots", frozenset()) & self.s.mixed.keys():
                if self.is_varied(name) and self.is_useful(name):
                    raise UnsupportedSyntax(
                        f"{self.s.in_words(name)} holds containers beside numbers, and carries a derivative",
                        "keep them in two lists, or in a list display that does not grow",
                        stmt.origin,
                        code="different-kinds",
                    )

    def refuse_kinds(self, stmt: Any) -> None:
        """Refuse a variable that is a container on one path and a number on another, and carries a derivative."""
        for target, sources in joins(stmt):
            kinds = {type(self.s.facts[name]) for name in sources if self.is_varied(name)}
            if not kinds.isdisjoint({Listed, Mapped, Pair}) and self.is_useful(target):
                if any(isinstance(self.s.facts[name], Num) for name in sources):
                    raise UnsupportedSyntax(
                        f"{self.s.in_words(target)} is a container on one path and a number on another",
                        "give them two names",
                        stmt.origin,
                        code="different-kinds",
                    )

    def refuse_passing(self, flows: list[Flow], origin: Any) -> None:
        """Refuse a derivative that would pass through an expression that has no rule."""
        for flow in flows:
            if any(map(self.is_varied, flow.sources)) and any(map(self.is_useful, flow.targets)):
                raise NoRule(
                    "a derivative would pass through this expression, of which nothing is known",
                    "wrap it in stop_gradient, or write it with functions that have rules",
                    origin,
                )

    def remedy(self, op: ir.Op) -> str:
        base = op.arguments.get("argument 0")
        facts = self.s.facts_of(base) if op.fn is opaque_method else None
        if isinstance(facts, Opaque) and facts.cls in (np.random.Generator, np.random.RandomState):
            return "draw standard numbers, and scale and move them: `loc + scale * rng.standard_normal(size)`"
        if is_of_scipy(op.fn):
            return rule_to_write(op.fn)
        return ""

    def formats(self, op: ir.Op) -> bool:
        """True if a method is one of a string: it writes text, and into nothing."""
        base = op.arguments.get("argument 0")
        facts = self.s.facts_of(base) if op.fn is opaque_method else None
        return isinstance(facts, Opaque) and facts.cls is str

    def is_of_several_kinds(self, base: Any) -> bool:
        """True if a variable is one of different things, depending on the path."""
        unknown = isinstance(base, Leaf) and self.s.facts[base.name] == Opaque()
        return unknown and base.name not in self.s.definitions

    def refuse_keeping(self, stmt: ir.Let, varied: list[str], name: str) -> None:
        """Refuse an object that keeps what carries a derivative where the result depends on that object.

        A rule applied to it (``sum`` of a set) has a cotangent for the object, which no statement hands on.
        """
        for keeper in keepers(self.s, stmt):
            facts = self.s.facts[keeper]
            if isinstance(facts, Opaque) and self.is_useful(keeper) and any(n != keeper for n in varied):
                kept = f"a {facts.cls.__name__}" if facts.cls else "an object of unknown class"
                raise NoRule(
                    f"{name} keeps a value that carries a derivative in {kept}, and the result depends on it",
                    "keep such values in a list",
                    stmt.origin,
                    code="kept-in-object",
                )

    def check_let(self, stmt: ir.Let, op: ir.Op, raising: bool) -> None:
        """Refuse a call without a rule that a derivative passes through, or that may write where one is kept.

        Where the block goes on to raise, no reverse sweep comes to what is written.
        """
        if any(map(self.is_varied, floats_in_brackets(self.s, stmt))) and any(map(self.is_useful, stmt.targets)):
            raise NoRule(
                "an object of which nothing is known is asked for what a float names",
                SUBSCRIPT,
                stmt.origin,
                code="kept-in-object",
            )
        if has_meaning(stmt):
            return
        varied = [n for n in operands(self.s, stmt) if self.is_varied(n)]
        if not varied:
            return
        name = callee_of(stmt)
        if any(self.is_useful(t) for t in stmt.targets):
            of_these = " for these arguments" if type(op.fn).__name__ == "Unbound" else ""
            raise NoRule(f"{name} has no derivative rule{of_these}", self.remedy(op), stmt.origin)
        if raising:
            return
        if op.fn is opaque_method and self.is_of_several_kinds(op.arguments.get("argument 0")):
            raise NoRule(
                f"only the run tells what this is, and {name} may keep in it what carries a derivative",
                "write `[]` and not None at first if it is a list; else pass `stop_gradient(x)`, as to `file.write`",
                stmt.origin,
                code="different-kinds",
            )
        if op.fn is np.ndarray.setflags and any(map(self.regions.is_written, varied)):
            raise NoRule(
                "an array that is written becomes read-only, and the reverse sweep may have to put back what it held",
                "leave that out, or give a copy (`x.copy()`)",
                stmt.origin,
                code="unknown-write",
            )
        if stmt.effect and not self.formats(op) and may_write(self.s, op, varied):
            raise NoRule(
                f"{name} has no derivative rule and may write into an argument that carries a derivative",
                "give it a constant, `stop_gradient(x).copy()`, or register a rule",
                stmt.origin,
                code="unknown-write",
            )
        self.refuse_keeping(stmt, varied, name)


def before_raise(block: ir.Block) -> Iterator[Any]:
    """The statements of blocks that end in a ``raise`` which nothing in the program catches."""
    if ir.ends_in_raise(block):
        yield from block
    for stmt in block:
        if not isinstance(stmt, CATCHING):
            for body in ir.bodies(stmt):
                yield from before_raise(body)


def callee_of(stmt: ir.Let) -> str:
    """The function of a statement, as a message names it."""
    fn = cast(ir.Op, stmt.op).fn
    name = getattr(fn, "__name__", str(fn))
    if is_of_scipy(fn) or hasattr(fn, "stands_for"):
        return full_name(fn)
    return callee(stmt.expr.func) if fn in (opaque_call, opaque_method) or name == "__call__" else name


def callee(func: Any) -> str:
    """The name of a function in a message, by the expression that it was called by."""
    if not any(map(ir.is_variable, ir.names_in(func))):
        return unparse(func)
    return f"the method {func.attr!r}" if isinstance(func, gast.Attribute) else "an object that is called"


def may_write(s: Specialiser, op: ir.Op, given: list[str]) -> bool:
    """True if a function of which nothing is known may write into some of the variables that it is given."""
    if op.fn in READERS or only_reads(op) or takes_text(s, op, given):
        return False
    for facts in (s.facts[name] for name in given):
        if isinstance(facts, Opaque):
            # An object of a library's class that is called computes from what it keeps.
            written = facts.cls not in (*TEXT, set) and not (op.fn is opaque_call and is_reader(facts.cls))
        else:
            written = not isinstance(facts, Num) or not (facts.python or facts.kind == "npscalar")
        if written:
            return True
    return False


def takes_text(s: Specialiser, op: ir.Op, given: list[str]) -> bool:
    """True for a method that is given nothing but text of what carries a derivative, as ``file.write`` is."""
    base = op.arguments.get("argument 0") if op.fn is opaque_method else None
    texts = [s.facts[name] for name in given if base != Leaf(name)]
    return bool(texts) and all(isinstance(facts, Opaque) and facts.cls in TEXT for facts in texts)


def activity(s: Specialiser, block: ir.Block, regions: Regions, inputs: set[str], outputs: set[str]) -> Activity:
    """The variables that carry a derivative from `inputs` to `outputs`."""
    analysis = Analysis(s, regions)
    for name in inputs:
        analysis.mark(analysis.result.varied, analysis.result.varied_regions, name)
    for name in outputs:
        analysis.mark(analysis.result.useful, analysis.result.useful_regions, name)
    still = cancelled(s, block, outputs) if pass_registry.on("shift_invariance") else set()
    every = [*flows(s, block, still), *key_flows(s, block, regions)]
    for sweep in (analysis.spread_varied, analysis.spread_useful):
        rest, analysis.changed = every, True
        while analysis.changed:
            analysis.changed = False
            rest = sweep(rest)
    analysis.refuse_unknown(block)
    return analysis.result


def refuse_writes(s: Specialiser, block: ir.Block, where: Regions, active: Activity) -> None:
    """Refuse a write into an array that carries a derivative, through a name for which that derivative is stopped."""
    if not s.stopped:
        return
    names = with_views(s, block)
    for stmt in ir.walk(block):
        for base in changed_through(stmt):
            if base in names and where.of(base) in active.varied_regions:
                raise AliasError(
                    f"what stop_gradient returned ({s.in_words(base)}) is written, and is an array with a derivative",
                    "write into a copy: `stop_gradient(x).copy()`",
                    stmt.origin,
                )


def with_views(s: Specialiser, block: ir.Block) -> set[str]:
    """The names that ``stop_gradient`` returned, and those of what is part of them."""
    names: set[str] = set()
    found = set(s.stopped)
    while found - names:
        names |= found
        for stmt in ir.walk(block):
            if isinstance(stmt, ir.Let) and stmt.op is not None and any(n in names for n in sources(s, stmt.op)):
                found |= set(stmt.targets)
            found |= {target for target, inner in joins(stmt) if any(n in names for n in inner)}
    return names


def sources(s: Specialiser, op: ir.Op) -> list[str]:
    """The operands whose memory the result may be."""
    if op.fn is operator.getitem:
        return [*op.shares, *s.leaves(op.arguments["x"])]
    return list(op.shares)
