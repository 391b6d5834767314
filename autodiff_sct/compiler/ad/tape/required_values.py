"""What a step of a loop leaves is what the next one began with: of the two, one is saved.

::

    for i in range(n):                   for i in range(n):
        saved_h2.append(h)                   saved_h.append(h)
        h = np.tanh(w @ h)                   h = np.tanh(w @ h)
        saved_h.append(h)                ...
    ...                            ->    for i in range(n - 1, -1, -1):
    for i in range(n - 1, -1, -1):           d_t = d_h * (1 - h * h)
        h = saved_h.pop()                    h = saved_h.pop()
        d_t = d_h * (1 - h * h)              d_w += np.outer(d_t, h)
        h = saved_h2.pop()
        d_w += np.outer(d_t, h)

The reverse of the last step begins with the value after the loop, and the reverse of each other one with what that of
the step after it has read back.  Nobody may write into the values, and there must be one before the first step.
"""

from __future__ import annotations

from ... import ir
from ...analysis.alias import Regions
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.rewrite import read_instead


def dedupe_carried_saves(s: Specialiser, where: Regions, reverse: ir.Block) -> None:
    """Let the loops of the reverse sweep carry what would be saved twice, in place; the inner ones first."""
    for node in [x for x in reversed(ir.walk(reverse)) if isinstance(x, ir.Loop) and x.primal is not None]:
        if any(inner.rerun is not None for inner in ir.inside(node) if isinstance(inner, ir.Loop)):
            continue  # what runs a segment again names what it reads
        read = {n for stmt in node.body for n in ir.reads_inside(stmt)}
        made = {n for stmt in node.primal.body for n in ir.ir_targets(stmt)}
        for c in node.primal.carries:
            if c.phi in read and c.next in read & made and stays(s, where, c):
                carry(s, node, c)


def stays(s: Specialiser, where: Regions, c: ir.Carry) -> bool:
    """Whether a variable has a value before the first step, and keeps each of its values as they are."""
    names = [n for n in (c.init, c.phi, c.next, c.out) if n is not None]
    if len(names) < 4 or c.out in s.unbound:
        return False
    return all(isinstance(s.facts[n], Num) and not where.is_written(n) for n in names)


def carry(s: Specialiser, node: ir.Loop, c: ir.Carry) -> None:
    """Give the value after a step a variable that the reverse loop carries."""
    after, first = (s.fresh(s.hints[c.phi], s.facts[str(c.next)]) for _ in range(2))
    if c.phi in s.named:
        s.named |= {after, first}
    for stmt in ir.walk(node.body):
        read_instead(stmt, {str(c.next): after})
    node.carries.append(ir.Carry(after, c.out, c.phi, first))
