"""What was measured, as tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

HEADINGS = {
    "hand": "hand (ms)",
    "ours": "ours",
    "ours_numba": "ours, numba",
    "tape": "our tape",
    "hips": "HIPS",
    "torch": "torch",
    "jax": "JAX",
    "hand_numba": "hand, numba",
}


@dataclass
class Measured:
    """One workload: seconds a call by variant (and of the primal), bytes at the peak, seconds of the first call."""

    name: str
    kind: str
    primal: float
    seconds: dict[str, float]
    memory: dict[str, int] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)

    def ratio(self, variant: str, to: str = "hand") -> float | None:
        """Time of a variant over that of another, where both were measured."""
        if variant in self.seconds and to in self.seconds:
            return self.seconds[variant] / self.seconds[to]
        return None

    def over_primal(self, variant: str = "ours") -> float | None:
        """Time of a gradient over that of the primal in NumPy."""
        return self.seconds[variant] / self.primal if variant in self.seconds else None

    def compiling_ms(self, variant: str = "ours") -> float | None:
        """Milliseconds that the first call takes longer than others."""
        return 1e3 * max(self.first[variant] - self.seconds[variant], 0.0) if variant in self.first else None

    def memory_ratio(self, variant: str) -> float | None:
        """Peak memory of a variant over that of the adjoint by hand."""
        return self.memory[variant] / self.memory["hand"] if {variant, "hand"} <= self.memory.keys() else None


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of the values that are there."""
    logs = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    if value is None:
        return "-"
    return (
        f"{value:.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 0.1
        else f"{value:.3f}"
    )


def table(headings: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, in columns of equal width, numbers to the right."""
    widths = [max(len(row[column]) for row in [headings, *rows]) for column in range(len(headings))]
    lines = [
        [text.ljust(w) if not i else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths))] for row in rows
    ]
    top = [text.ljust(w) for text, w in zip(headings, widths)]
    rule = ["-" * w if not i else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [top, rule, *lines])


def present(results: list[Measured]) -> list[str]:
    """The variants that some workload has, in the order of `HEADINGS`."""
    return [variant for variant in HEADINGS if any(variant in measured.seconds for measured in results)]


def times(results: list[Measured]) -> str:
    """Gradient times: by hand in milliseconds, all others over that; then ours over the primal, and compiling."""
    variants = present(results)
    others = [variant for variant in variants if variant != "hand"]
    headings = ["workload", *(HEADINGS[variant] for variant in variants), "ours / primal", "compile (ms)"]
    rows = [
        [
            measured.name,
            f"{measured.seconds['hand'] * 1e3:.3f}",
            *(number(measured.ratio(variant)) for variant in others),
            number(measured.over_primal()),
            number(measured.compiling_ms()),
        ]
        for measured in results
    ]
    means: list[Callable[[Measured], float | None]] = [lambda one, of=variant: one.ratio(of) for variant in others]
    means.append(Measured.over_primal)
    rows.append(["geometric mean", "", *(number(geometric_mean(map(mean, results))) for mean in means), ""])
    return table(headings, rows)


def memory(results: list[Measured]) -> str:
    """Peak memory of one gradient: the adjoint by hand in MB, the others over it."""
    variants = [variant for variant in HEADINGS if any(variant in measured.memory for measured in results)]
    others = [variant for variant in variants if variant != "hand"]
    rows = [
        [
            measured.name,
            f"{measured.memory['hand'] / 1e6:.3f}",
            *(number(measured.memory_ratio(variant)) for variant in others),
        ]
        for measured in results
        if measured.memory
    ]
    means = [number(geometric_mean(one.memory_ratio(variant) for one in results)) for variant in others]
    return table(
        ["workload", "hand (MB)", *(HEADINGS[variant] for variant in others)], [*rows, ["geometric mean", "", *means]]
    )


def reach(results: list[Measured]) -> str:
    """The figures that the project wants to reach, beside those measured."""
    loops = [one for one in results if one.kind == "loop"]
    dense = [one for one in results if one.kind == "dense"]

    def mean(variant: str, to: str, over: list[Measured] = results) -> float | None:
        return geometric_mean(one.ratio(variant, to) for one in over)

    def worst(variant: str, to: str, over: list[Measured] = results) -> str:
        found = [(ratio, one.name) for one in over if (ratio := one.ratio(variant, to)) is not None]
        return f"{number(max(found)[0])} ({max(found)[1]})" if found else "-"

    rows = [
        ["ours over hand-written NumPy, geometric mean", "at most 1.10", number(mean("ours", "hand"))],
        ["ours over hand-written NumPy, worst", "at most 1.3", worst("ours", "hand")],
        ["HIPS autograd over ours, geometric mean", "at least 12", number(mean("hips", "ours"))],
        ["ours over HIPS autograd, worst", "below 1", worst("ours", "hips")],
        ["torch over ours, geometric mean", "at least 2.5", number(mean("torch", "ours"))],
        [
            "ours over primal, geometric mean",
            "at most 1.8",
            number(geometric_mean(one.over_primal() for one in results)),
        ],
        [
            "ours (numba) over hand-written numba, loops",
            "at most 1.25",
            number(mean("ours_numba", "hand_numba", loops)),
        ],
        ["JAX over ours (numba), loops", "at least 3", number(mean("jax", "ours_numba", loops))],
        ["ours (numba) over JAX, dense", "at most 1.2", number(mean("ours_numba", "jax", dense))],
        [
            "peak memory, ours over hand-written, loops",
            "at most 1.1",
            number(geometric_mean(one.memory_ratio("ours") for one in loops)),
        ],
    ]
    return table(["figure", "reach", "measured"], rows)


def as_json(results: list[Measured], versions: dict[str, str], processor: str) -> dict[str, Any]:
    """Everything measured, in seconds and bytes."""
    return {"processor": processor, "versions": versions, "workloads": [asdict(measured) for measured in results]}
