"""The shapes that `np.broadcast_shapes` and `np.broadcast` tell, axis by axis.

::

    shape = np.broadcast(q[..., 0], n).shape
    q = np.broadcast_to(q, shape + (4,))        of three axes where `q` has, of the lengths of `q` and `n`
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import ir
from ...domain.facts import INT, Num, Opaque
from ...domain.values import Const, TupleV, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import handles, otherwise
from ..objects.objects import construct


class Broadcast:
    """The result of `np.broadcast` for arrays, before they are gone through."""

    def __init__(self, *arrays: Any) -> None:
        self.shape = np.broadcast_shapes(*[np.shape(array) for array in arrays])
        self.ndim = self.nd = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(arrays)


@handles(np.broadcast)
def broadcast(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return construct(s, Broadcast, args, kwargs)


@otherwise(np.broadcast_shapes)
def broadcast_shapes(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The lengths of a result of several shapes of known ranks; None where a rank is known only at run time."""
    shapes = [arg.items if isinstance(arg, TupleV) else (arg,) for arg in args]
    known = [isinstance(arg, TupleV) or isinstance(number := s.num(arg), Num) and number.kind == "int" for arg in args]
    if kwargs or not shapes or not all(known):
        return None
    rank = max(map(len, shapes))
    axes = [[shape[k - rank] for shape in shapes if len(shape) >= rank - k] for k in range(rank)]
    lengths = [joint_length(s, axis) for axis in axes]
    if all(length is not None for length in lengths):
        return TupleV(tuple(length for length in lengths if length is not None))
    call = ir.call(ir.attribute(s.bind("np", np), "broadcast_shapes"), *map(s.expr, args))
    joint = s.let(call, Opaque(tuple), hint="shape")
    items = [s.let(ir.subscript(s.expr(joint), ir.constant(k)), INT, hint="n", may_raise=False) for k in range(rank)]
    return TupleV(tuple(item if length is None else length for item, length in zip(items, lengths)))


def joint_length(s: Specialiser, axis: list[Value]) -> Value | None:
    """The length of an axis of which several are given; None where only the run knows which of them is not 1."""
    wide = [length for length in axis if length != Const(1)]
    if len(wide) <= 1:
        return wide[0] if wide else Const(1)
    sizes = [length.value if isinstance(length, Const) else size_of(s, length) for length in wide]
    return wide[0] if sizes[0] is not None and sizes.count(sizes[0]) == len(sizes) else None


def size_of(s: Specialiser, length: Value) -> Any:
    """The symbol of a length that is known only at run time; None where it has none."""
    facts = s.num(length)
    return None if facts is None else facts.size
