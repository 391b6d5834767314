"""No large constant is computed while compiling: a bound on the result is taken before it is computed."""

from __future__ import annotations

import ast
import math
import operator
import textwrap
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import dummies
from autodiff_sct.core import thresholds

LARGE = [
    'len("a" * 10**9)', 'len(b"a" * 10**9)', "len([0] * 10**9)", "len((0,) * 10**9)", 'len("%1000000000d" % 5)',
    'len("a".ljust(10**9))', 'len("a".zfill(10**9))', 'len("{:1000000000}".format(5))',
    'len(("a" * 1000).replace("a", "b" * 10**6))', 'len(("b" * 10**5).join(["a"] * 10000))',
    "3**10**7 % 7", "pow(3, 10**7) % 7", "(1 << 10**9) % 7", "math.factorial(10**6) % 7",
    "sum(range(10**8))", "max(range(10**8))", "max(*range(10**8))", "sorted(range(10**8))[0]",
    "np.eye(20000)[0, 0]", "np.arange(3e8)[1]", "np.arange(0.0, 1.0, 1e-9)[1]", "np.ones((20000, 20000))[0, 0]",
    "np.full((20000, 20000), 2.0)[0, 0]", "np.linspace(0.0, 1.0, 3 * 10**8)[1]", "np.indices((10**4, 10**4))[0, 0, 0]",
    "np.pad(np.ones(3), 10**8)[0]", "np.array([0.0] * 10**8)[0]", "np.hanning(10**8)[0]",
    "len(list(itertools.product(range(100), repeat=5)))",
]  # fmt: skip
MEGABYTES = 40  # what compiling takes by itself, and much less than any of these


def made(tmp_path, name, body):
    import importlib.util

    path = tmp_path / f"{name}.py"
    path.write_text("import itertools\nimport math\nimport numpy as np\n\n\n" + textwrap.dedent(body))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("text", LARGE)
def test_no_large_constant_is_computed_in_a_branch_that_never_runs(text, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    module = made(
        tmp_path,
        "large",
        f"def f(x, flag):\n    s = 0.0\n    if flag:\n        s = {text}\n    return np.sum(x * x) + s\n",
    )
    tracemalloc.start()
    try:
        gradient = ad.grad(module.f)(np.array([1.0, 2.0]), np.array(0.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
    assert peak < MEGABYTES * 2**20


@pytest.mark.parametrize(
    "text",
    [
        'len("ab" * 20000 * 60)', "2**20000 % 7", "(1 << 20000) % 11", "sum(range(20000))", "min(range(20000))",
        "len([0] * 20000)", "len((1, 2) * 20000)", 'len("a".ljust(2**21))', "sorted(range(200000))[3]",
        "np.eye(200)[3, 3]", "np.arange(300.0)[7]", "np.full((70, 70), 2.5)[1, 1]", "np.linspace(0.0, 1.0, 5001)[3]",
        "math.factorial(200) % 211", "np.arange(0.0, 1.0, 1e-3)[5]",
    ],
)  # fmt: skip
def test_what_is_not_folded_is_what_the_run_computes(text, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    module = made(tmp_path, "run", f"def f(x):\n    return np.sum(x * x) * ({text})\n")
    x = np.array([1.0, 2.0])
    value, gradient = ad.value_and_grad(module.f)(x)
    factor = eval(text, {"np": np, "math": math})
    assert value == module.f(x)
    np.testing.assert_allclose(gradient, 2 * x * factor, rtol=1e-15)


@pytest.mark.parametrize(
    ("fn", "args", "cheap"),
    [
        (operator.mul, ("a", 10**9), False), (operator.mul, (10**9, "a"), False), (operator.mul, ("a", 80), True),
        (operator.pow, (3, 10**7), False), (operator.pow, (3, 100), True), (operator.pow, (1.5, 10**9), True),
        (operator.lshift, (1, 10**9), False), (operator.lshift, (1, 60), True), (operator.add, (2, 3), True),
        (operator.mod, ("%1000000000d", 5), False), (operator.mod, ("%*d", (10**9, 5)), False),
        (operator.mod, ("%d", 5), True), ("a".ljust, (10**9,), False), ("a".upper, (), True),
        ("{:{}}".format, (5, 10**9), False), (sorted, (range(10**30),), False), (sorted, ([2, 1],), True),
    ],
)  # fmt: skip
def test_the_bound_on_a_result(fn, args, cheap):
    assert dummies.is_cheap(fn, args) is cheap


@pytest.mark.parametrize("values", [(20000, -1, 3.0e8, 30000), (5, 2, 0), (64, 64, 64), (1e-9, 1.0), (2**70, 1e5)])
def test_smaller_numbers_keep_kinds_signs_and_order(values):
    found = dummies.smaller(values)
    assert list(map(type, found)) == list(map(type, values))
    assert [np.sign(v) for v in map(float, found)] == [np.sign(v) for v in map(float, values)]
    whole = [(abs(a), abs(b)) for a, b in zip(values, found) if type(a) is int]
    assert sorted(whole) == sorted(whole, key=lambda pair: pair[1])
    assert ast.literal_eval(repr(found)) == found


@pytest.mark.parametrize("index", [lambda n: [slice(None)] * n, lambda n: (slice(None),) * n], ids=["list", "tuple"])
def test_slices_are_not_repeated_at_run_time(index: Callable[[int], Any]) -> None:
    gradient = ad.grad(lambda x, n: np.sum(x[tuple(index(n))] ** 2))
    np.testing.assert_array_equal(gradient(np.ones((3, 3)), 1), 2.0)  # compiled for this number
    with pytest.raises(ad.errors.UnsupportedSyntax, match="slices are repeated"):
        gradient(np.ones((3, 3)), thresholds.INTEGER + 1)
