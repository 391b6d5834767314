"""A loop that reads items by its counter goes over them.

::

    for i in range(len(A)):                for row in A:
        row = A[i]                 ->          total = total + np.sum(row)
        total = total + np.sum(row)

    n = min(len(x), len(w))                for i, (v, k) in enumerate(zip(x, w)):
    for i in range(n):                         total = total + v * k * i
        v, k = x[i], w[i]          ->
        total = total + v * k * i

    for t in pairs:                        for a, b in pairs:
        a, b = t                   ->          ...
        ...

Of the forward sweep.  What is gone over is an array, or a list that the loop does not change in length: the compiler's
own, or one that no method is called on.  The items are read where an iteration begins, before anything else runs.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import Listed, Num
from ..optimise import count_uses, is_method
from ..specialise.state import Specialiser


def iterate(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the loops of the forward sweep, in place."""
    statements = ir.walk(front)
    loops = [x for x in statements if isinstance(x, ir.Loop) and x.kind == "range" and len(x.bounds) == 1]
    if not loops:
        return
    uses: dict[str, int] = {}  # once they are asked for
    lists = {stmt.target: stmt.expr.func.value.id for stmt in statements if is_list_of(stmt)}
    counts = {x.target: x.expr for x in statements if isinstance(x, ir.Let) and lengths_of(x.expr)}
    for loop in loops:
        bound = loop.bounds[0]
        lengths = lengths_of(counts.get(bound.id) if isinstance(bound, gast.Name) else bound)
        found = items_of(s, loop, lengths, lists) if loop.index is not None else []
        if found and (len(lengths) == 1 or lengths == {lists.get(b, b) for b in map(base_of, found)}):
            uses = uses or count_uses([*front, *back])
            go_over(s, loop, found, uses.get(loop.index or "") == len(found))
            unpack_items(loop, uses)


def go_over(s: Specialiser, loop: ir.Loop, found: list[ir.Let], alone: bool) -> None:
    """Let a loop go over what its first statements read; `alone` if nothing else reads its counter."""
    over: Any = found[0].expr.value
    items: Any = ir.name(found[0].target)
    called = set()
    if len(found) > 1:
        called.add("zip")
        over, items = ir.call("zip", *(x.expr.value for x in found)), ir.tuple_([ir.name(x.target) for x in found])
    if not alone:
        called.add("enumerate")
        over, items = ir.call("enumerate", over), ir.tuple_([ir.name(str(loop.index)), items])
    if called & set(s.globals):
        return  # a function of the user's has that name
    loop.kind, loop.bounds = "iter", (over,)
    if alone:
        loop.index = found[0].target
    loop.items = items if isinstance(items, gast.Tuple) else None
    loop.body[:] = [x for x in loop.body if x not in found]


def unpack_items(loop: ir.Loop, uses: dict[str, int]) -> None:
    """Let a loop unpack its items in its head, where that is all that is done with them."""
    first = loop.body[0] if loop.body and loop.kind == "iter" else None
    if not isinstance(first, ir.Let) or len(first.targets) < 2 or not isinstance(first.expr, gast.Name):
        return
    item, whole = first.expr.id, ir.name(str(loop.index)) if loop.items is None else loop.items
    if uses.get(item) == 1 and item in ir.names_in(whole):
        loop.items = ir.substitute(whole, {item: ir.tuple_([ir.name(n) for n in first.targets])})
        loop.index = first.targets[0] if loop.index == item else loop.index
        loop.body.remove(first)


def items_of(s: Specialiser, loop: ir.Loop, lengths: set[str], lists: dict[str, str]) -> list[ir.Let]:
    """The statements at the beginning of a loop that read items by its counter, of what is as long as the loop."""
    found: list[ir.Let] = []
    own = ir.defined(loop.body) | {c.phi for c in loop.carries}
    for stmt in loop.body:
        if isinstance(stmt, ir.Effect) and stmt.kind == "save":
            continue
        if not is_item(stmt, str(loop.index)):
            break
        base = base_of(stmt)
        length = base if base in lengths else lists.get(base)
        if length not in lengths or base in own or not keeps_length(s, loop, base, length):
            break
        found.append(stmt)
    return found


def base_of(stmt: ir.Let) -> str:
    """What a statement reads an item of."""
    return str(stmt.expr.value.id)


def is_list_of(stmt: Any) -> bool:
    """Whether a statement makes a list of the items of an array."""
    call: Any = stmt.expr if isinstance(stmt, ir.Let) else None
    return is_method(call, "tolist") and isinstance(call.func.value, gast.Name)


def is_item(stmt: Any, index: str | None) -> bool:
    """Whether a statement reads the item that a counter stands at."""
    if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1:
        return False
    expr = stmt.expr
    is_read = isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name)
    return is_read and isinstance(expr.slice, gast.Name) and expr.slice.id == index


def lengths_of(bound: Any) -> set[str]:
    """The variables of whose lengths an expression is the smallest."""
    called = getattr(bound.func, "id", "") if isinstance(bound, gast.Call) else ""
    if called == "len" and isinstance(bound.args[0], gast.Name):
        return {bound.args[0].id}
    parts = [lengths_of(arg) for arg in bound.args] if called == "min" else []
    return set().union(*parts) if all(parts) else set()


def keeps_length(s: Specialiser, loop: ir.Loop, base: str, length: str) -> bool:
    """Whether what a loop goes over has the same items in number at its end."""
    facts = s.facts.get(length)
    if isinstance(facts, Num):
        return facts.kind == "array" and (base != length or facts.dims != ())
    if not isinstance(facts, Listed) or base != length:
        return False
    changes = (x for x in ir.walk(loop.body) if isinstance(x, (ir.Effect, ir.Let)))
    return not any(x.effect if isinstance(x, ir.Let) else may_change(s, x, facts) for x in changes)


def may_change(s: Specialiser, stmt: ir.Effect, facts: Listed) -> bool:
    """Whether a statement may change the length of a list."""
    if stmt.kind != "append" or not isinstance(stmt.expr, gast.Call):
        return stmt.kind != "save"
    other = getattr(stmt.expr.func, "value", None)
    grown = s.facts.get(other.id) if isinstance(other, gast.Name) else None
    return not isinstance(grown, Listed) or bool(grown.roots & facts.roots)
