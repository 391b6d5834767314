"""`GradOperation` and the maps over containers: MindSpore's ``ops.composite``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.arguments import checked_callable, checked_flag, name_of
from ..api.gradfunction import GradFunction
from ..errors import ArgumentTypeError

__all__ = ["GradOperation", "HyperMap", "Map", "MultitypeFuncGraph"]


class GradOperation:
    """The older way to a gradient function: settings first, then the function.

    Parameters
    ----------
    get_all : bool
        By all inputs, as a tuple, rather than by the first.
    get_by_list : bool
        By the weights that are given with the function: as a tuple, or with `get_all` as the pair of both.
    sens_param : bool
        Whether the last argument of the call is the seed.

    Raises
    ------
    TypeError
        If a setting is not a bool; if there are no weights with `get_by_list`.

    Examples
    --------
    >>> GradOperation(get_all=True)(lambda x, y: x * y)(3.0, 4.0)
    (4.0, 3.0)
    """

    # What the compiler knows it by, to differentiate what it makes.
    __autodiff_gradient__ = True

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        self.get_all = checked_flag(get_all, "get_all")
        self.get_by_list = checked_flag(get_by_list, "get_by_list")
        self.sens_param = checked_flag(sens_param, "sens_param")

    def __call__(self, fn: Any, weights: Any = None) -> Any:
        """Make the gradient function of `fn`."""
        checked_callable(fn)
        chosen = self.weights_of(fn, weights)
        if self.get_all:
            return GradientByAll(fn, chosen, self.sens_param)
        return GradFunction(fn, None if self.get_by_list else 0, chosen, False, False, self.sens_param)

    def weights_of(self, fn: Any, weights: Any) -> Any:
        """The weights by which it is differentiated: those of a Cell where none are given."""
        if not self.get_by_list:
            return None
        if weights is None and hasattr(fn, "trainable_params"):
            return fn.trainable_params()
        if weights is None:
            raise ArgumentTypeError("get_by_list=True wants the weights as the second argument")
        return weights


class GradientByAll:
    """The gradient by all inputs, however many a call has."""

    __autodiff_gradient__ = True

    def __init__(self, fn: Callable[..., Any], weights: Any, sens_param: bool) -> None:
        self.fn = fn
        self.weights = weights
        self.sens_param = sens_param
        self.by_count: dict[int, GradFunction] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.gradient_of(len(args) + len(kwargs) - self.sens_param)(*args, **kwargs)

    def gradient_of(self, count: int) -> GradFunction:
        """The gradient function by `count` inputs; by the weights alone where there are none."""
        found = self.by_count.get(count)
        if found is None:
            positions = tuple(range(count))
            found = GradFunction(self.fn, positions, self.weights, False, False, self.sens_param, "grad", True)
            self.by_count[count] = found
        return found

    def __repr__(self) -> str:
        return f"<gradient of {name_of(self.fn)} by all inputs>"


class HyperMap:
    """A function applied to the corresponding elements of tuples and lists, nested ones included.

    Parameters
    ----------
    ops : callable, optional
        The function; without one it is the first argument of the call.
    """

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        self.ops = ops

    def __call__(self, *args: Any) -> Any:
        """Apply."""
        if self.ops is None:
            return mapped(args[0], *args[1:])
        return mapped(self.ops, *args)


def mapped(function: Callable[..., Any], *sequences: Any) -> Any:
    """The results of `function`, in the structure of the first argument."""
    if isinstance(sequences[0], (tuple, list)):
        return tuple([mapped(function, *items) for items in zip(*sequences)])
    return function(*sequences)


class Map(HyperMap):
    """A function applied to the corresponding elements of tuples and lists, not nested ones."""

    def __call__(self, *args: Any) -> Any:
        """Apply."""
        if self.ops is None:
            return tuple([args[0](*items) for items in zip(*args[1:])])
        return tuple([self.ops(*items) for items in zip(*args)])


class MultitypeFuncGraph:
    """A function with one body; MindSpore registers one for each combination of types, here the last one counts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.body: Callable[..., Any] | None = None

    def register(self, *types: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The decorator that gives the body."""

        def keep(body: Callable[..., Any]) -> Callable[..., Any]:
            self.body = body
            return body

        return keep

    def __call__(self, *args: Any) -> Any:
        """Apply the body."""
        if self.body is None:
            raise ArgumentTypeError(f"{self.name} has no registered function")
        return self.body(*args)
