"""Subscripts of subscripts: ``a[i][j]`` is ``a[i, j]`` of an array, and what it was of everything else."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
M = np.random.default_rng(3).normal(size=(3, 4))
T = np.random.default_rng(4).normal(size=(2, 3, 4))


@case(M, M.T, M[:, ::-1])
def loops(A):
    s = 0.0
    for i in range(len(A)):
        for j in range(len(A[i])):
            if A[i][j] > 0:
                A[i][j] *= A[i][j - 1]
            s += A[i][j] ** 2 * A[-1][j]
    return s


@case(T, T[:, ::-1])
def three(T):
    T[0][1][2] *= 3
    T[1][-1][:2] += T[0][0][1:3] ** 2
    T[1][0][...] = T[0][1][::-1]
    T[0][2][[0, 0, 3]] = T[1][2][:3]
    T[1][1][T[1][1] > 0] *= 2
    return np.sum(T[0][0] * T[1][0]) + np.sum(T[0][1:][1] ** 2) + T[1][2][3] + np.sum(T[0][:, 1][:2])


@case(M)
def outer_kinds(A):
    k = np.argmax(A[0])
    row = A[k % 3][None]
    B = A[1][:, None] * row
    A[2][()] *= 2
    A[()][0][1] = 3 * A[0][0]
    x = A[0][k]
    A[k % 3][k] = x * A[1][np.int64(2)]
    return np.sum(B) + np.sum(A**2) + A[0, 1:][0] * A[True][0][1][1]


@case(M)
def swapped(A):
    A[0][1], A[2][3] = A[2][3], A[0][1]
    A[1], A[2] = A[2].copy(), A[1].copy()
    A[0][0] = A[0][1] = A[1][2] * 2
    return np.sum(A**3 * np.arange(4))


@case(M)
def lists_of(A):
    rows = [A * 2, A[0] * 3, [A[1], A[2] ** 2]]
    rows[0][1][2] *= 4
    rows[2][0][1] += rows[1][2]
    rows[2][1][0] *= rows[0][1][2]
    d = {"m": rows[0]}
    d["m"][2][3] = d["m"][0][0] ** 2
    return np.sum(rows[0] ** 2) + np.sum(rows[2][1] ** 2) + np.sum(A[1] ** 2)


@case(M)
def caught(A):
    s = 0.0
    for i in range(5):
        try:
            A[i][1] *= 2
            s += A[i][1] * A[1][i]
        except IndexError:
            s += A[0][0]
    return s


@case(M)
def order(A):
    def bump():
        A[1][1] *= 2
        return 1

    A[1][bump()] += A[1][1]
    y = A[bump()][bump()] * 3
    A[0][bump()] = A[1][1] ** 2
    items = [2, 1]
    A[items.pop()][items.pop()] *= y
    return np.sum(A**2)


@case((M, 2), (M, 0))
def zero(A, n):
    s = A[0][0]
    for i in range(n):
        for j in range(n + 1):
            s = s * A[i][j] + A[i][1:][0] - A[i + 1][:j].sum()
            A[i][j:] = A[i + 1][j:] * s
    return s


@case(M)
def rebound(A):
    B = A
    for i in range(2):
        A = A * 1.5
        A[i][i] = B[i][i + 1] ** 2
        B[i + 1][i] *= A[i][i]
    return np.sum(A * B)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    def on_copies(*given):
        return fn(*copy.deepcopy(given))

    before = copy.deepcopy(args)
    check_gradient(on_copies, args)
    check_tangent(on_copies, args)
    value, gradient = ad.value_and_grad(fn)(*args)
    assert np.array_equal(value, on_copies(*before)) and np.array_equal(args[0], before[0])
    np.testing.assert_allclose(gradient, ad.grad(on_copies)(*args), rtol=1e-12)


def test_the_two_ways_to_write_it_are_one():
    def chained(A, B):
        C = np.zeros((len(A), len(B[0])))
        for i in range(len(A)):
            for j in range(len(B[0])):
                for k in range(len(B)):
                    C[i][j] += A[i][k] * B[k][j]
        return np.sum(C**2)

    def at_once(A, B):
        C = np.zeros((len(A), len(B[0])))
        for i in range(len(A)):
            for j in range(len(B[0])):
                for k in range(len(B)):
                    C[i, j] += A[i, k] * B[k, j]
        return np.sum(C**2)

    texts = [ad.adjoint_source(fn, M, M.T) for fn in (chained, at_once)]
    code = [[line for line in text.splitlines() if "#" not in line and "def " not in line] for text in texts]
    assert code[0] == code[1]


def test_an_index_out_of_range_is_found_where_it_is():
    def f(A, i, j):
        return A[i][j] ** 2

    for i, j in ((3, 0), (0, 4), (-4, 9)):
        with pytest.raises(IndexError):
            ad.grad(f)(M, i, j)
    with pytest.raises(IndexError):
        ad.grad(lambda x: x[0][0])(M[0])
