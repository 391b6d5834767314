"""MindSpore's primitives: settings in the constructor, operands in the call.

Most have no settings and only give one of the functions a second name: they are made by `primitive`, a line each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import functional as F

__all__ = [
    "ACos",
    "Abs",
    "Add",
    "AddN",
    "Argmax",
    "Argmin",
    "Asin",
    "Assign",
    "AssignAdd",
    "AssignSub",
    "Atan",
    "Atan2",
    "BatchMatMul",
    "BroadcastTo",
    "Cast",
    "Ceil",
    "Concat",
    "Cos",
    "Cosh",
    "CumSum",
    "Div",
    "DivNoNan",
    "Equal",
    "Erf",
    "Exp",
    "ExpandDims",
    "Expm1",
    "Eye",
    "Fill",
    "Flatten",
    "Floor",
    "FloorDiv",
    "FloorMod",
    "Gather",
    "GatherD",
    "GatherNd",
    "GeLU",
    "Greater",
    "GreaterEqual",
    "IsFinite",
    "IsNan",
    "L2Normalize",
    "Less",
    "LessEqual",
    "Log",
    "Log1p",
    "LogSoftmax",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "MaskedFill",
    "MatMul",
    "Maximum",
    "Minimum",
    "Mod",
    "Mul",
    "Neg",
    "NotEqual",
    "OneHot",
    "Ones",
    "OnesLike",
    "Pow",
    "Primitive",
    "Range",
    "Rank",
    "ReLU",
    "ReLU6",
    "RealDiv",
    "Reciprocal",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Reshape",
    "Rint",
    "Round",
    "Rsqrt",
    "Select",
    "Shape",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Softmax",
    "Softplus",
    "Sort",
    "Split",
    "Sqrt",
    "Square",
    "Squeeze",
    "Stack",
    "StopGradient",
    "Sub",
    "Tan",
    "Tanh",
    "Tile",
    "TopK",
    "Transpose",
    "Unstack",
    "Zeros",
    "ZerosLike",
]


class Primitive:
    """Base of the primitives: an operation as an object."""

    def __init__(self, name: str = "") -> None:
        self.name = name or type(self).__name__

    def __call__(self, *operands: Any) -> Any:
        """Apply the operation."""
        raise NotImplementedError

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(type(self)).parameters if name != "name"]
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in names if hasattr(self, name))
        return f"{type(self).__name__}({settings})"


class Plain(Primitive):
    """A primitive without settings."""

    function: Callable[..., Any]

    def __call__(self, *operands: Any) -> Any:
        """Apply the operation."""
        return self.function(*operands)


def primitive(name: str, function: Callable[..., Any]) -> Any:
    """The class of a primitive without settings."""
    summary = (function.__doc__ or "").partition("\n")[0]
    return type(name, (Plain,), {"function": staticmethod(function), "__doc__": summary, "__module__": __name__})


# Arithmetic and functions of one tensor
Abs = primitive("Abs", F.abs)
Add = primitive("Add", F.add)
AddN = primitive("AddN", F.addn)
Sub = primitive("Sub", F.sub)
Mul = primitive("Mul", F.mul)
Div = primitive("Div", F.div)
RealDiv = primitive("RealDiv", F.div)
DivNoNan = primitive("DivNoNan", lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)))
FloorDiv = primitive("FloorDiv", F.floor_div)
Mod = primitive("Mod", F.floor_mod)
FloorMod = primitive("FloorMod", F.floor_mod)
Pow = primitive("Pow", F.pow)
Neg = primitive("Neg", F.neg)
Reciprocal = primitive("Reciprocal", F.reciprocal)
Rsqrt = primitive("Rsqrt", F.rsqrt)
Sqrt = primitive("Sqrt", F.sqrt)
Square = primitive("Square", F.square)
Exp = primitive("Exp", F.exp)
Expm1 = primitive("Expm1", F.expm1)
Log = primitive("Log", F.log)
Log1p = primitive("Log1p", F.log1p)
Sin = primitive("Sin", F.sin)
Cos = primitive("Cos", F.cos)
Tan = primitive("Tan", F.tan)
Asin = primitive("Asin", F.asin)
ACos = primitive("ACos", F.acos)
Atan = primitive("Atan", F.atan)
Atan2 = primitive("Atan2", F.atan2)
Sinh = primitive("Sinh", F.sinh)
Cosh = primitive("Cosh", F.cosh)
Tanh = primitive("Tanh", F.tanh)
Erf = primitive("Erf", F.erf)
Floor = primitive("Floor", F.floor)
Ceil = primitive("Ceil", F.ceil)
Round = primitive("Round", F.round)
Rint = primitive("Rint", F.round)
Sign = primitive("Sign", F.sign)
IsNan = primitive("IsNan", F.isnan)
IsFinite = primitive("IsFinite", F.isfinite)

# Activations
ReLU = primitive("ReLU", F.relu)
ReLU6 = primitive("ReLU6", F.relu6)
Sigmoid = primitive("Sigmoid", F.sigmoid)
Softplus = primitive("Softplus", F.softplus)
GeLU = primitive("GeLU", lambda x: F.gelu(x, "tanh"))

# Comparison and selection
Equal = primitive("Equal", F.equal)
NotEqual = primitive("NotEqual", F.not_equal)
Greater = primitive("Greater", F.greater)
GreaterEqual = primitive("GreaterEqual", F.greater_equal)
Less = primitive("Less", F.less)
LessEqual = primitive("LessEqual", F.less_equal)
LogicalAnd = primitive("LogicalAnd", F.logical_and)
LogicalOr = primitive("LogicalOr", F.logical_or)
LogicalNot = primitive("LogicalNot", F.logical_not)
Maximum = primitive("Maximum", F.maximum)
Minimum = primitive("Minimum", F.minimum)
Select = primitive("Select", F.select)
MaskedFill = primitive("MaskedFill", F.masked_fill)

# Shape
Shape = primitive("Shape", F.shape)
Rank = primitive("Rank", F.rank)
Size = primitive("Size", F.size)
Reshape = primitive("Reshape", F.reshape)
Transpose = primitive("Transpose", F.transpose)
ExpandDims = primitive("ExpandDims", F.expand_dims)
Tile = primitive("Tile", F.tile)
Flatten = primitive("Flatten", F.flatten)

# Indexing
Gather = primitive("Gather", F.gather)
GatherD = primitive("GatherD", F.gather_elements)
GatherNd = primitive("GatherNd", F.gather_nd)

# Making tensors
Cast = primitive("Cast", F.cast)
Fill = primitive("Fill", F.fill)
Zeros = primitive("Zeros", F.zeros)
Ones = primitive("Ones", F.ones)
ZerosLike = primitive("ZerosLike", F.zeros_like)
OnesLike = primitive("OnesLike", F.ones_like)
Eye = primitive("Eye", F.eye)
Assign = primitive("Assign", F.assign)
AssignAdd = primitive("AssignAdd", F.assign_add)
AssignSub = primitive("AssignSub", F.assign_sub)


class MatMul(Primitive):
    """The matrix product, of transposes where wanted."""

    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None:
        super().__init__()
        self.transpose_a = transpose_a
        self.transpose_b = transpose_b

    def __call__(self, a: Any, b: Any) -> Any:
        """Multiply."""
        if self.transpose_a:
            a = np.swapaxes(a, -1, -2)
        if self.transpose_b:
            b = np.swapaxes(b, -1, -2)
        return np.matmul(a, b)


class BatchMatMul(MatMul):
    """The matrix product of each pair in a batch."""


class Reduction(Primitive):
    """The base of reductions: whether reduced axes stay with length 1."""

    def __init__(self, keep_dims: bool = False) -> None:
        super().__init__()
        self.keep_dims = keep_dims


class ReduceSum(Reduction):
    """The sum over axes; over all with ``()``."""

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        """Reduce."""
        return F.reduce_sum(x, axis, self.keep_dims)


class ReduceMean(Reduction):
    """The mean over axes; over all with ``()``."""

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        """Reduce."""
        return F.mean(x, axis, self.keep_dims)


class ReduceMax(Reduction):
    """The largest element over axes; over all with ``()``."""

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        """Reduce."""
        return F.amax(x, axis, self.keep_dims)


class ReduceMin(Reduction):
    """The smallest element over axes; over all with ``()``."""

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        """Reduce."""
        return F.amin(x, axis, self.keep_dims)


class ReduceProd(Reduction):
    """The product over axes; over all with ``()``."""

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        """Reduce."""
        return F.prod(x, axis, self.keep_dims)


class Axis(Primitive):
    """The base of operations along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis


class Softmax(Axis):
    """Exponentials that sum to 1 along an axis."""

    def __call__(self, x: Any) -> Any:
        """Apply along the axis."""
        return F.softmax(x, self.axis)


class LogSoftmax(Axis):
    """The logarithm of `Softmax`."""

    def __call__(self, x: Any) -> Any:
        """Apply along the axis."""
        return F.log_softmax(x, self.axis)


class Argmax(Axis):
    """The index of the largest element."""

    def __init__(self, axis: int = -1, output_type: Any = np.int32) -> None:
        super().__init__(axis)
        self.output_type = output_type

    def __call__(self, x: Any) -> Any:
        """Find along the axis."""
        return np.argmax(x, axis=self.axis).astype(self.output_type)


class Argmin(Argmax):
    """The index of the smallest element."""

    def __call__(self, x: Any) -> Any:
        """Find along the axis."""
        return np.argmin(x, axis=self.axis).astype(self.output_type)


class Concat(Axis):
    """Tensors one after the other along an axis."""

    def __init__(self, axis: int = 0) -> None:
        super().__init__(axis)

    def __call__(self, tensors: Any) -> Any:
        """Join."""
        return np.concatenate(tensors, self.axis)


class Stack(Concat):
    """Tensors one after the other along a new axis."""

    def __call__(self, tensors: Any) -> Any:
        """Join."""
        return np.stack(tensors, self.axis)


class Unstack(Concat):
    """The entries along an axis, which is left out."""

    def __call__(self, x: Any) -> Any:
        """Take apart."""
        return F.unstack(x, self.axis)


class Split(Primitive):
    """A number of pieces of one length."""

    def __init__(self, axis: int = 0, output_num: int = 1) -> None:
        super().__init__()
        self.axis = axis
        self.output_num = output_num

    def __call__(self, x: Any) -> Any:
        """Take apart."""
        return tuple(np.split(x, self.output_num, self.axis))


class Squeeze(Primitive):
    """Axes of length 1 left out; all of them with ``()``."""

    def __init__(self, axis: Any = ()) -> None:
        super().__init__()
        self.axis = axis

    def __call__(self, x: Any) -> Any:
        """Reshape."""
        return np.squeeze(x) if self.axis == () else np.squeeze(x, self.axis)


class BroadcastTo(Primitive):
    """The tensor repeated to a shape; -1 keeps a length."""

    def __init__(self, shape: Any) -> None:
        super().__init__()
        self.shape = tuple(shape)

    def __call__(self, x: Any) -> Any:
        """Repeat."""
        lengths = x.shape
        ahead = len(self.shape) - len(lengths)
        shape = tuple(lengths[k - ahead] if n == -1 else n for k, n in enumerate(self.shape))
        return np.broadcast_to(x, shape)


class OneHot(Axis):
    """Rows for indices: one value at the index and another elsewhere."""

    def __call__(self, indices: Any, depth: int, on_value: Any, off_value: Any) -> Any:
        """Make the rows."""
        return F.one_hot(indices, depth, on_value, off_value, self.axis)


class TopK(Primitive):
    """The largest elements along the last axis, and where they are."""

    def __init__(self, sorted: bool = True) -> None:
        super().__init__()
        self.sorted = sorted

    def __call__(self, x: Any, k: int) -> Any:
        """Find them."""
        return F.topk(x, k)


class Sort(Primitive):
    """The elements in order along an axis, and where they were."""

    def __init__(self, axis: int = -1, descending: bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.last = axis == -1
        self.descending = descending

    def __call__(self, x: Any) -> Any:
        """Sort."""
        return F.sort(x, None if self.last else self.axis, self.descending)


class CumSum(Primitive):
    """Sums of the elements so far."""

    def __call__(self, x: Any, axis: int) -> Any:
        """Scan."""
        return np.cumsum(x, axis)


class Range(Primitive):
    """Numbers at equal steps."""

    def __call__(self, start: Any, limit: Any, delta: Any) -> Any:
        """Make them."""
        return F.arange(start, limit, delta)


class L2Normalize(Primitive):
    """Elements divided by the Euclidean norm along an axis, which is at least `epsilon`."""

    def __init__(self, axis: int = 0, epsilon: float = 1e-4) -> None:
        super().__init__()
        self.axis = axis
        self.epsilon = epsilon

    def __call__(self, x: Any) -> Any:
        """Divide."""
        total = np.sum(x * x, axis=self.axis, keepdims=True)
        return x / np.sqrt(np.maximum(total, self.epsilon))


class StopGradient(Primitive):
    """The value as a constant to derivatives."""

    def __call__(self, value: Any) -> Any:
        """Return it."""
        return F.stop_gradient(value)
