"""A loop is left where that is decided.

::

    stop = False                           while True:
    while True:                                if x > 3.0:
        if x > 3.0:                                break
            stop = True                ->      x = 2 * x
        else:
            x = 2 * x
        if stop:
            break

The flag is false when a body begins, and is set at the end of branches that end the body: nothing is left to do but the
count of bodies, which may as well be the first thing in them, after the test of the loop. In a ``try`` an exception may
leave between the two, so loops there stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ... import ir
from ...frontend.builders import negated
from .assignments import blocks


def recover_breaks(*bodies: list[Any]) -> None:
    """Rewrite the loops in the blocks that make the body of an emitted function, in place."""
    found = [(block, loop) for body in bodies for block, loop in loops(body) if flag_of(loop.body)]
    if not found:
        return
    counts = Occurrences([*bodies])
    for block, loop in found:
        flag = flag_of(loop.body)
        begin = None if flag is None else beginning(block[: block.index(loop)], flag)
        if begin is not None and flag is not None and in_loop(loop, flag, counts) and flag not in counts.read:
            block.remove(begin)


def loops(block: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """The loops in a block and inside it, each with the block that it stands in, the inner ones first."""
    for stmt in block:
        for inner in blocks(stmt):
            yield from loops(inner)
        if isinstance(stmt, (gast.For, gast.While)):
            yield block, stmt


class Occurrences:
    """The reads and assignments of each name of a function, counted."""

    def __init__(self, bodies: list[list[Any]]) -> None:
        self.read: dict[str, int] = {}
        self.assigned: dict[str, int] = {}
        for node in ir.nodes(bodies):
            if isinstance(node, gast.Name):
                table = self.assigned if isinstance(node.ctx, gast.Store) else self.read
                table[node.id] = table.get(node.id, 0) + 1


def flag_of(body: list[Any]) -> str | None:
    """The name that is tested at the end of a body to leave the loop."""
    last = body[-1]
    if not isinstance(last, gast.If) or last.orelse or not isinstance(last.test, gast.Name):
        return None
    return last.test.id if len(last.body) == 1 and isinstance(last.body[0], gast.Break) else None


def beginning(before: list[Any], flag: str) -> Any:
    """The statement that sets a flag to false for a loop, which nothing else sets in between."""
    for stmt in reversed(before):
        if is_set(stmt, flag, False):
            return stmt
        if flag in names_of(stmt):
            return None
    return None


def is_set(stmt: Any, flag: str, value: bool) -> bool:
    """True if a statement gives a flag a value."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name) or stmt.targets[0].id != flag:
        return False
    return isinstance(stmt.value, gast.Constant) and stmt.value.value is value


def in_loop(loop: Any, flag: str, counts: Occurrences) -> bool:
    """Rewrite the body of a loop, if all that sets its flag ends the body."""
    body = loop.body[:-1]
    count = body.pop() if body and getattr(body[-1], "is_trip", False) else None
    if count is not None and count.target.id in names_of(body):
        return False
    ends: list[tuple[list[Any], Any]] = []
    if not find_ends(body, flag, ends) or any(flag in names_of(x) for x in body if x is not body[-1]):
        return False
    counts.read[flag] -= 1
    if not counts.read[flag] and counts.assigned[flag] == len(ends) + 1:
        del counts.read[flag]
    for block, setting in ends:
        if flag not in counts.read:
            block.remove(setting)
        if setting.value.value is True:
            block.append(gast.Break())
    first = 1 + max((k for k, stmt in enumerate(body) if getattr(stmt, "is_test", False)), default=-1)
    loop.body = [*body[:first], *([] if count is None else [count]), *flat(body[first:])]
    return True


def find_ends(block: list[Any], flag: str, ends: list[tuple[list[Any], Any]]) -> bool:
    """Find where a flag is set, at the ends of a block; whether nothing else is done with it."""
    if not block:
        return True
    for stmt in block:
        if is_set(stmt, flag, True) or is_set(stmt, flag, False):
            ends.append((block, stmt))
            after = block[block.index(stmt) + 1 :]
            return not any(flag in names_of(x) for x in block if x is not stmt) and not any([*blocks(x)] for x in after)
    last = block[-1]
    if not isinstance(last, gast.If):
        return flag not in names_of(block)
    before = flag in names_of(block[:-1]) or flag in names_of(last.test)
    return not before and find_ends(last.body, flag, ends) and find_ends(last.orelse, flag, ends)


def flat(block: list[Any]) -> list[Any]:
    """A block in which nothing is nested below a branch that leaves."""
    if not block or not isinstance(block[-1], gast.If):
        return block
    *before, last = block
    last.body, last.orelse = flat(last.body), flat(last.orelse)
    if leaves(last.body):
        rest, last.orelse = last.orelse, []
    elif leaves(last.orelse):
        rest, last.test = last.body, negated(last.test)
        last.body, last.orelse = last.orelse, []
    else:
        last.body = last.body or [gast.Pass()]
        return block
    return [*before, last, *rest]


def leaves(block: list[Any]) -> bool:
    return bool(block) and isinstance(block[-1], gast.Break)


def names_of(tree: Any) -> set[str]:
    """The names that statements read or assign."""
    trees = tree if isinstance(tree, list) else [tree]
    return {node.id for each in trees for node in ir.nodes(each) if isinstance(node, gast.Name)}
