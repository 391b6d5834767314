"""One array in the place of a list of arrays: its items are joined, along its first axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

JOINS = [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.atleast_2d]
SHAPES = [(1,), (3,), (130,), (1, 3), (3, 1), (3, 2), (2, 3, 2), (2, 1, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("fn", JOINS, ids=lambda fn: fn.__name__)
def test_joined_array(fn: Any, shape: tuple[int, ...]) -> None:
    def program(x: Any) -> Any:
        return np.sin(fn(x))

    x = np.random.default_rng(0).normal(size=shape)
    try:
        fn(x)
    except ValueError:
        with pytest.raises((ValueError, ad.AutodiffError)):
            ad.vjp(program, x)
        return
    ad.check_grads(program, (x,))
    assert ad.vjp(program, x)[1](np.ones_like(fn(x)))[0].shape == shape
