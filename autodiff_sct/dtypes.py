"""MindSpore's dtypes: objects that print as ``Float32`` and that NumPy takes wherever it takes a dtype.

>>> import numpy as np
>>> print(float32, np.zeros(2, dtype=float32).dtype, float32 == np.float32)
Float32 float32 True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ArgumentTypeError

__all__ = [
    "DType",
    "bool_",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class DType:
    """A dtype with MindSpore's name; equal to NumPy's dtype of the same kind and size.

    Attributes
    ----------
    dtype : numpy.dtype
        NumPy's own; the attribute that NumPy looks for when it is given this object as a dtype.
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def kind(self) -> str:
        """NumPy's letter: ``f`` floating, ``c`` complex, ``i`` and ``u`` integers, ``b`` boolean."""
        return self.dtype.kind

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def name(self) -> str:
        """NumPy's name."""
        return self.dtype.name

    @property
    def type(self) -> Any:
        """NumPy's scalar class."""
        return self.dtype.type

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.dtype == other.dtype
        return isinstance(other, (np.dtype, type, str)) and self.dtype == other

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return self.dtype.name.removesuffix("_").capitalize()

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype_of, (self.dtype,)


bool_ = DType(np.bool_)
int8, int16, int32, int64 = DType(np.int8), DType(np.int16), DType(np.int32), DType(np.int64)
uint8, uint16, uint32, uint64 = DType(np.uint8), DType(np.uint16), DType(np.uint32), DType(np.uint64)
float16, float32, float64 = DType(np.float16), DType(np.float32), DType(np.float64)
complex64, complex128 = DType(np.complex64), DType(np.complex128)

ALL = (
    *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float16, float32, float64, complex64, complex128),
)
BY_NUMPY: dict[np.dtype[Any], DType] = {dtype.dtype: dtype for dtype in ALL}


def dtype_of(dtype: np.dtype[Any]) -> DType:
    """The `DType` of a NumPy dtype; TypeError where there is none (strings, objects, dates)."""
    found = BY_NUMPY.get(dtype)
    if found is None:
        raise ArgumentTypeError(f"a Tensor holds booleans, integers, floats and complex numbers, not {dtype}")
    return found
