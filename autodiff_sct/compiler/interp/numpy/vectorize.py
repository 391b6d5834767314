"""``np.vectorize`` as a loop over elements, and the shapes that `np.broadcast` tells, axis by axis.

NumPy calls the function once with the first elements, as NumPy's scalars, for the type of the results, and then with
all of them as Python's numbers.  With ``otypes`` there is no first call.

::

    shape = np.broadcast(q[..., 0], n).shape
    q = np.broadcast_to(q, shape + (4,))        of three axes where `q` has, of the lengths of `q` and `n`
"""

from __future__ import annotations

import math
import re
from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.facts import INT, Num, Opaque
from ...domain.values import Bound, Const, PartialV, TupleV, Value
from ..arrays.emit_op import numpy_call
from ..kernel.handlers import MADE, handles, otherwise
from ..kernel.operations import attribute_of, call_python, call_value, get_item, items_of
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import raise_if
from ..models import functions as models
from ..objects.objects import construct


@handles(np.vectorize)
def vectorize(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    settings = dict(zip(("pyfunc", "otypes"), args)) | kwargs
    signature = settings.pop("signature", Const(None))
    if signature != Const(None) and s.is_static(signature) and "pyfunc" in settings:
        return of_parts(s, settings["pyfunc"], s.static(signature))
    if len(args) > 2 or settings.keys() - {"pyfunc", "otypes"} or "pyfunc" not in settings:
        raise s.refuse("vectorize", "np.vectorize with more than a function and otypes cannot be followed")
    otypes = settings.get("otypes", Const(None))
    if not s.is_static(otypes):
        raise s.refuse(
            "vectorize",
            "np.vectorize with otypes that only the run knows cannot be followed",
            "write them as constants: `otypes=[float]`",
        )
    return vectorized(s, settings["pyfunc"], s.static(otypes))


def vectorized(s: Specialiser, fn: Value, otypes: Any) -> Value:
    """The function of arrays, as a value that is called."""
    if otypes is not None and len(otypes) != 1:
        raise s.refuse(
            "vectorize", "np.vectorize of a function with several results cannot be followed", "call it once for each"
        )
    return PartialV(
        Const(call_vectorized), (fn, Const(None) if otypes is None else spelled(s, np.dtype(otypes[0]))), {}
    )


def call_vectorized(fn: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    """The key of the calls of a vectorized function."""
    return np.vectorize(fn, [dtype])(*args, **kwargs)


@handles(call_vectorized)
def loop(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn, dtype, *given = args
    if kwargs or not given:
        raise s.refuse(
            "vectorize",
            "a vectorized function called with keywords cannot be followed",
            "give its arguments by position",
        )
    arrays = [numpy_call(s, np.asarray if len(given) == 1 else np.array, [v], {}) for v in given]
    if len(arrays) > 1:  # copies, for views of several arrays cannot be followed where one of them is written later
        arrays = items_of(s, numpy_call(s, np.broadcast_arrays, arrays, {}), None)
    flat = [numpy_call(s, np.ravel, [array], {}) for array in arrays]
    if dtype == Const(None):
        size = ir.attribute(s.expr(arrays[0]), "size")
        message = "cannot call `vectorize` on size 0 inputs unless `otypes` is set"
        raise_if(s, gast.Compare(size, [gast.Eq()], [ir.constant(0)]), ValueError, message)
        dtype = type_of_first(s, fn, flat)
    columns = TupleV(tuple(call_value(s, Bound("tolist", line), [], {}) for line in flat))
    return call_python(s, models.of_all, [fn, columns, dtype, attribute_of(s, arrays[0], "shape")], {})


def of_parts(s: Specialiser, fn: Value, signature: str) -> Value:
    """A function of vectors and matrices, one for each index of the axes before those of its signature."""
    before, results = signature.replace(" ", "").split("->")
    groups = re.findall(r"\(([^()]*)\)", before)
    if len(re.findall(r"\(", results)) != 1:
        raise s.refuse(
            "vectorize", "np.vectorize of a function with several results cannot be followed", "call it once for each"
        )
    ranks = tuple(len([name for name in group.split(",") if name]) for group in groups)
    return PartialV(Const(call_with_signature), (fn, Const(ranks)), {})


def call_with_signature(fn: Any, ranks: Any, *args: Any, **kwargs: Any) -> Any:
    """The key of the calls of a function that was vectorized with a signature."""
    raise NotImplementedError


@handles(call_with_signature)
def loop_over_parts(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn, ranks, *given = args
    arrays = [numpy_call(s, np.array, [v], {}) for v in given]
    known = [s.num(array) for array in arrays]
    wanted = s.static(ranks)
    if (
        kwargs
        or len(given) != len(wanted)
        or any(f is None or f.ndim is None or f.ndim < n for f, n in zip(known, wanted))
    ):
        raise s.refuse(
            "vectorize",
            "a function that was vectorized with a signature is called with other arguments",
            "give it arrays of known rank by position",
        )
    if all(f is not None and f.ndim == n for f, n in zip(known, wanted)):
        return numpy_call(s, np.asarray, [call_value(s, fn, list(arrays), {})], {})
    return call_python(s, models.of_all_parts, [fn, TupleV(tuple(arrays)), ranks], {})


def type_of_first(s: Specialiser, fn: Value, flat: list[Value]) -> Value:
    """The type of the first result, checked where only the run tells whether that is it."""
    first = call_value(s, fn, [get_item(s, line, Const(0)) for line in flat], {})
    facts = s.num(first)
    if facts is None or facts.dtype is None or facts.dims != ():
        raise s.refuse(
            "vectorize", "which type the results of np.vectorize have is known only at run time", "give it otypes"
        )
    dtype = spelled(s, facts.dtype)
    if facts.kind is None:
        call_python(s, models.check_type, [first, dtype], {})
    return dtype


def spelled(s: Specialiser, dtype: np.dtype[Any]) -> Const:
    """A dtype as one would write it."""
    return Const(dtype, ir.attribute(s.bind("np", np), dtype.type.__name__))


def of_object(s: Specialiser, made: np.vectorize) -> Value:
    """A vectorized function that was made outside the program."""
    if made.signature is not None and not made.excluded and not made.cache:
        return of_parts(s, Const(made.pyfunc), made.signature)
    if made.excluded or made.cache:
        raise s.refuse("vectorize", "np.vectorize with more than a function and otypes cannot be followed")
    return vectorized(s, Const(made.pyfunc), made.otypes)


MADE[np.vectorize] = of_object


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
