"""`labelled`: gradients with respect to pandas and xarray objects, with their labels.

The package reads neither library: an object tells by the module of its class which one it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiler.domain.pytree import children, with_children
from ..errors import ArgumentTypeError
from .gradfunction import GradFunction

__all__ = ["labelled"]

KINDS = {("pandas", "Series"), ("pandas", "DataFrame"), ("xarray", "DataArray")}


def labelled(gradient: GradFunction[..., Any]) -> Callable[..., Any]:
    """Let a gradient take pandas and xarray objects, and return gradients with the labels of the arguments.

    The function that is differentiated gets the arrays of all ``Series``, ``DataFrame`` and ``DataArray`` arguments,
    also of those inside lists, tuples and dicts, without their labels: nothing is aligned, and methods are those of
    arrays.  The gradient with respect to such an argument is of its class, with its labels.

    Parameters
    ----------
    gradient : GradFunction
        What `grad` or `value_and_grad` returns, by positions alone.

    Returns
    -------
    callable
        Takes the arguments of `gradient`, and returns what it does.

    Raises
    ------
    TypeError
        If `gradient` is another function or differentiates by weights, or, at a call, if an object holds anything
        but numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> import autodiff_sct as ad
    >>> def loss(w, X):
    ...     return ((X @ w) ** 2).sum()
    >>> X = pd.DataFrame({"mass": [1.0, 2.0], "age": [0.0, 1.0]})
    >>> ad.labelled(ad.grad(loss))(pd.Series([1.0, 2.0], index=X.columns), X)
    mass    18.0
    age      8.0
    dtype: float64
    """
    if not isinstance(gradient, GradFunction) or gradient.weights is not None or gradient.return_ids:
        raise ArgumentTypeError("labelled takes a gradient by positions: write labelled(grad(f, grad_position=(0, 1)))")

    def with_labels(*args: Any, **kwargs: Any) -> Any:
        found = gradient(*map(arrays_of, args), **{name: arrays_of(value) for name, value in kwargs.items()})
        given = [*args, *kwargs.values()]
        arguments = tuple(given[position] for position in gradient.asked() or ())
        if gradient.kind == "value_and_grad":
            return found[0], relabelled_parts(found[1], arguments, gradient)
        if gradient.has_aux:
            return relabelled_parts(found[0], arguments, gradient), found[1]
        return relabelled_parts(found, arguments, gradient)

    return with_labels


def relabelled_parts(found: Any, arguments: tuple[Any, ...], gradient: GradFunction[..., Any]) -> Any:
    """The gradients by positions, each with the labels of its argument."""
    if len(arguments) == 1 and not gradient.always_tuple:
        return relabelled(found, arguments[0])
    return tuple(relabelled(part, argument) for part, argument in zip(found, arguments, strict=True))


def is_labelled(x: Any) -> bool:
    return any((c.__module__.partition(".")[0], c.__name__) in KINDS for c in type(x).__mro__)


def arrays_of(x: Any) -> Any:
    """An argument with arrays in the place of what is labelled."""
    if is_labelled(x):
        array = np.asarray(x)
        if array.dtype.kind not in "fciub":
            raise ArgumentTypeError(
                f"a {type(x).__name__} of dtype {array.dtype} is no array of numbers: "
                "choose its columns of numbers, `df[['a', 'b']]` or `df.select_dtypes('number')`"
            )
        return array
    if not isinstance(x, (list, tuple, dict)):
        return x
    return with_children(x, {key: arrays_of(part) for key, part in (children(x) or {}).items()})


def relabelled(gradient: Any, argument: Any) -> Any:
    """A gradient with the labels of the argument that it belongs to."""
    if is_labelled(argument):
        if hasattr(argument, "columns"):
            return type(argument)(gradient, index=argument.index, columns=argument.columns)
        if hasattr(argument, "index"):
            return type(argument)(gradient, index=argument.index, name=argument.name)
        return argument.copy(data=gradient)
    if not isinstance(argument, (list, tuple, dict)):
        return gradient
    parts = children(argument) or {}
    return with_children(gradient, {key: relabelled(gradient[key], part) for key, part in parts.items()})
