"""Control flow that is hard to follow, on every path."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


# -- written memory


@case(V)
def read_after_the_write(x: Any) -> Any:
    """What reads `y` is dead in the forward sweep where the value is not asked for."""
    y = x.copy()
    total = 0.0
    for i in range(len(x)):
        y[i] = np.sin(y[i])
        total = total + np.sum(y * y)
    return total


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


@case(V, -V)
def left_early_upwards(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(i, len(x)):
            total = 0.5 * total + x[j]
            if x[j] > 0.6:
                break
    return total


@case(V, -V)
def left_early_downwards(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x) - 1, i - 1, -1):
            total = 0.5 * total + x[j] * x[i]
            if x[j] > 0.6:
                break
    return total


@case((V, (1, 0, 3, 2)), (-V, (0, 1, 0, 2)))
def left_early_from_a_table(x: Any, starts: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        start = starts[i]
        for j in range(start, len(x), 1 + i % 2):
            total = 0.5 * total + x[j] * x[i]
            if x[j] > 0.6:
                break
    return total


@case((V, 3), (-V, 1))
def left_early_by_steps_down(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        for j in range(3, i - 1, -2):
            total = 0.5 * total + x[j]
            if x[j] > 0.6:
                break
            total = total * x[i]
    return total


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


# -- functions chosen by data


@case(0.3, 0.9)
def function_by_data(x: float) -> Any:
    f = math.sin if x > 0.5 else math.exp
    if x > 0.2:
        g = f
    else:
        g = math.cos
    return f(x) * g(x * 2.0)


# -- objects, lists, closures


class Gauge:
    def __init__(self, gain: Any) -> None:
        self.gain, self.count = gain, 2


@case(V)
def objects_in_unrolled_loop(x: Any) -> Any:
    ms = []
    for k in ("a", "b", "c"):
        ms.append(Gauge(x[len(ms)] * 2.0))
    return ms[0].gain * ms[1].gain + ms[2].gain


@case(V)
def object_written_in_loop(x: Any) -> Any:
    m = Gauge(x[0])
    for i in range(1, 4):
        m.gain = m.gain * x[i] + 1.0
        if m.gain > 1.0:
            m.count = m.count + 1
            m.gain = m.gain * m.count
    return m.gain


@case((V, 0), (V, 3))
def tuple_from_loop(x: Any, n: Any) -> Any:
    a, b = x[0], x[1]
    for i in range(n):
        a, b = b * x[i], a + b
    return a * b


@case((V, 0), (V, 3))
def for_target_after(x: Any, n: Any) -> Any:
    i = 3
    y = x[0]
    for i in range(n):
        y = y * x[i]
    return y * x[i] + i


@case(V, -V)
def elements_after_loop(x: Any) -> Any:
    for v in x:
        if v < 0:
            break
    return v * x[0]


@case((V, 2), (V, 5))
def while_else(x: Any, n: Any) -> Any:
    i = 0
    y = x[0]
    while i < 4:
        if i == n:
            break
        y = y * x[i] + 1
        i += 1
    else:
        y = y * y
    return y * i


@case(V)
def triple_nested(x: Any) -> Any:
    t = 0.0
    for i in range(3):
        for j in range(3):
            if j == i:
                continue
            k = 0
            while True:
                k += 1
                t = t + x[i] * x[j] / k
                if k > i + j:
                    break
                if t > 5.0:
                    return t * x[3]
    return t


@case((V, 1.0), (V, -1.0))
def closure_nonlocal(x: Any, s: Any) -> Any:
    acc = x[0]

    def add(v):
        nonlocal acc
        acc = acc + v * acc
        return acc

    for i in range(4):
        if x[i] * s > 0:
            add(x[i])
        else:
            add(1.0)
    return acc


@case(V)
def conditional_chain(x: Any) -> Any:
    y = x[0] if x[0] > 1 else x[1] if x[1] > 1 else (x[2] if x[2] > 0 else x[3])
    z = x[0] > 0 and x[1] * 2
    w = (x[2] > 0) or x[3] ** 2
    return y * z * w


@case((V, "a"), (V, "b"), (V, "c"))
def match_it(x: Any, k: Any) -> Any:
    for i in range(3):
        match k:
            case "a":
                r = x[i] * x[0]
            case "b" if x[i] > 0:
                r = x[i] ** 2
                break
            case _:
                if i == 0:
                    continue
                r = x[3] * i
    return r


@case((V, 3), (V, 0))
def arrays_maybe(x: Any, n: Any) -> Any:
    buf = None
    for i in range(n):
        if buf is None:
            buf = np.zeros(4)
        buf[i] = x[i] ** 2
        buf = buf * x
    if buf is None:
        return x[0]
    return np.sum(buf)


@case((V, 3), (V, 0))
def written_array_made_in_loop(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(n):
        w = np.zeros(4)
        w[i] = x[i]
        w[0] += x[1] * w[i]
        total = total + np.sum(w * w)
    if n:
        total = total + w[0]
    return total + x[0]


def inner_returns(x: Any, i: Any) -> Any:
    for k in range(4):
        if x[k] > 1.0:
            return x[k] * i
    return None


@case((V, 1), (-2 * V, 1), (0.1 * V, 2))
def none_or_value(x: Any, i: Any) -> Any:
    r = inner_returns(x, i)
    if r is None:
        return x[0]
    return r * x[1]


@case((0.5,), (1.5,))
def int_or_float(x: Any) -> Any:
    y = 0
    if x > 1:
        y = x * x
    for i in range(3):
        y = y + x if i else y
    return y


@case((V, 1), (V, 0))
def del_name(x: Any, n: Any) -> Any:
    t = x[0] * 2
    u = t * t
    del t
    for i in range(n):
        t = u * x[i]
        u = t
    return u


@case((V, 3), (V, 0))
def constant_put_into_a_list(x: Any, n: int) -> Any:
    rows, constant = [x * k for k in range(1, 4)], np.ones((3, 4))
    for i in range(n):
        rows[i] = constant[i]
    return np.sum(rows[0] * x) + rows[1][0] * rows[2][1]


@case(2.0, 0.3)
def converged_or_not(a: Any) -> Any:
    x = a
    for _ in range(50):
        step = (x * x - a) / (2 * x)
        x = x - step
        if abs(step) < 1e-12:
            return x
    return x


@case(2.0)
def converged_or_raises(a: Any) -> Any:
    x = a
    for _ in range(50):
        step = (x * x - a) / (2 * x)
        if abs(step) < 1e-12:
            return x * a
        x = x - step
    raise RuntimeError("no convergence")


@case(V, -V, 0.2 * V)
def returned_by_the_step(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        part = np.sin(x[i])
        total = total + part * part
        if total > 0.5:
            return total * i + part
    return total


@case(0.4)
def returned_from_without_end(x: Any) -> Any:
    while True:
        y = np.sin(x)
        x = x + y**2
        if x > 1.0:
            return np.log(x) * y


@case((V, 4), (V, 1), (V, 0))
def returned_from_the_inner_loop(x: Any, n: int) -> Any:
    s = 1.0
    for i in range(n):
        for j in range(len(x)):
            s = s * (1.0 + x[j] ** 2)
            if s > 4.0:
                return np.log(s) * x[j] * (i + 1)
        s = s * 0.9
    else:
        s = s * 2.0
    return s


@case((V, 3), (-V, 3), (0.1 * V, 3))
def returned_in_two_ways(x: Any, n: int) -> Any:
    s = 1.0
    for i in range(n):
        s = s * (1.0 + x[i])
        if s > 2.0:
            return s * s
        if s < 0.5:
            return s * x[i]
    return s


@case((V, 3), (0.1 * V, 3))
def returned_through_a_manager(x: Any, n: int) -> Any:
    s = 1.0
    for i in range(n):
        with np.errstate(all="ignore"):
            s = s * (1.0 + x[i])
            if s > 2.0:
                return s * s + i
    return s


@case((V, 3), (0.1 * V, 3))
def returned_under_a_finally(x: Any, n: int) -> Any:
    s = 1.0
    for i in range(n):
        try:
            s = s * (1.0 + x[i])
            if s > 2.0:
                return s * s
        finally:
            s = s * 0.5
    return s


@case((V, 3), (0.1 * V, 3))
def returned_after_a_write(x: Any, n: int) -> Any:
    y = x * 1.0
    for i in range(n):
        y[i] *= y[i - 1]
        if y[i] > 0.5:
            y[0] = y[i] ** 2
            return np.sum(y * y)
    return np.sum(y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


def test_a_range_left_early_is_reversed_over_its_own_numbers() -> None:
    source = ad.adjoint_source(left_early_upwards, V)
    assert "for j in range(i + saved_trips.pop() - 1, i - 1, -1):" in source


def test_what_a_loop_returns_is_computed_after_it() -> None:
    source = ad.adjoint_source(converged_or_not, 2.0)
    assert "returned" not in source
    assert "took" not in source
    source = ad.adjoint_source(returned_from_without_end, 0.4)
    assert "took" not in source
    assert source.index("math.log") > source.index("break")


def test_the_index_is_read_after_its_loop() -> None:
    source = ad.adjoint_source(returned_by_the_step, V)
    assert "for i in range(len(x)):" in source
    assert "i2" not in source


# -- loops that end by their test or inside their body, of which each step is reversed


def left_by_break(p: Any) -> Any:
    t = 0.0
    for k in range(2):
        n = 0
        while n < len(p) and 0.0 < p[n] < 1.0:
            if p[n] > 0.9:
                break
            t = t + p[n] * p[n] * (k + 1)
            n += 1
    return t


def left_by_return(p: Any) -> Any:
    n, t = 0, 0.0
    if p[0] > 10:
        return t
    while n < len(p) and 0.0 < p[n] < 1.0:
        t = t + p[n] ** 2
        n += 1
        if t > 1.2:
            return 3.0 * t
    return t


def left_by_continue(p: Any) -> Any:
    n, t = -1, 0.0
    while n < len(p) - 1 and (n < 0 or p[n] < 1.0):
        n += 1
        if p[n] < 0.0:
            continue
        if p[n] > 0.9:
            break
        t = t + np.sin(p[n]) * t + p[n]
    return t


def left_by_two_breaks(p: Any) -> Any:
    m, t = 0, 1.0
    while m < 3 and t < 4.0:
        n = 0
        while n < len(p) and p[n] > 0.0:
            if p[n] * t > 0.9:
                break
            t = t + p[n] * p[n] * t
            n += 1
        if t > 3.0:
            break
        m += 1
    return t


@pytest.mark.parametrize("fn", [left_by_break, left_by_return, left_by_continue, left_by_two_breaks])
@pytest.mark.parametrize("p", [[0.5, 0.5], [0.5, -1.0], [-1.0, 0.5], [0.5, 7.0], [0.95, 0.5], [0.8, 0.85, 0.7], [0.5]])
def test_a_loop_with_a_test_of_two_parts_that_is_left(fn: Any, p: list[float]) -> None:
    x = np.array(p)
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x)
    steps = 1e-6 * np.eye(len(x))
    np.testing.assert_allclose(gradient, [(fn(x + h) - fn(x - h)) / 2e-6 for h in steps], 1e-6, 1e-7)
    assert ad.jvp(fn, (x,), (np.ones(len(x)),))[1] == pytest.approx(np.sum(gradient))
