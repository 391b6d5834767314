"""What a loop saves in rows comes back as it was, iteration by iteration."""

import tracemalloc

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.runtime.memory import rows
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

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
        turned = np.tanh(turned * np.array([[x[1], -x[2]], [x[2], x[1]]]))
    return np.sum(turned)


@case((P, 3), (np.arange(1.0, 201.0) / 200, 3), (P[:1], 2), (P[:0], 2))
def from_outside(x, n):
    y = x
    for k in range(n):
        y = y * np.cos(y + k)
        x = np.tanh(x) * y
    return np.sum(x * y)


@case((np.outer(P, P), 3), (np.outer(P, np.ones(300)), 2))
def wide(x, n):
    y = x[0] * 1.0
    for k in range(n):
        y = y * np.cos(y + x[k % 3])
    return np.sum(y)


@case((P, 2), (P, 3))
def shadows_in_a_list(x, n):
    parts = []
    for k in range(n):
        parts.append(np.zeros(3) + x * k)
    parts.append(parts.pop(0))
    parts[0] *= 2
    parts[-1][1] = 7.0 * parts[0][0]
    return np.sum(np.array(parts) ** 2)


@case((P, 3))
def of_two_lengths(x, n):
    y = x * x
    for _ in range(n):
        y = np.sin(y)
        y = np.concatenate([y, y[:1]]) * 2.0
    return np.sum(y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient_is_that_of_lists(fn, args):
    with pass_registry.without("tape_rows"):
        expected = ad.grad(fn)(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("fn", "made"),
    [
        (steps, "rows(n, 3)"),
        (matrices, "rows(n, 2, 2)"),
        (from_outside, "rows(n, len(x))"),
        (wide, "rows(n, len(y))"),
    ],
)
def test_source(fn, made):
    x = np.outer(P, P) if fn is wide else P
    assert made in ad.adjoint_source(fn, x, 3)


@pytest.mark.parametrize("fn", [left_early, in_a_branch, of_two_lengths])
def test_lists(fn):
    assert "rows(" not in ad.adjoint_source(fn, P, 3)


def test_narrow_numbers():
    x = P.astype(np.float32)
    assert "rows(n, len(x), dtype=np.float32)" in ad.adjoint_source(from_outside, x, 3)
    assert ad.grad(from_outside)(x, 3).dtype == np.float32


def test_narrow_numbers_where_nothing_else_is_numpys():
    def fn(x, np=1.0):
        y = x * np
        for _ in range(3):
            y = y - 0.5 * (y * y)
        return (y * x).sum()

    def same(x):
        return fn(x)

    x = P.astype(np.float32)
    for program in (fn, same):
        assert "dtype=np" in ad.adjoint_source(program, x)
        np.testing.assert_allclose(ad.grad(program)(x), ad.grad(program)(P), rtol=1e-5)


def test_long_vectors_are_not_copied():
    small, large = rows(3, 128), rows(3, 129)
    assert small.shape == (3, 128)
    assert large == [None] * 3
    assert rows(-1, 4).shape == (0, 4)
    assert rows(-1, 400) == []
    assert rows(2, 3, 4, dtype=np.float32).dtype == np.float32


def peak(gradient, *args):
    gradient(*args)
    tracemalloc.start()
    gradient(*args)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory():
    with pass_registry.without("tape_rows"):
        listed = peak(ad.grad(steps), P, 2000)
    assert peak(ad.grad(steps), P, 2000) < listed / 4


def test_rows_that_nobody_fills_are_no_longer_there():
    step, noise, measured = np.array([[0.9, 0.2], [-0.1, 1.1]]), 0.1 * np.eye(2), np.cos(np.arange(4.0))[:, None]

    def filtered(step, observe, error):
        state, spread, total = np.zeros(2), np.eye(2), 0.0
        for t in range(len(measured)):
            state, spread = step @ state, step @ spread @ step.T + noise
            seen = observe @ spread
            covariance = seen @ observe.T + error
            apart = measured[t] - observe @ state
            gain = np.linalg.solve(covariance, seen).T
            total = total - 0.5 * (apart @ np.linalg.solve(covariance, apart) + np.linalg.slogdet(covariance)[1])
            state, spread = state + gain @ apart, spread - gain @ seen
        return total

    check_gradient(filtered, (step, np.array([[1.0, 0.5]]), np.array([[0.3]])))
