"""Grids of coordinates are all of one shape."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
A, B = np.array([0.4, 1.3, -0.7]), np.array([0.2, 0.9])


@case((A, B), (A, A), (A, B[:1]), (A[:1], B))
def of_two(a, b):
    x, y = np.meshgrid(a, b)
    return np.sum((x * y + x) ** 2)


@case((A, B), (A[:1], B))
def by_rows(a, b):
    x, y = np.meshgrid(a, b, indexing="ij")
    return np.sum(np.sin(x) * y * np.outer(a, b))


@case((A, B), (A, B[:1]))
def sparse(a, b):
    x, y = np.meshgrid(a, b, sparse=True)
    return np.sum(x * y + x)


@case((A, B))
def of_three(a, b):
    x, y, z = np.meshgrid(a, b, np.arange(4.0))
    return np.sum(x * y * z - x * z)


@case((A, 0.5))
def of_a_number(a, b):
    x, y = np.meshgrid(a, b)
    return np.sum(x * y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_nothing_is_summed_back():
    assert "unbroadcast" not in ad.adjoint_source(of_two, A, B)
    assert "unbroadcast" not in ad.adjoint_source(by_rows, A, B)
