"""MindSpore's primitives: settings in the constructor, operands in the call.

Most are a function under a second name and its settings: they are made by `primitive`, a line each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import functional as F
from .primitive import Plain, Primitive, primitive

__all__ = [
    "ACos",
    "Abs",
    "AccumulateNV2",
    "Acosh",
    "Add",
    "AddN",
    "ArgMaxWithValue",
    "ArgMinWithValue",
    "Argmax",
    "Argmin",
    "Asin",
    "Asinh",
    "Assign",
    "AssignAdd",
    "AssignSub",
    "Atan",
    "Atan2",
    "Atanh",
    "BatchMatMul",
    "BiasAdd",
    "BinaryCrossEntropy",
    "BroadcastTo",
    "Cast",
    "Ceil",
    "Concat",
    "Cos",
    "Cosh",
    "Cross",
    "CumProd",
    "CumSum",
    "DType",
    "Depend",
    "Div",
    "DivNoNan",
    "Dropout",
    "Elu",
    "EmbeddingLookup",
    "Equal",
    "Erf",
    "Erfc",
    "Exp",
    "ExpandDims",
    "Expm1",
    "Eye",
    "FastGeLU",
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
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hypot",
    "Identity",
    "Inv",
    "IsFinite",
    "IsInf",
    "IsNan",
    "L2Loss",
    "L2Normalize",
    "Lerp",
    "Less",
    "LessEqual",
    "LinSpace",
    "Log",
    "Log1p",
    "LogSoftmax",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "LogicalXor",
    "MaskedFill",
    "MatMul",
    "Maximum",
    "Meshgrid",
    "Minimum",
    "Mish",
    "Mod",
    "Mul",
    "MulNoNan",
    "Neg",
    "NotEqual",
    "OneHot",
    "Ones",
    "OnesLike",
    "PReLU",
    "Pad",
    "Pow",
    "Primitive",
    "Range",
    "Rank",
    "ReLU",
    "ReLU6",
    "RealDiv",
    "Reciprocal",
    "ReduceAll",
    "ReduceAny",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Reshape",
    "ReverseV2",
    "Rint",
    "Round",
    "Rsqrt",
    "ScatterNd",
    "SeLU",
    "Select",
    "Shape",
    "Sigmoid",
    "SigmoidCrossEntropyWithLogits",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Slice",
    "SmoothL1Loss",
    "SoftShrink",
    "Softmax",
    "SoftmaxCrossEntropyWithLogits",
    "Softplus",
    "Softsign",
    "Sort",
    "Split",
    "Sqrt",
    "Square",
    "SquareSumAll",
    "Squeeze",
    "Stack",
    "StandardNormal",
    "StopGradient",
    "Sub",
    "Tan",
    "Tanh",
    "TensorScatterAdd",
    "TensorScatterUpdate",
    "Tile",
    "TopK",
    "Transpose",
    "Tril",
    "Triu",
    "Trunc",
    "TruncateDiv",
    "UniformReal",
    "Unstack",
    "Xlogy",
    "Zeros",
    "ZerosLike",
]

# Arithmetic and functions of one tensor
Abs = primitive("Abs", F.abs)
AccumulateNV2 = primitive("AccumulateNV2", F.addn)
ACos = primitive("ACos", F.acos)
Acosh = primitive("Acosh", F.acosh)
Add = primitive("Add", F.add)
AddN = primitive("AddN", F.addn)
Asin = primitive("Asin", F.asin)
Asinh = primitive("Asinh", F.asinh)
Atan = primitive("Atan", F.atan)
Atan2 = primitive("Atan2", F.atan2)
Atanh = primitive("Atanh", F.atanh)
BiasAdd = primitive(
    "BiasAdd", lambda x, bias, data_format: F.bias_add(x, bias), lambda data_format="NCHW": (data_format,)
)
Ceil = primitive("Ceil", F.ceil)
Cos = primitive("Cos", F.cos)
Cosh = primitive("Cosh", F.cosh)
Cross = primitive("Cross", F.cross, lambda dim=-1: (dim,))
CumProd = primitive("CumProd", F.cumprod)
CumSum = primitive("CumSum", F.cumsum)
Div = primitive("Div", F.div)
DivNoNan = primitive("DivNoNan", lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)))
Erf = primitive("Erf", F.erf)
Erfc = primitive("Erfc", F.erfc)
Exp = primitive("Exp", F.exp)
Expm1 = primitive("Expm1", F.expm1)
Floor = primitive("Floor", F.floor)
FloorDiv = primitive("FloorDiv", F.floor_div)
FloorMod = primitive("FloorMod", F.floor_mod)
Hypot = primitive("Hypot", F.hypot)
Inv = primitive("Inv", F.reciprocal)
IsFinite = primitive("IsFinite", F.isfinite)
IsInf = primitive("IsInf", F.isinf)
IsNan = primitive("IsNan", F.isnan)
L2Loss = primitive("L2Loss", lambda x: np.sum(x * x) / 2)
L2Normalize = primitive("L2Normalize", F.l2_normalize, lambda axis=0, epsilon=1e-4: (axis, epsilon))
Lerp = primitive("Lerp", F.lerp)
Log = primitive("Log", F.log)
Log1p = primitive("Log1p", F.log1p)
LogicalXor = primitive("LogicalXor", F.logical_xor)
Mod = primitive("Mod", F.fmod)
Mul = primitive("Mul", F.mul)
MulNoNan = primitive("MulNoNan", lambda x, y: np.where(y == 0, 0, np.where(y == 0, 0, x) * y))
Neg = primitive("Neg", F.neg)
Pow = primitive("Pow", F.pow)
RealDiv = primitive("RealDiv", F.div)
Reciprocal = primitive("Reciprocal", F.reciprocal)
Rint = primitive("Rint", F.round)
Round = primitive("Round", F.round)
Rsqrt = primitive("Rsqrt", F.rsqrt)
Sign = primitive("Sign", F.sign)
Sin = primitive("Sin", F.sin)
Sinh = primitive("Sinh", F.sinh)
Sqrt = primitive("Sqrt", F.sqrt)
Square = primitive("Square", F.square)
SquareSumAll = primitive("SquareSumAll", lambda x, y: (np.sum(x * x), np.sum(y * y)))
Sub = primitive("Sub", F.sub)
Tan = primitive("Tan", F.tan)
Tanh = primitive("Tanh", F.tanh)
Trunc = primitive("Trunc", F.trunc)
TruncateDiv = primitive("TruncateDiv", lambda x, y: np.trunc(x / y))
Xlogy = primitive("Xlogy", F.xlogy)

# Activations and losses
BinaryCrossEntropy = primitive(
    "BinaryCrossEntropy",
    lambda x, y, *rest: F.binary_cross_entropy(x, y, rest[0] if len(rest) > 1 else None, rest[-1]),
    lambda reduction="mean": (reduction,),
)
Elu = primitive("Elu", F.elu, lambda alpha=1.0: (alpha,))
FastGeLU = primitive("FastGeLU", F.fast_gelu)
GeLU = primitive("GeLU", lambda x: F.gelu(x, "tanh"))
HShrink = primitive("HShrink", F.hardshrink, lambda lambd=0.5: (lambd,))
HSigmoid = primitive("HSigmoid", F.hardsigmoid)
HSwish = primitive("HSwish", F.hardswish)
LogSoftmax = primitive("LogSoftmax", F.log_softmax, lambda axis=-1: (axis,))
Mish = primitive("Mish", F.mish)
PReLU = primitive("PReLU", F.prelu)
ReLU = primitive("ReLU", F.relu)
ReLU6 = primitive("ReLU6", F.relu6)
SeLU = primitive("SeLU", F.selu)
Sigmoid = primitive("Sigmoid", F.sigmoid)
SigmoidCrossEntropyWithLogits = primitive(
    "SigmoidCrossEntropyWithLogits", lambda x, y: (1 - y) * x + np.logaddexp(0, -x)
)
SmoothL1Loss = primitive("SmoothL1Loss", F.smooth_l1_loss, lambda beta=1.0, reduction="none": (beta, reduction))
SoftShrink = primitive("SoftShrink", F.softshrink, lambda lambd=0.5: (lambd,))
Softmax = primitive("Softmax", F.softmax, lambda axis=-1: (axis,))
Softplus = primitive("Softplus", F.softplus)
Softsign = primitive("Softsign", F.softsign)

# Comparison and selection
Equal = primitive("Equal", F.equal)
Greater = primitive("Greater", F.greater)
GreaterEqual = primitive("GreaterEqual", F.greater_equal)
Less = primitive("Less", F.less)
LessEqual = primitive("LessEqual", F.less_equal)
LogicalAnd = primitive("LogicalAnd", F.logical_and)
LogicalNot = primitive("LogicalNot", F.logical_not)
LogicalOr = primitive("LogicalOr", F.logical_or)
MaskedFill = primitive("MaskedFill", F.masked_fill)
Maximum = primitive("Maximum", F.maximum)
Minimum = primitive("Minimum", F.minimum)
NotEqual = primitive("NotEqual", F.not_equal)
Select = primitive("Select", F.select)
Sort = primitive("Sort", F.sort, lambda axis=-1, descending=False: (axis, descending))
TopK = primitive("TopK", lambda x, k, sorted: F.topk(x, k), lambda sorted=True: (sorted,))

# Shape
Concat = primitive("Concat", F.concat, lambda axis=0: (axis,))
DType = primitive("DType", F.dtype)
ExpandDims = primitive("ExpandDims", F.expand_dims)
Flatten = primitive("Flatten", F.flatten)
Meshgrid = primitive(
    "Meshgrid", lambda inputs, indexing: F.meshgrid(*inputs, indexing=indexing), lambda indexing="xy": (indexing,)
)
Pad = primitive("Pad", F.pad, lambda paddings: (paddings,))
Rank = primitive("Rank", F.rank)
Reshape = primitive("Reshape", F.reshape)
ReverseV2 = primitive("ReverseV2", F.flip, lambda axis: (axis,))
Shape = primitive("Shape", F.shape)
Size = primitive("Size", F.size)
Slice = primitive("Slice", F.slice)
Stack = primitive("Stack", F.stack, lambda axis=0: (axis,))
Tile = primitive("Tile", F.tile)
Transpose = primitive("Transpose", F.transpose)
Tril = primitive("Tril", F.tril, lambda diagonal=0: (diagonal,))
Triu = primitive("Triu", F.triu, lambda diagonal=0: (diagonal,))
Unstack = primitive("Unstack", F.unstack, lambda axis=0: (axis,))

# Indexing
EmbeddingLookup = primitive("EmbeddingLookup", lambda table, ids, offset: np.take(table, ids - offset, axis=0))
Gather = primitive("Gather", F.gather)
GatherD = primitive("GatherD", F.gather_elements)
GatherNd = primitive("GatherNd", F.gather_nd)
OneHot = primitive("OneHot", F.one_hot, lambda axis=-1: (axis,))
ScatterNd = primitive("ScatterNd", F.scatter_nd)
TensorScatterAdd = primitive("TensorScatterAdd", F.tensor_scatter_add)
TensorScatterUpdate = primitive("TensorScatterUpdate", F.tensor_scatter_update)

# Making tensors
Assign = primitive("Assign", F.assign)
AssignAdd = primitive("AssignAdd", F.assign_add)
AssignSub = primitive("AssignSub", F.assign_sub)
Cast = primitive("Cast", F.cast)
Depend = primitive("Depend", lambda value, expr: value)
Eye = primitive("Eye", F.eye)
Fill = primitive("Fill", F.fill)
Identity = primitive("Identity", lambda x: x)
LinSpace = primitive("LinSpace", F.linspace)
Ones = primitive("Ones", F.ones)
OnesLike = primitive("OnesLike", F.ones_like)
Range = primitive("Range", F.arange)
StandardNormal = primitive(
    "StandardNormal", lambda shape, *seeds: F.standard_normal(shape), lambda seed=0, seed2=0: (seed, seed2)
)
StopGradient = primitive("StopGradient", F.stop_gradient)
UniformReal = primitive("UniformReal", lambda shape, *seeds: F.rand(*shape), lambda seed=0, seed2=0: (seed, seed2))
Zeros = primitive("Zeros", F.zeros)
ZerosLike = primitive("ZerosLike", F.zeros_like)


class Reduction(Plain):
    """A reduction over axes; over all with ``()``."""

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        """Reduce."""
        return self.function(x, axis, *self.settings)


ReduceAll = primitive("ReduceAll", F.all, lambda keep_dims=False: (keep_dims,), Reduction)
ReduceAny = primitive("ReduceAny", F.any, lambda keep_dims=False: (keep_dims,), Reduction)
ReduceMax = primitive("ReduceMax", F.amax, lambda keep_dims=False: (keep_dims,), Reduction)
ReduceMean = primitive("ReduceMean", F.mean, lambda keep_dims=False: (keep_dims,), Reduction)
ReduceMin = primitive("ReduceMin", F.amin, lambda keep_dims=False: (keep_dims,), Reduction)
ReduceProd = primitive("ReduceProd", F.prod, lambda keep_dims=False: (keep_dims,), Reduction)
ReduceSum = primitive("ReduceSum", F.reduce_sum, lambda keep_dims=False: (keep_dims,), Reduction)


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


class Argmax(Primitive):
    """The index of the largest element."""

    def __init__(self, axis: int = -1, output_type: Any = np.int32) -> None:
        super().__init__()
        self.axis = axis
        self.output_type = output_type

    def __call__(self, x: Any) -> Any:
        """Find along the axis."""
        return np.argmax(x, axis=self.axis).astype(self.output_type)


class Argmin(Argmax):
    """The index of the smallest element."""

    def __call__(self, x: Any) -> Any:
        """Find along the axis."""
        return np.argmin(x, axis=self.axis).astype(self.output_type)


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


class ArgMaxWithValue(Primitive):
    """Positions of the largest elements along an axis, and the elements."""

    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims = keep_dims

    def __call__(self, x: Any) -> Any:
        """Find along the axis."""
        values, places = F.max(x, self.axis, self.keep_dims)
        return places, values


class ArgMinWithValue(ArgMaxWithValue):
    """Positions of the smallest elements along an axis, and the elements."""

    def __call__(self, x: Any) -> Any:
        """Find along the axis."""
        values, places = F.min(x, self.axis, self.keep_dims)
        return places, values


class Dropout(Primitive):
    """Elements divided by the probability to be kept, the others zero, and True for those that are kept."""

    def __init__(self, keep_prob: float = 0.5) -> None:
        super().__init__()
        self.keep_prob = keep_prob

    def __call__(self, x: Any) -> Any:
        """Draw which elements are kept."""
        kept = F.rand(*x.shape) < self.keep_prob
        return np.where(kept, x / self.keep_prob, 0), kept


class SoftmaxCrossEntropyWithLogits(Primitive):
    """The cross entropy of the softmax of logits with probabilities, one for each row, and its gradient."""

    def __call__(self, logits: Any, labels: Any) -> Any:
        """Compare."""
        loss = -np.sum(labels * F.log_softmax(logits, -1), axis=-1)
        return loss, F.stop_gradient(F.softmax(logits, -1) - labels)
