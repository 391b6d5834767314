"""The adjoint of padding an array with its own elements: every border is added to what it was copied from."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["unpad"]


def unpad(cotangent: Any, pad_width: Any, mode: str) -> Any:
    """The cotangent of ``a`` from that of ``np.pad(a, pad_width, mode)``, in new memory.

    Parameters
    ----------
    cotangent : array
        Of the shape of the padded array.
    pad_width : int, pair, or pair for each axis
        As for ``np.pad``.
    mode : {"edge", "reflect", "symmetric", "wrap"}
        As for ``np.pad``.
    """
    widths = np.broadcast_to(pad_width, (cotangent.ndim, 2)).tolist()
    result = cotangent.copy() if not np.any(widths) else cotangent
    for axis, (before, after) in enumerate(widths):
        if before or after:
            result = np.moveaxis(folded(np.moveaxis(result, axis, 0), before, after, mode), 0, axis)
    return result


def folded(d: Any, before: int, after: int, mode: str) -> Any:
    """The same along the first axis."""
    length = len(d) - before - after
    inner = d[before : before + length].copy()
    if mode == "edge":
        inner[0] += d[:before].sum(axis=0)
        inner[-1] += d[before + length :].sum(axis=0)
    elif max(before, after) < length:
        low, high = d[:before], d[before + length :]
        if mode == "wrap":
            inner[length - before :] += low
            inner[:after] += high
        else:
            skipped = int(mode == "reflect")  # the border itself is not repeated
            inner[skipped : skipped + before] += low[::-1]
            inner[length - skipped - after : length - skipped] += high[::-1]
    else:  # the border is longer than the array, which is repeated in it
        inner[...] = 0
        np.add.at(inner, np.pad(np.arange(length), (before, after), mode), d)  # type: ignore[call-overload]
    return inner
