"""Bars of gradient time over primal time, on a log scale."""

from __future__ import annotations

from pathlib import Path

from .report import HEADINGS, Measured, present


def draw(results: list[Measured], path: Path) -> None:
    """Save the picture; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    variants = present(results)
    figure, axes = pyplot.subplots(figsize=(10, 1 + 0.5 * len(results)), layout="constrained")
    thick = 0.85 / len(variants)
    for position, variant in enumerate(variants):
        having = [(row, one.over_primal(variant)) for row, one in enumerate(results) if variant in one.seconds]
        rows = [row + (position - (len(variants) - 1) / 2) * thick for row, _ in having]
        label = HEADINGS[variant].removesuffix(" (ms)")
        axes.barh(rows, [ratio for _, ratio in having], height=thick, label=label)
    axes.set_xscale("log")
    axes.margins(y=0.01)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(results)), [one.name for one in results])
    axes.invert_yaxis()
    axes.set_xlabel("gradient time over the time of the NumPy primal (one core)")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
