"""Activations as functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api import stop_gradient
from .erf import erf

__all__ = ["elu", "gelu", "leaky_relu", "log_softmax", "relu", "relu6", "sigmoid", "silu", "softmax", "softplus"]


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
