"""Why the emitted program keeps, computes again or puts back what it does: notes beside its statements.

``adjoint_source(fn, ..., explain=True)`` asks for them.  A stage that decides something leaves a note at the statement
that does it; a statement that becomes part of another hands its notes on; they are printed above what is left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...errors import Origin
from .. import ir

if TYPE_CHECKING:
    from ..ir.function import Function


def note(s: Function, stmt: Any, text: str) -> None:
    """Say something of a statement, where explanations are asked for."""
    if s.notes is not None and text not in s.notes.setdefault(stmt, []):
        s.notes[stmt].append(text)


def hand_on(s: Function, old: Any, new: Any) -> None:
    """Let a statement have the notes of one that becomes part of it."""
    for text in (s.notes or {}).get(old, []):
        note(s, new, text)


def places(statements: Iterable[Any]) -> str:
    """The user's lines that statements of the reverse sweep reverse, in words."""
    origins = {stmt.origin for stmt in statements if getattr(stmt, "origin", None) is not None}
    found = [place_of(o) for o in sorted(origins, key=lambda o: (o.file, o.line))]
    return "the reverse of " + " and ".join(dict.fromkeys(found)) if found else "the reverse sweep"


def readers(s: Function, reverse: ir.Block) -> dict[str, list[Any]]:
    """The statements of the reverse sweep that read each variable, where explanations are asked for."""
    found: dict[str, list[Any]] = {}
    for stmt in ir.walk(reverse) if s.notes is not None else []:
        for name in ir.reads(stmt):
            found.setdefault(name, []).append(stmt)
    return found


def explain_kept(s: Function, forward: ir.Block, read: dict[str, list[Any]]) -> None:
    """Say of the straight-line part of the forward sweep what stays alive, and for what."""
    for stmt in forward if s.notes is not None else []:
        if isinstance(stmt, ir.Let):
            for name in [t for t in stmt.targets if t in read]:
                note(s, stmt, f"kept: {places(read[name])} reads {s.hints[name]}")


def place_of(origin: Origin) -> str:
    """The file and the line of a place, as ``model.py:14``."""
    file = re.sub(r" \(\d+\)>$", ">", os.path.basename(origin.file))
    return f"{file}:{origin.line}"
