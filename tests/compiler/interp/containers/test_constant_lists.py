"""Layers with different functions, whose sizes are a list of literals: the loops over these are written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
P, X = np.linspace(-1, 1, 17), np.linspace(0, 1, 6).reshape(3, 2)
case = registrar(CASES)


class Layer:
    def __init__(self, weights: Any, bias: Any, activation: Any = np.tanh) -> None:
        self.weights, self.bias, self.activation = weights, bias, activation

    def __call__(self, x: Any) -> Any:
        return self.activation(x @ self.weights + self.bias)


def identity(x):
    return x


def taken(parameters, begin, m, n):
    end = begin + m * n
    return parameters[begin:end].reshape(m, n), parameters[end : end + n], end + n


class Net:
    def __init__(self, parameters: Any, sizes: Any) -> None:
        self.layers = []
        begin = 0
        for m, n in zip(sizes[:-1], sizes[1:]):
            weights, bias, begin = taken(parameters, begin, m, n)
            self.layers.append(Layer(weights, bias))
        self.layers[-1].activation = identity


@case((P, X))
def by_pairs(parameters, x):
    for layer in Net(parameters, [2, 4, 1]).layers:
        x = layer(x)
    return np.sum(x**2)


@case((P, X))
def by_places(parameters, x):
    sizes = [2, 4, 1]
    layers = []
    begin = 0
    for i in range(len(sizes) - 1):
        weights, bias, begin = taken(parameters, begin, sizes[i], sizes[i + 1])
        layers.append(Layer(weights, bias, np.tanh if i < len(sizes) - 2 else identity))
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)


@case((P, X))
def counted(parameters, x):
    sizes = [2, 4, 1]
    begin, layers = 0, []
    for i, (m, n) in enumerate(zip(sizes, sizes[1:])):
        weights, bias, begin = taken(parameters, begin, m, n)
        layers.append(Layer(weights, bias, identity if i == len(sizes) - 2 else np.tanh))
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)


@case((X[0],))
def cut_inside_a_loop(x):
    terms = (x, 2.0 * x, x * x)
    total = 0.0
    for i in range(4):
        x = np.sin(x)
        for k in range(3):
            for term in terms[k:]:
                total = total + np.sum(term * x) * i
    return total


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_is_right(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_only_the_loop_is_written_out_whose_number_says_where():
    text = ad.adjoint_source(cut_inside_a_loop, X[0])
    assert "for i in range(4)" in text
    assert "range(3)" not in text
