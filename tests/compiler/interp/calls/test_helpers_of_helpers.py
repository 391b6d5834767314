"""Helpers that call helpers twice: what inlining would double at each level is called."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

FIRST = "def f0(x):\n    return np.sin(x) * 0.8\n"
LEVELS = {
    "of its own result": "f{n}(f{n}(x))",
    "of two arguments": "f{n}(x) * 0.4 + 0.3 * f{n}(2.0 * x)",
}


def written(first: str, level: str, depth: int) -> Callable[..., Any]:
    """``np.sum(f_depth(x))``, where each helper calls the one before it twice."""
    helpers = "".join(f"def f{n + 1}(x):\n    return {level.format(n=n)}\n" for n in range(depth))
    text = f"{first}{helpers}def f(x):\n    return np.sum(f{depth}(x) ** 2)\n"
    filename = f"<helpers {abs(hash(text))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, filename, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_written_does_not_double_with_each_level(level: str) -> None:
    x = np.array([0.3, -0.2, 0.7])
    lines = [ad.adjoint_source(written(FIRST, LEVELS[level], depth), x).count("\n") for depth in (12, 20)]
    assert lines[1] < 2 * lines[0] < 6000


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("size", [1, 130])
def test_derivatives_through_helpers_that_are_called(level: str, size: int) -> None:
    f, x = written(FIRST, LEVELS[level], 10), np.linspace(-0.9, 0.8, size)
    along = np.cos(np.arange(size))
    value, gradient = ad.value_and_grad(f)(x)
    numbers = (f(x + 1e-6 * along) - f(x - 1e-6 * along)) / 2e-6
    assert value == f(x)
    np.testing.assert_allclose(gradient @ along, numbers, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(ad.jvp(f, (x,), (along,))[1], gradient @ along, rtol=1e-9, atol=1e-12)
