"""Which path of a ``try`` was taken is said once, where the program says it, too.

::

    try:                                   try:
        v = x[i]                               v = x[i]
        path = 0                               took_path = 0
        took_path = 0              ->      except IndexError:
    except IndexError:                         took_path = 1
        path = 1                           if took_path == 1:
        took_path = 1                          ...
    if path == 1:
        ...

The statements of a ``finally`` or ``else`` and those that clean up after a ``with`` are reached by numbers of the same
kind as the reverse sweep's: 0 for the body, and one for each handler.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...ir.builder import Specialiser
from ...ir.rewrite import substitute_own


def one_path(s: Specialiser, program: ir.Block) -> None:
    """Rewrite a program of both sweeps, in place."""
    attempts = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Try) and stmt.took]
    if not attempts:
        return
    constants = {x.target: x.expr for x in ir.walk(program) if isinstance(x, ir.Let) and is_number(x.expr)}
    found = {target: stmt.took for stmt in attempts for target, sources in stmt.merges if is_path(sources, constants)}
    passed_on = {n for stmt in ir.walk(program) for n in ir.uses(stmt)[len(ir.reads(stmt)) :]}
    names = {n: ir.name(new) for n, new in found.items() if n not in passed_on}  # others are variables of their own
    if not names:
        return
    for stmt in attempts:
        stmt.merges = [merge for merge in stmt.merges if merge[0] not in names]
    for stmt in ir.walk(program):
        substitute_own(stmt, names)


def is_number(expr: Any) -> bool:
    return isinstance(expr, gast.Constant) and type(expr.value) is int


def is_path(sources: list[str | None], constants: dict[str, Any]) -> bool:
    """Whether a name is the number of the path."""
    return all(n in constants and constants[n].value == k for k, n in enumerate(sources))
