"""Losses: how far predictions are from labels, one number unless `reduction` is ``'none'``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import functional as F
from ..ops.losses import picked_classes, reduced
from .cell import Cell

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "NLLLoss",
    "RMSELoss",
    "SmoothL1Loss",
    "SoftmaxCrossEntropyWithLogits",
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


def threshold(value: Any, what: str) -> float:
    """A positive setting."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} is a number, not {value!r}")
    if value <= 0:
        raise ArgumentValueError(f"{what} is positive, not {value}")
    return float(value)
