"""Times and peak memory of calls, taken in turns so that a slow moment of the machine hits all of them."""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Call = Callable[[], Any]


def settle_allocator() -> None:
    """Free one block of nearly 32 MiB: the C library then keeps freed blocks of up to that size for the next array.

    It learns this by itself in a process that has worked for a while; before that, times depend on what ran earlier.
    """
    np.ones(4_000_000)


def seconds(call: Call, repeats: int = 1) -> float:
    """Processor time of `repeats` calls: on one core what a clock shows, without the time given to other programs."""
    begin = time.process_time()
    for _ in range(repeats):
        call()
    return time.process_time() - begin


def repeats_for(call: Call, least: float) -> int:
    """How many calls take at least `least` seconds."""
    repeats = 1
    while (taken := seconds(call, repeats)) < least:
        repeats = max(2 * repeats, min(int(repeats * least / max(taken, 1e-6)) + 1, 100 * repeats))
    return repeats


def medians(calls: Mapping[str, Call], rounds: int, least: float = 0.01, most: float = 3.0) -> dict[str, float]:
    """Median seconds of one call of each, over `rounds` turns of at least `least` seconds.

    A call that has taken `most` seconds altogether stops after three turns.
    """
    repeats = {name: repeats_for(call, least) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, call in calls.items():
            taken = samples[name]
            if len(taken) < 3 or sum(taken) * repeats[name] < most:
                taken.append(seconds(call, repeats[name]) / repeats[name])
    gc.unfreeze()
    return {name: statistics.median(taken) for name, taken in samples.items()}


def peak_memory(call: Call) -> int:
    """The most bytes that Python and NumPy held at one moment of the call, above what they held before it."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
