"""Arguments that change between two calls: kinds, dtypes, ranks, lengths, orders, static values and containers.

One gradient function is given them all, one after the other; each result has to be that of a gradient function of the
same program in a world of its own, which has met nothing before.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import autodiff_sct as ad
from tests.random.worlds import COMMON, USES, World, alike, outcome

ARRAYS = [
    "np.array([0.5, 1.0, 2.0])",
    "np.array([0.5, 1.0, 2.0], np.float32)",
    "np.array([0.5])",
    "np.array(0.5)",
    "np.linspace(0.1, 1.0, 15)",
    "np.linspace(0.1, 1.0, 16)",
    "np.linspace(0.1, 1.0, 130)",
    "np.linspace(0.1, 1.0, 6).reshape(2, 3)",
    "np.linspace(0.1, 1.0, 3).reshape(1, 3)",
    "np.asfortranarray(np.linspace(0.1, 1.0, 6).reshape(2, 3))",
    "np.linspace(0.1, 1.0, 6)[::2]",
    "np.linspace(0.1, 1.0, 3).astype('>f8')",
    "0.5",
    "np.float64(0.5)",
    "np.float32(0.5)",
    "np.array([0.5, 1.0j])",
]


def program_of(use: str) -> str:
    """The text of a module whose function is given both the array and the value."""
    lines = "\n".join(f"    {line}" for line in USES[use][0].split("\n"))
    return f"{COMMON}\ndef f(x, V):\n{lines}\n    return s\n"


def judge_arguments(use: str, random: Random, calls: int) -> list[str]:
    """What differs from what a fresh program returns, in a number of calls with arguments at random."""
    world, wrong = World(program_of(use)), []
    gradient = ad.value_and_grad(world.names["f"])
    given = ARRAYS[0], random.choice(USES[use][1])
    for _ in range(calls):
        array, value = given
        x, v = world.value(array), world.value(value)
        got = outcome(lambda x=x, v=v: gradient(x, v))
        fresh = World(program_of(use))
        x, v = fresh.value(array), fresh.value(value)
        expected = outcome(lambda x=x, v=v, f=fresh.names["f"]: ad.value_and_grad(f)(x, v))
        if not (alike(got, expected) and same_kinds(got, expected)):
            wrong.append(f"{use}: {array}, {value}: {got} instead of {expected}")
        given = (random.choice(ARRAYS), value) if random.random() < 0.4 else (array, random.choice(USES[use][1]))
    return wrong


def same_kinds(a: Any, b: Any) -> bool:
    """True if two results have the same classes, dtypes and shapes."""
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    kinds = [[(type(p), np.asarray(p).dtype, np.shape(p)) for p in each] for each in (a, b)]
    return kinds[0] == kinds[1]
