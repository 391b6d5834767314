"""The tape: what a recorded call leaves behind, and the sweep back over it.

A `Node` stands for the result of one call.  It knows the arguments by value and the nodes that these came from, and
nothing of the tensors in the user's hands: a graph lives as long as a tensor that was computed by it, and dies with it.

Invariants: a node is younger (of greater `order`) than its parents, so that a heap of orders is a topological order;
cotangents have the shape and the dtype of the values that they belong to; a cotangent is written to only by the one
who made it (`owned`), everywhere else it is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

import numpy as np

import autodiff_sct.rules  # noqa: F401  (fills the table)

from ..errors import ArgumentRuntimeError, NoRule
from ..recording import RECORDING
from ..rules.table import NONDIFFERENTIABLE, TABLE, Rule
from ..runtime import add_at, unbroadcast, zeros_like
from .array import Tensor
from .node import Node
from .pullbacks import Plan, name_of, plan_of

__all__ = ["Cell", "Sweep", "call", "constant", "has_tensor", "recording"]

recording = RECORDING.get
OWN: dict[Callable[..., Any], Rule] = {}


# Recording


def call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `fn` on values, and record the call if a derivative goes through it."""
    values, nodes = zip(*[split(a) for a in (*args, *kwargs.values())]) if args or kwargs else ((), ())
    plain, named = values[: len(args)], dict(zip(kwargs, values[len(args) :]))
    positions = tuple([k for k, node in enumerate(nodes) if node is not None])
    if not positions or not recording() or fn in NONDIFFERENTIABLE:
        return constant(run(fn, plain, named))
    rule = TABLE.get(fn) or OWN.get(fn)
    if rule is None or rule.reverse is None:
        raise no_rule(fn)
    plan = plan_of(fn, rule, len(args), tuple(kwargs), positions)
    y = run(fn, plain, named)
    return results(y, plan, values, tuple([nodes[k] for k in positions]))


def run(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call itself; a method of arrays is one of NumPy's scalars too."""
    if isinstance(fn, METHOD):
        return getattr(args[0], fn.__name__)(*args[1:], **kwargs)
    return fn(*args, **kwargs)


METHOD = type(np.ndarray.copy)


def no_rule(fn: Callable[..., Any]) -> NoRule:
    return NoRule(
        f"{name_of(fn)} has no derivative rule",
        "register one with autodiff_sct.rule, write it by functions that have one, or give it `t.detach()`",
    )


def split(x: Any) -> tuple[Any, Any]:
    """A value, and the node that it came from; for a list both as lists."""
    if isinstance(x, Tensor):
        return x.value, x.node
    if type(x) in (list, tuple):
        pairs = [split(item) for item in x]
        nodes = [node for _, node in pairs]
        return type(x)([value for value, _ in pairs]), nodes if any(n is not None for n in nodes) else None
    return x, None


def has_tensor(args: Iterable[Any]) -> bool:
    return any(isinstance(a, Tensor) or type(a) in (list, tuple) and has_tensor(a) for a in args)


def is_inexact(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def constant(y: Any) -> Any:
    """A result through which no derivative flows: a tensor where it is of floating point, else as NumPy returns it."""
    if is_inexact(y):
        return Tensor(y, None)
    if isinstance(y, (tuple, list)):
        return alike(y, [constant(item) for item in y])
    return y


def alike(y: Any, items: list[Any]) -> Any:
    """`items` in a sequence of the kind of `y`."""
    return type(y)(*items) if hasattr(y, "_fields") or type(y).__name__.endswith("Result") else type(y)(items)


def results(y: Any, plan: Plan, args: tuple[Any, ...], parents: tuple[Any, ...]) -> Any:
    """The tensors of a recorded call."""
    if is_inexact(y):
        return Tensor(y, Node(plan, args, y, parents))
    if not isinstance(y, (tuple, list)):
        return constant(y)
    whole = Node(plan, args, y, parents)
    return alike(y, [item_of(whole, k, part) for k, part in enumerate(y)])


def item_of(whole: Node, k: int, value: Any) -> Any:
    """One of several results: a node of its own, which hands its cotangent on to the call's."""
    return Tensor(value, Node(ITEM, k, value, (whole,))) if is_inexact(value) else constant(value)


ITEM = Plan(tuple.__getitem__, lambda y, d, *args: (d,), (0,))
ITEM.saves = False


# The sweep


class Cell:
    """The cotangent of a node while its shares arrive; `owned` if it may be added to in place."""

    __slots__ = ("d", "node", "owned")

    def __init__(self, node: Node, d: Any, owned: bool) -> None:
        self.node, self.d, self.owned = node, d, owned


class Sweep:
    """One pass back over the graph."""

    def __init__(self, graph: bool, retain: bool) -> None:
        self.graph, self.retain = graph, retain
        self.cells: dict[int, Cell] = {}
        self.heap: list[int] = []

    def add(self, node: Node, d: Any) -> None:
        """Add a share of a node's cotangent."""
        cell = self.cells.get(node.order)
        if cell is None:
            self.cells[node.order] = Cell(node, d, False)
            heappush(self.heap, -node.order)
        elif cell.owned:
            np.add(cell.d, d, out=cell.d)
        else:
            cell.d = cell.d + d
            cell.owned = type(cell.d) is np.ndarray

    def run(self, targets: set[Node] | None = None, stops: Iterable[Node] = ()) -> dict[Node, Cell]:
        """Go back to the leaves, or to the targets; the cotangents that arrived there and at retaining results."""
        needed = None if targets is None else leading_to(targets, [cell.node for cell in self.cells.values()], stops)
        arrived: dict[Node, Cell] = {}
        while self.heap:
            cell = self.cells.pop(-heappop(self.heap))
            node = cell.node
            if node.plan is None or node.owner is not None or targets is not None and node in targets:
                arrived[node] = cell
            if node.plan is None or node in stops or needed is not None and node not in needed:
                continue
            self.pull(node, cell, needed)
            if not self.retain and node.plan.saves:
                node.args = node.y = None
        return arrived

    def pull(self, node: Node, cell: Cell, needed: set[Node] | None) -> None:
        """Hand a node's cotangent on to its parents."""
        plan, args, y, d = node.plan, node.args, node.y, cell.d
        assert plan is not None
        if plan is ITEM:
            self.add_item(node.parents[0], args, d)
            return
        if args is None:
            raise freed()
        if self.graph:
            rebuilt = iter(zip(plan.positions, node.parents))
            args = list(args)
            for position, parent in rebuilt:
                args[position] = rejoined(args[position], parent)
            y = (
                rejoined(y, node)
                if not isinstance(y, (tuple, list))
                else [item_of(node, k, v) for k, v in enumerate(y)]
            )
        for parent, position, entry in zip(node.parents, plan.positions, plan.pull(y, d, *args)):
            if entry is not None:
                self.hand(parent, entry, node.args[position])

    def hand(self, parent: Any, entry: Any, like: Any) -> None:
        if type(parent) is list:
            for inner, part, value in zip(parent, entry, like):
                if inner is not None and part is not None:
                    self.hand(inner, part, value)
        else:
            self.add(parent, fitted(entry, like))

    def add_item(self, whole: Node, k: int, d: Any) -> None:
        cell = self.cells.get(whole.order)
        if cell is None:
            cell = self.cells[whole.order] = Cell(whole, [None] * len(whole.y), False)
            heappush(self.heap, -whole.order)
        cell.d[k] = d if cell.d[k] is None else cell.d[k] + d


def freed() -> ArgumentRuntimeError:
    return ArgumentRuntimeError(
        "the graph was freed: go back a second time with retain_graph=True on the first, or compute the result again"
    )


def rejoined(value: Any, node: Any) -> Any:
    """A tensor for a saved value, as it was on the tape."""
    if type(node) is list:
        return type(value)([v if n is None else rejoined(v, n) for v, n in zip(value, node)])
    return Tensor(value, node)


def fitted(entry: Any, like: Any) -> Any:
    """An entry in the shape and the dtype of the value that it belongs to."""
    if type(entry) is type(like) and entry.dtype is like.dtype and entry.shape == like.shape:
        return entry
    if not isinstance(entry, Tensor):
        return unbroadcast(entry, like)
    if entry.value.dtype == like.dtype and entry.shape == like.shape:
        return entry
    return call(unbroadcast, (entry, like), {})


def leading_to(targets: set[Node], roots: Iterable[Node], stops: Iterable[Node]) -> set[Node]:
    """The nodes between the roots and the targets: those with a target among their ancestors."""
    oldest = min((node.order for node in targets), default=0)
    seen: dict[int, Node] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node.order not in seen and node.order > oldest and node not in stops:
            seen[node.order] = node
            waiting += flat(node.parents)
    found: set[Node] = set()
    for order in sorted(seen):
        if any(p in found or p in targets for p in flat(seen[order].parents)):
            found.add(seen[order])
    return found


def flat(parents: Iterable[Any]) -> list[Node]:
    """The nodes in a node's parents."""
    found: list[Node] = []
    for p in parents:
        if type(p) is list:
            found += flat(p)
        elif p is not None:
            found.append(p)
    return found
