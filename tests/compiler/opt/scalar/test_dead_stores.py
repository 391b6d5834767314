"""Cotangents that nobody reads again are not cleared; those that somebody reads are."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)


@case((V, 3), (V, 0))
def stencil(x, n):
    u = x * 1.0
    for _ in range(n):
        lap = np.zeros_like(u)
        lap[1:-1] = u[:-2] * u[2:]
        u = u + 0.1 * lap
    return np.sum(u**2)


@case((V, 3))
def written_twice(x, n):
    u = x * 1.0
    for _ in range(n):
        part = u * 2.0
        part[1:-1] = u[:-2] * u[2:]
        part[0] = part[1] * u[3]
        u = u + 0.1 * part
    return np.sum(u**2)


@case((V, 3))
def view_outlives_its_base(x, n):
    u = x * 1.0
    tail = u[1:]
    for _ in range(n):
        part = u * 2.0
        tail = part[1:]
        part[1] = u[0] ** 2
        u = part * 0.5
    return np.sum(u**2) + np.sum(tail * x[1:])


@case((V, 3))
def carried_to_the_next_iteration(x, n):
    part = x * 0.5
    u = x * 1.0
    for _ in range(n):
        u = u + part
        part = u * 0.3
        part[2] = x[0] * u[1]
    return np.sum(u * part)


@case(V)
def overwritten_as_a_whole(x):
    y = np.empty(4)
    np.multiply(x, x, out=y)
    s = np.sum(y**2)
    np.sin(y, out=y)
    np.add(y, x, out=y)
    return s * np.sum(y * x)


@case(V)
def read_between(x):
    y = np.empty(4)
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    s = np.sum(y**2)
    np.exp(y, out=y)
    np.add(y, x, out=y)
    return s * np.sum(y * y)


@case(V)
def overwritten_where_a_mask_tells(x):
    y = np.empty(4)
    np.multiply(x, x, out=y)
    np.sin(y, out=y, where=x > 0)
    np.exp(y, out=y, where=x > 0.5)
    np.add(y, x, out=y)
    return np.sum(y * y)


@case(V)
def a_view_sees_it(x):
    y = np.empty(4)
    part = y[1:]
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    s = np.sum(part * part)
    np.exp(part, out=part)
    np.add(y, x, out=y)
    return s * np.sum(part * part)


@case(V)
def a_list_holds_it(x):
    y = np.empty(4)
    held = [x * 2.0, y]
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    s = sum(np.sum(v * v) for v in held)
    np.exp(y, out=y)
    np.add(y, x, out=y)
    return s * np.sum(held[1] * x)


@case((V, 3), (V, 0))
def in_each_step(x, n):
    y, total = x * 1.0, 0.0
    for _ in range(n):
        np.multiply(y, y, out=y)
        total = total + np.sum(y * x)
        np.sin(y, out=y)
        np.add(y, x, out=y)
    return total * np.sum(y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_stencil_clears_nothing():
    assert "= 0.0" not in ad.adjoint_source(stencil, V, 3)


def test_what_is_overwritten_as_a_whole_is_not_put_back():
    text = ad.adjoint_source(overwritten_as_a_whole, V)
    assert "y[...] = old_y" not in text


def test_a_number_that_is_handed_on_comes_last():
    """It does not need a name of its own beside the cotangent that it replaces."""

    def nearest(x):
        best = 9.0
        for v in x:
            t = v * v - np.sin(v)
            if t < best:
                best = t
        return best * x[0]

    check_gradient(nearest, (V,))
    assert "d_best2" not in ad.adjoint_source(nearest, V)


def test_the_last_three_statements_may_be_a_copy_that_is_given_back():
    def f(x):
        w = x * 1.0
        np.multiply(x, w, out=w)
        np.subtract(w, x, out=w)
        np.add(w, x, out=w)
        return np.sum(w * x)

    check_gradient(f, (V,))
