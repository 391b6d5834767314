"""Progress bars around what a loop goes over."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

tqdm = pytest.importorskip("tqdm")
CASES: Cases = []
case = registrar(CASES)


@case((V, 0), (V, 3), (V[:1], 130))
def over_a_range(x: Any, n: int) -> Any:
    for k in tqdm.tqdm(range(n), disable=True):
        x = x * 0.9 + k
    for _ in tqdm.trange(2, disable=True, leave=False):
        x = np.sin(x)
    return np.sum(x**2)


@case(V)
def over_items(x: Any) -> Any:
    total = 0.0
    for k, v in enumerate(tqdm.tqdm(x, "items", disable=True)):
        total += v * v * k
    return total


@case(V)
def under_a_name(x: Any) -> Any:
    bar = tqdm.tqdm(range(3), disable=True)
    for k in bar:
        x = x * 1.1 + k
        bar.set_description(f"norm {np.sum(x):.3f}")
        bar.set_postfix(first=x[0])
        if np.sum(x) > 12.0:
            break
    return np.sum(x**2)


@case(V)
def updated(x: Any) -> Any:
    with tqdm.tqdm(total=3, disable=True) as bar:
        for k in range(3):
            x = x * 1.1 + k
            bar.update(1)
    return np.sum(x**2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_the_bar_is_shown_once() -> None:
    def shown(x: Any, file: Any) -> Any:
        for k in tqdm.tqdm(range(4), desc="steps", file=file):
            x = x * 0.9 + k
        return np.sum(x**2)

    file = io.StringIO()
    ad.grad(shown)(V, file)
    assert "steps: 100%" in file.getvalue() and "4/4" in file.getvalue()
    assert file.getvalue().count("100%") == 1
