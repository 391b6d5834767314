"""A loop that takes back what each step of another has saved goes over it from the end.

::

    for _ in range(n):                     for x in reversed(saved_x):
        x = saved_x.pop()            ->        d_x = d_x * np.cos(x)
        d_x = d_x * np.cos(x)

Each step of the one saves once, and each of the other takes once: they are as many.  What has been taken is kept until
the end, so that where the loop itself makes a list, it is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ... import ir
from ...ir.patterns import is_method, is_pop_call
from .assignments import blocks
from .breaks import loops

LOOPS = (gast.For, gast.While)


def recover_reversed(body: list[Any], tail: list[Any]) -> None:
    """Rewrite the loops of the reverse sweep of an emitted function, in place."""
    for loop in outermost(tail):
        taken = next((stmt for stmt in loop.body if is_taking(stmt)), None)
        if taken is not None and counts_only(loop) and not is_method_called("append", loop.body):
            name = taken.value.func.value.id
            if is_new_before(loop, taken) and is_saved_once(body, loop, name) and is_alone(body, tail, loop, name):
                loop.target, loop.iter = taken.targets[0], ir.call("reversed", ir.name(name))
                loop.body.remove(taken)
                if getattr(taken, "comment", None):
                    loop.comment = "\n".join(filter(None, [getattr(loop, "comment", None), taken.comment]))


def outermost(block: list[Any]) -> Iterator[Any]:
    """The loops of a block that are inside no other."""
    for stmt in block:
        if isinstance(stmt, LOOPS):
            yield stmt
        else:
            for inner in blocks(stmt):
                yield from outermost(inner)


def counts_only(loop: Any) -> bool:
    """True if a loop makes a number of steps, none of which asks which it is."""
    return isinstance(loop, gast.For) and getattr(loop.target, "id", "") == "_" and len(loop.body) > 1


def is_taking(stmt: Any) -> bool:
    """True if a statement gives names to what it takes from the end of a list."""
    if not isinstance(stmt, gast.Assign) or not is_pop_call(stmt.value) or stmt.value.args:
        return False
    parts = getattr(stmt.targets[0], "elts", stmt.targets[:1])
    return isinstance(stmt.value.func.value, gast.Name) and all(isinstance(part, gast.Name) for part in parts)


def is_method_called(name: str, block: list[Any]) -> bool:
    return any(is_method(node, name) for node in ir.nodes(block))


def is_new_before(loop: Any, taken: Any) -> bool:
    """True if no statement of a step has the names that another gives before that."""
    given = {n.id for n in ir.nodes(taken.targets) if isinstance(n, gast.Name)}
    return given.isdisjoint(ir.names_in(loop.body[: loop.body.index(taken)]))


def is_saved_once(body: list[Any], loop: Any, name: str) -> bool:
    """True if a loop of the forward sweep saves once in each step, and makes as many steps as another."""
    every = gast.dump(loop.iter) == gast.dump(ir.call("range", ir.call("len", ir.name(name))))
    for each in outermost(body):
        if any(is_saving(stmt, name) for stmt in each.body):
            return every or (isinstance(each, gast.For) and not leaves(each))
    return False


def is_saving(stmt: Any, name: str) -> bool:
    call: Any = stmt.value if isinstance(stmt, gast.Expr) else None
    return is_method(call, "append") and getattr(call.func.value, "id", None) == name


def leaves(loop: Any) -> bool:
    """True if a loop may be left, or a step ended, before all is done."""
    inner = {id(node) for _, other in loops(loop.body) for node in ir.nodes(other.body)}
    ends = [n for n in ir.nodes(loop.body) if isinstance(n, (gast.Break, gast.Continue)) and id(n) not in inner]
    return bool(ends)


def is_alone(body: list[Any], tail: list[Any], loop: Any, name: str) -> bool:
    """True if a list is made empty, and then only added to once, taken from once, and counted for the loop."""
    begins = [stmt for stmt in body if isinstance(stmt, gast.Assign) and name in ir.names_in(stmt.targets)]
    if len(begins) != 1 or not is_empty(begins[0], name):
        return False
    counted = ir.names_in(loop.iter).count(name)
    return ir.names_in([*body, *tail]).count(name) == 3 + counted


def is_empty(stmt: Any, name: str) -> bool:
    """True if a statement makes a list without items."""
    target, value = stmt.targets[0], stmt.value
    if isinstance(target, gast.Tuple):
        places = [k for k, part in enumerate(target.elts) if getattr(part, "id", None) == name]
        value = value.elts[places[0]] if isinstance(value, gast.Tuple) and places else None
    return isinstance(value, gast.List) and not value.elts
