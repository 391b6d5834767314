"""Nodes of the tape, and the memory of what they save: what is kept, what has changed since, and views.

Each element of an array that was written to has a stamp, the time of its last write.  A saved value whose elements have
stamps younger than its node has changed, and no derivative can be computed from it.
"""

from __future__ import annotations

from itertools import count
from typing import Any
from weakref import ref

import numpy as np

from ..core import thresholds
from ..errors import ArgumentRuntimeError
from .pullbacks import Plan

__all__ = ["Node", "check_unchanged", "kept", "owner_of", "sampled", "shell", "stamp", "tick"]

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


STAMPS: dict[int, tuple[Any, np.ndarray]] = {}
SHELLS: dict[Any, np.ndarray] = {}
MOST = 1000  # shells that are remembered


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array in whose memory `array` lies."""
    while type(array.base) is np.ndarray:
        array = array.base
    return array


def shell(value: Any) -> Any:
    """An array of the shape and the dtype of `value` without its memory; each number in it is NaN."""
    if type(value) is np.ndarray:
        if value.nbytes <= thresholds.BYTES_KEPT and value.base is None:
            return value
        key = (value.shape, value.dtype.char)
        found = SHELLS.get(key)
        return found if found is not None else new_shell(key, value)
    if type(value) in (list, tuple):
        return type(value)([shell(item) for item in value])
    return value


def new_shell(key: Any, value: np.ndarray) -> np.ndarray:
    if len(SHELLS) > MOST:
        SHELLS.clear()
    filling = np.full((), np.nan if value.dtype.kind in "fc" else 0).astype(value.dtype)
    SHELLS[key] = made = np.ndarray(value.shape, value.dtype, filling.tobytes(), 0, (0,) * value.ndim)
    return made


def kept(value: Any, given: Any, guards: list[Any]) -> Any:
    """A value that is read on the way back.

    Tensors' memory is stamped when it changes.  What changes in an array of the caller's, nobody tells: a small one is
    copied, of a large one samples are kept.
    """
    if type(given) is np.ndarray:
        if given.nbytes <= thresholds.BYTES_COPIED:
            return given.copy()
        guards.append((given, sampled(given)))
    elif type(given) in (list, tuple):
        return type(value)([kept(v, g, guards) for v, g in zip(value, given)])
    return value


def sampled(array: np.ndarray) -> bytes:
    """Some numbers of an array, evenly spread, and its last."""
    flat = (
        array.reshape(-1)
        if array.flags.c_contiguous
        else array.T.reshape(-1)
        if array.flags.f_contiguous
        else array.flat
    )
    return flat[:: max(1, array.size // thresholds.SAMPLES_KEPT)].tobytes() + flat[-1:].tobytes()


def stamp(view: np.ndarray, index: Any) -> None:
    """Note that ``view[index]`` is written now."""
    stamps_of(view, make=True)[index] = tick()


def stamps_of(view: np.ndarray, make: bool = False) -> Any:
    """The stamps of the elements of `view`, None if its memory was never written to."""
    owner = owner_of(view)
    key = id(owner)
    found = STAMPS.get(key)
    if found is None:
        if not make:
            return None
        found = STAMPS[key] = (ref(owner, lambda gone: STAMPS.pop(key, None)), np.zeros(owner.size, np.int64))
    size = owner.itemsize
    offset = (view.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // size * 8
    return np.ndarray(view.shape, np.int64, found[1], offset, tuple([s // size * 8 for s in view.strides]))


def check_unchanged(node: Node) -> None:
    """Refuse to go back over a node one of whose saved values has changed."""
    plan = node.plan
    assert plan is not None
    for array, samples in node.guards:
        if sampled(array) != samples:
            raise changed(node)
    if STAMPS and plan.saves:
        for k in plan.read:
            check_array(node.args[k], node)
        if plan.result == "numbers":
            check_array(node.y, node)


def check_array(value: Any, node: Node) -> None:
    if type(value) is np.ndarray and value.size:
        stamps = stamps_of(value)
        if stamps is not None and stamps.max() > node.order:
            raise changed(node)
    elif isinstance(value, (list, tuple)):
        for item in value:
            check_array(item, node)


def changed(node: Node) -> ArgumentRuntimeError:
    name = getattr(node.plan.fn, "__name__", "a call") if node.plan is not None else "a call"
    return ArgumentRuntimeError(
        f"a value that the derivative of `{name}` needs was modified in place after the call: write to a copy instead"
    )
