"""Programs that are long, or have many branches one after the other, compile as short ones do."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.interp.control import loop_joins

TIMES = 130
X = np.array([0.3, 0.5, 0.2])


def written(text: str) -> Callable[..., Any]:
    """The function `f` of a program that is too long to be written by hand."""
    filename = f"<long program {abs(hash(text))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names: dict[str, Any] = {"np": np, "k": 1}
    exec(compile(text, filename, "exec"), names)
    return names["f"]


def repeated(lines: str, end: str = " return np.sum(y)\n", times: int = TIMES) -> str:
    return "def f(x):\n y = x * 1.0\n" + "".join(lines.replace("N", str(n)) for n in range(times)) + end


def chain(test: str, times: int = TIMES) -> str:
    branches = "".join(f" elif {test} > {times - n}.5:\n  y = x * {n}.0\n" for n in range(times))
    return f"def f(x):\n if {test} > 900.0:\n  y = x * 1.0\n{branches} else:\n  y = x * 7.0\n return np.sum(y)\n"


PROGRAMS = {
    "if": repeated(" if np.sum(y) > N:\n  y = y * 1.001\n"),
    "conditional": repeated(" y = y * 1.001 if np.sum(y) > N else y + 0.01\n"),
    "for": repeated(" for i in range(k):\n  y = np.sin(y)\n"),
    "return": repeated(" y = y * 1.001\n if np.sum(y) > N + 2:\n  return np.sum(y * N)\n", times=90),
    "try": repeated(
        " try:\n  if np.sum(y) > N.37 + 1:\n   raise ValueError\n  y = y * 1.001\n except ValueError:\n  y = y + 1.0\n"
    ),
    "elif of items": chain("x[0]"),
    "elif of sums": chain("np.sum(x)"),
    "elif that returns": chain("x[0]").replace("  y =", "  return np.sum(x) *").replace("* x *", "*"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_many_branches_one_after_the_other_are_compiled(name: str) -> None:
    f = written(PROGRAMS[name])
    for scale in (1.0, 37.3, 997.1):
        x = X * scale
        value, gradient = ad.value_and_grad(f)(x)
        assert value == f(x)
        step = 1e-6 * scale
        numbers = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(3)]
        np.testing.assert_allclose(gradient, numbers, rtol=1e-5, atol=1e-7)


def nest(depth: int, leaving: bool) -> str:
    lines = ["def f(x):", " y = x * 1.0"]
    for level in range(depth):
        lines.append(" " * (level + 1) + f"for i{level} in range(k):")
        if leaving:
            lines.append(" " * (level + 2) + f"if y > {level + 10}.5:")
            lines.append(" " * (level + 3) + "break")
    return "\n".join([*lines, " " * (depth + 1) + "y = np.sin(y) * 1.1", " return y\n"])


@pytest.mark.parametrize("leaving", [False, True])
def test_each_loop_of_a_nest_is_written_as_often_as_there_are_loops_around_it(
    leaving: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_blocks = []
    run_block = loop_joins.run_block

    def counted(*args: Any) -> bool:
        written_blocks.append(args)
        return run_block(*args)

    monkeypatch.setattr(loop_joins, "run_block", counted)
    f = written(nest(18, leaving))
    np.testing.assert_allclose(ad.grad(f)(0.7), np.cos(0.7) * 1.1, rtol=1e-12)
    assert len(written_blocks) < 18 * 18
