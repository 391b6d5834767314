"""Complex functions along both sides of their branch cuts: which side is meant shows in the sign of a zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]

ALONG_THE_REAL_AXIS = [
    *(np.arcsin, np.arccos, np.arctan, np.arccosh, np.arcsinh, np.arctanh),
    *(np.sqrt, np.log, np.log1p, np.log2, np.log10),
    *(np.emath.arcsin, np.emath.arccos, np.emath.arctanh, np.emath.sqrt, np.emath.log),
]
ALONG_THE_IMAGINARY_AXIS = [np.arcsinh, np.arctan]
STEP = 1e-6


def above(x: Any) -> Any:
    return x + 0j


def below(x: Any) -> Any:
    return np.conj(x + 0j)


def right(x: Any) -> Any:
    return np.conj(x + 0j) * 1j  # its real part is x * 0 + 0, which is never -0


def left(x: Any) -> Any:
    return -right(-x)


CASES = [(fn, side) for fn in ALONG_THE_REAL_AXIS for side in (above, below)]
CASES += [(fn, side) for fn in ALONG_THE_IMAGINARY_AXIS for side in (right, left)]


@pytest.mark.parametrize("at", [1.3, -1.3, 0.4, -0.4])
@pytest.mark.parametrize(("fn", "side"), CASES)
def test_both_sides_of_a_cut(fn: Callable[[Any], Any], side: Callable[[Any], Any], at: float) -> None:
    def program(x: Any) -> Any:
        y = fn(side(x))
        return 0.3 * np.real(y) + 0.7 * np.imag(y)

    def total(x: Any) -> Any:
        return np.sum(program(x))

    expected = (program(at + STEP) - program(at - STEP)) / (2 * STEP)
    assert ad.grad(program)(at) == pytest.approx(expected, rel=1e-6)
    assert ad.grad(total)(np.full(3, at)) == pytest.approx(np.full(3, expected), rel=1e-6)
    assert ad.jvp(program, (at,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
