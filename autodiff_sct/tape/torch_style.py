"""Gradients with the parameters, results and errors of ``torch.autograd``, and with those of ``tf.gradients``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.process_state import RECORDING
from ..errors import ArgumentAttributeError, ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError
from .array import Tensor, recording
from .engine import Cell, Sweep, is_inexact
from .memory import Node, stamp

__all__ = ["backward", "grad", "gradients"]


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of the sum of `tensors` to ``.grad`` of the leaves that they were computed from.

    Parameters
    ----------
    tensors : Tensor or sequence of them
        What is differentiated.
    grad_tensors : Tensor or sequence of Tensor and None, optional
        The seed of each tensor, of its shape; None for one of a single element.
    retain_graph : bool, optional
        Keep what was saved for another pass; the value of `create_graph` if left out.
    create_graph : bool
        Record this pass too, so that gradients can be differentiated.
    grad_variables : optional
        The former name of `grad_tensors`.
    inputs : Tensor or sequence of them, optional
        Only these get gradients, results too.

    Raises
    ------
    RuntimeError
        If a seed is missing or has another shape, nothing requires a gradient, or the graph was freed.
    TypeError
        If a seed or an input is not a tensor.
    """
    if grad_variables is not None:
        warnings.warn("grad_variables is now grad_tensors", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise ArgumentRuntimeError("grad_tensors and its former name grad_variables were both given")
        grad_tensors = grad_variables
    chosen = None if inputs is None else {node_of(x, "an input"): x for x in listed(inputs)}
    if chosen is not None and not chosen:
        raise ArgumentRuntimeError("backward with inputs=[] has nothing to do: leave inputs out for all leaves")
    targets = None if chosen is None else set(chosen)
    for node, cell in swept(listed(tensors), grad_tensors, retain_graph, create_graph, targets).items():
        owner = chosen.get(node) if chosen is not None else node.owner() if node.owner is not None else None
        if owner is not None:
            accumulate(owner, cell, create_graph)


def accumulate(owner: Tensor, cell: Cell, create_graph: bool) -> None:
    """Add a cotangent to ``.grad``, in place unless the sum is to be differentiated."""
    known = owner.gradient
    if known is None:
        owner.gradient = apart(cell) if create_graph else Tensor(own(cell), None)
    elif create_graph:
        owner.gradient = known + cell[1]  # type: ignore[operator]
    elif type(known.value) is np.ndarray:
        known.value += cell[1]
        stamp(known.value, ...)
    else:
        known.value = known.value + cell[1]


def own(cell: Cell) -> Any:
    """A cotangent in memory of its own."""
    return cell[1] if cell[2] or not isinstance(cell[1], np.ndarray) else np.array(cell[1])


def apart(cell: Cell) -> Tensor:
    """A cotangent that is a tensor, in memory of its own: it may be that of several."""
    return cell[1].copy() if type(cell[1].value) is np.ndarray and not cell[2] else cell[1]


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of `outputs` by `inputs`.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of them
        Results, and leaves or results that they were computed from.
    grad_outputs : Tensor or sequence of Tensor and None, optional
        The seed of each output, of its shape; None for one of a single element.
    retain_graph, create_graph : bool
        As for `backward`.
    only_inputs : bool
        Ignored.
    allow_unused : bool, optional
        Return None for an input that no output depends on.
    is_grads_batched : bool
        Not supported.
    materialize_grads : bool
        Return zeros for such an input.

    Returns
    -------
    tuple of Tensor
        One gradient for each input, of its shape and dtype.

    Raises
    ------
    RuntimeError
        As `backward`, and for an input that no output depends on.
    TypeError
        If a seed or an input is not a tensor.
    ValueError
        With materialize_grads=True and allow_unused=False.
    """
    if not only_inputs:
        warnings.warn("only_inputs is ignored: it is always True", FutureWarning, stacklevel=2)
    if materialize_grads and allow_unused is False:
        raise ArgumentValueError("materialize_grads=True allows unused inputs: leave out allow_unused=False")
    if is_grads_batched:
        raise ArgumentRuntimeError("is_grads_batched is not supported: call grad once for each seed")
    wanted = listed(inputs)
    nodes = [node_of(x, "an input") for x in wanted]
    if not nodes:
        raise ArgumentRuntimeError("grad got no inputs")
    arrived = swept(listed(outputs), grad_outputs, retain_graph, create_graph, set(nodes))
    return tuple(
        found(x, arrived.get(node), create_graph, materialize_grads, allow_unused) for x, node in zip(wanted, nodes)
    )


def found(x: Tensor, cell: Cell | None, create_graph: bool, materialize: bool, allow_unused: bool | None) -> Any:
    """The gradient by `x` that arrived, or what stands in its place."""
    if cell is not None:
        return apart(cell) if create_graph else Tensor(own(cell), None)
    if materialize:
        return Tensor(np.zeros_like(x.value), None)
    if not allow_unused:
        raise ArgumentRuntimeError(
            "an input was not used in computing the outputs: with allow_unused=True its gradient is None, with "
            "materialize_grads=True it is zeros"
        )
    return None


def swept(
    outputs: list[Any], seeds: Any, retain: bool | None, graph: bool, targets: set[Node] | None
) -> dict[Node, Cell]:
    """Seed the outputs and go back."""
    given = [None] * len(outputs) if seeds is None else listed(seeds)
    if len(given) != len(outputs):
        raise ArgumentRuntimeError(f"{len(outputs)} outputs and {len(given)} seeds were given")
    sweep = Sweep(graph, graph if retain is None else retain)
    for y, seed in zip(outputs, given):
        node, d = node_of(y, "an output"), seed_of(y, seed)
        sweep.add(node, d if graph else d.value)
    token = RECORDING.set(graph)
    try:
        return sweep.run(targets)
    finally:
        RECORDING.reset(token)


def listed(tensors: Any) -> list[Any]:
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def node_of(x: Any, role: str) -> Node:
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"{role} is a tensor of the tape, not {type(x).__name__}")
    if x.node is None:
        raise ArgumentRuntimeError(f"{role} does not require a gradient and was not computed from what does")
    return x.node


def seed_of(y: Tensor, seed: Any) -> Tensor:
    """The seed of an output, in its dtype."""
    if seed is None:
        if y.size != 1:
            raise ArgumentRuntimeError(
                f"an output without a seed has one element (a scalar), not shape {y.shape}: give a seed, or sum it"
            )
        return Tensor(np.ones_like(y.value)[()] if y.ndim == 0 else np.ones_like(y.value), None)
    if not isinstance(seed, Tensor):
        raise ArgumentTypeError(f"a seed is a tensor of the tape, not {type(seed).__name__}")
    if seed.shape != y.shape:
        raise ArgumentRuntimeError(f"a seed of shape {seed.shape} was given for an output of shape {y.shape}")
    return seed if seed.dtype == y.dtype else seed.astype(y.dtype)  # type: ignore[attr-defined]


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
        d = fitting_seed(y, seed)
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


def fitting_seed(y: Tensor, seed: Any) -> Tensor:
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
