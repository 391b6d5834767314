"""Results of ``scipy.sparse`` that are an ``np.matrix``."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["NumPyMatrix"]


class NumPyMatrix:
    """An ``np.matrix`` of the numbers of an array, which it is made of soon: ``np.asarray(m)``, ``m.A1``."""

    stands_for = "an np.matrix"

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array

    def __array_ufunc__(self, fn: Any, method: Any, *inputs: Any) -> Any:
        return NumPyMatrix(fn(*[numbers(value) for value in inputs]))

    @property
    def A(self) -> Any:
        return self.array

    @property
    def A1(self) -> Any:
        return np.ravel(self.array)

    @property
    def T(self) -> Any:
        return NumPyMatrix(self.array.T)

    @property
    def shape(self) -> Any:
        return self.array.shape

    def getA(self) -> Any:
        return self.array

    def getA1(self) -> Any:
        return np.ravel(self.array)

    def flatten(self) -> Any:
        return NumPyMatrix(np.reshape(self.array, (1, -1)))

    def ravel(self) -> Any:
        return NumPyMatrix(np.reshape(self.array, (1, -1)))

    def __neg__(self) -> Any:
        return NumPyMatrix(-self.array)

    def __add__(self, other: Any) -> Any:
        return NumPyMatrix(self.array + numbers(other))

    def __sub__(self, other: Any) -> Any:
        return NumPyMatrix(self.array - numbers(other))

    def __truediv__(self, other: Any) -> Any:
        return NumPyMatrix(self.array / numbers(other))

    def __rtruediv__(self, other: Any) -> Any:
        return NumPyMatrix(other / self.array)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return np.sum(self.array) if axis is None else NumPyMatrix(np.sum(self.array, axis, keepdims=True))


def numbers(value: Any) -> Any:
    return value.array if isinstance(value, NumPyMatrix) else value
