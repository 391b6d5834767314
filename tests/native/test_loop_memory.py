"""Arrays made in loops: memory made once, saved arrays as parts of one, and what may be neither."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native, positions


def softmax(w, x, labels):
    loss = 0.0
    for i in range(len(x)):
        z = w @ x[i]
        z = z - np.max(z)
        loss = loss + np.log(np.sum(np.exp(z))) - z[labels[i]]
    return loss


def sums_from_zero(x, n):
    total = 0.0
    for i in range(n):
        t = np.zeros(len(x))
        for j in range(i + 1):
            t[j] = t[j] + x[j] * x[i]
        total = total + np.sum(np.tanh(t) * t)
    return total


def nested(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            t = np.tanh(x * (i + j))
            total = total + np.sum(t * np.exp(t))
    return total


def on_one_side(x, n):
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            t = np.exp(x * i)
            total = total + np.sum(t * t * x)
        else:
            total = total + x[0] * x[1]
    return total


def left_early(x, n):
    y = x * 1.0
    for i in range(n):
        t = np.tanh(y)
        y = t * y + x
        if np.sum(y) > 3.0:
            break
    return np.sum(y * y)


def while_it_is_large(x, n):
    y = x * 1.0
    while np.sum(y) > 0.5:
        t = np.exp(-y)
        y = y * t * 0.7
    return np.sum(y * y)


def carried(x, n):
    h = np.zeros(len(x))
    for i in range(n):
        before = h
        h = np.tanh(h * x + i)
        h = h * before + x
    return np.sum(h * before)


def swapped(x, n):
    a, b = x * 2.0, x + 1.0
    for i in range(n):
        t = a * b
        a, b = b, t
    return np.sum(a * b)


def last_one(x, n):
    t = x
    for i in range(n):
        t = np.sin(x * i) * x[0]
    return t


def views_of_it(x, n):
    total = 0.0
    for i in range(n):
        t = x * x[i]
        u = t[1:]
        u[0] = x[0] * x[1]
        total = total + np.sum(u * t[:-1])
    return total


def written_after_it_was_used(x, n):
    total = 0.0
    for i in range(n):
        t = x * (i + 1.0)
        u = np.sin(t)
        t[0] = x[1] * x[2]
        total = total + np.sum(t * u * t)
    return total


def growing(x, n):
    total = 0.0
    for i in range(n):
        t = np.exp(x[: i + 1])
        total = total + np.sum(t * t)
    return total


def products(m, n):
    total = 0.0
    for i in range(n):
        p = m @ m.T
        q = np.tanh(p @ p)
        total = total + np.sum(q * p) + np.sum(q @ m[:, 0])
    return total


def every_second(m, n):
    w = m * 1.0
    for _ in range(0, n, 2):
        p = w @ w
        w = w * p * p
    return np.sum(w)


X = np.linspace(0.2, 0.9, 5)
W, LABELS = np.linspace(-0.5, 0.5, 12).reshape(3, 4), np.array([0, 2, -1, 1, 1])
CASES = [
    (softmax, (W, np.linspace(-1, 1, 20).reshape(5, 4), LABELS)),
    *[
        (fn, (X, n))
        for fn in (sums_from_zero, nested, on_one_side, left_early, while_it_is_large, swapped, last_one)
        for n in (4, 0)
    ],
    *[(fn, (X, 4)) for fn in (carried, views_of_it, written_after_it_was_used, growing)],
    (products, (np.linspace(-0.5, 0.5, 6).reshape(2, 3), 3)),
    (every_second, (np.linspace(-0.5, 0.9, 9).reshape(3, 3), 5)),
    (products, (np.linspace(-0.5, 0.5, 12 * 11).reshape(12, 11), 3)),
]  # fmt: skip


def differentiable(args):
    return tuple(k for k in positions(args) if np.asarray(args[k]).dtype.kind == "f")


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.parametrize("fn, args", CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_same_results(fn, args):
    wrt = differentiable(args)
    found = ad.value_and_grad(fn, wrt, backend="numba")
    expected = ad.value_and_grad(fn, wrt)(*args)
    for _ in range(2):
        assert_alike(np.asarray(found(*args)[0]), np.asarray(expected[0]))
        assert_alike(found(*args)[1], expected[1])


@pytest.mark.parametrize("fn", [swapped, last_one], ids=lambda fn: fn.__name__)
def test_single_precision(fn):
    args = next(a for f, a in CASES if f is fn)
    args = tuple(np.float32(a) if np.asarray(a).dtype.kind == "f" else a for a in args)
    wrt = differentiable(args)
    found = ad.value_and_grad(fn, wrt, backend="numba")(*args)
    assert_alike(found, ad.value_and_grad(fn, wrt)(*args), rtol=1e-4)


@pytest.mark.parametrize("fn", [softmax, nested], ids=lambda fn: fn.__name__)
def test_no_memory_in_the_loops(fn):
    """What an iteration needs is made before the loop, and no list holds what it saves."""
    args = next(a for f, a in CASES if f is fn)
    text = ad.adjoint_source(fn, *args, grad_position=differentiable(args), backend="numba")
    assert not [line for line in text.splitlines() if "np.empty" in line and line.startswith(" " * 8)]
    assert ".append(" not in text


def test_places_of_parts_hide_how_they_move():
    """LLVM would compare the memory of all parts with that of the part before: no loop would be vector code."""

    def f(x, n):
        h = x
        for _ in range(n):
            h = np.tanh(h) * x
        return np.sum(h)

    text = ad.adjoint_source(f, X, 3, backend="numba")
    assert "np.uint64(min(n_saved" in text


def test_results_stay_when_the_next_call_runs():
    gradient = ad.value_and_grad(last_one, (0,), backend="numba")
    first = gradient(X, 3)
    kept = np.copy(first[0])
    gradient(X + 1.0, 3)
    assert np.array_equal(first[0], kept)
    assert native(nested, X, 3)[0] == native(nested, X, 3)[0]
