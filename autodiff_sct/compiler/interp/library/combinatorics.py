"""Choices of `itertools`, sorted lists, `bisect` and `heapq`.

Lists of what carries no derivative, sorted, and sorted lists that `bisect` and the rarer of `heapq` search and fill.

What a function does to a list is said with the list's own methods; positions carry no derivative.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from functools import partial
from typing import Any

import gast

from ....core import thresholds
from ....runtime import sorting
from ... import ir
from ...domain.dummies import MOST_ITEMS
from ...domain.facts import INT, UNKNOWN, Listed, Num, Opaque
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ..containers import items as containers
from ..containers.iterators import crossed
from ..containers.sources import Source
from ..kernel.escape import refuse_references
from ..kernel.handlers import handles
from ..kernel.operations import as_list, call_python
from ..kernel.specialiser import Specialiser
from ..models import functions as models
from ..models import lists as models_lists
from ..models.lists import LOOPS, Choosing
from .standard_library import items_now


def chosen(fn: Choosing, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    items = items_now(s, args[0])
    count = args[1] if len(args) > 1 else kwargs.get("r", Const(None))
    known = count.value if isinstance(count, Const) else -1
    if items is not None and (known is None or type(known) is int and known >= 0):
        if most_rows(fn, len(items), known) > MOST_ITEMS:
            raise s.refuse(
                "unknown-length",
                f"itertools.{fn.__name__} of so many items that all cannot be listed",
                "write the loops",
            )
        rows = fn(items) if known is None else fn(items, known)
        return Source(items=[TupleV(tuple(row)) for row in rows])
    if type(known) is not int or not 0 < known <= thresholds.ITEMS_COMBINED:
        raise s.refuse(
            "unknown-length",
            f"itertools.{fn.__name__} of something whose length is known only at run time",
            "write the loops",
        )
    whole = containers.own_value(s, as_list(s, args[0]))
    if fn is itertools.combinations and known == 2:
        return call_python(s, models.pairs, [whole], {})
    result = containers.own_value(s, call_python(s, models_lists.nothing, [], {}))
    call_python(s, LOOPS[fn], [whole, Const(known), Const(0), TupleV(()), TupleV(()), result], {})
    return result


def most_rows(fn: Choosing, count: int, taken: int | None) -> int:
    """The number of rows that are chosen of so many items, or a bound on it."""
    taken = count if taken is None else taken
    if fn is itertools.permutations:
        return math.perm(count, taken)
    return math.comb(count if fn is itertools.combinations else count + taken, taken)


for _fn in LOOPS:
    handles(_fn)(partial(chosen, _fn))


@handles(itertools.product)
def product(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    repeat = s.static(kwargs.get("repeat", Const(1)))
    args = list(args) * repeat
    known = [items_now(s, a) for a in args]
    if all(items is not None for items in known):
        if math.prod(map(len, known)) <= thresholds.ITEMS_LISTED:  # type: ignore[arg-type]
            return Source(items=[TupleV(row) for row in itertools.product(*known)])  # type: ignore[arg-type]
    sources = [
        containers.iteration(s, containers.own_list(s, ListV(tuple(items), s.site(("items", k)))) if items else a)
        for k, (a, items) in enumerate(zip(args, known))
    ]
    return crossed(s, sources)


@handles(itertools.compress)
def compress(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = [*args, *(kwargs[name] for name in ("data", "selectors") if name in kwargs)]
    return call_python(s, models.compressed, given, {})


@handles(itertools.filterfalse)
def filterfalse(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return call_python(s, models.left_out, args, kwargs)


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
