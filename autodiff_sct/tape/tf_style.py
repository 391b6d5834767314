"""``gradients`` with the meaning that ``tf.gradients`` gives to each of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentAttributeError, ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError
from .array import Tensor, recording
from .engine import Sweep, is_inexact
from .memory import Node
from .torch_style import apart, listed

__all__ = ["gradients"]


def gradients(
    ys: Tensor | Sequence[Tensor],
    xs: Tensor | Sequence[Tensor],
    grad_ys: Any = None,
    stop_gradients: Tensor | Sequence[Tensor] | None = None,
    unconnected_gradients: str = "none",
) -> list[Any]:
    """Return the derivatives of the sum of all `ys` by each of `xs`, which can be differentiated again.

    Parameters
    ----------
    ys, xs : Tensor or sequence of them
        Results, and what they were computed from.
    grad_ys : Tensor or sequence of Tensor and None, optional
        The seed of each of `ys`, of its dtype and broadcasting to its shape; None for ones.
    stop_gradients : Tensor or sequence of them, optional
        Taken for constants on the way back.
    unconnected_gradients : {'none', 'zero'}
        What stands for the derivative by one of `xs` that no `ys` depend on: None, or zeros.

    Returns
    -------
    list
        One derivative for each of `xs`.

    Raises
    ------
    AttributeError
        If `ys` or `xs` is None.
    RuntimeError
        If recording is off, or one of `xs` is a constant tensor of floating point: the tape did not follow it.
    TypeError
        If one of `ys` is not a tensor, or a seed has another dtype.
    ValueError
        If the number or the shape of `grad_ys` does not fit, or `unconnected_gradients` is unknown.
    """
    unconnected = getattr(unconnected_gradients, "value", unconnected_gradients)
    if unconnected not in ("none", "zero"):
        raise ArgumentValueError(f"unconnected_gradients is 'none' or 'zero', not {unconnected_gradients!r}")
    outputs, wanted = tensors_of(ys, "ys"), tensors_of(xs, "xs")
    for y in outputs:
        if not isinstance(y, Tensor):
            raise ArgumentTypeError(f"ys are tensors of the tape, not {type(y).__name__}")
    seeds = [None] * len(outputs) if grad_ys is None else listed(grad_ys)
    if len(seeds) != len(outputs):
        raise ArgumentValueError(f"{len(outputs)} ys and {len(seeds)} grad_ys were given")
    if not recording():
        raise ArgumentRuntimeError("gradients under no_grad(): its results could not be differentiated")
    nodes = [followed_node(x) for x in wanted]
    stops = {
        s.node
        for s in ([] if stop_gradients is None else listed(stop_gradients))
        if isinstance(s, Tensor) and s.node is not None
    }
    sweep = Sweep(graph=True, retain=True)
    for y, seed in zip(outputs, seeds):
        d = seed_of(y, seed)
        if y.node is not None and y.node not in stops:
            sweep.add(y.node, d)
    arrived = sweep.run({node for node in nodes if node is not None}, stops)
    found = [arrived.get(node) if node is not None else None for node in nodes]
    return [apart(cell) if cell is not None else missing(x, unconnected) for x, cell in zip(wanted, found)]


def followed_node(x: Any) -> Node | None:
    """The node of one of the xs; None for numbers, strings and integers, which are constants."""
    if isinstance(x, Tensor) and x.node is None and is_inexact(x.value):
        raise ArgumentRuntimeError("one of the xs does not require a gradient, so the tape did not follow it")
    return x.node if isinstance(x, Tensor) else None


def tensors_of(given: Any, name: str) -> list[Any]:
    if given is None or isinstance(given, (list, tuple)) and any(item is None for item in given):
        raise ArgumentAttributeError(f"{name} is a tensor or a list of them, not None")
    return listed(given)


def missing(x: Any, unconnected: str) -> Any:
    if unconnected == "none":
        return None
    return Tensor(np.zeros_like(x.value if isinstance(x, Tensor) else np.asarray(x)), None)


def seed_of(y: Tensor, seed: Any) -> Tensor:
    """The seed of one of the ys: ones, or what was given, in its shape."""
    if seed is None:
        return Tensor(np.ones_like(y.value)[()] if y.ndim == 0 else np.ones_like(y.value), None)
    given = (
        seed
        if isinstance(seed, Tensor)
        else Tensor(np.asarray(seed, None if hasattr(seed, "dtype") else y.dtype), None)
    )
    if given.dtype != y.dtype:
        raise ArgumentTypeError(f"a seed of {given.dtype} was given for one of the ys of {y.dtype}")
    if given.shape == y.shape:
        return given
    try:
        return np.broadcast_to(given, y.shape)  # type: ignore[call-overload, return-value]
    except ValueError as error:
        raise ArgumentValueError(f"a seed of shape {given.shape} was given for ys of shape {y.shape}") from error
