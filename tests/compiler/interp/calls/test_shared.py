"""Large functions of numbers stay calls; what they compute, raise and cost is that of their text."""

from __future__ import annotations

import math
from contextlib import contextmanager

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.api import entry
from autodiff_sct.core import thresholds

SCALE = 0.7
NOTED: list[float] = []


def formula(x, y):
    a = math.exp(-x * y)
    b = (1 - a) / (1 + y * a)
    for _ in range(3):
        b = b * math.sin(b + x) + SCALE * y
    if b > 2.0:
        raise ValueError("big")
    return b * b + a if x > 0 else b


def pair_of(x, y, more=True, steps=2):
    t = formula(x, y) + formula(y, x)
    if more:
        t = t * formula(t, x)
    while t > 1.0 and steps > 0:
        t, steps = t * 0.5, steps - 1
    return t, t * x


def several(x, y):
    return formula(x, y) + formula(2 * x, y) * formula(x, y * x) + formula(y, x)


def nested(x, y):
    a, b = pair_of(x, y)
    c, d = pair_of(y, x, False)
    e, f = pair_of(a, b)
    g, h = pair_of(c, 0.3, steps=1)
    return a * b + c * d + e + f * g + h


def in_try(x, y):
    total = 0.0
    for i in range(5):
        try:
            total = total + formula(x * i, y) * x
        except ValueError:
            total = total + x * y
        total = total + formula(x, y * i * 0.2)
    return total


def handled(x, y):
    try:
        s = formula(x, y)
        s = s * formula(s, 3.0)
    except ValueError:
        s = formula(x, 0.1)
    try:
        return formula(s, y) * formula(100 * s, -0.2)
    except ValueError:
        return formula(s, x)


def left_early(x, y):
    v = s = formula(x, y)
    for i in range(4):
        if i % 2:
            continue
        s = formula(s * 0.1, x) * 0.5 + formula(i * 0.1, x)
        if s > 3:
            break
    return s * formula(y, x)


def of_items(x, y):
    u = np.array([x, y, x * y])
    return formula(u[0], u[1]) + formula(u[1], u[2]) * formula(u.sum(), 0.2) + np.sum(u * formula(x, u[2]))


def noted(x):
    NOTED.append(float(x))
    return math.sin(x) * x


def with_effects(x, y):
    return noted(x) * noted(y) + noted(x * y)


def scaled(v, x):
    return np.sin(v * x) * x + v


def of_arrays(x, y):
    v = np.array([x, y])
    return np.sum(scaled(v, x) * scaled(v, y) + scaled(scaled(v, 0.3), x))


PLACES = [(0.3, 0.4), (0.9, 0.5), (0.05, 1.3), (-0.3, 0.8)]
CALLED = [several, nested, in_try, handled, left_early, of_items]


@contextmanager
def limited_to(variables):
    """Inline functions up to so many variables, and compile everything anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "INLINED_VARIABLES", variables)
        patch.setattr(entry, "PRODUCTS", {})
        patch.setattr(entry, "CAPTURED", {})
        patch.setenv("AUTODIFF_SCT_CACHE", "0")
        yield


@pytest.fixture(autouse=True)
def everything_is_large():
    with limited_to(1):
        yield


def outcome(fn, *args):
    try:
        return fn(*args)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("fn", [*CALLED, with_effects, of_arrays])
def test_gradients_are_those_of_the_inlined_program(fn):
    gradient = ad.value_and_grad(fn, (0, 1))
    inlined = ad.value_and_grad(fn, (0, 1))
    for place in PLACES:
        with limited_to(math.inf):
            expected = outcome(inlined, *place)
        found = outcome(gradient, *place)
        if isinstance(expected, str):
            assert found == expected == outcome(fn, *place)
            continue
        assert repr(found[0]) == repr(expected[0]) == repr(fn(*place))
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fn", CALLED)
def test_large_functions_are_called(fn):
    text = ad.value_and_grad(fn, (0, 1))
    text(0.3, 0.4)
    assert "def formula_backward" in text.source
    with limited_to(math.inf):
        inlined = ad.value_and_grad(fn, (0, 1))
        inlined(0.3, 0.4)
    assert "def formula" not in inlined.source


@pytest.mark.parametrize("fn", [with_effects, of_arrays])
def test_what_does_more_than_compute_numbers_is_inlined(fn):
    gradient = ad.value_and_grad(fn, (0, 1))
    gradient(0.3, 0.4)
    assert gradient.source.count("\ndef ") == 1


def test_effects_happen_once():
    NOTED.clear()
    ad.grad(with_effects, (0, 1))(0.3, 0.4)
    assert NOTED == [0.3, 0.4, 0.3 * 0.4]


@pytest.mark.parametrize("fn", CALLED)
def test_tangents_and_second_derivatives(fn):
    x, y = 0.3, 0.4
    gradient = ad.grad(fn, (0, 1))(x, y)
    for k, direction in enumerate([(1.0, 0.0), (0.0, 1.0)]):
        _, tangent = ad.jvp(fn, (x, y), direction)
        np.testing.assert_allclose(tangent, gradient[k], rtol=1e-12)
    first = ad.grad(fn)
    step = 1e-5
    expected = [
        (first(x + step, y) - first(x - step, y)) / (2 * step),
        (first(x, y + step) - first(x, y - step)) / (2 * step),
    ]
    np.testing.assert_allclose(ad.grad(lambda x, y: ad.grad(fn)(x, y), (0, 1))(x, y), expected, rtol=1e-5, atol=1e-6)


def test_a_pullback_may_be_used_again():
    expected = ad.grad(several, (0, 1))(0.3, 0.4)
    _, pull = ad.vjp(several, 0.3, 0.4)
    for scale in (1.0, 2.0, 1.0):
        np.testing.assert_allclose(pull(scale), np.multiply(scale, expected), rtol=1e-12)


def test_small_functions_are_inlined(monkeypatch):
    monkeypatch.setattr(thresholds, "INLINED_VARIABLES", 10_000)
    gradient = ad.grad(several, (0, 1))
    gradient(0.3, 0.4)
    assert gradient.source.count("\ndef ") == 1
