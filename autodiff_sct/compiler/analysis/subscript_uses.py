"""Subscripts: uses of arrays by items, lengths or as a whole, and the overlap of slices.

Overlap of slices: the parts of an array that a subscript takes, as far as its text tells.

A bound names the same place in whatever subscript of one array it stands, so ``[:n]`` and ``[n:2 * n]`` never meet,
and ``[:-2]`` and ``[-2:]`` make the whole.  Nothing is assumed of lengths but that they are not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import gast
import numpy as np

from .. import ir
from ..domain.facts import INT, Facts, Listed, Num
from ..ir.function import Function
from ..ir.patterns import subscript_parts

FLOAT64 = np.dtype(np.float64)
LIKE = {"zeros_like": 0.0, "ones_like": 1.0, "full_like": None}  # what they fill an array with


@dataclass(frozen=True)
class Use:
    """A place where an array is touched: `how` is "item", "length", "shape" or "whole"."""

    name: str
    how: str
    index: tuple[Any, ...] = ()
    around: tuple[Any, ...] = ()  # the loops and branches that it is in
    writes: bool = False


def uses(s: Function, stmt: Any, arrays: set[str], around: tuple[Any, ...] = ()) -> Iterator[Use]:
    """The uses of some arrays in a statement and in the blocks inside it."""
    inside = (*around, stmt)
    repeated = inside if isinstance(stmt, ir.Loop) and stmt.kind == "while" else around
    if isinstance(stmt, ir.Store) and stmt.base in arrays:
        index = place_index(s, stmt.base, stmt.index)
        yield Use(stmt.base, "whole" if index is None else "item", index or (), around, True)
    for expr in ir.expressions(stmt):
        if not arrays.isdisjoint(ir.variables_in(expr)):
            yield from uses_in(s, expr, arrays, repeated)
    for name in passed_on(stmt):
        if name in arrays:
            yield Use(name, "whole")
    for block in ir.bodies(stmt):
        for inner in block:
            yield from uses(s, inner, arrays, inside)


def settled(program: ir.Block) -> set[str]:
    """The variables that are one value from a statement at the top of a program on: none that a loop changes."""
    result: set[str] = set()
    for stmt in program:
        result |= {c.out for c in stmt.carries} if isinstance(stmt, ir.Loop) else set(ir.ir_targets(stmt))
    return result


def passed_on(stmt: Any) -> list[str]:
    """The variables that meet others at a branch or a loop, or that a call reaches."""
    if isinstance(stmt, ir.If):
        return [n for m in stmt.merges for n in (m.then, m.orelse) if n]
    if isinstance(stmt, ir.Loop):
        return [n for c in stmt.carries for n in (c.init, c.next) if n]
    return list(getattr(stmt, "state_reads", ()))


def uses_in(s: Function, expr: Any, arrays: set[str], around: tuple[Any, ...]) -> Iterator[Use]:
    if isinstance(expr, gast.Name):
        if expr.id in arrays:
            yield Use(expr.id, "whole", (), around)
        return
    index = item_of(s, expr, arrays)
    if index is not None:
        yield Use(expr.value.id, "item", index, around)
        parts = list(index)
    elif (asked := asked_of(s, expr)) is not None and asked[0] in arrays:
        yield Use(*asked, (), around)
        parts = ir.children(expr)[2:] if isinstance(expr, gast.Call) else []
    else:
        parts = ir.children(expr)
    for part in parts:
        yield from uses_in(s, part, arrays, around)


def asked_of(s: Function, expr: Any) -> tuple[str, str] | None:
    """The array of which an expression asks for something else than its content, and what."""
    if (
        isinstance(expr, gast.Attribute)
        and isinstance(expr.value, gast.Name)
        and expr.attr in ("shape", "size", "ndim")
    ):
        return expr.value.id, "shape"
    if not isinstance(expr, gast.Call) or not expr.args or not isinstance(expr.args[0], gast.Name):
        return None
    if isinstance(expr.func, gast.Name) and expr.func.id == "len":
        return expr.args[0].id, "length"
    return (expr.args[0].id, "shape") if module_function(s, expr, np) in LIKE else None


def module_function(s: Function, expr: Any, module: ModuleType) -> str | None:
    """The name of the function of a module that is called."""
    func = getattr(expr, "func", None)
    if isinstance(func, gast.Attribute) and s.globals.get(getattr(func.value, "id", "")) is module:
        return str(func.attr)
    return None


def item_of(s: Function, expr: Any, arrays: Any) -> tuple[Any, ...] | None:
    """The indices of an expression that reads one item of one of some arrays."""
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name) or expr.value.id not in arrays:
        return None
    return place_index(s, expr.value.id, expr.slice)


def item_index(s: Function, array: str, index: Any) -> tuple[Any, ...] | None:
    """The indices of one item of an array, None where a subscript is something else."""
    facts = s.facts[array]
    parts = tuple(index.elts) if isinstance(index, gast.Tuple) else (index,)
    right = isinstance(facts, Num) and facts.ndim == len(parts) and all(is_integer(s, part) for part in parts)
    return parts if right else None


def place_index(s: Function, array: str, index: Any) -> tuple[Any, ...] | None:
    """The same where items of other arrays may tell the item, as in ``q[parent[i]]``."""
    facts = s.facts[array]
    parts = tuple(index.elts) if isinstance(index, gast.Tuple) else (index,)
    right = isinstance(facts, Num) and facts.ndim == len(parts) and all(is_place(s, part) for part in parts)
    return parts if right else None


def is_integer(s: Function, expr: Any) -> bool:
    """True if an expression is surely an integer number."""
    if isinstance(expr, gast.Constant):
        return type(expr.value) is int
    if isinstance(expr, gast.Name):
        return is_integer_fact(s.facts.get(expr.id))
    if isinstance(expr, gast.UnaryOp):
        return isinstance(expr.op, gast.USub) and is_integer(s, expr.operand)
    if isinstance(expr, gast.BinOp):
        whole = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)
        return isinstance(expr.op, whole) and is_integer(s, expr.left) and is_integer(s, expr.right)
    return isinstance(expr, gast.Call) and getattr(expr.func, "id", "") in ("len", "int")


def is_place(s: Function, expr: Any) -> bool:
    """True if an expression is surely an integer number, or an item of an array or list of such, or a sum with one."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Add, gast.Sub)):
        return is_place(s, expr.left) and is_place(s, expr.right)
    return is_integer(s, expr) or is_item_of_integers(s, expr)


def is_item_of_integers(s: Function, expr: Any) -> bool:
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
        return False
    facts = s.facts.get(expr.value.id)
    if isinstance(facts, Listed):
        return s.elements_of(facts) == INT and is_place(s, expr.slice)
    whole = isinstance(facts, Num) and facts.kind == "array" and facts.dtype is not None and facts.dtype.kind in "iu"
    return whole and place_index(s, expr.value.id, expr.slice) is not None


def is_integer_fact(facts: Facts | None) -> bool:
    return (
        isinstance(facts, Num)
        and facts.kind in ("int", "npscalar")
        and facts.dtype is not None
        and facts.dtype.kind in "iu"
    )


def is_place_array(facts: Facts | None) -> bool:
    """True if facts are those of a plain array of int64, which may hold the places of items of others."""
    return (
        isinstance(facts, Num)
        and facts.kind == "array"
        and facts.dtype == INT.dtype
        and facts.ndim in (1, 2)
        and bool(facts.roots)
        and not facts.tensor
    )


def is_float_array(facts: Facts | None) -> bool:
    """True if facts are those of a plain array of float64 with one axis or two, made at a known place."""
    return (
        isinstance(facts, Num)
        and facts.kind == "array"
        and facts.dtype is not None  # which is equal to float64 for NumPy
        and facts.dtype == FLOAT64
        and facts.ndim in (1, 2)
        and bool(facts.roots)
        and not facts.tensor
    )


def leaves(expr: Any) -> list[Any]:
    """The leaves of nested lists that are written out."""
    return [leaf for item in expr.elts for leaf in leaves(item)] if isinstance(expr, gast.List) else [expr]


def written_out(s: Function, index: Any) -> Any:
    """A subscript in which temporaries that hold whole numbers are what was computed for them."""
    found = {n: s.definitions.get(n) for n in ir.names_in(index) if n not in s.named}
    made = {n: e for n, e in found.items() if e is not None and s.facts[n] == INT and isinstance(e, gast.BinOp)}
    return written_out(s, ir.substitute(index, made)) if made else index


def is_basic(s: Function, index: Any) -> bool:
    """True if a subscript takes axes apart one by one: slices without steps, and whole numbers."""
    return all(is_slice(part) or is_whole_number(s, part) for part in subscript_parts(index))


def is_slice(part: Any) -> bool:
    return isinstance(part, gast.Slice) and part.step is None


def is_whole_number(s: Function, part: Any) -> bool:
    if literal(part) is not None:
        return True
    facts = s.facts.get(getattr(part, "id", ""))
    return isinstance(facts, Num) and facts.kind == "int"


def literal(expr: Any) -> int | None:
    """The whole number that an expression is."""
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
        value = literal(expr.operand)
        return None if value is None else -value
    value = getattr(expr, "value", None)
    return value if isinstance(expr, gast.Constant) and type(value) is int else None


def are_disjoint(s: Function, a: Any, b: Any) -> bool:
    """True if two basic subscripts of one array surely take nothing in common."""
    return any(
        are_apart(s, x, y) for x, y in zip(subscript_parts(written_out(s, a)), subscript_parts(written_out(s, b)))
    )


def are_apart(s: Function, x: Any, y: Any) -> bool:
    if isinstance(x, gast.Slice) and isinstance(y, gast.Slice):
        return ends_before(s, x, y) or ends_before(s, y, x)
    p, q = literal(x), literal(y)
    return p is not None and q is not None and p != q and (p < 0) == (q < 0)


def ends_before(s: Function, x: Any, y: Any) -> bool:
    """True if one slice ends where another begins, or before."""
    if x.upper is None or y.lower is None:
        return False
    if gast.dump(x.upper) == gast.dump(y.lower):
        return True
    p, q = literal(x.upper), literal(y.lower)
    if p is not None and q is not None:
        return p <= q and (p < 0) == (q < 0)
    return is_multiple(s, x.upper, y.lower)


def is_multiple(s: Function, x: Any, y: Any) -> bool:
    """True if two bounds are multiples of one length, the first not the larger one."""
    (a, name), (b, other) = multiple(s, x), multiple(s, y)
    return name is not None and name == other and 0 <= a <= b


def multiple(s: Function, expr: Any) -> tuple[int, str | None]:
    """A length and how often a bound takes it."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult):
        for factor, rest in ((expr.left, expr.right), (expr.right, expr.left)):
            if (count := literal(factor)) is not None:
                times, name = multiple(s, rest)
                return count * times, name
    name = getattr(expr, "id", "")
    return 1, name if is_length(s.definitions.get(name)) else None


def is_length(expr: Any) -> bool:
    """True if an expression is the length of something, which is never negative."""
    if isinstance(expr, gast.Subscript):
        return isinstance(expr.value, gast.Attribute) and expr.value.attr == "shape"
    return isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len"


def cover(s: Function, indices: list[Any]) -> bool:
    """True if slices along one axis, each from where another ends, make up the whole."""
    chains = [subscript_parts(written_out(s, index)) for index in indices]
    if not chains[0]:
        return len(chains) == 1  # ``[()]`` is the whole itself
    axis = next((k for k, part in enumerate(chains[0]) if not is_full(part)), 0)
    if any(len(c) != len(chains[0]) or not all(is_full(p) for k, p in enumerate(c) if k != axis) for c in chains):
        return False
    slices = [c[axis] for c in chains]
    if not all(isinstance(part, gast.Slice) for part in slices):
        return False
    after = {part.lower and gast.dump(part.lower): part.upper and gast.dump(part.upper) for part in slices}
    place = after.pop(None, "")
    while place in after:
        place = after.pop(place)
    return place is None and not after


def is_full(part: Any) -> bool:
    return isinstance(part, gast.Slice) and part.lower is None and part.upper is None and part.step is None


def rest_of(index: Any) -> list[Any] | None:
    """The part of the first axis that a slice leaves out; None where that is more than two ends."""
    if not isinstance(index, gast.Slice) or not is_slice(index):
        return None
    lower, upper = literal(index.lower), literal(index.upper)
    if (index.lower is not None and lower is None) or (index.upper is not None and upper is None):
        return None
    if lower is not None and lower < 0 or upper is not None and upper >= 0:
        return None
    ends = []
    if lower:
        ends.append(gast.Slice(None, ir.constant(lower), None))
    if upper is not None:
        ends.append(gast.Slice(ir.constant(upper), None, None))
    return ends
