"""The tape: calls are recorded as nodes, and a sweep goes back over them.

A node knows the values that its call has to keep and the nodes that these came from, and nothing of the tensors in the
user's hands: a graph lives as long as a tensor that was computed by it, and dies with it.

Invariants: a node is younger (of greater `order`) than its parents, so that a heap of orders is a topological order;
cotangents have the shape and the dtype of the values that they belong to; a cotangent is written to only by the one
who made it (`owned`), everywhere else it is shared.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable
from heapq import heappop, heappush
from typing import Any

import numpy as np

import autodiff_sct.rules  # noqa: F401  (fills the table)

from ..errors import ArgumentRuntimeError, NoRule
from ..rules.table import NONDIFFERENTIABLE, TABLE, load_optional
from ..runtime import add_at, unbroadcast, zeros_like
from .array import Tensor, View, detach, recording
from .memory import STAMPS, Node, check_unchanged, kept, owner_of, shell
from .modes import OWN
from .pullbacks import Plan, name_of, no_rule, plan_of

__all__ = ["IN_PLACE", "Cell", "Sweep", "call", "constant", "has_tensor", "is_inexact", "run"]

METHOD = type(np.ndarray.copy)


# Recording


def call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `fn` on the values of tensors, and record the call if a derivative goes through it."""
    given = (*args, *kwargs.values()) if kwargs else args
    values: list[Any] = []
    nodes: list[Any] = []
    positions: list[int] = []
    for k, x in enumerate(given):
        node: Any
        if isinstance(x, Tensor):
            value, node = x.value, x.node
        elif type(x) in (list, tuple):
            value, node = split(x)
        else:
            value, node = x, None
        values.append(value)
        if node is not None:
            positions.append(k)
            nodes.append(node)
    count = len(args)
    named = dict(zip(kwargs, values[count:])) if kwargs else kwargs
    if not positions or fn in NONDIFFERENTIABLE or not recording():
        return results(run(fn, values[:count], named), fn, args, kwargs, None)
    rule = TABLE.get(fn) or OWN.get(fn)
    if rule is None:
        load_optional()
        rule = TABLE.get(fn)
    if rule is None or rule.reverse is None:
        raise no_rule(fn)
    plan = plan_of(fn, rule, count, tuple(kwargs), tuple(positions))
    y = run(fn, values[:count], named)
    guards: list[Any] = []
    for k in plan.unread:
        values[k] = shell(values[k])
    for k in plan.read:
        if not isinstance(given[k], Tensor):
            values[k] = kept(values[k], given[k], guards)
    saved = y if plan.result == "numbers" else shell(y) if plan.result == "shape" else None
    return results(y, fn, args, kwargs, Node(plan, tuple(values), saved, tuple(nodes), guards))


def run(fn: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The call itself; a method of arrays is one of NumPy's scalars too."""
    return getattr(args[0], fn.__name__)(*args[1:], **kwargs) if type(fn) is METHOD else fn(*args, **kwargs)


def split(items: Any) -> tuple[Any, list[Any] | None]:
    """The values of a list, and the nodes that they came from, None if there is none."""
    pairs = [
        (x.value, x.node) if isinstance(x, Tensor) else split(x) if type(x) in (list, tuple) else (x, None)
        for x in items
    ]
    nodes = [node for _, node in pairs]
    return type(items)([value for value, _ in pairs]), nodes if any(n is not None for n in nodes) else None


def has_tensor(args: Iterable[Any]) -> bool:
    return any(isinstance(a, Tensor) or type(a) in (list, tuple) and has_tensor(a) for a in args)


def is_inexact(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def results(y: Any, fn: Any, args: Any, kwargs: Any, node: Node | None) -> Any:
    """The tensors of a call; what is not of floating point is a constant, and plain if no rule is needed for that."""
    if node is not None and type(y) in (float, complex):
        y = np.asarray(y)[()]
    if isinstance(y, (np.ndarray, np.generic)):
        inexact = y.dtype.kind in "fc"
        if not inexact and fn in NONDIFFERENTIABLE:
            return y
        return tensor_of(y, fn, args, kwargs, node if inexact else None, None)
    if not isinstance(y, (tuple, list)):
        if node is not None:
            raise NoRule(
                f"{name_of(fn)} returned a {type(y).__name__}, through which no derivative can be followed",
                "let it return an array or a tuple of arrays",
            )
        return y
    parts = []
    for k, value in enumerate(y):
        part = None if node is None else item_of(node, y, k)
        plain = not isinstance(value, (np.ndarray, np.generic)) or not is_inexact(value) and fn in NONDIFFERENTIABLE
        parts.append(value if plain else tensor_of(value, fn, args, kwargs, part, k))
    return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)


def item_of(node: Node, y: Any, k: int) -> Node | None:
    """The node of one of the results `y` of `node`, None for one that has no derivative."""
    return Node(ITEM, (k, len(y)), None, (node,)) if is_inexact(y[k]) else None


ITEM = Plan(tuple.__getitem__, None, lambda y, d, *args: (d,), (0,))


def constant(y: Any) -> Any:
    """A result through which no derivative flows: a tensor if it is of floating point, else as NumPy returns it."""
    return Tensor(y, None) if is_inexact(y) else y


def tensor_of(y: Any, fn: Any, args: Any, kwargs: Any, node: Node | None, item: int | None) -> Tensor:
    """A result as a tensor, which is a view if it lies in the memory of an argument."""
    if type(y) is not np.ndarray or isinstance(fn, np.ufunc):
        return Tensor(y, node)
    owner = owner_of(y)
    for place, x in (*enumerate(args), *kwargs.items()):
        if isinstance(x, Tensor) and type(x.value) is np.ndarray and owner_of(x.value) is owner:
            cut = not recording() or isinstance(x, View) and x.cut
            return View(y, x, (Step(fn, args, kwargs, place, item),), node, cut)
    return Tensor(y, node)


class Step:
    """The step from an array to a view of it: a call with it as an argument, whose result holds the view."""

    __slots__ = ("args", "fn", "item", "kwargs", "place")

    def __init__(self, fn: Any, args: Any, kwargs: dict[str, Any], place: int | str, item: int | None) -> None:
        self.fn, self.place, self.item = fn, place, item
        self.args, self.kwargs = [alone(a) for a in args], {k: alone(v) for k, v in kwargs.items()}
        (self.kwargs if isinstance(place, str) else self.args)[place] = None  # type: ignore[index]

    def __call__(self, x: Any) -> Any:
        args, kwargs = list(self.args), dict(self.kwargs)
        (kwargs if isinstance(self.place, str) else args)[self.place] = x  # type: ignore[index]
        y = call(self.fn, tuple(args), kwargs) if isinstance(x, Tensor) else run(self.fn, args, kwargs)
        return y if self.item is None else y[self.item]


def alone(x: Any) -> Any:
    """An argument beside the one that is viewed: as a constant."""
    return detach(x) if isinstance(x, Tensor) else x


# The sweep.  A node's cotangent while its shares arrive: ``[node, d, owned]``, `owned` if `d` may be added to in place.
Cell = list[Any]


class Sweep:
    """One pass back over the graph.

    Parameters
    ----------
    graph : bool
        Cotangents are tensors, and the pass is recorded itself.
    retain : bool
        Nodes keep their values for another pass.
    """

    def __init__(self, graph: bool, retain: bool) -> None:
        self.graph, self.retain = graph, retain
        self.cells: dict[int, Cell] = {}
        self.heap: list[int] = []

    def add(self, node: Node, d: Any) -> None:
        """Add a share of a node's cotangent."""
        cell = self.cells.get(node.order)
        if cell is None:
            self.cells[node.order] = [node, d, False]
            heappush(self.heap, -node.order)
        elif cell[2]:
            np.add(cell[1], d, out=cell[1])
        else:
            cell[1] = cell[1] + d
            cell[2] = type(cell[1]) is np.ndarray

    def run(self, targets: Collection[Node] | None = None, stops: Collection[Node] = ()) -> dict[Node, Cell]:
        """Go back to the leaves, or to the targets.

        Returns
        -------
        dict
            The cotangents that arrived at leaves, at results that retain theirs, and at the targets.
        """
        useful = None if targets is None else leading_to(targets, [cell[0] for cell in self.cells.values()], stops)
        arrived: dict[Node, Cell] = {}
        cells, heap = self.cells, self.heap
        while heap:
            cell = cells.pop(-heappop(heap))
            node = cell[0]
            plan = node.plan
            if plan is None or node.owner is not None or targets is not None and node in targets:
                arrived[node] = cell
                cell[2] = cell[2] and plan is None  # what is handed out must not be written to on the way on
            if plan is not None and (useful is None or node in useful) and node not in stops:
                self.pull(node, cell, useful)
                if plan.saves and not self.retain:
                    node.args = node.y = None
        return arrived

    def pull(self, node: Node, cell: Cell, useful: Collection[Node] | None) -> None:
        """Hand a node's cotangent on to its parents."""
        plan, args, y, parents = node.plan, node.args, node.y, node.parents
        if plan is None or args is None:
            raise freed()
        if STAMPS or node.guards:
            check_unchanged(node)
        if useful is not None and len(parents) > 1:
            plan, parents = restricted(plan, parents, useful)
        if self.graph and plan is not ITEM:
            args, y = rejoined(node)
        elif plan.fn in IN_PLACE and IN_PLACE[plan.fn](self, parents, plan, args, cell):
            return
        try:
            entries = plan.pull(y, cell[1], *args)
        except NotImplementedError as error:
            raise NoRule(f"{name_of(plan.fn)}: {error}") from error
        for parent, position, entry in zip(parents, plan.positions, entries):
            like, kind = node.args[position], type(entry)
            if kind is type(like) and not self.graph and (kind in SCALARS or kind is np.ndarray and alike(entry, like)):
                self.add(parent, entry)
            elif entry is not None:
                self.hand(parent, entry, like)

    def hand(self, parent: Any, entry: Any, like: Any) -> None:
        """Add an entry, fitted to its value, to its parent's cotangent; a list's item by item."""
        if type(parent) is not list:
            d = fitted(entry, like)
            self.add(parent, Tensor(d, None) if self.graph and not isinstance(d, Tensor) else d)
            return
        for inner, part, value in zip(parent, entry, like):
            if inner is not None and part is not None:
                self.hand(inner, part, value)

    def give(self, node: Node, d: Any) -> None:
        """Add a share in memory that the node's cotangent may take over."""
        fresh = node.order not in self.cells
        self.add(node, d)
        self.cells[node.order][2] |= fresh

    def buffer(self, node: Node, like: Any) -> Any:
        """A node's cotangent as an array that may be added to in place."""
        cell = self.cells.get(node.order)
        if cell is None:
            self.give(node, zeros_like(like))
            return self.cells[node.order][1]
        if not cell[2]:
            cell[1], cell[2] = np.array(cell[1]), True
        return cell[1]


SCALARS = frozenset([np.float64, np.float32])


def alike(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype is b.dtype and a.shape == b.shape


def scatter(sweep: Sweep, parents: tuple[Any, ...], plan: Plan, args: tuple[Any, ...], cell: Cell) -> bool:
    """``x[index]`` many times over one `x`: all shares go into one buffer, instead of an array of zeros each."""
    x, index = args
    if plan.positions != (0,) or type(x) is not np.ndarray:
        return False
    shadow = sweep.buffer(parents[0], x)
    if type(index) is int:
        shadow[index] += cell[1]
    else:
        add_at(shadow, index, cell[1])
    return True


def to_item(sweep: Sweep, parents: tuple[Any, ...], plan: Plan, args: tuple[Any, ...], cell: Cell) -> bool:
    """Add to the cotangent of one of a call's results."""
    (whole,), (k, count) = parents, args
    if whole.order not in sweep.cells:
        sweep.add(whole, [None] * count)
    d = sweep.cells[whole.order][1]
    d[k] = cell[1] if d[k] is None else d[k] + cell[1]
    return True


# Rules that are executed in memory of the sweep's own.
IN_PLACE: dict[Any, Callable[[Sweep, tuple[Any, ...], Plan, tuple[Any, ...], Cell], bool]] = {
    operator.getitem: scatter,
    tuple.__getitem__: to_item,
}


def freed() -> ArgumentRuntimeError:
    return ArgumentRuntimeError(
        "the graph was freed: go back a second time with retain_graph=True on the first, or compute the result again"
    )


def restricted(plan: Plan, parents: tuple[Any, ...], useful: Collection[Node]) -> tuple[Plan, tuple[Any, ...]]:
    """The plan for the parents that lead to a target only."""
    kept_parents = [k for k, p in enumerate(parents) if any(n in useful for n in flat([p]))]
    if len(kept_parents) == len(parents):
        return plan, parents
    return plan.only(tuple([plan.positions[k] for k in kept_parents])), tuple([parents[k] for k in kept_parents])


def rejoined(node: Node) -> tuple[list[Any], Any]:
    """The saved values that are read, as tensors at their places on the tape."""
    plan, args, y = node.plan, list(node.args), node.y
    assert plan is not None
    for position, parent in zip(plan.positions, node.parents):
        if position in plan.read:
            args[position] = joined(args[position], parent)
    if plan.result == "numbers":
        if isinstance(y, (tuple, list)):
            parts = [item_of(node, y, k) for k in range(len(y))]
            return args, tuple([v if part is None else Tensor(v, part) for v, part in zip(y, parts)])
        return args, Tensor(y, node)
    return args, y


def joined(value: Any, node: Any) -> Any:
    if type(node) is list:
        return type(value)([v if n is None else joined(v, n) for v, n in zip(value, node)])
    return Tensor(value, node)


def fitted(entry: Any, like: Any) -> Any:
    """An entry in the shape and the dtype of the value that it belongs to."""
    if isinstance(entry, Tensor):
        same = entry.value.dtype == like.dtype and entry.shape == like.shape
        return entry if same else call(unbroadcast, (entry, like), {})
    if type(like) is np.ndarray and np.ndim(entry) == 0:
        return spread(entry, like)
    return unbroadcast(entry, like)


def spread(entry: Any, like: np.ndarray) -> np.ndarray:
    """One number as an array, in the memory of one number."""
    number = like.dtype.type(entry.real if like.dtype.kind != "c" else entry)
    return np.ndarray(like.shape, like.dtype, number.tobytes(), 0, (0,) * like.ndim)


def leading_to(targets: Collection[Node], roots: Iterable[Node], stops: Collection[Node]) -> set[Node]:
    """The targets and the nodes from which one of them is reached."""
    oldest = min((node.order for node in targets), default=0)
    seen: dict[int, Node] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node.order not in seen and node.order > oldest and node not in stops:
            seen[node.order] = node
            waiting += flat(node.parents)
    found = set(targets)
    for order in sorted(seen):
        if any(p in found for p in flat(seen[order].parents)):
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
