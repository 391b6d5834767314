"""Structured arrays that a program makes, as their fields.

::

    s = np.zeros(n, dtype=[("x", float), ("v", float, 2)])
    s["v"] = w

    block = np.zeros((n, 3))            `s["x"]` is block[:, 0], `s["v"]` is block[:, 1:3]
    block[:, 1:3] = w

The fields of floats are columns of one array, so that they lie in memory as they do in NumPy's; each other field is an
array of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....runtime.records import Records, is_place
from ...domain.facts import Opaque
from ...domain.request import Way
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ..arrays.emit_op import array_of_list, numpy_call
from ..kernel.handlers import handles, otherwise
from ..kernel.operations import get_item, set_item
from ..kernel.specialiser import Specialiser
from ..library.introspection import dict_of
from ..objects.objects import construct
from ..world.class_guards import observe
from .vectorize import spelled

ALL = Const(slice(None))


def structured(s: Specialiser, value: Value | None) -> Any:
    """The dtype that a value names if that has fields, else None."""
    outside = next((e for e in s.externals.values() if isinstance(value, Leaf) and e.name == value.name), None)
    if outside is not None and s.facts_of(value) == Opaque(np.dtypes.VoidDType):
        given = observe(s, outside.read)
    elif value is not None and s.is_static(value):
        given = s.static(value)
    else:
        return None
    if not isinstance(given, (list, np.dtype)):
        return None
    dtype = np.dtype(given)
    return dtype if dtype.names else None


def refusal(s: Specialiser, what: str) -> Exception:
    return s.refuse("numpy-form", f"a structured array {what} cannot be followed", "use one array for each field")


def filled(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """``np.zeros(n, dtype=[("x", float), ("v", float, 2)])``."""
    named = dict(zip(("shape", "dtype"), args)) | kwargs
    dtype = structured(s, named.get("dtype"))
    if dtype is None or not s.attempt.takes(Way.FIELDS):
        return None
    shape = named.pop("shape")
    if isinstance(shape, Const) and isinstance(shape.value, tuple):
        shape = TupleV(tuple(map(Const, shape.value)))
    if isinstance(shape, TupleV) and len(shape.items) == 1:
        shape = shape.items[0]
    if isinstance(shape, (TupleV, ListV)) or len(named) > 1:
        raise refusal(s, "of several axes")
    return records(s, fn, shape, dtype)


def records(s: Specialiser, fn: Any, length: Value, dtype: Any) -> Value:
    """A structured array of `length` elements whose fields `fn` makes."""
    parts = {name: (*(field.subdtype or (field, ())), start) for name, (field, start, *_) in dtype.fields.items()}
    floats = {kind for kind, _, _ in parts.values() if kind.kind in "fc"}
    if len(floats) > 1 or any(kind.names or len(shape) > 1 for kind, shape, _ in parts.values()):
        raise refusal(s, "with fields of several precisions, of several axes, or that have fields themselves")
    block: Any = None
    if floats:
        (kind,) = floats
        if any(offset % kind.itemsize for offset in (dtype.itemsize, *(p[2] for p in parts.values() if p[0] == kind))):
            raise refusal(s, "whose numbers are not aligned")
        block = made(s, fn, [length, Const(dtype.itemsize // kind.itemsize)], kind)
    columns = {}
    for name, (kind, shape, offset) in parts.items():
        if kind not in floats:
            columns[name] = made(s, fn, [length, *map(Const, shape)], kind)
            continue
        first = offset // kind.itemsize
        column = Const(slice(first, first + shape[0])) if shape else Const(first)
        columns[name] = get_item(s, block, TupleV((ALL, column)))
    return construct(s, Records, [dict_of(s, columns), Const(dtype)], {})


def made(s: Specialiser, fn: Any, lengths: list[Value], kind: Any) -> Value:
    shape = TupleV(tuple(lengths)) if len(lengths) > 1 else lengths[0]
    return numpy_call(s, fn, [shape] if kind == np.float64 else [shape, spelled(s, kind)], {})


def of_items(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """``np.array([(x, y), ...], dtype=[("a", float), ("b", float)])``."""
    named = dict(zip(("object", "dtype"), args)) | kwargs
    dtype = structured(s, named.get("dtype"))
    if dtype is None or s.is_static(named["object"]) or not s.attempt.takes(Way.FIELDS):
        return None
    items = named["object"]
    if not isinstance(items, ListV) or not all(isinstance(i, TupleV) for i in items.items) or len(named) > 2:
        raise refusal(s, "made of what is no list of tuples")
    made = records(s, np.zeros, Const(len(items.items)), dtype)
    for k, name in enumerate(dtype.names):
        column = array_of_list(s, ListV(tuple(item.items[k] for item in items.items)))
        set_item(s, get_item(s, made, Const(name)), Const(Ellipsis), column)
    return made


for _fn in (np.zeros, np.empty):
    otherwise(_fn)(partial(filled, _fn))
otherwise(np.array)(of_items)


@handles(is_place)
def is_number(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    facts = s.num(args[0])
    if s.is_static(args[0]):
        return Const(isinstance(s.static(args[0]), (int, np.integer)))
    return Const(facts is not None and facts.dims == ())
