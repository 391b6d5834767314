"""Operators of sets: what they give can be gone over, in place they change the set that others see."""

from __future__ import annotations

from typing import Any

import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(1.5)
def keys_of_either(x: Any) -> Any:
    p, q = {"a": x, "b": 2.0 * x}, {"b": 3.0 * x, "c": x}
    total = 0.0
    for k in set(p.keys()) | set(q.keys()):
        if k in p:
            total += p[k] ** 2
        if k in q:
            total += q[k]
    return total


@case(1.5)
def each_operator(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        p, q = {1, 2, i}, {i, 5}
        for k in p & q:
            total += k * x
        for k in sorted(p ^ q):
            total = total * 0.5 + k * x * x
        total += len(p - q) * x + sum(p | q) * x
    return total


@case(1.5)
def changed_in_place(x: Any) -> Any:
    p = {1, 2, 3, 4}
    q = p
    q |= {7, 8}
    q -= {1}
    q &= {2, 3, 7, 9}
    q ^= {3, 11}
    return x * sum(p) + x * x * len(p) + (x if p is q else 0.0)


@case(1.5)
def made_anew(x: Any) -> Any:
    p = {1, 2}
    q = p
    q = q | {3}
    return x * len(p) + x * x * len(q)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: sum({x, 2.0 * x} | {3.0}),
        lambda x: max({3.0} ^ {x, 2.0 * x}),
        lambda x: min({x, 2.0 * x} - {3.0}),
    ],
)
def test_derivatives_through_sets_are_refused(fn: Any) -> None:
    with pytest.raises(AutodiffError, match="derivative would pass through"):
        ad.grad(fn)(1.5)
