"""Loop peeling: the first iteration of a loop, written before the loop.

::

    state = None                                   state = None
    for k in range(n):                             if 0 < n:
        if state is None:                              state = [x, x * 0.0]
            state = [x, x * 0.0]             ->        state[0] = state[0] * 0.5
        state[0] = state[0] * 0.5                      for k in range(1, n):
                                                           state[0] = state[0] * 0.5

So it is where a name stands for one thing before the first iteration, and for another one ever after, and one of them
is no number or array: an object, a list or a dict of which the compiler knows the items.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from ...domain.facts import BOOL
from ...domain.values import Const, Value
from ..containers.sources import Source
from ..kernel.operations import branch, operate
from ..kernel.specialiser import Specialiser

__all__ = ["decide", "first_of", "is_peeled", "peel"]


def is_peeled(s: Specialiser) -> bool:
    """True if the loop that is specialised next has to be peeled."""
    return ("peel", s.site("carried")) in s.dynamic


def peel(s: Specialiser, first: Callable[[], None], ends: Callable[[], Value], others: Callable[[], None]) -> None:
    """The first iteration of a loop, and the others, unless it ends there."""
    with s.written_out(1):
        first()
        stop = ends()
    decide(s, stop, lambda: None, others)


def decide(s: Specialiser, test: Value, then: Callable[[], None], orelse: Callable[[], None] = lambda: None) -> None:
    """A branch, or the one of its sides that is known to be taken."""
    if isinstance(test, Const):
        (then if test.value else orelse)()
    else:
        branch(s, test, then, orelse)


def first_of(s: Specialiser, source: Source) -> tuple[Value, Value, tuple[Value, ...]] | None:
    """The first index of a loop, the test whether there is one, and the bounds of the others; None if not counted."""
    bounds = source.bounds or ()
    start, end, step = (Const(0), *bounds, Const(1)) if len(bounds) == 1 else (*bounds, Const(1), Const(0))[:3]
    if not bounds or source.every is not None or not isinstance(step, Const) or step.value == 0:
        return None
    others = (operate(s, gast.Add, start, step), end, *([] if step.value == 1 else [step]))
    if isinstance(start, Const) and isinstance(end, Const):
        return start, Const(bool(range(start.value, end.value, step.value))), others
    test = gast.Compare(s.expr(start), [gast.Lt() if step.value > 0 else gast.Gt()], [s.expr(end)])
    return start, s.let(test, BOOL, hint="condition", may_raise=False), others
