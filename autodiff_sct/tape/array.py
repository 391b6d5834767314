"""Tensors: arrays or NumPy scalars whose uses are recorded, and those in the memory of others.

A tensor of rank 0 that comes from a number or a reduction holds a NumPy scalar, which is a value: ``y += 1`` binds the
name `y` anew.  All others hold an array.  Operators, methods and what NumPy does with tensors are in `operators`.

A view knows its root, the tensor in whose memory it lies, and the way from there.  When the root or another of its
views is written to, the root gets a new place on the tape, and the view finds its own again the next time it is asked.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ..core.process_state import RECORDING
from ..errors import ArgumentRuntimeError, ArgumentTypeError
from .memory import Node

__all__ = ["Tensor", "View", "detach", "recording", "tensor"]

recording = RECORDING.get


class Tensor:
    """An array on the tape; made by `tensor` and by every operation on tensors."""

    __slots__ = ("__weakref__", "gradient", "node", "value")

    def __init__(self, value: Any, node: Node | None) -> None:
        self.value, self.node = value, node
        self.gradient: Tensor | None = None

    if TYPE_CHECKING:  # `operators.equip` gives it these

        def __add__(self, other: Any) -> Tensor: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
        __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __matmul__ = __rmatmul__ = __add__

        def __lt__(self, other: Any) -> Any: ...

        __le__ = __gt__ = __ge__ = __lt__

        def __neg__(self) -> Tensor: ...

        __pos__ = __abs__ = detach = __neg__

        def __getitem__(self, index: Any) -> Tensor: ...

        def __setitem__(self, index: Any, value: Any) -> None: ...

        def sum(self, *args: Any, **kwargs: Any) -> Tensor: ...

        mean = prod = max = min = var = std = cumsum = cumprod = clip = round = dot = trace = diagonal = ravel = sum
        squeeze = swapaxes = repeat = take = reshape = transpose = flatten = copy = astype = view = conj = sum

    # What it is

    __autodiff_taped__ = True
    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    itemsize = property(lambda self: self.value.itemsize)
    strides = property(lambda self: self.value.strides)
    nbytes = property(lambda self: self.value.nbytes)
    is_leaf = property(lambda self: self.node is None or self.node.plan is None)
    grad_fn = property(lambda self: None if self.is_leaf else self.node)

    @property
    def requires_grad(self) -> bool:
        """True if results computed from it are recorded."""
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` has added up here, None before."""
        if self.gradient is None and not self.is_leaf and self.node.owner is None:  # type: ignore[union-attr]
            warnings.warn(
                "the gradient of a result is not kept: call retain_grad() before backward()", UserWarning, stacklevel=2
            )
        return self.gradient

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise ArgumentTypeError(f".grad is a tensor of the tape or None, not {type(gradient).__name__}")
        if gradient is not None and gradient.shape != self.shape:
            raise ArgumentRuntimeError(f".grad of shape {gradient.shape} does not fit a tensor of shape {self.shape}")
        self.gradient = gradient

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make a leaf one whose gradient is wanted, or a constant again; returns itself."""
        if requires_grad and self.node is None:
            if self.dtype.kind not in "fc":
                raise ArgumentRuntimeError(f"only tensors of a floating dtype can require gradients, not {self.dtype}")
            self.node = Node(None, None, None, ())
            self.node.owner = ref(self)
        elif not requires_grad:
            if not self.is_leaf:
                raise ArgumentRuntimeError("only leaves can stop requiring a gradient: of a result, use detach()")
            self.node = None
        return self

    def retain_grad(self) -> None:
        """Keep ``.grad`` of a result too."""
        if self.node is None:
            raise ArgumentRuntimeError("a tensor that does not require a gradient cannot retain one")
        if self.node.plan is not None:
            self.node.owner = ref(self)

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradient to ``.grad`` of the leaves; see `autodiff_sct.tape.backward`."""
        from .torch_style import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    # Leaving the tape

    def item(self, *place: Any) -> Any:
        """One element as a Python number, which is a constant: no derivative flows through it."""
        return self.value.item(*place)

    def numpy(self) -> np.ndarray:
        """The value for reading, in the same memory.

        Raises
        ------
        RuntimeError
            If the tensor requires a gradient.
        """
        return self.__array__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self.refuse_leaving("a plain array made from")
        if copy or dtype is not None and np.dtype(dtype) != self.dtype:
            return np.array(self.value, dtype=dtype)
        view = np.asarray(self.value).view()
        view.flags.writeable = False
        return view

    def refuse_leaving(self, what: str) -> None:
        """Refuse to lose a gradient without having been told to."""
        if self.node is not None and recording():
            raise ArgumentRuntimeError(
                f"{what} a tensor that requires a gradient would lose it: use t.detach() or t.item() if it is to be a "
                "constant; join tensors by np.stack, and write into a tensor (np.zeros_like(t), tensor(np.zeros(n)))"
            )

    def __float__(self) -> float:
        self.refuse_leaving("a Python number (float(), or a function of `math`) made from")
        return float(self.value)

    def __complex__(self) -> complex:
        self.refuse_leaving("a Python number made from")
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

    def __contains__(self, item: Any) -> bool:
        return (item.value if isinstance(item, Tensor) else item) in self.value

    def __reduce__(self) -> Any:
        if not self.is_leaf:
            raise ArgumentRuntimeError("only leaves can be copied and pickled: use detach()")
        return tensor, (np.asarray(self.value)[()], self.requires_grad)

    def __format__(self, spec: str) -> str:
        return format(self.value if spec else str(self), spec)

    def __repr__(self) -> str:
        text = np.array2string(
            np.asarray(self.value), precision=4, floatmode="maxprec_equal", separator=", ", prefix="tensor("
        )
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
    source = data.value if isinstance(data, Tensor) else data
    value = np.array(source)
    if value.dtype.kind not in "biufc":
        raise ArgumentTypeError(f"a tensor is made of numbers, not of {type(data).__name__} with dtype {value.dtype}")
    made = Tensor(value[()] if isinstance(source, (int, float, complex, np.generic)) else value, None)
    return made.requires_grad_() if requires_grad else made


class View(Tensor):
    """A tensor in the memory of another.

    Attributes
    ----------
    root : Tensor or None
        The tensor in whose memory it lies; None for one that has become a leaf.
    path : tuple of callable
        The steps from the root's value to this one.
    seen : Node or None
        The root's node when this one's was found.
    cut : bool
        Whether it is a constant, whatever the root is.
    """

    __slots__ = ("cut", "path", "root", "seen")

    def __init__(self, value: Any, base: Tensor, path: tuple[Any, ...], node: Node | None, cut: bool) -> None:
        self.value, self.gradient, self.cut = value, None, cut
        self.root: Tensor | None
        self.path: tuple[Any, ...]
        if isinstance(base, View) and base.root is not None:
            self.root = base.root
            path = (*base.path, *path)
        else:
            self.root = base
        self.path, self.seen = path, self.root.node
        NODE.__set__(self, node)

    @property
    def node(self) -> Node | None:  # type: ignore[override]
        """Its place in the graph, found again if the root was written to since."""
        root = self.root
        if root is not None and root.node is not self.seen and recording():
            self.seen = root.node
            if not self.cut:
                found: Any = root
                for step in self.path:
                    found = step(found)
                NODE.__set__(self, found.node)
        return NODE.__get__(self)

    @node.setter
    def node(self, node: Node | None) -> None:
        self.root, self.cut = None, False
        NODE.__set__(self, node)


NODE: Any = Tensor.__dict__["node"]


def detach(self: Tensor) -> Tensor:
    """The same value as a constant, in the same memory."""
    return View(self.value, self, (), None, True) if self.ndim else Tensor(self.value, None)
