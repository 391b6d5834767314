"""Numbers of NumPy's that are indexed: by a mask, a new axis, an ellipsis or nothing."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

X = np.array([0.3, 0.4, 0.5])
CASES: Cases = []
case = registrar(CASES)


@case(X, -X)
def masked_beside_another_use(x):
    n = np.sum(x)
    mask = n > 0
    total = 0.0
    if mask:
        total = total + n[mask].sum()
    return total + n * 2 + n[np.array(False)].sum()


@case(X)
def an_array_of_no_axes(x):
    n = np.asarray(np.sum(x * x))
    mask = n > 0
    total = n[()] * n[None][0]
    if mask:
        total = total + n[mask].sum()
    return total + n * 2


@case(X, np.array([0.3, 0.4, 0.5, 0.1]))
def logarithm_of_a_quaternion(q):
    result = np.empty(q.shape)
    norms = np.linalg.norm(q, axis=-1)
    zero = np.isclose(norms, 0)
    others = np.logical_not(zero)
    lengths = np.linalg.norm(q[..., 1:], axis=-1)
    turned = np.logical_not(np.isclose(lengths, 0))
    if np.any(others):
        if np.any(zero):
            result[zero, 0] = -np.inf
        result[others, 0] = np.log(norms[others])
    else:
        result[..., 0] = -np.inf
    if np.any(turned):
        axis = q[turned, 1:] / lengths[turned, np.newaxis]
        angle = np.arccos(q[turned, 0] / norms[turned])
        result[turned, 1:] = axis * angle[..., np.newaxis]
    else:
        result[..., 1:] = 0
    return np.sum(result * np.arange(1.0, 1.0 + len(q)))


@case(X)
def new_axes(x):
    n = np.sum(x * x)
    return (n[None] * n[..., np.newaxis] * n[()] + n)[0]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_a_number_that_loses_has_a_float_for_cotangent():
    gradient = ad.grad(lambda x, y: x * np.maximum(1.0, y), (0, 1))(0.4, 0.3)
    assert gradient == (1.0, 0.0) and type(gradient[1]) is float
