"""Arrays that a loop makes anew in each step: what is read of the step before stays, and nothing is put back for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)


class Field:
    def __init__(self, u: Any) -> None:
        self.u = u

    def step(self, k: float) -> None:
        new = self.u.copy()
        new[1:-1] = self.u[1:-1] + k * self.u[2:] * self.u[:-2]
        self.u = new


@case((V, 0), (V, 3))
def swapped(u: Any, n: int) -> Any:
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * u[2:] * u[:-2]
        u = new
    return np.sum(u**2)


@case((V, 0), (V, 3))
def by_items(u: Any, n: int) -> Any:
    for _ in range(n):
        new = np.zeros_like(u)
        for i in range(1, len(u) - 1):
            new[i] = u[i - 1] * u[i + 1]
        new[0] = u[0]
        u = new
    return np.sum(u**2)


@case((V, 3))
def items_in_the_plane(x: Any, n: int) -> Any:
    u = np.outer(x, x + 1.0)
    for _ in range(n):
        new = np.zeros_like(u)
        for i in range(1, len(u) - 1):
            for j in range(1, len(u) - 1):
                new[i, j] = u[i - 1, j] * u[i, j + 1] + u[i, j]
        u = new
    return np.sum(u**2)


@case((V, 3))
def read_before_it_is_written(u: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        new = u * 1.5
        total += np.sum(new**2)
        new[1:] = new[:-1] * u[1:]
        u = new
    return total + np.sum(u**3)


@case((V, 3))
def part_taken_before_it_is_written(u: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        new = np.sin(u)
        part = new[1:]
        total += np.sum(part * part)
        new[1:] *= 0.5 * u[:-1]
        total += np.sum(part * part)
        u = new
    return total


@case((V, 3))
def each_item_written_from_the_one_before(u: Any, n: int) -> Any:
    for _ in range(n):
        new = np.cos(u)
        for i in range(1, len(new)):
            new[i] = new[i - 1] * u[i] + new[i] ** 2
        u = new
    return np.sum(u**2)


@case((V, 3))
def in_a_list(u: Any, n: int) -> Any:
    total, history = 0.0, []
    for i in range(n):
        new = u * 2.0
        history.append(new)
        total += history[-1][0] ** 2
        new[0] = u[1] * i
        total += history[0][0] ** 2 * history[i][1]
        u = new
    return total


@case((V, 3))
def in_a_dict_and_a_tuple(u: Any, n: int) -> Any:
    total, kept = 0.0, {}
    for i in range(n):
        new = u * 2.0
        kept["last"] = new
        pair = (new, u)
        total += kept["last"][0] ** 2 + pair[0][1] ** 2
        new[:2] = u[1:3] * i
        total += kept["last"][0] ** 2 + pair[0][1] ** 2
        u = new
    return total


@case((V, 4))
def two_steps_back(u: Any, n: int) -> Any:
    before = u * 0.5
    for _ in range(n):
        new = u.copy()
        new[1:-1] = 2 * u[1:-1] * before[1:-1] + u[2:] * before[:-2]
        before, u = u, new
    return np.sum(u * before)


@case((V, 4))
def left_where_it_is_in_some_steps(u: Any, n: int) -> Any:
    for i in range(n):
        new = u.copy()
        new[1:] = u[:-1] * u[1:]
        if i % 2 == 0:
            u = new
        else:
            u = u * 0.5
    return np.sum(u**2)


@case((V, 4))
def written_on_one_side(u: Any, n: int) -> Any:
    for i in range(n):
        new = u * u
        if i % 2 == 0:
            new[1:] = new[:-1] * u[1:]
        u = new * 0.5
    return np.sum(u**2)


@case((V, 3))
def carried_and_written_later(u: Any, n: int) -> Any:
    for _ in range(n):
        new = u * 1.5
        new[0] = u[1] * u[2]
        u = new
        v = u * u
        u[1] = v[2] * u[0]
    return np.sum(u**2)


@case((V, 3))
def written_at_the_start_of_the_next_step(u: Any, n: int) -> Any:
    u = u * 1.0
    for _ in range(n):
        u[0] = u[1] * u[0]
        new = np.sin(u)
        new[1] = u[0] * u[2]
        u = new
    return np.sum(u**2)


@case((V, 3))
def buffer_of_the_outer_loop(u: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        buffer = np.zeros_like(u)
        for k in range(3):
            total += np.sum(buffer**2 * u)
            buffer[:] = u * (k + 1.0) * buffer[::-1] + u
        u = buffer
    return total


@case((V, 3))
def view_of_what_was(u: Any, n: int) -> Any:
    total, tail = 0.0, u[1:]
    for _ in range(n):
        new = u * 1.5
        total += np.sum(tail * tail * new[1:])
        new[1:] = u[:-1] * tail
        tail = new[1:]
        u = new
    return total


@case((V, 3))
def perhaps_a_view(u: Any, n: int) -> Any:
    for _ in range(n):
        new = np.reshape(u * 2.0, (-1,))
        flat = np.ravel(new)
        new[0] = flat[1] * u[0]
        u = flat * 0.5
    return np.sum(u**2)


@case((V, 3))
def windows(u: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        new = u * u
        for j in range(3):
            first = np.lib.stride_tricks.sliding_window_view(new, 2)[:, 0]
            total += np.sum(first**2)
            new[j] = new[j] * first[j] * u[j + 1]
        u = new
    return total + np.sum(u**2)


@case((V, 3))
def of_an_object(u: Any, n: int) -> Any:
    field = Field(u)
    for _ in range(n):
        field.step(0.3)
    return np.sum(field.u**2)


@case((V, 5))
def until_it_is_large(u: Any, n: int) -> Any:
    for _ in range(n):
        new = u.copy()
        new[1:] = u[1:] * (1.0 + u[:-1] ** 2)
        if np.sum(new) > 8.0:
            break
        u = new
    return np.sum(u * new)


@case((V, 3))
def rows_of_a_new_matrix(u: Any, n: int) -> Any:
    for _ in range(n):
        table = np.outer(u, u)
        for row in table:
            row[1:] = row[:-1] * u[1:]
        u = np.sum(table, axis=0) * 0.1
    return np.sum(u**2)


@case((V, 3))
def two_fields(u: Any, n: int) -> Any:
    v = u * 0.5
    for _ in range(n):
        a, b = u.copy(), v.copy()
        a[1:] = u[1:] + 0.1 * v[1:] * u[:-1]
        b[:-1] = v[:-1] - 0.1 * u[1:] * v[:-1]
        u, v = a, b
    return np.sum(u * v)


@case((V, 3))
def list_filled_before(x: Any, n: int) -> Any:
    rows = []
    for k in range(n):
        rows.append(x * (k + 1.0))
    total = 0.0
    for k in range(n):
        total += np.sum(rows[k] * rows[k - 1] ** 2)
    return total


@case((V, 3))
def list_that_still_grows(x: Any, n: int) -> Any:
    numbers = [x[0]]
    total = 0.0
    for k in range(n):
        total += numbers[k] ** 2 * numbers[-1]
        numbers.append(numbers[k] * x[k])
        numbers[0] = numbers[0] * x[1]
    return total + numbers[-1] ** 2


@case((V, 3))
def list_written_between_two_loops(x: Any, n: int) -> Any:
    numbers = [v * v for v in x]
    total = 0.0
    for v in numbers:
        total += v**3
    numbers[1] = numbers[0] * numbers[2]
    for k in range(n):
        total += numbers[k] ** 2
    numbers.pop()
    for v in numbers:
        total += np.sin(v)
    return total


@case((V, 2))
def list_filled_again_in_each_step(x: Any, n: int) -> Any:
    numbers, total = [], 0.0
    for step in range(n):
        numbers.clear()
        for v in x:
            numbers.append(v * v * (step + 1.0))
        for v in numbers:
            total += v**3
    return total


@case((V, 3))
def array_written_before_the_loop(x: Any, n: int) -> Any:
    weights = np.zeros(4)
    weights[0] = x[1] * x[2]
    weights[1:] = x[:-1] ** 2
    total, y = 0.0, x
    for _ in range(n):
        y = y * (2.0 * weights)
        total += np.sum(np.sin(y) * weights[0])
    return total


@case((V, 3))
def dicts_in_a_list(x: Any, n: int) -> Any:
    records = [{"place": v, "speed": v * v, "steps": k} for k, v in enumerate(x)]
    for _ in range(n):
        for r in records:
            r["place"] = r["place"] + 0.1 * r["speed"]
            r["speed"] = r["speed"] * np.cos(r["place"])
    return sum(r["place"] ** 2 * r["steps"] for r in records)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullback_twice(fn: Any, args: Any) -> None:
    _, pull = ad.vjp(lambda u: fn(u, *args[1:]), args[0])
    expected = ad.grad(fn)(*args)
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], expected, rtol=1e-12)


def test_the_old_field_is_kept_and_nothing_is_put_back() -> None:
    source = ad.adjoint_source(swapped, np.ones(7), 3)
    assert "old_new" not in source
    assert source.count("append") == 1
    assert "saved_u.append(u)" in source


def test_lists_of_items_are_kept_whole() -> None:
    source = ad.adjoint_source(by_items, np.ones(7), 3)
    assert source.count("append") == 1


def test_a_list_that_has_been_filled_is_read_again() -> None:
    source = ad.adjoint_source(list_filled_before, np.ones(4), 3)
    assert "saved" not in source
    source = ad.adjoint_source(dicts_in_a_list, np.ones(4), 3)
    assert "for r in reversed(records):" in source
