"""Layers with parameters or state, and layers that move elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..common.initializer import HeUniform, Uniform, initializer
from ..core.process_state import generator
from ..dtypes import float32
from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Parameter, Tensor
from .activation import get_activation
from .cell import Cell

__all__ = ["Dense", "Dropout", "Embedding", "Flatten", "LayerNorm", "positive"]


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


class LayerNorm(Cell):
    """Mean 0 and variance 1 over the last axes, then scaled by `gamma` and moved by `beta`.

    Parameters
    ----------
    normalized_shape : tuple of int
        The lengths of the axes that are normalised.
    begin_norm_axis, begin_params_axis : int
        The first axis that is normalised, and the first that the parameters have; -1 stands for the last.
    gamma_init, beta_init : Tensor, str, Initializer or number
        How the parameters begin.
    epsilon : float
        Added to the variance.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise ArgumentTypeError(f"normalized_shape is a tuple or list of int, not {normalized_shape!r}")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis = begin_norm_axis
        self.last_only = begin_norm_axis == -1
        self.epsilon = epsilon
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), "gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), "beta")

    def construct(self, x: Any) -> Any:
        """Normalise."""
        first = self.begin_norm_axis + x.ndim if self.begin_norm_axis < 0 else self.begin_norm_axis
        axes = -1 if self.last_only else tuple(range(first, x.ndim))
        centred = x - np.mean(x, axis=axes, keepdims=True)
        variance = np.mean(centred * centred, axis=axes, keepdims=True)
        return centred / np.sqrt(variance + self.epsilon) * self.gamma + self.beta

    def extend_repr(self) -> str:
        """The shape."""
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


def uniform_bias(fan_in: int, shape: tuple[int, ...], init: Any, dtype: Any) -> Tensor:
    """A convolution's bias: uniform within ``1 / sqrt(fan_in)`` of 0 unless told otherwise."""
    return initializer(Uniform(1 / math.sqrt(fan_in)) if init is None else init, shape, dtype)


def convolution_weight(shape: tuple[int, ...], init: Any, dtype: Any) -> Tensor:
    """A convolution's weight: MindSpore's uniform numbers of variance ``1 / (3 * fan_in)`` unless told otherwise."""
    return initializer(HeUniform(math.sqrt(5)) if init is None else init, shape, dtype)
