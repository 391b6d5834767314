"""``list(x)``, ``x.tolist()``, ``x.item(k)``: numbers of an array as objects; the cotangent of a list is an array."""

from __future__ import annotations

import bisect

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
A = np.array([[0.3, -0.8, 1.2], [0.5, 0.9, -0.4]])


@case(V)
def found_in_a_list(x):
    w = np.exp(x)
    edges = list(np.cumsum(w) / np.sum(w))
    return edges[bisect.bisect(edges, 0.4)] ** 2


@case(V)
def array_written_after_it(x):
    y = x * 1.0
    items = list(y)
    y[0] = 5.0
    items[1] = y[0] * items[2]
    total = 0.0
    for v in items:
        total = total * v + v
    return total * y[3]


@case(V)
def list_that_changes(x):
    items = list(x)
    items.append(x[0] * 2)
    items.sort()
    other = items
    other[0] = items[1] * 2
    items += list(x * x)
    return items[0] * items[-1] + sum(items) + np.sum(np.array(other) ** 2)


@case(V)
def list_that_is_emptied(x):
    items, total = list(x), 1.0
    while items:
        total *= items.pop() + 1
    return total


@case(A)
def rows_that_are_views(a):
    b = a * 1.0
    for row in list(b):
        row *= 2
    return np.sum(b * a)


@case(A)
def numbers_of_rows(a):
    rows = a.tolist()
    total = 0.0
    for row in rows:
        for v in row:
            total = total + v * v * row[0]
    return total + rows[1][2]


@case(np.arange(1.0, 9.0).reshape(2, 2, 2) / 4)
def numbers_of_three_axes(a):
    return sum(v * w for (v, w), _ in a.tolist())


@case(V)
def number_of_no_axes(x):
    return (x[0] * np.asarray(x.sum())).tolist() * np.array(x[1]).tolist()


@case(A)
def items_by_method(a):
    total = a[0].item(1) * a[0].item(-1) + a.item(4)
    for i in range(2):
        total += a.item(i, 0) ** 2 * a.item((1, 2)) * a[i].item(int(np.argmax(a[i])))
    return total


@case(V, V[:1], V[:0])
def of_any_length(x):
    total = 1.0
    for v in list(x)[::-1]:
        total = total * (v + 2.0)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn, args):
    if args[0].size:
        check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_single_precision(fn, args):
    gradient = ad.grad(fn)(args[0].astype(np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(fn)(args[0]), rtol=1e-4)


def test_complex_numbers():
    z = V + 1j * V[::-1]
    of_list, of_array = ad.grad(lambda z: abs(list(z)[1] * list(z)[0]))(z), ad.grad(lambda z: abs(z[1] * z[0]))(z)
    np.testing.assert_allclose(of_list, of_array, rtol=1e-14)


def test_kinds_of_the_numbers():
    def both(x):
        return list(x * 2), (x * 2).tolist(), np.outer(x, x).tolist()

    value, _ = ad.vjp(both, V)
    expected = both(V)
    assert value == expected
    assert [type(v[0]) for v in value[:2]] == [np.float64, float] and type(value[2][0][0]) is float


def test_items_by_method_are_read_by_index():
    text = ad.adjoint_source(lambda x: x.item(1) * x.item(-1), V)
    assert "x[1].item()" in text and "x[-1].item()" in text
    with pytest.raises(TypeError):
        ad.grad(lambda x: x.item(1.0))(V)
    with pytest.raises(IndexError):
        ad.grad(lambda x: x.item(4))(V)


def test_what_the_text_says():
    text = ad.adjoint_source(found_in_a_list, V)
    assert "edges = list(t)" in text and "for " not in text
