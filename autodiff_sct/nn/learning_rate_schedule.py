"""Learning rates as functions of the step number, and as lists, one for each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..errors import ArgumentTypeError, ArgumentValueError
from .cell import Cell
from .layers import positive

__all__ = [
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "LearningRateSchedule",
    "NaturalExpDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]


class LearningRateSchedule(Cell):
    """The base of schedules: a subclass says in `construct` what the rate is at a step."""

    def construct(self, global_step: Any) -> Any:
        """The rate at a step, counted from 0."""
        raise NotImplementedError


class Decay(LearningRateSchedule):
    """The base of schedules that decay by a rate.

    Parameters
    ----------
    learning_rate, decay_rate : float
        The rate at step 0; how fast it decays.
    decay_steps : int
        The number of steps to which `decay_rate` refers.
    is_stair : bool
        True to change the rate only once in `decay_steps`.
    """

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self.learning_rate = rate(learning_rate, "learning_rate")
        self.decay_rate = rate(decay_rate, "decay_rate")
        self.decay_steps = positive(decay_steps, "decay_steps")
        self.is_stair = checked_flag(is_stair, "is_stair")

    def periods(self, global_step: Any) -> Any:
        """The number of periods of `decay_steps` until a step."""
        return np.floor_divide(global_step, self.decay_steps) if self.is_stair else global_step / self.decay_steps


class ExponentialDecayLR(Decay):
    """``learning_rate * decay_rate ** (step / decay_steps)``."""

    def construct(self, global_step: Any) -> Any:
        """The rate at a step."""
        return self.learning_rate * self.decay_rate ** self.periods(global_step)


class NaturalExpDecayLR(Decay):
    """``learning_rate * exp(-decay_rate * step)``."""

    def construct(self, global_step: Any) -> Any:
        """The rate at a step."""
        return self.learning_rate * np.exp(-self.decay_rate * (self.periods(global_step) * self.decay_steps))


class InverseDecayLR(Decay):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``."""

    def construct(self, global_step: Any) -> Any:
        """The rate at a step."""
        return self.learning_rate / (1 + self.decay_rate * self.periods(global_step))


class CosineDecayLR(LearningRateSchedule):
    """A rate from `max_lr` to `min_lr` along half a cosine of `decay_steps` steps."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self.min_lr = rate(min_lr, "min_lr", zero=True)
        self.max_lr = rate(max_lr, "max_lr")
        if min_lr >= max_lr:
            raise ArgumentValueError(f"max_lr is above min_lr, not {max_lr} and {min_lr}")
        self.decay_steps = positive(decay_steps, "decay_steps")

    def construct(self, global_step: Any) -> Any:
        """The rate at a step."""
        share = np.minimum(global_step, self.decay_steps) / self.decay_steps
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1 + np.cos(math.pi * share))


class PolynomialDecayLR(LearningRateSchedule):
    """A rate from `learning_rate` to `end_learning_rate` by a power of the share of steps that are left.

    With `update_decay_steps` the number of steps is the next multiple of `decay_steps`.
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        self.learning_rate = rate(learning_rate, "learning_rate")
        self.end_learning_rate = rate(end_learning_rate, "end_learning_rate", zero=True)
        self.decay_steps = positive(decay_steps, "decay_steps")
        self.power = rate(power, "power")
        self.update_decay_steps = checked_flag(update_decay_steps, "update_decay_steps")

    def construct(self, global_step: Any) -> Any:
        """The rate at a step."""
        if self.update_decay_steps:
            steps = self.decay_steps * np.maximum(np.ceil(global_step / self.decay_steps), 1)
            share = global_step / steps
        else:
            share = np.minimum(global_step, self.decay_steps) / self.decay_steps
        return (self.learning_rate - self.end_learning_rate) * (1 - share) ** self.power + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """A rate from 0 to `learning_rate` in `warmup_steps` equal steps."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = rate(learning_rate, "learning_rate", zero=True)
        self.warmup_steps = positive(warmup_steps, "warmup_steps")

    def construct(self, global_step: Any) -> Any:
        """The rate at a step."""
        return self.learning_rate * (np.minimum(global_step, self.warmup_steps) / self.warmup_steps)


def rate(value: Any, what: str, zero: bool = False) -> float:
    """A rate: TypeError unless a float, ValueError unless positive, or 0 where that is allowed."""
    if not isinstance(value, float):
        raise ArgumentTypeError(f"{what} is a float, not {value!r}")
    if value < 0 or (value == 0 and not zero):
        raise ArgumentValueError(f"{what} is {'not negative' if zero else 'positive'}: {value}")
    return value


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
