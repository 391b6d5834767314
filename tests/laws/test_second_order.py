"""Reverse rules have derivatives themselves: what ``grad(grad(f))`` needs of the table."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.laws.checker import Case, is_inexact
from tests.laws.second_order import check_second_order

pytestmark = pytest.mark.once

TOPICS = ["create", "fft", "index", "linalg", "norms", "padding", "products", "shape"]
# Of a complex matrix only the singular values have a derivative here, and their derivative holds singular vectors.
SPECTRAL = [np.linalg.svd, np.linalg.svdvals, np.linalg.cond]


def is_once_only(item: Case) -> bool:
    spectral = item.fn in SPECTRAL or item.fn is np.linalg.norm and item.args[1:] in [(2,), (-2,), ("nuc",)]
    return spectral and np.iscomplexobj(item.args[0]) and item.args[0].ndim >= 2


def is_narrowing(item: Case) -> bool:
    """A cast to float32 is too coarse for differences."""
    return any(a is np.float32 for a in item.args)


CASES = [
    item
    for topic in TOPICS
    for item in importlib.import_module(f"tests.laws.cases_{topic}").CASES
    if is_inexact(list(item.args)) and not is_narrowing(item)
]


@pytest.mark.parametrize("item", CASES, ids=str)
def test_second_order(item: Case) -> None:
    if is_once_only(item):
        with pytest.raises(NotImplementedError, match="singular"):
            check_second_order(item)
    else:
        check_second_order(item)
