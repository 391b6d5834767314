"""MindSpore's tensor under the name ``common.tensor``."""

from ..tensor import Tensor, from_numpy, tensor

__all__ = ["Tensor", "from_numpy", "tensor"]
