"""Choices of `itertools`: products, combinations and permutations, and the items that a test picks out."""

from __future__ import annotations

import itertools
import math
from functools import partial

from ....core import thresholds
from ...domain.constant_folding import MOST_ITEMS
from ...domain.values import Const, ListV, TupleV, Value
from ...ir.builder import Specialiser
from ..containers import items as containers
from ..containers.iterators import crossed
from ..containers.sources import Source
from ..kernel.handlers import handles
from ..kernel.operations import as_list, call_python
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
