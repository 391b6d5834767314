"""Layers for images of shape (n, channels, height, width), and batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api import stop_gradient
from ..api.arguments import checked_flag
from ..common.initializer import initializer
from ..dtypes import float32
from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Parameter
from .cell import Cell
from .layers import convolution_weight, positive, uniform_bias
from .windows import padding_of, pads_of, pair, windows

__all__ = ["AvgPool2d", "BatchNorm1d", "BatchNorm2d", "Conv2d", "MaxPool2d"]


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


class Pool(Cell):
    """The base of pools: a window and its stride."""

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = pair(kernel_size, "kernel_size")
        self.stride = pair(stride, "stride")
        self.pad_mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
        self.padding = padding_of(self.pad_mode, padding)

    def extend_repr(self) -> str:
        """The settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool2d(Pool):
    """The largest element of every window; ties share the derivative evenly.

    Parameters
    ----------
    kernel_size, stride : int or pair of int
        Height and width of the window; steps between windows.
    pad_mode : {'valid', 'same', 'pad'}
        What is added around the image; it never is the largest.
    padding : int or pair of int
        Rows and columns, for ``pad_mode='pad'``.
    """

    def construct(self, x: Any) -> Any:
        """Reduce every window."""
        pads = pads_of(x, self.kernel_size, self.stride, (1, 1), self.pad_mode, self.padding)
        return np.max(windows(x, self.kernel_size, self.stride, (1, 1), pads, -np.inf), axis=2)


class AvgPool2d(Pool):
    """The mean of every window.

    Parameters
    ----------
    kernel_size, stride : int or pair of int
        Height and width of the window; steps between windows.
    pad_mode : {'valid', 'same', 'pad'}
        What is added around the image; with ``'same'`` it does not count.
    padding : int or pair of int
        Rows and columns, for ``pad_mode='pad'``.
    """

    def construct(self, x: Any) -> Any:
        """Reduce every window."""
        pads = pads_of(x, self.kernel_size, self.stride, (1, 1), self.pad_mode, self.padding)
        seen = windows(x, self.kernel_size, self.stride, (1, 1), pads)
        if self.pad_mode == "same":
            counts = np.sum(windows(np.ones_like(x), self.kernel_size, self.stride, (1, 1), pads), axis=2)
            return np.sum(seen, axis=2) / counts
        return np.mean(seen, axis=2)


class BatchNorm(Cell):
    """Mean 0 and variance 1 in every channel, then scaled by `gamma` and moved by `beta`.

    Parameters
    ----------
    num_features : int
        The number of channels, the second axis.
    eps : float
        Added to the variance.
    momentum : float
        How much of the moving statistics a training step keeps.
    affine : bool
        Whether `gamma` and `beta` are trained.
    use_batch_statistics : bool, optional
        Statistics of the batch (True) or the moving ones (False); by default those of the batch in training only.
    """

    dims: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.num_features = positive(num_features, "num_features")
        self.eps = eps
        if isinstance(momentum, bool) or not isinstance(momentum, (int, float)):
            raise ArgumentTypeError(f"momentum is a number, not {momentum!r}")
        if not 0 <= momentum <= 1:
            raise ArgumentValueError(f"momentum is between 0 and 1, not {momentum}")
        self.momentum = float(momentum)
        self.use_batch_statistics = use_batch_statistics
        shape = (num_features,)
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """Normalise; in training also move the moving statistics."""
        if x.ndim not in self.dims:
            raise ArgumentValueError(f"{self.cls_name} wants an input with {self.dims} axes, not {x.ndim}")
        shape = (1, self.num_features) + (1,) * (x.ndim - 2)
        from_batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if from_batch:
            axes = (0, *range(2, x.ndim))
            mean = np.mean(x, axis=axes)
            variance = np.var(x, axis=axes)
            self.remember(stop_gradient(mean), stop_gradient(variance), x.size // self.num_features)
        else:
            mean = self.moving_mean
            variance = self.moving_variance
        scale = self.gamma / np.sqrt(variance + self.eps)
        return (x - np.reshape(mean, shape)) * np.reshape(scale, shape) + np.reshape(self.beta, shape)

    def remember(self, mean: Any, variance: Any, count: int) -> None:
        """Move the moving statistics towards those of a batch of `count` elements a channel, the variance unbiased."""
        kept = self.momentum
        unbiased = variance * (count / max(count - 1, 1))
        # Cell gives a parameter that is assigned to a new value.
        self.moving_mean = kept * self.moving_mean + (1 - kept) * mean
        self.moving_variance = kept * self.moving_variance + (1 - kept) * unbiased

    def extend_repr(self) -> str:
        """The settings."""
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(BatchNorm):
    """`BatchNorm` of inputs of shape (n, channels) or (n, channels, length)."""

    dims = (2, 3)


class BatchNorm2d(BatchNorm):
    """`BatchNorm` of inputs of shape (n, channels, height, width)."""

    dims = (4,)
