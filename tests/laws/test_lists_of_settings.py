"""Shapes and axes that a program keeps in lists, outside and inside of the function that is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

CUBE = np.random.default_rng(0).normal(size=(5, 4, 5))
SIZES, AXES, FIRST, OTHERS, SHAPE, WIDTHS, ORDER = (
    [7, 3],
    [0, 2],
    [0],
    [1],
    [4, 25],
    [[1, 2], [0, 1], [2, 0]],
    [2, 0, 1],
)

GLOBAL: list[Callable[[Any], Any]] = [
    lambda x: np.fft.fft2(x, s=SIZES, axes=AXES),
    lambda x: np.fft.ifft2(x, s=SIZES, axes=AXES),
    lambda x: np.fft.fftn(x, s=SIZES, axes=AXES),
    lambda x: np.fft.ifftn(x, s=SIZES, axes=AXES),
    lambda x: np.fft.rfft2(x, s=SIZES, axes=AXES),
    lambda x: np.fft.irfft2(x, s=SIZES, axes=AXES),
    lambda x: np.fft.rfftn(x, s=SIZES, axes=AXES),
    lambda x: np.fft.irfftn(x, s=SIZES, axes=AXES),
    lambda x: np.sin(np.tensordot(x, x, axes=[FIRST, FIRST])),
    lambda x: np.sin(np.reshape(x, SHAPE)),
    lambda x: np.sin(np.transpose(x, ORDER)),
    lambda x: np.sin(np.pad(x, WIDTHS)),
    lambda x: np.sin(np.moveaxis(x, FIRST, OTHERS)),
    lambda x: np.sin(np.roll(x, SIZES, AXES)),
]


def inside(x: Any) -> Any:
    sizes, axes = [7, 3], [0, 2]
    return np.fft.fft2(np.sin(x), s=sizes, axes=axes)


@pytest.mark.parametrize("fn", [*GLOBAL, inside], ids=lambda fn: f"{fn.__name__}-{fn.__code__.co_firstlineno}")
def test_settings_in_lists(fn: Any) -> None:
    ad.check_grads(fn, (CUBE,))
