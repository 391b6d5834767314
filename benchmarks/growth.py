"""How time and memory grow with the size, of programs and of their gradients: ``python -m benchmarks growth``.

A gradient that costs a constant times the program has the program's exponents. They are fitted to sizes over three
decades of elements, in processor time and in the most bytes that are held, arguments included. What a call costs at any
size would flatten both curves, so it is fitted too: the smallest sizes tell it, and count little for the exponent.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_sct as ad

from . import page, timing
from .report import table
from .shapes import SHAPES, Shape

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
STEPS = 7


def sizes(shape: Shape) -> list[int]:
    """Sizes between the smallest and the largest, in equal ratios."""
    first, last = shape.sizes
    return [round(n) for n in np.geomspace(first, last, STEPS)]


def measured(shape: Shape, sizes: list[int], rounds: int = 5) -> np.ndarray:
    """Rows of seconds of the program and of its gradient, and of bytes of the two, a column for each size."""
    gradient = ad.grad(shape.primal, shape.wrt)
    columns = []
    for size in sizes:
        arguments = shape.arguments(size)
        calls = {
            "primal": lambda arguments=arguments: shape.primal(*arguments),
            "gradient": lambda arguments=arguments: gradient(*arguments),
        }
        calls["gradient"]()
        seconds = timing.medians(calls, rounds, least=0.005, most=0.5)
        held = sum(map(bytes_of, arguments))
        columns.append([*seconds.values(), *(held + timing.peak_memory(call) for call in calls.values())])
    return np.array(columns).T


def bytes_of(value: Any) -> int:
    """The memory of an argument: of a list with the floats in it."""
    if isinstance(value, list):
        return sys.getsizeof(value) + sum(map(bytes_of, value))
    return int(getattr(value, "nbytes", sys.getsizeof(value)))


def exponent(sizes: list[int], costs: np.ndarray) -> float:
    """The exponent p of the least squares fit of ``c + k * n ** p`` to costs, relative to each."""
    n = np.array(sizes) / sizes[-1]
    candidates = np.arange(0.0, 4.0, 0.01)

    def error(p: float) -> float:
        design = np.column_stack([np.ones_like(n), n**p]) / costs[:, None]
        fitted, *_ = np.linalg.lstsq(design, np.ones_like(n), rcond=None)
        least = np.maximum(fitted, 0.0)
        return float(np.sum((design @ least - 1) ** 2))

    return float(min(candidates, key=error))


def row(name: str, sizes: list[int], found: np.ndarray) -> list[str]:
    """A line of the table: the ratio at the largest size, then the exponents of both and how far they are apart."""
    cells = [name, f"{sizes[0]} to {sizes[-1]}", f"{found[1, -1] / found[0, -1]:.1f}"]
    for primal, gradient in (found[:2], found[2:]):
        one, other = exponent(sizes, primal), exponent(sizes, gradient)
        cells += [f"{one:.2f}", f"{other:.2f}", f"{other - one:+.2f}"]
    return cells


def growth(names: list[str], steps: int = STEPS) -> str:
    """The table, a row for each shape."""
    heads = ["shape", "sizes", "gradient / primal", "time", "of the gradient", "apart"]
    heads += ["memory", "of the gradient", "apart"]
    rows = []
    for name in names:
        print(name, file=sys.stderr, flush=True)
        chosen = sizes(SHAPES[name])[:steps]
        rows.append(row(name, chosen, measured(SHAPES[name], chosen)))
    return table(heads, rows)


def main(arguments: list[str]) -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"shapes, all unless named: {', '.join(SHAPES)}")
    parser.add_argument("--quick", action="store_true", help="the smallest sizes only")
    parser.add_argument("--page", action="store_true", help="write the table into docs/performance.md")
    chosen = parser.parse_args(arguments)
    if unknown := sorted(set(chosen.names) - SHAPES.keys()):
        parser.error(f"no shape is called {', '.join(unknown)}; there are {', '.join(SHAPES)}")
    timing.settle_allocator()
    text = growth(chosen.names or list(SHAPES), 3 if chosen.quick else STEPS)
    print(text)
    if chosen.page:
        PAGE.write_text(page.fill(PAGE.read_text(), {"growth": text}))
