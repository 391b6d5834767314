"""Zeros to which both sides of a branch add are made on each side, where what is added may take their place.

::

    d_y = np.zeros_like(y)                  if returned:
    if returned:                                d_y = 2 * d_out * y
        d_y += 2 * d_out * y        ->      else:
    else:                                       d_y = np.full_like(y, d_out)
        d_y += d_out
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..peephole import is_ellipsis, is_zero
from ..regions import roots_of
from ..specialise.state import Specialiser
from ..substitution import read_instead


def zeros_inside(s: Specialiser, block: ir.Block) -> set[str]:
    """Rewrite a block of the reverse sweep and the blocks inside it, in place; the variables that this makes."""
    made: set[str] = set()
    branches = [inner for stmt in block if isinstance(stmt, ir.If) for inner in ir.walk(stmt.then)]
    begun = {stmt.base for stmt in branches if isinstance(stmt, ir.Store) and is_ellipsis(stmt.index)}
    for zero in [stmt for stmt in block if is_like_variable(s, stmt) and stmt.target in begun]:
        branch = first_user(s, block[block.index(zero) + 1 :], zero.target)
        if isinstance(branch, ir.If) and is_begun(s, branch, zero.target):
            block.remove(zero)
            made |= begin_inside(s, zero, branch)
    for stmt in block:
        for body in ir.adjoint_bodies(stmt):
            made |= zeros_inside(s, body)
    return made


def is_like_variable(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement makes zeros in the shape of a variable."""
    return is_zero(s, stmt) and not stmt.expr.keywords and [type(arg) for arg in stmt.expr.args] == [gast.Name]


def first_user(s: Specialiser, block: ir.Block, name: str) -> Any:
    """The first statement that does something with a variable or its memory."""
    memory = roots_of(s.facts[name])
    return next((stmt for stmt in block if uses(s, stmt, name, memory)), None)


def uses(s: Specialiser, stmt: Any, name: str, memory: frozenset[int]) -> bool:
    return any(n == name or (n in s.facts and roots_of(s.facts[n]) & memory) for n in ir.reads_inside(stmt))


def is_begun(s: Specialiser, stmt: Any, name: str) -> bool:
    """Whether a statement begins with additions to all of an array, whichever way it goes."""
    if isinstance(stmt, ir.If):
        if name in ir.reads(stmt) or any(name in (m.then, m.orelse) for m in stmt.merges):
            return False
        return all(is_begun(s, first_user(s, side, name), name) for side in (stmt.then, stmt.orelse))
    whole = isinstance(stmt, ir.Store) and stmt.base == name and stmt.aug is gast.Add and is_ellipsis(stmt.index)
    return whole and not roots_of(s.facts[name]) & {
        root for n in ir.variables_in(stmt.value) for root in roots_of(s.facts[n])
    }


def begin_inside(s: Specialiser, zero: ir.Let, branch: ir.If) -> set[str]:
    """Make zeros on each side of a branch, which hands on what becomes of them."""
    sides = []
    for side in (branch.then, branch.orelse):
        own = s.fresh(s.hints[zero.target], s.facts[zero.target])
        for stmt in ir.walk(side):
            read_instead(stmt, {zero.target: own})
        side.insert(0, ir.Let((own,), zero.expr, None, zero.origin))
        sides.append(own)
    branch.merges.append(ir.Merge(zero.target, *sides))
    return set(sides)
