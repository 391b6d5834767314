"""Loops over lists that change their length meanwhile, as Python goes over them.

::

    for v in items:                     k = 0
        if v > 1.0:                     while k < len(items):
            items.append(v / 2)    ->       v, k = items[k], k + 1
                                            if v > 1.0:
                                                items.append(v / 2)

`resizing` notices that a loop is one of these, and has the program specialised again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ...domain.facts import BOOL, Listed
from ...domain.values import Const, Leaf, TupleV, Value
from ...ir.builder import Specialiser
from ..kernel.operations import get_item, operate
from .iteration import advancing, length_of
from .sources import Source


def counted_list(s: Specialiser, iterable: Value) -> tuple[Leaf, Value | None] | None:
    """The list that a loop goes over, and the first of the numbers that `enumerate` gives beside its items."""
    given = iterable.counted if isinstance(iterable, Source) else None
    items, start = given or (iterable, None)
    if not isinstance(items, Leaf) or not isinstance(s.facts[items.name], Listed):
        return None
    return items, start


def over_growing(s: Specialiser, items: Leaf, start: Value | None, action: Callable[[Value], None], stop: Any) -> None:
    """A loop that asks before each step whether the list has another item."""
    place = ("grown", s.site("grown")), "k"
    s.env[place] = Const(0)

    def goes_on() -> Value:
        test = gast.Compare(s.expr(s.env[place]), [gast.Lt()], [s.expr(length_of(s, items))])
        return s.let(test, BOOL, hint="goes_on", may_raise=False)

    def advance() -> Value:
        position = s.env[place]
        item = get_item(s, items, position)
        s.env[place] = operate(s, gast.Add, position, Const(1))
        if start is None:
            return item
        return TupleV((position if start == Const(0) else operate(s, gast.Add, position, start), item))

    advancing(s, Source(advance=advance, goes_on=goes_on), action, stop)
    s.env.pop(place, None)
