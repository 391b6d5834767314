"""Branches and attempts of which one path always raises: what the other one makes is used afterwards, in every step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


def refused(x: Any) -> Any:
    raise ValueError(f"no {x}")


@case(1.3, 0.7)
def raising_first(x: Any) -> Any:
    y = x
    for _ in range(3):
        if x > 100.0:
            raise ValueError("large")
        else:
            w = math.sin(x * y)
        y = y * w * math.exp(w)
    return y


@case(1.3, 2.1, 2.6)
def raising_last(x: Any) -> Any:
    y = x
    for _ in range(3):
        if x > 2.5:
            w = math.sin(x * y)
        elif x > 1.0:
            w = math.cos(x * y)
        else:
            raise ValueError("small")
        y = y * w * math.exp(w)
    return y


@case(1.3, 0.7, 2.1)
def raising_inside_both(x: Any) -> Any:
    y, k = x, 0
    while k < 3:
        k += 1
        if y < -50.0:
            refused(y)
        elif y > 0.0:
            if x > 50.0:
                raise ValueError("large")
            else:
                w = math.sin(x * y)
                z = w * w
        else:
            w = math.cos(x * y)
            if w > 5.0:
                raise ValueError("no cosine")
            else:
                z = w + 1.0
        y = y * w * math.exp(z)
    return y


@case(1.3, 0.7)
def raising_in_an_expression(x: Any) -> Any:
    y = x
    for _ in range(3):
        w = math.sin(y * x) if x < 100.0 else refused(x)
        v = (x > 100.0 and refused(x)) or math.cos(w)
        y = y * w * math.exp(w) * v
    return y


@case(np.array([1.3, 0.4, 0.9]))
def arrays_written_beside_what_raises(x: Any) -> Any:
    a, total = x * 1.0, 0.0
    for i in range(3):
        if i > 10:
            raise ValueError("long")
        else:
            v = a[i:]
            w = np.zeros(3)
            w[i:] = v * v
        total = total + np.sum(w * a * v[0])
        a = 0.5 * a + w
    return total


@case(1.3, 0.7)
def raising_handlers(x: Any) -> Any:
    y = x
    for _ in range(3):
        try:
            w = math.sin(x * y)
        except ValueError:
            raise
        except (KeyError, TypeError) as error:
            raise RuntimeError from error
        finally:
            v = y * x
        y = y * w * math.exp(w) * v + 0.3
    return y


@case(1.3, 0.7)
def raising_handlers_under_others(x: Any) -> Any:
    y = x
    for _ in range(3):
        try:
            for _ in range(2):
                try:
                    w = math.sqrt(y - 0.5)
                except ValueError:
                    raise IndexError from None
                y = y * w + w * w
            z = y * w * w
        except IndexError:
            z = math.cos(y)
        y = y * z * math.exp(-z * z) + 0.3
    return y


@case(1.3, 0.7, 2.1)
def raising_in_recursion(x: Any) -> Any:
    def step(n: int, c: Any) -> Any:
        if n < 0:
            raise ValueError("negative")
        elif n == 0:
            return c
        else:
            if c > 100.0:
                raise ValueError("large")
            elif c > 0.5:
                w = math.sin(c * x)
            else:
                w = math.exp(c)
        return step(n - 1, w * c + 1.0) * w

    return step(4, x)


def is_large(x: Any, first: Any = None, second: Any = None) -> bool:
    if first:
        return bool(x >= first)
    elif second:
        return bool(x >= 2.0 * second)
    else:
        raise ValueError("nothing to compare with")


@case(1.3, 0.2)
def conditions_made_beside_what_raises(x: Any) -> Any:
    def step(n: int, c: Any) -> Any:
        y = 0.3 * c
        c = x / (1.0 + y) if is_large(x, second=y) else x * (1.0 + y * y)
        return step(n + 1, c) if n < 3 else c

    return step(0, x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


def test_what_raises_still_does() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="small"):
            ad.grad(raising_last)(0.5)
        assert ad.grad(raising_last)(1.3) != 0.0


def test_cases_stay_cases() -> None:
    def f(x: Any) -> Any:
        if x > 2.0:
            y = math.exp(x)
        elif x > 1.0:
            y = math.exp(x * x)
        else:
            raise ValueError("small")
        return y * x

    source = ad.adjoint_source(f, 1.5)
    assert '    elif x > 1.0:\n        y = math.exp(x * x)\n    else:\n        raise ValueError("small")\n' in source


# -- names that only some paths assign


def flagged(x: Any, full: bool = False) -> Any:
    if full:
        found = {"w": x}

    def step(c: Any, n: int) -> Any:
        if n > 3:
            c = step(c * 0.5, n - 1)
        if n > 10:
            found["w"] = c
        return c * x

    r = step(x, 5)
    return r + found["w"] if full else r


def deleted(x: Any) -> Any:
    y = x * x
    z = y
    del y
    return y if z > 9.0 else z * x  # noqa: F821


def left_by_no_step(x: Any) -> Any:
    for _ in []:
        w = x
    return x * w if x > 4.0 else x * x


def caught(x: Any) -> Any:
    try:
        z = w * x  # noqa: F821
    except UnboundLocalError:
        z = x * 3.0
    w = z
    return w * x


@pytest.mark.parametrize(
    ("fn", "args"),
    [(flagged, (2.0,)), (flagged, (2.0, True)), (deleted, (1.5,)), (left_by_no_step, (1.5,)), (caught, (1.5,))],
)
def test_reading_what_no_path_assigns_is_no_fault_until_it_happens(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize("fn", [deleted, left_by_no_step])
def test_reading_it_raises_as_python_does(fn: Any) -> None:
    for function in (fn, ad.grad(fn), ad.value_and_grad(fn)):
        with pytest.raises(UnboundLocalError):
            function(5.0)


def test_a_free_variable_is_no_local_one() -> None:
    def f(x: Any) -> Any:
        def g() -> Any:
            return w * x

        try:
            return g()
        except UnboundLocalError:
            return x
        finally:
            w = x

    for function in (f, ad.grad(f)):
        with pytest.raises(NameError) as caught:
            function(2.0)
        assert type(caught.value) is NameError
