"""A value that is given to several places is written once.

::

    t = 0.1 * x
    saved_t[k] = t                 ->      t = saved_t[k] = 0.1 * x

    captured["best"] = v
    best = v                       ->      captured["best"] = best = v

    d_y = np.zeros_like(y)
    t = 2.0 * x[1]
    d_z = d_y                      ->      d_y = d_z = np.zeros_like(y)

Of one line of the user's, where an item is among the places: what only gets names stands side by side. The value is
computed first, and the places get it from left to right, as before.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.text_width import COLUMNS, columns_of
from ..emit import line_of
from .tuple_assignments import blocks

MOST = 3  # targets of one assignment
NEAR = 4  # statements among which what has a second name is looked for


def chain_assignments(block: list[Any], indent: int = 1) -> None:
    """Rewrite a block of the emitted function and the blocks inside it, in place."""
    kept: list[Any] = []
    for stmt in block:
        for inner in blocks(stmt):
            chain_assignments(inner, indent + 1)
        made = maker_of(stmt, kept)
        if kept and is_given_on(kept[-1], stmt, COLUMNS - 4 * indent):
            kept[-1].targets.append(stmt.targets[0])
        elif made is not None:
            made.targets.append(stmt.targets[0])
        else:
            kept.append(stmt)
    block[:] = kept


def is_given_on(first: Any, stmt: Any, columns: int) -> bool:
    """Whether a statement assigns to one more place what the one before it has assigned."""
    if not is_simple(first) or not is_simple(stmt) or len(stmt.targets) > 1 or len(first.targets) >= MOST:
        return False
    if getattr(stmt, "comment", None) or line_of(stmt) not in (None, line_of(first)):
        return False
    names = [target.id for target in first.targets if isinstance(target, gast.Name)]
    places = [*first.targets, *stmt.targets]
    if len(names) == len(first.targets) and isinstance(stmt.targets[0], gast.Name):
        return False
    if not isinstance(stmt.value, (gast.Name, gast.Constant)):
        return False
    given = isinstance(stmt.value, gast.Name) and stmt.value.id in names
    if not given and gast.dump(stmt.value) != gast.dump(first.value):
        return False
    return sum(columns_of(place) + 3 for place in places) + columns_of(first.value) <= columns


def maker_of(stmt: Any, before: list[Any]) -> Any:
    """The statement that makes a cotangent to which another gives a second name, if nobody reads either until then."""
    if not is_simple(stmt) or not isinstance(stmt.value, gast.Name) or not stmt.value.id.startswith("d_"):
        return None
    second = getattr(stmt.targets[0], "id", None)
    for first in reversed(before[-NEAR:]):
        if not is_simple(first) or second is None or getattr(stmt, "comment", None):
            return None
        names = [getattr(target, "id", None) for target in first.targets]
        if stmt.value.id in names:
            alone = all(names) and len(names) < MOST and isinstance(first.value, gast.Call)
            return first if alone and second not in ir.names_in(first) else None
        if {second, stmt.value.id} & {*ir.names_in(first)}:
            return None
    return None


def is_simple(stmt: Any) -> bool:
    """Whether a statement assigns to names and items."""
    return isinstance(stmt, gast.Assign) and all(isinstance(t, (gast.Name, gast.Subscript)) for t in stmt.targets)
