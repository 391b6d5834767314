"""``reversed`` of lists that only the run knows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(V)
def over_items(x: Any) -> Any:
    return sum(x[0] * v for v in reversed(json.loads("[1.0, 2.0]")))


@case(V)
def beside_others(x: Any) -> Any:
    return sum(a * b for a, b in zip(reversed(json.loads("[1.0, 2.0]")), x))


@case(V)
def with_places(x: Any) -> Any:
    return sum(k * b * x[0] for k, b in enumerate(reversed(json.loads("[1.0, 2.0]"))))


@case(V)
def as_a_list(x: Any) -> Any:
    return x[0] * list(reversed(json.loads("[1.0, 5.0]")))[0]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)
