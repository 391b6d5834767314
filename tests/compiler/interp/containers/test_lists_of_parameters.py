"""Training inside the program: an optimizer keeps its parameters, of several ranks, in a list that it fills."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
WEIGHTS = np.linspace(-1, 1, 12).reshape(4, 3)
X, Y = np.cos(np.arange(24.0)).reshape(6, 4), np.sin(np.arange(18.0)).reshape(6, 3)


class Dense:
    def __init__(self, weights: Any, bias: Any) -> None:
        self.weights, self.bias = weights, bias

    def forward(self, x: Any) -> Any:
        self.x, self.z = x, x @ self.weights + self.bias
        return np.tanh(self.z)

    def backward(self, d: Any) -> Any:
        d = d * (1 - np.tanh(self.z) ** 2)
        self.d_weights, self.d_bias = self.x.T @ d, d.sum(0)
        return d @ self.weights.T


class Adam:
    def __init__(self, parameters: Any, rate: float) -> None:
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.means = [np.zeros_like(p) for p in parameters]
        self.squares = [np.zeros_like(p) for p in parameters]

    def step(self, gradients: Any) -> None:
        self.steps += 1
        for k, (parameter, gradient) in enumerate(zip(self.parameters, gradients)):
            self.means[k] = 0.9 * self.means[k] + 0.1 * gradient
            self.squares[k] = 0.99 * self.squares[k] + 0.01 * gradient**2
            mean = self.means[k] / (1 - 0.9**self.steps)
            square = self.squares[k] / (1 - 0.99**self.steps)
            parameter -= self.rate * mean / (np.sqrt(square) + 1e-8)


class StepRate:
    def __init__(self, optimizer: Any, every: int, factor: float) -> None:
        self.optimizer, self.every, self.factor, self.count = optimizer, every, factor, 0

    def step(self) -> None:
        self.count += 1
        if self.count % self.every == 0:
            self.optimizer.rate *= self.factor


def predicted(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = layer.forward(x)
    return x


@case(WEIGHTS)
def trained(weights: Any) -> Any:
    layers = [Dense(weights * 1.0, np.zeros(3)), Dense(np.eye(3) * weights[0], np.zeros(3))]
    parameters: list[Any] = []
    for layer in layers:
        parameters += [layer.weights, layer.bias]
    optimizer = Adam(parameters, 0.1)
    schedule = StepRate(optimizer, 2, 0.5)
    for _ in range(3):
        d = 2 * (predicted(layers, X) - Y) / len(X)
        for layer in reversed(layers):
            d = layer.backward(d)
        gradients: list[Any] = []
        for layer in layers:
            gradients += [layer.d_weights, layer.d_bias]
        optimizer.step(gradients)
        schedule.step()
    return np.mean((predicted(layers, X) - Y) ** 2)


@case(WEIGHTS)
def appended(weights: Any) -> Any:
    layer = Dense(weights.copy(), np.zeros(3))
    parameters = []
    parameters.append(layer.weights)
    parameters.append(layer.bias)
    for _ in range(3):
        layer.backward(layer.forward(X) - Y)
        for parameter, gradient in zip(parameters, [layer.d_weights, layer.d_bias]):
            parameter -= 0.1 * gradient
    return np.sum(layer.weights**2) + np.sum(layer.bias**3)


@case(WEIGHTS)
def filled_in_a_loop_as_well(weights: Any) -> Any:
    """Arrays of two ranks in a list whose length only the run knows."""
    kept = []
    kept.append(weights * 2)
    kept.append(weights[0])
    for row in weights:
        kept.append(row * row)
    return sum(np.sum(each) ** 2 for each in kept)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)
