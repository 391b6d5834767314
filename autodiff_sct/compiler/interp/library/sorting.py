"""Lists of what carries no derivative, sorted, and sorted lists that `bisect` and the rarer of `heapq` search and fill.

What a function does to a list is said with the list's own methods; positions carry no derivative.
"""

from __future__ import annotations

import bisect
import heapq
from typing import Any

import gast

from ....runtime import sorting
from ... import ir
from ...domain.facts import INT, UNKNOWN, Listed, Num, Opaque
from ...domain.values import Const, Leaf, TupleV, Value
from ...ir.builder import Specialiser
from ..kernel.escape import refuse_references
from ..kernel.handlers import handles
from ..kernel.operations import call_python
from ..models import lists as models_lists


def holds_constants(s: Specialiser, items: Leaf) -> bool:
    """True if a list holds whole numbers, texts and the like, through which no derivative passes."""
    facts = s.facts[items.name]
    held = s.elements_of(facts) if isinstance(facts, Listed) else None
    if isinstance(held, Num):
        return not held.differentiable and held.dims == () and held.kind != "array"
    return isinstance(held, Opaque)


def sorted_constants(s: Specialiser, items: Leaf, backwards: Value) -> Value:
    facts, listed = s.facts[items.name], Listed(frozenset([s.root(("list", s.site("sorted")))]))
    assert isinstance(facts, Listed)
    s.put_element(listed, s.elements_of(facts) or UNKNOWN)
    reverse = [] if backwards == Const(False) else [gast.keyword("reverse", s.expr(backwards))]
    expr = gast.Call(gast.Name("sorted", gast.Load(), None, None), [s.expr(items)], reverse)
    return s.let(expr, listed, ir.Op(sorting.order_of, {"keys": items}), hint="items")


def by_constants(items: list[Value]) -> list[Value] | None:
    """Tuples in the order of their first items, if these are constants of one type that all differ."""
    firsts = [v.items[0].value for v in items if isinstance(v, TupleV) and v.items and isinstance(v.items[0], Const)]
    if len(firsts) < max(len(items), 1) or {type(first) for first in firsts} not in ({str}, {int}):
        return None
    if len(set(firsts)) < len(firsts):
        return None
    return [item for _, item in sorted(zip(firsts, items), key=lambda pair: pair[0])]


def place_in(fn: Any) -> Any:
    """The position of a number in a sorted list: a whole number, through which no derivative passes."""

    def handler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if "key" in kwargs:
            text = models_lists.place_before if fn is bisect.bisect_left else models_lists.place_behind
            return call_python(s, text, args, kwargs)
        refuse_references(s, *args)
        named = {name: s.expr(value) for name, value in kwargs.items()}
        expr = ir.call(ir.attribute(s.bind("bisect", bisect), fn.__name__), *(s.expr(a) for a in args), **named)
        return s.let(expr, INT, hint="place")

    return handler


def written_out(text: Any) -> Any:
    return lambda s, args, kwargs: call_python(s, text, args, kwargs)


for _search in (bisect.bisect_left, bisect.bisect_right):
    handles(_search)(place_in(_search))

TEXTS: list[tuple[Any, Any]] = [
    (bisect.insort_left, models_lists.insert_before),
    (bisect.insort_right, models_lists.insert_behind),
    (heapq.heappushpop, models_lists.heap_push_pop),
    (heapq.heapreplace, models_lists.heap_replace),
    (heapq.nlargest, models_lists.largest_few),
    (heapq.nsmallest, models_lists.smallest_few),
]
for _fn, _text in TEXTS:
    handles(_fn)(written_out(_text))
