"""Nodes of the tape: the records of calls."""

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
        The values that it was called with, shells of those that are not read; None once they are freed.
    y : array or scalar
        The value that it returned, if it is read.
    parents : tuple
        For each differentiated argument its node; for a list a list of nodes and None.
    order : int
        When it was made.
    owner : weak reference or None
        The tensor whose ``.grad`` is wanted: a leaf's, or one that retains it.
    guards : list
        Large arrays of the caller's among the arguments, with samples of their numbers.
    """

    __slots__ = ("__weakref__", "args", "guards", "order", "owner", "parents", "plan", "y")

    def __init__(self, plan: Plan | None, args: Any, y: Any, parents: tuple[Any, ...], guards: Any = ()) -> None:
        self.plan, self.args, self.y, self.parents, self.guards = plan, args, y, parents, guards
        self.order = tick()
        self.owner: ref[Any] | None = None

    def __repr__(self) -> str:
        name = getattr(self.plan.fn, "__name__", "function") if self.plan is not None else "leaf"
        return f"<{name.strip('_').title().replace('_', '')}Backward0>"
