"""Sorted lists that are searched and filled by Python's library: `bisect` and the rarer ones of `heapq`.

What a function does to a list is said with the list's own methods; positions carry no derivative.
"""

from __future__ import annotations

import bisect
import heapq
from typing import Any

from .. import ir
from ..facts import INT
from . import polyfill_lists
from .calls import call_python, handles
from .state import Specialiser
from .tables import refuse_references
from .values import Value


def place_in(fn: Any) -> Any:
    """Where a number belongs in a sorted list: a whole number, through which no derivative passes."""

    def handler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if "key" in kwargs:
            text = polyfill_lists.place_before if fn is bisect.bisect_left else polyfill_lists.place_behind
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
    (bisect.insort_left, polyfill_lists.insert_before),
    (bisect.insort_right, polyfill_lists.insert_behind),
    (heapq.heappushpop, polyfill_lists.heap_push_pop),
    (heapq.heapreplace, polyfill_lists.heap_replace),
    (heapq.nlargest, polyfill_lists.largest_few),
    (heapq.nsmallest, polyfill_lists.smallest_few),
]
for _fn, _text in TEXTS:
    handles(_fn)(written_out(_text))
