"""What a loop saves as rows of one array comes back as it was, iteration by iteration."""

import tracemalloc

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)
P = V[:3]


@case((P, 4), (P, 1), (P, 0), (P, -2))
def steps(x, n):
    y = np.zeros(3) + x
    for _ in range(n):
        y = y + 0.1 * np.sin(y * x)
    return np.sum(y**2)


@case((P, 4), (P, 2), (P, 1))
def from_the_second(x, n):
    y = np.array([x[0], x[1], x[2]])
    for i in range(1, n):
        y = np.cos(y) * x * i
    return np.sum(y)


@case((P, 3))
def changed_where_it_is(x, n):
    y = np.array([x[0], x[1], x[2]])
    total = 0.0
    for i in range(n):
        y = np.sin(y) * x
        z = y**2
        y[0] = z[1] * y[2]  # the next step begins with the array that this one has saved and changed
        total = total + z @ y
    return total


@case((P, 4))
def kept_by_the_program(x, n):
    y = np.zeros(3) + x
    seen = []
    for _ in range(n):
        y = np.sin(y) * x
        seen.append(y)
    return np.sum(seen[0] * seen[-1])


@case((P, 3))
def added_to(x, n):
    y = np.zeros(3)
    y += x
    for _ in range(n):
        y += np.cos(y) * x
    return np.sum(y * y)


@case((P, 4))
def left_early(x, n):
    y = np.zeros(3) + x
    for i in range(n):
        y = y * np.cos(y * x)
        if i == 2:
            break
    return np.sum(y)


@case((P, 3))
def in_a_branch(x, n):
    y = np.zeros(3) + x
    for i in range(n):
        if i % 2:
            y = y * np.cos(y * x)
    return np.sum(y)


@case((P, 3))
def matrices(x, n):
    turned = np.eye(2) * x[0]
    for _ in range(n):
        turned = np.tanh(turned @ np.array([[x[1], -x[2]], [x[2], x[1]]]))
    return np.sum(turned)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient_is_that_of_lists(fn, args):
    with passes.without("in_rows"):
        expected = ad.grad(fn)(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), expected, rtol=1e-14)


@pytest.mark.parametrize(("fn", "rows"), [(steps, True), (left_early, False), (in_a_branch, False)])
def test_source(fn, rows):
    assert ("= np.empty((max(n, 0), 3))" in ad.adjoint_source(fn, P, 3)) is rows


def test_narrow_numbers():
    x = P.astype(np.float32)
    assert "np.empty((max(n, 0), 3), dtype=np.float32)" in ad.adjoint_source(steps32, x, 3)
    assert ad.grad(steps32)(x, 3).dtype == np.float32


def steps32(x, n):
    y = np.array([x[0], x[1], x[2]])
    for _ in range(n):
        y = np.sin(y * x)
    return np.sum(y)


def peak(gradient, *args):
    gradient(*args)
    tracemalloc.start()
    gradient(*args)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory():
    with passes.without("in_rows"):
        listed = peak(ad.grad(steps), P, 2000)
    assert peak(ad.grad(steps), P, 2000) < listed / 4
