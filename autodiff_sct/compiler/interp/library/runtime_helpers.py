"""Derivatives of lists, dicts and tuples: what the run-time helpers `zeros_like` and `unbroadcast` make of them."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ....runtime import ones_like, unbroadcast, zeros_like
from ... import ir
from ...domain.facts import COMPLEX, FLOAT, Facts, Listed, Mapped, Num, Opaque, Pair, join
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...ir.builder import Specialiser
from ..containers.items import own_list
from ..kernel.handlers import handles
from ..kernel.operations import call_known


@handles(zeros_like)
def zeros(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``zeros_like(x)``."""
    return filled(s, zeros_like, args[0])


@handles(ones_like)
def ones(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``ones_like(x)``."""
    return filled(s, ones_like, args[0])


@handles(unbroadcast)
def fitted(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``unbroadcast(cotangent, like)``: that of a container, whose length is known at run time, is one."""
    callee, (cotangent, like) = s.bind("unbroadcast", unbroadcast), args
    facts = s.facts_of(like)
    if not isinstance(like, Leaf) or not isinstance(facts, (Listed, Mapped, Pair)):
        return call_known(s, Const(unbroadcast, callee), args, kwargs)
    found = derivative_facts(s, facts, s.site("unbroadcast"))
    op = ir.Op(unbroadcast, {"cotangent": cotangent, "like": like})
    return s.let(ir.call(callee, s.expr(cotangent), s.expr(like)), found, op, may_raise=False)


def filled(s: Specialiser, fn: Any, value: Value) -> Value:
    """A derivative of a value, filled with one number; a container's is a container of its own."""
    callee = s.bind(fn.__name__, fn)
    if isinstance(value, ListV):
        value = own_list(s, value)
    if isinstance(value, TupleV):
        return own_list(s, ListV(tuple(filled(s, fn, item) for item in value.items), s.site(fn.__name__)))
    if isinstance(value, Obj):
        items = [(key, filled(s, fn, s.env[(value.id, key)])) for key in s.fields(value)]
        return container(s, value, items)
    facts = s.facts_of(value)
    if isinstance(value, Leaf) and isinstance(facts, (Listed, Mapped, Pair)):
        found = derivative_facts(s, facts, s.site(fn.__name__))
        return s.let(ir.call(callee, s.expr(value)), found, ir.Op(fn, {"x": value}), may_raise=False)
    return call_known(s, Const(fn, callee), [value], {})


def container(s: Specialiser, value: Obj, items: list[tuple[Any, Value]]) -> Value:
    """A list or a dict of these items."""
    if value.cls is list:
        return own_list(s, ListV(tuple(item for key, item in items if key != "len"), s.site("zeros")))
    result = Obj(("zeros", s.site()), value.cls)
    s.env |= {(result.id, key): item for key, item in items}
    return result


def derivative_facts(s: Specialiser, facts: Facts | None, site: Any) -> Facts:
    """The facts of a derivative of a value: a tuple's is a list."""
    if isinstance(facts, Num):
        return derivative_of_number(s, facts, site)
    if isinstance(facts, (Listed, Mapped)):
        result = type(facts)(frozenset([s.root(site)]))
        element = s.elements_of(facts)
        if element is not None:
            s.put_element(result, derivative_facts(s, element, (site, "element")))
        return result
    if isinstance(facts, Pair):
        listed = Listed(frozenset([s.root(site)]))
        if facts.items:
            s.put_element(listed, reduce(join, [derivative_facts(s, f, (site, k)) for k, f in enumerate(facts.items)]))
        return listed
    return Opaque() if facts == Opaque() else FLOAT  # what has no derivative has the number 0.0 in its place


def derivative_of_number(s: Specialiser, facts: Num, site: Any) -> Num:
    if facts.python:
        return COMPLEX if facts.kind == "complex" else FLOAT
    dtype = facts.dtype if facts.differentiable else np.dtype(np.float64)
    own = facts.kind == "array" or facts.kind is None and facts.dims != ()
    return replace(facts, dtype=dtype, roots=frozenset([s.root(site)]) if own else frozenset(), size=None)
