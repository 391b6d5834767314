"""Loops over segments in both sweeps, with states in memory, or on the disk, from which a killed run goes on.

::

    kept = snapshots("folder", "x")
    for start in range(kept.resume(0), n, k):        # begins where the folder's last snapshot was taken
        x = kept.save(start, "x", x)
        for i in range(start, min(start + k, n)):
            x = step(x, i)
    ...
    for start in reversed(range(0, n, k)):
        x = kept.load(start, "x")
        ...
    kept.remove()

What the loop carries is kept under the name of each variable, and so is the content of the arrays that it writes: here
all of it, also what the reverse sweep does not need, for what follows the loop may.
"""

from __future__ import annotations

from typing import Any

from ....runtime.snapshots import Snapshots, snapshots
from ... import ir
from ...analysis.remarks import note
from ...domain.facts import Opaque
from ..reverse.transform import Reverse
from .transform import Segments, method, pending, saves, settled

__all__ = ["SegmentsOnDisk", "write_segments"]


class SegmentsOnDisk(Segments):
    """Writes one loop over segments that keeps its states in a folder."""

    def __init__(self, r: Reverse, forward: ir.Block, reverse: ir.Block, node: ir.Loop) -> None:
        super().__init__(r, forward, reverse, node)
        self.keeper = self.s.fresh("kept", Opaque(Snapshots))
        self.s.named.add(self.keeper)
        self.names: dict[str, str] = {}  # of what is kept: the variable, and what it is called on the disk
        self.folder, self.loop.folder = self.loop.folder, None

    def write(self) -> None:
        for name in [*(c.phi for c in self.loop.carries), *self.node.rerun.memory]:
            self.names[name] = self.name_on_disk(self.s.hints[name])
        super().write()
        call = ir.call(self.s.bind("snapshots", snapshots), self.folder, *map(ir.constant, self.names.values()))
        outer = next(x for x in self.forward if isinstance(x, ir.Loop) and self.loop in x.body)
        opened = ir.Let((self.keeper,), call, None, self.loop.origin, effect=True)
        self.forward.insert(self.forward.index(outer), opened)
        self.reverse.append(ir.Effect(method(self.keeper, "remove")))

    def name_on_disk(self, hint: str) -> str:
        """A name for a variable that no other one has."""
        taken, number = self.names.values(), 1
        name = hint
        while name in taken:
            number += 1
            name = f"{hint}{number}"
        return name

    def loaded(self, name: str) -> Any:
        return method(self.keeper, "load", ir.name(self.start_again), ir.constant(self.names[name]))

    def keep_variable(self, c: ir.Carry, phi: str) -> None:
        c.init = self.s.fresh_like(phi)
        self.s.named.add(c.init)
        self.restoring.append(ir.Let((c.init,), self.loaded(phi), effect=True))

    def keep_content(self, name: str, there: str) -> None:
        self.restoring.append(ir.Store(there, ir.constant(Ellipsis), self.loaded(name)))

    def in_segments(self) -> ir.Loop:
        outer = super().in_segments()
        first, *rest = outer.bounds if len(outer.bounds) > 1 else (ir.constant(0), *outer.bounds)
        outer.bounds = (method(self.keeper, "resume", first), *rest)
        saved: ir.Block = []
        for c in self.loop.carries:
            before, c.init = c.init, self.s.fresh_like(c.phi)
            assert before is not None
            self.s.named.add(c.init)
            saved.append(ir.Let((c.init,), self.saved(self.names[c.phi], before), effect=True))
        for name in self.node.rerun.memory:
            saved.append(ir.Store(name, ir.constant(Ellipsis), self.saved(self.names[name], name)))
        note(self.s, saved[0], "kept on the disk: the state at the start of a segment")
        outer.body = [*saved, self.loop]
        return outer

    def saved(self, name: str, value: str) -> Any:
        return method(self.keeper, "save", ir.name(self.start), ir.constant(name), ir.name(value))


def write_segments(r: Reverse, forward: ir.Block, reverse: ir.Block) -> None:
    """Rewrite both sweeps, the outer loops first."""
    while True:
        node = next((x for x in ir.walk(reverse) if isinstance(x, ir.Loop) and pending(x)), None)
        if node is None:
            return
        if node.primal.folder is not None:
            SegmentsOnDisk(r, forward, reverse, node).write()
        elif saves(node.primal):
            Segments(r, forward, reverse, node).write()
        else:
            settled(node)
