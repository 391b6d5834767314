"""What is computed again instead of saved: programs in which that is right, and such in which it is not."""

import math
import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES: list = []
case = registrar(CASES)
GIVEN = [(V, 3), (V, 0)]


@case(*GIVEN)
def logistic(x, n):
    for _ in range(n):
        x = 1.7 * x * (1.0 - x) * 0.5
    return np.sum(x * x)


@case(*GIVEN)
def operand_written_later(x, n):
    for _ in range(n):
        a = np.tanh(x)
        t = a * x
        y = t * t * a
        a[0] = 3.0 * y[1]
        x = y + 0.1 * a * a
    return np.sum(x)


@case(*GIVEN)
def result_written(x, n):
    for _ in range(n):
        t = x * 0.5
        t[1] = t[0] * t[2]
        t += 0.2
        x = t * t + np.tanh(x * t)
    return np.sum(x)


@case(*GIVEN)
def written_through_a_view(x, n):
    for _ in range(n):
        a = np.sin(x)
        t = a - x
        end = a[2:]
        y = t * t
        end *= y[2:]
        x = y * a
    return np.sum(x)


@case(*GIVEN)
def argument_written(x, n):
    for k in range(n):
        t = x * 1.5 - 0.1
        x[k] = t[k] * t[k - 1] * t[k]
    return np.sum(x * x)


@case(*GIVEN)
def written_after_the_loop(x, n):
    first = x * 1.0
    a = first
    for _ in range(n):
        t = 1.5 - a
        a = t * t * a * 0.3
    first[1] = a[0] ** 2
    return np.sum(first * a)


@case(*GIVEN)
def one_of_several_arrays(x, n):
    last = x
    for k in range(n):
        table = np.outer(x, x)
        if k == 1:
            continue
        last = table + 0.1
    x[0] = 1.1
    return np.sum(last * last)


@case(*GIVEN)
def columns_and_rows(x, n):
    total = 0.0
    for _ in range(n):
        d = x[:, None] - x[None, :]
        total = total + np.sum(np.exp(-0.5 * d * d))
        x = np.tanh(x)
    return total


@case(*GIVEN)
def chain_of_passes(x, n):
    for _ in range(n):
        a = x + 1.5
        b = a * x
        c = b - a
        x = np.tanh(a * b * c) + a * a * 0.1 + c * c * 0.05
    return np.sum(x)


@case(*GIVEN)
def inner_loop(x, n):
    for k in range(n):
        s = x * 0.5
        for _ in range(k):
            t = s - x
            x = t * t * s + 0.3
    return np.sum(x * x)


@case(*GIVEN)
def one_side(x, n):
    for k in range(n):
        t = x * 0.7
        if k % 2:
            x = t * t * np.tanh(x)
        else:
            x = x + t
    return np.sum(x * x)


@case(*GIVEN)
def size_of_a_step(x, n):
    total = 0.0
    for k in range(n):
        t = x[k:] * x[: len(x) - k]
        total = total + np.sum(t * t)
    return total


@case((V, 1.5, 3), (V, -0.5, 0))
def negated(x, a, n):
    for _ in range(n):
        x = np.exp(-x) * a / (x * x + 1.0)
    return np.sum(x)


@case((0.7, 3), (0.7, 0))
def functions_of_a_number(x, n):
    for _ in range(n):
        x = math.sin(x) * math.exp(-x) + math.sqrt(x * x + 1.0) * math.cos(x)
    return x


@case((0.7, 2.0))
def power_of_numbers(x, p):
    for _ in range(3):
        x = math.pow(x, p) + math.atan2(x, p) * x
    return x


@case((0.3, 3))
def cut_off(x, n):
    for k in range(n):
        try:
            t = math.sqrt(x - 0.2 * k)
            x = t * t * math.exp(t)
        except ValueError:
            x = x * x
    return x


@case((V, 3))
def list_of_arrays(x, n):
    items = [x, x * 2.0]
    for _ in range(n):
        t = items[0] - items[-1]
        items.append(0.1 * t * t * items[-1])
    return np.sum(items[-1])


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    given = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]

    def on_a_copy(x, *rest):
        return fn(x.copy() if isinstance(x, np.ndarray) else x, *rest)

    check_gradient(on_a_copy, given)
    with pass_registry.without("plan_tape"):
        plain = ad.grad(fn)(*given)
    np.testing.assert_allclose(ad.grad(fn)(*given), plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fn", [logistic, columns_and_rows, chain_of_passes, inner_loop])
def test_other_types(fn):
    found = ad.grad(fn)(V.astype(np.float32), 3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(fn)(V, 3), rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(
        ad.grad(fn)(V[:1], 3),
        ad.grad(fn)(V, 3)[:1] if fn is logistic else differences(fn, (V[:1], 3)),
        rtol=1e-4,
        atol=1e-7,
    )


@pytest.mark.parametrize("fn", [logistic, chain_of_passes])
def test_differentiated_again(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x, 3) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(V), differences(slope, (V,)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("fn", "saved"), [(logistic, 1), (functions_of_a_number, 1), (negated, 3), (one_side, 2)])
def test_computed_again(fn, saved):
    args = {functions_of_a_number: (0.7, 3), negated: (V, 1.5, 3)}.get(fn, (V, 3))
    with pass_registry.without("tape_rows", "tape_tuples"):
        assert ad.adjoint_source(fn, *args).count(".append(") == saved


def test_nothing_new_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.grad(logistic)(V, 3)


def test_explained():
    assert "computed again" in ad.adjoint_source(logistic_with_a_name, V, 3, explain=True)


def logistic_with_a_name(x, n):
    for _ in range(n):
        rest = 1.0 - x
        x = x * rest
    return np.sum(x)


def test_numbers_that_numbers_are_computed_from():
    """In time that grows with their number: each is computed from two others."""
    links = "".join(f"        a{k} = a{k - 1} - a{k - 2}\n" for k in range(2, 40))
    text = (
        "import numpy as np\n\ndef f(v, n):\n    total = 0.0\n    for _ in range(n):\n"
        "        a0 = float(np.sum(v))\n        a1 = float(np.max(v))\n"
        f"{links}        total = total + a39 * a39\n        v = np.sin(v)\n    return total\n"
    )
    fn = ad.from_source(text)
    np.testing.assert_allclose(ad.grad(fn)(V, 3), differences(fn, (V, 3)), rtol=1e-5, atol=1e-7)
