"""The lines that comments of an adjoint name: the user's, once for each group of statements that reverse them."""

from __future__ import annotations

import functools
import heapq
import re

import numpy as np
import pytest

import autodiff_sct as ad

V = np.array([0.4, 1.3, -0.7, 0.9])


def spelled_out(x):
    best = max(x, key=lambda v: v * v)
    total = functools.reduce(lambda a, b: a * 0.5 + b, x)
    largest = sum(heapq.nlargest(2, list(x), key=abs))
    order = sorted(x, key=lambda v: -v)
    mean, weight = np.average(x, weights=x**2, returned=True)
    return best * total + largest + order[0] * mean / weight + np.var(x, mean=x[0])


def summed(x, n):
    rows = [[v * k for v in x] for k in range(n)]
    return sum(sum(v**2 for v in row) for row in rows)


def lines_of(fn, *args):
    return re.findall(r"# (\w+\.py):\d+  (.*)", ad.adjoint_source(fn, *args))


def test_what_the_compiler_spells_out_is_said_to_be_of_the_line_that_asks_for_it():
    found = lines_of(spelled_out, V)
    assert {file for file, _ in found} == {"test_lines_said.py"}
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    assert all(line in text for _, line in found)
    for asked in ("best = max(", "total = functools", "largest = sum(", "order = sorted(", "mean, weight = "):
        assert any(line.startswith(asked) for _, line in found)


def test_a_function_given_to_the_compilers_own_text_has_lines_of_its_own():
    def step(a, b):
        product = a * np.sin(b)
        return product + a

    found = lines_of(lambda x: functools.reduce(step, x), V)
    assert ("test_lines_said.py", "product = a * np.sin(b)") in found


def test_an_error_is_at_the_line_that_asks():
    def f(x):
        y = x * 2
        return np.percentile(y, [5, 50], axis=0, method="nonsense")[0]

    with pytest.raises(ad.errors.AutodiffError, match=r"test_lines_said\.py") as caught:
        ad.grad(f)(V)
    assert "return np.percentile(" in str(caught.value)


def test_a_line_is_said_once_where_a_loop_goes_on_with_it():
    found = lines_of(summed, V, 3)
    assert all(a != b for a, b in zip(found, found[1:]))
    assert len(found) >= 2
