"""Rows through the compiler with lists in the place of arrays, as NumPy reads them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from autodiff_sct.api import grad
from autodiff_sct.errors import AutodiffError
from tests.laws.programs import Program, load
from tests.laws.test_programs import PROGRAMS as EVERY

pytestmark = pytest.mark.once

CASES_OF_ONE = 2  # calls of one function that are tried
# The run time's own functions are given arrays; Python's operators are another thing for lists.
LEFT_OUT = ("autodiff_sct", "_operator")

taken: Counter[Any] = Counter()
PROGRAMS: list[Program] = []
for each in EVERY:
    fn = each.item.fn
    if taken[fn] < CASES_OF_ONE and not (getattr(fn, "__module__", None) or "").startswith(LEFT_OUT):
        taken[fn] += 1
        PROGRAMS.append(each)


@pytest.fixture(scope="module", autouse=True)
def _functions(tmp_path_factory: pytest.TempPathFactory) -> None:
    load(PROGRAMS, tmp_path_factory.mktemp("programs") / "programs_of_lists.py")


def as_tuple(value: Any) -> Any:
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def is_replaced(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype == np.float64


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("p", PROGRAMS, ids=lambda p: str(p.item))
def test_gradient(p: Program, kind: type) -> None:
    arrays = p.args
    lists = [(x.tolist() if kind is list else as_tuple(x.tolist())) if is_replaced(x) else x for x in arrays]
    if not any(map(is_replaced, arrays)):
        return
    try:
        p.function(*lists)
    except (TypeError, AttributeError, ValueError):
        return  # NumPy itself takes no lists here
    every = tuple(range(len(arrays)))
    try:
        wanted = grad(p.function, every)(*arrays)
    except AutodiffError:
        return  # there is no derivative with respect to some of these
    got = grad(p.function, every)(*lists)
    for g, w, x in zip(*((got, wanted) if len(arrays) > 1 else ((got,), (wanted,))), lists, strict=True):
        assert type(g) is type(x)
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-9, atol=1e-12)
