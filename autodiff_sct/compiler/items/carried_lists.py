"""An array that a loop carries, and whose items each step takes as a list and leaves as a list, is a list throughout.

::

    for _ in range(steps):                 u_items = u.tolist()
        u_items = u.tolist()               for _ in range(steps):
        new = [0.0] * n             ->         new = [0.0] * n
        for i in range(1, n - 1):              for i in range(1, n - 1):
            new[i] = k * u_items[i - 1]            new[i] = k * u_items[i - 1]
        u = np.array(new)                      u_items = new
                                           u = np.array(u_items)

Each step makes the list that it leaves and touches it by items only, so that nobody but the next step holds it.  The
step may write into the list that it has been given, unless it saves that: it was made for it.  Where it takes the items
twice, what it writes into is a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from .. import ir
from ..facts import FLOAT, Listed
from ..optimise import is_method
from ..specialise.state import Specialiser
from ..substitution import substitute_own
from .item_uses import is_float_array, module_function


def carry_lists(s: Specialiser, program: ir.Block, block: ir.Block) -> bool:
    """Rewrite the loops of a block of a program and of the blocks inside it; whether there was one."""
    changed = False
    for stmt in list(block):
        for inner in ir.adjoint_bodies(stmt):
            changed = carry_lists(s, program, inner) or changed
        if isinstance(stmt, ir.Loop) and stmt.every is None and stmt.rerun is None and not stmt.again:
            for carry in list(stmt.carries):
                found = lists_of(s, stmt, carry)
                if found is not None:
                    as_list(s, program, block, stmt, carry, *found)
                    changed = True
    return changed


def lists_of(s: Specialiser, loop: ir.Loop, carry: ir.Carry) -> tuple[list[ir.Let], ir.Let] | None:
    """The statements of a loop that take the items of what it carries, and the one that makes an array of a list."""
    facts = s.facts.get(carry.phi)
    if carry.init is None or carry.next is None or not is_float_array(facts) or facts.ndim != 1:  # type: ignore[union-attr]
        return None
    inside = ir.walk([loop])
    taken = [x for x in loop.body if is_items_of(x, carry.phi)]
    made = next((x for x in loop.body if isinstance(x, ir.Let) and x.targets == (carry.next,)), None)
    old = None if made is None else listed_in(s, made.expr)
    new = next((x for x in loop.body if isinstance(x, ir.Let) and x.targets == (old,)), None)
    if not taken or made is None or new is None or not is_new_list(new):
        return None
    if any(old in ir.reads_inside(x) for x in loop.body[loop.body.index(made) + 1 :]):
        return None
    used = [n for stmt in inside for n in ir.uses(stmt)]
    lengths = sum(1 for stmt in inside for node in nodes_of(stmt) if is_length(node, carry.phi))
    if used.count(carry.phi) != len(taken) + lengths or used.count(carry.next) != 1:
        return None
    names = [x.target for x in taken]
    saved = {n for x in inside if is_save(x) for n in ir.uses(x)}
    if saved & {x.base for x in inside if isinstance(x, ir.Store)}:
        return None
    return (taken, made) if all(is_touched_by_items(inside, name, made) for name in (new.target, *names)) else None


def is_items_of(stmt: Any, name: str) -> bool:
    """Whether a statement makes a list of the items of an array."""
    call = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 else None
    return is_method(call, "tolist") and getattr(call.func.value, "id", "") == name  # type: ignore[union-attr]


def is_new_list(stmt: ir.Let) -> bool:
    return not stmt.effect and (isinstance(stmt.expr, gast.BinOp) or is_method(stmt.expr, "tolist"))


def listed_in(s: Specialiser, expr: Any) -> str | None:
    """The list of which an expression makes an array."""
    if module_function(s, expr, np) != "array" or len(expr.args) != 1 or expr.keywords:
        return None
    return expr.args[0].id if isinstance(expr.args[0], gast.Name) else None


def is_save(stmt: Any) -> bool:
    return isinstance(stmt, ir.Effect) and stmt.kind == "save"


def is_touched_by_items(statements: list[Any], name: str, made: ir.Let | None = None) -> bool:
    """Whether statements that save nothing read and write but items of a list; `made` may make an array of it."""
    for stmt in statements:
        if stmt is made or is_save(stmt) or name not in ir.uses(stmt):
            continue
        whole = sum(ir.names_in(expr).count(name) for expr in ir.expressions(stmt))
        items = sum(1 for node in nodes_of(stmt) if is_item(node, name))
        base = isinstance(stmt, ir.Store) and stmt.base == name and not isinstance(stmt.index, gast.Slice)
        if items != whole or ir.uses(stmt).count(name) != whole + base:
            return False
    return True


def nodes_of(stmt: Any) -> Iterator[Any]:
    return (node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr))


def is_item(node: Any, name: str) -> bool:
    """Whether an expression is an item of a list, or its length."""
    if isinstance(node, gast.Subscript):
        return getattr(node.value, "id", "") == name and not isinstance(node.slice, gast.Slice)
    return is_length(node, name)


def is_length(node: Any, name: str) -> bool:
    called = isinstance(node, gast.Call) and getattr(node.func, "id", "") == "len"
    return called and getattr(node.args[0], "id", "") == name


def as_list(
    s: Specialiser,
    program: ir.Block,
    block: ir.Block,
    loop: ir.Loop,
    carry: ir.Carry,
    taken: list[ir.Let],
    made: ir.Let,
) -> None:
    """Let a loop of a block carry a list."""
    stores = {x.base for x in ir.walk([loop]) if isinstance(x, ir.Store)}
    copied = [x for x in taken if x.target in stores and len(taken) > 1]  # the others hold what there was before
    same = [x for x in taken if x not in copied]
    hint = s.hints[(same or taken)[0].target]
    facts = Listed(frozenset([s.root(("carried", carry.phi))]))
    s.put_element(facts, FLOAT)
    init, phi, out = (s.fresh(hint, facts) for _ in range(3))
    s.named |= {init, phi, out}
    loop.body[:] = [x for x in loop.body if x not in same and x is not made]
    for stmt in copied:
        stmt.expr = ir.call(ir.attribute(ir.name(phi), "copy"))
    for stmt in ir.walk([loop]):
        substitute_own(stmt, {name: ir.name(phi) for name in (carry.phi, *(x.target for x in same))})
    place = block.index(loop)
    block.insert(place, ir.Let((init,), ir.call(ir.attribute(ir.name(str(carry.init)), "tolist"))))
    if any(carry.out in ir.uses(stmt) for stmt in ir.walk(program)):
        again = ir.call(ir.attribute(s.bind("numpy", np), "array"), ir.name(out))
        block.insert(place + 2, ir.Let((carry.out,), again))
    left = str(listed_in(s, made.expr))
    changed = any(left in x.targets for x in same)  # the list of this step, in place
    loop.carries[loop.carries.index(carry)] = ir.Carry(phi, init, phi if changed else left, out)
