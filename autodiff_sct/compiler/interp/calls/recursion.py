"""Recursive functions of the user's: compiled once for each kind of arguments, and called by name.

A function is inlined where it is called.  One that is active already and is called again with the same kinds of
arguments becomes a `Recursion`: its body is specialised once, on parameters of which only the kinds are known, and
inside that body and outside a call is one statement.  What the call returns is found by a fixed point: in the first
round the branches that recurse contribute nothing, in each later round a call returns what the round before found.

Variables that the body reads from outside (globals, closure variables, Parameters) are passed as further arguments
under their own names, so that derivatives flow through them like through any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ....errors import Refused
from ... import ir
from ...analysis.alias import every_root, regions
from ...domain.facts import Dim, Facts, Listed, Mapped, Num, Opaque, Pair, join
from ...domain.values import Closure, Const, Frame, Leaf, ListV, TupleV, Value
from ...ir.patterns import outside_names
from ..containers.items import own_list
from ..control.joins import as_leaf
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended
from ..objects.tables import restart_tabled
from .recursive_functions import ELEMENTS, Recursion, Signature, acts, call, general, outer_roots, rebuilt

ROUNDS = 12  # until the kind of the result has to be found
NESTED = 6  # kinds of arguments of one function that are being compiled at once

NEVER = "this recursion does not end at compile time"


# -- deciding


def recursive_call(
    s: Specialiser, frame: Frame, bound: dict[str, Value], fn: Any, body: Callable[[dict[str, Value]], Value]
) -> Value | None:
    """The value of a call that must not be inlined; None where inlining it is right.

    `body` executes the function in `frame` on arguments.
    """
    frame.bound = bound
    if frame.rule:
        return None
    if not (active := activations(frame)):
        return None
    s.recursive_calls += 1
    fixed = Signature(s, {"function": Const(fn) if not isinstance(fn, gast.AST) else Closure(fn, frame.parent)})  # type: ignore[arg-type]
    signature = Signature(s, bound)
    before = [Signature(s, f.bound) for f in active]
    known = (fixed.key, signature.key) in s.recursions or any(b.key == signature.key for b in before)
    many = len(active) >= thresholds.INLINED_ACTIVATIONS or s.recursive_calls > thresholds.INLINED_CALLS
    undecided = s.branches > active[0].branches and frame.site not in s.inlined
    if not known and (many or undecided):
        moving = {p for p, n in signature.integers.items() if any(b.integers.get(p, n) != n for b in before)}
        signature = Signature(s, bound, frozenset(moving))
        known = bool(moving)
        if not known and (
            len(active) > thresholds.STRUCTURED_ACTIVATIONS or s.recursive_calls > thresholds.STRUCTURED_CALLS
        ):
            raise s.refuse("recursion", NEVER)
    if not known:
        return None
    key = (fixed.key, signature.key)
    if key not in s.recursions:
        try:
            compile_recursion(s, key, frame, bound, signature, body, (fixed.keep, signature.keep))
        except Refused:
            if many or not signature.moving:
                raise
            s.inlined.add(frame.site)
            return None
    return call(s, s.recursions[key], [value for _, value in signature.leaves])


def activations(frame: Frame) -> list[Frame]:
    """The activations of a frame's function around it, the innermost first."""
    found = []
    caller = frame.caller
    while caller is not None:
        if caller.site is frame.site:
            found.append(caller)
        caller = caller.caller
    return found


# -- compiling


def compile_recursion(
    s: Specialiser,
    key: Any,
    frame: Frame,
    bound: dict[str, Value],
    signature: Signature,
    body: Callable[[dict[str, Value]], Value],
    keep: Any,
) -> None:
    """Specialise a body on its parameters until what it returns no longer changes."""
    working = [r for r in s.recursions.values() if r.working]
    if sum(r.site is frame.site for r in working) >= NESTED:
        raise s.refuse("recursion", NEVER)
    hint = str(getattr(frame.site, "co_name", None) or getattr(frame.site, "name", "recursive"))
    rec = Recursion("", frame.site, keep=keep)
    rec.name = s.bind(hint, rec).id
    rec.working = True
    number = len(s.frames) + s.counter
    sites = [("parameter", number, k) for k in range(len(signature.leaves))]
    rec.params = [parameter(s, name, value, site) for (name, value), site in zip(signature.leaves, sites)]
    outer = dict(s.env)
    known = frozenset(s.roots.values())
    rec.outer_roots = known
    table = dict(s.recursions)
    try:
        for _ in range(ROUNDS):
            s.recursions = {**table, key: rec}
            s.env = dict(outer)
            elements = dict(s.elements)
            rec.empty = frozenset()
            shape = one_round(s, rec, bound, signature, body)
            check_outer(s, frame, outer)
            same = all(s.elements[root] == element for root, element in elements.items())
            found = not rec.called or (shape == rec.shape and rec.empty.isdisjoint(s.elements))
            rec.shape = shape
            if same and found:
                refuse_unknown(s, shape)
                break
        else:
            raise s.refuse(
                "recursion",
                "what this recursion returns has another kind at every depth",
                "return the same kind of value on every path",
            )
    except BaseException:
        s.recursions = table
        raise
    finally:
        s.env = outer
        rec.working = False
    if not working:
        close(s)


def parameter(s: Specialiser, name: str, value: Value, site: Any) -> str:
    facts = general(s, s.facts_of(value), site)
    if isinstance(facts, Num) and facts.dims:  # in one activation each axis has one length
        facts = replace(facts, dims=tuple(Dim((site, axis)) for axis in range(len(facts.dims))))
    variable = s.fresh(name, facts)
    s.named.add(variable)
    return variable


def one_round(
    s: Specialiser,
    rec: Recursion,
    bound: dict[str, Value],
    signature: Signature,
    body: Callable[[dict[str, Value]], Value],
) -> Any:
    """Write the body anew; the shape of what it returns, joined with what is known already."""
    rec.block, params = [], list(rec.params)
    rec.calls = []
    arguments = {name: rebuilt(value, (name,), signature, params) for name, value in bound.items()}
    held = frozenset().union(*(every_root(s, s.facts[p]) for p in rec.params))
    with s.writing(rec.block), s.holding(held):  # the caller goes on seeing what becomes of its arguments
        try:
            value = body(arguments)
        except Ended:
            if any(r.shape is None and r is not rec for r in s.recursions.values() if r.working):
                raise
            raise s.refuse(
                "recursion",
                "this recursion never returns: every path calls the function again",
                "add a branch that returns",
            ) from None
        shape = joined(s, rec, rec.shape, shape_of(s, rec, value))
        rec.results = list(flatten(s, value, shape, rec.block))
    return shape


def check_outer(s: Specialiser, frame: Frame, outer: dict[Any, Value]) -> None:
    """A recursive function that rebinds variables or fields of others would have to return them."""
    alive = {f.id for f in chain(frame)}
    for key, value in outer.items():
        owner = key[0] if isinstance(key, tuple) else None
        if isinstance(owner, int) and owner not in alive:
            continue
        now = s.env.get(key)
        if now is not value and now != value:
            name = key[1] if isinstance(key, tuple) and len(key) > 1 else key
            raise s.refuse(
                "recursion",
                f"a recursive function assigns {name!r}, which lives outside it",
                "return the value instead",
            )


def chain(frame: Frame) -> list[Frame]:
    """The activations that are still running when a frame is."""
    found: list[Frame] = []
    pending = [frame.caller, frame.parent]
    while pending:
        f = pending.pop()
        if f is not None and f not in found:
            found.append(f)
            pending += [f.caller, f.parent]
    return found


# -- results


def shape_of(s: Specialiser, rec: Recursion, value: Value) -> Any:
    if isinstance(value, TupleV):
        return ("tuple", value.cls, tuple(shape_of(s, rec, v) for v in value.items))
    if isinstance(value, Leaf):
        if value.name in rec.params and every_root(s, s.facts[value.name]):
            return ("parameter", rec.params.index(value.name))
        return ("leaf", seen_outside(s, rec, s.facts[value.name]))
    if isinstance(value, Const):
        plain = type(value.value) in (int, float, complex, bool) or isinstance(value.value, np.generic)
        return ("leaf", s.facts_of(value)) if plain else ("const", without_variables(value))
    if isinstance(value, ListV):
        return shape_of(s, rec, own_list(s, value))
    restart_tabled(s, value)
    raise s.refuse("recursion", f"a recursive function returns a {type(value).__name__}")


def without_variables(value: Const) -> Const:
    """The same constant where the variables of the function are not known."""
    return Const(value.value) if value.expr is not None and any(ir.variables_in(value.expr)) else value


def refuse_unknown(s: Specialiser, shape: Any) -> None:
    """A result of which nothing is known might carry a derivative that nobody follows."""
    if shape[0] == "tuple":
        for inner in shape[2]:
            refuse_unknown(s, inner)
    elif shape == ("leaf", Opaque()):
        raise s.refuse(
            "recursion",
            "nothing is known of what this recursion returns",
            "put a first item into what it reads, before it is called",
        )


def seen_outside(s: Specialiser, rec: Recursion, facts: Facts) -> Facts:
    """Facts of a result without what only the function itself knows: lengths, and memory that it made."""
    if isinstance(facts, Num):
        dims = None if facts.dims is None else (None,) * len(facts.dims)
        return replace(facts, dims=dims, size=None, roots=facts.roots & outer_roots(s, rec))
    if isinstance(facts, (Listed, Mapped)):
        element = s.elements_of(facts)
        inner = None if element is None else seen_outside(s, rec, element)
        return Pair((type(facts)(facts.roots & outer_roots(s, rec)), inner), ELEMENTS)
    if isinstance(facts, Pair):
        return Pair(tuple(seen_outside(s, rec, f) for f in facts.items), facts.cls)
    return facts


def joined(s: Specialiser, rec: Recursion, a: Any, b: Any) -> Any:
    """The shape of a result that has either of two."""
    if a is None or a == b:
        return b
    if a[0] == b[0] == "tuple" and a[1] is b[1] and len(a[2]) == len(b[2]):
        return ("tuple", a[1], tuple(joined(s, rec, x, y) for x, y in zip(a[2], b[2])))
    a, b = (("leaf", seen_outside(s, rec, s.facts[rec.params[x[1]]])) if x[0] == "parameter" else x for x in (a, b))
    a, b = (no_object(a, b), no_object(b, a))
    if a[0] == b[0] == "leaf":
        return ("leaf", join_seen(a[1], b[1]))
    raise s.refuse(
        "recursion",
        "a recursive function returns different kinds of things",
        "return the same kind of value on every path",
    )


def no_object(shape: Any, other: Any) -> Any:
    """The shape of None beside an object in a table."""
    is_row = other[0] == "leaf" and isinstance(other[1], Num) and other[1].row is not None
    return ("leaf", Opaque(type(None))) if is_row and shape == ("const", Const(None)) else shape


def join_seen(a: Facts, b: Facts) -> Facts:
    if isinstance(a, Pair) and isinstance(b, Pair) and a.cls is b.cls is ELEMENTS:
        (x, inner), (y, other) = a.items, b.items
        element = inner if other is None else other if inner is None else join_seen(inner, other)
        return Pair((join(x, y), element), ELEMENTS)
    return join(a, b)


def flatten(s: Specialiser, value: Value, shape: Any, block: ir.Block) -> Any:
    """The variables of a result's leaves, assigned at the end of the body where they were none."""
    if shape[0] == "tuple":
        for item, inner in zip(value.items, shape[2]):
            yield from flatten(s, item, inner, block)
    elif shape[0] == "leaf":
        leaf = as_leaf(s, value, block, "result")
        if leaf is None:
            raise s.refuse(
                "recursion",
                "a recursive function returns different kinds of things",
                "return the same kind of value on every path",
            )
        yield leaf.name


# -- calling


# -- what the body reads and writes outside


def close(s: Specialiser) -> None:
    """Pass what the bodies read from outside at every call, and find which memory of the caller's they write."""
    group = [r for r in s.recursions.values() if not r.closed]
    changed = True
    while changed:
        changed = False
        for rec in group:
            new = [n for n in outside_names(rec.block) if n not in rec.inputs and ir.is_variable(n)]
            new += [n for n in rec.results if n not in rec.inputs and n not in new and n not in ir.defined(rec.block)]
            for name in new:
                changed = True
                rec.captures.append(name)
                for stmt in rec.calls:
                    assert stmt.op is not None
                    stmt.expr = ir.call(stmt.expr.func, *stmt.expr.args, ir.name(name))
                    stmt.op.arguments[name] = Leaf(name)
    find_writes(s, group)
    for rec in group:
        rec.closed = True


def find_writes(s: Specialiser, group: list[Recursion]) -> None:
    changed = True
    while changed:
        changed = False
        for rec in group:
            where = regions(rec.block, s.facts, s.elements)
            inside = frozenset(n for n in rec.inputs if where.is_written_inside(n))
            itself = frozenset(n for n in rec.inputs if where.is_written(n))
            acts = has_effects(rec.block)
            effects = bool(itself | inside) or acts
            if (itself, inside, effects, acts) != (rec.written_itself, rec.written_inside, rec.effects, rec.acts):
                rec.written_itself, rec.written_inside, rec.effects, changed = itself, inside, effects, True
                rec.acts = acts
                for stmt in rec.calls:
                    stmt.effect = effects


def has_effects(block: ir.Block) -> bool:
    """True if a function does something besides returning and writing into memory that the program knows."""
    return any(acts(stmt) for stmt in ir.walk(block))
