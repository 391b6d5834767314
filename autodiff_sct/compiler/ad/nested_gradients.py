"""Gradients inside programs as calls that have a derivative of their own.

The text of an adjoint is inlined where a gradient is differentiated once more.  Where that is refused, the gradient is
a call, and what is differentiated in its place is the tangent of the function, which is written as the user's program
is: the cotangent ``d`` of ``g = grad(f)(x)`` gives ``x`` that of the directional derivative of ``f`` along ``d``, and
the tangent of ``g`` along ``t`` is the gradient of that along ``t``, as second derivatives are symmetric.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.alias import changed_through, roots_of
from ..domain.facts import Facts, Listed, Mapped, Num
from ..domain.values import Const, Leaf, PartialV, TupleV, Value
from ..interp.calls.recursive_functions import Recursion
from ..interp.kernel.operations import call_value
from ..interp.kernel.specialiser import Specialiser
from ..interp.world.partial_keys import known_keys, note_keys
from .reverse.cotangents import zeros

OWN_MEMORY = {list.pop, list.copy, dict.keys, operator.getitem, operator.concat}
SHOWN_ONCE = {warnings.warn}  # as the filters of warnings have it
CALLED = "a gradient that is differentiated here"


def nested_gradient(*inputs: Any) -> Any:
    """A call of an emitted gradient, in the program that differentiates it."""
    raise NotImplementedError


@dataclass(eq=False)
class Called:
    """The call of a gradient, ready to be differentiated: `slope` is along directions, `positions` of its inputs."""

    tangent: Any  # the emitted tangent function
    positions: tuple[int, ...]
    valued: bool  # whether the call gives the value, too, before the gradients
    emit: Callable[..., Any]  # the gradient of a function for values of the program


def call_apart(
    s: Specialiser, function: Any, called: Called, value: Value | None, given: list[Value], inputs: list[Value]
) -> list[Value]:
    """The results of an emitted gradient function: the value, where it returns that, and one of each position.

    `given` is what it is given, `inputs` what the tangent is: what they take from outside may differ.
    """
    if not all(isinstance(v, (Leaf, Const)) for v in [*given, *inputs]):
        raise s.refuse(
            "nested-derivative",
            f"{CALLED} is of a function of lists, dicts or objects",
            "pass numbers and arrays to it",
        )
    wanted = [inputs[p] for p in called.positions]
    facts = [like(s, v, k) for k, v in enumerate([*([value] if value is not None else []), *wanted])]
    expr = ir.call(s.bind(function.__name__, function), *(s.expr(v) for v in given))
    op = ir.Op(nested_gradient, {"called": Const(called), "inputs": TupleV(tuple(inputs))})
    return [s.let(expr, facts[0], op)] if len(facts) == 1 else list(s.let_several(expr, facts, op))


def like(s: Specialiser, value: Value, place: int) -> Facts:
    """The facts of a value of the kind of another one, in memory of its own."""
    facts = s.facts_of(value)
    if not isinstance(facts, (Listed, Mapped)) and not (isinstance(facts, Num) and facts.differentiable):
        raise s.refuse(
            "nested-derivative",
            f"{CALLED} is of a function that returns no number and no array",
            "return the sum of its parts",
        )
    return elsewhere(s, facts, s.site(place))


def elsewhere(s: Specialiser, facts: Any, site: Any) -> Any:
    """The facts of something of the same kind in memory of its own, and of what is in it."""
    if isinstance(facts, Num):
        own = facts.python or facts.kind == "npscalar"
        return replace(facts, size=None, whole=False, roots=frozenset() if own else frozenset([s.root((site, "own"))]))
    if not isinstance(facts, (Listed, Mapped)):
        return facts
    element, root = s.elements_of(facts), s.root((site, "list"))
    if element is not None and root not in s.elements:
        s.elements[root] = elsewhere(s, element, (site, "item"))
    if isinstance(facts, Mapped) and (known := known_keys(s, facts)) is not None:
        note_keys(s, root, (site, "keys"), known)
    return replace(facts, roots=frozenset([root]))


def primal_value(s: Specialiser, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of the function as far as its kind goes; its statements are left out."""
    env = dict(s.env)
    try:
        with s.writing([], s.lengths) as block:
            value = call_value(s, fn, args, kwargs)
    finally:
        s.env = env
    if is_any_seen(s, block, set()):
        raise s.refuse(
            "nested-derivative",
            f"{CALLED} is of a function with effects: they would happen twice",
            "take them out of it",
        )
    return value


def is_any_seen(s: Specialiser, block: ir.Block, within: set[Any]) -> bool:
    """True if a block may do what is seen from outside the program, or would be another one the second time."""
    return any(is_seen(s, stmt, within) for stmt in ir.walk(block))


def is_seen(s: Specialiser, stmt: Any, within: set[Any]) -> bool:
    """The same of a statement without those inside it; `within` are the recursive functions that are looked into."""
    if any(roots_of(s.facts[n]) & outside_roots(s) for n in changed_through(stmt)):
        return True
    if isinstance(stmt, ir.Effect):
        return stmt.kind == "publish" or (stmt.kind == "" and isinstance(stmt.expr, gast.Call) and not is_ours(s, stmt))
    if not isinstance(stmt, ir.Let) or not stmt.effect or stmt.op is None:
        return False
    fn = stmt.op.fn
    if isinstance(fn, Recursion):
        return fn not in within and is_any_seen(s, fn.block, {*within, fn})
    raises = isinstance(fn, type) and issubclass(fn, BaseException)
    return not (raises or fn in OWN_MEMORY | SHOWN_ONCE or type(getattr(fn, "__self__", None)) in (str, list, tuple))


def outside_roots(s: Specialiser) -> frozenset[int]:
    """The memory of what the program reads from outside."""
    return frozenset().union(*(roots_of(s.facts[e.name]) for e in s.externals.values()))


def is_ours(s: Specialiser, stmt: ir.Effect) -> bool:
    """True for a call of a helper of this package, which checks something."""
    fn = s.globals.get(getattr(stmt.expr.func, "id", ""))
    return (getattr(fn, "__module__", None) or "").startswith("autodiff_sct.runtime")


def along(
    called: Called, s: Specialiser, inputs: tuple[Value, ...], ways: list[Value], wanted: list[int]
) -> list[Value]:
    """The gradient of the directional derivative by the inputs `wanted`; a number goes with each value before them."""
    with_value = called.valued and len(ways) > len(called.positions)
    fn = PartialV(Const(slope_with_value if with_value else slope), (Const(called.tangent), Const(len(inputs))), {})
    inner = called.emit(fn, [*inputs, *ways], tuple(wanted))
    function, given = inner.emitted.function, [*inputs, *ways, *inner.beside]
    expr = ir.call(s.bind(function.__name__, function), *(s.expr(v) for v in given))
    facts = [like(s, inputs[k], k) for k in wanted]
    return [s.let(expr, facts[0])] if len(facts) == 1 else list(s.let_several(expr, facts, None))


def slope(push: Any, count: int, *values: Any) -> Any:
    """The directional derivative of the sum of what a function returns."""
    return total(push(*values)[1])


def slope_with_value(push: Any, count: int, *values: Any) -> Any:
    """The same, and the value times its own cotangent, which comes after the inputs."""
    value, tangent = push(*values[:count], *values[count + 1 :])
    return total(tangent) + np.sum(np.real(values[count] * value))


def total(value: Any) -> Any:
    """The sum of all numbers of a structure."""
    if isinstance(value, (list, tuple)):
        return sum([total(item) for item in value])
    if isinstance(value, dict):
        return sum([total(value[key]) for key in value])
    return np.sum(np.real(value))


def reverse_nested(r: Any, stmt: ir.Let) -> None:
    """The reverse of a gradient's call."""
    s, op = r.s, stmt.op
    assert op is not None
    called, inputs = op.arguments["called"].value, op.arguments["inputs"].items
    incoming = [r.part(target) for target in stmt.targets]
    wanted = [k for k, v in enumerate(inputs) if any(r.activity.active(n) for n in s.leaves(v))]
    if not wanted or all(d == Const(None) for d in incoming):
        return
    ways = [zeros(s, t) if d == Const(None) else d for t, d in zip(stmt.targets, incoming, strict=True)]
    for target, way in zip(stmt.targets, ways, strict=True):
        note_same_keys(s, target, way)
    for k, found in zip(wanted, along(called, s, inputs, ways, wanted), strict=True):
        r.add(inputs[k].name, found, True)


def note_same_keys(s: Specialiser, name: str, way: Value) -> None:
    """Note that the cotangent of a dict has its keys, and under each of them what is alike."""
    facts, own = s.facts[name], s.facts_of(way)
    known = known_keys(s, facts) if isinstance(facts, Mapped) else None
    if known is not None and isinstance(own, Mapped) and len(own.roots) == 1:
        note_keys(s, next(iter(own.roots)), ("cotangent", name), known)


def tangent_of_nested(f: Any, stmt: ir.Let) -> None:
    """The tangents of what a gradient's call returns."""
    s, op = f.s, stmt.op
    assert op is not None
    called, inputs = op.arguments["called"].value, op.arguments["inputs"].items
    active = [k for k, v in enumerate(inputs) if any(f.active(n) for n in s.leaves(v))]
    if called.valued or not set(active) <= set(called.positions):
        raise s.refuse(
            "nested-derivative",
            "the tangent of a gradient of a function that captures what carries a derivative",
            "pass it as an argument",
        )
    ways = [f.of(inputs[k].name) if k in active else zero_of(f, inputs[k]) for k in called.positions]
    for target, found in zip(stmt.targets, along(called, s, inputs, ways, list(called.positions)), strict=True):
        if f.active(target):
            f.set(target, found)


def zero_of(f: Any, value: Value) -> Value:
    """The tangent of an input without one."""
    return f.zero(value.name) if isinstance(value, Leaf) else Const(0.0)


__all__ = ["Called", "call_apart", "nested_gradient", "primal_value", "reverse_nested", "tangent_of_nested"]
