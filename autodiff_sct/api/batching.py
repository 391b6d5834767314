"""`vmap`: a function of one example as one of a batch, with the run of its program, and gradients of each example."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec

import numpy as np

from ..compiler.domain.pytree import children, with_children
from ..core import thresholds
from ..core.process_state import require_recording
from ..errors import ArgumentTypeError, ArgumentValueError
from ..runtime.batching import run
from ..runtime.batching.lanes import Diverges, Lanes, Unbatchable, lifted
from ..runtime.objects import is_sparse
from ..tensor import Tensor, wrap
from .arguments import checked_callable, name_of
from .entry import made, shared
from .gradients import grad
from .tracebacks import shortened

__all__ = ["Batch", "BatchProgram", "BatchedFunction", "over_examples", "per_example_grad", "vmap", "with_axis"]


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
        self.single.assuming = False  # integers of the examples differ
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


P = ParamSpec("P")


def vmap(fn: Callable[P, Any], in_axes: Any = 0, out_axes: int = 0) -> BatchedFunction[P]:
    """Make the function that applies `fn` to each example of a batch.

    The program that the compiler emits for one example runs once on the arrays of all examples: each operation of
    NumPy's is carried out for the whole batch.  A function that NumPy has no batched form of runs example by example
    within that program.  Where examples take different branches, the batch is parted by branch; where that gives too
    many parts, or the program has effects besides its result (it prints, or draws random numbers), the whole program
    runs example by example, and `BatchedFunction.reason` says why.  The first call with arguments of a kind compares
    the first and the last example with the program of one example.

    Inside a differentiated program, as in ``grad(lambda w: vmap(f, (None, 0))(w, x).sum())``, it is a loop over the
    examples; ``vmap(grad(f), (None, 0))`` runs batched.

    Parameters
    ----------
    fn : callable
        A function of one example; what `grad`, `jacfwd`, `hessian` and the like return is one, too.
    in_axes : int, None, or tuple of them
        The axis of the examples in each argument: None for one that all examples share.  It is the axis of every array
        in a list, tuple, dict or object.  Arguments given by keyword have the examples on their first axis.
    out_axes : int
        The axis of the examples in each array of the result.

    Returns
    -------
    BatchedFunction
        Called as `fn` is.  Every array and number of the result has one axis more.

    Raises
    ------
    TypeError
        If `fn` cannot be called, or `in_axes` or `out_axes` is something else.
    ValueError
        On the call, if arguments differ in the number of examples, have no such axis, or there is no example; or if
        `in_axes` has another length than the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> vmap(lambda x, w: np.sum(x * w), (0, None))(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0]))
    array([21., 43.])
    """
    require_recording()
    checked_callable(fn)
    for axis in in_axes if isinstance(in_axes, tuple) else (in_axes,):
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
            raise ArgumentTypeError(f"in_axes is an int, None, or a tuple of them for each argument, not {in_axes!r}")
    if isinstance(out_axes, bool) or not isinstance(out_axes, int):
        raise ArgumentTypeError(f"out_axes is an int, not {out_axes!r}")
    return BatchedFunction(fn, in_axes, out_axes)


def per_example_grad(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Make the function that computes the gradient of `fn` for each example of a batch.

    It is ``vmap(grad(fn, grad_position), in_axes)``, in which all examples share the arguments that are differentiated
    with respect to, and every other argument has the examples on its first axis.

    Parameters
    ----------
    fn : callable
        The loss of one example, as ``loss(parameters, x, y)``.
    grad_position : int or tuple of int
        The positions of the arguments to differentiate with respect to.

    Returns
    -------
    callable
        Called with the parameters and with batches.  Its gradients have the examples on their first axis.

    Raises
    ------
    TypeError, ValueError
        As `grad` and `vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> per_example_grad(lambda w, x: (w @ x) ** 2)(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[2., 0.],
           [0., 4.]])
    """
    gradient = grad(fn, grad_position)
    shared = grad_position if isinstance(grad_position, tuple) else (grad_position,)

    @functools.wraps(gradient, updated=())
    def per_example(*args: Any) -> Any:
        return vmap(gradient, tuple([None if k in shared else 0 for k in range(len(args))]))(*args)

    return per_example


class BatchedFunction(Generic[P]):
    """A function of batches, made by `vmap`.

    Attributes
    ----------
    fn : callable
        The function of one example.
    in_axes, out_axes
        The axes of the examples.
    reason : str or None
        Why the last call ran example by example; None where it ran batched.
    """

    __autodiff_gradient__ = True  # the compiler follows calls of it

    def __init__(self, fn: Callable[..., Any], in_axes: Any, out_axes: int) -> None:
        self.fn, self.in_axes, self.out_axes = fn, in_axes, out_axes
        self.reason: str | None = None
        self.__name__ = name_of(fn)
        self.__doc__ = getattr(fn, "__doc__", None)

    @shortened(None)
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        batch = Batch.of(args, kwargs, axes_of(self.in_axes, len(args)))
        program = shared(BatchProgram, self.fn, ("batch",))
        results, self.reason = program.run(batch)
        return with_axis(results, self.out_axes)

    def __repr__(self) -> str:
        return f"<{self.__name__} of a batch, in_axes={self.in_axes}, out_axes={self.out_axes}>"


def axes_of(in_axes: Any, count: int) -> tuple[int | None, ...]:
    """Return the axis of the examples in each argument: ValueError where there are more or fewer."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * count
    if len(axes) != count:
        raise ArgumentValueError(f"in_axes is {in_axes!r}, for {len(axes)} arguments, but {count} were given")
    return axes


# The compiler inlines these: `vmap` inside a differentiated program.


def over_examples(fn: Any, axes: Any, out_axes: Any, count: Any, *args: Any) -> Any:
    """A loop over the examples, whose results are stacked."""
    results = [fn(*[x if axis is None else nth(x, k, axis) for x, axis in zip(args, axes)]) for k in range(count)]
    return stacked(results, out_axes)


def nth(x: Any, k: Any, axis: Any) -> Any:
    """Example `k` of an argument."""
    return x[k] if axis == 0 else np.moveaxis(x, axis, 0)[k]


def stacked(results: Any, out_axes: Any) -> Any:
    """The results of all examples in arrays."""
    if isinstance(results[0], tuple):
        return tuple([np.stack([result[j] for result in results], out_axes) for j in range(len(results[0]))])
    return np.stack(results, out_axes)
