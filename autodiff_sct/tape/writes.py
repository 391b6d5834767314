"""Writing into tensors: by index, by augmented assignment, by ``out=``, and by NumPy's functions that write.

The memory is written to as NumPy does it; on the tape, the root of that memory becomes the result of `written`, whose
arguments are the root as it was and what was written.  NumPy's functions that write are compositions of this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import AliasError, ArgumentRuntimeError, NoRule
from ..rules.table import Rule, signature_of
from ..runtime import gather_adjoint, stored
from .array import Tensor, View, recording
from .engine import IN_PLACE, Cell, Sweep, call, is_inexact
from .memory import Node, owner_of, shell, stamp
from .modes import OWN
from .pullbacks import Plan, plan_of
from .written import part_of, written, written_rule

__all__ = ["WRITERS", "augmented", "setitem", "with_out"]

OWN[written] = Rule(written, reverse=written_rule, signature=signature_of(written_rule))


def write_back(sweep: Sweep, parents: tuple[Any, ...], plan: Plan, args: tuple[Any, ...], cell: Cell) -> bool:
    """The rule of `written` on arrays, in the cotangent's own memory: a loop of writes copies it once."""
    _, value, path, index, order = args
    shares = dict(zip(plan.positions, parents))
    if 1 in shares:
        sweep.hand(shares[1], stored(part_of(np.array(cell[1], order=order), path) if path else cell[1], index), value)
    if 0 in shares:
        if not cell[2] or path and not cell[1].flags[f"{order}_CONTIGUOUS"]:
            cell[1], cell[2] = np.array(cell[1], order=order), True
        part_of(cell[1], path)[index] = 0.0
        sweep.give(shares[0], cell[1])
    return True


IN_PLACE[written] = write_back


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value``"""
    root, index = root_to_write(self), plain_index(index)
    value = listed_value(value)
    given, node = (value.value, value.node) if isinstance(value, Tensor) else (value, None)
    if type(given) is np.ndarray and np.may_share_memory(given, self.value):
        given = given.copy()
    old = root.node
    recorded = recording() and is_inexact(self.value) and (node is not None if old is None else old.plan is not None)
    path = path_of(self) if recorded else ()
    order = order_of(root.value) if path else "K"
    self.value[index] = given
    stamp(self.value, index)
    if recorded:
        parents = [(k, n) for k, n in enumerate((old, node)) if n is not None]
        plan = plan_of(written, OWN[written], 5, (), tuple([k for k, _ in parents]))
        args = (shell(root.value), shell(given), path, index, order)
        replace_node(root, Node(plan, args, None, tuple([n for _, n in parents])))


def listed_value(value: Any) -> Any:
    """A value to store, in one array where it is a list."""
    if not isinstance(value, (list, tuple)):
        return value
    return np.stack(value) if any(isinstance(v, Tensor) for v in value) else np.array(value)


def path_of(x: Tensor) -> tuple[Any, ...]:
    """The way from the root to `x`, which has to lead from the root's cotangent to that of `x`, too."""
    path = x.path if isinstance(x, View) and x.root is not None else ()
    if any(step.fn is np.imag for step in path):
        raise AliasError("the imaginary part of a tensor was written to", "write `z[...] = z.real + 1j * values`")
    return path


def root_to_write(x: Tensor) -> Tensor:
    """The tensor in whose memory `x` lies, refused if that is a leaf whose gradient is wanted."""
    root = x.root if isinstance(x, View) and x.root is not None else x
    if recording() and root.node is not None and root.node.plan is None and not (isinstance(x, View) and x.cut):
        raise ArgumentRuntimeError(
            "a leaf that requires a gradient was to be written to: write under no_grad(), or to a copy"
        )
    return root


def order_of(array: np.ndarray) -> str:
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise AliasError("a view of an array that is not contiguous was written to", "write to the array by index")
    return "C" if array.flags.c_contiguous else "F"


def replace_node(root: Tensor, node: Node) -> None:
    """Give the root its new place on the tape, and the gradient that it retains with it."""
    old = root.node
    if old is not None:
        node.owner, old.owner = old.owner, None
    root.node = node


def plain_index(index: Any) -> Any:
    """An index to keep: of plain values, in memory of its own."""
    if isinstance(index, Tensor):
        return np.array(index.value)
    if type(index) in (list, np.ndarray):
        return np.array(index)
    return tuple([plain_index(part) for part in index]) if type(index) is tuple else index


def into(x: Tensor, new: Any, casting: Any = "same_kind") -> None:
    """Write a result into `x`, which takes its place on the tape."""
    root = root_to_write(x)
    made = new if isinstance(new, Tensor) else Tensor(np.asarray(new), None)
    if made.shape != x.shape:
        raise ValueError(f"non-broadcastable output operand with shape {x.shape} doesn't match the shape {made.shape}")
    if not np.can_cast(made.dtype, x.dtype, casting):
        raise TypeError(f"Cannot cast output from {made.dtype!r} to {x.dtype!r} with casting rule {casting!r}")
    if made.node is not None:
        unshare(made.node, owner_of(x.value))
    if root is x and made.node is not None and made.dtype == x.dtype:
        np.copyto(x.value, made.value)
        stamp(x.value, ...)
        replace_node(x, made.node)
    else:
        setitem(x, ..., made)


def unshare(node: Node, owner: np.ndarray) -> None:
    """Keep copies of the saved values that lie in memory which is about to be written to."""
    read = node.plan.read if node.plan is not None and node.args is not None else ()
    values = list(node.args)
    for k in read:
        if type(values[k]) is np.ndarray and owner_of(values[k]) is owner:
            values[k] = values[k].copy()
    node.args = tuple(values)


def sort(self: Tensor, axis: int = -1, kind: Any = None) -> None:
    """``self.sort()``"""
    into(self, np.sort(self, axis, kind))  # type: ignore[call-overload]


def augmented(fn: Callable[[Any, Any], Any]) -> Callable[[Tensor, Any], Tensor]:
    """An augmented assignment; of a NumPy scalar it makes a new tensor."""

    def method(self: Tensor, other: Any) -> Tensor:
        root_to_write(self)
        new = fn(self, other)
        if type(self.value) is not np.ndarray:
            return new
        into(self, new)
        return self

    return method


# ``out=`` and NumPy's functions that write


def with_out(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `fn` and write its results where `out` says."""
    settings = {k: v for k, v in kwargs.items() if k not in ("out", "where", "casting")}
    outs, where = kwargs["out"], kwargs.get("where", True)
    targets = outs if isinstance(outs, tuple) else (outs,)
    if where is not True:
        shape = np.shape(targets[0])
        place = np.broadcast_to(where.value if isinstance(where, Tensor) else where, shape)
        parts = call(fn, tuple([np.broadcast_to(a, shape)[place] for a in args]), settings)
        writable(targets[0], parts)[place] = parts
        return outs if not isinstance(outs, tuple) else targets[0]
    found = call(fn, args, settings)
    for target, new in zip(targets, found if isinstance(found, (tuple, list)) else (found,)):
        if target is not None:
            store(writable(target, new), new, kwargs.get("casting", "same_kind"))
    return targets[0] if len(targets) == 1 else targets


def store(target: Any, new: Any, casting: Any) -> None:
    if isinstance(target, Tensor):
        into(target, new, casting)
    else:
        np.copyto(target, new.value if isinstance(new, Tensor) else new, casting=casting)


def writable(target: Any, new: Any) -> Any:
    """The target of a write, refused if it is a plain array and a gradient would be lost in it."""
    if not isinstance(target, Tensor) and isinstance(new, Tensor) and new.node is not None:
        raise ArgumentRuntimeError(
            "a tensor that requires a gradient was to be written into a plain array, which would lose it: make the "
            "array a tensor (tensor(np.zeros(n)), np.zeros_like(t)), or use t.detach()"
        )
    return target


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if where is True:
        store(writable(dst, src), np.broadcast_to(src, dst.shape) if np.shape(src) != dst.shape else src, casting)
    else:
        place = np.broadcast_to(where.value if isinstance(where, Tensor) else where, dst.shape)
        writable(dst, src)[place] = np.broadcast_to(src, dst.shape)[place]


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if mode != "raise":
        raise NoRule("np.put with a mode has no derivative rule", "index with indices inside the array")
    places = np.ravel(ind)
    if not is_empty(v):
        Flat(writable(a, v))[places] = np.resize(v, places.shape)


def is_empty(values: Any) -> bool:
    """True for what NumPy repeats to no values at all, so that it writes nothing."""
    return 0 in np.shape(values)


class Flat:
    """The flat view ``a.flat``: all elements in one row, read as copies, and written in place."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> int:
        return self.array.size

    def __getitem__(self, index: Any) -> Any:
        found = np.ravel(self.array)[index]
        return found.copy() if found.ndim else found

    def __setitem__(self, index: Any, value: Any) -> None:
        places, value = np.arange(self.array.size)[plain_index(index)], listed_value(value)
        if is_empty(value):
            return
        if np.ndim(value) and np.shape(value) != places.shape:
            value = np.resize(value, places.shape)
        self.array[np.unravel_index(places, self.array.shape)] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(in_a_row, args), **kwargs)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return fn(*map(in_a_row, args), **kwargs)


def in_a_row(x: Any) -> Any:
    return np.ravel(x.array) if isinstance(x, Flat) else x


def place(arr: Any, mask: Any, vals: Any) -> None:
    where = np.asarray(mask, bool)
    if is_empty(vals) and np.any(where):
        raise ValueError("Cannot insert from an empty array!")
    writable(arr, vals)[where] = np.resize(vals, np.count_nonzero(where))


def putmask(a: Any, mask: Any, values: Any) -> None:
    where = np.asarray(mask, bool)
    if not is_empty(values):
        writable(a, values)[where] = np.resize(values, np.shape(a))[where]


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if wrap:
        raise NoRule("np.fill_diagonal with wrap has no derivative rule", "write to the array by index")
    rows = np.arange(min(np.shape(a)))
    if is_empty(val):
        return
    writable(a, val)[(rows,) * np.ndim(a)] = val if np.ndim(val) == 0 else np.resize(val, rows.shape)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        Flat(writable(arr, values))[np.asarray(indices)] = values
        return
    every: list[Any] = list(np.ix_(*[np.arange(n) for n in np.shape(arr)]))
    every[axis] = np.asarray(indices)
    writable(arr, values)[tuple(every)] = values


def add_at(a: Any, indices: Any, b: Any) -> None:
    store(writable(a, b), a + added(a, indices, b), "same_kind")


def subtract_at(a: Any, indices: Any, b: Any) -> None:
    store(writable(a, b), a - added(a, indices, b), "same_kind")


def added(a: Any, indices: Any, b: Any) -> Any:
    """An array like `a` with `b` added up at its places."""
    index = plain_index(indices)
    shape = np.shape(np.empty(np.shape(a), bool)[index])
    value = a.value if isinstance(a, Tensor) else a
    return call(gather_adjoint, (np.broadcast_to(b, shape), value, index), {})


WRITERS: dict[Any, Callable[..., None]] = {
    np.copyto: copyto, np.put: put, np.place: place, np.putmask: putmask, np.fill_diagonal: fill_diagonal,
    np.put_along_axis: put_along_axis, np.add.at: add_at, np.subtract.at: subtract_at,
}  # fmt: skip
