"""``backend="numba"``: the NumPy back end's results within rounding, and every law that it keeps."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.compiler.numba import NativeWarning
from tests.native import programs


def positions(args):
    return tuple(k for k, a in enumerate(args) if isinstance(a, (float, np.ndarray)))


def flat(value):
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, tuple) else [value]


def assert_alike(found, expected, rtol=1e-10):
    for a, b in zip(flat(found), flat(expected), strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12)


def native(fn, *args, **settings):
    """The value and gradients, natively: a warning would be an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ad.value_and_grad(fn, positions(args), backend="numba", **settings)(*args)


@pytest.mark.parametrize("fn", programs.CASES, ids=lambda fn: fn.__name__)
def test_same_results(fn):
    args = programs.CASES[fn]()
    kept = [np.copy(a) for a in args]
    found = native(fn, *args)
    assert_alike(found, ad.value_and_grad(fn, positions(args))(*args))
    assert all(np.array_equal(a, b) for a, b in zip(args, kept))


@pytest.mark.parametrize("fn", [programs.heat, programs.rosenbrock, programs.mixture, programs.network])
def test_single_precision_stays(fn):
    args = tuple(a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in programs.CASES[fn]())
    found = native(fn, *args)
    assert_alike(found, ad.value_and_grad(fn, positions(args))(*args), rtol=1e-4)


def test_forward_mode():
    def f(u, r):
        return programs.heat(u, r, 5)

    args = programs.CASES[programs.heat]()[:2]
    v = (np.ones_like(args[0]), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.jvp(f, args, v, backend="numba")
    assert_alike(found, ad.jvp(f, args, v))


def test_forward_mode_of_products():
    """The tangent of each factor meets the other factor only."""

    def f(x, w, b):
        return np.sum(np.tanh(x @ w + b))

    args = (np.linspace(0, 1, 28).reshape(7, 4), np.linspace(-1, 1, 12).reshape(4, 3), np.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.jvp(f, args, args, backend="numba")
    assert_alike(found, ad.jvp(f, args, args))


def test_forward_jacobian():
    def f(x):
        return np.tanh(x) * x[0]

    x = np.array([0.3, -0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.jacfwd(f, backend="numba")(x)
    np.testing.assert_allclose(found, ad.jacfwd(f)(x), rtol=1e-12)


def recurrence(x, w):
    h = x
    for _ in range(3):
        h = np.tanh(h * w) + x
    return h


def sum_and_product(x, w):
    return np.sum(x * w), x * w[0]


def product(a, b):
    return a * b + a


X = np.linspace(0.1, 1.0, 4)


@pytest.mark.parametrize(
    "fn, args, seeds",
    [
        (recurrence, (X, 2 * X), (X,)),
        (recurrence, (X.astype(np.float32), X.astype(np.float32)), (X.astype(np.float32),)),
        (sum_and_product, (X, 2 * X), (2.0, X)),
        (product, (2.0, 3.0), (1.5,)),
        (lambda x: x, (X,), (X,)),
    ],
)
def test_pullbacks(fn, args, seeds):
    given = tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, pull = ad.vjp(fn, *given, backend="numba")
    for array in (a for a in given if isinstance(a, np.ndarray)):
        array[...] = 7.0  # the pullback is that at the values of the call
    expected, numpy_pull = ad.vjp(fn, *args)
    rtol = 1e-5 if np.asarray(args[0]).dtype == np.float32 else 1e-10
    assert_alike(value, expected, rtol)
    for _ in range(2):
        found = pull(*seeds)
        assert_alike(found, numpy_pull(*seeds), rtol)
        assert not any(np.shares_memory(g, s) for g in found for s in (*given, *seeds) if isinstance(s, np.ndarray))


def test_reverse_jacobian():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.jacrev(recurrence, (0, 1), backend="numba")(X, 2 * X)
    assert_alike(found, ad.jacrev(recurrence, (0, 1))(X, 2 * X))


def test_seeds_for_arrays():
    settings = {"grad_position": (0, 1), "sens_param": True}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.value_and_grad(recurrence, backend="numba", **settings)(X, 2 * X, X)
    assert_alike(found, ad.value_and_grad(recurrence, **settings)(X, 2 * X, X))


def test_pullbacks_outside_the_dialect_say_so():
    def f(x):
        parts = {"a": x * x}
        return np.sum(np.sort(parts["a"]))

    with pytest.warns(NativeWarning, match="test_backend.py"):
        value, pull = ad.vjp(f, X, backend="numba")
    assert_alike(pull(1.0), ad.vjp(f, X)[1](1.0))


def test_source_is_native():
    source = ad.adjoint_source(programs.heat, *programs.CASES[programs.heat](), backend="numba")
    assert "@njit" in source
    assert "for i in range(len(u" in source
    assert "programs.py" in source


def test_nan_stays_in_its_element():
    def f(x):
        return np.sum(np.exp(x) + x * x)

    x = np.array([1.0, np.nan, np.inf, -1.0])
    expected = ad.grad(f)(x)
    assert np.isnan(expected[1]) and np.isposinf(expected[2])
    np.testing.assert_allclose(ad.grad(f, backend="numba")(x), expected)


def divide(x, y):
    total = 0.0
    for i in range(3):
        total += x / (y - i)
    return total


def outside(x, k):
    total = 0.0
    for i in range(k):
        total += x[i] ** 2
    return total


def checked(x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative")
    return np.sum(np.sqrt(x))


@pytest.mark.parametrize(
    "fn, good, bad, error",
    [
        (divide, (1.0, 5.0), (1.0, 2.0), ZeroDivisionError),
        (outside, (np.ones(3), 3), (np.ones(3), 4), IndexError),
        (checked, (np.ones(3),), (-np.ones(3),), ValueError),
        (programs.rosenbrock, (np.ones(3),), (np.ones((3, 2)),), None),
    ],
)
def test_exceptions_are_the_primals(fn, good, bad, error):
    gradient = ad.grad(fn, backend="numba")
    np.testing.assert_allclose(gradient(*good), ad.grad(fn)(*good))
    if error is None:
        np.testing.assert_allclose(gradient(*bad), ad.grad(fn)(*bad))
        return
    with pytest.raises(error):
        gradient(*bad)
    np.testing.assert_allclose(gradient(*good), ad.grad(fn)(*good))


def test_length_one_that_broadcasts_runs_as_numpy():
    def f(x, y):
        return np.sum(x[1:] * y[1:])

    gradient = ad.grad(f, (0, 1), backend="numba")
    x, y = np.arange(5.0), np.arange(2.0) + 3
    with pytest.warns(NativeWarning, match="ran as NumPy code"):
        found = gradient(x, y)
    assert_alike(found, ad.grad(f, (0, 1))(x, y))
    assert_alike(gradient(x, x), ad.grad(f, (0, 1))(x, x))


def test_large_integers_run_as_numpy():
    def f(x, n):
        return x * (n * n)

    gradient = ad.grad(f, backend="numba")
    assert gradient(2.0, 3) == 9.0
    assert gradient(2.0, 2**40) == float(2**80)


def test_growing_integers_stay_numpy():
    def f(x):
        a, b = 1, 1
        for _ in range(200):
            a, b = b, a + b
        return x * float(b)

    with pytest.warns(NativeWarning, match="outgrow 64 bits"):
        assert ad.grad(f, backend="numba")(1.0) == ad.grad(f)(1.0)


def test_what_is_outside_names_the_line_and_the_reason():
    def f(x):
        y = np.sort(x)
        return np.sum(y * np.arange(3.0))

    with pytest.warns(NativeWarning) as caught:
        found = ad.grad(f, backend="numba")(np.array([2.0, 3.0, 1.0]))
    assert "y = np.sort(x)" in str(caught[0].message)
    np.testing.assert_allclose(found, [1.0, 2.0, 0.0])


def test_effects_happen_once(capsys):
    def f(x):
        print("once")
        return x * x

    with pytest.warns(NativeWarning):
        assert ad.grad(f, backend="numba")(3.0) == 6.0
    assert capsys.readouterr().out == "once\n"


def test_auto_takes_loops_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loops = ad.grad(programs.newton, backend="auto")
        assert loops(2.0) == pytest.approx(ad.grad(programs.newton)(2.0))
        assert "@njit" in loops.source_for(2.0)
        straight = ad.grad(lambda x: np.sum(x * x), backend="auto")
        assert "@njit" not in straight.source_for(np.ones(3))
        assert ad.grad(lambda x: np.sum(np.sort(x)), backend="auto")(np.ones(2)).tolist() == [1.0, 1.0]


def test_unknown_back_end():
    with pytest.raises(ValueError, match="numpy"):
        ad.grad(programs.newton, backend="cuda")


def test_importing_stays_quick():
    code = (
        "import sys, autodiff_sct\n"
        "from tests.native.programs import newton\n"
        "autodiff_sct.grad(newton)(2.0)\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)


def test_second_order_starts_from_the_primal():
    assert ad.grad(ad.grad(programs.newton, backend="numba"))(2.0) == pytest.approx(
        ad.grad(ad.grad(programs.newton))(2.0)
    )
