"""The loops over segments, rewritten in both sweeps: what they keep stays in memory or goes to the disk."""

from __future__ import annotations

from ... import ir
from ..reverse.transform import Reverse
from .on_disk import SegmentsOnDisk
from .transform import Segments, pending, saves, settled

__all__ = ["write_segments"]


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
