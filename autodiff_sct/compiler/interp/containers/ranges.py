"""``reversed(...)`` of what is counted, and parts of ranges."""

from __future__ import annotations

from dataclasses import replace

import gast

from ...domain.values import Const, Value
from ...ir.builder import Specialiser
from ..kernel.operations import operate
from .sources import Source, nth, over_range


def reversed_source(s: Specialiser, source: Source) -> Source:
    if source.items is not None:
        return Source(items=source.items[::-1])
    bounds = source.bounds
    assert bounds is not None and source.length is not None
    if len(bounds) <= 2:
        start, stop = (Const(0), bounds[0]) if len(bounds) == 1 else bounds
        down = (operate(s, gast.Sub, stop, Const(1)), operate(s, gast.Sub, start, Const(1)), Const(-1))
        return replace(source, bounds=down)
    length = source.length()
    last = operate(s, gast.Sub, length, Const(1))
    return Source(
        bounds=(length,),
        item=lambda k: nth(s, source, operate(s, gast.Sub, last, k)),
        hint="i",
        length=lambda: length,
        every=source.every,
        folder=source.folder,
    )


def part_of_range(s: Specialiser, base: Value, index: Value) -> Source:
    """``range(n)[1:]``, ``range(n)[::-1]`` and the like."""
    whole = base.bounds if isinstance(base, Source) and base.item is Source.item else None
    if whole is None:
        raise s.refuse("unknown-value", "this value cannot be indexed", "index an array, a list, a tuple or a dict")
    part = index.value if isinstance(index, Const) and isinstance(index.value, slice) else slice(0, 0)
    start, stop, step = part.start, part.stop, 1 if part.step is None else part.step
    if (start, stop, step) == (None, None, -1):
        return reversed_source(s, base)
    if len(whole) > 2 or (start or 0) < 0 or (stop is not None and stop >= 0) or step < 1:
        raise s.refuse(
            "unknown-value", "this part of a range cannot be followed", "give `range` its bounds, or make a list of it"
        )
    low, high = whole if len(whole) == 2 else (Const(0), whole[0])
    low = operate(s, gast.Add, low, Const(start)) if start else low
    high = operate(s, gast.Sub, high, Const(-stop)) if stop else high
    return over_range(s, [low, high, Const(step)])
