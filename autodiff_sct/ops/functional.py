"""MindSpore's functions, as plain NumPy: they work on tensors, arrays and numbers, and the compiler inlines them.

Functions that make tensors go through NumPy's ``like`` functions with `ORIGIN`, so that what they make is a tensor
outside compiled code and an array inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api import stop_gradient
from ..tensor import Parameter, Tensor
from ..tensor_methods import split
from .erf import erf
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from .smooth import elu, gelu, leaky_relu, log_softmax, relu, relu6, sigmoid, silu, softmax, softplus

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "addcmul",
    "addn",
    "all",
    "amax",
    "amin",
    "any",
    "arange",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "assign",
    "assign_add",
    "assign_sub",
    "atan",
    "atan2",
    "atanh",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bmm",
    "broadcast_to",
    "cast",
    "cat",
    "ceil",
    "clamp",
    "clip_by_value",
    "concat",
    "cos",
    "cosh",
    "cross_entropy",
    "cumprod",
    "cumsum",
    "diag",
    "div",
    "dot",
    "einsum",
    "elu",
    "equal",
    "erf",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fill",
    "flatten",
    "flip",
    "floor",
    "floor_div",
    "floor_mod",
    "full",
    "full_like",
    "gather",
    "gather_elements",
    "gather_nd",
    "gelu",
    "greater",
    "greater_equal",
    "huber_loss",
    "isfinite",
    "isinf",
    "isnan",
    "l1_loss",
    "leaky_relu",
    "lerp",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logsumexp",
    "masked_fill",
    "matmul",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mse_loss",
    "mul",
    "multiply",
    "neg",
    "nll_loss",
    "norm",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "permute",
    "pow",
    "power",
    "prod",
    "rank",
    "reciprocal",
    "reduce_sum",
    "relu",
    "relu6",
    "repeat_elements",
    "reshape",
    "roll",
    "round",
    "rsqrt",
    "select",
    "shape",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "size",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "tan",
    "tanh",
    "tensor_dot",
    "tile",
    "topk",
    "transpose",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "unsqueeze",
    "unstack",
    "var",
    "where",
    "zeros",
    "zeros_like",
]

ORIGIN = Tensor(0.0)

# Arithmetic


def add(input: Any, other: Any) -> Any:
    """The sum of two tensors."""
    return input + other


def sub(input: Any, other: Any) -> Any:
    """The difference of two tensors."""
    return input - other


def mul(input: Any, other: Any) -> Any:
    """The product of two tensors, element by element."""
    return input * other


def div(input: Any, other: Any, rounding_mode: str | None = None) -> Any:
    """The quotient of two tensors, rounded down (``'floor'``) or towards 0 (``'trunc'``) where wanted."""
    if rounding_mode == "floor":
        return np.floor_divide(input, other)
    return input / other if rounding_mode is None else np.trunc(input / other)


def floor_div(x: Any, y: Any) -> Any:
    """The quotient, rounded down."""
    return x // y


def floor_mod(x: Any, y: Any) -> Any:
    """The remainder, of the sign of `y`."""
    return x % y


def pow(input: Any, exponent: Any) -> Any:
    """The power."""
    return input**exponent


def neg(input: Any) -> Any:
    """The negative."""
    return -input


def abs(input: Any) -> Any:
    """The absolute value; its derivative at 0 is 0."""
    return np.abs(input)


def reciprocal(input: Any) -> Any:
    """One over each element."""
    return 1 / input


def rsqrt(input: Any) -> Any:
    """One over the square root."""
    return 1 / np.sqrt(input)


def addn(x: Any) -> Any:
    """The sum of a tuple or list of tensors."""
    total = x[0]
    for term in x[1:]:
        total = total + term
    return total


def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return input + value * tensor1 * tensor2


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return input + weight * (end - input)


# Functions of one tensor that NumPy has under the same name


def exp(input: Any) -> Any:
    """The exponential."""
    return np.exp(input)


def expm1(input: Any) -> Any:
    """The exponential minus 1, exact near 0."""
    return np.expm1(input)


def log(input: Any) -> Any:
    """The natural logarithm."""
    return np.log(input)


def log2(input: Any) -> Any:
    """The logarithm to base 2."""
    return np.log2(input)


def log10(input: Any) -> Any:
    """The logarithm to base 10."""
    return np.log10(input)


def log1p(input: Any) -> Any:
    """The logarithm of 1 plus each element, exact near 0."""
    return np.log1p(input)


def sqrt(x: Any) -> Any:
    """The square root."""
    return np.sqrt(x)


def square(input: Any) -> Any:
    """The square."""
    return np.square(input)


def sin(input: Any) -> Any:
    """The sine."""
    return np.sin(input)


def cos(input: Any) -> Any:
    """The cosine."""
    return np.cos(input)


def tan(input: Any) -> Any:
    """The tangent."""
    return np.tan(input)


def asin(input: Any) -> Any:
    """The inverse sine."""
    return np.arcsin(input)


def acos(input: Any) -> Any:
    """The inverse cosine."""
    return np.arccos(input)


def atan(input: Any) -> Any:
    """The inverse tangent."""
    return np.arctan(input)


def atan2(input: Any, other: Any) -> Any:
    """The angle of the point (other, input)."""
    return np.arctan2(input, other)


def sinh(input: Any) -> Any:
    """The hyperbolic sine."""
    return np.sinh(input)


def cosh(input: Any) -> Any:
    """The hyperbolic cosine."""
    return np.cosh(input)


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(input)


def asinh(input: Any) -> Any:
    """The inverse hyperbolic sine."""
    return np.arcsinh(input)


def acosh(input: Any) -> Any:
    """The inverse hyperbolic cosine."""
    return np.arccosh(input)


def atanh(input: Any) -> Any:
    """The inverse hyperbolic tangent."""
    return np.arctanh(input)


def floor(input: Any) -> Any:
    """The largest integer below."""
    return np.floor(input)


def ceil(input: Any) -> Any:
    """The smallest integer above."""
    return np.ceil(input)


def round(input: Any) -> Any:
    """The nearest integer, the even one at ties."""
    return np.round(input)


def trunc(input: Any) -> Any:
    """The integer part."""
    return np.trunc(input)


def sign(input: Any) -> Any:
    """-1, 0 or 1."""
    return np.sign(input)


def isnan(input: Any) -> Any:
    """Where elements are not a number."""
    return np.isnan(input)


def isinf(input: Any) -> Any:
    """Where elements are infinite."""
    return np.isinf(input)


def isfinite(input: Any) -> Any:
    """Where elements are finite."""
    return np.isfinite(input)


# Comparison and selection


def equal(input: Any, other: Any) -> Any:
    """Where two tensors are equal."""
    return np.equal(input, other)


def not_equal(input: Any, other: Any) -> Any:
    """Where two tensors differ."""
    return np.not_equal(input, other)


def greater(input: Any, other: Any) -> Any:
    """Where `input` is greater."""
    return np.greater(input, other)


def greater_equal(input: Any, other: Any) -> Any:
    """Where `input` is greater or equal."""
    return np.greater_equal(input, other)


def less(input: Any, other: Any) -> Any:
    """Where `input` is less."""
    return np.less(input, other)


def less_equal(input: Any, other: Any) -> Any:
    """Where `input` is less or equal."""
    return np.less_equal(input, other)


def logical_and(input: Any, other: Any) -> Any:
    """Where both are true."""
    return np.logical_and(input, other)


def logical_or(input: Any, other: Any) -> Any:
    """Where either is true."""
    return np.logical_or(input, other)


def logical_not(input: Any) -> Any:
    """Where it is false."""
    return np.logical_not(input)


def maximum(input: Any, other: Any) -> Any:
    """The larger of two; ties share the derivative evenly."""
    return np.maximum(input, other)


def minimum(input: Any, other: Any) -> Any:
    """The smaller of two; ties share the derivative evenly."""
    return np.minimum(input, other)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """The elements held within bounds."""
    return np.clip(input, min, max)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """The elements held within bounds."""
    return np.clip(x, clip_value_min, clip_value_max)


def where(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, else `other`."""
    return np.where(condition, input, other)


def select(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, else `other`."""
    return np.where(condition, input, other)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`value` where the mask is true, else `input`."""
    return np.where(mask, value, input)


# Reductions


def sum(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum over an axis, several, or all."""
    return np.sum(input, axis=dim, keepdims=keepdim)


def reduce_sum(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The sum over an axis, several, or all; an empty tuple stands for all."""
    return np.sum(x, axis=None if axis == () else axis, keepdims=keep_dims)


def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The mean over an axis, several, or all; an empty tuple stands for all."""
    return np.mean(x, axis=None if axis == () else axis, keepdims=keep_dims)


def prod(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The product over an axis, several, or all."""
    return np.prod(input, axis=None if axis == () else axis, keepdims=keep_dims)


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The standard deviation, biased unless `ddof` is 1."""
    return np.std(input, axis=axis, ddof=ddof, keepdims=keepdims)


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The variance, biased unless `ddof` is 1."""
    return np.var(input, axis=axis, ddof=ddof, keepdims=keepdims)


def amax(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element; ties share the derivative evenly."""
    return np.max(input, axis=None if axis == () else axis, keepdims=keepdims)


def amin(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element; ties share the derivative evenly."""
    return np.min(input, axis=None if axis == () else axis, keepdims=keepdims)


def max(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest elements and where they are; without an axis, of the elements in one row."""
    return np.max(input, axis=axis, keepdims=keepdims), np.argmax(input, axis=axis, keepdims=keepdims)


def min(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest elements and where they are; without an axis, of the elements in one row."""
    return np.min(input, axis=axis, keepdims=keepdims), np.argmin(input, axis=axis, keepdims=keepdims)


def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Where the largest element is."""
    return np.argmax(input, axis=dim, keepdims=keepdim)


def argmin(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest element is."""
    return np.argmin(input, axis=axis, keepdims=keepdims)


def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Whether all elements are true."""
    return np.all(input, axis=axis, keepdims=keep_dims)


def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Whether any element is true."""
    return np.any(input, axis=axis, keepdims=keep_dims)


def cumsum(x: Any, axis: int) -> Any:
    """Sums of the elements so far."""
    return np.cumsum(x, axis=axis)


def cumprod(input: Any, dim: int) -> Any:
    """Products of the elements so far."""
    return np.cumprod(input, axis=dim)


def logsumexp(input: Any, axis: Any, keep_dims: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    top = stop_gradient(np.max(input, axis=axis, keepdims=True))
    total = np.log(np.sum(np.exp(input - top), axis=axis, keepdims=True)) + top
    return total if keep_dims else np.squeeze(total, axis)


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """A norm of vectors or matrices, as ``np.linalg.norm``."""
    return np.linalg.norm(A, ord, dim, keepdim)


# Products


def matmul(input: Any, other: Any) -> Any:
    """The matrix product."""
    return np.matmul(input, other)


def dot(input: Any, other: Any) -> Any:
    """The dot product."""
    return np.dot(input, other)


def outer(input: Any, vec2: Any) -> Any:
    """The product of each element of one vector with each of another."""
    return np.outer(input, vec2)


def tensor_dot(x1: Any, x2: Any, axes: Any) -> Any:
    """The sum of products over axes of both."""
    return np.tensordot(x1, x2, axes)


def einsum(equation: str, *operands: Any) -> Any:
    """Einstein's sum."""
    return np.einsum(equation, *operands)


# Shape


def shape(input: Any) -> tuple[int, ...]:
    """The lengths of the axes."""
    return np.shape(input)


def rank(input_x: Any) -> int:
    """The number of axes."""
    return np.ndim(input_x)


def size(input_x: Any) -> int:
    """The number of elements."""
    return np.size(input_x)


def reshape(input: Any, shape: Any) -> Any:
    """The elements in another shape."""
    return np.reshape(input, shape)


def transpose(input: Any, input_perm: Any) -> Any:
    """The axes in another order."""
    return np.transpose(input, input_perm)


def permute(input: Any, axis: Any) -> Any:
    """The axes in another order."""
    return np.transpose(input, axis)


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two axes exchanged."""
    return np.swapaxes(input, axis0, axis1)


def expand_dims(input_x: Any, axis: int) -> Any:
    """An axis of length 1 put in."""
    return np.expand_dims(input_x, axis)


def unsqueeze(input: Any, dim: int) -> Any:
    """An axis of length 1 put in."""
    return np.expand_dims(input, dim)


def squeeze(input: Any, axis: Any = None) -> Any:
    """Axes of length 1 left out."""
    return np.squeeze(input, axis)


def flatten(input: Any, start_dim: int = 1, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim` joined into one."""
    lengths = np.shape(input)
    last = end_dim + len(lengths) if end_dim < 0 else end_dim
    return np.reshape(input, (*lengths[:start_dim], -1, *lengths[last + 1 :]))


def broadcast_to(input: Any, shape: Any) -> Any:
    """The tensor repeated to a shape by NumPy's broadcasting."""
    return np.broadcast_to(input, shape)


def tile(input: Any, multiples: Any) -> Any:
    """The tensor repeated as a whole along each axis."""
    return np.tile(input, multiples)


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Any:
    """Each element repeated."""
    return np.repeat(x, rep, axis)


def concat(tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along an axis."""
    return np.concatenate(tensors, axis)


def cat(tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along an axis."""
    return np.concatenate(tensors, axis)


def stack(tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along a new axis."""
    return np.stack(tensors, axis)


def unstack(input_x: Any, axis: int = 0) -> Any:
    """The entries along an axis, which is left out."""
    return tuple(np.take(input_x, k, axis) for k in range(np.shape(input_x)[axis]))


def flip(input: Any, dims: Any) -> Any:
    """Axes reversed."""
    return np.flip(input, dims)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved around along axes."""
    return np.roll(input, shifts, dims)


def tril(input: Any, diagonal: int = 0) -> Any:
    """The lower triangle, zeros elsewhere."""
    return np.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Any:
    """The upper triangle, zeros elsewhere."""
    return np.triu(input, diagonal)


def diag(input: Any) -> Any:
    """A matrix with this diagonal, or the diagonal of a matrix."""
    return np.diag(input)


def pad(input_x: Any, paddings: Any, mode: str = "constant", value: float = 0.0) -> Any:
    """Elements put around the tensor: a pair of counts for each axis."""
    if mode == "constant":
        return np.pad(input_x, paddings, constant_values=value)
    return np.pad(input_x, paddings, mode)


# Indexing and sorting


def gather(input_params: Any, input_indices: Any, axis: int) -> Any:
    """The entries along an axis at indices."""
    return np.take(input_params, input_indices, axis)


def gather_elements(input: Any, dim: int, index: Any) -> Any:
    """For each place the element along an axis that an index names."""
    return np.take_along_axis(input, index, dim)


def gather_nd(input_x: Any, indices: Any) -> Any:
    """The entries whose places the last axis of `indices` holds."""
    return input_x[tuple(indices[..., k] for k in range(np.shape(indices)[-1]))]


def sort(input_x: Any, axis: int = -1, descending: bool = False) -> Any:
    """The elements in order along an axis, and where they were."""
    order = np.argsort(-input_x if descending else input_x, axis, kind="stable")
    return np.take_along_axis(input_x, order, axis), order


def topk(input: Any, k: int, dim: int = -1) -> Any:
    """The `k` largest elements along an axis, and where they are."""
    order = np.take(np.argsort(-input, dim, kind="stable"), np.arange(k), dim)
    return np.take_along_axis(input, order, dim), order


def one_hot(indices: Any, depth: int, on_value: Any = 1.0, off_value: Any = 0.0, axis: int = -1) -> Any:
    """For each index a row that is `on_value` there and `off_value` elsewhere."""
    rows = np.equal(np.expand_dims(indices, -1), arange(depth))
    return np.moveaxis(np.where(rows, full((), on_value), full((), off_value)), -1, axis)


# Making tensors


def zeros(size: Any, dtype: Any = None) -> Any:
    """Zeros, float32 unless told otherwise."""
    return np.zeros_like(ORIGIN, dtype=dtype, shape=size)


def ones(shape: Any, dtype: Any = None) -> Any:
    """Ones, float32 unless told otherwise."""
    return np.ones_like(ORIGIN, dtype=dtype, shape=shape)


def full(size: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One number everywhere, float32 unless told otherwise."""
    return np.ones_like(ORIGIN, dtype=dtype, shape=size) * fill_value


def fill(type: Any, shape: Any, value: Any) -> Any:
    """One number everywhere."""
    return np.ones_like(ORIGIN, dtype=type, shape=shape) * value


def zeros_like(input: Any, dtype: Any = None) -> Any:
    """Zeros of the shape of a tensor."""
    return np.zeros_like(input, dtype=dtype)


def ones_like(input: Any, dtype: Any = None) -> Any:
    """Ones of the shape of a tensor."""
    return np.ones_like(input, dtype=dtype)


def full_like(input: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One number everywhere in the shape of a tensor."""
    return np.full_like(input, fill_value, dtype=dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers at equal steps, up to and without `end`; int64, or float32 where one is a float."""
    first, last = (0, start) if end is None else (start, end)
    if dtype is None and isinstance(first + last + step, float):
        dtype = np.float32
    return np.arange(first, last, step, dtype=dtype, like=ORIGIN)


def linspace(start: Any, end: Any, steps: int) -> Any:
    """`steps` numbers at equal distances, `end` included; float32."""
    return start + (end - start) * np.arange(0, steps, dtype=np.float32, like=ORIGIN) / (steps - 1 if steps > 1 else 1)


def eye(n: int, m: int | None = None, dtype: Any = None) -> Any:
    """The identity matrix."""
    return np.eye(n, m, dtype=np.float32 if dtype is None else dtype, like=ORIGIN)


def meshgrid(*inputs: Any, indexing: str = "xy") -> Any:
    """Coordinates on a grid."""
    return tuple(np.meshgrid(*inputs, indexing=indexing))


def cast(input: Any, dtype: Any) -> Any:
    """The elements in another dtype."""
    return input.astype(dtype)


def assign(variable: Parameter, value: Any) -> Parameter:
    """Replace a parameter's value."""
    return variable.set_data(value)


def assign_add(variable: Parameter, value: Any) -> Parameter:
    """Add to a parameter's value."""
    return variable.set_data(variable + value)


def assign_sub(variable: Parameter, value: Any) -> Parameter:
    """Subtract from a parameter's value."""
    return variable.set_data(variable - value)


true_divide = div
multiply = mul
subtract = sub
power = pow
absolute = abs
bmm = mm = matmul
