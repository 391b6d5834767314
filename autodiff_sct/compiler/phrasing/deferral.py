"""What only one reverse line reads is computed there, where that keeps nothing else alive.

::

    t = x[:-1]                              t = x[:-1]
    t2 = 1.0 - t
    ...                               ->    ...
    d_x = -2 * d_out * t2                   d_x = -2 * d_out * (1.0 - t)

A temporary of the forward sweep holds memory until then; inside the expression, NumPy computes in its place.  It must
not be able to fail, for exceptions keep their order, nobody may write to what it reads, and its operands are read by
the reverse sweep anyway.  A sum stays where it is: it is smaller than what it adds up.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ... import thresholds
from .. import ir
from ..explain import note
from ..facts import Num
from ..optimise import count_uses, size
from ..peephole import touches
from ..regions import reachable, roots_of
from ..specialise.state import Specialiser


def defer(s: Specialiser, program: ir.Block, early: set[Any]) -> None:
    """Move temporaries of the forward sweep (in `early`) to the statements of the reverse sweep that read them."""
    uses = count_uses(program)
    candidates = {stmt.target: stmt for stmt in program if stmt in early and is_candidate(s, stmt, uses)}
    sizes: dict[Any, int] = {}  # of statements with what has been moved to them
    for name, let in reversed(candidates.items()):
        start = program.index(let)
        end = next((k for k in range(start + 1, len(program)) if name in ir.reads_inside(program[k])), start)
        user = program[end]
        whole = sizes.get(user, own_size(user)) + own_size(let)
        if user not in early and whole <= thresholds.OPERATIONS_NESTED and may_wait(s, program, start, end, candidates):
            program.insert(end - 1, program.pop(start))
            note(s, let, f"computed here, not kept from above: {s.hints[name]}")
            early.discard(let)
            sizes[user] = sizes[let] = whole


def own_size(stmt: Any) -> int:
    return sum(size(e) for e in ir.expressions(stmt))


def is_candidate(s: Specialiser, stmt: Any, uses: dict[str, int]) -> bool:
    """Whether a statement makes an array for one reader, and cannot fail."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.target in s.named or stmt.state_reads:
        return False
    facts = s.facts[stmt.target]
    array = isinstance(facts, Num) and facts.kind == "array" and bool(facts.ndim)
    return array and not is_sum(stmt) and not stmt.effect and not stmt.may_raise and uses.get(stmt.target) == 1


def is_sum(stmt: ir.Let) -> bool:
    """Whether a statement adds up an array: to move it would keep that."""
    return stmt.op is not None and stmt.op.fn in (np.sum, np.mean)


def may_wait(s: Specialiser, program: ir.Block, start: int, end: int, candidates: dict[str, ir.Let]) -> bool:
    """Whether a statement gives the same just before its reader, of which it becomes a part."""
    let, user = program[start], program[end]
    if not isinstance(user, (ir.Let, ir.Store)) or let.target not in ir.reads(user):
        return False
    operands = ir.reads(let)
    memory = {root for name in operands for root in reachable(s, s.facts[name])}
    if any(touches(s, stmt, memory, True) for stmt in program[start + 1 : end]):
        return False
    later = {name for stmt in program[end:] for name in ir.reads_inside(stmt)}
    kept = [name for name in operands if name not in later and is_made(s, program[:start], name)]
    return len(kept) <= 1 and all(name in candidates for name in kept)


def is_made(s: Specialiser, block: ir.Block, name: str) -> bool:
    """Whether a block makes memory for a variable; a view has that of another."""
    maker = next((stmt for stmt in block if name in ir.ir_targets(stmt)), None)
    view = isinstance(maker, ir.Let) and isinstance(maker.expr, (gast.Subscript, gast.Attribute))
    return maker is not None and bool(roots_of(s.facts[name])) and not view
