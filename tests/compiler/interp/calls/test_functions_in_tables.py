"""Objects in lists of run-time length with a field that is a function, the same for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds
from autodiff_sct.errors import Refused
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, differences, names, registrar

CASES: Cases = []
case = registrar(CASES)
P = np.linspace(-1, 1, 17)


class Layer:
    def __init__(self, weights: Any, bias: Any, activation: Any = np.tanh) -> None:
        self.weights, self.bias, self.activation = weights, bias, activation

    def __call__(self, x: Any) -> Any:
        return self.activation(x @ self.weights + self.bias)


class Net:
    def __init__(self, parameters: Any, sizes: Any) -> None:
        self.layers = []
        begin = 0
        for i in range(len(sizes) - 1):
            m, n = sizes[i], sizes[i + 1]
            end = begin + m * n
            self.layers.append(Layer(parameters[begin:end].reshape(m, n), parameters[end : end + n]))
            begin = end + n

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


@case((P, np.linspace(0, 1, 6).reshape(3, 2)))
def net(parameters, x):
    return np.sum(Net(parameters, [2, 4, 1]).forward(x) ** 2)


class Unit:
    def __init__(self, weight: Any, activation: Any) -> None:
        self.weight, self.activation = weight, activation

    def __call__(self, x: Any) -> Any:
        return self.activation(x * self.weight)


def soft(x):
    return np.log1p(np.exp(x))


@case((V, 3))
def replaced(x, n):
    units = [Unit(x[k], soft) for k in range(n)]
    units.append(Unit(x[3], soft))
    units[0].activation = soft
    last = units[0]
    for unit in units[1:]:
        last = Unit(last.weight + unit.weight**2, last.activation)
    return last(0.4) + units[1](0.2)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_is_right(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def two_functions(x, n):
    units = [Unit(x[k], soft) for k in range(n)]
    units[-1].activation = np.sin
    return sum(unit(0.5) for unit in units)


def a_function_or_none(x, n):
    units = [Unit(x[k], None) for k in range(n)] + [Unit(x[k], soft) for k in range(n)]
    return sum(unit.weight if unit.activation is None else unit(0.5) for unit in units)


def a_function_or_a_number(x, n):
    units = [Unit(x[k], soft) for k in range(n)]
    units.append(Unit(x[0], 2.0))
    return sum(unit.weight for unit in units)


@pytest.mark.parametrize("fn", [two_functions, a_function_or_none, a_function_or_a_number])
def test_others_are_right_for_a_small_number_that_is_given_and_refused_for_any(fn):
    np.testing.assert_allclose(ad.grad(fn)(V, 3), differences(fn, (V, 3)), rtol=1e-6)
    with pytest.raises(Refused):
        ad.grad(fn)(np.linspace(0.1, 0.9, 80), thresholds.TRIPS_WRITTEN_OUT + 1)
