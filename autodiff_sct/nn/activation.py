"""Activations: elementwise layers and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.initializer import initializer
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import functional as F
from ..tensor import Parameter
from .cell import Cell

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "FastGelu",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "Identity",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "get_activation",
]


class Plain(Cell):
    """A function of `ops` as a layer without settings."""

    function: Callable[..., Any]

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return self.function(x)


def activation(name: str, function: Callable[..., Any]) -> Any:
    """The class of a layer that applies a function."""
    return type(
        name, (Plain,), {"function": staticmethod(function), "__doc__": function.__doc__, "__module__": __name__}
    )


ReLU = activation("ReLU", F.relu)
ReLU6 = activation("ReLU6", F.relu6)
Sigmoid = activation("Sigmoid", F.sigmoid)
LogSigmoid = activation("LogSigmoid", F.logsigmoid)
Tanh = activation("Tanh", F.tanh)
SiLU = activation("SiLU", F.silu)
Softplus = activation("Softplus", F.softplus)
Mish = activation("Mish", F.mish)
HSigmoid = activation("HSigmoid", F.hardsigmoid)
HSwish = activation("HSwish", F.hardswish)
SeLU = activation("SeLU", F.selu)
Softsign = activation("Softsign", F.softsign)
Tanhshrink = activation("Tanhshrink", F.tanhshrink)
FastGelu = activation("FastGelu", F.fast_gelu)


class Identity(Cell):
    """The input itself."""

    def construct(self, x: Any) -> Any:
        """Return `x`."""
        return x


class PReLU(Cell):
    """``x`` where positive, else ``weight * x``, the weight a parameter for each channel."""

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        self.w = Parameter(initializer(w, (channel,)), "w")

    def construct(self, x: Any) -> Any:
        """Apply to each element; channels are the second axis."""
        return F.prelu(x, self.w)


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


class LeakyReLU(Cell):
    """``x`` where positive, else ``alpha * x``."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.leaky_relu(x, self.alpha)


class ELU(Cell):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.elu(x, self.alpha)


class CELU(Cell):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.celu(x, self.alpha)


class HShrink(Cell):
    """``x`` where farther than `lambd` from 0, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.hardshrink(x, self.lambd)


class SoftShrink(Cell):
    """``x`` moved towards 0 by `lambd`, not beyond."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.softshrink(x, self.lambd)


class Hardtanh(Cell):
    """``x`` held within bounds."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val = min_val
        self.max_val = max_val

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.hardtanh(x, self.min_val, self.max_val)


class Threshold(Cell):
    """``x`` where above `threshold`, else `value`."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value

    def construct(self, x: Any) -> Any:
        """Apply to each element."""
        return F.threshold(x, self.threshold, self.value)


class GLU(Cell):
    """One half along an axis times the logistic function of the other."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """Apply along the axis."""
        return F.glu(x, self.axis)


class Softmax(Cell):
    """Exponentials that sum to 1 along an axis."""

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


class Softmin(Cell):
    """`Softmax` of the negative."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """Apply along the axis."""
        return F.softmin(x, self.axis)


BY_NAME: dict[str, type[Cell]] = {
    cls.__name__.lower(): cls
    for cls in (
        *(ReLU, ReLU6, LeakyReLU, ELU, Sigmoid, LogSigmoid, Tanh, SiLU, Softplus, Mish, HSigmoid, HSwish, GELU),
        *(Softmax, LogSoftmax, SeLU, CELU, HShrink, SoftShrink, Hardtanh, Softsign, Tanhshrink, FastGelu, Softmin),
    )
} | {"swish": SiLU}


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
