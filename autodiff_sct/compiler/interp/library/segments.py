"""``segments(range(n), every=k)``: the range itself, and how many steps a segment of a loop over it has."""

from __future__ import annotations

from dataclasses import replace

from ....checkpoints import segments
from ....runtime.segments import segment_length
from ... import ir
from ...domain.facts import INT
from ...domain.values import Const, Value
from ...ir.builder import Specialiser
from ..containers.sources import Source
from ..kernel.handlers import handles
from ..kernel.operations import over


@handles(segments)
def segments_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = dict(zip(("steps", "every", "checkpoint"), args)) | kwargs
    steps = given.get("steps")
    counted = isinstance(steps, Source) and steps.bounds is not None and steps.hint is None
    if not counted and not (isinstance(steps, Const) and isinstance(steps.value, range)):
        raise s.refuse(
            "segments", "segments goes over something else than a range", "write `segments(range(n), every=k)`"
        )
    assert steps is not None
    folder = given.get("checkpoint", Const(None))
    source = in_segments(s, over(s, steps), given.get("every", Const(None)))
    return source if folder == Const(None) else replace(source, folder=folder)


def in_segments(s: Specialiser, source: Source, every: Value) -> Source:
    """A range whose loop keeps its state only at the start of every segment of so many steps."""
    known = isinstance(every, Const) and type(every.value) is int and every.value >= 1
    if not known:
        assert source.length is not None
        length = ir.call(s.bind("segment_length", segment_length), s.expr(source.length()), s.expr(every))
        every = s.let(length, INT, hint="every")
        s.named.add(every.name)
    return replace(source, every=every)
