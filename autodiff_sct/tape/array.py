"""The tensor: an array or a NumPy scalar whose uses are recorded."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any
from weakref import ref

import numpy as np

from ..errors import ArgumentRuntimeError, NotDifferentiable
from ..recording import RECORDING
from .node import Node

__all__ = ["Tensor", "tensor"]

recording = RECORDING.get


class Tensor:
    """An array on the tape; made by `tensor` and by every operation on tensors."""

    __slots__ = ("__weakref__", "grad", "node", "value")

    def __init__(self, value: Any, node: Node | None) -> None:
        self.value, self.node, self.grad = value, node, None

    # What it is

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    itemsize = property(lambda self: self.value.itemsize)
    nbytes = property(lambda self: self.value.nbytes)
    requires_grad = property(lambda self: self.node is not None)
    is_leaf = property(lambda self: self.node is None or self.node.plan is None)
    grad_fn = property(lambda self: None if self.is_leaf else self.node)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make a leaf one whose gradient is wanted, or a constant again; returns itself."""
        if requires_grad and self.node is None:
            if self.dtype.kind not in "fc":
                raise ArgumentRuntimeError(f"only tensors of floating point can require gradients, not {self.dtype}")
            self.node = Node(None, None, None, ())
            self.node.owner = ref(self)
        elif not requires_grad:
            if not self.is_leaf:
                raise ArgumentRuntimeError("a result requires a gradient if an operand does: use detach()")
            self.node = None
        return self

    def retain_grad(self) -> None:
        """Keep ``.grad`` of a result too."""
        if self.node is None:
            raise ArgumentRuntimeError("retain_grad of a tensor that does not require a gradient")
        self.node.owner = ref(self)

    def detach(self) -> Tensor:
        """The same value as a constant."""
        return Tensor(self.value, None)

    def numpy(self) -> Any:
        """The value, in the same memory.

        Raises
        ------
        RuntimeError
            If the tensor requires a gradient.
        """
        self.refuse_leaving("numpy()")
        return np.asarray(self.value)

    def item(self, *place: Any) -> Any:
        """One element as a Python number, which is a constant."""
        return self.value.item(*place)

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradient to ``.grad`` of the leaves; see `autodiff_sct.tape.backward`."""
        from .torch_style import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    # Leaving the tape

    def refuse_leaving(self, how: str) -> None:
        if self.node is not None and recording():
            raise NotDifferentiable(
                f"{how} would lose the gradient of a tensor that requires one",
                "stay with tensors (np.stack joins them, tensor(np.zeros(n)) or np.zeros_like(t) holds them), or use "
                "`t.item()` or `t.detach()` for a constant",
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self.refuse_leaving("making an array of it")
        return np.array(self.value, dtype=dtype, copy=copy)

    def __float__(self) -> float:
        self.refuse_leaving("float()")
        return float(self.value)

    def __complex__(self) -> complex:
        self.refuse_leaving("complex()")
        return complex(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return operator.index(self.value[()])

    def __bool__(self) -> bool:
        return bool(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self.value)))  # type: ignore[index]

    def __format__(self, spec: str) -> str:
        return format(self.value.item() if self.size == 1 and spec else self.value if spec else str(self), spec)

    def __repr__(self) -> str:
        text = np.array2string(self.value, separator=", ", prefix="tensor(") if self.ndim else f"{self.value:g}"
        text = text if self.ndim or "." in text or "e" in text or "n" in text else text + "."
        kind = "" if self.dtype in (np.float64, np.int64, np.bool_) else f", dtype={self.dtype}"
        graph = "" if self.node is None else ", requires_grad=True" if self.is_leaf else f", grad_fn={self.grad_fn}"
        return f"tensor({text}{kind}{graph})"

    __hash__ = object.__hash__


def tensor(data: Any, requires_grad: bool = False) -> Tensor:
    """Make a tensor of a copy of the data.

    Parameters
    ----------
    data : number, array, tensor or nested list of numbers
        Integers stay integers, Python floats are float64, arrays keep their dtype.
    requires_grad : bool
        Whether its gradient is wanted.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If a gradient of integers or booleans is wanted.

    Examples
    --------
    >>> x = tensor(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    tensor(6.)
    """
    value = np.array(data.value if isinstance(data, Tensor) else data)
    made = Tensor(value if isinstance(data, (np.ndarray, list, tuple, Tensor)) else value[()], None)
    return made.requires_grad_() if requires_grad else made
