"""What a recorded call leaves behind."""

from __future__ import annotations

from itertools import count
from typing import Any
from weakref import ref

from .pullbacks import Plan

__all__ = ["Node", "tick"]

tick = count(1).__next__


class Node:
    """One result on the tape; a leaf has no plan.

    Attributes
    ----------
    plan : Plan or None
        How the call is pulled back.
    args : tuple or None
        The values that it was called with; None once they are freed.
    y : array or scalar
        The value that it returned.
    parents : tuple
        For each differentiated argument its node; for a list a list of nodes and None.
    order : int
        When it was made.
    owner : weak reference or None
        The tensor whose ``.grad`` is wanted: a leaf's, or one that retains it.
    """

    __slots__ = ("__weakref__", "args", "order", "owner", "parents", "plan", "y")

    def __init__(self, plan: Plan | None, args: Any, y: Any, parents: tuple[Any, ...]) -> None:
        self.plan, self.args, self.y, self.parents = plan, args, y, parents
        self.order = tick()
        self.owner: ref[Any] | None = None

    def __repr__(self) -> str:
        name = getattr(self.plan.fn, "__name__", "function") if self.plan is not None else "leaf"
        return f"<{name.strip('_').title().replace('_', '')}Backward0>"
