"""Statements that only change the places of the items of a list: what they are, and what undoes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...runtime import objects
from .. import ir
from ..domain.values import Leaf, Value

if TYPE_CHECKING:
    from ..ir.builder import Specialiser

# By the kind of the effect: a function of the list and the other operands or a method of the list, and its inverse.
MOVES: dict[str, tuple[Callable[..., None] | str, Callable[..., None] | str]] = {
    "swap": (objects.swap, objects.swap),
    "reverse": ("reverse", "reverse"),
    "permute": (objects.permute, objects.permute_back),
}


def move(s: Specialiser, kind: str, items: Leaf, *operands: Value, back: bool = False) -> Any:
    """The call that moves the items of a list, or moves them back."""
    function = MOVES[kind][back]
    if isinstance(function, str):
        return ir.call(ir.attribute(s.expr(items), function))
    return ir.call(s.bind(function.__name__, function), s.expr(items), *map(s.expr, operands))


def write_move(s: Specialiser, kind: str, items: Leaf, *operands: Value) -> None:
    """Write a statement of the program that moves items."""
    s.block.append(ir.Effect(move(s, kind, items, *operands), s.where(), kind, (items, *operands)))
