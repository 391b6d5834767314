"""Learning rates as functions of the step number; an optimizer takes one as its `learning_rate`."""

from __future__ import annotations

import math
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
