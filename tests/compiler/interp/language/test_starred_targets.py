"""``a, *rest = items``: what the star takes is a list, also where it takes one item or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(V)
def one_array(x: Any) -> Any:
    y, z = x * 1, x * 2
    y, *rest = [y, z]
    return np.sum(y) * len(rest) + np.sum(y * rest[0])


@case(V)
def one_array_of_a_tuple(x: Any) -> Any:
    *rest, last = (x * 1, x * 2)
    total = 0.0
    for v in rest:
        total += np.sum(v * v)
    rest.append(last)
    return total * len(rest)


@case(V)
def one_number(x: Any) -> Any:
    first, *middle, last = [x[0], x[1], x[2]]
    return first * last * len(middle) * middle[0]


@case(V)
def none_and_several(x: Any) -> Any:
    first, *none = (x[0],)
    second, *several = (x[1], x[2], x[3])
    return first * second * several[1] * len(several) + len(none)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_too_few_items_raise_as_in_python() -> None:
    def program(x: Any) -> Any:
        first, *_, last = (x[0],)
        return first * last

    with pytest.raises(ValueError, match="not enough values to unpack"):
        ad.grad(program)(V)
