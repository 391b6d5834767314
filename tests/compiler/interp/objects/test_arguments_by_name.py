"""NumPy's functions with their arguments by name, where a method or another spelling would take them by position."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.checked import Cases, check_gradient, names, registrar

X = np.array([0.3, 0.4, 0.5])
CASES: Cases = []
case = registrar(CASES)


@case(X)
def transposed(x):
    d = np.outer(x, x)
    view = np.transpose(d, axes=(1, 0))
    view[0] = view[0] * x[0]
    return np.sum(d**3)


@case(X)
def swapped(x):
    d = np.outer(x, x)
    view = np.swapaxes(d, axis1=0, axis2=1)
    view[0] *= 2
    return np.sum(d**3)


@case(X)
def reshaped(x):
    d = np.outer(x, x)
    view = np.reshape(d, shape=(9,))
    view[1] = x[0]
    return np.sum(d**3)


@case(X)
def nothing_by_position(x):
    d = np.outer(a=x, b=x)
    total = np.sum(np.transpose(a=d, axes=(1, 0)) * d) + np.sum(np.swapaxes(a=d, axis1=0, axis2=1) ** 2)
    total += np.sum(a=np.max(a=d, axis=0)) + np.sum(np.sum(a=d, axis=1, keepdims=True) ** 2)
    return total + np.prod(a=x) + np.min(a=x) + np.mean(a=d) + np.cumsum(a=x)[1] + np.take(a=x, indices=1)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
