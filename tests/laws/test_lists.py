"""Rows through the compiler with lists and tuples in the place of arrays, as NumPy and SciPy read them."""

from __future__ import annotations

import importlib
from collections import Counter
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.laws.checker import Call, Case, full_name, is_inexact
from tests.laws.programs import spelled
from tests.laws.test_settings import MODULES
from tests.random.oracle import forget, load

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]

CASES_OF_ONE = 2  # calls of one function that are tried
# The run time's own functions are given arrays; Python's operators are another thing for lists.
LEFT_OUT = ("autodiff_sct", "operator", "np.ndarray")

taken: Counter[Any] = Counter()
CASES: list[Case] = []
for module in MODULES:
    for each in getattr(importlib.import_module(module), "CASES", []):
        if taken[each.fn] < CASES_OF_ONE and not full_name(each.fn).startswith(LEFT_OUT):
            taken[each.fn] += 1
            CASES.append(each)


def as_tuple(value: Any) -> Any:
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def as_list(x: np.ndarray, kind: type) -> Any:
    return x.tolist() if kind is list else as_tuple(x.tolist())


def program(item: Case, active: int, listed: int | None, kind: type) -> Any:
    """A function of one array of a call, of which another is written as a list in its text."""
    words, constants = spelled(item, [active], "k")
    if listed is not None:
        name = f"k_{listed}"
        text = repr(as_list(constants.pop(name), kind))
        words = words.replace(name, text.replace("nan", "np.nan").replace("inf", "np.inf"), 1)
    y = item.fn(*deepcopy(item.args), **deepcopy(item.kwargs))
    parts = [f"y[{k}]" for k, part in enumerate(y) if is_number(part)] if isinstance(y, (tuple, list)) else ["y"]
    result = " + ".join(f"np.sum(np.sin(np.abs({part})))" for part in parts) or "0.0"
    function = load(f"import numpy as np\n\n\ndef program(x{active}):\n    y = fn({words})\n    return {result}\n")
    function.__globals__.update(constants, fn=item.fn)
    return function


def is_number(part: Any) -> bool:
    return is_inexact(part) and not isinstance(part, (list, tuple))


def derivatives(function: Any, x: Any, direction: Any) -> tuple[np.ndarray, Any]:
    gradient = ad.grad(function)(deepcopy(x))
    assert type(gradient) is type(x)
    return np.asarray(gradient), ad.jvp(function, (deepcopy(x),), (direction,))[1]


def compare(item: Case, active: int, listed: int | None, kind: type) -> None:
    """Compare the derivatives of a call of lists with those of the same call of arrays."""
    x = Call(item.fn, item.args, item.kwargs).inputs()[active]
    direction = np.cos(np.arange(1.0, x.size + 1)).reshape(x.shape)
    of_lists, of_arrays = program(item, active, listed, kind), program(item, active, None, kind)
    given = (x, direction) if listed is not None else (as_list(x, kind), as_list(direction, kind))
    try:
        try:
            of_lists(deepcopy(given[0]))
        except (TypeError, AttributeError, ValueError):
            return  # the function itself takes no lists here
        try:
            wanted = derivatives(of_arrays, x, direction)
        except ad.AutodiffError:
            return  # there is no derivative
        for got, expected in zip(derivatives(of_lists, *given), wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-10)
    finally:
        forget(of_lists)
        forget(of_arrays)


def arrays_of(item: Case) -> dict[int, np.ndarray]:
    inputs = Call(item.fn, item.args, item.kwargs).inputs()
    return {p: x for p, x in inputs.items() if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind in "fci"}


def is_active(x: np.ndarray) -> bool:
    return x.dtype == np.float64


@pytest.mark.parametrize("item", CASES, ids=str)
def test_differentiated_lists(item: Case) -> None:
    for k, (place, x) in enumerate(arrays_of(item).items()):
        if is_active(x):
            compare(item, place, None, (list, tuple)[k % 2])


SEVERAL = [item for item in CASES if len(arrays := arrays_of(item)) > 1 and any(map(is_active, arrays.values()))]


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("item", SEVERAL, ids=str)
def test_constant_lists(item: Case, kind: type) -> None:
    arrays = arrays_of(item)
    for listed in arrays:
        active = [place for place, x in arrays.items() if place != listed and is_active(x)]
        for place in active[:1]:
            compare(item, place, listed, kind)
