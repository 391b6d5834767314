"""Activations as functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api import stop_gradient
from .erf import erf

__all__ = [
    "celu",
    "elu",
    "fast_gelu",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
]


def relu(input: Any) -> Any:
    """``max(x, 0)``; its derivative at 0 is 0."""
    return np.where(input <= 0, 0, input)


def relu6(x: Any) -> Any:
    """``min(max(x, 0), 6)``."""
    return np.where(x >= 6, 6, np.where(x <= 0, 0, x))


def leaky_relu(input: Any, alpha: float = 0.2) -> Any:
    """``x`` where positive, else ``alpha * x``."""
    return np.where(input > 0, input, alpha * input)


def elu(input_x: Any, alpha: float = 1.0) -> Any:
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""
    return np.where(input_x > 0, input_x, alpha * np.expm1(np.where(input_x > 0, 0, input_x)))


def sigmoid(input: Any) -> Any:
    """The logistic function ``1 / (1 + exp(-x))``, in the form that neither overflows nor cancels."""
    return np.exp(-np.logaddexp(0, -input))


def silu(input: Any) -> Any:
    """``x`` times its logistic function."""
    return input * sigmoid(input)


def softplus(input: Any) -> Any:
    """``log(1 + exp(x))``."""
    return np.logaddexp(0, input)


def gelu(input: Any, approximate: str = "none") -> Any:
    """``x`` times the normal distribution function of ``x``; ``approximate='tanh'`` for its approximation."""
    if approximate == "tanh":
        return 0.5 * input * (1 + np.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)))
    return 0.5 * input * (1 + erf(input / math.sqrt(2)))


def softmax(input: Any, axis: int = -1) -> Any:
    """Exponentials that sum to 1 along an axis."""
    # Softmax does not change when a constant is subtracted, so the largest element counts as one.
    e = np.exp(input - stop_gradient(np.max(input, axis=axis, keepdims=True)))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(logits: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax`."""
    shifted = logits - stop_gradient(np.max(logits, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def celu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``."""
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def fast_gelu(x: Any) -> Any:
    """``x`` times the logistic function of ``1.702 * x``, near `gelu`."""
    return x * sigmoid(1.702 * x)


def glu(x: Any, axis: int = -1) -> Any:
    """One half along an axis times the logistic function of the other."""
    a, b = np.split(x, 2, axis)
    return a * sigmoid(b)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """``x`` where farther than `lambd` from 0, else 0."""
    return np.where(np.abs(input) > lambd, input, 0)


def hardsigmoid(input: Any) -> Any:
    """``(x + 3) / 6`` held within 0 and 1."""
    return np.clip(input + 3, 0, 6) / 6


def hardswish(input: Any) -> Any:
    """``x * (x + 3) / 6``, the factor held within 0 and 1."""
    return input * np.clip(input + 3, 0, 6) / 6


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``x`` held within bounds."""
    return np.clip(input, min_val, max_val)


def logsigmoid(x: Any) -> Any:
    """The logarithm of the logistic function."""
    return -np.logaddexp(0, -x)


def mish(x: Any) -> Any:
    """``x * tanh(log(1 + exp(x)))``."""
    return x * np.tanh(np.logaddexp(0, x))


def prelu(input: Any, weight: Any) -> Any:
    """``x`` where positive, else ``weight * x``, the weight one for each entry of the second axis."""
    if input.ndim > 1:
        weight = np.reshape(weight, (-1,) + (1,) * (input.ndim - 2))
    return np.where(input > 0, input, weight * input)


def selu(input_x: Any) -> Any:
    """``1.0507 * x`` where positive, else ``1.7581 * (exp(x) - 1)`` (Klambauer et al., 2017)."""
    return 1.0507009873554805 * elu(input_x, 1.6732632423543772)


def softmin(x: Any, axis: int = -1) -> Any:
    """The `softmax` of the negative."""
    return softmax(-x, axis)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """``x`` moved towards 0 by `lambd`, not beyond."""
    return input - np.clip(input, -lambd, lambd)


def softsign(x: Any) -> Any:
    """``x / (1 + |x|)``."""
    return x / (1 + np.abs(x))


def tanhshrink(input: Any) -> Any:
    """``x - tanh(x)``."""
    return input - np.tanh(input)


def threshold(input: Any, thr: float, value: float) -> Any:
    """``x`` where above `thr`, else `value`."""
    return np.where(input > thr, input, value)
