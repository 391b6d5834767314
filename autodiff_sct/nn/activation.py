"""Activations: elementwise layers and softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.initializer import initializer
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import functional as F
from ..tensor import Parameter
from .cell import Cell

__all__ = [
    "ELU",
    "GELU",
    "HSigmoid",
    "HSwish",
    "Identity",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "get_activation",
]


class Identity(Cell):
    """The input itself."""

    def construct(self, x: Any) -> Any:
        """Return `x`."""
        return x


class ReLU(Cell):
    """``max(x, 0)``; its derivative at 0 is 0."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.where(x <= 0, 0, x)


class ReLU6(Cell):
    """``min(max(x, 0), 6)``."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.where(x >= 6, 6, np.where(x <= 0, 0, x))


class LeakyReLU(Cell):
    """``x`` where positive, else ``alpha * x``."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.where(x > 0, x, self.alpha * x)


class PReLU(Cell):
    """``x`` where positive, else ``weight * x``, the weight a parameter for each channel."""

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        self.w = Parameter(initializer(w, (channel,)), "w")

    def construct(self, x: Any) -> Any:
        """Apply to each element; channels are the second axis."""
        w = np.reshape(self.w, (-1,) + (1,) * (x.ndim - 2)) if x.ndim > 1 else self.w
        return np.where(x > 0, x, w * x)


class ELU(Cell):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.where(x > 0, x, self.alpha * np.expm1(np.where(x > 0, 0, x)))


class Sigmoid(Cell):
    """The logistic function ``1 / (1 + exp(-x))``."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.sigmoid(x)


class LogSigmoid(Cell):
    """The logarithm of the logistic function."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return -np.logaddexp(0, -x)


class Tanh(Cell):
    """The hyperbolic tangent."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.tanh(x)


class SiLU(Cell):
    """``x`` times the logistic function of ``x``."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return x * F.sigmoid(x)


class Softplus(Cell):
    """``log(1 + exp(x))``."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.logaddexp(0, x)


class Mish(Cell):
    """``x * tanh(log(1 + exp(x)))``."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return x * np.tanh(np.logaddexp(0, x))


class HSigmoid(Cell):
    """``(x + 3) / 6`` held within 0 and 1."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return np.clip(x + 3, 0, 6) / 6


class HSwish(Cell):
    """``x * (x + 3) / 6``, the factor held within 0 and 1."""

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return x * np.clip(x + 3, 0, 6) / 6


class GELU(Cell):
    """``x`` times the normal distribution function of ``x``, by its tanh approximation unless told otherwise."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        if not isinstance(approximate, bool):
            raise ArgumentTypeError(f"approximate is True or False, not {approximate!r}")
        self.approximate = approximate

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.gelu(x, "tanh") if self.approximate else F.gelu(x)


class Softmax(Cell):
    """Exponentials that sum to 1 along `axis`."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """Apply along the axis."""
        return F.softmax(x, self.axis)


class LogSoftmax(Cell):
    """The logarithm of `Softmax`."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """Apply along the axis."""
        return F.log_softmax(x, self.axis)


BY_NAME: dict[str, type[Cell]] = {
    "relu": ReLU,
    "relu6": ReLU6,
    "leakyrelu": LeakyReLU,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "logsigmoid": LogSigmoid,
    "tanh": Tanh,
    "silu": SiLU,
    "softplus": Softplus,
    "mish": Mish,
    "hsigmoid": HSigmoid,
    "hswish": HSwish,
    "gelu": GELU,
    "softmax": Softmax,
    "logsoftmax": LogSoftmax,
}


def get_activation(name: str | None) -> Cell | None:
    """The activation with a name.

    Raises
    ------
    TypeError
        If `name` is not a string.
    ValueError
        If there is none with that name.
    """
    if name is None:
        return None
    if not isinstance(name, str):
        raise ArgumentTypeError(f"an activation is a name or a Cell, not {name!r}")
    if name.lower() not in BY_NAME:
        raise ArgumentValueError(f"there is no activation {name!r}; there are {', '.join(BY_NAME)}")
    return BY_NAME[name.lower()]()
