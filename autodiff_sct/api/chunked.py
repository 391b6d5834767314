"""Gradients of functions of dask arrays: the emitted program runs on them and makes a graph.

The program is that for NumPy's arrays of the same shapes and dtypes; `runtime.chunked` runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler.domain.pytree import children, is_chunked, with_children
from ..errors import ArgumentTypeError

if TYPE_CHECKING:
    from ..compiler.driver.dispatch import Adjoint

__all__ = ["run_chunked"]


def run_chunked(
    adjoint: Adjoint, args: tuple[Any, ...], kwargs: dict[str, Any], seeds: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The value and the gradients of a call with dask arrays among its arguments, as dask arrays."""
    from ..compiler.ad.strong_zeros import EVERY, NONE
    from ..compiler.codegen.load import note_origin
    from ..runtime.chunked.run import lazy, run

    if seeds or adjoint.weights:
        raise ArgumentTypeError("dask arrays go with gradients by positions, without `weights` and `sens_param`")
    given, named = mapped(args, stand_in), mapped(kwargs, stand_in)
    slots, values = adjoint.bind(given, named)
    variant = adjoint.variant(slots, values, given, named)
    emitted = variant.emitted
    if emitted.effects or variant.written or variant.rebound or emitted.outside or variant.tensors or variant.swapped:
        raise ArgumentTypeError(
            "a function of dask arrays may only compute: it prints, draws random numbers, takes tensors or writes into "
            "its arguments; write into a copy (`x = x.copy()`)"
        )
    # Nobody can look for NaN before the graph is computed, so zero derivatives stay zero from the beginning.
    strong = EVERY if variant.may_be_nan else NONE
    emitted = adjoint.variant_of(variant, lists=False, careful=True, strong=strong, backend="numpy").emitted
    values = adjoint.bind(mapped(args, lazy), mapped(kwargs, lazy))[1]
    outside = [lazy(external.read()) for external in emitted.externals]
    assert isinstance(emitted.function, FunctionType)
    try:
        result = run(emitted.function, [*mapped(values, lazy), *outside])
    except Exception as error:
        note_origin(error, variant.origins, emitted.function.__code__.co_filename)
        raise
    value, gradients, weights = adjoint.outcome(variant, values, result)
    chosen = [values[k] for k in variant.wrt]
    return computed_later(value), tuple(like(g, x) for g, x in zip(gradients, chosen)), weights


def mapped(value: Any, fn: Callable[[Any], Any]) -> Any:
    """A value with something else in the place of the arrays in it."""
    if is_chunked(value) or isinstance(value, np.ndarray):
        return fn(value)
    if not isinstance(value, (tuple, list, dict)):
        return value
    return with_children(value, {key: mapped(part, fn) for key, part in (children(value) or {}).items()})


def stand_in(array: Any) -> Any:
    """An array of NumPy's without memory of its own that has the shape and the dtype of a dask array."""
    if isinstance(array, np.ndarray):
        return array
    if any(n != n for n in array.shape):
        raise ArgumentTypeError("a dask array of unknown shape: call its compute_chunk_sizes() first")
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def computed_later(value: Any) -> Any:
    """A result with dask arrays in it."""
    from ..runtime.chunked.arrays import Chunked

    if isinstance(value, Chunked):
        return value.array
    inside = children(value) if isinstance(value, (tuple, list, dict)) else None
    return value if inside is None else with_children(value, {key: computed_later(x) for key, x in inside.items()})


def like(gradient: Any, argument: Any) -> Any:
    """A gradient with the chunks of its argument."""
    import dask.array as da

    from ..runtime.chunked.arrays import Chunked

    if not isinstance(argument, Chunked):
        inside = children(argument) if isinstance(argument, (tuple, list, dict)) else None
        if inside is None:
            return computed_later(gradient)
        return with_children(gradient, {key: like(gradient[key], part) for key, part in inside.items()})
    found = computed_later(gradient)
    found = found if is_chunked(found) else da.from_array(np.asarray(found))
    return found.rechunk(argument.array.chunks)
