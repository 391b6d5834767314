"""Gradients over batches: computed by the workers of an executor, added in the order of the batches.

The sum has the same bits for every number of workers, and without any: the gradient of a batch depends on the batch
alone, and the additions have the order of the batches.
"""

from __future__ import annotations

import functools
import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .compiler.domain.pytree import children, has_derivative, with_children
from .errors import ArgumentValueError

__all__ = ["map_grad"]


def map_grad(g: Callable[..., Any], batches: Iterable[Any], executor: Any = None, *, ahead: int | None = None) -> Any:
    """The sum of ``g(*batch)`` over all batches.

    Parameters
    ----------
    g
        What `grad`, `value_and_grad` or another transformation returns, or any function whose results can be added:
        numbers, arrays, sparse matrices, and tuples, lists, dicts and objects of them.
    batches
        Tuples of arguments; anything else is the only argument.  They are taken as they are needed.
    executor
        Anything with the `submit` of `concurrent.futures`: a thread or process pool, joblib's loky, a
        ``dask.distributed.Client``, an ``mpi4py.futures.MPIPoolExecutor``.  None computes here.
    ahead
        The number of batches that are handed out before the first result is back, which bounds their memory; twice the
        number of this machine's processors if not given.

    Returns
    -------
    object
        The sum, in the containers in which `g` returns its results.

    Raises
    ------
    ArgumentValueError
        If there is no batch.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import numpy as np
    >>> import autodiff_sct as ad
    >>> def loss(w, x):
    ...     return np.sum((x @ w) ** 2)
    >>> w, x = np.array([1.0, 2.0]), np.arange(8.0).reshape(4, 2)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     ad.parallel.map_grad(ad.value_and_grad(loss), [(w, x[:2]), (w, x[2:])], pool)
    (np.float64(664.0), array([384., 472.]))
    """
    results = in_order(g, batches, executor, 2 * (os.cpu_count() or 1) if ahead is None else ahead)
    for first in results:
        return functools.reduce(added, results, first)
    raise ArgumentValueError("map_grad got no batches")


def in_order(g: Callable[..., Any], batches: Iterable[Any], executor: Any, ahead: int) -> Iterator[Any]:
    """The results of all batches, in their order."""
    given = (batch if isinstance(batch, tuple) else (batch,) for batch in batches)
    if executor is None:
        yield from (g(*batch) for batch in given)
        return
    pickled = pickle.dumps(g)
    waiting: deque[Any] = deque()
    try:
        for batch in given:
            waiting.append(executor.submit(call, pickled, batch))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:  # one has raised
            future.cancel()


def call(pickled: bytes, batch: tuple[Any, ...]) -> Any:
    """``g(*batch)`` in a worker, which compiles `g` at its first batch only."""
    return unpickled(pickled)(*batch)


@functools.lru_cache(maxsize=16)
def unpickled(pickled: bytes) -> Callable[..., Any]:
    """The function of some bytes, one for all batches."""
    function: Callable[..., Any] = pickle.loads(pickled)
    return function


def added(a: Any, b: Any) -> Any:
    """The sum of two results, container by container; what is no number stays as it is in the first."""
    if has_derivative(a) or hasattr(a, "tocsr"):
        return a + b
    inside = children(a)
    if inside is None:
        return a
    others = children(b) or {}
    return with_children(a, {key: added(value, others[key]) for key, value in inside.items()})
