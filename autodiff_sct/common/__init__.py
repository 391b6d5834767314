"""MindSpore's ``common``: the modules that scripts import tensors, parameters, dtypes and initializers from."""

from ..core.process_state import get_seed, set_seed
from ..tensor import Parameter, ParameterTuple, Tensor
from .initializer import initializer

__all__ = ["Parameter", "ParameterTuple", "Tensor", "get_seed", "initializer", "set_seed"]
