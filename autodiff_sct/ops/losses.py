"""Activations and losses as functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api import stop_gradient
from .erf import erf

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "cross_entropy",
    "elu",
    "fast_gelu",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "l1_loss",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "nll_loss",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
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


def reduced(loss: Any, reduction: str) -> Any:
    """The mean or the sum of losses, or the losses themselves."""
    if reduction == "mean":
        return np.mean(loss)
    if reduction == "sum":
        return np.sum(loss)
    return loss


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared difference."""
    error = input - target
    return reduced(error * error, reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The absolute difference."""
    return reduced(np.abs(input - target), reduction)


def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Any:
    """``error**2 / (2 * beta)`` where the error is below `beta`, else ``|error| - beta / 2``."""
    error = np.abs(input - target)
    return reduced(np.where(error < beta, 0.5 * error * error / beta, error - 0.5 * beta), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """``error**2 / 2`` where the error is at most `delta`, else ``delta * (|error| - delta / 2)``."""
    error = np.abs(input - target)
    return reduced(np.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta)), reduction)


def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The cross entropy of probabilities; logarithms are held above -100."""
    log_p = held_log(logits)
    log_q = held_log(1 - logits)
    loss = -(labels * log_p + (1 - labels) * log_q)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


def held_log(x: Any) -> Any:
    """The logarithm, at least -100."""
    floor = 4e-44  # a little above exp(-100)
    return np.where(x > floor, np.log(np.where(x > floor, x, 1)), -100)


def binary_cross_entropy_with_logits(
    logits: Any, label: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """The cross entropy of the logistic function of `logits`."""
    lost = np.logaddexp(0, -logits)
    if pos_weight is not None:
        lost = lost * (1 + (pos_weight - 1) * label)
    loss = (1 - label) * logits + lost
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


def nll_loss(logits: Any, labels: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """The negative log likelihood of classes; the second axis of `logits` counts them."""
    counts = labels != ignore_index
    classes = np.where(counts, labels, 0)
    picked = picked_classes(logits, classes)
    if weight is None:
        shares = np.where(counts, np.ones_like(picked), 0)
    else:
        shares = np.where(counts, np.take(weight, classes), 0)
    loss = -picked * shares
    return np.sum(loss) / np.sum(shares) if reduction == "mean" else reduced(loss, reduction)


def picked_classes(logits: Any, classes: Any) -> Any:
    """The entries of `logits` at the classes, which the second axis counts (the first, where there is one only)."""
    if logits.ndim == 2:
        return logits[np.arange(logits.shape[0]), classes]
    axis = 1 if logits.ndim > 1 else 0
    return np.squeeze(np.take_along_axis(logits, np.expand_dims(classes, axis), axis), axis)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float | None = None,
) -> Any:
    """The cross entropy of the softmax of `input` with classes, or with a probability for each class.

    `label_smoothing` is the share of each label that is spread evenly over all classes; None is no share.
    """
    axis = 1 if input.ndim > 1 else 0
    log_p = log_softmax(input, axis)
    if target.ndim == input.ndim:
        return soft_cross_entropy(log_p, target, weight, reduction, label_smoothing, axis)
    if label_smoothing is None:
        return nll_loss(log_p, target, weight, ignore_index, reduction)
    return smoothed_cross_entropy(log_p, target, weight, ignore_index, reduction, label_smoothing, axis)


def soft_cross_entropy(log_p: Any, target: Any, weight: Any, reduction: str, smoothing: Any, axis: int) -> Any:
    """The cross entropy with a probability for each class."""
    if smoothing is not None:
        target = target * (1 - smoothing) + smoothing / log_p.shape[axis]
    scaled = log_p if weight is None else log_p * along(weight, log_p, axis)
    loss = -np.sum(target * scaled, axis=axis)
    return np.mean(loss) if reduction == "mean" else reduced(loss, reduction)


def smoothed_cross_entropy(
    log_p: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float, axis: int
) -> Any:
    """The cross entropy with classes, a share of each label spread evenly over all classes."""
    counts = target != ignore_index
    sharp = nll_loss(log_p, target, weight, ignore_index, "none")
    scaled = log_p if weight is None else log_p * along(weight, log_p, axis)
    spread = np.where(counts, -np.sum(scaled, axis=axis), 0) / log_p.shape[axis]
    loss = (1 - smoothing) * sharp + smoothing * spread
    if reduction != "mean":
        return reduced(loss, reduction)
    if weight is None:
        return np.sum(loss) / np.sum(np.where(counts, np.ones_like(loss), 0))
    return np.sum(loss) / np.sum(np.where(counts, np.take(weight, np.where(counts, target, 0)), 0))


def along(weight: Any, x: Any, axis: int) -> Any:
    """The weights of classes, placed along the axis of `x` that counts them."""
    return np.reshape(weight, (-1,) + (1,) * (x.ndim - 1 - axis))
