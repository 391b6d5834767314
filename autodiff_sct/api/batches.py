"""The arguments of a function of batches, and the run of an emitted program on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiler.domain.leaves import children, with_children
from ..core import thresholds
from ..errors import ArgumentTypeError, ArgumentValueError
from ..runtime.batching import run
from ..runtime.batching.lanes import Diverges, Lanes, Unbatchable, lifted
from ..runtime.objects import is_sparse
from ..tensor import Tensor, wrap
from .entry import made

__all__ = ["Batch", "BatchProgram", "with_axis"]


@dataclass
class Rows:
    """An array of all examples, these on its first axis."""

    array: np.ndarray
    of_tensor: bool

    def example(self, k: int) -> Any:
        return wrap(np.asarray(self.array[k])) if self.of_tensor else self.array[k]


@dataclass
class Batch:
    """The arguments of a call, with `Rows` in the place of what differs between examples."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    count: int

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: dict[str, Any], axes: Iterable[int | None]) -> Batch:
        """Take the arguments of a call apart."""
        sizes: dict[int, str] = {}
        rows = [moved(v, axis, f"argument {k}", sizes) for k, (v, axis) in enumerate(zip(args, axes))]
        named = {name: moved(v, 0, f"argument {name!r}", sizes) for name, v in kwargs.items()}
        if not sizes:
            raise ArgumentValueError("no argument has an axis of examples: give one of them an axis in in_axes")
        if len(sizes) > 1:
            found = ", ".join(f"{n} in {where}" for n, where in sizes.items())
            raise ArgumentValueError(f"the arguments differ in the number of examples: {found}")
        if 0 in sizes:
            raise ArgumentValueError("the batch has no example, so that the shape of the result is not known")
        return cls(tuple(rows), named, next(iter(sizes)))

    def replaced(self, fn: Callable[[Rows], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with something else in the place of the rows."""
        args = tuple([mapped(v, Rows, fn) for v in self.args])
        return args, {name: mapped(v, Rows, fn) for name, v in self.kwargs.items()}

    def example(self, k: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of one example."""
        return self.replaced(lambda rows: rows.example(k))

    def part(self, mask: np.ndarray) -> Batch:
        """Return the batch of some of the examples."""
        return Batch(*self.replaced(lambda rows: Rows(rows.array[mask], rows.of_tensor)), int(mask.sum()))


def moved(value: Any, axis: int | None, where: str, sizes: dict[int, str]) -> Any:
    """Return an argument with rows where it has arrays of examples, and note how many these are."""
    if axis is None:
        return value
    if isinstance(value, (np.ndarray, Tensor)):
        array = np.asarray(value)
        if not -array.ndim <= axis < array.ndim:
            raise ArgumentValueError(
                f"{where} has an array of shape {array.shape}, which has no axis {axis}: give it None in in_axes"
            )
        sizes.setdefault(array.shape[axis], where)
        return Rows(np.ascontiguousarray(np.moveaxis(array, axis, 0)), isinstance(value, Tensor))
    if isinstance(value, (float, complex, int, np.generic)) and not isinstance(value, bool):
        raise ArgumentValueError(f"{where} holds the number {value!r}, which has no axis: give it None in in_axes")
    inside = children(value)
    if inside is None:
        return value
    if is_sparse(value):
        raise ArgumentValueError(
            f"{where} holds a sparse matrix, which has no axis of examples: give it None in in_axes"
        )
    return with_children(value, {key: moved(part, axis, where, sizes) for key, part in inside.items()})


def mapped(value: Any, kind: type, fn: Callable[[Any], Any]) -> Any:
    """Return a value with something else in the place of what is of a kind."""
    if isinstance(value, kind):
        return fn(value)
    inside = None if isinstance(value, (Lanes, Rows)) else children(value)
    if inside is None:
        return value
    found = {key: mapped(part, kind, fn) for key, part in inside.items()}
    return with_children(value, found) if any(found[key] is not inside[key] for key in found) else value


class BatchProgram:
    """The program emitted for one example of a function, run for batches."""

    original: Any = None  # a weak reference to the function of which `fn` is a twin (see `entry`)

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.single = made("Adjoint", fn, (), (), False, False, True, "numpy")
        self.reasons: dict[Any, str | None] = {}  # by variants that have run: why they run example by example

    def run(self, batch: Batch) -> tuple[Any, str | None]:
        """Return the result with `Rows` in it, and why it was computed example by example if it was."""
        args, kwargs = batch.example(0)
        slots, values = self.single.bind(args, kwargs)
        variant = self.single.variant(slots, values, args, kwargs)
        is_new = variant not in self.reasons
        reason = reason_against(variant) if is_new else self.reasons[variant]
        if reason is None:
            if variant.written or variant.rebound or variant.emitted.outside:
                self.one(batch, 0)  # checks that arguments which are written share no memory
            try:
                results = self.parted(batch, self.single.on_arrays(variant).emitted, thresholds.PARTS_OF_A_BATCH)
                if is_new:
                    self.compare(batch, results)
                self.reasons[variant] = None
                return results, None
            except Exception as error:  # what the program itself raises, it raises below
                reason = str(error)
        results = joined([self.one(batch, k) for k in range(batch.count)])
        self.reasons[variant] = reason
        return results, reason

    def one(self, batch: Batch, k: int) -> Any:
        """Return the result of one example."""
        return self.single.run_carefully(*batch.example(k), None)[0]

    def parted(self, batch: Batch, emitted: Any, parts: int) -> Any:
        """Return the result for a batch, which is parted where its examples take different branches."""
        args, kwargs = batch.replaced(lambda rows: Lanes(read_only(rows.array)))
        values = self.single.bind(args, kwargs)[1]
        outside = [external.read() for external in emitted.externals]
        try:
            found = run(emitted.function, batch.count, [*values, *outside])
        except Diverges as ways:
            masks = ways.masks
        else:
            return in_rows(found, batch.count)
        if len(masks) > parts:
            raise Unbatchable("the examples take too many different branches")
        results = [self.parted(batch.part(mask), emitted, parts // len(masks)) for mask in masks]
        return merged(results, masks, batch.count)

    def compare(self, batch: Batch, results: Any) -> None:
        """Unbatchable unless the first and the last example are what the program of one example computes."""
        for k in {0, batch.count - 1}:
            wanted = joined([self.one(batch, k)])
            for found, rows in zip(all_rows(results), all_rows(wanted), strict=True):
                a, b = found.array[k], rows.array[0]
                precise = np.finfo(b.dtype).eps ** 0.5 if b.dtype.kind in "fc" else 0.0
                size = np.max(np.abs(b[np.isfinite(b)]), initial=0.0) if b.dtype.kind in "fc" else 0.0
                if a.dtype != b.dtype or not np.allclose(a, b, precise, precise * size, equal_nan=True):
                    raise Unbatchable("the program for all examples differs from that of one example")


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that nothing can be written into: a program writes into copies of its arguments."""
    view = array.view()
    view.flags.writeable = False
    return view


def reason_against(variant: Any) -> str | None:
    """Return why a program has to run example by example; None where that is to be seen."""
    if variant.emitted.effects:
        return "the program does something besides returning its result"
    if variant.tensors or variant.swapped:
        return "the arguments are tensors"
    return None


def in_rows(value: Any, count: int) -> Any:
    """Return a result with rows for its arrays and numbers, which examples may share."""
    if isinstance(value, (Lanes, np.ndarray, np.generic, bool, int, float, complex)):
        return Rows(lifted(value, count).data, False)
    inside = children(value)
    if inside is None:
        if value is None:
            return value
        raise Unbatchable(f"the result holds a {type(value).__name__}")
    return with_children(value, {key: in_rows(part, count) for key, part in inside.items()})


def joined(results: list[Any]) -> Any:
    """Return the results of examples as one, with rows for arrays and numbers."""
    first = results[0]
    if isinstance(first, (Tensor, np.ndarray, np.generic, bool, int, float, complex)):
        shapes = {np.shape(result) for result in results}
        if len(shapes) > 1:
            raise ArgumentValueError(f"the function returns arrays of different shapes for the examples: {shapes}")
        return Rows(np.stack([np.asarray(result) for result in results]), isinstance(first, Tensor))
    inside = None if first is None else children(first)
    if inside is None:
        if all(result is first for result in results):
            return first
        raise ArgumentTypeError(f"the function of a batch returns arrays and numbers, not {type(first).__name__}")
    parts = [children(result) or {} for result in results]
    return with_children(first, {key: joined([part[key] for part in parts]) for key in inside})


def merged(results: list[Any], masks: list[np.ndarray], count: int) -> Any:
    """Return the results of the parts of a batch as one."""
    first = results[0]
    if isinstance(first, Rows):
        if len({(part.array.shape[1:], part.array.dtype) for part in results}) > 1:
            raise Unbatchable("the branches return arrays of different shapes or kinds")
        whole = np.empty((count, *first.array.shape[1:]), first.array.dtype)
        for part, mask in zip(results, masks):
            whole[mask] = part.array
        return Rows(whole, False)
    inside = children(first)
    if inside is None:
        return first
    parts = [children(result) or {} for result in results]
    return with_children(first, {key: merged([part[key] for part in parts], masks, count) for key in inside})


def all_rows(value: Any) -> list[Rows]:
    """Return the rows in a result, in order."""
    if isinstance(value, Rows):
        return [value]
    return [rows for part in (children(value) or {}).values() for rows in all_rows(part)]


def with_axis(results: Any, axis: int) -> Any:
    """Return a result whose arrays have the examples on an axis of theirs."""

    def placed(rows: Rows) -> Any:
        array = rows.array if rows.array.flags.writeable else rows.array.copy()
        if not -array.ndim <= axis < array.ndim:
            raise ArgumentValueError(
                f"out_axes is {axis}, but a result has {array.ndim} axes with that of the examples"
            )
        array = np.moveaxis(array, 0, axis)
        return wrap(array) if rows.of_tensor else array

    return mapped(results, Rows, placed)
