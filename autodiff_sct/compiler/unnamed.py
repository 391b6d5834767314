"""What is named only for the next statement is written there, where that saves, raises, enters, tells or changes it.

::

    old_row = row.copy()
    saved_old_row.append(old_row)      ->    saved_old_row.append(row.copy())

    result = ValueError("negative")
    raise result                       ->    raise ValueError("negative")

    text = f"{x:.2f}"
    print(text)                        ->    print(f"{x:.2f}")

    d_item = d_rows[k]
    d_item += d_t                      ->    d_rows[k] += d_t

Nothing runs between the two, so nothing is evaluated at another time.  Of lists and dicts of arrays,
``d_rows[k] += d_t`` adds to the array that is there and puts the same array back.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .explain import hand_on
from .facts import Listed, Mapped, Num
from .failing import fact
from .optimise import count_uses
from .side_by_side import columns_of
from .specialise.state import Specialiser

COLUMNS = 80


def without_names(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite both sweeps, in place."""
    uses = count_uses([*front, *back])
    for block in (front, back):
        inside(s, block, uses)


def inside(s: Specialiser, block: ir.Block, uses: dict[str, int]) -> None:
    """Rewrite a block and the blocks inside it."""
    for stmt, following in list(zip(block, block[1:])):
        if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and uses.get(stmt.target) == 1 and not stmt.state_reads:
            if not (stmt.saves or stmt.in_place) and is_written(s, stmt, following):
                hand_on(s, stmt, following)
                following.origin = following.origin or stmt.origin
                block.remove(stmt)
    for stmt in block:
        for inner in ir.bodies(stmt):
            inside(s, inner, uses)


def is_written(s: Specialiser, stmt: ir.Let, following: Any) -> bool:
    """Whether a value becomes part of the statement after it, which is changed then."""
    mapping = {stmt.target: stmt.expr}
    if isinstance(following, ir.Raise):
        raised = isinstance(following.node, gast.Raise) and getattr(following.node.exc, "id", None) == stmt.target
        if raised:
            following.node = ir.substitute(following.node, mapping)
        return raised
    if isinstance(following, ir.With):
        expr, name = following.items[0]
        entered = getattr(expr, "id", None) == stmt.target
        if entered:
            following.items[0] = (stmt.expr, name)
        return entered
    if is_told(stmt, following):
        following.expr = ir.substitute(following.expr, mapping)
        return True
    if stmt.effect:
        return False
    if isinstance(following, ir.Effect) and following.kind == "save" and stmt.target in ir.reads(following):
        together = ir.substitute(following.expr, mapping)
        if columns_of(together) > COLUMNS:
            return False
        following.expr = together
        return True
    return isinstance(following, ir.Store) and is_item(s, stmt, following)


def is_told(stmt: ir.Let, following: Any) -> bool:
    """Whether the first that a call in a statement evaluates is a variable."""
    call = following.expr if isinstance(following, (ir.Let, ir.Effect)) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name) or not call.args:
        return False
    return stmt.effect and getattr(call.args[0], "id", None) == stmt.target


def is_item(s: Specialiser, stmt: ir.Let, following: ir.Store) -> bool:
    """Whether a statement changes the array that an item of a list is, as the statement before it names it."""
    whole = isinstance(following.index, gast.Constant) and following.index.value is Ellipsis
    if not whole or following.aug is None or following.base != stmt.target:
        return False
    item, place = s.facts[stmt.target], stmt.expr
    if not isinstance(item, Num) or item.kind != "array" or not isinstance(place, gast.Subscript):
        return False
    if not isinstance(place.value, gast.Name) or not isinstance(fact(s, place.value), (Listed, Mapped)):
        return False
    following.base, following.index = place.value.id, place.slice
    return True
