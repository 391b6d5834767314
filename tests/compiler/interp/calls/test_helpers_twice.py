"""Helpers that call helpers twice: what inlining would double at each level is called, and right.

Written out, 20 levels are a million copies of the innermost helper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds

X = np.array([0.3, -0.4, 0.7])
HEAD = "import math\nimport numpy as np\nSCALE = 0.4\nWEIGHTS = np.array([0.2, 0.5, -0.3])\n"

# The innermost helper, and one of each level, in which `#` is the helper below.
FAMILIES: dict[str, tuple[str, str, str]] = {
    "one in the other": ("return np.sin(x) * 0.9", "return #(#(x)) * 0.9 + 0.1", "np.sum(#(x))"),
    "sums": ("return np.sin(x)", "return 0.5 * #(x) + 0.4 * #(0.8 * x)", "np.sum(#(x))"),
    "numbers": ("return math.sin(x)", "return 0.5 * #(x) + 0.4 * #(0.8 * x)", "#(x[0]) * x[1]"),
    "reads outside": ("return np.sin(x) * WEIGHTS", "return #(#(x) * SCALE) + WEIGHTS", "np.sum(#(x))"),
    "stores": (
        "a = np.sin(x)\n    a[1] = a[0] * 0.5\n    return a",
        "a = #(x)\n    a[0] = 0.3 * np.sum(#(a * 0.5)) * a[1]\n    return a",
        "np.sum(#(x))",
    ),
    "stores into arguments": (
        "x[1] = np.sin(x[0]) * x[2]\n    x[0] *= 0.9",
        "#(x)\n    x[2] = x[2] * 0.5 + x[0]\n    #(x)",
        "written(#, x * 1.0)",
    ),
    "views of arguments": (
        "v = x[1:]\n    v *= 0.9\n    return v",
        "v = #(x)\n    x[0] = v[1] * 0.5\n    return #(x)",
        "np.sum(#(x * 1.0))",
    ),
    "tuples": (
        "return np.sin(x), x * 0.5",
        "a, b = #(x)\n    c, d = #(0.5 * (a + b))\n    return np.sin(c + b), np.cos(d) * a",
        "np.sum(#(x)[0])",
    ),
    "branches": (
        "return np.sin(x)",
        "if x[0] > 0.1:\n        return #(x * 0.9)\n    return #(np.sin(x)) + 0.2",
        "np.sum(#(x))",
    ),
    "loops": (
        "return np.sin(x)",
        "for _ in range(2):\n        x = 0.4 * #(x) + 0.5 * #(x * 0.5)\n    return x",
        "np.sum(#(x))",
    ),
    "flags": (
        "return np.sin(x)",
        "return #(x, True) * 0.6 + #(x) if flag else #(x * 0.5, flag=True) * #(x)",
        "np.sum(#(x))",
    ),
}
CALLED = [name for name in FAMILIES if name != "views of arguments"]  # a view of what a call writes is refused
WRITTEN = "\n\ndef written(helper, x):\n    helper(x)\n    return np.sum(x * x)\n"


def family(name: str, depth: int) -> Callable[[Any], Any]:
    """A function that calls the helper of that level."""
    innermost, level, result = FAMILIES[name]
    text = f"{HEAD}{WRITTEN}\n\ndef f0(x, flag=False):\n    {innermost}\n"
    for k in range(1, depth + 1):
        text += f"\n\ndef f{k}(x, flag=False):\n    {level.replace('#', f'f{k - 1}')}\n"
    text += f"\n\ndef top(x):\n    return {result.replace('#', f'f{depth}')}\n"
    return ad.from_source(text)


def differences(fn: Callable[[Any], Any], x: Any) -> Any:
    step = 1e-6
    return np.array([(fn(x + step * e) - fn(x - step * e)) / (2 * step) for e in np.eye(len(x))])


@pytest.fixture
def called_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call what is written a second time below two levels, however short it is."""
    monkeypatch.setattr(thresholds, "INLINED_VARIABLES", 1)
    monkeypatch.setattr(thresholds, "NESTED_CALLS", 2)


@pytest.mark.usefixtures("called_early")
@pytest.mark.parametrize("name", FAMILIES)
def test_derivatives_are_right(name: str) -> None:
    fn = family(name, 5)
    x = X.copy()
    value, gradient = ad.value_and_grad(fn)(x)
    assert repr(value) == repr(fn(X.copy())) and np.array_equal(x, X)
    np.testing.assert_allclose(gradient, differences(fn, X), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ad.vjp(fn, x)[1](2.0)[0], 2.0 * gradient, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (np.ones(3),))[1], gradient.sum(), rtol=1e-9, atol=1e-12)
    assert ("def f1_backward" in ad.adjoint_source(fn, X)) == (name in CALLED)


@pytest.mark.usefixtures("called_early")
@pytest.mark.parametrize("name", ["stores", "reads outside"])
def test_second_derivatives(name: str) -> None:
    fn = family(name, 4)
    second = ad.grad(lambda x: np.sum(ad.grad(fn)(x) * X))(X)
    np.testing.assert_allclose(second, differences(lambda x: ad.grad(fn)(x) @ X, X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", CALLED)
def test_each_further_level_is_written_once(name: str) -> None:
    lines = [ad.adjoint_source(family(name, depth), X).count("\n") for depth in (12, 16, 20)]
    assert lines[2] - lines[1] <= 1.2 * (lines[1] - lines[0]) + 10
    assert lines[2] < 4000
