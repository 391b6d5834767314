"""What lives outside a function and is written: a reverse sweep that needs what was there is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AliasError

X = np.array([0.3, -0.4, 0.7])
W = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def anew() -> None:
    W[:] = 1.0, 2.0, 3.0


def read_before(x):
    total = np.sum(x * W)
    W[0] += 1.0
    return total


def read_in_each_step(x):
    total = 0.0
    for i in range(3):
        W[0] = i + 5.0
        total = total + np.sum(x * W)
    return total


def read_in_a_branch(x):
    total = np.sum(x**2 * W) if x[0] > 0 else 0.0
    W[1] = 9.0
    return total


def sorted_afterwards(x):
    y = np.sin(x) * W
    W[::-1].sort()
    return np.sum(y)


def copied_over(x):
    y = np.sin(x) * W
    np.copyto(W, 3.0)
    return np.sum(y)


@pytest.mark.parametrize("fn", [read_before, read_in_each_step, read_in_a_branch, sorted_afterwards, copied_over])
def test_overwritten_content_is_not_taken_for_what_it_was(fn: Callable[..., Any]) -> None:
    with pytest.raises(AliasError, match="old content is needed"):
        ad.grad(fn)(X)
    np.testing.assert_array_equal(W, [1.0, 2.0, 3.0])


def read_afterwards(x):
    W[1] = 9.0
    return np.sum(x * W)


def read_by_nobody(x):
    total = np.sum(x + W)
    W[1] = 9.0
    return total


@pytest.mark.parametrize(("fn", "expected"), [(read_afterwards, [1.0, 9.0, 3.0]), (read_by_nobody, [1.0, 1.0, 1.0])])
def test_a_write_before_all_reads_is_no_obstacle(fn: Callable[..., Any], expected: list[float]) -> None:
    np.testing.assert_array_equal(ad.grad(fn)(X), expected)
    np.testing.assert_array_equal(W, [1.0, 9.0, 3.0])


# -- defaults are the function's own


def counted(x, calls=[0]):
    calls[0] += 1
    return x * calls[0]


def logged(x, log=[], factor=2.0):
    log.append(factor)
    return x * sum(log)


def scaled(x, w=np.ones(2), /, factor=2.0):
    w += 1.0
    return x * w[0] * factor


def remembered(x, *, seen={}):
    if "first" not in seen:
        seen["first"] = 2.0
    else:
        seen["first"] = 3.0
    return x * seen["first"]


class Count:
    def scaled(self, x, other=None, w=np.zeros(1)):
        w[0] += 1.0
        return x * w[0]


@pytest.mark.parametrize(
    ("fn", "factors"),
    [
        (counted, (1, 2, 3)),
        (logged, (2, 4, 6)),
        (scaled, (4, 6, 8)),
        (remembered, (2, 3, 3)),
        (Count().scaled, (1, 2, 3)),
    ],
)
def test_a_default_that_is_written_stays_so_for_the_next_call(fn: Callable[..., Any], factors: tuple[int, ...]) -> None:
    found = [ad.value_and_grad(fn)(0.5) for _ in range(2)]
    assert found == [(0.5 * factor, float(factor)) for factor in factors[:2]]
    assert fn(0.5) == 0.5 * factors[2]


def test_a_default_in_the_middle() -> None:
    def fn(x, w=[1.0, 2.0], factor=2.0, *rest, **named):
        return x * w[1] * factor * named.get("more", 1.0)

    assert ad.grad(fn)(0.5) == 4.0
    assert ad.grad(fn)(0.5, factor=3.0, more=5.0) == 30.0
    assert ad.grad(fn)(0.5, [1.0, 1.0]) == 2.0


def test_a_default_is_read_at_the_call() -> None:
    def fn(x, w=np.ones(2)):
        return x * w[0]

    gradient = ad.grad(fn)
    assert gradient(0.5) == 1.0
    fn.__defaults__[0][0] = 5.0
    assert gradient(0.5) == 5.0
    fn.__defaults__ = (np.array([6.0]),)
    assert gradient(0.5) == 6.0
    fn.__defaults__ = ([7.0],)
    assert gradient(0.5) == 7.0
