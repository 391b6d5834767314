"""Arguments of NumPy's and SciPy's functions as arrays: the lists, tuples and objects that these read as such.

Rules ask the arguments that they have entries for about their shapes, and the cotangent of a list is that of its items.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from ....rules.table import TABLE
from ...analysis.missing_rules import with_entries
from ...domain.facts import Listed, Num, Pair
from ...domain.values import ListV, Obj, TupleV, Value
from ...ir.builder import Specialiser
from ..arrays.emit_op import array_of_list, numpy_call
from ..containers.iterators import Cursor
from ..containers.sources import Source
from ..kernel.operations import as_list, attribute_of, call_value
from ..world.class_guards import found_in

# Functions whose rules take a list item by item.
OF_LISTS = frozenset(
    [np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.concatenate, np.stack, np.vstack, np.hstack]
    + [np.dstack, np.column_stack, np.block, np.select, np.choose, np.einsum, np.linalg.multi_dot]
)
# Parameters without an entry that rules ask for their shapes.
WITHOUT_ENTRY: dict[Any, str] = {np.polyfit: "w", np.bincount: "x", np.select: "default"}
# Where functions of several arrays have the list of them, whose items may be lists that NumPy reads as arrays.
OF_PARTS: dict[Any, int] = {
    **dict.fromkeys([np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack], 0),
    np.linalg.multi_dot: 0,
    np.select: 1,
    np.choose: 1,
}
OF_SECTIONS = {"sos"}  # a parameter of SciPy's filters without an entry
COEFFICIENTS = {"b", "a"}  # of the filters of scipy.signal, where a number is a polynomial of degree 0
PAIRS = {"lu_and_piv", "c_and_lower", "c_or_cr"}  # parameters of SciPy that are given a tuple of arrays

# Functions whose rules ask what they are given for its type and its axes, so that a Python number is made an array.
OF_NUMBERS = frozenset(
    [np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, np.ptp, np.median, np.nanmedian]
    + [np.quantile, np.nanquantile, np.percentile, np.nanpercentile]
)


Arguments = tuple[list[Value], dict[str, Value]]


def with_arrays(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Arguments:
    """The arguments of a call, with arrays for what the function reads as arrays."""
    args = [as_operand(s, a) for a in args]
    if isinstance(fn, np.ufunc):
        return [array_of_list(s, a) for a in args], kwargs
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        operands = len(args) if fn.__name__ == "outer" else 1  # what follows them are axes and places
        return [*(array_of_list(s, a) for a in args[:operands]), *args[operands:]], kwargs
    if fn is np.einsum and s.is_static(args[0]) and isinstance(s.static(args[0]), str):
        return [args[0], *(array_of_list(s, a) for a in args[1:])], kwargs
    at = OF_PARTS.get(fn, len(args))
    if at < len(args):
        args[at] = with_parts(s, args[at])
    if fn in OF_NUMBERS and args and (facts := s.num(args[0])) is not None and facts.python:
        args[0] = numpy_call(s, np.asarray, [args[0]], {})
    wanted = read_as_arrays(fn)
    if not wanted or not any(holds_floats(s, s.facts[n]) for a in (*args, *kwargs.values()) for n in s.leaves(a)):
        return args, kwargs
    names = [p.name for p in TABLE[fn].signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    by_position = [*names, *names[-1:] * (len(args) - len(names))]
    args = [as_array(s, fn, name, a) if name in wanted else a for name, a in zip(by_position, args)]
    return args, {k: as_array(s, fn, k, v) if k in wanted else v for k, v in kwargs.items()}


def read_as_arrays(fn: Any) -> frozenset[str]:
    """Parameters of a function of NumPy or SciPy that its rule reads as arrays."""
    known = frozenset(WITHOUT_ENTRY.get(fn, "").split())
    if fn not in TABLE or fn in OF_LISTS or not is_of_arrays(fn):
        return known
    return known | with_entries(fn) | OF_SECTIONS


def is_of_arrays(fn: Any) -> bool:
    """True for functions of NumPy and SciPy, and those that stand for functions of SciPy in the program."""
    parts = (getattr(fn, "__module__", None) or "numpy").split(".")
    return parts[0] in ("numpy", "scipy") or "scipy" in parts


def as_array(s: Specialiser, fn: Any, name: str, value: Value) -> Value:
    if name in COEFFICIENTS and fn.__module__.startswith("scipy.signal") and getattr(s.num(value), "python", False):
        value = ListV((value,), s.site())
    return with_parts(s, value) if name in PAIRS and isinstance(value, TupleV) else array_of_list(s, value)


def with_parts(s: Specialiser, value: Value) -> Value:
    """A list or tuple of arrays, with arrays for its items that are lists."""
    if not isinstance(value, (ListV, TupleV)):
        return value
    parts = tuple(array_of_list(s, part) for part in value.items)
    return ListV(parts, value.site) if isinstance(value, ListV) else TupleV(parts)


def as_operand(s: Specialiser, value: Value) -> Value:
    """The array that an object says it is, by its ``__array__``; the list that an iterator goes through."""
    if isinstance(value, Obj) and isinstance(found_in(s, value.cls, "__array__"), FunctionType):
        return call_value(s, attribute_of(s, value, "__array__"), [], {})
    if isinstance(value, Source) or isinstance(value, Obj) and value.cls is Cursor:
        return as_list(s, value)
    return value


def holds_floats(s: Specialiser, facts: Any) -> bool:
    """True if something is, or holds, numbers through which derivatives may pass."""
    if isinstance(facts, Num):
        return facts.differentiable
    if isinstance(facts, Pair):
        return any(holds_floats(s, item) for item in facts.items)
    return isinstance(facts, Listed) and holds_floats(s, s.elements_of(facts))
