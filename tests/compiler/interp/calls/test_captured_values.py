"""What a function that is differentiated inside the program captures: tuples or None, slices, ranges, wrappers."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


class Holder:
    best: Any = None


@case(V, -V)
def tuple_or_none(x: Any) -> Any:
    best = None
    if x[0] > 0:
        best = ((x * 2, 1.0), x[1])

    def inner(z: Any) -> Any:
        return np.sum(z * z * best[0][0]) * best[1] if best is not None else np.sum(z * z)

    return np.sum(ad.grad(inner)(x))


@case(V)
def default_that_may_be_none(x: Any) -> Any:
    best = None
    for v in x:
        if best is None or v > best[0]:
            best = (v, v * 2)

    def inner(z: Any, b: Any = best) -> Any:
        return np.sum(z * z) * b[1]

    return np.sum(ad.grad(inner)(x)) + np.sum(ad.grad(functools.partial(lambda b, z: np.sum(z * z) * b[0], best))(x))


@case(V, -V)
def field_that_may_be_none(x: Any) -> Any:
    h = Holder()
    h.best = (x * 3, 1.0) if x[0] > 0 else None

    def inner(z: Any) -> Any:
        return np.sum(z * z) * (np.sum(h.best[0]) if h.best is not None else 2.0)

    return np.sum(ad.grad(inner)(x))


@case(V)
def slice_and_range(x: Any) -> Any:
    some, numbers = slice(0, int(np.sum(x > 0))), range(int(np.sum(x > 0)))

    def inner(z: Any) -> Any:
        return np.sum(z[some] ** 3) + sum(np.sum(z * z) * k for k in numbers)

    return np.sum(ad.grad(inner)(x))


@case(V)
def manager_and_cache(x: Any) -> Any:
    @contextlib.contextmanager
    def doubled(a: Any) -> Any:
        a *= 2
        yield a * x
        a /= 2

    @functools.lru_cache
    def f(n: int) -> Any:
        return np.sum(x) * n if n < 2 else f(n - 1) * f(n - 2)

    def inner(z: Any) -> Any:
        z = z * 1
        with doubled(z) as b:
            t = np.sum(b)
        return t * np.sum(z) * f(4)

    return np.sum(ad.grad(inner)(x)) * f(3)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_iterators_are_refused() -> None:
    def program(x: Any) -> Any:
        walk = iter([x, x * 2])
        return np.sum(ad.grad(lambda z: np.sum(z * z * next(walk)))(x))

    with pytest.raises(ad.AutodiffError, match="an iterator from outside"):
        ad.grad(program)(V)
