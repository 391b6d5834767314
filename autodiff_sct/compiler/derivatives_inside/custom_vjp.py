"""Cells with a ``bprop``, and ``vmap`` inside differentiated programs.

Cells with a ``bprop``: the value of ``construct``, with the derivative that the user wrote.

The body of ``construct`` is inlined for its value and no derivative passes through it; the value is then bound once
more, by an operation that has the user's ``bprop`` as its rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...api import stop_gradient
from ...api.batching import BatchedFunction, axes_of, over_examples
from ...errors import ArgumentRuntimeError
from ...nn import cell as cells
from ...rules.table import TABLE, reverse, static
from .. import ir
from ..domain.facts import Num
from ..domain.values import Const, Leaf, Obj, TupleV, Value, Wrapped
from ..interp.kernel.handlers import HANDLERS
from ..interp.kernel.operations import call_python, call_value
from ..interp.kernel.specialiser import Specialiser
from .grad import own, setting

OPERATIONS: dict[int, tuple[Any, Callable[..., Any]]] = {}


def register(cls: type) -> None:
    """Watch for calls of the ``construct`` that a class with a ``bprop`` uses."""
    construct = getattr(cls, "construct", None)
    if construct is not None:
        HANDLERS[construct] = lambda s, args, kwargs: call_construct(s, construct, args, kwargs)


def call_construct(s: Specialiser, construct: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cell.construct(*inputs)``."""
    owner = args[0] if args else None
    value = call_python(s, construct, args, kwargs)
    if not isinstance(owner, Obj) or not hasattr(owner.cls, "bprop"):
        return value
    if owner.id not in s.objects or kwargs:
        raise s.refuse(
            "nested-derivative",
            f"{owner.cls.__name__} has a bprop, and is made in the program or called with keywords",
            "make the cell outside the differentiated function, and pass its inputs by position",
        )
    found = call_value(s, Const(stop_gradient), [value], {})
    return with_rule(s, operation_of(s.objects[owner.id][0]), found, args[1:])


def with_rule(s: Specialiser, operation: Any, value: Value, inputs: list[Value]) -> Value:
    """The value again, as the result of an operation on the inputs."""
    op = ir.Op(operation, {"out": value, "inputs": TupleV(tuple(inputs))})
    if isinstance(value, Leaf):
        return s.let(s.expr(value), s.facts[value.name], op, may_raise=False)
    if isinstance(value, TupleV) and all(isinstance(item, Leaf) for item in value.items):
        leaves = s.let_several(s.expr(value), [s.facts[item.name] for item in value.items], op)
        return TupleV(tuple(leaves), value.cls)
    raise s.refuse(
        "nested-derivative",
        "a cell with a bprop returns anything but a tensor or a tuple of tensors",
        "let bprop return one tensor for each input, in a tuple",
    )


def operation_of(cell: Any) -> Callable[..., Any]:
    """The operation whose rule is the ``bprop`` of `cell`; made once, and kept with the cell."""
    known = OPERATIONS.get(id(cell))
    if known is not None and known[0] is cell:
        return known[1]

    def cell_value(out: Any, *inputs: Any) -> Any:
        return out

    def bprop_rule(y: Any, d: Any, out: Any, *inputs: Any) -> Any:
        found = cell.bprop(*inputs, out=y, dout=filled(y, d))
        gradients = found if isinstance(found, tuple) else (found,)
        require_gradients(len(gradients), len(inputs))
        return (None, *gradients)

    reverse(cell_value)(bprop_rule)
    assert cell_value in TABLE
    OPERATIONS[id(cell)] = (cell, cell_value)
    return cell_value


@static
def require_gradients(given: int, wanted: int) -> None:
    """RuntimeError where a ``bprop`` returns fewer gradients than its ``construct`` has inputs."""
    if given < wanted:
        raise ArgumentRuntimeError(f"a bprop returned {given} gradients for {wanted} inputs: it returns one for each")


def filled(y: Any, d: Any) -> Any:
    """The cotangents of several results, zeros where there is none."""
    if isinstance(d, tuple):
        return tuple([np.zeros_like(y[k]) if d[k] is None else d[k] for k in range(len(d))])
    return d


for known in cells.WITH_BPROP:
    register(known)
cells.ON_BPROP.append(register)


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
