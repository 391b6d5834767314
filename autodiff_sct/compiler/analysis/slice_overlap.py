"""Overlap of slices: the parts of an array that a subscript takes, as far as its text tells.

A bound names the same place in whatever subscript of one array it stands, so ``[:n]`` and ``[n:2 * n]`` never meet,
and ``[:-2]`` and ``[-2:]`` make the whole.  Nothing is assumed of lengths but that they are not negative.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..domain.facts import INT, Num
from ..ir.builder import Specialiser
from ..ir.patterns import subscript_parts


def written_out(s: Specialiser, index: Any) -> Any:
    """A subscript in which temporaries that hold whole numbers are what was computed for them."""
    found = {n: s.definitions.get(n) for n in ir.names_in(index) if n not in s.named}
    made = {n: e for n, e in found.items() if e is not None and s.facts[n] == INT and isinstance(e, gast.BinOp)}
    return written_out(s, ir.substitute(index, made)) if made else index


def is_basic(s: Specialiser, index: Any) -> bool:
    """True if a subscript takes axes apart one by one: slices without steps, and whole numbers."""
    return all(is_slice(part) or is_whole_number(s, part) for part in subscript_parts(index))


def is_slice(part: Any) -> bool:
    return isinstance(part, gast.Slice) and part.step is None


def is_whole_number(s: Specialiser, part: Any) -> bool:
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


def are_disjoint(s: Specialiser, a: Any, b: Any) -> bool:
    """True if two basic subscripts of one array surely take nothing in common."""
    return any(
        are_apart(s, x, y) for x, y in zip(subscript_parts(written_out(s, a)), subscript_parts(written_out(s, b)))
    )


def are_apart(s: Specialiser, x: Any, y: Any) -> bool:
    if isinstance(x, gast.Slice) and isinstance(y, gast.Slice):
        return ends_before(s, x, y) or ends_before(s, y, x)
    p, q = literal(x), literal(y)
    return p is not None and q is not None and p != q and (p < 0) == (q < 0)


def ends_before(s: Specialiser, x: Any, y: Any) -> bool:
    """True if one slice ends where another begins, or before."""
    if x.upper is None or y.lower is None:
        return False
    if gast.dump(x.upper) == gast.dump(y.lower):
        return True
    p, q = literal(x.upper), literal(y.lower)
    if p is not None and q is not None:
        return p <= q and (p < 0) == (q < 0)
    return is_multiple(s, x.upper, y.lower)


def is_multiple(s: Specialiser, x: Any, y: Any) -> bool:
    """True if two bounds are multiples of one length, the first not the larger one."""
    (a, name), (b, other) = multiple(s, x), multiple(s, y)
    return name is not None and name == other and 0 <= a <= b


def multiple(s: Specialiser, expr: Any) -> tuple[int, str | None]:
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


def cover(s: Specialiser, indices: list[Any]) -> bool:
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
