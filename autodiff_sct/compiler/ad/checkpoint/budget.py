"""A budget of memory: the outermost loops run in segments whose length the run chooses.

::

    for i in range(n):           every = steps_within(200000000, n, (x,), (x, x))
        x = np.sin(x) * x        for start in range(0, n, every):
                                     ...

The memory of a gradient is that of its loops: what is saved of each step.  Every loop over a range that is in no other
loop becomes one over segments.  How much one step saves and a state holds is told to the run by arrays of the same
shape, so that it chooses as long a segment as fits, or else the length that needs least.  Loops that cannot be run in
segments save every step as ever, with a warning that says why.
"""

from __future__ import annotations

import warnings
from typing import Any

import gast

from ....errors import Refused, UnsupportedSyntax
from ....runtime.segments import MemoryWarning, steps_within
from ... import ir
from ...analysis.ownership import is_alike
from ...domain.facts import INT, Num
from ..reverse.transform import Reverse
from ..tape.insert import saved_into
from .plan import plan


def choose_segments(r: Reverse, forward: ir.Block, reverse: ir.Block, budget: int) -> None:
    """Let the outermost loops run in segments as long as a budget of bytes allows."""
    s = r.s
    nodes = [x for x in ir.walk(reverse) if isinstance(x, ir.Loop) and x.primal is not None and is_outer(r, x.primal)]
    tried = [x for stmt in ir.walk(forward) if isinstance(stmt, ir.Try) for x in ir.inside(stmt)]
    nodes = [node for node in nodes if can_run(r, node, reverse, node.primal in tried)]
    for node in nodes:
        loop = node.primal
        every = s.fresh("every", INT)
        s.named.add(every)
        loop.every = ir.name(every)
        share = ir.constant(budget // len(nodes))
        made = ir.Let((every,), ir.call(s.bind("steps_within", steps_within), share, trips(loop)), None, loop.origin)
        r.budgets[loop] = made
        insert_before(forward, loop, made)


def is_outer(r: Reverse, loop: ir.Loop) -> bool:
    return loop.kind == "range" and loop.every is None and loop.stop is None and not r.around[loop]


def can_run(r: Reverse, node: ir.Loop, reverse: ir.Block, tried: bool) -> bool:
    """True if a loop can be run in segments, unless it is `tried`; a warning says why not."""
    loop = node.primal
    loop.every = ir.constant(1)
    try:
        if tried:
            raise UnsupportedSyntax("a loop in a `try` may end early", "take it out", loop.origin, code="segments")
        plan(r, node, ir.defined(reverse))
    except Refused as refused:
        shown = f"{loop.origin.show()}\n" if loop.origin is not None else ""
        warnings.warn(MemoryWarning(f"{shown}this loop saves every step: {refused.reason}"), stacklevel=2)
        return False
    finally:
        loop.every = node.rerun = None
    return True


def trips(loop: ir.Loop) -> Any:
    return loop.bounds[0] if len(loop.bounds) == 1 else ir.call("len", ir.call("range", *loop.bounds))


def insert_before(block: ir.Block, stmt: Any, new: Any) -> None:
    for inner in [block, *(body for x in ir.walk(block) for body in ir.bodies(x))]:
        if stmt in inner:
            inner.insert(inner.index(stmt), new)
            return


# -- how much is kept and saved


def estimate(r: Reverse, made: ir.Let, loop: ir.Loop, again: ir.Loop, phis: list[str], state: tuple[str, ...]) -> None:
    """Tell the run what a state holds and what a step saves: by values of the same size, before the loop."""
    firsts = {c.phi: c.init for c in loop.carries}
    kept = [n for n in (*(firsts[p] for p in phis), *state) if n is not None and n not in r.s.unbound]
    kept = [n for n in kept if isinstance(r.s.facts[n], Num)]
    inside = ir.defined([loop, again])
    outer = [n for stmt in loop.body for n in ir.reads(stmt) if n not in inside and n not in r.s.unbound]
    saved = saves_of(r, again.body, [*kept, *dict.fromkeys(outer)], inside)
    made.expr = ir.call(made.expr.func, *made.expr.args, ir.tuple_([ir.name(n) for n in kept]), ir.tuple_(saved))


def saves_of(r: Reverse, block: ir.Block, known: list[str], inside: set[str]) -> list[Any]:
    """The size of each saved value: a number, a variable defined before the loop, or None."""
    result = []
    for stmt in block:
        if saved_into(stmt) is not None:
            result.append(as_large(r, stmt.expr.args[0].id, known))
        several = isinstance(stmt, ir.Loop) and stmt.kind == "range" and not inside & set(ir.reads(stmt))
        for body in ir.bodies(stmt):
            found = saves_of(r, body, known, inside)
            result += [gast.Tuple([trips(stmt), x], gast.Load()) for x in found] if several else found
    return result


def as_large(r: Reverse, name: str, known: list[str]) -> Any:
    facts = r.s.facts[name]
    if isinstance(facts, Num) and facts.dims == ():
        return ir.constant(0)
    return next((ir.name(n) for n in known if n == name or is_alike(r.s, n, name)), ir.constant(None))
