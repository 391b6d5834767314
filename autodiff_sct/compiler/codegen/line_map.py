"""The line map of an emitted text: for each line the user's line behind it, its sweep, and the notes above it.

`inspection` and the notes on exceptions read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import gast

from ...errors import Origin
from .emit import comment_of

__all__ = ["AGAIN", "FORWARD", "REVERSE", "EmittedLine", "line_map", "mark_sweep"]

FORWARD, REVERSE, AGAIN = "forward", "reverse", "again"  # AGAIN: of the forward sweep, repeated in the reverse one


class EmittedLine(NamedTuple):
    """A line of an emitted text at which a statement begins.

    Attributes
    ----------
    origin : Origin or None
        The user's line that it computes or reverses.
    sweep : str
        `FORWARD`, `REVERSE` or `AGAIN`.
    notes : tuple of str
        What is saved, computed again or put back there, where explanations were asked for.
    """

    origin: Origin | None
    sweep: str
    notes: tuple[str, ...] = ()


def mark_sweep(nodes: Iterable[Any], sweep: str) -> None:
    """Mark statements as those of a sweep, but for those of the reverse one that run the forward one again."""
    for node in nodes:
        again = sweep == REVERSE and (getattr(node, "forward", False) or getattr(node, "repeats", False))
        node.sweep = AGAIN if again else sweep
        for block in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(inside := getattr(node, block, None), list):
                mark_sweep(inside, sweep)


def line_map(statements: Mapping[int, Any]) -> dict[int, EmittedLine]:
    """The lines of a printed text, given the statement that begins at each of them.

    A statement that a pass has made since they were marked stands in the sweep of the one before it.
    """
    found, sweep = {}, FORWARD
    for line, node in sorted(statements.items(), key=lambda item: item[0]):
        if not isinstance(node, gast.FunctionDef):
            sweep = getattr(node, "sweep", sweep)
            found[line] = EmittedLine(getattr(node, "origin", None), sweep, notes_of(node))
    return found


def notes_of(node: Any) -> tuple[str, ...]:
    """The comments above a statement, without that which names the user's line."""
    comment, origin = getattr(node, "comment", None), getattr(node, "origin", None)
    if not comment:
        return ()
    place = None if origin is None else comment_of(origin)
    return tuple(line for line in comment.splitlines() if line != place)
