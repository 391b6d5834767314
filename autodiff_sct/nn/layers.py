"""Layers with parameters or state, and layers that move elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..common.initializer import Uniform, initializer
from ..core.process_state import generator
from ..dtypes import float32
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import functional as F
from ..tensor import Parameter
from .activation import get_activation
from .cell import Cell

__all__ = ["BiDense", "Dense", "Dropout", "Embedding", "Flatten", "OneHot", "PixelShuffle", "Unflatten"]


def positive(value: Any, what: str) -> int:
    """A count: TypeError unless an int, ValueError unless positive."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"{what} is an int, not {value!r}")
    if value <= 0:
        raise ArgumentValueError(f"{what} is positive, not {value}")
    return value


class Dense(Cell):
    """``x @ weight.T + bias``, then the activation.

    Parameters
    ----------
    in_channels, out_channels : int
        The lengths of the last axis of the input and of the output.
    weight_init, bias_init : Tensor, str, Initializer or number, optional
        How the parameters begin; uniform within ``1 / sqrt(in_channels)`` of 0 by default.
    has_bias : bool
        Whether there is a bias.
    activation : str or Cell, optional
        What is applied to the result.

    Attributes
    ----------
    weight : Parameter of shape (out_channels, in_channels)
    bias : Parameter of shape (out_channels,)

    Raises
    ------
    TypeError
        If the channels are not int, or `has_bias` is not bool.
    ValueError
        If the channels are not positive, or an initial tensor has another shape.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: str | Cell | None = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.in_channels = positive(in_channels, "in_channels")
        self.out_channels = positive(out_channels, "out_channels")
        self.has_bias = checked_flag(has_bias, "has_bias")
        bound = 1 / math.sqrt(in_channels)
        weight = Uniform(bound) if weight_init is None else weight_init
        self.weight = Parameter(initializer(weight, (out_channels, in_channels), dtype), "weight")
        if has_bias:
            bias = Uniform(bound) if bias_init is None else bias_init
            self.bias = Parameter(initializer(bias, (out_channels,), dtype), "bias")
        self.activation = activation if isinstance(activation, Cell) else get_activation(activation)

    def construct(self, x: Any) -> Any:
        """Apply to the last axis."""
        y = x @ self.weight.T
        if self.has_bias:
            y = y + self.bias
        if self.activation is not None:
            y = self.activation(y)
        return y

    def extend_repr(self) -> str:
        """The channels."""
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        return f"{text}, has_bias={self.has_bias}" if self.has_bias else text


class Flatten(Cell):
    """The axes from `start_dim` to `end_dim` joined into one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim
        self.usual = (start_dim, end_dim) == (1, -1)

    def construct(self, x: Any) -> Any:
        """Reshape."""
        if self.usual:
            return np.reshape(x, (x.shape[0], -1))
        shape = x.shape
        last = self.end_dim + x.ndim if self.end_dim < 0 else self.end_dim
        return np.reshape(x, (*shape[: self.start_dim], -1, *shape[last + 1 :]))


class Dropout(Cell):
    """Dropout: in training, each element is zero with probability `p`, and the others are divided by ``1 - p``.

    Parameters
    ----------
    p : float
        The probability, at least 0 and less than 1.
    keep_prob : float, optional
        Its complement, as older code gives it.
    """

    def __init__(self, p: float = 0.5, keep_prob: float | None = None) -> None:
        super().__init__()
        self.p = p if keep_prob is None else 1 - keep_prob
        if not isinstance(self.p, (int, float)) or isinstance(self.p, bool):
            raise ArgumentTypeError(f"p is a probability, not {p!r}")
        if not 0 <= self.p < 1:
            raise ArgumentValueError(f"p is at least 0 and less than 1, not {p}")
        self.drops = self.p > 0
        self.generator = generator()

    def construct(self, x: Any) -> Any:
        """Draw which elements stay."""
        if not (self.training and self.drops):
            return x
        dropped = self.generator.random(x.shape) < self.p
        return np.where(dropped, 0, x / (1 - self.p))

    def extend_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class Embedding(Cell):
    """A row of a table for each index.

    Parameters
    ----------
    vocab_size, embedding_size : int
        The shape of the table.
    use_one_hot : bool
        Accepted for MindSpore's sake; the result is the same.
    embedding_table : Tensor, str, Initializer or number
        How the table begins.
    padding_idx : int, optional
        A row that begins as zeros.

    Attributes
    ----------
    embedding_table : Parameter of shape (vocab_size, embedding_size)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = positive(vocab_size, "vocab_size")
        self.embedding_size = positive(embedding_size, "embedding_size")
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            table[padding_idx] = 0
        self.embedding_table = Parameter(table, "embedding_table")

    def construct(self, ids: Any) -> Any:
        """Look the rows up."""
        return np.take(self.embedding_table, ids, axis=0)

    def extend_repr(self) -> str:
        """The shape of the table."""
        return f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}"


class Unflatten(Cell):
    """One axis parted into several, of the lengths `unflattened_size`."""

    def __init__(self, axis: int, unflattened_size: Any) -> None:
        super().__init__()
        self.axis = axis
        self.unflattened_size = tuple(unflattened_size)

    def construct(self, x: Any) -> Any:
        """Reshape."""
        axis = self.axis + x.ndim if self.axis < 0 else self.axis
        return np.reshape(x, (*x.shape[:axis], *self.unflattened_size, *x.shape[axis + 1 :]))


class OneHot(Cell):
    """A row for each index that is `on_value` there and `off_value` elsewhere."""

    def __init__(self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0) -> None:
        super().__init__()
        self.settings = (depth, on_value, off_value, axis)

    def construct(self, indices: Any) -> Any:
        """Make the rows."""
        return F.one_hot(indices, *self.settings)


class BiDense(Cell):
    """``x1 @ weight[k] @ x2 + bias[k]`` for each output `k`.

    Attributes
    ----------
    weight : Parameter of shape (out_channels, in1_channels, in2_channels)
    bias : Parameter of shape (out_channels,)
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        shape = tuple(positive(n, "channels") for n in (out_channels, in1_channels, in2_channels))
        bound = Uniform(1 / math.sqrt(in1_channels))
        self.has_bias = checked_flag(has_bias, "has_bias")
        self.weight = Parameter(initializer(bound if weight_init is None else weight_init, shape, dtype), "weight")
        if has_bias:
            self.bias = Parameter(initializer(bound if bias_init is None else bias_init, shape[:1], dtype), "bias")

    def construct(self, x1: Any, x2: Any) -> Any:
        """Apply to the last axes."""
        y = np.einsum("...i,kij,...j->...k", x1, self.weight, x2)
        return y + self.bias if self.has_bias else y


class PixelShuffle(Cell):
    """Channels moved into space: (n, c * r**2, height, width) becomes (n, c, height * r, width * r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = positive(upscale_factor, "upscale_factor")

    def construct(self, x: Any) -> Any:
        """Reshape."""
        r = self.upscale_factor
        n, c, height, width = x.shape
        parts = np.reshape(x, (n, c // (r * r), r, r, height, width))
        return np.reshape(np.transpose(parts, (0, 1, 4, 2, 5, 3)), (n, c // (r * r), height * r, width * r))
