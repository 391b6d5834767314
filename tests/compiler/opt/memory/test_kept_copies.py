"""What is overwritten is read where it was saved, and put back only where others read the memory, too."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)
A = np.arange(12.0).reshape(3, 4) / 5 - 1


@case(V)
def one_name(x):
    y = x * 2.0
    np.sin(y, out=y)
    np.multiply(y, y, out=y)
    np.exp(y * 0.1, out=y)
    return np.sum(y * x)


@case(V)
def view_made_before(x):
    y = x * 2.0
    part = y[1:]
    y *= y
    return np.sum(part * y[:-1]) + np.sum(part)


@case(V)
def view_read_before_the_write(x):
    y = x * 2.0
    part = y[1:]
    z = part * part
    y *= y
    return np.sum(z) + np.sum(y * y)


@case(V)
def view_that_is_written(x):
    y = x * 2.0
    part = y[1:]
    z = y * y
    part *= part
    w = np.sum(z * y)
    y *= x
    return w + np.sum(part * part * y[0])


@case(V)
def items_written_between(x):
    y = x * 2.0
    np.sin(y, out=y)
    y[1] = y[0] * y[2]
    y *= y
    y[2] *= y[3]
    np.cos(y, out=y)
    return np.sum(y * x)


@case((V, 0), (V, 1), (V, 3))
def carried_by_a_loop(x, n):
    y = x * 2.0
    for _ in range(n):
        y *= y
        np.sin(y, out=y)
    return np.sum(y * x)


@case((V, 0), (V, 1), (V, 3))
def made_in_a_loop(x, n):
    s = x * 1.0
    for k in range(n):
        y = s * (k + 1.0)
        y *= y
        np.sin(y, out=y)
        s = s + y * x
    return np.sum(s)


@case((V, 0), (V, 3))
def one_buffer_for_all_steps(x, n):
    buffer = np.empty_like(x)
    s = x * 1.0
    for k in range(n):
        buffer[...] = s * (k + 1.0)
        buffer *= buffer
        s = s + buffer * x
    return np.sum(s) + np.sum(buffer * x if n else x)


@case((V, True), (V, False))
def in_a_branch(x, flag):
    y = x * 2.0
    if flag:
        y *= y
        np.sin(y, out=y)
    else:
        y += x
    np.exp(y, out=y)
    return np.sum(y * x)


@case((V, True), (V, False))
def read_before_the_branch(x, flag):
    y = x * 2.0
    z = y * y * x
    if flag:
        np.sin(y, out=y)
        y *= y
    return np.sum(y * z)


@case((V, True), (V, False))
def either_array(x, flag):
    a = x * 2.0
    b = x * x
    y = a if flag else b
    z = y * y
    np.sin(y, out=y)
    y *= y
    return np.sum(a * b) + np.sum(z * y)


@case(A)
def column_of_a_matrix(a):
    a = a.copy()
    row = a[1]
    row *= row
    column = a[:, 2]
    column *= column
    return np.sum(a**2)


@case(A)
def column_after_its_row(a):
    a = a.copy()
    row, column = a[1], a[:, 2]
    column *= column
    row *= row
    column *= column
    return np.sum(a**2) + np.sum(row)


@case(A)
def held_by_a_list(a):
    a = a.copy()
    held = [a, a[1:]]
    a *= a
    z = held[1] * held[0][1:]
    np.sin(a, out=a)
    return np.sum(z) + np.sum(a)


@case(V)
def left_in_a_result(x):
    y = x * 2.0
    z = y * y
    y *= y
    return y * z


@case(V)
def swapped(x):
    a, b = x * 2.0, x * x
    for _ in range(3):
        a *= b
        b *= b
        a, b = b, a
    return np.sum(a * x) + np.sum(b)


@case(V, -V)
def either_way_in_each_step(x):
    y = x * 2.0
    for k in range(3):
        if y[0] > 0.1 * k:
            y *= x
            np.sin(y, out=y)
        else:
            np.cos(y, out=y)
            y += x * y
        np.tanh(y, out=y)
    return np.sum(y * x)


@case(V)
def all_of_it_by_two_names(x):
    y = x * 1.0
    y[:] = y[::-1] * y
    z = y[:]
    z[:] *= x
    y[:] += z[::-1]
    z[:] = np.cumsum(y)
    return np.sum(z * y)


@case(A[:, :3].copy())
def shortest_paths(x):
    y = x.copy()
    for k in range(len(y)):
        y[...] = np.minimum(y, np.add.outer(y[:, k], y[k, :]))
    return np.sum(y)


@case(A[:, :3].copy())
def read_by_a_later_loop(x):
    y = x.copy()
    for k in range(len(y)):
        y[...] = np.minimum(y, np.add.outer(y[:, k], y[k, :]))
    total = 0.0
    for k in range(len(y)):
        y[...] = np.tanh(y)
        total += np.sum(y * x)
    return total


@case(A[:, :3].copy())
def read_before_it_is_overwritten(x):
    y = x.copy()
    total = 0.0
    for _ in range(3):
        total += np.sum(y * y[0])
        y[...] = np.minimum(y, y.T * 1.5 + 0.07)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullbacks_twice(fn, args):
    value, pullback = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    seed = np.ones_like(value)[()]
    first, second = pullback(seed), pullback(seed)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first[0], ad.grad(fn)(*args), rtol=1e-13, atol=1e-15)


def test_nothing_is_put_back():
    text = ad.adjoint_source(one_name, V)
    assert "= old_y" not in text
    with pass_registry.without("dse"):
        assert "y[...] = old_y" in ad.adjoint_source(one_name, V)


def test_memory_around_a_loop_is_not_put_back():
    text = ad.adjoint_source(shortest_paths, A[:, :3].copy())
    assert "y[...] = old_y" not in text and "unbroadcast" not in text
    assert "y[...] = " in ad.adjoint_source(read_before_it_is_overwritten, A[:, :3].copy()).split("d_y = ")[1]
