"""A list that a loop only fills is a comprehension.

::

    items = []
    for v in x:                    ->      items = [np.sin(v) for v in x if v > 0]
        if v > 0:
            items.append(np.sin(v))

Where nobody reads the loop's variable after it: a comprehension keeps it to itself.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ... import ir
from ...analysis.text_width import COLUMNS, columns_of
from .assignments import blocks
from .breaks import loops

WIDE = COLUMNS + 16  # columns of a comprehension, which takes the place of several lines


def recover_comprehensions(*bodies: list[Any]) -> None:
    """Rewrite the loops in the blocks that make the body of an emitted function, in place."""
    if not any(is_filling(loop) for body in bodies for _, loop in loops(body)):
        return
    reads = loads([*bodies])
    private = Counter[str]()  # reads of a name inside loops that assign it
    for _, loop in [each for body in bodies for each in loops(body)]:
        if isinstance(loop, gast.For):
            read = loads(loop.body)
            for name in targets_of(loop):
                private[name] += read[name]
    own = {name for name, count in private.items() if count == reads[name]}
    for place, body in enumerate(bodies):
        in_block(body, own, 1, [x for later in bodies[place + 1 :] for x in later])


def is_filling(loop: Any) -> bool:
    """True if a loop does nothing but add to a list, as far as its shape tells."""
    inner = loop.body
    while len(inner) == 1 and isinstance(inner[0], gast.If):
        inner = inner[0].body
    return isinstance(loop, gast.For) and len(inner) == 1 and isinstance(inner[0], gast.Expr)


def loads(tree: Any) -> Counter[str]:
    """The number of reads of each name."""
    return Counter(n.id for n in ir.nodes(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Store))


def in_block(block: list[Any], own: set[str], indent: int, after: list[Any]) -> None:
    """Rewrite a block, at whose end the function goes on with `after`, if that is known."""
    for stmt in list(block):
        for inner in blocks(stmt):
            in_block(inner, own, indent + 1, [])
        if not isinstance(stmt, gast.For) or (made := filled(stmt, WIDE - 4 * indent)) is None:
            continue
        place = block.index(stmt)
        begin = beginning(block[:place], made.targets[0].id)
        rest = [*block[place + 1 :], *after]
        unread = all(n in own or (after and not is_read(n, rest)) for n in targets_of(stmt))
        if begin is not None and unread:
            made.read_once, made.temporary = getattr(begin, "reads", 0) == 2, getattr(begin, "temporary", False)
            made.effect = False
            block[place] = made
            block.remove(begin)


def targets_of(loop: Any) -> list[str]:
    """The names that a loop assigns in each iteration."""
    return [n.id for n in ir.nodes(loop.target) if isinstance(n, gast.Name)]


def is_read(name: str, block: list[Any]) -> bool:
    """True if statements may read the value that a name has before them."""
    for stmt in block:
        inner = [*blocks(stmt)]
        if name in loads([getattr(stmt, part, None) for part in ("iter", "test")] if inner else stmt):
            return True
        if inner and not is_assigned(name, stmt) and any(is_read(name, x) for x in inner):
            return True
        if not inner and is_assigned(name, stmt):
            return False
    return False


def is_assigned(name: str, stmt: Any) -> bool:
    """True if a statement gives a name a value: a loop, at the start of its body."""
    targets = [stmt.target] if isinstance(stmt, gast.For) else getattr(stmt, "targets", [])
    return any(isinstance(n, gast.Name) and n.id == name for n in ir.nodes([*targets]))


def filled(loop: Any, columns: int) -> Any:
    """The comprehension that a loop comes to, assigned to its list, or nothing."""
    inner, tests = loop.body, []
    if len(inner) == 1 and isinstance(inner[0], gast.If) and not inner[0].orelse:
        tests, inner = [inner[0].test], inner[0].body
    call = inner[0].value if len(inner) == 1 and isinstance(inner[0], gast.Expr) else None
    if not isinstance(call, gast.Call):
        return None
    if not isinstance(call.func, gast.Attribute) or call.func.attr != "append":
        return None
    made, item = call.func.value, call.args[0]
    if not isinstance(made, gast.Name) or made.id in ir.names_in([item, loop.iter, *tests]):
        return None
    width = sum(columns_of(x) for x in (item, loop.target, loop.iter)) + sum(columns_of(x) + 4 for x in tests)
    if len(made.id) + 14 + width > columns:
        return None
    every: Any = gast.ListComp(item, [gast.comprehension(loop.target, loop.iter, tests, 0)])
    if not tests and isinstance(item, gast.Name) and item.id == getattr(loop.target, "id", None):
        every = ir.call("list", loop.iter)
    result = gast.Assign([gast.Name(made.id, gast.Store(), None, None)], every, None)
    for attribute in ("origin", "comment", "sweep"):
        if hasattr(inner[0], attribute):
            setattr(result, attribute, getattr(inner[0], attribute))
    return result


def beginning(before: list[Any], name: str) -> Any:
    """The statement that makes a list, before anybody else sees it."""
    for stmt in reversed(before):
        names = [n.id for n in ir.nodes(stmt) if isinstance(n, gast.Name)]
        if name in names:
            is_new = isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.List) and not stmt.value.elts
            return stmt if is_new and names == [name] else None
    return None
