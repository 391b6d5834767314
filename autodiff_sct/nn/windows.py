"""Sliding windows over images, which convolutions and pools reduce."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["overlapped", "pads_of", "pair", "same_pads", "windows"]


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
