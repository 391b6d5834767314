"""Losses as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .smooth import log_softmax

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "huber_loss",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "picked_classes",
    "reduced",
    "smooth_l1_loss",
]


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
