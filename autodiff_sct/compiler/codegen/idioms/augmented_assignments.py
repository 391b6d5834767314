"""Augmented assignment of numbers.

::

    d_x = d_x + d_t * y      ->      d_x += d_t * y

A number cannot be changed in place, so that both make a new one.  `codegen.emit` marks the statements that update one.
"""

from __future__ import annotations

from typing import Any

import gast

from .assignments import blocks, is_single

__all__ = ["augment"]


def augment(body: list[Any]) -> None:
    """Write updates of numbers as augmented assignments."""
    for k, stmt in enumerate(body):
        if is_update(stmt):
            body[k] = gast.AugAssign(stmt.targets[0], stmt.value.op, stmt.value.right)
            vars(body[k]).update({name: value for name, value in vars(stmt).items() if name not in stmt._fields})
        for inner in blocks(stmt):
            augment(inner)


def is_update(stmt: Any) -> bool:
    """True for ``x = x op y`` of a number."""
    if not is_single(stmt) or not getattr(stmt, "of_number", False) or not isinstance(stmt.value, gast.BinOp):
        return False
    return isinstance(stmt.value.left, gast.Name) and stmt.value.left.id == stmt.targets[0].id
