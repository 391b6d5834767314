"""Control flow that is hard to follow: gradients against central differences, on every path."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def case(*arguments: Any) -> Callable[[Any], Any]:
    """Register a program with the values of its argument at which it is checked."""

    def register(fn: Any) -> Any:
        CASES.extend((fn, a if isinstance(a, tuple) else (a,)) for a in arguments)
        return fn

    return register


V = np.array([0.4, 1.3, -0.7, 0.9])


# -- flags, breaks, else


@case(V, -V, 3 * V)
def flag_and_break(x: Any) -> Any:
    found = False
    for i in range(len(x)):
        if x[i] > 1.0:
            found = True
            best = x[i] ** 2
            break
    return best * x[0] if found else np.sum(np.sin(x))


@case(V, -V)
def last_match_wins(x: Any) -> Any:
    have = False
    for v in x:
        if v > 0.5:
            best = v * v
            have = True
    if have:
        return best + x[0]
    return x[0] * x[1]


@case((V, 2.0), (V, 0.1), (V, -5.0))
def loop_else_with_return(x: Any, limit: float) -> Any:
    total = 0.0
    for v in x:
        total = total + v * v
        if total > limit:
            break
    else:
        return total * x[-1]
    return np.cos(total)


@case((V, 0), (V, 1), (V, 3), (V, 4))
def zero_trips(x: Any, n: int) -> Any:
    y = x[0]
    for i in range(n):
        y = y * x[i] + 1.0
        z = y * y
    return y + z if n > 0 else y


@case((V, 0), (V, 3))
def array_from_loop_or_before(x: Any, n: int) -> Any:
    w = x * 2.0
    for i in range(n):
        w = np.sin(w * x[i])
        last = w * x
    if n:
        return np.sum(last * w)
    return np.sum(w)


@case((V, 2), (V, 0), (V, 4))
def nested_break_with_flag(x: Any, n: int) -> Any:
    total = 0.0
    done = False
    for i in range(n):
        for j in range(4):
            if x[j] * (i + 1) > 1.2:
                done = True
                break
            total = total + x[j] * x[i]
        else:
            total = total * 1.1
        if done:
            break
        total = total + 1.0
    return total * x[1] + total**2


@case(V, 2 * V, -V)
def while_true_with_two_exits(x: Any) -> Any:
    i = 0
    y = x[0]
    while True:
        y = y + x[i] ** 2
        i += 1
        if i == len(x):
            break
        if y > 2.0:
            y = y * x[i]
            break
    return y * y


@case(0.3, 1.7, 5.0)
def walrus_in_test(x: Any) -> Any:
    total = 0.0
    while (y := math.exp(-x)) > 0.2 and (z := y * x) < 10.0:
        total = total + z
        x = x + 0.35
    return total * y


def halve(buffer: Any) -> bool:
    buffer[0] = buffer[0] * 0.5
    return bool(buffer[0] > 0.1)


@case(1.1 * V, 3 * V, -V)
def writing_in_its_test(x: Any) -> Any:
    b = x * 1.0
    total = b[1]
    while halve(b):
        total = total * b[1] + b[0]
    return total * b[0]


@case(V, -V)
def continue_in_while(x: Any) -> Any:
    i, total = -1, 1.0
    while i < 3:
        i += 1
        if x[i] < 0.5:
            continue
        total = total * x[i] + i
    return total


@case((V, 0), (V, 1), (V, 2), (V, 7))
def carried_between_iterations(x: Any, n: int) -> Any:
    for i in range(n):
        if i > 0:
            y = y * x[i % 4] + previous  # noqa: F821
        else:
            y = x[0]
        previous = y * x[1]
    return y * previous if n > 0 else x[2]


@case((V, 3), (V, 1))
def array_carried_from_inside(x: Any, n: int) -> Any:
    for i in range(n):
        if i > 0:
            y = np.sin(previous) * x + y  # noqa: F821
        else:
            y = x * x
        previous = y * x[1]
    return np.sum(y * previous)


@case((V, True), (V, False))
def shape_differs_by_path(x: Any, flag: bool) -> Any:
    for i in range(3):
        if flag == (i < 5):
            r = x * x[i]
        else:
            r = x[i]
    return np.sum(np.sin(r))


@case(V, -V, 0.1 * V)
def result_shape_depends_on_data(x: Any) -> Any:
    for v in x:
        if v > 1.0:
            return x * v
        if v < -1.0:
            return v
    return np.sum(x * x)


@case(V, -V)
def returns_in_nested_loops(x: Any) -> Any:
    for i in range(4):
        s = 0.0
        while s < 2.0:
            s = s + x[i] ** 2 + 0.5
            if s * x[i] > 2.2:
                return s * x[0]
        x = x * 0.9
    return np.sum(x)


@case((0.7, 3), (0.7, 0), (0.7, 12))
def deep_else_chain(x: float, n: int) -> Any:
    for k in range(n):
        if k == 7:
            return x**k
        for j in range(k):
            if j == 5:
                break
            x = x * 1.01 + j * 0.001
        else:
            x = math.sin(x)
            continue
        x = x + 0.1
    return x * x


# -- exceptions


@case((V, 2), (V, 9), (V, -9))
def write_then_error(x: Any, i: int) -> Any:
    y = x * x
    try:
        y[0] = y[1] * x[2]
        y[i] = y[0] ** 2
        y[3] = 5.0 * y[2]
    except IndexError:
        y[1] = y[0] * x[3]
    return np.sum(y * x)


@case((V, 4), (V, 2), (V, 9))
def loop_cut_off(x: Any, n: int) -> Any:
    y = x * 1.0
    total = 1.0
    try:
        for i in range(n):
            total = total * x[i] + 1.0
            y[i] = y[i] ** 2 + y[i - 1] * total
    except IndexError:
        total = total * 2.0
    return np.sum(y) * total


@case(V, np.array([0.4, -0.5, 2.0, -0.3]))
def try_in_loop(x: Any) -> Any:
    total = 0.3
    for v in [x[0], x[1], x[2], x[3]]:
        w = float(v)
        try:
            part = total * 2.0
            total = part + 1.0 / (w if w > 0.0 else int(0))
        except ZeroDivisionError:
            total = total * total
        else:
            total = total + part
    return total * x[0]


@case((0.4, 0), (0.4, 1), (0.4, 2), (0.4, 3))
def several_handlers(x: float, which: int) -> Any:
    y = x
    try:
        y = y * x
        if which == 1:
            raise KeyError("a")
        y = math.sin(y)
        if which == 2:
            raise ValueError("b")
        y = y + x
        if which == 3:
            [][which]
        y = y * y
    except KeyError:
        y = y * 3.0
    except (ValueError, IndexError) as error:
        y = y * y * len(error.args)
    else:
        y = y - x
    finally:
        y = y + x * x
    return y


@case((0.4, 0), (0.4, 1), (0.4, 2))
def nested_and_reraised(x: float, which: int) -> Any:
    y = x
    try:
        try:
            y = y * x
            if which > 0:
                raise KeyError("inner")
            y = y + 1.0
        except KeyError:
            y = y * 5.0
            if which == 2:
                raise
            y = y + x
        finally:
            y = y * math.cos(x)
        y = y * x
    except LookupError:
        y = y + x**3
    return y


@case((0.4, 5), (0.4, 1), (0.4, 0))
def return_in_try_in_loop(x: float, n: int) -> Any:
    y = x
    for i in range(3):
        try:
            y = y * x + i
            if i == n:
                return y * y
            y = y / (n - i)
        except ZeroDivisionError:
            return y * 7.0
        finally:
            y = y + 1.0
    return y


@case((0.4, 5), (0.4, 1), (0.4, 0))
def break_and_continue_in_try(x: float, n: int) -> Any:
    y = x
    for i in range(4):
        try:
            y = y * x + i
            if i == n:
                break
            if i == 2:
                continue
            y = y + 1 / (i - 1)
        except ZeroDivisionError:
            y = y * x
            continue
        y = y + 2.0
    return y * x


@case((V, 0.0), (V, 10.0))
def loop_inside_try_inside_loop(x: Any, limit: float) -> Any:
    total = 0.0
    for i in range(3):
        s = x[i]
        try:
            for j in range(5):
                s = s * x[j] + 0.5
                if s > limit:
                    raise OverflowError
            total = total + s
        except (IndexError, OverflowError):
            total = total + s * s
    return total


def risky(v: Any, k: int) -> Any:
    w = v * v
    if k == 2:
        raise ValueError("two")
    for _ in range(k):
        w = w * v
    return w


@case(V)
def callee_raises(x: Any) -> Any:
    total = x[0]
    for k in range(4):
        try:
            total = total * risky(x[k], k)
        except ValueError:
            total = total + x[k]
    return total


@case((0.7, 0.0), (0.7, 2.0))
def unchanged_by_failed_assignment(x: float, d: float) -> Any:
    y = x * 3.0
    try:
        y = math.sin(x) / d
    except ZeroDivisionError:
        pass
    return y * x


@case((V, 1), (V, 8))
def swap_in_try(x: Any, k: int) -> Any:
    a, b = x[0], x[1]
    try:
        a, b = b * 2.0, a * x[k]
    except IndexError:
        a = a * b
    return a * b + a


# -- context managers


class Meter:
    def __init__(self, gain: Any, forgiving: bool = False) -> None:
        self.gain, self.forgiving, self.count = gain, forgiving, 0

    def __enter__(self) -> Meter:
        self.count += 1
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.count += 1
        return self.forgiving and kind is not None


class Plain:
    def __enter__(self) -> float:
        return 2.5

    def __exit__(self, *details: Any) -> None:
        return None


@contextlib.contextmanager
def quiet() -> Iterator[float]:
    yield 2.0


@contextlib.contextmanager
def forgiving() -> Iterator[None]:
    try:
        yield
    except ZeroDivisionError:
        pass


@case((0.7, 0.0), (0.7, 2.0))
def user_manager_swallows(x: float, d: float) -> Any:
    y = x
    with Meter(x * x, True) as meter:
        y = y * meter.gain
        y = y + x / d
        y = y * 3.0
    return y * meter.count


@case((0.7, 3), (0.7, 0), (0.7, 1))
def return_in_with_in_loop(x: float, n: int) -> Any:
    y = x
    for i in range(3):
        with Plain() as scale, Meter(y) as meter:
            y = y * scale + meter.gain
            if i == n:
                return y * x
    return y


@case((0.7, 0.0), (0.7, 2.0))
def generator_manager_swallows(x: float, d: float) -> Any:
    y = x
    with forgiving():
        y = y * x
        y = y / d
        y = y * 5.0
    return y * x


@case((0.7, 0.0), (0.7, 2.0))
def suppressed_in_loop(x: float, d: float) -> Any:
    y = x
    for i in range(3):
        with contextlib.suppress(ZeroDivisionError):
            y = y * x + i
            y = y / (d * i)
            y = y + 0.5
    with quiet() as factor:
        y = y * len([factor])
    return y * x


# -- functions chosen by data


@case(0.3, 0.9)
def function_by_data(x: float) -> Any:
    f = math.sin if x > 0.5 else math.exp
    if x > 0.2:
        g = f
    else:
        g = math.cos
    return f(x) * g(x * 2.0)


def differences(fn: Any, args: tuple[Any, ...], position: int = 0) -> Any:
    x = np.array(args[position], dtype=float)
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[index] += step
            given = [*args[:position], moved if isinstance(args[position], np.ndarray) else float(moved), *args[position + 1 :]]
            ends.append(np.sum(fn(*given)))
        result[index] = (ends[0] - ends[1]) / 2e-6
    return result


def names(cases: Any) -> list[str]:
    return [f"{fn.__name__}-{k}" for k, (fn, _) in enumerate(cases)]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    value, gradient = ad.value_and_grad(fn)(*args)
    assert np.array_equal(value, fn(*args))
    assert np.shape(gradient) == np.shape(args[0])
    np.testing.assert_allclose(gradient, differences(fn, args), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    direction = np.cos(np.arange(np.size(args[0]))).reshape(np.shape(args[0]))
    if not isinstance(args[0], np.ndarray):
        direction = float(direction)
    value, tangent = ad.jvp(lambda x: fn(x, *args[1:]), (args[0],), (direction,))
    assert np.array_equal(value, fn(*args))
    np.testing.assert_allclose(np.sum(tangent), np.sum(differences(fn, args) * direction), rtol=1e-5, atol=1e-7)


# -- exceptions that leave the function


def always(x: float) -> float:
    raise KeyError("always", x)


def checked(x: float) -> float:
    assert x > 0.0, f"negative: {x:.1f}"
    return math.sqrt(x)


def passed_on(x: float, error: Exception) -> float:
    y = x * x
    try:
        y = y * x
        raise error
    except KeyError:
        y = y + 1.0
    return y


def test_a_function_that_always_raises() -> None:
    with pytest.raises(KeyError) as caught:
        ad.grad(always)(0.5)
    assert caught.value.args == ("always", 0.5)


def test_messages_of_assertions() -> None:
    assert ad.grad(checked)(4.0) == 0.25
    with pytest.raises(AssertionError, match="negative: -1.0"):
        ad.grad(checked)(-1.0)


def test_exceptions_come_out_unchanged() -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught:
        ad.grad(passed_on)(0.5, error)
    assert caught.value is error
    assert any("test_control_flow.py" in note for note in error.__notes__)


def unbound(x: Any, n: int) -> Any:
    for i in range(n):
        y = x * i
    return y


def test_unbound_names_raise_as_in_python() -> None:
    assert ad.grad(unbound)(0.5, 3) == 2.0
    with pytest.raises(UnboundLocalError):
        ad.grad(unbound)(0.5, 0)


class Carrier(Exception):
    def __init__(self, state: Any) -> None:
        super().__init__("carrier")
        self.state = state


def carried_by_exception(x: float) -> Any:
    try:
        if x > 0.1:
            raise Carrier(x * x)
        y = x
    except Carrier as error:
        y = error.state * 3.0
    return y


def test_a_derivative_in_an_exception_is_right_or_refused() -> None:
    try:
        gradient = ad.grad(carried_by_exception)(0.5)
    except ad.AutodiffError:
        return
    assert abs(gradient - 3.0) < 1e-9
