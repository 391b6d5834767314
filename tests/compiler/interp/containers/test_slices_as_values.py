"""Slices compared and searched for, with bounds that only the run tells."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

cases: Cases = []
case = registrar(cases)


@case(V, -V)
def in_a_list(x):
    n = int(x[0] > 0) + 1
    part = slice(0, n)
    return np.sum(x[part] ** 2) if part in [slice(0, 2), slice(1, n)] else x[0] * x[1]


@case(V, -V)
def not_in_a_tuple(x):
    n = int(x[0] > 0) + 1
    part = slice(0, n)
    return np.sum(x[part] ** 2) if part not in (slice(0, 2), slice(1, n)) else x[0] * x[1]


@case(V, -V)
def in_a_compared_tuple(x):
    n = int(x[0] > 0) + 1
    part = slice(0, n)
    same = (part, 1) == (slice(0, 2), 1)
    return x[0] * x[1] if same and part != 3 and part is not None else np.sum(x[part])


@case(V)
def its_class_in_a_list(x):
    n = int(x[0] > 0) + 1
    part = slice(0, n)
    return np.sum(x[part] ** 2) if type(part) in [slice] and 3 not in [part] else x[0]


@pytest.mark.parametrize(("fn", "args"), cases, ids=names(cases))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), cases, ids=names(cases))
def test_tangents(fn, args):
    check_tangent(fn, args)
