"""Recurrent layers: cells for one step, and layers over sequences of any length.

``z(x, h) = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh`` holds the gates one after the other; the part of `x`
is computed for all steps at once, and is what a step is given.  Parameters are uniform within ``1 / sqrt(hidden_size)``
of 0.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..api.arguments import checked_flag
from ..common.initializer import Uniform, initializer
from ..dtypes import float32
from ..errors import ArgumentValueError
from ..ops import functional as F
from ..tensor import Parameter
from .cell import Cell
from .layers import Dropout, positive

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


def affine(x: Any, weight: Any, bias: Any) -> Any:
    """``x @ weight.T + bias``; no bias is added where it is None."""
    y = x @ weight.T
    return y if bias is None else y + bias


def tanh_step(x: Any, state: Any, w_hh: Any, b_hh: Any) -> Any:
    """``h = tanh(z(x, h))``."""
    (h,) = state
    return (np.tanh(x + affine(h, w_hh, b_hh)),)


def relu_step(x: Any, state: Any, w_hh: Any, b_hh: Any) -> Any:
    """``h = relu(z(x, h))``."""
    (h,) = state
    return (F.relu(x + affine(h, w_hh, b_hh)),)


def gru_step(x: Any, state: Any, w_hh: Any, b_hh: Any) -> Any:
    """``h = (1 - u) * n + u * h`` with ``n = tanh(x_n + r * h_n)``; `r` and `u` are sigmoids (Cho et al., 2014)."""
    (h,) = state
    x_r, x_u, x_n = np.split(x, 3, -1)
    h_r, h_u, h_n = np.split(affine(h, w_hh, b_hh), 3, -1)
    r, u = F.sigmoid(x_r + h_r), F.sigmoid(x_u + h_u)
    n = np.tanh(x_n + r * h_n)
    return (n + u * (h - n),)


def lstm_step(x: Any, state: Any, w_hh: Any, b_hh: Any) -> Any:
    """``c = f * c + i * tanh(g)`` and ``h = o * tanh(c)``; `i`, `f` and `o` are sigmoids (Hochreiter et al., 1997)."""
    h, c = state
    i, f, g, o = np.split(x + affine(h, w_hh, b_hh), 4, -1)
    c = F.sigmoid(f) * c + F.sigmoid(i) * np.tanh(g)
    return F.sigmoid(o) * np.tanh(c), c


STEPS = {"tanh": tanh_step, "relu": relu_step}


def step_of(nonlinearity: str) -> Any:
    """The step of a plain recurrent layer."""
    if nonlinearity not in STEPS:
        raise ArgumentValueError(f"nonlinearity is 'tanh' or 'relu', not {nonlinearity!r}")
    return STEPS[nonlinearity]


class StepCell(Cell):
    """The base of cells for one step.

    Parameters
    ----------
    input_size, hidden_size : int
        The lengths of the last axes of the input and of the state.
    has_bias : bool
        True for biases.

    Attributes
    ----------
    weight_ih, weight_hh : Parameter of shape (gates * hidden_size, input_size), (gates * hidden_size, hidden_size)
    bias_ih, bias_hh : Parameter of shape (gates * hidden_size,), or None
    """

    gates: ClassVar[int] = 1

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = float32) -> None:
        super().__init__()
        self.input_size = positive(input_size, "input_size")
        self.hidden_size = positive(hidden_size, "hidden_size")
        self.has_bias = checked_flag(has_bias, "has_bias")
        rows, uniform = self.gates * hidden_size, Uniform(1 / math.sqrt(hidden_size))
        self.weight_ih = Parameter(initializer(uniform, (rows, input_size), dtype), "weight_ih")
        self.weight_hh = Parameter(initializer(uniform, (rows, hidden_size), dtype), "weight_hh")
        self.bias_ih = Parameter(initializer(uniform, (rows,), dtype), "bias_ih") if has_bias else None
        self.bias_hh = Parameter(initializer(uniform, (rows,), dtype), "bias_hh") if has_bias else None

    def extend_repr(self) -> str:
        """The sizes."""
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}, has_bias={self.has_bias}"


class RNNCell(StepCell):
    """A step of a recurrent layer: ``h = tanh(z(x, h))``, or ``relu``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.step = step_of(nonlinearity)

    def construct(self, x: Any, hx: Any) -> Any:
        """Make a step from the state `hx`."""
        return self.step(affine(x, self.weight_ih, self.bias_ih), (hx,), self.weight_hh, self.bias_hh)[0]


class GRUCell(StepCell):
    """A step of a gated recurrent unit."""

    gates = 3

    def construct(self, x: Any, hx: Any) -> Any:
        """Make a step from the state `hx`."""
        return gru_step(affine(x, self.weight_ih, self.bias_ih), (hx,), self.weight_hh, self.bias_hh)[0]


class LSTMCell(StepCell):
    """A step of a long short-term memory."""

    gates = 4

    def construct(self, x: Any, hx: Any) -> Any:
        """Make a step from the state `hx`, the pair (h, c)."""
        return lstm_step(affine(x, self.weight_ih, self.bias_ih), hx, self.weight_hh, self.bias_hh)


class Recurrent(Cell):
    """The base of recurrent layers over sequences.

    Parameters
    ----------
    input_size, hidden_size : int
        The lengths of the last axes of the input and of the state.
    num_layers : int
        How many layers are stacked.
    has_bias : bool
        True for biases.
    batch_first : bool
        True for inputs of shape (n, length, input_size) in the place of (length, n, input_size).
    dropout : float
        The probability of zeros between the layers, in training.
    bidirectional : bool
        True for a second state that runs backwards; outputs hold both.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse, ... : Parameter
        As in the cells, for each layer and direction.
    """

    gates: ClassVar[int] = 1
    step: Any

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.input_size = positive(input_size, "input_size")
        self.hidden_size = positive(hidden_size, "hidden_size")
        self.num_layers = positive(num_layers, "num_layers")
        self.has_bias = checked_flag(has_bias, "has_bias")
        self.batch_first = checked_flag(batch_first, "batch_first")
        self.bidirectional = checked_flag(bidirectional, "bidirectional")
        self.dropout = Dropout(dropout)
        directions = ("", "_reverse") if bidirectional else ("",)
        # The ends of the names of the parameters, for each layer and direction.
        self.suffixes = tuple(tuple(f"_l{layer}{way}" for way in directions) for layer in range(num_layers))
        for layer, suffixes in enumerate(self.suffixes):
            for suffix in suffixes:
                self.make(hidden_size * len(directions) if layer else input_size, suffix, dtype)

    def make(self, width: int, suffix: str, dtype: Any) -> None:
        """Make the parameters of one layer and direction."""
        rows, uniform = self.gates * self.hidden_size, Uniform(1 / math.sqrt(self.hidden_size))
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, self.hidden_size)}
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if self.has_bias else {}
        for name, shape in shapes.items():
            setattr(self, name + suffix, Parameter(initializer(uniform, shape, dtype), name + suffix))

    def weights(self, suffix: str) -> tuple[Any, ...]:
        """The parameters of one layer and direction."""
        found = getattr(self, "weight_ih" + suffix), getattr(self, "weight_hh" + suffix)
        if self.has_bias:
            return (*found, getattr(self, "bias_ih" + suffix), getattr(self, "bias_hh" + suffix))
        return (*found, None, None)

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        """Run over the sequences.

        Parameters
        ----------
        x : Tensor of shape (length, n, input_size), or (n, length, input_size) with `batch_first`
            The sequences.
        hx : Tensor of shape (layers * directions, n, hidden_size), optional
            The first states; zeros by default.  For `LSTM` a pair (h, c) of them.
        seq_length : Tensor of shape (n,), optional
            The lengths of the sequences: behind its end outputs are 0 and the state stays.

        Returns
        -------
        output : Tensor of shape (length, n, directions * hidden_size), or (n, length, ...) with `batch_first`
        hx_n : Tensor of shape (layers * directions, n, hidden_size), or a pair of them
        """
        if self.batch_first:
            x = np.swapaxes(x, 0, 1)
        first = self.zeros(x) if hx is None else self.packed(hx)
        last: list[Any] = []
        for suffixes in self.suffixes:
            if last:
                x = self.dropout(x)
            found = []
            for suffix in suffixes:
                state = tuple([part[len(last)] for part in first])
                y, end = self.run(x, state, self.weights(suffix), seq_length, suffix.endswith("_reverse"))
                found.append(y)
                last.append(end)
            x = np.concatenate(found, -1) if self.bidirectional else found[0]
        hx_n = self.unpacked(tuple([np.stack([end[k] for end in last]) for k in range(len(first))]))
        return np.swapaxes(x, 0, 1) if self.batch_first else x, hx_n

    def run(self, x: Any, state: Any, weights: Any, seq_length: Any, backwards: bool) -> Any:
        """The outputs of one layer in one direction, and its last state."""
        w_ih, w_hh, b_ih, b_hh = weights
        length = x.shape[0]
        projected = affine(x, w_ih, b_ih)
        y = np.zeros_like(x, shape=(length, x.shape[1], self.hidden_size))
        for k in range(length):
            t = length - 1 - k if backwards else k
            moved = self.step(projected[t], state, w_hh, b_hh)
            if seq_length is None:
                state = moved
                y[t] = state[0]
            else:
                runs = np.expand_dims(t < seq_length, -1)
                state = tuple([np.where(runs, new, old) for new, old in zip(moved, state)])
                y[t] = np.where(runs, state[0], 0)
        return y, state

    def zeros(self, x: Any) -> Any:
        """The first states where none are given."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        return (np.zeros_like(x, shape=(count, x.shape[1], self.hidden_size)),)

    def packed(self, hx: Any) -> Any:
        """States as the tuple that `step` takes."""
        return (hx,)

    def unpacked(self, state: Any) -> Any:
        """States as they are returned."""
        return state[0]

    def extend_repr(self) -> str:
        """The sizes."""
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}, num_layers={self.num_layers}"


class RNN(Recurrent):
    """A recurrent layer: ``h = tanh(z(x, h))`` at each step, or ``relu``; `nonlinearity` says which."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *settings: Any,
        **named: Any,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, *settings, **named)
        self.step = step_of(nonlinearity)


class GRU(Recurrent):
    """Gated recurrent units: ``h = (1 - u) * n + u * h`` at each step."""

    gates = 3
    step = staticmethod(gru_step)


class LSTM(Recurrent):
    """Long short-term memories: ``c = f * c + i * tanh(g)`` and ``h = o * tanh(c)`` at each step."""

    gates = 4
    step = staticmethod(lstm_step)

    def zeros(self, x: Any) -> Any:
        """The first states where none are given."""
        return super().zeros(x) * 2

    def packed(self, hx: Any) -> Any:
        """States as the tuple that `step` takes."""
        return tuple(hx)

    def unpacked(self, state: Any) -> Any:
        """States as they are returned."""
        return state
