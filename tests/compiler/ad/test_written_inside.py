"""Recursive functions that write what a list, a dict or a table of objects holds, beside the items that others hold."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AliasError

pytestmark = pytest.mark.once


class Account:
    """Keeps a total and what it was, as optimisers and meters do."""

    def __init__(self) -> None:
        self.total = 0.0
        self.history: list[Any] = []

    def add(self, amount: Any, times: int) -> Account:
        if times == 0:
            return self
        self.total += amount
        self.history.append(self.total * amount)
        return self.add(amount * 0.9, times - 1)


def histories_of_objects(x):
    accounts = [Account() for _ in x]
    for account, amount in zip(accounts, x):
        account.add(amount, 30)
    return sum(account.total * account.history[-1] for account in accounts)


def histories_by_number(x):
    accounts = [Account() for _ in x]
    for account, amount in zip(accounts, x):
        account.add(amount, len(x))
    return sum(account.total * account.history[0] for account in accounts)


def scaled_by_key(parts, depth):
    if depth == 0:
        return 0.0
    parts["a"][0] = parts["a"][0] * 0.9
    return parts["a"][0] * depth + scaled_by_key(parts, depth - 1)


def arrays_in_dict(x):
    parts = {"a": x * 1.0, "b": x * 2.0}
    before = parts["a"][0] ** 2
    return scaled_by_key(parts, 30) + parts["a"][-1] * parts["b"][0] + before


def scaled_rows(rows, depth):
    if depth == 0:
        return 0.0
    rows[depth % 2][0] = rows[depth % 2][0] * 0.9
    return rows[0][0] * depth + scaled_rows(rows, depth - 1)


def rows_of_a_list(x):
    rows = [x * 1.0, x * 2.0]
    return scaled_rows(rows, 30) + rows[0][-1] * rows[1][0]


def row_held_beside(x):
    rows = [x * 1.0, x * 2.0]
    row = rows[0]
    before = row[0] ** 2
    return scaled_rows(rows, 30) + row[0] ** 2 * rows[1][0] + before


def first_row_given(rows, row, depth):
    if depth == 0:
        return 0.0
    row[0] = row[0] * 0.9
    return rows[0][0] * depth + first_row_given(rows, row, depth - 1)


def row_given_beside_its_list(x):
    rows = [x * 1.0, x * 2.0]
    return first_row_given(rows, rows[0], 30)


def rows_given(rows, row, depth):
    if depth == 0:
        return 0.0
    rows[0][0] = rows[0][0] * 0.9
    return row[0] * depth + rows_given(rows, row, depth - 1)


def list_given_beside_its_row(x):
    rows = [x * 1.0, x * 2.0]
    return rows_given(rows, rows[0], 30)


def rows_made(v, depth):
    if depth == 0:
        return [[v, v * 2.0, v * 3.0]]
    return rows_made(v * 0.9, depth - 1)


def lengths_of_rows(x):
    rows = rows_made(x[0], 10 * len(x))
    return sum(sum(row) * len(list(row)) for row in rows) + len(rows[0]) * rows[0][2] * x[-1]


def groups_made(v, depth):
    if depth == 0:
        return [("a", [v, v * 2.0, v**2])]
    return groups_made(v * 0.9, depth - 1)


def lists_beside_names(x):
    return sum(len(group) * group[2] + len(list(group)) * group[0] for _, group in groups_made(x[0], 10 * len(x)))


def arrays_made(v, depth):
    if depth == 0:
        return [v * 1.0, v * 2.0]
    return arrays_made(v * 0.9, depth - 1)


def item_of_a_result_written(x):
    rows = arrays_made(x, 10 * len(x))
    row, same = rows[0], rows[0]
    before = row[0] ** 2
    row[0] = row[0] ** 2
    return np.sum(same) + before + rows[0][0] * rows[1][0]


def shrunk(x, depth):
    if depth == 0:
        return x
    return shrunk(x * 0.9 + 0.01, depth - 1)


def argument_written_in_a_loop(x):
    total = 0.0
    for k in range(len(x)):
        y = x * (k + 1.0)
        y[0] = y[0] ** 2
        total = total + np.sum(shrunk(y, 10 * len(x)) ** 2)
    return total


RIGHT = [
    histories_of_objects,
    histories_by_number,
    arrays_in_dict,
    rows_of_a_list,
    row_held_beside,
    lengths_of_rows,
    lists_beside_names,
    item_of_a_result_written,
    argument_written_in_a_loop,
]
WRITTEN_AFTER = [item_of_a_result_written, argument_written_in_a_loop]
REFUSED = [row_given_beside_its_list, list_given_beside_its_row]


def differences(fn: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(fn(x + step) - fn(x - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("fn", RIGHT)
@pytest.mark.parametrize("size", [1, 3, 30])
def test_derivatives(fn: Callable[..., Any], size: int) -> None:
    x, along = np.linspace(0.4, 1.2, size), np.cos(np.arange(size))
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x)
    np.testing.assert_allclose(gradient, expected := differences(fn, x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (along,))[1], expected @ along, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fn", [fn for fn in RIGHT if fn not in WRITTEN_AFTER])
@pytest.mark.parametrize("size", [1, 3, 30])
def test_pullbacks(fn: Callable[..., Any], size: int) -> None:
    x = np.linspace(0.4, 1.2, size)
    _, pull = ad.vjp(fn, x)
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], ad.grad(fn)(x), rtol=1e-12)


@pytest.mark.parametrize("fn", WRITTEN_AFTER)
def test_no_pullback_of_what_is_written_after_the_call(fn: Callable[..., Any]) -> None:
    with pytest.raises(AliasError, match="memory that a recursive function keeps"):
        ad.vjp(fn, np.linspace(0.4, 1.2, 30))


@pytest.mark.parametrize("fn", REFUSED)
@pytest.mark.parametrize("size", [1, 3])
def test_a_list_beside_its_own_item(fn: Callable[..., Any], size: int) -> None:
    x = np.linspace(0.4, 1.2, size)
    with pytest.raises(AliasError):
        ad.grad(fn)(x)
    with pytest.raises(AliasError):
        ad.jvp(fn, (x,), (x,))


class Dual:
    def __init__(self, value: Any, slope: Any = 0.0) -> None:
        self.value = value
        self.slope = slope


def power(dual, depth):
    if depth == 0:
        return Dual(1.0)
    rest = power(dual, depth - 1)
    return Dual(dual.value * rest.value * 0.9, dual.slope * rest.value + dual.value * rest.slope)


def number_in_an_object(x, y):
    result = power(Dual(x, y), 40)
    return result.value * result.slope


def decayed(numbers, depth):
    if depth == 0:
        return 0.0
    numbers.append(numbers[-1] * 0.9)
    return decayed(numbers, depth - 1)


def number_put_first(x, y):
    numbers = []
    numbers.append(x)
    decayed(numbers, 40)
    return numbers[-1] * numbers[3] * y


@pytest.mark.parametrize("fn", [number_in_an_object, number_put_first])
def test_the_last_number_taken_out_of_a_list_is_returned(fn: Callable[..., Any]) -> None:
    """Its cotangent is the gradient itself, which nothing but the end of the program reads."""
    x, y = 0.9, 1.2
    expected = (
        (fn(x + 1e-6, y) - fn(x - 1e-6, y)) / 2e-6,
        (fn(x, y + 1e-6) - fn(x, y - 1e-6)) / 2e-6,
    )
    np.testing.assert_allclose(ad.grad(fn, (0, 1))(x, y), expected, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(ad.jvp(fn, (x, y), (1.0, 0.0))[1], expected[0], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("cases", [5, 70, 260])
def test_a_helper_of_many_cases_called_twice(cases: int) -> None:
    tests = "".join(f"    elif v > {cases - k}.5:\n        return np.sin(v) * {k}.0\n" for k in range(cases))
    helper = f"def h(v):\n    if v > 900.0:\n        return v\n{tests}    else:\n        return 2.0 * v\n"
    text = f"import numpy as np\n{helper}def f(x):\n    return h(x[0]) * h(x[1])\n"
    filename = f"<{cases} cases>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), names)
    fn = names["f"]
    for x in (np.array([3.2, 0.7]), np.array([cases - 0.3, 1.9])):
        expected = differences(fn, x)
        np.testing.assert_allclose(ad.grad(fn)(x), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ad.jvp(fn, (x,), (np.ones(2),))[1], np.sum(expected), rtol=1e-5, atol=1e-6)
