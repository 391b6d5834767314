"""Stores of items in groups: swaps, unpacking, and stores that change nothing.

``rows[i], rows[j] = rows[j], rows[i]`` of lists in a list: two items change places, and so do their cotangents.

Item by item, a list would for a moment be in two places.

An item that is stored where it was read: the container holds it already, so the assignment changes nothing.

``v = values[k]; v += step; values[k] = v`` of arrays changes the array in place and leaves the list as it is.  Without
the assignment, the item has one place in the list's shadow from its reading to its last use.
"""

from __future__ import annotations

import operator
from typing import Any

import gast

from ... import ir
from ...analysis.alias import reachable, roots_of, write_move, written_arguments, written_by
from ...domain.dummies import is_short
from ...domain.facts import Listed, Num
from ...domain.values import Const, Leaf, Value
from ..arrays.emit_op import KEPT_GENERATOR
from ..kernel.handlers import evaluate
from ..kernel.operations import as_list, get_item
from ..kernel.slice_lengths import display_length
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import raise_if

__all__ = ["is_put_back"]

CALM = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context)


def swapped(s: Specialiser, node: Any) -> bool:
    """Write an assignment as a swap, if it is one of lists in a list that lives in a variable."""
    places = places_of(node)
    if places is None:
        return False

    base = evaluate(s, places[0])
    facts = s.facts[base.name] if isinstance(base, Leaf) else None
    if not isinstance(base, Leaf) or not isinstance(facts, Listed) or facts.is_tuple is not False:
        return False
    if not isinstance(s.elements_of(facts), Listed):
        return False
    if facts.roots & s.lazy:
        raise s.refuse("kept-generator", KEPT_GENERATOR)
    i, j = evaluate(s, places[1]), evaluate(s, places[2])
    write_move(s, "swap", base, i, j)
    return True


def places_of(node: Any) -> tuple[Any, Any, Any] | None:
    """The list and the two places of a swap; None for another assignment."""
    if len(node.targets) != 1 or not isinstance(node.targets[0], gast.Tuple) or not isinstance(node.value, gast.Tuple):
        return None
    parts = [*node.targets[0].elts, *node.value.elts]
    if len(parts) != 4 or not all(isinstance(p, gast.Subscript) and isinstance(p.value, gast.Name) for p in parts):
        return None
    a, b, c, d = parts
    if len({p.value.id for p in parts}) > 1 or text(a.slice) != text(d.slice) or text(b.slice) != text(c.slice):
        return None
    calm = all(isinstance(inner, CALM) for place in (a, b) for inner in gast.walk(place.slice))
    return (d.value, a.slice, b.slice) if calm else None


def text(expr: Any) -> str:
    return str(gast.dump(expr))


def is_counted(s: Specialiser, value: Value) -> bool:
    """True for a list or an array whose length is known only at run time, and for a range of very many items."""
    if isinstance(value, Const):
        return not is_short(value.value)
    facts = s.facts_of(value)
    if isinstance(facts, Listed):
        return display_length(s, facts) is None
    if isinstance(value, Leaf) and isinstance(facts, Num) and facts.dims:
        return not isinstance(facts.dims[0], int)
    return False


def is_too_short(s: Specialiser, value: Value, count: int) -> bool:
    """True if a list has fewer items than are unpacked, which only a run can tell to be an error."""
    known = display_length(s, s.facts_of(value))
    return known is not None and known < count


def items_around(s: Specialiser, value: Value, first: int, last: int) -> list[Value]:
    """The parts of ``a, *middle, b = value``: items from the front, the list in the middle, items from the end."""
    assert isinstance(value, Leaf)
    length = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(value.name))
    if first + last:
        test = gast.Compare(length, [gast.Lt()], [ir.constant(first + last)])
        raise_if(s, test, ValueError, f"not enough values to unpack (expected at least {first + last})")
    front = [get_item(s, value, Const(k)) for k in range(first)]
    middle = as_list(s, get_item(s, value, Const(slice(first, -last if last else None))))
    return [*front, middle, *(get_item(s, value, Const(k - last)) for k in range(last))]


def is_put_back(s: Specialiser, base: Leaf, index: Value, value: Value) -> bool:
    """True if a container surely holds an array at an index already, since it was read there in this block."""
    if not isinstance(value, Leaf) or not is_array(s, value):
        return False
    place = next((k for k in range(len(s.block) - 1, -1, -1) if reads(s.block[k], value, base, index)), None)
    if place is None:
        return False
    own = roots_of(s.facts[base.name])
    return not any(own & changed(s, stmt) for stmt in ir.walk(s.block[place + 1 :]))


def is_array(s: Specialiser, value: Leaf) -> bool:
    """True for an array, which is changed in place and whose reading returns the object that is stored."""
    facts = s.facts[value.name]
    return isinstance(facts, Num) and facts.kind == "array" and bool(facts.roots)


def reads(stmt: Any, value: Leaf, base: Leaf, index: Value) -> bool:
    """True for the statement that reads `value` as ``base[index]``."""
    if not isinstance(stmt, ir.Let) or stmt.targets != (value.name,) or stmt.op is None:
        return False
    return stmt.op.fn is operator.getitem and stmt.op.arguments == {"x": base, "index": index}


def changed(s: Specialiser, stmt: Any) -> set[int] | frozenset[int]:
    """The roots of the memory that a statement may change; a call may change all that its arguments lead to."""
    if (base := written_by(stmt)) is not None:
        return roots_of(s.facts[base])
    return frozenset().union(*(reachable(s, s.facts[n]) for n in written_arguments(stmt).values()))
