"""Loop peeling: None before the first iteration, and an object, a list or a dict ever after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

X = np.array([1.0, 2.0])


def list_of_a_range(x: Any, n: Any) -> Any:
    state = None
    for i in range(n):
        if state is None:
            state = [x, i]
        state[0] = state[0] * x
    return np.sum(state[0])  # type: ignore[index]


def dict_of_a_while_loop(x: Any, n: Any) -> Any:
    state, k, result = None, 0, x
    while k < n:
        if state is None:
            state = {name: x for name in "ab"}
        state["a"] = result = state["a"] * x
        k += 1
    return np.sum(result)


def dict_until_a_break(x: Any, n: Any) -> Any:
    state, result = None, x
    for k in range(10, 0, -1):
        if state is None:
            state = {}
            for name in ("a", "b"):
                state[name] = x
        state["a"] = result = state["a"] * x
        if k == 11 - n:
            break
    return np.sum(result)


@pytest.mark.parametrize("program", [list_of_a_range, dict_of_a_while_loop, dict_until_a_break])
def test_every_number_of_iterations(program: Any) -> None:
    for n in (1, 2, 4, *([0] if program is dict_of_a_while_loop else [])):
        np.testing.assert_allclose(ad.grad(program)(X, n), (n + 1) * X**n)
        np.testing.assert_allclose(ad.jvp(lambda x: program(x, n), X, np.ones(2))[1], np.sum((n + 1) * X**n))


def test_none_after_no_iteration() -> None:
    with pytest.raises(TypeError, match="not subscriptable"):
        ad.grad(list_of_a_range)(X, 0)


def test_the_text() -> None:
    assert "for i in range(1, 3):" in ad.adjoint_source(lambda x: list_of_a_range(x, 3), X)


def test_keys_of_a_dict_in_a_table() -> None:
    def program(x: Any) -> Any:
        best = None
        for _ in range(3):
            new = {"p": x * 1.0}
            best = {}
            for key in new:
                best[key] = new[key] * 2.0
        return np.sum(best["p"])  # type: ignore[index]

    np.testing.assert_allclose(ad.grad(program)(X), [2.0, 2.0])


def list_that_is_none_at_first(x):
    kept = None
    for v in x:
        if kept is None:
            kept = []
        kept.append(v**2)
    return sum(kept)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_list_that_is_none_at_first(n):
    x = np.arange(1.0, n + 1)
    np.testing.assert_array_equal(ad.grad(list_that_is_none_at_first)(x), 2 * x)
