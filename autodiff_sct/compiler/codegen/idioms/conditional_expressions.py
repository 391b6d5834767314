"""A branch that only chooses a value is a conditional expression.

::

    if saved.pop() > 0.5:
        d_v = d_total * 2.0        ->      d_v = d_total * 2.0 if saved.pop() > 0.5 else 0.0
    else:
        d_v = 0.0

Where the branches stand for two lines of the user's they stay: each has its own line above it. So does what follows
an ``elif``.
"""

from __future__ import annotations

from typing import Any

import gast

from ...analysis.text_width import COLUMNS, columns_of
from ..emit import line_of
from .tuple_assignments import blocks


def recover_conditionals(body: list[Any], indent: int = 1) -> None:
    """Rewrite the branches in the body of an emitted function, in place."""
    for place, stmt in enumerate(body):
        chain = isinstance(stmt, gast.If) and len(stmt.orelse) == 1 and isinstance(stmt.orelse[0], gast.If)
        for inner in blocks(stmt):
            if not (chain and inner is stmt.orelse):
                recover_conditionals(inner, indent + 1)
        if isinstance(stmt, gast.If) and not chain and (chosen := choice(stmt, COLUMNS - 4 * indent)):
            body[place] = chosen


def choice(stmt: Any, columns: int) -> Any:
    """The one assignment that a branch comes to, or nothing."""
    then, orelse = assigned(stmt.body), assigned(stmt.orelse)
    if then is None or orelse is None or then.targets[0].id != orelse.targets[0].id:
        return None
    target, origins = then.targets[0], {line_of(x) for x in (then, orelse)} - {None}
    width = len(target.id) + 14 + sum(columns_of(x) for x in (then.value, stmt.test, orelse.value))
    if len(origins) > 1 or width > columns:
        return None
    result = gast.Assign([target], gast.IfExp(stmt.test, then.value, orelse.value), None)
    comments = [x.comment for x in (stmt, then, orelse) if getattr(x, "comment", None)]
    if comments:
        result.comment = "\n".join(dict.fromkeys(comments))
    result.origin = getattr(then if line_of(then) else orelse, "origin", None) or getattr(stmt, "origin", None)
    result.forward = getattr(stmt, "forward", False)
    if getattr(stmt, "chosen", None) == target.id:
        result.read_once, result.temporary, result.effect = True, True, False
    return result


def assigned(block: list[Any]) -> Any:
    """The assignment to a name that a block consists of; flags are set where they are decided."""
    if len(block) != 1 or not isinstance(block[0], gast.Assign) or not isinstance(block[0].targets[0], gast.Name):
        return None
    value = block[0].value
    is_flag = isinstance(value, gast.Constant) and isinstance(value.value, bool)
    return None if is_flag or isinstance(value, gast.IfExp) else block[0]
