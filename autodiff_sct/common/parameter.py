"""MindSpore's parameters under the name ``common.parameter``."""

from ..tensor import Parameter, ParameterTuple

__all__ = ["Parameter", "ParameterTuple"]
