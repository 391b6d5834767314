"""The package's random numbers: one generator for initial weights and dropout, set by `set_seed`."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["generator", "set_seed"]

STATE: dict[str, np.random.Generator] = {}


def generator() -> np.random.Generator:
    """The generator in use."""
    if not STATE:
        STATE["generator"] = np.random.default_rng()
    return STATE["generator"]


def set_seed(seed: int) -> None:
    """Start the random numbers of the package anew, and NumPy's global ones, as MindSpore does.

    Raises
    ------
    TypeError
        If `seed` is not an int.
    ValueError
        If it is negative.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ArgumentTypeError(f"a seed is an int, not {seed!r}")
    if seed < 0:
        raise ArgumentValueError(f"a seed is not negative: {seed}")
    STATE["generator"] = np.random.default_rng(seed)
    np.random.seed(seed % 2**32)
