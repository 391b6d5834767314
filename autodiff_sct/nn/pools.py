"""Sliding windows over images; pools, which reduce them, and layers that add elements around them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import functional as F
from .cell import Cell

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "ConstantPad1d",
    "ConstantPad2d",
    "MaxPool1d",
    "MaxPool2d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ZeroPad2d",
]


def windows(x: Any, kernel: Any, stride: Any, dilation: Any, pads: Any, fill: Any = None) -> Any:
    """The windows of `x`, shape ``(n, c, kernel height * kernel width, rows, columns)``.

    Parameters
    ----------
    x : array of shape (n, c, height, width)
        The images.
    kernel, stride, dilation : pair of int
        Height and width of a window; steps between windows; steps inside a window.
    pads : four int
        Rows added above and below, columns added left and right, of the value `fill`; of zeros with None.
    """
    n, c, height, width = x.shape
    above, below, left, right = pads
    tall, wide = height + above + below, width + left + right
    padded = np.zeros_like(x, shape=(n, c, tall, wide))
    if fill is not None:
        padded = padded + fill
    padded[:, :, above : above + height, left : left + width] = x
    rows = (tall - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    columns = (wide - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    found = np.zeros_like(x, shape=(n, c, kernel[0] * kernel[1], rows, columns))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, start = i * dilation[0], j * dilation[1]
            bottom, end = top + (rows - 1) * stride[0] + 1, start + (columns - 1) * stride[1] + 1
            found[:, :, i * kernel[1] + j] = padded[:, :, top : bottom : stride[0], start : end : stride[1]]
    return found


def overlapped(
    spread: Any, kernel: Any, stride: Any, dilation: Any, above: int, left: int, tall: int, wide: int
) -> Any:
    """The sum of overlapping windows, the adjoint of `windows`.

    Parameters
    ----------
    spread : array of shape (n, c, kernel height * kernel width, rows, columns)
        The windows.
    kernel, stride, dilation : pair of int
        As in `windows`.
    above, left, tall, wide : int
        Rows and columns that are left out before the result, and its height and width.
    """
    n, c, _, rows, columns = spread.shape
    height = max((rows - 1) * stride[0] + dilation[0] * (kernel[0] - 1) + 1, above + tall)
    width = max((columns - 1) * stride[1] + dilation[1] * (kernel[1] - 1) + 1, left + wide)
    total = np.zeros_like(spread, shape=(n, c, height, width))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, start = i * dilation[0], j * dilation[1]
            bottom, end = top + (rows - 1) * stride[0] + 1, start + (columns - 1) * stride[1] + 1
            total[:, :, top : bottom : stride[0], start : end : stride[1]] += spread[:, :, i * kernel[1] + j]
    return total[:, :, above : above + tall, left : left + wide]


def pads_of(x: Any, kernel: Any, stride: Any, dilation: Any, pad_mode: str, padding: Any) -> Any:
    """Rows and columns to add around images: above, below, left, right."""
    if pad_mode == "same":
        height, width = x.shape[-2:]
        vertical = same_pads(height, kernel[0], stride[0], dilation[0])
        horizontal = same_pads(width, kernel[1], stride[1], dilation[1])
        return vertical + horizontal
    return padding


def same_pads(length: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """The padding before and after an axis so that there is a window for each `stride` elements."""
    total = max((-(-length // stride) - 1) * stride + dilation * (kernel - 1) + 1 - length, 0)
    return total // 2, total - total // 2


def pair(value: Any, what: str, least: int = 1) -> tuple[int, int]:
    """A setting given as one int or as two.

    Raises
    ------
    TypeError
        If it is anything else.
    ValueError
        If one is less than `least`.
    """
    both = (value, value) if isinstance(value, int) else value
    if not isinstance(both, (tuple, list)) or not all(isinstance(k, int) and not isinstance(k, bool) for k in both):
        raise ArgumentTypeError(f"{what} is an int or a tuple of two, not {value!r}")
    if len(both) != 2 or min(both) < least:
        raise ArgumentValueError(f"{what} is one or two integers of at least {least}, not {value!r}")
    return both[0], both[1]


def padding_of(pad_mode: str, padding: Any) -> tuple[int, int, int, int]:
    """The explicit padding as four integers; zeros unless `pad_mode` is ``"pad"``."""
    if pad_mode not in ("same", "valid", "pad"):
        raise ArgumentValueError(f"pad_mode is 'same', 'valid' or 'pad', not {pad_mode!r}")
    if isinstance(padding, (tuple, list)) and len(padding) == 4:
        above, below, left, right = padding
    else:
        vertical, horizontal = pair(padding, "padding", 0)
        above, below, left, right = vertical, vertical, horizontal, horizontal
    if pad_mode != "pad" and (above, below, left, right) != (0, 0, 0, 0):
        raise ArgumentValueError(f"padding is for pad_mode='pad': with {pad_mode!r} it is 0, not {padding!r}")
    return above, below, left, right


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


class MaxPool1d(MaxPool2d):
    """The largest element of every window of sequences: `MaxPool2d` of images of one row."""

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: int = 0) -> None:
        super().__init__((1, kernel_size), (1, stride), pad_mode, (0, padding))

    def construct(self, x: Any) -> Any:
        """Reduce every window."""
        return np.squeeze(super().construct(np.expand_dims(x, 2)), 2)


class AvgPool1d(AvgPool2d):
    """The mean of every window of sequences: `AvgPool2d` of images of one row."""

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: int = 0) -> None:
        super().__init__((1, kernel_size), (1, stride), pad_mode, (0, padding))

    def construct(self, x: Any) -> Any:
        """Reduce every window."""
        return np.squeeze(super().construct(np.expand_dims(x, 2)), 2)


class AdaptivePool(Cell):
    """The base of pools with an output of a given height and width; None keeps that of the input."""

    reduce: ClassVar[Any] = np.mean

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        both = output_size if isinstance(output_size, (tuple, list)) else (output_size, output_size)
        self.output_size = pair(tuple(1 if n is None else n for n in both), "output_size")
        self.keeps = both[0] is None, both[1] is None

    def construct(self, x: Any) -> Any:
        """Reduce every window."""
        height, width = x.shape[-2:]
        rows = height if self.keeps[0] else self.output_size[0]
        columns = width if self.keeps[1] else self.output_size[1]
        y = np.zeros_like(x, shape=(*x.shape[:-2], rows, columns))
        for i in range(rows):
            for j in range(columns):
                tall = slice(i * height // rows, -(-(i + 1) * height // rows))
                wide = slice(j * width // columns, -(-(j + 1) * width // columns))
                y[..., i, j] = self.reduce(x[..., tall, wide], axis=(-2, -1))
        return y


class AdaptiveAvgPool2d(AdaptivePool):
    """The mean of windows that part an image evenly into `output_size` of them."""

    reduce = staticmethod(np.mean)


class AdaptiveMaxPool2d(AdaptivePool):
    """The largest element of windows that part an image evenly into `output_size` of them."""

    reduce = staticmethod(np.max)


class AdaptiveAvgPool1d(AdaptiveAvgPool2d):
    """The mean of windows that part a sequence evenly into `output_size` of them."""

    def __init__(self, output_size: int) -> None:
        super().__init__((1, output_size))

    def construct(self, x: Any) -> Any:
        """Reduce every window."""
        return np.squeeze(super().construct(np.expand_dims(x, 2)), 2)


class Padding(Cell):
    """The base of layers that add elements around the last axes.

    Parameters
    ----------
    padding : int or tuple of int
        How many before and after the last axis, then the one before it.
    """

    axes: ClassVar[int] = 2
    mode: ClassVar[str] = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        counts = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        if not all(isinstance(n, int) for n in counts):
            raise ArgumentTypeError(f"padding is an int or a tuple of them, not {padding!r}")
        if len(counts) != 2 * self.axes or min(counts) < 0:
            raise ArgumentValueError(f"padding is one or {2 * self.axes} counts, not {padding!r}")
        self.pairs = tuple(counts[2 * k : 2 * k + 2] for k in reversed(range(self.axes)))

    def construct(self, x: Any) -> Any:
        """Add the elements."""
        return F.pad(x, ((0, 0),) * (x.ndim - self.axes) + self.pairs, self.mode)


class ConstantPad2d(Padding):
    """One value around images."""

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__(padding)
        self.value = value

    def construct(self, x: Any) -> Any:
        """Add the elements."""
        return F.pad(x, ((0, 0),) * (x.ndim - self.axes) + self.pairs, value=self.value)


class ConstantPad1d(ConstantPad2d):
    """One value around sequences."""

    axes = 1


class ZeroPad2d(Padding):
    """Zeros around images."""


class ReflectionPad2d(Padding):
    """Images reflected at their borders."""

    mode = "reflect"


class ReflectionPad1d(ReflectionPad2d):
    """Sequences reflected at their ends."""

    axes = 1


class ReplicationPad2d(Padding):
    """The elements at the borders of images repeated."""

    mode = "edge"


class ReplicationPad1d(ReplicationPad2d):
    """The elements at the ends of sequences repeated."""

    axes = 1
