"""What libraries keep beside their numbers: holders of the thread, Python's records, wrappers with others' names."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.linspace(0.1, 0.9, 5)
LOCAL = threading.local()


def as_numpy(like: Any) -> Callable[[Any], Any]:
    def wrap(fn: Any) -> Any:
        return functools.wraps(like)(fn)

    return wrap


@as_numpy(np.mean)
def mean(x: Any) -> Any:
    return np.sum(x**2) / len(x)


def test_a_wrapper_with_the_name_of_numpy() -> None:
    np.testing.assert_allclose(ad.grad(lambda x: 3.0 * mean(x))(X), 6 * X / 5, 1e-14)
    np.testing.assert_allclose(ad.grad(mean)(X), 2 * X / 5, 1e-14)
    assert ad.jvp(lambda x: 3.0 * mean(x), (X,), (np.ones(5),))[1] == pytest.approx(6 * X.sum() / 5)


class Backends:
    current = threading.local()
    usual = np

    @classmethod
    def get(cls) -> Any:
        return cls.current.__dict__.get("backend", cls.usual)


def test_a_backend_of_the_thread() -> None:
    derivative = ad.grad(lambda x: np.sum(Backends.get().sin(x)))
    np.testing.assert_allclose(derivative(X), np.cos(X), 1e-14)
    np.testing.assert_allclose(derivative(X), np.cos(X), 1e-14)


def scaled(x: Any) -> Any:
    return np.sum(x * LOCAL.scale) if hasattr(LOCAL, "scale") else np.sum(x)


def test_attributes_of_the_thread_are_read_at_every_call() -> None:
    derivative = ad.grad(scaled)
    elsewhere: list[float] = []
    for value in (3.0, 4.0, None, 5.0):
        if value is not None:
            LOCAL.scale = value
        elif hasattr(LOCAL, "scale"):
            del LOCAL.scale
        assert derivative(X)[0] == (value or 1.0)
    thread = threading.Thread(target=lambda: elsewhere.append(derivative(X)[0]))
    thread.start()
    thread.join()
    assert elsewhere == [1.0]
    assert derivative(X)[0] == 5.0


def test_a_holder_of_the_thread_is_written() -> None:
    holder = threading.local()

    def counted(x: Any) -> Any:
        holder.count = getattr(holder, "count", 0) + 1
        return np.sum(x**2) * holder.count

    derivative = ad.grad(counted)
    for count in (1, 2, 3):
        np.testing.assert_allclose(derivative(X), 2 * X * count, 1e-14)
        assert holder.count == count


def test_a_derivative_passes_through_a_holder_of_the_thread() -> None:
    def kept(x: Any) -> Any:
        LOCAL.x = x[0]
        return LOCAL.x * x[1]

    check_gradient(kept, [X])


RECORDS: dict[str, Callable[[Any], Any]] = {
    "compared": lambda x: np.sum(x**2) if sys.version_info >= (3, 8) else 0.0,
    "sliced": lambda x: np.sum(x**2) if sys.version_info[:2] >= (3, 8) else 0.0,
    "named": lambda x: np.sum(x**2) if sys.version_info.major == 3 else 0.0,
    "floats": lambda x: np.sum(x**2) if sys.float_info.epsilon < 1e-10 else 0.0,
}


@pytest.mark.parametrize("fn", RECORDS.values(), ids=RECORDS)
def test_records_of_python(fn: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(ad.grad(fn)(X), 2 * X, 1e-14)


def test_a_record_as_argument_is_known_by_its_value() -> None:
    derivative = ad.grad(lambda x, when: np.sum(x) * when.tm_year)
    for seconds in (0.0, 4e7):
        assert derivative(X, time.gmtime(seconds))[0] == time.gmtime(seconds).tm_year


def in_a_list(*items: Any) -> Any:
    if len(items) > 1:
        return [item for item in items]
    return items[0]


def test_a_returned_list_keeps_the_ranks_of_its_items() -> None:
    def fn(a: Any, m: Any) -> Any:
        a, b, m = in_a_list(a, 2.0 * a, m)
        return np.sum(np.einsum("i,ij,j->j", a, m, b))

    for n in (3, 130):
        a, m = np.linspace(0.1, 0.9, n), np.linspace(1.0, 2.0, n * n).reshape(n, n)
        np.testing.assert_allclose(ad.grad(fn)(a, m), 2 * (m + m.T) @ a, 1e-12)


def changed_list(x: Any, wanted: bool = True) -> Any:
    items = [x, 2.0 * x]
    if wanted:
        return items
    return []


def test_a_returned_list_that_has_a_name_is_one_list() -> None:
    def fn(x: Any) -> Any:
        items = changed_list(x)
        other = items
        other.append(x * x)
        return sum(np.sum(item) for item in items)

    np.testing.assert_allclose(ad.grad(fn)(X), 3.0 + 2 * X, 1e-14)


def displayed(x: Any, wanted: bool = True) -> Any:
    if wanted:
        return [x, 2.0 * x]
    return []


def test_a_returned_display_may_be_changed() -> None:
    def fn(x: Any) -> Any:
        items = displayed(x)
        other = items
        other.append(x * x)
        items[0] = items[0] * 3.0
        return sum(np.sum(item) for item in items) + len(other)

    np.testing.assert_allclose(ad.grad(fn)(X), 5.0 + 2 * X, 1e-14)
    assert fn(X) == pytest.approx(ad.value_and_grad(fn)(X)[0])
