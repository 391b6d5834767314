"""Small arrays of known lengths as numbers: the same results, whatever is written through which name."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.compiler.numba import NativeWarning
from tests.native.test_backend import assert_alike, native, positions


def rk_step(s, k, n):
    for _ in range(n):
        a = np.array([k * (s[1] - s[0]), s[0] * s[1]])
        b = np.array([k * s[1], (s + 0.1 * a)[0]])
        s = s + 0.05 * (a + b)
    return np.sum(s * s)


def swapped(x, n):
    a, b = np.array([x, 2.0 * x]), np.array([x * x, 1.0])
    for _ in range(n):
        a, b = b, a * 0.5
    return a[0] * b[1] + a[1]


def alias_written(x, y):
    a = np.array([x, y])
    b = a
    b[0] = x * y
    return a[0] * a[1] + b[0]


def shadows_in_lists(x, w, n):
    """The shadows of `q` are saved, in two lists, and written after that."""
    p = np.array([x[0], x[1], 0.7])
    q = np.zeros(3)
    for _ in range(n):
        i = 0
        while i < 3:
            q = np.where(q > 0.4, p[::-1], w[i])
            i += 1
        i = 0
        while i < 3:
            q[1] = p[2 - i]
            i += 1
    return np.sum(p * p) + np.sum(q * q)


def old_name_read(x, y):
    a = np.zeros(2)
    a[0] = x
    b = a
    a[1] = y * x
    c = b + a
    b[0] = y
    return np.sum(c * a)


def written_in_loop(x, n):
    a = np.zeros(3)
    for k in range(n):
        a[0] = a[0] + x * k
        a[1] = a[0] * x
        b = a
        a[2] = b[1] + a[2]
    return a[0] * a[1] + a[2]


def chosen(x, y):
    a = np.array([x, y])
    if x > y:
        b = a * 2.0
    else:
        b = np.array([y, y * x])
    return b[0] * b[1] + a[0]


def matrix(x, n):
    m = np.array([x, 1.0, 0.5, x]).copy()
    t = np.zeros((2, 2))
    for _ in range(n):
        t[0, 0] = t[0, 0] + m[0] * m[3]
        t[1, 0] = t[0, 0] * x
        t = t * 0.9
    return np.sum(t) + t[1, 0] * x


def with_memory(v, x, k):
    a = np.array([x, 2.0 * x, x * x])
    return np.sum(v * a) + a[k]


def row_of_view(x, n):
    a = np.zeros(4)
    for k in range(n):
        part = a[1:3]
        part[0] = x * k
        a[3] = part[0] * a[2] + x
    return np.sum(a * a)


def renamed_in_inner_loop(x, w, n):
    a = np.array([x[0], x[1]])
    u = a * 2.0
    for _ in range(2):
        for _ in range(n):
            u = a
        u += w
    return np.sum(u * u) + np.sum(a * a * a)


def shadow_saved_and_written(x, w, n):
    u = x * 2.0
    for i in range(2):
        for j in range(n):
            u[j] = u[0] * w[0]
            u = u + x
        if w[1] > 0.0:
            u = np.array([x[1], w[0]])
        u[i] = u @ w
    return np.sum(u * u)


CASES = {
    rk_step: (np.array([0.3, -0.7]), 1.5, 4),
    swapped: (0.7, 5),
    shadows_in_lists: (np.array([0.9, 0.2]), np.array([[0.3, 0.5, 0.9], [0.6, 0.2, 0.8], [0.1, 0.7, 0.5]]), 3),
    alias_written: (0.3, 1.2),
    old_name_read: (0.3, 1.2),
    written_in_loop: (0.4, 4),
    chosen: (0.4, 0.1),
    matrix: (1.1, 3),
    with_memory: (np.array([1.0, 2.0, -0.5]), 0.3, 1),
    row_of_view: (0.3, 4),
    renamed_in_inner_loop: (np.array([0.5, 0.7]), np.array([0.3, 0.4]), 2),
    shadow_saved_and_written: (np.array([0.5, 0.7]), np.array([0.3, 0.4]), 2),
}


def same(fn, args):
    assert_alike(
        ad.value_and_grad(fn, positions(args), backend="numba")(*args), ad.value_and_grad(fn, positions(args))(*args)
    )


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_same_results(fn):
    same(fn, CASES[fn])


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.parametrize(
    "fn", [rk_step, swapped, written_in_loop, matrix, renamed_in_inner_loop], ids=lambda fn: fn.__name__
)
def test_no_iteration(fn):
    same(fn, (*CASES[fn][:-1], 0))


def test_no_memory_is_left():
    text = ad.value_and_grad(rk_step, (0, 1), backend="numba").source_for(*CASES[rk_step])
    loops = [line for line in text.splitlines() if line.startswith("        ")]
    assert not any("np.empty" in line or "np.zeros" in line for line in loops)


def test_single_precision():
    args = (np.array([0.3, -0.7], np.float32), 1.5, 4)
    found = ad.value_and_grad(rk_step, (0, 1), backend="numba")(*args)
    assert_alike(found, ad.value_and_grad(rk_step, (0, 1))(*args), rtol=1e-5)


def test_other_lengths_raise_as_numpy_does():
    gradient = ad.grad(rk_step, (0, 1), backend="numba")
    gradient(*CASES[rk_step])
    with pytest.raises(ValueError, match="broadcast"):
        gradient(np.arange(3.0), 1.5, 4)


def test_other_lengths_that_do_not_meet():
    gradient = ad.grad(rk_step, (0, 1), backend="numba")
    with pytest.warns(NativeWarning):
        found = gradient(np.arange(3.0), 1.5, 0)
    assert_alike(found, (2.0 * np.arange(3.0), 0.0))


def test_native_without_a_warning():
    native(rk_step, *CASES[rk_step])
