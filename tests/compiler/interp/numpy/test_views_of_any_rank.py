"""Views and copies of arrays whose rank only the run tells, written after they were taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

TWICE = np.array([0, 0, 1])
PARTS: dict[str, Callable[[Any], Any]] = {
    "all": lambda q: q,
    "T": lambda q: q.T,
    "transpose": lambda q: q.transpose(),
    "swapaxes": lambda q: np.swapaxes(q, 0, -1),
    "moveaxis": lambda q: np.moveaxis(q, 0, -1),
    "expand_dims": lambda q: np.expand_dims(q, 0),
    "squeeze": lambda q: q.squeeze(),
    "real": lambda q: np.real(q),
    "asarray": lambda q: np.asarray(q),
    "atleast_2d": lambda q: np.atleast_2d(q),
    "view": lambda q: q.view(),
    "reshape": lambda q: q.reshape(-1),
    "ravel": lambda q: q.ravel(),
    "ellipsis": lambda q: q[...],
    "first": lambda q: q[..., 0],
    "rest": lambda q: q[1:],
    "steps": lambda q: q[::2],
    "new axis": lambda q: q[None],
    "rows": lambda q: q[TWICE],
    "rows and all": lambda q: q[TWICE, ...],
    "rows of a list": lambda q: q[[0, 1, 0]],
    "mask": lambda q: q[q > 0.5],
    "copy": lambda q: q.copy(),
    "np.copy": lambda q: np.copy(q),
    "flatten": lambda q: q.flatten(),
    "astype": lambda q: q.astype(float),
}


@pytest.mark.parametrize("length", [1, 3])
@pytest.mark.parametrize("part", [*PARTS])
def test_a_part_is_written_after_its_base_and_before(part: str, length: int) -> None:
    take = PARTS[part]

    def program(x: Any) -> Any:
        table = np.zeros((1, 3, x.size))
        table[0, 0], table[0, 1] = x, x**2
        taken = take(table.squeeze())
        taken *= np.sin(taken) + 2
        table[0, 2] = x**3
        taken[...] += table[0, 1, 0]
        return np.sum(taken**2) + np.sum(table**3)

    x = np.arange(float(length)) + 0.6
    value, gradient = ad.value_and_grad(program)(x)
    assert value == program(x)
    steps = 1e-6 * np.eye(length)
    expected = [(program(x + step) - program(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_squeezed_array_without_axes_stays_an_array(rows: int) -> None:
    def program(x: Any) -> Any:
        table = np.zeros((rows, 1))
        table[0, 0] = x
        squeezed = table.squeeze()
        number = squeezed + 1  # a scalar where no axis is left
        number *= 2
        squeezed *= x
        return np.sum(number) + x * squeezed.sum() + table[0, 0]

    expected = (program(0.3 + 1e-6) - program(0.3 - 1e-6)) / 2e-6
    assert ad.grad(program)(0.3) == pytest.approx(expected, rel=1e-7)
