"""What a random program must satisfy, and the three ways in which it can turn out."""

from __future__ import annotations

import itertools
import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad
from tests.bank.differences import assert_close, differentiate
from tests.bank.structures import leaves, same

WRT = (0, 1, 2, 3)
NUMBERS = itertools.count()
LIMIT = 1e4


def load(text: str) -> Callable[..., Any]:
    """Compile a module's text and return its function `program`, with the text where `inspect` finds it."""
    filename = f"<random program {next(NUMBERS)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"__name__": "random_program"}
    exec(compile(text, filename, "exec"), names)
    function: Callable[..., Any] = names["program"]
    return function


def forget(function: Callable[..., Any]) -> None:
    """Drop the text again."""
    linecache.cache.pop(function.__code__.co_filename, None)


def sample(seed: int) -> tuple[Any, ...]:
    """Return arguments."""
    rng = np.random.default_rng(seed)
    return tuple(rng.uniform(-1, 1, size) for size in (4, 5, (3, 4))) + (float(rng.uniform(-1, 1)),)


def tame(value: Any) -> bool:
    """Tell whether a value is small enough for differences to be trusted."""
    return all(np.all(np.abs(leaf) < LIMIT) for leaf in leaves(value).values())


def trustworthy(program: Callable[..., Any], seed: int, expected: dict[tuple[str, ...], np.ndarray]) -> bool:
    """Tell whether half the step gives the same differences: otherwise a kink lies near and nothing can be said."""
    halved = differentiate(program, lambda: sample(seed), WRT, shrink=0.5)
    return all(np.allclose(halved[path], expected[path], rtol=1e-6, atol=1e-7) for path in expected)


def judge(text: str, seed: int) -> str:
    """Differentiate a program and return `right`, `refused: reason` or `unknown`.

    Raises
    ------
    AssertionError
        Where the gradient or the value is wrong or an argument was changed, with the program's text.
    """
    program = load(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return outcome(program, seed)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n\nsample({seed})\n{text}") from error
    finally:
        forget(program)


def outcome(program: Callable[..., Any], seed: int) -> str:
    """Return how a program turned out."""
    try:
        expected_value = program(*sample(seed))
    except RuntimeWarning:  # an overflow
        return "unknown"
    if not tame(expected_value):
        return "unknown"
    args = sample(seed)
    try:
        value, gradient = ad.value_and_grad(program, WRT)(*args)
    except ad.AutodiffError as error:
        return f"refused: {error}"
    assert same(args, sample(seed)), "an argument was changed"
    assert same(value, expected_value), f"value {value!r} is not {expected_value!r}"
    return compare(program, seed, gradient)


def compare(program: Callable[..., Any], seed: int, gradient: Any) -> str:
    """Compare a gradient with differences."""
    expected = differentiate(program, lambda: sample(seed), WRT)
    found = leaves(gradient)
    try:
        for path, numbers in expected.items():
            assert np.shape(found[path]) == numbers.shape
            assert_close(found[path], numbers, 1e-5, f"gradient of argument {''.join(path)}")
    except AssertionError:
        if trustworthy(program, seed, expected):
            raise
        return "unknown"
    return "right"
