"""Results of a program: the part that is differentiated, and the value in memory of its own."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ...errors import NoRule, NotDifferentiable
from ...runtime import broadcast, objects
from .. import ir
from ..analysis.alias import Regions, reachable
from ..analysis.missing_rules import full_name, is_of_scipy, rule_to_write
from ..domain.facts import Listed, Mapped, Num, Opaque, Pair
from ..domain.request import Arguments, Request
from ..domain.values import Bound, Closure, Const, Leaf, ListV, MaybeV, Obj, PartialV, Poison, Suspended, TupleV, Value
from ..interp.containers.iterators import Cursor
from ..interp.containers.sources import Source
from ..interp.kernel.escape import parts_of
from ..interp.kernel.specialiser import Specialiser
from ..interp.world.boundary import own_copy, place_of_result
from ..interp.world.normalized_bodies import prepared
from ..ir.traversal import followed, read_instead
from .activity import callee
from .reverse.cotangents import as_scalar, copied, fit, numpy_call, spread, zeros
from .reverse.transform import Reverse
from .value_flow import TEXT


def output_leaves(s: Specialiser, value: Value) -> list[str]:
    """The variables of a result that carry a derivative, in order."""
    if isinstance(value, Obj):
        return [n for key in s.fields(value) for n in output_leaves(s, s.env[(value.id, key)])]
    if isinstance(value, (TupleV, ListV)):
        return [n for item in value.items for n in output_leaves(s, item)]
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        return (
            [value.name]
            if (isinstance(facts, Num) and facts.differentiable) or isinstance(facts, (Listed, Mapped))
            else []
        )
    return []


def unknown_leaves(s: Specialiser, value: Value) -> list[str]:
    """The variables of a result of which nothing is known, through which a derivative may be lost."""
    return [n for n in s.leaves(value) if isinstance(f := s.facts[n], Opaque) and f.cls not in TEXT]


def refuse_unknown(s: Specialiser, value: Value, request: Request, varied: set[str]) -> None:
    """Refuse a result that depends on an argument and may be no number: no cotangent begins with it."""
    for name in unknown_leaves(s, value):
        if name in varied:
            raise NotDifferentiable(
                f"{request.called} returns {s.in_words(name)}, of which only the run tells whether it is a number",
                "give it one kind on every path",
                place_of_result(request.fn),
                code="different-kinds",
            )


def check_output(s: Specialiser, value: Value, request: Request) -> Value:
    """The part of the result that is differentiated."""
    if holds_iterator(s, value):
        raise NotDifferentiable(
            f"{request.called} returns an iterator", "return a list of its items", place_of_result(request.fn)
        )
    if request.has_aux:
        if not isinstance(value, TupleV) or len(value.items) < 2:
            raise NotAux(
                f"has_aux needs a function that returns a tuple of two or more values; {request.called} does not"
            )
        value = value.items[0]
    if holds_optional(s, value):
        raise NotDifferentiable(
            f"{request.called} returns a tuple on some paths and None on others",
            "return its items, or a tuple on every path",
            place_of_result(request.fn),
            code="different-kinds",
        )
    found = underivable(s, value)
    if found is not None and isinstance(value, Leaf) and (call := call_behind(s, value.name)) is not None:
        raise returns_call(s, *call, request)
    if found is not None:
        raise NotDifferentiable(
            f"{request.called} returns {found}, which has no derivative",
            "return a number or an array, of one kind on every path: a list is `[]` at first, not None",
            place_of_result(request.fn),
        )
    return value


def call_behind(s: Specialiser, name: str) -> tuple[str, gast.Call] | None:
    """The call whose result a variable is, or is an attribute or an item of."""
    made = s.definitions.get(name)
    while isinstance(made, (gast.Attribute, gast.Subscript)) and isinstance(made.value, gast.Name):
        name = made.value.id
        made = s.definitions.get(name)
    return (name, made) if isinstance(made, gast.Call) else None


def returns_call(s: Specialiser, name: str, made: gast.Call, request: Request) -> NoRule:
    """The refusal of a program whose result is that of a call without a rule."""
    ops = [stmt.op for stmt in ir.walk(s.block) if isinstance(stmt, ir.Let) and name in stmt.targets]
    fn = ops[0].fn if ops and ops[0] is not None else None
    called, remedy = (
        callee(made.func),
        "register one with autodiff_sct.rule, or write it with functions that have rules",
    )
    if is_of_scipy(fn):
        called, remedy = full_name(fn), rule_to_write(fn)
    return NoRule(
        f"{request.called} returns what {called} returns, and that has no derivative rule",
        rule_to_write(fn) if is_of_scipy(fn) else remedy,
        place_of_result(request.fn),
    )


def holds_iterator(s: Specialiser, value: Value) -> bool:
    """True if an iterator leaves the program, which is none at run time."""
    if isinstance(value, (TupleV, ListV)):
        return any(holds_iterator(s, item) for item in value.items)
    if isinstance(value, Obj):
        return value.cls is Cursor or any(holds_iterator(s, s.env[(value.id, key)]) for key in s.fields(value))
    return isinstance(value, Source)


def holds_optional(s: Specialiser, value: Value) -> bool:
    """True if a result holds a tuple that may be None: only the run could tell what its cotangent is."""
    if isinstance(value, Poison):
        raise s.poisoned(value)
    if not isinstance(value, Obj):
        return isinstance(value, MaybeV) or any(holds_optional(s, part) for part in parts_of(value))
    unsure = [key for key in s.fields(value) if (value.id, key) in s.unsure]
    if unsure:
        raise s.refuse("attribute", f"only the run tells whether {unsure[0]!r} was assigned to the object")
    return any(holds_optional(s, s.env[(value.id, key)]) for key in s.fields(value))


def underivable(s: Specialiser, value: Value) -> str | None:
    """The words for a result that has no derivative; None for one that has."""
    if isinstance(value, Const) and (value.value is None or isinstance(value.value, str)):
        return "a str" if isinstance(value.value, str) else "None"
    if isinstance(value, (Closure, Bound, PartialV)) or (isinstance(value, Const) and callable(value.value)):
        return "a function"
    if isinstance(value, Suspended):
        if not isinstance(value.fn, Closure):
            prepared(value.fn.__code__, value.fn)  # refused where it yields
        return "a generator"
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        unknown = "something known only at run time"
        return None if not isinstance(facts, Opaque) else f"a {facts.cls.__name__}" if facts.cls else unknown
    if isinstance(value, Obj) and value.cls not in (dict, list) and not output_leaves(s, value):
        return f"a {value.cls.__name__}"
    return None


class NotAux(NotDifferentiable, ValueError):
    """``has_aux`` was asked of a function with one result."""


def own_result(s: Specialiser, where: Regions | None, table: Arguments, forward: ir.Block, result: Value) -> Value:
    """The result in memory that neither the caller holds nor a reverse sweep changes, if there is one: `where` told."""
    held = {
        root
        for facts in [*(s.facts[n] for n in table.entries), *(e.facts for e in s.externals.values())]
        for root in reachable(s, facts)
    }
    seen: set[int] = set()

    def own(value: Value) -> Value:
        if isinstance(value, TupleV):
            return TupleV(tuple(own(v) for v in value.items), value.cls)
        if isinstance(value, ListV):
            return ListV(tuple(own(v) for v in value.items), value.site)
        if isinstance(value, Obj) and value.id not in s.objects:
            result = Obj(("result", value.id), value.cls)
            s.env |= {(result.id, key): own(s.env[(value.id, key)]) for key in s.fields(value)}
            return result
        if isinstance(value, Leaf) and isinstance(s.facts[value.name], (Listed, Mapped, Pair)):
            return own_list(value)
        if not isinstance(value, Leaf) or not isinstance(s.facts[value.name], Num):
            return value
        return own_array(value)

    def own_list(value: Leaf) -> Leaf:
        found = reachable(s, s.facts[value.name])
        changed = where is not None and any(where.find(root) in where.written for root in found)
        return detached(s, value) if found & held or changed else value

    def own_array(value: Leaf) -> Value:
        facts = s.facts[value.name]
        assert isinstance(facts, Num)
        shared = bool(facts.roots & (held | seen)) or (where is not None and where.is_written(value.name))
        seen.update(facts.roots)
        if not shared or facts.python or facts.kind == "npscalar":
            return value
        return copied(s, value) if facts.kind == "array" else detached(s, value)

    with s.writing(forward):
        return own(result)


def detached(s: Specialiser, value: Leaf) -> Leaf:
    """A copy of a value together with what is in it."""
    expr = ir.call(s.bind("detached", objects.detached), ir.name(value.name))
    return s.let(expr, s.facts[value.name], hint=s.hints[value.name], may_raise=False, role=s.roles.get(value.name))


def gradient(r: Reverse, value: Value, tree: Any, expr: Any) -> Any:
    """The expression of the gradient of an argument, in the container that it came in."""
    s = r.s
    if isinstance(value, Leaf):
        return leaf_gradient(r, value, expr)
    if isinstance(value, Const):
        return s.expr(value)
    if isinstance(value, TupleV):
        items = [
            gradient(r, v, child, ir.subscript(expr, ir.constant(k)))
            for k, (v, child) in enumerate(zip(value.items, tree.children))
        ]
        return ir.tuple_(items) if value.cls is None else ir.call(s.bind(value.cls.__name__, value.cls), *items)
    assert isinstance(value, Obj)
    parts = {
        k: gradient(r, initial(r, value, k), child, field_of(tree, expr, k))
        for k, child in zip(tree.keys, tree.children)
    }
    if tree.cls is dict:
        return gast.Dict([ir.constant(k) for k in parts], list(parts.values()))
    if tree.cls is list:
        return gast.List(list(parts.values()), gast.Load())
    rebuild = getattr(tree.cls, "rebuild", objects.rebuild)
    wanted = getattr(tree.cls, "with_derivative", parts)
    return ir.call(s.bind("rebuild", rebuild), expr, **{k: part for k, part in parts.items() if k in wanted})


def field_of(tree: Any, expr: Any, key: Any) -> Any:
    return ir.subscript(expr, ir.constant(key)) if tree.cls in (dict, list) else ir.attribute(expr, key)


def initial(r: Reverse, obj: Obj, key: Any) -> Value:
    """The value that a field had on entry: the program may have assigned it since."""
    return r.s.initial[(obj.id, key)]


def leaf_gradient(r: Reverse, value: Leaf, given: Any = None) -> Any:
    """The expression of the gradient of a part of an argument; `given` is that part as the caller gave it."""
    s = r.s
    facts = s.facts[value.name]
    if isinstance(facts, (Listed, Mapped)):
        return list_gradient(r, value, given)
    if isinstance(facts, Num) and not facts.differentiable:
        return ir.constant(0) if facts.python else numpy_call(s, "zeros_like", ir.name(value.name))
    if isinstance(facts, Opaque):
        return ir.name(value.name)
    if r.has_shadow(value.name) and r.activity.active(value.name):
        return s.expr(r.shadows.of(value.name))
    found = r.take(value.name)
    if found is None:
        return of_rank_0(s, s.expr(zeros(s, value.name)), facts)
    full = spread(s, fit(s, found.value, value.name), value.name)
    if full == found.value and not found.owned and not (isinstance(facts, Num) and facts.dims == ()):
        full = copied(s, full)
    return of_rank_0(s, s.expr(full), facts)


def of_rank_0(s: Specialiser, derivative: Any, want: Any) -> Any:
    """The derivative of an array of rank 0 is one too, that of a NumPy scalar a scalar of its dtype.

    What was computed may be a Python number, or of the other kind, whatever the facts say.
    """
    if not isinstance(want, Num) or want.dims != () or want.dtype is None:
        return derivative
    if want.kind == "array":
        dtype = {} if want.dtype == np.float64 else {"dtype": ir.attribute(s.bind("np", np), want.dtype.name)}
        return numpy_call(s, "array", derivative, **dtype)
    return as_scalar(s, derivative, want.dtype) if want.kind == "npscalar" else derivative


def list_gradient(r: Reverse, value: Leaf, given: Any) -> Any:
    s = r.s
    if not r.activity.active(value.name):
        shadow = ir.call(s.bind("zeros_like", broadcast.zeros_like), ir.name(value.name))
    else:
        shadow = s.expr(r.shadows.of(value.name))
    facts = s.facts[value.name]
    element = s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else None
    if isinstance(element, Num) and element.kind == "array" and not r.regions.is_written(value.name):
        return shadow
    # Lists inside the list that the program writes may have another length at its end.
    if value.name in r.shadows.ordered and given is not None:
        return ir.call(s.bind("like", objects.like), s.expr(r.shadows.ordered[value.name]), given)
    nested = isinstance(element, (Listed, Mapped)) and own_copy(s, given, element, r.regions) is not None
    return ir.call(s.bind("like", objects.like), shadow, given if nested and given is not None else ir.name(value.name))


def renamed(r: Reverse, block: ir.Block, grads: list[Any]) -> list[Any]:
    """Gradients, after a block in which one variable is used for a cotangent that a loop changes in place."""
    names = followed(r.renames)
    for stmt in ir.walk(block) if names else ():
        read_instead(stmt, names)
    mapping = {old: ir.name(new) for old, new in names.items()}
    return [ir.substitute(g, mapping) for g in grads]


def insert_saves(r: Reverse, block: ir.Block) -> None:
    for stmt in block:
        for inner in ir.bodies(stmt):
            insert_saves(r, inner)
    block[:] = [each for stmt in block for each in (*r.overwritten.before.get(stmt, ()), stmt)]
