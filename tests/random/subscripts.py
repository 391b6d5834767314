"""Random loops that write items and parts of arrays at affine subscripts, beside reads of other parts.

What the reverse sweep may find in place of what was overwritten is decided by these subscripts alone: loops go up and
down in several steps, inner ones over ranges that depend on outer ones, and parts are meant from either end.
"""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import numpy as np

import autodiff_sct as ad

RANGES = ["2, n - 2", "2, n - 2", "2, n - 2, 2", "n - 3, 1, -1", "n - 3, 1, -1", "n - 3, 1, -2"]
INNER = ["2, i", "2, i", "i, n - 2", "i + 1, n - 2", "i - 1, 1, -1", "n - 3, i, -1", *RANGES]
FACTORS = ["0.9", "np.cos({read})", "(1.1 + 0.3 * np.sin({read}))"]


class Subscripts:
    """A program of a matrix `x` of n rows and columns, made of a matrix `a`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.flat, self.once = self.random.random() < 0.4, self.random.random() < 0.6
        self.other = "x" if self.once and self.random.random() < 0.7 else "y"

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def item(self, loops: list[str]) -> str:
        if self.random.random() < (0.95 if self.once else 0.8):
            return self.random.choice(loops[-1:] * 2 + loops) + self.pick("", "", " - 1", " + 1", " - 2")
        return self.pick("0", "1", "-1", "-2")

    def part(self, loops: list[str]) -> str:
        bound = lambda: self.pick("", "", self.item(loops), self.item(loops))
        return f"{bound()}:{bound()}{self.pick('', '', '', ':2', ':-1')}"

    def subscript(self, loops: list[str]) -> str:
        axes = [self.part(loops) if self.random.random() < 0.35 else self.item(loops) for _ in range(2 - self.flat)]
        return ", ".join(axes if self.random.random() < 0.9 else axes[:1])

    def place(self, loops: list[str]) -> str:
        """Where a program writes: half of them once in each step, into the items that their loops are at."""
        if not self.once:
            return self.subscript(loops)
        axes = [loops[0], loops[-1]] if self.random.random() < 0.5 else [loops[-1], loops[0]]
        return ", ".join(axes[: 2 - self.flat])

    def array(self) -> str:
        return self.pick("x", "x", "x", "x", self.other if self.once else "x[1:]")

    def read(self, loops: list[str]) -> str:
        return f"np.sum(np.sin({self.array()}[{self.subscript(loops)}])) / 9"

    def write(self, loops: list[str]) -> str:
        where = f"{self.pick('x', 'x', 'x', self.other)}[{self.place(loops)}]"
        read, factor = self.read(loops), self.pick(*FACTORS).format(read=self.read(loops))
        return self.pick(f"{where} = 0.4 * {read} * {factor}", f"{where} *= {factor}", f"{where} -= 0.2 * {read}",
                         f"{where} = np.sin({where}) * {factor}", f"{where} /= 1.5 + {read}")  # fmt: skip

    def body(self, loops: list[str], depth: int) -> list[str]:
        lines = [self.write(loops) for _ in range(self.random.randint(1, 2))]
        if depth < 2 and self.random.random() < 0.7:
            name = "ijk"[depth]
            ranges = [r for r in (INNER if depth else RANGES)]
            inner = [f"    {line}" for line in self.body([*loops, name], depth + 1)]
            lines.insert(
                self.random.randint(0, len(lines)), "\n".join([f"for {name} in range({self.pick(*ranges)}):", *inner])
            )
        if loops and self.random.random() < 0.2:
            other = self.item(loops)
            lines[-1] = f"if {loops[-1]} != {other}:\n" + "\n".join(f"    {x}" for x in lines[-1].split("\n"))
        return "\n".join(lines).split("\n")

    def program(self) -> str:
        size = "a[0] * 1.0" if self.flat else "a * 1.0"
        view = self.pick("y = np.cos(x)", "y = x[::-1]", "y = x.T", "y = x[1:]", "y = np.cos(x)")
        lines = [f"x = {size}", view]
        for _ in range(self.random.randint(1, 2)):
            inner = self.body(["i"], 1)
            lines += [f"for i in range({self.pick(*RANGES)}):", *(f"    {line}" for line in inner)]
        return "\n".join(
            ["def f(a):", "    n = len(a)", *(f"    {x}" for x in lines), "    return np.sum(x * y.sum())"]
        )


def differs(seed: int, sizes: tuple[int, ...]) -> str:
    """What is wrong with the gradient of a program; empty where nothing is."""
    import linecache

    text, name = Subscripts(seed).program(), f"<subscripts {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module: dict[str, Any] = vars(ModuleType("subscripts")) | {"np": np}
    exec(compile(text, name, "exec"), module)
    gradient, rng = ad.value_and_grad(module["f"]), np.random.default_rng(seed)
    for n in sizes:
        a, way = rng.uniform(0.3, 1.2, (n, n)), rng.standard_normal((n, n))
        try:
            value = module["f"](a)
        except IndexError:
            continue
        if not np.isfinite(value):
            continue
        got, d = gradient(a)
        tangent = ad.jvp(module["f"], (a,), (way,))[1]
        if got != value or not np.isclose(np.sum(d * way), tangent, rtol=1e-8, atol=1e-9):
            return f"size {n}: {np.sum(d * way)} instead of {tangent} in\n{text}"
    return ""
