"""Draws from NumPy's own generator, as `np.random.randn(3, n)`: arrays of a known kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import rand, randn

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(V, V[:1])
def weights_are_drawn(x: Any) -> Any:
    np.random.seed(3)
    weights, bias = np.random.randn(3, len(x)) * 0.1, np.random.rand(3)
    return np.tanh(weights @ x + bias)


@case(V)
def changed_in_place_and_returned(x: Any) -> Any:
    np.random.seed(3)
    weights = rand(x.shape[0])
    for _ in range(3):
        weights -= 0.1 * x * weights
    return weights


@case(V)
def of_one_number_and_more(x: Any) -> Any:
    np.random.seed(3)
    mask = np.random.rand(*x.shape) < 0.5
    scale = np.random.normal(0, 1, x.shape) + np.random.uniform(size=len(x)) + randn()
    picked = x[np.random.randint(0, len(x), 3)] * np.random.choice(3, 3, replace=False)
    order = np.random.permutation(len(x))
    return np.sum(mask * x * scale) + np.sum(picked) + np.sum(x[order] * np.arange(4))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(lambda x: np.sum(fn(x)), args)
    check_tangent(fn, args)


def test_the_text_is_the_users() -> None:
    text = ad.adjoint_source(lambda x: np.sum(weights_are_drawn(x)), V)
    assert "np.random.randn(3, len(x))" in text
    assert "unbroadcast" not in text and "matmul_rule" not in text


def test_draws_are_those_of_the_primal() -> None:
    state = np.random.get_state()
    value, _ = ad.value_and_grad(lambda x: np.sum(x * np.random.rand(*x.shape)))(V)
    after = np.random.rand()
    np.random.set_state(state)
    assert value == np.sum(V * np.random.rand(4))
    assert after == np.random.rand()
