"""Results of which only the run tells what they are: no gradient of zeros is returned for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V


class Holder:
    def __init__(self, w: Any) -> None:
        self.w = w


def tuple_or_none(x: Any) -> Any:
    best = None
    if x[0] > 0:
        best = (x * 1, 2.0)
    return best


def tuple_or_none_in_a_dict(x: Any) -> Any:
    return {"sum": np.sum(x), "best": tuple_or_none(x)}


def tuple_or_none_in_a_list(x: Any) -> Any:
    return [np.sum(x), tuple_or_none(x)]


def tuple_or_number(x: Any) -> Any:
    best = tuple_or_none(x)
    return (np.sum(x), best) if best is None else (np.sum(x), x[1] * 5)


def attribute_on_one_path(x: Any) -> Any:
    h = Holder(x * 1)
    if x[0] > 0:
        h.k = x * 3  # type: ignore[attr-defined]
    return h


@pytest.mark.parametrize(
    "fn",
    [tuple_or_none, tuple_or_none_in_a_dict, tuple_or_none_in_a_list, tuple_or_number, attribute_on_one_path],
)
def test_refused(fn: Any) -> None:
    for x in (V, -V):
        with pytest.raises(ad.AutodiffError):
            ad.grad(fn)(x)
        with pytest.raises(ad.AutodiffError):
            ad.jvp(fn, (x,), (x,))
