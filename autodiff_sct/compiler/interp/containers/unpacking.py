"""Unpacking of what is as long as only the run tells."""

from __future__ import annotations

import gast

from ... import ir
from ...domain.constant_folding import is_short
from ...domain.facts import Listed, Num
from ...domain.values import Const, Leaf, Value
from ...ir.builder import Specialiser
from ..kernel.operations import as_list, get_item
from ..kernel.raising import raise_if
from ..kernel.slice_lengths import display_length


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
