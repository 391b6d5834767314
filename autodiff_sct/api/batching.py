"""`vmap`: a function of one example as a function of a batch, and gradients of each example."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec

import numpy as np

from ..core.process_state import require_recording
from ..errors import ArgumentTypeError, ArgumentValueError
from .arguments import checked_callable, name_of
from .batches import Batch, BatchProgram, with_axis
from .entry import shared
from .gradients import grad
from .tracebacks import shortened

__all__ = ["BatchedFunction", "over_examples", "per_example_grad", "vmap"]

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
