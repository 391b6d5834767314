"""Losses: how far predictions are from labels, one number unless `reduction` is ``'none'``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import functional as F
from ..ops.losses import picked_classes, reduced
from .cell import Cell

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "DiceLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "MarginRankingLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "RMSELoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "SoftmaxCrossEntropyWithLogits",
    "TripletMarginLoss",
]


class LossBase(Cell):
    """The base of losses: how the losses of the elements become one number.

    Parameters
    ----------
    reduction : {'mean', 'sum', 'none'}
        Their mean, their sum, or all of them.

    Raises
    ------
    ValueError
        If `reduction` is none of these.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ArgumentValueError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}")
        self.reduction = reduction

    def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
        """Reduce the losses of the elements, multiplied by `weights`."""
        return reduced(x * weights, self.reduction)


class MSELoss(LossBase):
    """The squared difference."""

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        error = logits - labels
        return reduced(error * error, self.reduction)


class L1Loss(LossBase):
    """The absolute difference."""

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        return reduced(np.abs(logits - labels), self.reduction)


class MAELoss(L1Loss):
    """The mean absolute difference: another name of `L1Loss`."""


class RMSELoss(LossBase):
    """The root of the mean squared difference."""

    def __init__(self) -> None:
        super().__init__("mean")

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        error = logits - labels
        return np.sqrt(np.mean(error * error))


class SmoothL1Loss(LossBase):
    """``error**2 / (2 * beta)`` where the error is below `beta`, else ``|error| - beta / 2``."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = threshold(beta, "beta")

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        error = np.abs(logits - labels)
        loss = np.where(error < self.beta, 0.5 * error * error / self.beta, error - 0.5 * self.beta)
        return reduced(loss, self.reduction)


class HuberLoss(LossBase):
    """``error**2 / 2`` where the error is at most `delta`, else ``delta * (|error| - delta / 2)``."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = threshold(delta, "delta")

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        error = np.abs(logits - labels)
        loss = np.where(error <= self.delta, 0.5 * error * error, self.delta * (error - 0.5 * self.delta))
        return reduced(loss, self.reduction)


class BCELoss(LossBase):
    """The cross entropy of probabilities; logarithms are held above -100, as MindSpore holds them."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare the probabilities `logits` with `labels`."""
        return F.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """The cross entropy of the logistic function of `logits`."""

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        return F.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class NLLLoss(LossBase):
    """The negative log likelihood of classes: `logits` are logarithms of probabilities."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight
        self.ignore_index = ignore_index

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with the classes `labels`."""
        return F.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(LossBase):
    """The cross entropy of the softmax of `logits`.

    Parameters
    ----------
    weight : array of shape (classes,), optional
        How much each class counts.
    ignore_index : int
        Labels that do not count.
    reduction : {'mean', 'sum', 'none'}
        As in `LossBase`; the mean is weighted.
    label_smoothing : float
        The share of the label that is spread evenly over all classes.
    """

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(reduction)
        if not isinstance(label_smoothing, float):
            raise ArgumentTypeError(f"label_smoothing is a float, not {label_smoothing!r}")
        if not 0 <= label_smoothing <= 1:
            raise ArgumentValueError(f"label_smoothing is between 0 and 1, not {label_smoothing}")
        self.weight = weight
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.smooths = label_smoothing > 0

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`: classes, or a probability for each class."""
        smoothing = self.label_smoothing if self.smooths else None
        return F.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, smoothing)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """The cross entropy of the softmax of `logits`, of shape (n, classes).

    Parameters
    ----------
    sparse : bool
        Whether labels are classes rather than a probability for each class.
    reduction : {'none', 'mean', 'sum'}
        As in `LossBase`.
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        if not isinstance(sparse, bool):
            raise ArgumentTypeError(f"sparse is True or False, not {sparse!r}")
        self.sparse = sparse

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        log_p = F.log_softmax(logits, -1)
        if self.sparse:
            return reduced(-picked_classes(log_p, labels), self.reduction)
        return reduced(-np.sum(labels * log_p, axis=-1), self.reduction)


class KLDivLoss(LossBase):
    """The divergence of `labels` from `logits`, which are logarithms of probabilities."""

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`; a label of 0 counts nothing."""
        log_label = np.log(np.where(labels > 0, labels, 1))
        return reduced(labels * (log_label - logits), self.reduction)


class CosineEmbeddingLoss(LossBase):
    """``1 - cos`` of the angle between two vectors where the label is 1, ``max(0, cos - margin)`` where it is -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits_x1: Any, logits_x2: Any, labels: Any) -> Any:
        """Compare two batches of vectors."""
        cosine = F.cosine_similarity(logits_x1, logits_x2)
        return reduced(np.where(labels == 1, 1 - cosine, F.relu(cosine - self.margin)), self.reduction)


class HingeEmbeddingLoss(LossBase):
    """The input where the label is 1, ``max(0, margin - input)`` where it is -1."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`."""
        return reduced(np.where(labels == 1, logits, F.relu(self.margin - logits)), self.reduction)


class MarginRankingLoss(LossBase):
    """``max(0, margin - target * (input1 - input2))``."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        """Compare two inputs; `target` is 1 where the first is to be larger, else -1."""
        return reduced(F.relu(self.margin - target * (input1 - input2)), self.reduction)


class SoftMarginLoss(LossBase):
    """``log(1 + exp(-label * input))``."""

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare `logits` with `labels`, 1 or -1."""
        return reduced(np.logaddexp(0, -labels * logits), self.reduction)


class TripletMarginLoss(LossBase):
    """``max(0, |x - positive + eps| - |x - negative + eps| + margin)``, the norms of order `p`."""

    def __init__(self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0):
        super().__init__(reduction)
        self.p = p
        self.swap = checked_flag(swap, "swap")
        self.eps = eps
        self.margin = margin

    def construct(self, x: Any, positive: Any, negative: Any) -> Any:
        """Compare `x` with an example that it is like and with one that it is not."""
        far = self.distance(x, negative)
        if self.swap:
            far = np.minimum(far, self.distance(positive, negative))
        return reduced(F.relu(self.distance(x, positive) - far + self.margin), self.reduction)

    def distance(self, x: Any, y: Any) -> Any:
        """The distance along the last axis."""
        return np.sum(np.abs(x - y + self.eps) ** self.p, axis=-1) ** (1 / self.p)


class PoissonNLLLoss(LossBase):
    """The negative log likelihood of counts: ``exp(x) - y * x``, or ``x - y * log(x + eps)`` of rates.

    Parameters
    ----------
    log_input : bool
        True if the input is the logarithm of the rate.
    full : bool
        True to add Stirling's approximation of ``log(y!)`` for counts above 1.
    eps : float
        Added to rates.
    reduction : {'mean', 'sum', 'none'}
        As in `LossBase`.
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input = checked_flag(log_input, "log_input")
        self.full = checked_flag(full, "full")
        self.eps = eps

    def construct(self, input: Any, target: Any) -> Any:
        """Compare `input` with the counts `target`."""
        if self.log_input:
            loss = np.exp(input) - target * input
        else:
            loss = input - target * np.log(input + self.eps)
        if self.full:
            above = np.where(target > 1, target, 1)
            stirling = above * np.log(above) - above + 0.5 * np.log(2 * np.pi * above)
            loss = loss + np.where(target > 1, stirling, 0)
        return reduced(loss, self.reduction)


class GaussianNLLLoss(LossBase):
    """The negative log likelihood of numbers: ``(log(var) + (x - y)**2 / var) / 2``, without its constant.

    Parameters
    ----------
    full : bool
        True to add the constant ``log(2 * pi) / 2``.
    eps : float
        The least variance.
    reduction : {'mean', 'sum', 'none'}
        As in `LossBase`.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.constant = 0.5 * math.log(2 * math.pi) if checked_flag(full, "full") else 0.0
        self.eps = eps

    def construct(self, logits: Any, labels: Any, var: Any) -> Any:
        """Compare `logits`, of variance `var`, with `labels`."""
        held = np.maximum(var, self.eps)
        error = logits - labels
        return reduced(0.5 * (np.log(held) + error * error / held) + self.constant, self.reduction)


class DiceLoss(LossBase):
    """``1 - (2 * sum(x * y) + smooth) / (sum(x**2) + sum(y**2) + smooth)``."""

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = threshold(smooth, "smooth")

    def construct(self, logits: Any, label: Any) -> Any:
        """Compare `logits` with `label`."""
        both = np.sum(logits * logits) + np.sum(label * label)
        return 1 - (2 * np.sum(logits * label) + self.smooth) / (both + self.smooth)


def threshold(value: Any, what: str) -> float:
    """A positive setting."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} is a number, not {value!r}")
    if value <= 0:
        raise ArgumentValueError(f"{what} is positive, not {value}")
    return float(value)
