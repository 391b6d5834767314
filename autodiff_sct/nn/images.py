"""Convolutions of sequences and images, of shape (n, channels, length) and (n, channels, height, width)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..common.initializer import HeUniform, Uniform, initializer
from ..dtypes import float32
from ..errors import ArgumentValueError
from ..tensor import Parameter, Tensor
from .cell import Cell
from .layers import positive
from .pools import overlapped, padding_of, pads_of, pair, same_pads, windows

__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose"]


class Conv2d(Cell):
    """The cross-correlation of images with learned kernels.

    Parameters
    ----------
    in_channels, out_channels : int
        The lengths of the second axis of the input and of the output.
    kernel_size, stride, dilation : int or pair of int
        Height and width of the kernel; steps between its places; steps between its elements.
    pad_mode : {'same', 'valid', 'pad'}
        Zeros around the image: so many that there is a place for each `stride` elements; none; `padding`.
    padding : int, pair or four int
        Rows above and below, columns left and right, for ``pad_mode='pad'``.
    group : int
        Into how many groups the channels fall that do not see each other.
    has_bias : bool
        Whether there is a bias.

    Attributes
    ----------
    weight : Parameter of shape (out_channels, in_channels // group, kernel height, kernel width)
    bias : Parameter of shape (out_channels,)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.in_channels = positive(in_channels, "in_channels")
        self.out_channels = positive(out_channels, "out_channels")
        self.group = positive(group, "group")
        if in_channels % group or out_channels % group:
            raise ArgumentValueError(f"{in_channels} and {out_channels} channels do not fall into {group} groups")
        self.grouped = group > 1
        self.kernel_size = pair(kernel_size, "kernel_size")
        self.stride = pair(stride, "stride")
        self.dilation = pair(dilation, "dilation")
        self.pad_mode = pad_mode
        self.padding = padding_of(pad_mode, padding)
        self.has_bias = checked_flag(has_bias, "has_bias")
        shape = (out_channels, in_channels // group, *self.kernel_size)
        self.weight = Parameter(convolution_weight(shape, weight_init, dtype), "weight")
        if has_bias:
            fan_in = shape[1] * shape[2] * shape[3]
            self.bias = Parameter(uniform_bias(fan_in, (out_channels,), bias_init, dtype), "bias")

    def construct(self, x: Any) -> Any:
        """Multiply the kernels with every window."""
        pads = pads_of(x, self.kernel_size, self.stride, self.dilation, self.pad_mode, self.padding)
        seen = windows(x, self.kernel_size, self.stride, self.dilation, pads)
        n, _, _, rows, columns = seen.shape
        if self.grouped:
            kernels = np.reshape(self.weight, (self.group, self.out_channels // self.group, -1))
            y = np.matmul(kernels, np.reshape(seen, (n, self.group, -1, rows * columns)))
        else:
            y = np.matmul(np.reshape(self.weight, (self.out_channels, -1)), np.reshape(seen, (n, -1, rows * columns)))
        y = np.reshape(y, (n, self.out_channels, rows, columns))
        if self.has_bias:
            y = y + np.reshape(self.bias, (self.out_channels, 1, 1))
        return y

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, has_bias={self.has_bias}"
        )


class Conv1d(Conv2d):
    """The cross-correlation of sequences with learned kernels: `Conv2d` of images of one row.

    Its weight has the shape (out_channels, in_channels // group, 1, kernel_size), as in MindSpore.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: int = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = float32,
    ) -> None:
        sizes = ((1, kernel_size), (1, stride), pad_mode, (0, padding), (1, dilation))
        super().__init__(in_channels, out_channels, *sizes, group, has_bias, weight_init, bias_init, dtype)

    def construct(self, x: Any) -> Any:
        """Multiply the kernels with every window."""
        return np.squeeze(super().construct(np.expand_dims(x, 2)), 2)


class Conv2dTranspose(Conv2d):
    """The adjoint of `Conv2d` with respect to its input: each element spreads a kernel.

    Parameters
    ----------
    pad_mode : {'same', 'valid', 'pad'}
        The output has `stride` elements for each of the input; all that the kernels reach; or these without `padding`.
    output_padding : int or pair of int
        Rows and columns added below and on the right, for ``pad_mode='pad'``.

    Attributes
    ----------
    weight : Parameter of shape (in_channels, out_channels // group, kernel height, kernel width)
    bias : Parameter of shape (out_channels,)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = float32,
    ) -> None:
        # The weight is that of the convolution from the output to the input.
        super().__init__(
            *(out_channels, in_channels, kernel_size, stride, pad_mode, padding, dilation),
            *(group, False, weight_init, None, dtype),
        )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.has_bias = checked_flag(has_bias, "has_bias")
        self.output_padding = pair(output_padding, "output_padding", 0)
        if pad_mode != "pad" and self.output_padding != (0, 0):
            raise ArgumentValueError("output_padding is for pad_mode='pad'")
        if has_bias:
            fan_in = self.weight.shape[1] * self.weight.shape[2] * self.weight.shape[3]
            self.bias = Parameter(uniform_bias(fan_in, (out_channels,), bias_init, dtype), "bias")

    def construct(self, x: Any) -> Any:
        """Spread the kernels."""
        n, _, rows, columns = x.shape
        kernels = np.reshape(self.weight, (self.group, self.in_channels // self.group, -1))
        spread = np.matmul(np.swapaxes(kernels, 1, 2), np.reshape(x, (n, self.group, -1, rows * columns)))
        spread = np.reshape(spread, (n, self.out_channels, -1, rows, columns))
        y = overlapped(spread, self.kernel_size, self.stride, self.dilation, *self.lengths(rows, columns))
        if self.has_bias:
            y = y + np.reshape(self.bias, (self.out_channels, 1, 1))
        return y

    def lengths(self, rows: int, columns: int) -> Any:
        """The begin of the output in what the kernels reach, and its height and width."""
        if self.pad_mode == "same":
            tall, wide = rows * self.stride[0], columns * self.stride[1]
            above, _ = same_pads(tall, self.kernel_size[0], self.stride[0], self.dilation[0])
            left, _ = same_pads(wide, self.kernel_size[1], self.stride[1], self.dilation[1])
            return above, left, tall, wide
        above, below, left, right = self.padding
        tall = (rows - 1) * self.stride[0] + self.dilation[0] * (self.kernel_size[0] - 1) + 1
        wide = (columns - 1) * self.stride[1] + self.dilation[1] * (self.kernel_size[1] - 1) + 1
        more, wider = self.output_padding
        return above, left, tall - above - below + more, wide - left - right + wider


class Conv1dTranspose(Conv2dTranspose):
    """The adjoint of `Conv1d` with respect to its input: `Conv2dTranspose` of images of one row."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: int = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = float32,
    ) -> None:
        sizes = ((1, kernel_size), (1, stride), pad_mode, (0, padding), 0, (1, dilation))
        super().__init__(in_channels, out_channels, *sizes, group, has_bias, weight_init, bias_init, dtype)

    def construct(self, x: Any) -> Any:
        """Spread the kernels."""
        return np.squeeze(super().construct(np.expand_dims(x, 2)), 2)


def uniform_bias(fan_in: int, shape: tuple[int, ...], init: Any, dtype: Any) -> Tensor:
    """A convolution's bias: uniform within ``1 / sqrt(fan_in)`` of 0 unless told otherwise."""
    return initializer(Uniform(1 / math.sqrt(fan_in)) if init is None else init, shape, dtype)


def convolution_weight(shape: tuple[int, ...], init: Any, dtype: Any) -> Tensor:
    """A convolution's weight: MindSpore's uniform numbers of variance ``1 / (3 * fan_in)`` unless told otherwise."""
    return initializer(HeUniform(math.sqrt(5)) if init is None else init, shape, dtype)
