"""Views that are as good as copies: they are used before anybody writes the memory that they show.

Their cotangents are added to that of the base as a copy's are: ``d_L = np.diag(d / np.diag(L))``, where a view that may
be written has its cotangent in the memory of the base's.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from ....errors import AliasError
from ... import ir
from ...domain.facts import Num
from ...domain.values import Leaf
from ...interp.arrays import value_dependent
from ...ir.builder import Specialiser
from ..value_flow import joins
from .container_aliasing import end_of, writes

if TYPE_CHECKING:
    from .transform import Reverse

# Views of which elements share memory: no view of a cotangent beside them adds up.
OVERLAPPING = {np.imag, np.broadcast_to, np.broadcast_arrays, sliding_window_view, as_strided}

DIAGONALS = (np.diag, np.diagonal, np.ndarray.diagonal)


def check_parts(stmt: ir.Let) -> None:
    """Refuse several views at once that are no parts of one array: ``np.broadcast_arrays`` has one of each argument."""
    if stmt.op is not None and stmt.op.fn not in value_dependent.PARTS:
        raise AliasError("several arrays have views that are made at once, and are written", COPY, stmt.origin)


def check_number(s: Specialiser, stmt: ir.Let) -> None:
    """Refuse what is the array itself for one number, and new for others, where only the run tells the number."""
    if stmt.op is not None and value_dependent.is_itself(s, stmt.op):
        raise AliasError("a number decides whether this is an array that is written, or a new one", COPY, stmt.origin)


def check_base(stmt: ir.Let, active: list[str]) -> None:
    """Refuse what may show one of several arrays, of which some carry derivatives: a view has that of its base."""
    if stmt.op is not None and stmt.op.fn is not operator.getitem and active not in ([], [*stmt.op.shares[:1]]):
        raise AliasError("which of several arrays this shows is known only at run time", COPY, stmt.origin)


COPY = "copy it (`.copy()`)"


def is_settled(r: Reverse, stmt: ir.Let) -> bool:
    """True if a view that is better taken for a copy is used before the next write."""
    regions = [r.regions.of(target) for target in stmt.targets]
    if not is_better_copied(r, stmt) or stmt not in r.order or None in regions:
        return False
    names = {name for target in stmt.targets for name in r.aliases(target)}
    if names & (r.outputs | {n for other in r.order for _, sources in joins(other) for n in sources}):
        return False
    if any(is_kept(r, other, names) for other in r.order):
        return False
    start, end = r.order[stmt], max(r.last.get(n, 0) for n in names)
    loops = [loop for loop in r.order if isinstance(loop, ir.Loop) and start < r.order[loop] <= end]
    end = max([end, *(end_of(r, loop) for loop in loops)])
    return not any(start < place <= end for region in regions if region is not None for place in writes(r, region))


def is_kept(r: Reverse, stmt: Any, names: set[str]) -> bool:
    """True if a statement may put one of some variables where it is found again under another name."""
    if names.isdisjoint(ir.reads(stmt)):
        return False
    if isinstance(stmt, ir.Let):
        return not all(isinstance(r.s.facts[target], Num) for target in stmt.targets)
    return isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Store) and not isinstance(r.s.facts[stmt.base], Num))


def is_better_copied(r: Reverse, stmt: ir.Let) -> bool:
    """True if a view is one that overlaps itself, or the diagonal of a square matrix."""
    if stmt.op is None or stmt.op.fn in OVERLAPPING:
        return stmt.op is not None
    given = list(stmt.op.arguments.values())
    matrix = given[0] if stmt.op.fn in DIAGONALS and len(given) == 1 else None
    if not isinstance(matrix, Leaf):
        return False
    facts = r.s.num(matrix)
    if facts is None or facts.dims is None or len(facts.dims) != 2:
        return False
    return r.s.same_lengths(facts.dims[:1], facts.dims[1:])
