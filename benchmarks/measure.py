"""Measure one workload: check that the gradients agree, then time the calls in turns, then their memory."""

from __future__ import annotations

import importlib
from types import ModuleType

import autodiff_sct as ad

from . import timing, variants, workload
from .report import Measured

# Summation order, the element-wise functions of each library, and `fastmath` differ by rounding.
TOLERANCE = 1e-9
# Their arrays are Python's or NumPy's, which `tracemalloc` sees; the others have allocators of their own.
TRACED = ("hand", "ours", "tape", "hips")


def load_compiler() -> None:
    """Import what the first gradient of a process imports, so that it is not part of the first workload's."""
    ad.grad(lambda x: x * x)(1.0)
    importlib.import_module("autodiff_sct.compiler.derivatives_inside.bootstrap")


class Disagreement(AssertionError):
    """Two ways to compute the same gradient gave different ones."""


def first_calls(name: str, calls: dict[str, variants.Call]) -> dict[str, float]:
    """Seconds of each variant's first call; raise `Disagreement` unless all return the gradients written by hand."""
    seconds = {variant: timing.seconds(call) for variant, call in calls.items()}
    expected = variants.as_arrays(calls["hand"]())
    for variant, call in calls.items():
        apart = variants.disagreement(expected, variants.as_arrays(call()))
        if not apart <= TOLERANCE:
            raise Disagreement(f"{name}: {variant} differs from the gradient written by hand by {apart:.1e}")
    return seconds


def measure(name: str, quick: bool) -> Measured:
    """All variants of one workload."""
    module: ModuleType = workload.load(name)
    args = module.inputs(quick)
    calls = variants.calls(module, args)
    first = first_calls(name, calls)
    timed = {"primal": lambda: module.primal(*args), **calls}
    seconds = timing.medians(timed, rounds=3, least=0.002, most=0.2) if quick else timing.medians(timed, rounds=11)
    memory = {variant: timing.peak_memory(calls[variant]) for variant in TRACED if variant in calls}
    return Measured(name, module.KIND, seconds.pop("primal"), seconds, memory, first)
