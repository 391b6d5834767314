"""Text of tensors: the ``repr`` that MindSpore prints.

>>> import numpy as np
>>> print(tensor_repr(np.array([0.5, -2], np.float32), "Float32"))
Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e-01, -2.00000000e+00])
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["tensor_repr"]

# Longer axes are shown by their first and last three elements.
LONGEST, SHOWN = 6, 3


def tensor_repr(array: np.ndarray, dtype: str) -> str:
    """The text ``Tensor(shape=[2], dtype=Float32, value= ...)`` of an array."""
    gap = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={gap}{values_text(array)})"


def values_text(array: np.ndarray) -> str:
    """The elements: a scalar as it is, else rows in brackets."""
    if array.ndim == 0:
        value = array.item()
        return f"{value:g}" if isinstance(value, float) else str(value)
    return rows_text(array, 1)


def rows_text(array: np.ndarray, depth: int) -> str:
    """The elements of an array of one axis or more, rows under each other."""
    if array.ndim == 1:
        texts = [element_text(value) for value in shortened(array)]
        between = ", "
    else:
        texts = [rows_text(row, depth + 1) for row in shortened(array)]
        between = "," + "\n" * (array.ndim - 1) + " " * depth
    if len(array) <= LONGEST:
        return f"[{between.join(texts)}]"
    head, tail = between.join(texts[:SHOWN]), between.join(texts[SHOWN:])
    gap = " ... " if array.ndim == 1 else between.replace(",", "") + "..." + between.replace(",", "")
    return f"[{head}{gap}{tail}]"


def shortened(array: np.ndarray) -> list[Any]:
    """The entries along the first axis that are shown."""
    if len(array) <= LONGEST:
        return list(array)
    return [*array[:SHOWN], *array[-SHOWN:]]


def element_text(value: Any) -> str:
    """One element; floats have the fixed width that lines columns up."""
    if value.dtype.kind == "f":
        return f"{value: .4e}" if value.dtype.itemsize == 2 else f"{value: .8e}"
    return str(value.item())
