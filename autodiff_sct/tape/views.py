"""Tensors in the memory of others.

A view knows its root, the tensor in whose memory it lies, and the way from there.  When the root or another of its
views is written to, the root gets a new place on the tape, and the view finds its own again the next time it is asked.
"""

from __future__ import annotations

from typing import Any

from .array import Tensor, recording
from .node import Node

__all__ = ["View", "detach"]


class View(Tensor):
    """A tensor in the memory of another.

    Attributes
    ----------
    root : Tensor or None
        The tensor in whose memory it lies; None for one that has become a leaf.
    path : tuple of callable
        The steps from the root's value to this one.
    seen : Node or None
        The root's node when this one's was found.
    cut : bool
        Whether it is a constant, whatever the root is.
    """

    __slots__ = ("cut", "path", "root", "seen")

    def __init__(self, value: Any, base: Tensor, path: tuple[Any, ...], node: Node | None, cut: bool) -> None:
        self.value, self.gradient, self.cut = value, None, cut
        self.root: Tensor | None
        self.path: tuple[Any, ...]
        if isinstance(base, View) and base.root is not None:
            self.root = base.root
            path = (*base.path, *path)
        else:
            self.root = base
        self.path, self.seen = path, self.root.node
        NODE.__set__(self, node)

    @property
    def node(self) -> Node | None:  # type: ignore[override]
        """Its place in the graph, found again if the root was written to since."""
        root = self.root
        if root is not None and root.node is not self.seen and recording():
            self.seen = root.node
            if not self.cut:
                found: Any = root
                for step in self.path:
                    found = step(found)
                NODE.__set__(self, found.node)
        return NODE.__get__(self)

    @node.setter
    def node(self, node: Node | None) -> None:
        self.root, self.cut = None, False
        NODE.__set__(self, node)


NODE: Any = Tensor.__dict__["node"]


def detach(self: Tensor) -> Tensor:
    """The same value as a constant, in the same memory."""
    return View(self.value, self, (), None, True) if self.ndim else Tensor(self.value, None)
