"""Forward mode where names may stand for one array that is written: tangents are read when their primals are."""

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: list = []
case = registrar(CASES)
X = np.array([0.43, 0.81, -0.72, 0.64])


@case(X, -X)
def number_taken_before_the_write(x):
    y = x * 1
    z = x * 2 + 1
    best = max([y, z], key=np.sum)
    taken = z[1]
    best += x
    return np.sum(z) * taken


@case(X, -X)
def array_that_a_branch_chooses(x):
    y = x * 1
    z = x * 2 + 1
    chosen = y if x[0] > 0 else z
    taken = y[1]
    other = z[1:] * 2
    chosen *= x
    return np.sum(y * z) * taken + np.sum(other)


@case(X, -X)
def array_that_a_loop_hands_on(x):
    y = x * 1
    z = x * 2
    a, b = y, z
    for k in range(3):
        a, b = b, a
        taken = y[0] + z[1]
        a += x
        b *= taken
    return np.sum(y * z)


@case(X, -X)
def lists_of_lists(x):
    rows = [[x * 1, x * 2], [x * 3]]
    rows.append([x * 4])
    taken = rows[0][1][2]
    for row in rows:
        row[0] += x
        row[-1] *= x[0]
    return np.sum(rows[0][0] * rows[-1][0]) * taken


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize("place", [np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a[::-1]])
@pytest.mark.parametrize("given", [np.ascontiguousarray, np.asfortranarray])
def test_a_direction_in_another_order_of_memory(place: Any, given: Any) -> None:
    """Whether `ravel` is a view is decided by the argument, not by its direction."""

    def f(A: Any) -> Any:
        B = np.sin(A)
        v = B.ravel()
        v[0] = 2.0
        v[1:] *= v[:-1].copy()
        return np.sum(B**2) + np.sum(v**3)

    a, d = place(np.linspace(0.2, 0.9, 12).reshape(4, 3)), given(np.linspace(-1, 1, 12).reshape(4, 3) ** 3)
    np.testing.assert_allclose(ad.jvp(f, (a,), (d,))[1], np.sum(ad.grad(f)(a) * d), rtol=1e-12)
