"""Lists of arrays: of one length or of several, which meet or do not."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autodiff_sct as ad

RNG = np.random.default_rng(5)
X = RNG.normal(size=6)


def scaled_by_its_length(parts, x):
    s = 0.0
    for p in parts:
        s = s + np.sum(p) * np.sum(x[: len(p)] * p)
    return s


def with_the_one_before(parts, x):
    s, before = 0.0, parts[0]
    for p in parts:
        now = p * 2.0
        if len(before) == len(now):
            s = s + np.sum(before * now)
        before = now
    return s + np.sum(before * before) * x[0]


def shortened_in_place(parts, x):
    for i in range(len(parts)):
        parts[i] = parts[i][i:] * x[0]
    s = 0.0
    for p in parts:
        s = s + np.sum(p * p)
    return s


def first_with_last(parts, x):
    a, b = parts[0], parts[-1]
    if len(a) == len(b):
        return np.sum(a * b) * x[0]
    return np.sum(a) * np.sum(b * b)


def largest(parts, x):
    best = parts[0]
    for p in parts:
        if np.sum(p) > np.sum(best):
            best = p
    return np.sum(best**2) * np.mean(parts[1]) * x[1]


def sums_and_their_ends(parts, x):
    out = []
    for p in parts:
        q = np.cumsum(p)
        out.append(q)
        out.append(q[1:])
    return sum(np.sum(o * o) for o in out) + np.sum(out[0]) * np.sum(out[-1]) * x[2]


def swapped(parts, x):
    a, b = parts[0], parts[1]
    for _ in range(3):
        a, b = b, a
    return np.sum(a) * np.sum(b * b) + np.sum(np.full_like(a, 2.0) * a) * x[3]


def added_up(parts, x):
    t = np.zeros(len(x))
    for p in parts:
        t[: len(p)] += p
    return np.sum(t * x)


def consumed(parts, x):
    stack, s = list(parts), 0.0
    while len(stack) > 1:
        a, b = stack.pop(), stack.pop()
        n = min(len(a), len(b))
        c = a[:n] * b[:n]
        s = s + np.sum(c)
        stack.append(c)
    return s + np.sum(stack[0]) * x[4]


PROGRAMS = [
    scaled_by_its_length, with_the_one_before, shortened_in_place, first_with_last, largest, sums_and_their_ends,
    swapped, added_up, consumed,
]  # fmt: skip


def difference(fn, parts, x, place, direction):
    ends = []
    for step in (1e-6, -1e-6):
        moved = copy.deepcopy(parts), x.copy()
        (moved[1] if place is None else moved[0][place])[direction] += step
        ends.append(float(fn(*moved)))
    return (ends[0] - ends[1]) / 2e-6


@pytest.mark.parametrize("lengths", [(3, 4, 5), (3, 3, 3), (2, 2, 4), (4, 2), (5, 3, 2)])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_parts_of_many_lengths(fn, lengths):
    parts = [np.random.default_rng(k).normal(size=n) for k, n in enumerate(lengths)]
    found, of_x = ad.grad(fn, (0, 1))(copy.deepcopy(parts), X.copy())
    np.testing.assert_allclose(of_x, [difference(fn, parts, X, None, j) for j in range(6)], rtol=1e-5, atol=1e-6)
    for k, d in enumerate(found):
        expected = [difference(fn, parts, X, k, j) for j in range(lengths[k])]
        np.testing.assert_allclose(d, expected, rtol=1e-5, atol=1e-6)


def layers(params, x):
    for weight, bias in params:
        x = np.tanh(x @ weight + bias)
    return np.mean(x**2)


def test_layers_of_many_widths_need_no_sums_but_those_of_the_bias():
    params = [(RNG.normal(size=(3, 4)), RNG.normal(size=4)), (RNG.normal(size=(4, 2)), RNG.normal(size=2))]
    source = ad.adjoint_source(layers, params, RNG.normal(size=(5, 3)))
    assert "unbroadcast" not in source
    assert source.count(".append(") == 1


@pytest.mark.parametrize("width", [1, 4])
def test_layers_of_width_one(width):
    params = [(RNG.normal(size=(3, width)), RNG.normal(size=1)), (RNG.normal(size=(width, 2)), RNG.normal(size=2))]
    x = RNG.normal(size=(5, 3))
    for (dw, db), (w, b) in zip(ad.grad(layers)(params, x), params):
        assert dw.shape == w.shape
        assert db.shape == b.shape
