"""Recursive functions with derivatives: the functions that are emitted for a `Recursion`.

- ``name(arguments) -> results``, without derivatives;
- ``name_forward(arguments, state) -> results`` and ``name_backward(state, ...) -> cotangents of the arguments``
  (see `reverse`);
- ``t_name(arguments, tangents) -> (*results, *tangents of the results)`` (see `forward`).

They are emitted for a set of *wanted* arguments, which holds what the recursive calls inside want too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gast

from ....errors import AliasError, UnsupportedSyntax
from ... import ir
from ...analysis.alias import Regions, reachable, regions, roots_of
from ...analysis.definite_assignment import drop_sure, unbound
from ...analysis.liveness import sweep_dead
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.identifiers import unique
from ...domain.values import Frame, Leaf
from ...interp.calls.recursive_functions import Recursion
from ...interp.kernel.specialiser import Specialiser
from ..activity import Activity, activity, refuse_writes
from ..tape.residuals import first_origin


@dataclass(eq=False)
class Variant:
    """The emitted functions of a recursive function for one set of wanted arguments."""

    kind: str  # "reverse", "tangent" or "plain"
    wanted: frozenset[str] = frozenset()
    name: str = ""
    backward: str = ""
    changed: tuple[int, ...] = ()  # arguments of the backward function that it changes
    state: Any = None  # the expression of a new state; None while the functions are being emitted
    pending: list[gast.Tuple] = field(default_factory=list)  # states made meanwhile, whose lists are not known yet


@dataclass(eq=False)
class Definition:
    """A function to be emitted beside the main one: a program whose last statement returns."""

    where: Regions
    name: str
    arguments: dict[str, str]
    program: ir.Block


@dataclass(eq=False)
class PairDefinition:
    """A forward and a backward function to be emitted beside the main one."""

    where: Regions
    rec: Recursion
    variant: Variant
    front: ir.Block
    back: ir.Block
    saved: dict[str, str]  # the lists by what is saved in them
    state: str
    given: dict[str, str]  # what the backward function is given
    unbound: set[str]  # variables that some paths leave unbound


def is_recursive(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and stmt.op is not None and isinstance(stmt.op.fn, Recursion)


def cloned(block: ir.Block) -> ir.Block:
    """A block whose statements may be changed; expressions are shared."""
    return [cloned_statement(stmt) for stmt in block]


def cloned_statement(stmt: Any) -> Any:
    new = copy.copy(stmt)
    if isinstance(new, ir.If):
        new.then, new.orelse, new.merges = cloned(new.then), cloned(new.orelse), [copy.copy(m) for m in new.merges]
    elif isinstance(new, ir.Loop):
        new.head, new.body, new.carries = cloned(new.head), cloned(new.body), [copy.copy(c) for c in new.carries]
    elif isinstance(new, ir.With):
        new.body = cloned(new.body)
    elif isinstance(new, ir.Try):
        new.body, new.final, new.merges = cloned(new.body), cloned(new.final), [(t, list(n)) for t, n in new.merges]
        new.handlers = [(kind, bound, cloned(b)) for kind, bound, b in new.handlers]
    elif isinstance(new, ir.Let) and new.op is not None:
        new.op = copy.copy(new.op)
    return new


def keep_lengths(s: Specialiser, block: ir.Block, clone: ir.Block) -> None:
    """Copy the equalities of lengths in a block to its clone."""
    s.of_blocks[id(clone)] = clone, s.lengths_in(block)
    for old, new in zip(block, clone):
        for inner, other in zip(ir.bodies(old), ir.bodies(new)):
            keep_lengths(s, inner, other)


@contextmanager
def apart(s: Specialiser) -> Iterator[None]:
    """Write another function in the middle of one."""
    kept = s.frame, s.origin, s.node, s.block, s.env, s.unbound
    s.frame, s.origin, s.node, s.block, s.env = Frame(0, None, {}, rule=True), None, None, [], dict(s.env)
    try:
        yield
    finally:
        s.frame, s.origin, s.node, s.block, s.env, s.unbound = kept


def carries(facts: Facts) -> bool:
    """True if a variable may have a cotangent."""
    return facts.differentiable if isinstance(facts, Num) else isinstance(facts, (Listed, Mapped, Pair))


def body_of(s: Specialiser, rec: Recursion) -> tuple[ir.Block, Regions]:
    block = cloned(rec.block)
    keep_lengths(s, rec.block, block)
    final = ir.Return(ir.tuple_([ir.name(n) for n in [*rec.results, *rec.inputs]]))
    block = sweep_dead(s, [*block, final], set(ir.walk(block)), set(), rules=True)[:-1]
    s.unbound = unbound(block)
    drop_sure(block, s.unbound)
    where = regions(block, s.facts, s.elements)
    if frozenset(n for n in rec.inputs if where.is_written(n)) - rec.written:
        raise AliasError(
            f"an argument of the recursive function {rec.name} shares memory with an array that is written",
            "copy it first",
            first_origin(block),
            code="recursion",
        )
    return block, where


def called_for(stmt: ir.Let, active: Callable[[str], bool], s: Specialiser) -> frozenset[str]:
    """The arguments of a call that carry a derivative."""
    assert stmt.op is not None
    found = [p for p, v in stmt.op.arguments.items() if any(active(n) for n in s.leaves(v))]
    for p in found:
        if isinstance(s.facts[p], Opaque):
            raise UnsupportedSyntax(
                f"{s.in_words(p)} of a recursive function carries a derivative, and may be a number in one call and "
                "a container in another",
                "give it containers of one kind, or numbers and arrays only",
                stmt.origin,
                code="recursion",
            )
    return frozenset(p for p in found if carries(s.facts[p]))


def all_wanted(
    s: Specialiser, rec: Recursion, block: ir.Block, where: Regions, wanted: frozenset[str], forward: bool
) -> tuple[frozenset[str], Activity]:
    """The wanted arguments with those that inner calls want of this same function."""
    while True:
        ends = {n for n in rec.results if carries(s.facts[n])} | (rec.written & wanted)
        found = activity(s, block, where, set(wanted), ends)
        active: Callable[[str], bool] = found.varied.__contains__ if forward else found.active
        more = set(wanted) | {p for p in rec.written if active(p)}
        for stmt in ir.walk(block):
            if is_recursive(stmt) and stmt.op.fn is rec:
                more |= called_for(stmt, active, s)
        if more == wanted:
            refuse_writes(s, block, where, found)
            return wanted, found
        wanted = frozenset(more)


def variant_of(
    s: Specialiser,
    rec: Recursion,
    kind: str,
    wanted: frozenset[str],
    emit: Callable[[Specialiser, Recursion, Variant], None],
) -> Variant:
    """The emitted functions for at least these wanted arguments, made where there are none yet."""
    for known in rec.variants:
        if known.kind == kind and known.wanted >= wanted:
            return known
    variant = Variant(kind, wanted)
    with apart(s):
        emit(s, rec, variant)
    return variant


def check_overlap(s: Specialiser, rec: Recursion, stmt: ir.Let, r: Any) -> None:
    """Arguments that share memory, one of which is written, would have two shadows.

    Of a list that the function writes, without writing what is in it, that is the memory of the list.
    """
    from ..tape.required_restores import written_later

    assert stmt.op is not None
    known = [(p, reachable(s, s.facts[v.name])) for p, v in stmt.op.arguments.items() if isinstance(v, Leaf)]
    for p, roots in known:
        written = roots if p in rec.written_inside else roots_of(s.facts[stmt.op.arguments[p].name])
        for other, found in known:
            if p in rec.written and other != p and written & found:
                raise AliasError(
                    f"two arguments of the recursive function {rec.name} share memory, and one of them is written",
                    "pass a copy of one of them",
                    stmt.origin,
                    code="recursion",
                )
    for k, t in enumerate(stmt.targets):
        own = roots_of(s.facts[t])
        others = [*known, *(("", roots_of(s.facts[u])) for u in stmt.targets[:k])]
        shared = [p for p, roots in others if own & roots]
        if (
            shared
            and r.regions.is_written(t)
            and (rec.written & set(shared) or written_later(r, stmt, r.regions.of(t)))
        ):
            raise AliasError(
                f"what the recursive function {rec.name} returns may be its argument, and is written",
                "return a copy",
                stmt.origin,
                code="recursion",
            )


# -- without derivatives


def result_expr(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else ir.tuple_(items) if items else ir.constant(None)


def distinct(s: Specialiser, arguments: dict[str, str]) -> dict[str, str]:
    taken = set(s.globals)
    return {variable: unique(hint, taken) for variable, hint in arguments.items()}
