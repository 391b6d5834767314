"""What is written into a cotangent for the last time, and read by nobody.

::

    d_lap = d_v * c                         d_lap = d_v * c
    d_u[1:-1] += d_lap[1:-1]          ->    d_u[1:-1] += d_lap[1:-1]
    d_lap[1:-1] = 0.0

The reverse of ``lap[1:-1] = ...`` clears what it has taken.  Where the array was made in the same block and nothing
after the store reaches its memory, it is not worth clearing.  What was computed for such a store only is not computed.

::

    y[...] = old_y2                         d_y *= 0.5
    d_y *= 0.5                        ->    y[...] = old_y
    y[...] = old_y

What is overwritten as a whole before anybody reads it is not put back.

::

    d_t = d_y.copy()                  ->    d_t = d_y.copy()
    d_y[...] = 0.0
    d_y[...] += d_t

Of ``np.add(y, x, out=y)``, `y` gets back what it has given.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import reachable, roots_of
from ...analysis.liveness import count_uses
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import is_copy, is_ellipsis, is_zeroing, leaving_of
from .primal_reuse import is_creation


def eliminate_dead_stores(s: Specialiser, block: ir.Block, leaving: frozenset[str] = frozenset()) -> None:
    """Drop the last stores of a block of the reverse sweep and of the blocks inside it, in place.

    `leaving` are the variables that are read after the block.
    """
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            eliminate_dead_stores(s, inner, leaving_of(stmt, block) | leaving)
    if not any(isinstance(stmt, ir.Store) for stmt in block):
        return
    for copy in [stmt for stmt in block if is_copy(stmt)]:
        place = block.index(copy)
        if is_given_back(copy, block[place + 1 : place + 3]):
            del block[place + 1 : place + 3]
    made = made_in(block, leaving)
    later = {root for name in leaving for root in roots_of(s.facts[name])}
    covered: set[int] = set()  # what is overwritten as a whole before anything else happens to it
    read, unread = set(leaving), set[str]()  # by what stays, and by what goes
    kept: ir.Block = []
    for k in range(len(block) - 1, -1, -1):
        stmt = block[k]
        if is_dead(s, stmt, made, later) or is_covered(s, stmt, covered) or is_for_nothing(stmt, unread - read):
            unread.update(ir.reads(stmt))
            continue
        kept.append(stmt)
        read.update(ir.reads_inside(stmt))
        here = reached(s, stmt)
        later |= here
        covered = covered - here | (roots_of(s.facts[stmt.base]) if is_overwriting(s, stmt, block[:k]) else set())
    block[:] = reversed(kept)


def is_given_back(copy: Any, following: ir.Block) -> bool:
    """Whether an array that is copied is then cleared, and gets the copy."""
    if len(following) < 2 or not is_zeroing(following[0]) or not isinstance(following[1], ir.Store):
        return False
    zero, addition = following
    if addition.aug is not gast.Add:
        return False
    original, value = (getattr(expr, "id", None) for expr in (copy.expr.func.value, addition.value))
    whole = is_ellipsis(zero.index) and is_ellipsis(addition.index)
    return whole and original == zero.base == addition.base and value == copy.target


def is_overwriting(s: Specialiser, stmt: Any, before: ir.Block) -> bool:
    """Whether a statement overwrites all of the memory of an array that has been written, which only it can reach."""
    if not isinstance(stmt, ir.Store) or stmt.aug is not None or not is_ellipsis(stmt.index):
        return False
    if stmt.base in ir.names_in(stmt.value) or not any(isinstance(x, ir.Store) and x.base == stmt.base for x in before):
        return False
    roots = roots_of(s.facts[stmt.base])
    others = (facts for name, facts in s.facts.items() if name != stmt.base)
    return isinstance(s.facts[stmt.base], Num) and bool(roots) and all(not roots & reachable(s, f) for f in others)


def is_covered(s: Specialiser, stmt: Any, covered: set[int]) -> bool:
    """Whether what a statement writes is overwritten before it is read."""
    return isinstance(stmt, ir.Store) and bool(roots := roots_of(s.facts[stmt.base])) and roots <= covered


def made_in(block: ir.Block, leaving: frozenset[str]) -> set[str]:
    """The variables whose memory is made in a block, where only what follows can reach it."""
    uses = count_uses(block)
    made: set[str] = set()
    for stmt in block:
        if not isinstance(stmt, ir.Let) or stmt.in_place or len(stmt.targets) != 1:
            continue
        renames = isinstance(stmt.expr, gast.Name) and stmt.expr.id in made - leaving and uses[stmt.expr.id] == 1
        if renames or isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)) or is_creation(stmt.expr):
            made.add(stmt.target)
    return made


def is_dead(s: Specialiser, stmt: Any, made: set[str], later: set[int]) -> bool:
    if not isinstance(stmt, ir.Store) or stmt.base not in made or not isinstance(s.facts[stmt.base], Num):
        return False
    roots = roots_of(s.facts[stmt.base])
    return bool(roots) and not roots & later


def is_for_nothing(stmt: Any, unread: set[str]) -> bool:
    """Whether a statement computes no more than what nobody reads any more."""
    if not isinstance(stmt, ir.Let) or stmt.effect or stmt.in_place or stmt.augments or stmt.saves:
        return False
    raises = stmt.repeats is not None and stmt.may_raise  # maybe in the place of what the forward sweep computed
    return not raises and unread.issuperset(stmt.targets)


def reached(s: Specialiser, stmt: Any) -> set[int]:
    """The memory that a statement and the blocks inside it read or write."""
    called = [name for inner in ir.inside(stmt) for name in getattr(inner, "state_reads", ())]
    return {root for name in [*ir.reads_inside(stmt), *called] for root in roots_of(s.facts[name])}
