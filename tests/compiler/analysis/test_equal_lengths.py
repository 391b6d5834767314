"""Lengths that are equal only where an operation has run: on other paths the arrays are as long as they are."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import Cases, differences, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
A, B = np.array([0.4, 1.3, -0.7]), np.array([0.9, -0.2, 0.5, 1.1])
case = registrar(CASES)
either = registrar(CASES)((A, B, -1.0), (A, A[::-1].copy(), 1.0), (A, B, -1.0), (B, A, -1.0))


@either
def of_a_branch(a, b, c):
    if c > 0:
        s = np.sum(a + b)
    else:
        s = np.sum(np.mean(a) * b * b)
    return s + np.mean(a) * np.sum(b**2)


@either
def replaced_in_a_branch(a, b, c):
    if c > 0:
        a = a + b
    return np.mean(a) * np.sum(b * b)


@either
def after_an_exception(a, b, c):
    try:
        d = a + b
    except ValueError:
        d = np.mean(a) * b
    return np.sum(d * d) * c + np.mean(a)


@case((A, B, 0), (A, A * 2, 2), (B, A, 0))
def of_a_loop(a, b, n):
    s = 0.0
    for _ in range(n):
        s = s + np.sum(a * b)
    return s + np.mean(a) * np.mean(b * b) + np.sum(np.sum(a) * np.ones_like(b))


@case((A, B, 0.0), (A, A * 2, 2.0))
def of_a_while_loop(a, b, c):
    while c > 0:
        c = c - 1
        a = a * b
    return np.mean(a) * np.mean(b)


@either
def of_a_conditional_expression(a, b, c):
    s = np.sum(a + b) if c > 0 else np.mean(a)
    return s + np.mean(b) + np.var(a)


@either
def of_a_condition(a, b, c):
    both = c > 0 and np.sum(a * b) > -100
    return np.mean(a) * np.mean(b) * (1 if both else 2)


@either
def of_a_comprehension(a, b, c):
    sums = [np.sum(a * b) for _ in range(3) if c > 0]
    return np.mean(a) * np.mean(b) + len(sums)


@either
def of_one_of_two_functions(a, b, c):
    def product(u):
        return np.sum(u * b)

    def mean(u):
        return np.mean(u)

    return (product if c > 0 else mean)(a) * np.mean(b)


@either
def of_a_write(a, b, c):
    y = np.zeros_like(b)
    if c > 0:
        y += a
    else:
        y[:2] += a[:2]
    y *= b
    return np.sum(y * y) * np.mean(a)


@either
def of_an_early_return(a, b, c):
    if c > 0:
        return np.sum(a * b)
    return np.mean(a) * np.sum(np.outer(a, b)) * np.mean(b)


@either
def of_a_function_that_calls_itself(a, b, c):
    def halved(u, k):
        if k > 0:
            return halved(u * b, k - 2)
        return np.mean(u) * np.mean(b)

    return halved(a, c)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn, args):
    """Each input's gradient has its own length, also where one compiled function has seen others before."""
    run = ad.value_and_grad(fn, (0, 1))
    for other, given in CASES:
        if other is fn:
            value, gradients = run(*given)
            assert np.array_equal(value, fn(*given))
            for k, gradient in enumerate(gradients):
                assert gradient.shape == given[k].shape
                np.testing.assert_allclose(gradient, differences(fn, given, k), rtol=1e-5, atol=1e-7)
    tangents = (np.cos(args[0]), np.sin(args[1]))
    _, tangent = ad.jvp(lambda a, b: fn(a, b, *args[2:]), args[:2], tangents)
    gradients = run(*args)[1]
    expected = sum(np.sum(g * t) for g, t in zip(gradients, tangents))
    np.testing.assert_allclose(np.sum(tangent), expected, rtol=1e-9, atol=1e-12)


def cross_entropy(w, x, labels):
    logits = x @ w
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


def picked_together(x, i, j):
    return np.mean(x[i, j] ** 2) + np.sum(x[i, j])


def outcome(fn, *args):
    try:
        return ad.grad(fn)(*args)
    except (IndexError, ValueError) as error:
        return np.array([ord(letter) for letter in f"{type(error).__name__} {error}".splitlines()[0]])


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid")
@pytest.mark.parametrize("rows", [0, 1, 2, 4])
@pytest.mark.parametrize("labels", [[], [2], [0, 1], [0, -1, 2, 1], [0, 1, 2, 3]], ids=len)
def test_labels_of_rows(rows, labels):
    x = np.cos(np.arange(5.0 * rows)).reshape(rows, 5)
    args = np.sin(np.arange(15.0)).reshape(5, 3), x, np.array(labels, int)
    with pass_registry.without(*pass_registry.PASSES):
        expected = outcome(cross_entropy, *args)
    np.testing.assert_allclose(outcome(cross_entropy, *args), expected, rtol=1e-10, atol=1e-14)


INDEX_PAIRS = [([0, 1], [1, 1]), ([0, 0], [0]), ([], []), ([[0, 1], [1, 1]], [[0, 0], [2, 1]]), ([[0], [1]], [0, 2])]


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid")
@pytest.mark.parametrize(("i", "j"), INDEX_PAIRS)
def test_items_picked_by_two_arrays(i, j):
    args = np.cos(np.arange(12.0)).reshape(3, 4), np.array(i, int), np.array(j, int)
    with pass_registry.without(*pass_registry.PASSES):
        expected = ad.grad(picked_together)(*args)
    np.testing.assert_allclose(ad.grad(picked_together)(*args), expected, rtol=1e-12)


def test_a_gathered_size_is_known():
    text = ad.adjoint_source(cross_entropy, np.ones((5, 3)), np.ones((4, 5)), np.arange(4) % 3)
    assert "np.log" not in text.partition("# ")[0]


def turned(x, y):
    z = np.concatenate([x[1:], x[:1]])
    return np.sum(z * y) + np.mean(z) * np.sum(y**2)


@pytest.mark.parametrize("length", [1, 2, 3, 17, 130])
def test_a_vector_of_one_is_joined_with_nothing(length):
    x, y = np.cos(np.arange(float(length))), np.sin(1 + np.arange(float(max(length, 4 if length == 1 else 1))))
    np.testing.assert_allclose(ad.grad(turned)(x, y), differences(turned, (x, y)), rtol=1e-6, atol=1e-8)
