"""Initializers of parameters, as MindSpore has them: by object, name, number or tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.process_state import generator
from ..dtypes import DType, float32
from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Tensor

__all__ = [
    "Constant",
    "HeNormal",
    "HeUniform",
    "Initializer",
    "Normal",
    "One",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "Zero",
    "initializer",
]


class Initializer:
    """Base: a subclass says in `draw` what an array of a given shape begins with."""

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """The content of a new parameter."""
        raise NotImplementedError


class Zero(Initializer):
    """All zeros."""

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Zeros."""
        return np.zeros(shape)


class One(Initializer):
    """All ones."""

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Ones."""
        return np.ones(shape)


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """The value, repeated."""
        return np.broadcast_to(np.asarray(self.value), shape)


class Uniform(Initializer):
    """Uniform in ``[-scale, scale]``."""

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Uniform numbers."""
        return generator().uniform(-self.scale, self.scale, shape)


class Normal(Initializer):
    """Normal with standard deviation `sigma` about `mean`."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        self.sigma = sigma
        self.mean = mean

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Normal numbers."""
        return generator().normal(self.mean, self.sigma, shape)


class TruncatedNormal(Normal):
    """Normal, drawn again where more than two standard deviations from the mean."""

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Normal numbers within two standard deviations."""
        values = generator().standard_normal(shape)
        while (outside := np.abs(values) > 2).any():
            values[outside] = generator().standard_normal(int(outside.sum()))
        return self.mean + self.sigma * values


class XavierUniform(Initializer):
    """Uniform with variance ``gain**2 * 2 / (fan_in + fan_out)`` (Glorot and Bengio, 2010)."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Uniform numbers."""
        bound = self.gain * math.sqrt(6 / sum(fans(shape)))
        return generator().uniform(-bound, bound, shape)


class XavierNormal(XavierUniform):
    """Normal with variance ``gain**2 * 2 / (fan_in + fan_out)`` (Glorot and Bengio, 2010)."""

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Normal numbers."""
        return generator().normal(0, self.gain * math.sqrt(2 / sum(fans(shape))), shape)


class HeUniform(Initializer):
    """Uniform with variance ``gain**2 / fan``, gain that of a leaky ReLU (He et al., 2015)."""

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        if mode not in ("fan_in", "fan_out"):
            raise ArgumentValueError(f"mode is 'fan_in' or 'fan_out', not {mode!r}")
        self.mode = mode
        slope = {"leaky_relu": negative_slope, "relu": 0.0}.get(nonlinearity, 1.0)
        self.gain = math.sqrt(2 / (1 + slope**2))

    def deviation(self, shape: tuple[int, ...]) -> float:
        """The standard deviation for a shape."""
        return self.gain / math.sqrt(fans(shape)[self.mode == "fan_out"])

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Uniform numbers."""
        bound = math.sqrt(3) * self.deviation(shape)
        return generator().uniform(-bound, bound, shape)


class HeNormal(HeUniform):
    """Normal with variance ``gain**2 / fan``, gain that of a leaky ReLU (He et al., 2015)."""

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Normal numbers."""
        return generator().normal(0, self.deviation(shape), shape)


BY_NAME: dict[str, Callable[[], Initializer]] = {
    "zeros": Zero,
    "zero": Zero,
    "ones": One,
    "one": One,
    "uniform": Uniform,
    "normal": Normal,
    "truncatednormal": TruncatedNormal,
    "truncated_normal": TruncatedNormal,
    "xavier_uniform": XavierUniform,
    "xavieruniform": XavierUniform,
    "xavier_normal": XavierNormal,
    "xaviernormal": XavierNormal,
    "he_uniform": HeUniform,
    "heuniform": HeUniform,
    "he_normal": HeNormal,
    "henormal": HeNormal,
}


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """The number of inputs and of outputs of a unit of a weight ``(out, in, ...)``."""
    if len(shape) < 2:
        raise ArgumentValueError(f"this initializer wants a weight of two axes or more, not of shape {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def initializer(init: Any, shape: Any = None, dtype: DType = float32) -> Tensor:
    """The tensor that a parameter begins with.

    Parameters
    ----------
    init : Initializer, str, number or Tensor
        What it holds: drawn by an initializer (or the one with that name), one number everywhere, or the tensor given.
    shape : int or tuple of int, optional
        Its shape; for a tensor, checked against the tensor's.
    dtype : DType
        Its dtype.

    Raises
    ------
    TypeError
        If `init` is of another type.
    ValueError
        If the name is unknown or the tensor has another shape.
    """
    if isinstance(init, Tensor):
        if shape is not None and tuple(shape) != init.shape:
            raise ArgumentValueError(f"a parameter of shape {tuple(shape)} cannot begin with a tensor of {init.shape}")
        return Tensor(init, dtype)
    wanted = (shape,) if isinstance(shape, int) else tuple(shape or ())
    return Tensor(initializer_of(init).draw(wanted), dtype)


def initializer_of(init: Any) -> Initializer:
    """The initializer that an object, a name or a number stands for."""
    if isinstance(init, Initializer):
        return init
    if isinstance(init, (int, float)) and not isinstance(init, bool):
        return Constant(init)
    if not isinstance(init, str):
        raise ArgumentTypeError(f"an initializer is an object, a name, a number or a Tensor, not {init!r}")
    if init.lower() not in BY_NAME:
        raise ArgumentValueError(f"there is no initializer {init!r}; there are {', '.join(BY_NAME)}")
    return BY_NAME[init.lower()]()
