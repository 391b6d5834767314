"""Of an array that is saved for its items, the list of them is saved.

::

    saved_u.append(u)                       u_items = u.tolist()
    u_items = u.tolist()                    saved_u_items.append(u_items)
    ...                            ->       ...
    u = saved_u.pop()                       u_items = saved_u_items.pop()
    u_items = u.tolist()

Nobody writes into either list, and of the array that comes back no more is read than its items and its length.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..regions import reachable
from ..specialise.state import Specialiser
from ..substitution import read_instead
from .carried_lists import is_items_of, is_length, is_touched_by_items, nodes_of
from .item_sites import written_names


def save_lists(s: Specialiser, program: ir.Block) -> bool:
    """Rewrite a program in place; whether there was such an array."""
    statements = ir.walk(program)
    saves: dict[str, list[Any]] = {}  # list of saved values -> what puts them there and takes them out
    for stmt in statements:
        name = saved_in(stmt)
        if name is not None:
            saves.setdefault(name, []).append(stmt)
    changed = False
    for name, users in saves.items():
        others = sum(name in ir.uses(stmt) for stmt in statements)
        if name in s.in_rows or len(users) != 2 or others != 2:
            continue
        if isinstance(users[0], ir.Effect) and isinstance(users[1], ir.Let):
            changed = save_list(s, program, statements, *users) or changed
    return changed


def saved_in(stmt: Any) -> str | None:
    """The list of saved values that a statement adds to, or takes from."""
    call = stmt.expr if isinstance(stmt, (ir.Effect, ir.Let)) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return None
    of = getattr(call.func.value, "id", None)
    if isinstance(stmt, ir.Effect) and stmt.kind == "save" and call.func.attr == "append":
        return of
    return of if isinstance(stmt, ir.Let) and stmt.effect and call.func.attr == "pop" and not call.args else None


def save_list(s: Specialiser, program: ir.Block, statements: list[Any], put: ir.Effect, got: ir.Let) -> bool:
    """Save the list of an array's items, where that is as good as the array."""
    array, back = getattr(put.expr.args[0], "id", ""), got.target
    block = next(block for block in ir.blocks(program) if put in block)
    taken = next((stmt for stmt in block if is_items_of(stmt, array)), None)
    again = [stmt for stmt in statements if is_items_of(stmt, back)]
    if taken is None or not again or not stays(s, block, put, taken):
        return False
    lengths = sum(1 for stmt in statements for node in nodes_of(stmt) if is_length(node, back))
    used = sum(ir.uses(stmt).count(back) for stmt in statements)
    lists = {taken.target, *(stmt.target for stmt in again)}
    if used != len(again) + lengths or lists & {n for stmt in statements for n in written_names(stmt)}:
        return False
    if not all(is_touched_by_items(statements, name) for name in lists):
        return False
    hint, facts = s.hints[taken.target], s.facts[taken.target]
    items = s.fresh(hint, facts)
    s.named.add(items)
    put.expr = ir.call(put.expr.func, ir.name(taken.target))
    got.targets = (items,)
    saved = str(saved_in(got))
    s.hints[saved] = f"saved_{hint}"
    s.elements |= dict.fromkeys(s.facts[saved].roots, facts)
    block.remove(put)
    block.insert(block.index(taken) + 1, put)
    drop(program, again)
    for stmt in statements:
        read_instead(stmt, dict.fromkeys((back, *(x.target for x in again)), items))
    return True


def stays(s: Specialiser, block: ir.Block, put: ir.Effect, taken: ir.Let) -> bool:
    """Whether nobody writes into an array between the statement that saves it and the one that takes its items."""
    first, last = sorted((block.index(put), block.index(taken)))
    memory = reachable(s, s.facts[put.expr.args[0].id])
    written = {n for stmt in block[first:last] for n in written_names(stmt)}
    return not any(n in s.facts and reachable(s, s.facts[n]) & memory for n in written)


def drop(block: ir.Block, dropped: list[ir.Let]) -> None:
    block[:] = [stmt for stmt in block if stmt not in dropped]
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            drop(inner, dropped)
