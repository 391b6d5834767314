"""Arrays that tell places of items of others: lists where nobody sees that their items are integers."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

pytestmark = pytest.mark.once


def written_places(x, p):
    p = p.copy()
    s = 0.0
    for i in range(len(p)):
        s += x[p[i]] * x[i]
        p[i] = 0
    for i in range(len(p)):
        s += x[p[i]] ** 2
    return s


def under_another_name(x, p):
    p = p.copy()
    other, s = p, 0.0
    for i in range(len(p)):
        s += x[p[i]] * x[i]
        other[0] = i
    return s


def written_by_places(x, p):
    x = x.copy()
    for i in range(len(p)):
        x[p[i]] = x[p[i]] * x[i]
    return np.sum(x**2)


def also_numbers(x, p):
    s = 0.0
    for i in range(len(p)):
        s += x[p[i]] * x[i] / p[i] + x[i] * p[i]
    return s


def seen_later(x, p):
    s = 0.0
    for i in range(len(p)):
        k = p[i]
        s += x[k] * x[i]
    return s * k


def compared(x, p):
    s = 0.0
    for i in range(len(p)):
        for j in range(len(p)):
            s += x[p[i]] * x[j] if p[i] == p[j] else x[p[j]]
    return s


def compared_sums(x, p):
    s = 0.0
    for i in range(1, len(p)):
        if p[i] % 6 + 2**62 + p[0] > 0:  # wraps around
            s += x[p[i] % 6] * x[i]
    return s


def by_key(x, p):
    s, seen = 0.0, {}
    for i in range(len(p)):
        seen[p[i]] = x[i]
        s += x[p[i]] ** 2 * seen[p[i]]
    return s


def kept(x, p):
    s, seen = 0.0, []
    for i in range(len(p)):
        k = p[i]
        seen.append(k)
        s += x[k] ** 2 * x[i]
    for k in seen:
        s += x[k] ** 3
    return s


def from_a_branch(x, p):
    s = 0.0
    for i in range(len(p)):
        k = p[i] if x[i] > 0 else i
        s += x[k] * x[i]
    return s


def beyond(x, p):
    s = 0.0
    for i in range(len(p)):
        s += x[p[i] + 3] ** 2
    return s


def turned(x, p):
    y = np.zeros(len(x))
    for i in range(len(p)):
        y[len(x) - 1 - i] += x[i] * x[p[len(p) - 1 - i]]
    return np.sum(y**2)


PLACES = np.array([3, 0, -1, 3, 2, 5])
PROGRAMS = [
    (written_places, PLACES),
    (under_another_name, PLACES),
    (written_by_places, PLACES),
    (written_by_places, PLACES.astype(np.int8)),
    (written_by_places, PLACES[:0]),
    (also_numbers, PLACES),
    (seen_later, PLACES),
    (compared, PLACES),
    (compared_sums, np.array([2**62, 1, 2, 3, 4, 5])),
    (by_key, PLACES),
    (kept, PLACES),
    (from_a_branch, PLACES),
    (beyond, PLACES),
    (turned, PLACES),
]


def outcome(fn, *args, wrt=0):
    try:
        value, gradient = ad.value_and_grad(fn, wrt)(*args)
    except Exception as error:
        return type(error), str(error)
    return type(value), np.asarray(value).tobytes(), gradient.tobytes()


@pytest.mark.parametrize(("program", "places"), PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_same_as_with_arrays(program, places):
    x = np.random.default_rng(3).normal(size=6)
    found = outcome(program, x, places)
    with pass_registry.without("unbox_arrays"):
        assert outcome(lambda x, p: program(x, p), x, places) == found


@pytest.mark.parametrize(("program", "is_list"), [(written_by_places, True), (compared, True), (also_numbers, False)])
def test_places_are_lists_where_they_only_tell_places(program, is_list):
    assert ("p.tolist()" in ad.adjoint_source(program, np.ones(6), PLACES)) == is_list


def test_a_short_axis_need_not_be_gone_along():
    def lengths(x, edges):
        s = 0.0
        for k in range(len(edges)):
            s += (x[edges[k, 0]] - x[edges[k, 1]]) ** 2
        return s

    edges = np.array([[0, 1], [1, 2], [2, 5]])
    assert "edges.tolist()" in ad.adjoint_source(lengths, np.ones(6), edges)
    assert "edges.tolist()" not in ad.adjoint_source(lengths, np.ones(6), np.zeros((3, 40), int))


def unpacked_rows(x, w):
    q = x[0]
    for t in range(len(w)):
        a, b, c = w[t]
        q = q + 0.1 * np.array([q[1] * a - q[2] * b, q[0] * c * b, np.sin(a) * q[1]])
    return np.sum(q * q)


def rows_written_behind(x, w):
    x = x.copy()
    s = 0.0
    for t in range(len(w)):
        row = x[t]
        s += row[0] * row[1] * w[t, 0]
        x[t, 1] = w[t, 2] * row[2]
        s += row[1] * row[0] * row[2]
    return s + np.sum(x**2)


def rows_written(x, w):
    y = np.zeros_like(x)
    s = 0.0
    for t in range(len(w)):
        row, other = y[t], w[t]
        row[0] = other[0] * other[1]
        row[1] = row[0] * x[t, 1] + other[2]
        row[2] = row[1] * row[0] + row[1] * other[0]
        s += y[t, 2]
    return s + np.sum(y**3)


def rows_of_other_lengths(x, w):
    s = 0.0
    for t in range(len(w)):
        row = w[t]
        s += row[0] * row[1] * row[3] * x[t, 0]
    return s


@pytest.mark.parametrize("program", [unpacked_rows, rows_written_behind, rows_written, rows_of_other_lengths])
@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_rows_with_few_items_are_lists(program, columns):
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(4, 3)), rng.normal(size=(4, columns))
    for wrt in (0, 1):
        found = outcome(program, x, w, wrt=wrt)
        with pass_registry.without("unbox_arrays"):
            assert outcome(lambda x, w: program(x, w), x, w, wrt=wrt) == found


def test_a_row_of_unknown_length_is_a_list_where_it_surely_is_short():
    assert "a, b, c = w[t].tolist()" in ad.adjoint_source(unpacked_rows, np.ones((4, 3)), np.ones((4, 3)))
    assert "w[t].tolist()" not in ad.adjoint_source(rows_of_other_lengths, np.ones((4, 3)), np.ones((4, 40)))


def test_items_of_rows_are_floats():
    def aligned(score, gap, a, b):
        best = np.zeros((len(a) + 1, len(b) + 1))
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                match = best[i - 1, j - 1] + score[a[i - 1], b[j - 1]]
                best[i, j] = max(match, best[i - 1, j] + gap, best[i, j - 1] + gap)
        return best[len(a), len(b)]

    score, a, b = np.eye(6) - 0.3, PLACES, PLACES[::-1].copy()
    text = ad.adjoint_source(aligned, score, -0.5, a, b, grad_position=(0, 1))
    assert "score_rows[a_items[i - 1]]" in text and "float(" not in text
    d_score, d_gap = ad.grad(aligned, (0, 1))(score, -0.5, a, b)
    assert type(d_gap) is float
    with pass_registry.without("unbox_arrays"):
        expected = ad.grad(lambda *args: aligned(*args), (0, 1))(score, -0.5, a, b)
    assert (d_score.tobytes(), d_gap) == (expected[0].tobytes(), expected[1])
    assert type(ad.grad(aligned, 1)(score, -0.5, a[:0], b)) is float
