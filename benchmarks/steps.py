"""Peak memory and time of a long loop's gradient against its number of steps: ``python -m benchmarks.steps``.

The loop saves every step, keeps checkpoints over segments of the square root, or is given a budget.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad

from .report import table
from .timing import peak_memory, seconds

STEPS = (64, 256, 1024, 4096)
SIZE = 5_000


def every_step(u: Any, n: int) -> Any:
    u = u.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u * u)


def over_segments(u: Any, n: int) -> Any:
    u = u.copy()
    for _ in ad.segments(range(n)):
        u[1:-1] += 0.1 * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u * u)


GRADIENTS: dict[str, Callable[..., Any]] = {
    "every step": ad.grad(every_step),
    "segments": ad.grad(over_segments),
    'memory="20 MB"': ad.grad(every_step, memory="20 MB"),
}


def measured() -> str:
    """A row for each number of steps: MB and milliseconds of each gradient."""
    heads = ["steps", *(f"{name}{unit}" for name in GRADIENTS for unit in (" (MB)", " (ms)"))]
    rows = [[str(n), *(cell for gradient in GRADIENTS.values() for cell in cells(gradient, n))] for n in STEPS]
    return table(heads, rows)


def cells(gradient: Callable[..., Any], n: int) -> tuple[str, str]:
    """The peak in MB and the least of three times in ms."""
    call = functools.partial(gradient, np.linspace(0.0, 1.0, SIZE), n)
    call()
    return f"{peak_memory(call) / 1e6:.1f}", f"{min(seconds(call) for _ in range(3)) * 1e3:.0f}"


if __name__ == "__main__":
    print(measured())
