"""Optimizers: called with the tuple of gradients, they replace the values of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Parameter, ParameterTuple, Tensor
from .cell import Cell

__all__ = ["SGD", "AdaMax", "Adagrad", "Adam", "AdamWeightDecay", "Momentum", "Optimizer", "RMSProp"]


class Optimizer(Cell):
    """The base of optimizers.

    Parameters
    ----------
    learning_rate : float, Tensor, iterable of float or callable
        The step size; an iterable or a callable of the step number gives one for each step.
    parameters : iterable of Parameter, or list of dict
        What is trained; or groups ``{"params": [...], "lr": ..., "weight_decay": ...}`` with settings of their own, of
        which one may be ``{"order_params": [...]}``, the order of the gradients.
    weight_decay : float
        The share of each parameter that is added to its gradient.
    loss_scale : float
        What gradients are divided by.

    Attributes
    ----------
    parameters : ParameterTuple
    global_step : int
        How often the optimizer was called.

    Raises
    ------
    TypeError
        If `parameters` are not parameters, or a setting is not a number.
    ValueError
        If there is none, or a setting is out of range.
    """

    decoupled = False  # True if `step` itself lets the weights decay

    def __init__(
        self, learning_rate: Any, parameters: Iterable[Any], weight_decay: float = 0.0, loss_scale: float = 1.0
    ) -> None:
        super().__init__()
        self.learning_rate = rate_of(learning_rate)
        self.weight_decay = within("weight_decay", weight_decay, 0)
        rows = grouped(parameters, self.learning_rate, self.weight_decay)
        self.parameters = ParameterTuple(parameter for parameter, _, _ in rows)
        if not self.parameters:
            raise ArgumentValueError(f"{self.cls_name} got no parameters to train")
        self.rates, self.decays = [rate for _, rate, _ in rows], [decay for _, _, decay in rows]
        self.loss_scale = within("loss_scale", loss_scale, 0)
        self.global_step = 0

    def construct(self, gradients: Any) -> bool:
        """Make one step.

        Parameters
        ----------
        gradients : tuple of Tensor or array
            The gradient of each parameter, in the order of `parameters`.

        Raises
        ------
        ValueError
            If the number of gradients differs.
        """
        found = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
        if len(found) != len(self.parameters):
            raise ArgumentValueError(
                f"{len(self.parameters)} parameters are trained, {len(found)} gradients were given"
            )
        rates = [float(rate(self.global_step)) if callable(rate) else rate for rate in self.rates]
        self.global_step += 1
        for index, (parameter, gradient) in enumerate(zip(self.parameters, found)):
            value = parameter.asnumpy()
            slope = np.asarray(gradient) / self.loss_scale if self.loss_scale != 1 else np.asarray(gradient)
            if self.decays[index] and not self.decoupled:
                slope = slope + self.decays[index] * value
            parameter.set_data(self.step(index, value, slope, rates[index]))
        return True

    def get_lr(self) -> float:
        """The step size of the step that comes."""
        if callable(self.learning_rate):
            return float(self.learning_rate(self.global_step))
        return self.learning_rate

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        raise NotImplementedError

    def zeros(self) -> list[np.ndarray]:
        """A zero array for each parameter."""
        return [np.zeros_like(parameter.asnumpy()) for parameter in self.parameters]

    def own_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Nothing: the parameters belong to the network."""
        return iter(())


class SGD(Optimizer):
    """Gradient descent: ``v = momentum * v + (1 - dampening) * g`` (first ``v = g``), ``p -= rate * v``.

    Parameters
    ----------
    params, learning_rate, weight_decay, loss_scale
        As in `Optimizer`.
    momentum, dampening : float
        As in the formula.
    nesterov : bool
        Whether ``g + momentum * v`` takes the place of ``v`` in the step.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum = within("momentum", momentum, 0)
        self.dampening = within("dampening", dampening, 0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentValueError("nesterov wants a positive momentum and no dampening")
        self.nesterov = nesterov
        self.velocity: list[np.ndarray] = []

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        if not self.momentum:
            return value - rate * slope
        if len(self.velocity) <= index:
            self.velocity.append(slope.copy())
        else:
            self.velocity[index] = self.momentum * self.velocity[index] + (1 - self.dampening) * slope
        direction = slope + self.momentum * self.velocity[index] if self.nesterov else self.velocity[index]
        return value - rate * direction


class Momentum(Optimizer):
    """Gradient descent with momentum: ``v = momentum * v + g``, ``p -= rate * v``.

    Parameters
    ----------
    params, learning_rate, weight_decay, loss_scale
        As in `Optimizer`.
    momentum : float
        As in the formula.
    use_nesterov : bool
        Whether ``g + momentum * v`` takes the place of ``v`` in the step.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: Any,
        momentum: float,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum = within("momentum", momentum, 0)
        self.use_nesterov = use_nesterov
        self.moments = self.zeros()

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        self.moments[index] = self.momentum * self.moments[index] + slope
        if self.use_nesterov:
            return value - rate * (slope + self.momentum * self.moments[index])
        return value - rate * self.moments[index]


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with MindSpore's place of `eps`: ``p -= rate_t * m / (sqrt(v) + eps)``.

    Parameters
    ----------
    params, learning_rate, weight_decay, loss_scale
        As in `Optimizer`.
    beta1, beta2 : float
        How much of the moments a step keeps.
    eps : float
        Added to the root.
    use_nesterov : bool
        Whether the gradient is looked ahead.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = within("beta1", beta1, 0, 1)
        self.beta2 = within("beta2", beta2, 0, 1)
        self.eps = within("eps", eps, 0)
        self.use_nesterov = use_nesterov
        self.first_moments = self.zeros()
        self.second_moments = self.zeros()

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        keep, keep2, t = self.beta1, self.beta2, self.global_step
        first, second = self.moments(index, slope)
        rate = rate * (1 - keep2**t) ** 0.5 / (1 - keep**t)
        if self.use_nesterov:
            first = keep * first + (1 - keep) * slope
        return value - rate * first / (np.sqrt(second) + self.eps)

    def moments(self, index: int, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moving means of the gradient of parameter `index` and of its square, with this gradient."""
        keep, keep2 = self.beta1, self.beta2
        first = self.first_moments[index] = keep * self.first_moments[index] + (1 - keep) * slope
        second = self.second_moments[index] = keep2 * self.second_moments[index] + (1 - keep2) * slope * slope
        return first, second


class AdamWeightDecay(Adam):
    """Adam without bias correction whose weight decay acts on the parameters, not on the gradients."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay=weight_decay)

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        first, second = self.moments(index, slope)
        return value - rate * (first / (np.sqrt(second) + self.eps) + self.decays[index] * value)


class RMSProp(Optimizer):
    """Steps divided by the root of a mean of squares: ``m = momentum * m + rate * g / sqrt(s + eps)``, ``p -= m``.

    Parameters
    ----------
    params, learning_rate, weight_decay, loss_scale
        As in `Optimizer`.
    decay : float
        How much of the mean a step keeps.  It begins with ones, as in MindSpore.
    momentum, epsilon : float
        As in the formula.
    centered : bool
        True to take the square of a moving mean of gradients from `s`.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = within("decay", decay, 0)
        self.momentum = within("momentum", momentum, 0)
        self.epsilon = within("epsilon", epsilon, 0)
        self.centered = checked_flag(centered, "centered")
        self.squares = [square + 1 for square in self.zeros()]
        self.means, self.moments = self.zeros(), self.zeros()

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        keep = self.decay
        spread = self.squares[index] = keep * self.squares[index] + (1 - keep) * slope * slope
        if self.centered:
            mean = self.means[index] = keep * self.means[index] + (1 - keep) * slope
            spread = spread - mean * mean
        self.moments[index] = self.momentum * self.moments[index] + rate * slope / np.sqrt(spread + self.epsilon)
        return value - self.moments[index]


class Adagrad(Optimizer):
    """Steps divided by the root of a sum of squares: ``s += g**2``, ``p -= rate * g / sqrt(s)`` (Duchi et al., 2011).

    Parameters
    ----------
    params, learning_rate, weight_decay, loss_scale
        As in `Optimizer`.
    accum : float
        What `s` begins with.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.update_slots = checked_flag(update_slots, "update_slots")
        begin = within("accum", accum, 0)
        self.squares = [square + begin for square in self.zeros()]

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        if self.update_slots:
            self.squares[index] = self.squares[index] + slope * slope
        return value - rate * slope / np.sqrt(self.squares[index])


class AdaMax(Optimizer):
    """Adam by the largest slope: ``v = max(beta2 * v, |g|)``, ``p -= rate_t * m / (v + eps)`` (Kingma and Ba, 2015).

    Parameters
    ----------
    params, learning_rate, weight_decay, loss_scale
        As in `Optimizer`.
    beta1, beta2, eps : float
        As in `Adam`.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = within("beta1", beta1, 0, 1)
        self.beta2 = within("beta2", beta2, 0, 1)
        self.eps = within("eps", eps, 0)
        self.moments, self.largest = self.zeros(), self.zeros()

    def step(self, index: int, value: np.ndarray, slope: np.ndarray, rate: float) -> np.ndarray:
        """The new value of parameter `index`."""
        moment = self.moments[index] = self.beta1 * self.moments[index] + (1 - self.beta1) * slope
        largest = self.largest[index] = np.maximum(self.beta2 * self.largest[index], np.abs(slope))
        return value - rate / (1 - self.beta1**self.global_step) * moment / (largest + self.eps)


def grouped(parameters: Iterable[Any], rate: Any, decay: float) -> list[tuple[Parameter, Any, float]]:
    """Each parameter with its learning rate and its weight decay: those of its group, or the optimizer's."""
    entries = parameters if isinstance(parameters, ParameterTuple) else list(parameters)
    if not any(isinstance(entry, dict) for entry in entries):
        return [(parameter, rate, decay) for parameter in ParameterTuple(entries)]
    rows: list[tuple[Parameter, Any, float]] = []
    order: list[Parameter] = []
    for entry in entries:
        if not isinstance(entry, dict) or not entry.keys() & {"params", "order_params"}:
            raise ArgumentTypeError("groups of parameters are dicts with 'params', or with 'order_params'")
        order += entry.get("order_params", ())
        own_rate = rate_of(entry["lr"]) if "lr" in entry else rate
        own_decay = within("weight_decay", entry.get("weight_decay", decay), 0)
        rows += [(parameter, own_rate, own_decay) for parameter in ParameterTuple(entry.get("params", ()))]
    if order:
        places = {id(parameter): place for place, parameter in enumerate(order)}
        if len(order) != len(rows) or any(id(parameter) not in places for parameter, _, _ in rows):
            raise ArgumentValueError("order_params holds the parameters of all groups, each once")
        rows.sort(key=lambda row: places[id(row[0])])
    return rows


def rate_of(value: Any) -> float | Callable[[int], float]:
    """A learning rate as a float, or as a function of the step number; the last of a sequence stays."""
    if isinstance(value, (bool, str)) or value is None:
        raise ArgumentTypeError(f"learning_rate is a number, a sequence of them or a callable, not {value!r}")
    if isinstance(value, (int, float, np.generic)) or (isinstance(value, Tensor) and value.ndim == 0):
        if float(value) < 0:
            raise ArgumentValueError(f"learning_rate is not negative: {value}")
        return float(value)
    if callable(value):
        return value
    rates = [float(rate) for rate in value]
    return lambda step: rates[min(step, len(rates) - 1)]


def within(what: str, value: Any, least: float, most: float = float("inf")) -> float:
    """A setting between two bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} is a number, not {value!r}")
    if not least <= value <= most:
        raise ArgumentValueError(f"{what} is between {least} and {most}, not {value}")
    return float(value)
