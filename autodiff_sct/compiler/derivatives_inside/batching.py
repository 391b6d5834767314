"""``vmap`` inside differentiated programs: a loop over the examples."""

from __future__ import annotations

from dataclasses import dataclass

from ...api.batching import BatchedFunction, axes_of, over_examples
from .. import ir
from ..domain.facts import Num
from ..domain.values import Const, Leaf, Value, Wrapped
from ..interp.kernel.operations import call_python
from ..ir.builder import Specialiser
from .grad import own, setting


@dataclass(eq=False)
class BatchedV(Wrapped):
    """A function of batches made inside the program."""

    settings: BatchedFunction

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return loop(s, self.fn, self.settings, [own(s, a) for a in args], kwargs)


def vmap(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``vmap(fn, in_axes, out_axes)``."""
    given = dict(zip(("fn", "in_axes", "out_axes"), args)) | kwargs
    chosen = {name: setting(s, value, name) for name, value in given.items() if name != "fn"}
    return BatchedV(given["fn"], BatchedFunction(len, chosen.get("in_axes", 0), chosen.get("out_axes", 0)))


def loop(s: Specialiser, fn: Value, settings: BatchedFunction, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a function of batches."""
    if kwargs:
        raise s.refuse(
            "nested-derivative", "a function of batches is called with keywords", "give its arguments by position"
        )
    axes = axes_of(settings.in_axes, len(args))
    batched = [(a, axis) for a, axis in zip(args, axes) if axis is not None]
    for a, _ in batched:
        facts = s.num(a)
        if not isinstance(a, Leaf) or facts is None or not facts.dims:
            raise s.refuse(
                "nested-derivative",
                "an argument of a function of batches is no array of known rank here",
                "give it arrays, or call vmap's function outside the differentiated function",
            )
    if not batched:
        raise s.refuse(
            "nested-derivative", "no argument has an axis of examples", "give one of them an axis in in_axes"
        )
    first, axis = batched[0]
    count = ir.subscript(ir.attribute(s.expr(first), "shape"), ir.constant(axis))
    length = s.let(count, Num("int"), hint="examples")
    return call_python(s, over_examples, [fn, Const(axes), Const(settings.out_axes), length, *args], {})
