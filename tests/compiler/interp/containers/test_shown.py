"""Plots inside a program: what shows numbers looks at them, and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

CASES: Cases = []
case = registrar(CASES)


@case(V, (V, 1))
def plotted(x: Any, plot: int = 0) -> Any:
    halves = [x[k::2] ** 2 for k in range(2)]
    if plot == 1:
        for k in range(len(halves)):
            plt.plot(x[:2], halves[k], label=f"half {k}")
        plt.legend()
        plt.close()
    return np.sum(halves[0]) * np.sum(halves[1])


@case(V)
def on_axes(x: Any) -> Any:
    y = x * 2
    figure, axes = plt.subplots(1, 2)
    axes[0].plot(x, y)
    axes[1].scatter(x, y, c="k")
    axes[1].set_xlabel("x")
    one = figure.add_axes([0.1, 0.1, 0.2, 0.2])
    one.plot(x.copy(), y.tolist())
    plt.close(figure)
    return np.sum(y**2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_a_plot_is_made_once_and_shows_the_primal() -> None:
    import autodiff_sct as ad

    def drawn(x: Any) -> Any:
        plt.plot(x, x**2)
        return np.sum(x**2)

    plt.figure()
    ad.grad(drawn)(V)
    lines = plt.gca().lines
    plt.close()
    assert [line.get_ydata().tolist() for line in lines] == [(V**2).tolist()]
