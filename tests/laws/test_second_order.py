"""Reverse rules have derivatives themselves: what ``grad(grad(f))`` needs of the table."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.laws.checker import Case, is_inexact
from tests.laws.second_order import check_second_order

pytestmark = pytest.mark.once

TOPICS = ["create", "fft", "index", "linalg", "norms", "padding", "products", "shape"]


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
    check_second_order(item)
