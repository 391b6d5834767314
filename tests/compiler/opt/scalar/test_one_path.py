"""Paths of a ``try`` with ``else`` and ``finally``."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)


@case((V, 2), (V, 9))
def otherwise_and_finally(x, i):
    try:
        v = x[i]
    except IndexError:
        v = x[-1] ** 2
    else:
        v = v * 3.0
    finally:
        v = v + x[0]
    return v * x[1]


@case((V, 2, 1), (V, 9, 1), (V, 2, 9), (V, 9, 9))
def one_after_the_other(x, i, k):
    total = x[0]
    for j in (i, k):
        try:
            total = total * x[j]
        except IndexError:
            total = total + x[1] ** 2
        else:
            total = np.sin(total)
        finally:
            total = total * 2.0
    return total


@case((V, 2), (V, 9))
def failing_later(x, i):
    y = x * 1.0
    try:
        y[0] = y[1] * y[2]
        y[i] = 1.0
    except IndexError:
        y[1] = y[0] ** 2
    finally:
        y *= 2.0
    return np.sum(y**2)


@case((V, 2, 1), (V, 9, 1), (V, 2, 9), (V, 9, 9))
def one_in_the_other(x, i, k):
    try:
        try:
            v = x[i]
        except IndexError:
            v = x[0] ** 2
        else:
            v = v * x[1]
        v = v * x[k]
    except IndexError:
        v = np.cos(x[2])
    else:
        v = v + x[3]
    return v


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_nothing_stands_after_what_raises():
    def f(x):
        try:
            raise KeyError("a")
        except KeyError:
            x = x * 2.0
        return x * x

    assert "took_path = 0" not in ad.adjoint_source(f, 0.3)
