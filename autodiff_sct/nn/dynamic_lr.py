"""Learning rates as lists, one for each step: those of `learning_rate_schedule` at the number of the epoch."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentTypeError, ArgumentValueError
from .layers import positive
from .learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
    rate,
)

__all__ = [
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate * decay_rate ** (epoch / decay_epoch)``."""
    return by_epoch(ExponentialDecayLR(learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch)


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate * exp(-decay_rate * epoch)``."""
    return by_epoch(NaturalExpDecayLR(learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch)


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)``."""
    return by_epoch(InverseDecayLR(learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """The rates from `max_lr` to `min_lr` along half a cosine of `decay_epoch` epochs."""
    return by_epoch(CosineDecayLR(min_lr, max_lr, decay_epoch), total_step, step_per_epoch)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """The rates from `learning_rate` to `end_learning_rate` by a power of the share of epochs that are left."""
    schedule = PolynomialDecayLR(learning_rate, end_learning_rate, decay_epoch, power, update_decay_epoch)
    return by_epoch(schedule, total_step, step_per_epoch)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """The rates from 0 to `learning_rate` in `warmup_epoch` equal steps."""
    return by_epoch(WarmUpLR(learning_rate, warmup_epoch), total_step, step_per_epoch)


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """Each of `learning_rates` up to the step that `milestone` has in its place.

    Raises
    ------
    ValueError
        If there are not as many rates as milestones, or milestones do not grow.
    """
    if not isinstance(milestone, (list, tuple)) or not isinstance(learning_rates, (list, tuple)):
        raise ArgumentTypeError("milestone and learning_rates are lists or tuples")
    if len(milestone) != len(learning_rates) or not milestone:
        raise ArgumentValueError(f"{len(milestone)} milestones do not fit {len(learning_rates)} learning rates")
    rates: list[float] = []
    for step, value in zip(milestone, learning_rates):
        if positive(step, "milestone") <= len(rates):
            raise ArgumentValueError(f"milestones grow, not as in {milestone}")
        rates += [rate(value, "learning_rates")] * (step - len(rates))
    return rates


def by_epoch(schedule: LearningRateSchedule, total_step: int, step_per_epoch: int) -> list[float]:
    """The rate of each step, which is that of its epoch."""
    positive(total_step, "total_step")
    positive(step_per_epoch, "step_per_epoch")
    return [float(schedule(step // step_per_epoch)) for step in range(total_step)]
