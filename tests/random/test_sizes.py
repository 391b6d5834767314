"""Programs far larger than people write: long functions, deep expressions and recursion, many arguments, long loops."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import autodiff_sct as ad
from tests.random.oracle import forget, load


def complex_step(function, x):
    """Return the derivative of an analytic function of a number, to the last digits."""
    return function(complex(x, 1e-30)).imag / 1e-30


def written(*lines):
    """Return a function `program` made of lines."""
    return load("import numpy as np\n\n\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("lines", [1000, 4000])
def test_a_long_function(lines):
    steps = [f"    x{i + 1} = x{i} * (1 + 0.0001 * x{i // 2})" for i in range(lines)]
    program = written("def program(x0):", *steps, f"    return x{lines}")
    assert math.isclose(ad.grad(program)(0.5), complex_step(program, 0.5), rel_tol=1e-9)
    forget(program)


def test_a_deep_expression():
    # CPython 3.12 itself compiles no deeper expressions: its limit is fixed in C.
    depth = 1000 if sys.version_info[:2] == (3, 12) else 2500
    program = written("def program(x):", "    return " + " + ".join(f"{i % 7} * x" for i in range(depth)))
    assert math.isclose(ad.grad(program)(0.5), sum(i % 7 for i in range(depth)))
    forget(program)


def test_nested_calls():
    program = written("def program(x):", "    return " + "np.sin(" * 90 + "x" + ")" * 90)
    assert math.isclose(ad.grad(program)(0.5), complex_step(program, 0.5), rel_tol=1e-9)
    forget(program)


def test_many_arguments():
    names = [f"a{i}" for i in range(300)]
    program = written(f"def program({', '.join(names)}):", "    return " + " + ".join(f"{n} ** 2" for n in names))
    values = [0.01 * i for i in range(300)]
    assert ad.grad(program, tuple(range(300)))(*values) == tuple(2 * v for v in values)
    forget(program)


def decayed(x, n):
    return x if n == 0 else decayed(x * 0.99 + 0.01 * x * x, n - 1)


def test_recursion_200_deep():
    expected = complex_step(lambda z: decayed(z, 200), 0.5)
    assert math.isclose(ad.grad(decayed)(0.5, 200), expected, rel_tol=1e-9)


def long_loop(x, n):
    for _ in range(n):
        x = x + 1e-5 * (1 - x * x)
    return x


def test_a_loop_of_200_000_trips():
    expected = complex_step(lambda z: long_loop(z, 200_000), 0.5)
    assert math.isclose(ad.grad(long_loop)(0.5, 200_000), expected, rel_tol=1e-9)


def long_vector_loop(x, n):
    x = x.copy()
    for i in range(n):
        x[i % 4] = x[i % 4] + 1e-4 * np.cos(x[(i + 1) % 4])
    return np.sum(x)


def test_a_loop_of_200_000_writes():
    x = np.array([0.1, 0.2, 0.3, 0.4])
    found = ad.grad(long_vector_loop)(x, 200_000)
    for i in range(4):
        moved = x.astype(complex)
        moved[i] += 1e-30j
        assert math.isclose(found[i], long_vector_loop(moved, 200_000).imag / 1e-30, rel_tol=1e-9)
