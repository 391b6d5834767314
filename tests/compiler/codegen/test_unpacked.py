"""What is unpacked or changes places in one statement: the programs do what they did."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)


@case(V)
def rows_unpacked(x):
    B = np.outer(x, x)
    a, b, c, d = B
    a *= b
    d += c
    return np.sum(B * B)


@case(V)
def a_list_unpacked(x):
    items = [v * v for v in x]
    items[1] = items[0] * 2.0
    a, b, c, d = items
    return a * b + c * d


@case(V)
def shapes_unpacked(x):
    A = np.outer(x, x[::2])
    n, m = A.shape
    total = 0.0
    for i in range(n):
        for j in range(m):
            total = total + A[i, j] * x[j] / (n + m)
    return total


@case(V)
def axes_in_another_order(x):
    A = np.outer(x, x[:3])
    m = A.shape[1]
    n = A.shape[0]
    return np.sum(A) * n - m * x[0]


@case(V)
def one_axis_read_twice(x):
    A = np.outer(x, x[:3])
    n, m = A.shape[0], A.shape[0]
    return np.sum(A**2) * n - m * x[0]


@case(V, -V)
def sorted_by_swaps(x):
    y = x * 1.0
    for _ in range(4):
        for j in range(3):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y * y * np.arange(4.0))


@case(V)
def an_item_with_itself(x):
    y = x * x
    for k in (0, 2):
        y[2], y[k] = y[k], y[2]
    return np.sum(y * np.arange(4.0))


@case(V)
def swapped_with_itself_perhaps(x):
    y = x * x
    for k in range(4):
        i, j = int(np.argmax(y[: k + 1])), int(np.argmin(y))
        y[i], y[j] = y[j], y[i]
        y[0] *= y[1]
    return np.sum(y * np.arange(1.0, 5.0))


@case(V)
def swapped_and_changed(x):
    y = x * x
    y[0], y[1] = y[1] * 2.0, y[0]
    y[2], y[3] = y[3], y[2] + y[0]
    return np.sum(y * np.arange(1.0, 5.0))


@case(V)
def swapped_where_the_place_moves(x):
    y = x * 1.0
    k = 0
    for i in range(3):
        y[k], y[i + 1] = y[i + 1], y[k]
        k = i
        y[k] *= x[i]
    return np.sum(y * np.arange(1.0, 5.0))


@case(V)
def rows_swapped_through_views(x):
    A = np.outer(x, x)
    t = A[0]
    A[0] = A[1]
    A[1] = t
    return np.sum(A * np.arange(16.0).reshape(4, 4))


@case(V)
def swapped_over_two_lines(x):
    y = x * x
    t = y[1]
    y[1] = y[3]
    y[3] = t
    return np.sum(y * t * np.arange(4.0))


@case(V)
def arrays_of_a_list_swapped(x):
    rows = [x * 1.0, x * x, np.sin(x)]
    rows[0], rows[2] = rows[2], rows[0]
    rows[0] *= 2.0
    return np.sum(rows[0] * rows[1]) + np.sum(rows[2])


@case(V)
def items_of_two_arrays_swapped(x):
    y, z = x * x, x * 2.0
    y[0], z[1] = z[1], y[0]
    return np.sum(y * z)


@case(V)
def rotated(x):
    y = x * x
    y[0], y[1], y[2] = y[1], y[2], y[0]
    return np.sum(y * np.arange(4.0))


EDGES = np.array([[0, 1], [1, 2], [3, 0]])


@case(V)
def edges_of_a_graph(x):
    force = np.zeros_like(x)
    for e in range(len(EDGES)):
        a, b = EDGES[e]
        d = x[b] - x[a]
        force[a] += d * d
        force[b] -= d * x[a]
    return np.sum(force * x)


@case(V)
def edges_that_change(x):
    edges = EDGES.copy()
    total = 0.0
    for e in range(len(edges)):
        a, b = edges[e]
        total = total * x[a] + x[a] * np.sin(x[b])
        edges[(e + 1) % 3, 0] = b
        total = total + x[edges[e, 1]]
    return total


@case(V)
def pairs_of_numbers(x):
    pairs = [(x[k], x[k + 1]) for k in range(3)]
    total = 1.0
    for a, b in pairs:
        total = total * a + b * b
    return total


@case(np.outer(V, V[:2]))
def rows_of_numbers(p):
    total = 1.0
    for k in range(len(p)):
        a, b = p[k]
        total = total * np.sin(a) + a * b
    return total


@case(np.outer(V, V[:2]))
def only_one_is_read_again(p):
    total = 1.0
    for row in p:
        a, b = row
        total = total + a * a + b
    return total


@case(np.outer(V, V[:2]))
def the_whole_is_read_too(p):
    total = 1.0
    for row in p:
        a, b = row
        total = total * a + b * np.sum(row * row)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    plain = ad.grad(fn)(*args)
    with pass_registry.without("unpack"):
        assert np.array_equal(ad.grad(lambda *given: fn(*given))(*args), plain)
    value, pull = ad.vjp(fn, *args)
    np.testing.assert_allclose(pull(np.ones_like(value))[0], plain, rtol=1e-13)


def test_one_statement():
    assert "    a, b, c, d = B\n" in ad.adjoint_source(rows_unpacked, V)
    assert "    n, m = A.shape\n" in ad.adjoint_source(shapes_unpacked, V)
    source = ad.adjoint_source(sorted_by_swaps, V)
    assert "y[j], y[j + 1] = y[j + 1], y[j]\n" in source
    assert "d_y[j], d_y[j + 1] = d_y[j + 1], d_y[j]\n" in source


@pytest.mark.parametrize("count", [3, 5])
def test_a_wrong_number_raises(count):
    def f(x):
        a, b, c, d = x * 2.0
        return a * b * c * d

    with pytest.raises(ValueError, match="unpack"):
        f(np.ones(count))
    with pytest.raises(ValueError, match="unpack"):
        ad.grad(f)(np.ones(count))


def test_an_index_out_of_range_raises():
    def f(x, k):
        y = x * 1.0
        y[0], y[k] = y[k], y[0]
        return np.sum(y)

    np.testing.assert_array_equal(ad.grad(f)(V, 2), np.ones(4))
    with pytest.raises(IndexError):
        ad.grad(f)(V, 7)


def test_the_reverse_sweep_unpacks_as_the_program_does():
    source = ad.adjoint_source(edges_of_a_graph, V)
    assert "for a, b in EDGES:" in source and "a, b = EDGES[e]" in source, source


def test_a_wrong_number_in_a_loop_raises():
    def f(p):
        total = 0.0
        for k in range(len(p)):
            a, b = p[k]
            total = total + a * b
        return total

    ad.grad(f)(np.ones((3, 2)))
    with pytest.raises(ValueError):
        ad.grad(f)(np.ones((3, 3)))
