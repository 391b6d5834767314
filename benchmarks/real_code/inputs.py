"""Generated arguments: what a function of numbers may expect, in the order in which it is tried."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["GENERATORS", "LENGTH", "combinations", "direction", "make"]

LENGTH = 40  # of vectors
TRIES = 400  # combinations of arguments for each function


def rng(seed: int) -> np.random.Generator:
    """Numbers of their own for each position of an argument."""
    return np.random.default_rng(1234 + seed)


def positive_definite(n: int, seed: int) -> np.ndarray:
    """A well-conditioned symmetric matrix."""
    a = rng(seed).normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


def probabilities(n: int, seed: int) -> np.ndarray:
    """Positive numbers of sum 1."""
    p = rng(seed).uniform(0.2, 1.0, n)
    return p / p.sum()


GENERATORS: dict[str, Callable[[int, int], Any]] = {
    "vector": lambda seed, n: rng(seed).normal(size=n),
    "positive": lambda seed, n: rng(seed).uniform(0.2, 0.9, n),
    "float": lambda seed, n: 0.3 + 0.1 * seed,
    "square": lambda seed, n: rng(seed).normal(size=(n // 5 - 1,) * 2),
    "definite": lambda seed, n: positive_definite(n // 5 - 1, seed),
    "tall": lambda seed, n: rng(seed).normal(size=(n, 7)),
    "int": lambda seed, n: 3,
    "sorted": lambda seed, n: np.sort(rng(seed).uniform(0.0, 9.0, 5 * n)),
    "probabilities": lambda seed, n: probabilities(n // 5 - 1, seed),
    "short": lambda seed, n: rng(seed).normal(size=n // 5 - 1),
    "three": lambda seed, n: rng(seed).uniform(0.1, 0.9, 3),
    "four": lambda seed, n: rng(seed).uniform(0.1, 0.9, 4),
    "pair": lambda seed, n: rng(seed).uniform(0.1, 0.9, 2),
    "points": lambda seed, n: rng(seed).uniform(0.1, 0.9, (n, 3)),
    "small": lambda seed, n: positive_definite(3, seed),
    "cube": lambda seed, n: rng(seed).normal(size=(n // 8, 4, 3)),
    "large": lambda seed, n: 40.0 + seed,
    "matrices": lambda seed, n: [rng(seed).normal(size=(7, 3)), rng(seed + 9).normal(size=(5, 3))],
}


def make(names: tuple[str, ...], length: int = LENGTH) -> list[Any]:
    """Fresh arguments by the names of their generators; vectors have `length` items."""
    return [GENERATORS[name](position, length) for position, name in enumerate(names)]


def combinations(count: int) -> Iterator[tuple[str, ...]]:
    """Names of generators for `count` arguments: all of one kind first, then the others, the simplest first."""
    kinds = list(GENERATORS)
    alike = [(kind,) * count for kind in kinds]
    width = len(kinds) if count <= 2 else 8 if count == 3 else 4
    mixed = sorted(itertools.product(range(width), repeat=min(count, 5)), key=sum)
    others = (tuple(kinds[i] for i in picked) for picked in mixed if len(picked) == count)
    return itertools.islice(itertools.chain(alike, (names for names in others if len(set(names)) > 1)), TRIES)


def direction(name: str, value: Any) -> Any:
    """A random direction in which an argument stays what its generator promises."""
    v = np.random.default_rng(99).normal(size=np.shape(value))
    if name in ("definite", "small"):
        v = v + v.T
    if name == "probabilities":
        v = v - v.mean()
    return v if isinstance(value, np.ndarray) else 1.0
