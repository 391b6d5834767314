"""The program's own lists of numbers: appended to, taken out of, shared, as Python's are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.compiler.numba import NativeWarning
from tests.native.test_backend import assert_alike, native, positions

X = np.array([0.5, -1.5, 2.0, 0.25, -0.75, 1.25])


def appended(x):
    squares = []
    for v in x:
        squares.append(v * v)
    return sum(squares) * squares[0] + max(squares) * min(squares)


def recurrence(x, n):
    values = [x[0], x[1]]
    for i in range(2, n):
        values.append(np.sin(values[-1]) + values[-2] * x[i % len(x)])
    return values[-1] * values[2]


def stack(x):
    waiting = []
    for v in x:
        waiting.append(v)
        if v > 1.0:
            waiting.append(waiting.pop() * waiting.pop())
    total = 1.0
    while len(waiting) > 0:
        total = total * 0.5 + waiting.pop()
    return total


def tree(p, rate):
    values = [max(1.2**k * 0.9 ** (5 - k) - 1.0, 0.0) for k in range(6)]
    for n in range(5, 0, -1):
        values = [np.exp(-rate) * (p[n] * values[k + 1] + (1 - p[n]) * values[k]) for k in range(n)]
    return values[0]


def one_of_two(x):
    positive, negative = [0.0], [1.0]
    for v in x:
        chosen = positive if v > 0 else negative
        chosen.append(v * chosen[-1] + 1.0)
    return positive[-1] * negative[-1] + len(positive) * x[0]


def second_name(x):
    a = [x[0], x[1]]
    b = a
    b[0] = b[0] * x[2]
    b.append(x[3])
    return a[0] * a[-1] + a[1] * len(a)


def window(x):
    last = []
    total = 0.0
    for v in x:
        last.append(v)
        last = last[-3:]
        total += sum(last) ** 2
    return total


def places(x):
    chosen = []
    for i in range(len(x)):
        if x[i] > 0:
            chosen.append(i)
    total = 0.0
    for k in chosen:
        total += x[k] * x[k - 1]
    return total


def collected(x):
    found = []
    for v in x:
        if v > 0.3:
            found.append(v * v)
    return np.sum(np.exp(np.array(found)))


def put_before(x):
    items = [1.0]
    for v in x:
        items.insert(0, v * items[0])
    return sum(items)


def table(x, y):
    n, m = len(x), len(y)
    t = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            t[i][j] = t[i - 1][j] * t[i][j - 1] - t[i - 1][j - 1] + x[i - 1] * y[j - 1]
    return t[n][m]


def joined(x):
    a = []
    for v in x:
        if v > 0:
            b = [v]
        else:
            b = [v * v, v]
        a = a + b
    return sum(a) * len(a)


def visited(x):
    seen = [False] * len(x)
    total, k = 0.0, 0
    for _ in range(2 * len(x)):
        if not seen[k]:
            seen[k] = True
            total += x[k] ** 2
        k = (k * 2 + 1) % len(x)
    return total


CASES = {
    appended: (X,), recurrence: (X, 9), stack: (X,), tree: (X, 0.02), one_of_two: (X,), second_name: (X,), window: (X,),
    places: (X,), collected: (X,), put_before: (X,), table: (X, X[::-1].copy()),
    joined: (X,), visited: (X,),
}  # fmt: skip


@pytest.mark.parametrize("fn", [fn for fn in CASES if fn not in (put_before,)], ids=lambda fn: fn.__name__)
def test_same_results(fn):
    args = CASES[fn]
    assert_alike(native(fn, *args), ad.value_and_grad(fn, positions(args))(*args))
    other = tuple(-1.5 * a[::-1] if isinstance(a, np.ndarray) else a for a in args)
    assert_alike(native(fn, *other), ad.value_and_grad(fn, positions(other))(*other))


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("size", [0, 1, 2])
def test_short_arguments(fn, size):
    """What raises in NumPy raises here, and nothing beyond the end of a list is read."""
    args = tuple(a[:size] if isinstance(a, np.ndarray) else a for a in CASES[fn])
    run = ad.value_and_grad(fn, positions(args), backend="numba")
    try:
        expected = ad.value_and_grad(fn, positions(args))(*args)
    except (IndexError, ValueError, ZeroDivisionError) as error:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NativeWarning)
            with pytest.raises(type(error)):
                run(*args)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NativeWarning)
        found = run(*args)
    for a, b in zip(found[1:], expected[1:]):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_an_empty_list_gives_the_call_up():
    def f(x, n):
        items = [x[0]]
        for _ in range(n):
            items.pop()
        return items[-1] ** 2

    run = ad.grad(f, backend="numba")
    np.testing.assert_allclose(run(X, 0), ad.grad(f)(X, 0))
    with pytest.raises(IndexError):
        run(X, 1)


def test_lists_of_other_things_stay_in_numpy():
    def f(x):
        items = []
        for i in range(3):
            items.append(x * i)
        return np.sum(items[-1] * items[1])

    with pytest.warns(NativeWarning, match="something else than numbers"):
        found = ad.grad(f, backend="numba")(X)
    np.testing.assert_allclose(found, ad.grad(f)(X))


def test_single_precision_stays_in_numpy():
    x = X.astype(np.float32)
    with pytest.warns(NativeWarning, match="double precision"):
        found = ad.value_and_grad(appended, backend="numba")(x)
    assert_alike((found,), (ad.value_and_grad(appended)(x),), 1e-4)


def test_source_shows_lists():
    source = ad.adjoint_source(appended, X, backend="numba")
    assert "squares = [0.0][:0]" in source and "squares.append(" in source
