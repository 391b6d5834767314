"""Loops over segments: the same gradients as without, from the state at the start of each segment."""

from __future__ import annotations

import inspect
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.compiler.numba
from autodiff_sct import segments
from autodiff_sct.errors import Refused
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
STEPS = (0, 1, 3, 4, 7)


@case(*((V, n) for n in STEPS))
def rebound(x, n):
    for i in segments(range(n), every=3):
        x = np.sin(x) * x + 0.1 * i
    return np.sum(x)


@case((1.1, 7), (1.1, 9))
def scalar(x, n):
    y, total = x, 0.0
    for _ in segments(range(n), every=2):
        y = y * x
        total += y * y
    return total + y


@case(*((V, n, k) for n in STEPS for k in (1, 2, 20)))
def written(u, n, k):
    u = u.copy()
    for _ in segments(range(n), every=k):
        u[1:-1] = u[1:-1] + 0.3 * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u**2)


@case((V, 0), (V, 2), (V, 3))
def nested_in_steps_that_begin_anew(x, n):
    y = x * 1.0
    for _ in range(2):
        for j in segments(range(n), every=1):
            for _ in segments(range(j), every=2):
                y[1:] += 0.3 * x[1:] * y[:-1] ** 2
        y = np.sin(y)
    return np.sum(y)


@case((V, 5))
def read_before_and_after(u, n):
    a = u * 2.0
    before = np.sum(a * a * a)
    for i in segments(range(n), every=2):
        a[i % 4] = np.sin(a[i % 4]) * u[i % 4]
    a[0] = a[0] * a[1]
    return before + np.sum(a * a)


@case((V, 5))
def through_view(u, n):
    a = u * 1.0
    inner = a[1:3]
    for _ in segments(range(n), every=2):
        inner *= a[0]
        a[0] = np.sum(inner * inner) * 0.1
    return np.sum(a * a) + inner[0]


@case((V, 5))
def copied_each_step(u, n):
    for _ in segments(range(n), every=2):
        v = u.copy()
        v[1:] += np.sin(u[:-1]) * u[1:]
        u = v
    return np.sum(u * u)


@case((V, 7), (-V, 7))
def branches(x, n):
    total = 0.0
    for i in segments(range(n), every=3):
        if x[i % 4] > 0.5:
            x = x * np.sin(x)
        elif i % 2:
            total += x[1] ** 2
        else:
            x = x + total * x
    return total + np.sum(x)


@case((0.9, 6))
def inner_loop(x, n):
    y = 1.0
    for i in segments(range(n), every=2):
        for j in range(i):
            y = y + 0.1 * y * x * j
    return y


@case((V, 3, 5))
def inside_a_loop(x, m, n):
    for t in range(m):
        w = np.cos(x) + t
        for i in segments(range(n), every=2):
            x = x + 0.1 * w * np.sin(x) * i
    return np.sum(x * x)


@case((V, 3, 5))
def written_inside_a_loop(x, m, n):
    x = x.copy()
    for t in range(m):
        w = np.cos(x) + t
        for i in segments(range(n), every=2):
            x[1:] += 0.1 * w[:-1] * np.sin(x[1:]) * i
        x[0] = x[0] * x[1]
    return np.sum(x * x)


@case((V, 5, 5), (V, 2, 3), (V, 0, 3), (V, 3, 0))
def nested_segments(x, m, n):
    for t in segments(range(m), every=2):
        w = np.cos(x) + t
        for i in segments(range(n), every=3):
            x = x + 0.1 * w * np.sin(x) * i
        x = x * w
    return np.sum(x * x)


@case((V, 5, 5), (V, 2, 3))
def nested_written(x, m, n):
    x = x.copy()
    for t in segments(range(m), every=2):
        w = np.cos(x) + t
        for i in segments(range(n), every=3):
            x[1:] += 0.1 * w[:-1] * np.sin(x[1:]) * i
        x[0] *= np.sin(w[0] * x[1])
    return np.sum(x * x)


@case((V, 4), (V, 1), (V, 0))
def in_a_branch(x, n):
    y = x * 1.0
    if x[0] > 0:
        for i in segments(range(n), every=2):
            y = y * np.sin(x + i)
    else:
        y = y * y
    return np.sum(y)


@case((V, 6))
def appended(x, n):
    kept = []
    y = x
    for i in segments(range(n), every=2):
        y = np.sin(y) * x
        kept.append(y)
    return np.sum(kept[1] * kept[-1]) + np.sum(y)


@case((V, 6))
def list_read_in_the_loop(x, n):
    kept = [x]
    for i in segments(range(n), every=2):
        kept.append(np.sin(kept[i]) * kept[i // 2])
    return np.sum(kept[-1] ** 2)


@case((V, 6))
def list_assigned(x, n):
    values = [x, x * 2, x * x]
    for i in segments(range(n), every=2):
        values[i % 3] = values[(i + 1) % 3] * np.sin(values[i % 3])
    return np.sum(values[0] * values[1] * values[2])


@case((V, 2, 11), (V, 9, 9), (V, 11, 2))
def from_to(x, a, b):
    for i in segments(range(a, b), every=4):
        x = np.sin(x) * x + 0.1 * i
    return np.sum(x)


@case((V, 2, 14, 3), (V, 2, 13, 3), (V, 14, 2, -3), (V, 13, -2, -5), (V, 2, 2, 3))
def any_step(x, a, b, c):
    for i in segments(range(a, b, c), every=2):
        x = np.sin(x) * x + 0.01 * i
    return np.sum(x)


@case((V, 14), (V, 1), (V, 0), (V, 13))
def every_third(x, n):
    for i in segments(range(1, n, 3), every=2):
        x = np.sin(x) * x + 0.01 * i
    return np.sum(x)


@case((V, 7), (V, 0), (V, 6))
def backwards(x, n):
    for i in segments(range(n, 0, -1), every=2):
        x = np.sin(x) * x + 0.1 * i
    return np.sum(x)


@case((V, 10), (V, 0))
def square_root(x, n):
    for i in segments(range(n)):
        x = np.sin(x) * x + 0.1 * i
    return np.sum(x)


@case((V,))
def known_count(x):
    for i in segments(range(70), every=10):
        x = np.sin(x) + 0.01 * i
    return np.sum(x)


@case((V, 7))
def with_enumerate(x, n):
    y = x
    for k, i in enumerate(segments(range(1, n), every=2)):
        y = y * np.sin(x + k * i)
    return np.sum(y)


@case((V, 7))
def first_assigned_inside(x, n):
    for i in segments(range(n), every=2):
        if i > 0:
            x = x + before * np.sin(x)  # noqa: F821
        before = x * i
    return np.sum(x)


@case((V, 7))
def two_in_a_row(x, n):
    y = x * 1.0
    for _ in segments(range(n), every=2):
        y[1:] = y[1:] * np.sin(y[:-1])
    for _ in segments(range(n), every=3):
        y[:-1] = y[:-1] * np.cos(y[1:])
    return np.sum(y * y)


@case((V, 7))
def matrix_state(x, n):
    a = np.outer(x, x)
    h = np.zeros(4)
    for i in segments(range(n), every=3):
        h = np.tanh(a @ h + x)
        a = a * 0.9
    return np.sum(h)


@case((V, 7))
def quiet(x, n):
    for i in segments(range(n), every=2):
        with np.errstate(all="ignore"):
            x = np.sin(x) * np.log(np.abs(x) + 1e-3)
    return np.sum(x)


@case((V, 7))
def integers_carried(x, n):
    k = 1
    for i in segments(range(n), every=2):
        k = (3 * k + i) % 4
        x = x * np.sin(x[k] + x)
    return np.sum(x) + k


def helper(x: Any, n: int) -> Any:
    for _ in segments(range(n), every=2):
        x = x * np.sin(x)
    return x


@case((V, 5))
def called(x, n):
    return np.sum(helper(x, n) * helper(x * x, n + 1))


def twin(fn: Any) -> Any:
    """The same program without segments."""
    text = inspect.getsource(fn)
    text = text[text.index("def ") :]
    namespace = dict(fn.__globals__, plain=plain)
    return ad.from_source(text.replace("segments(", "plain("), namespace)


def plain(steps: Any, every: Any = None) -> Any:
    return steps


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    np.testing.assert_array_equal(ad.grad(fn)(*args), ad.grad(twin(fn))(*args))
    assert "kept_" in ad.adjoint_source(fn, *args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullback_runs_twice(fn: Any, args: Any) -> None:
    value, pullback = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    assert np.array_equal(value, fn(*args))
    first, second = pullback(1.0), pullback(1.0)
    expected = ad.grad(twin(fn))(*args)
    np.testing.assert_allclose(first[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(first[0], second[0])


# -- effects, once and in order


def test_random_numbers_are_those_of_the_forward_sweep() -> None:
    def walk(x, seed, n):
        rng = np.random.default_rng(seed)
        for _ in segments(range(n), every=3):
            noise = rng.normal(size=x.shape)
            x = np.sin(x) * noise + 0.1 * x
        return np.sum(x)

    value, gradient = ad.value_and_grad(walk)(V, 3, 8)
    assert value == walk(V, 3, 8)
    np.testing.assert_array_equal(gradient, ad.grad(unsegmented_walk)(V, 3, 8))


def unsegmented_walk(x, seed, n):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        noise = rng.normal(size=x.shape)
        x = np.sin(x) * noise + 0.1 * x
    return np.sum(x)


@pytest.mark.parametrize("bounds", [(0, 9, 2), (9, 0, -2), (3, 4, 7)])
def test_random_numbers_with_any_step(bounds: Any) -> None:
    def walk(x, rng, a, b, c):
        for i in segments(range(a, b, c), every=2):
            noise = rng.normal(size=4)
            noise *= 2.0
            x = np.sin(x) * noise + 0.1 * i * x
        return np.sum(x)

    def plain_walk(x, rng, a, b, c):
        for i in range(a, b, c):
            noise = rng.normal(size=4)
            noise *= 2.0
            x = np.sin(x) * noise + 0.1 * i * x
        return np.sum(x)

    def draw() -> Any:
        return np.random.default_rng(5)

    found = ad.grad(walk)(V, draw(), *bounds)
    np.testing.assert_array_equal(found, ad.grad(plain_walk)(V, draw(), *bounds))
    value, pullback = ad.vjp(lambda x: walk(x, np.random.default_rng(5), *bounds), V)
    del value
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], found, rtol=1e-13)


def test_draws_of_an_inner_segmented_loop() -> None:
    def walk(x, rng, m, n):
        for _ in range(m):
            scale = np.cos(x)
            for _ in segments(range(n), every=2):
                x = np.sin(x) * rng.normal() + scale
        return np.sum(x)

    def plain_walk(x, rng, m, n):
        for _ in range(m):
            scale = np.cos(x)
            for _ in range(n):
                x = np.sin(x) * rng.normal() + scale
        return np.sum(x)

    found = ad.grad(walk)(V, np.random.default_rng(5), 3, 5)
    np.testing.assert_array_equal(found, ad.grad(plain_walk)(V, np.random.default_rng(5), 3, 5))


def test_printing_once(capsys: Any) -> None:
    def told(x, n):
        for i in segments(range(n), every=2):
            print(i)
            x = np.sin(x) * x
        return np.sum(x)

    ad.grad(told)(V, 5)
    assert capsys.readouterr().out.split() == ["0", "1", "2", "3", "4"]


def test_the_primal_may_fail() -> None:
    def checked(x, n):
        for i in segments(range(n), every=2):
            if i == 3:
                raise KeyError("three")
            assert x[0] < 10
            x = np.sin(x) * x
        return np.sum(x)

    np.testing.assert_array_equal(ad.grad(checked)(V, 3), ad.grad(lambda x: rebound_plain(x, 3))(V))
    with pytest.raises(KeyError, match="three"):
        ad.grad(checked)(V, 5)
    with pytest.raises(AssertionError):
        ad.grad(checked)(V * 100, 2)


def rebound_plain(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


# -- arguments and types


def test_arguments_stay_as_they_are() -> None:
    def scaled(u, n):
        for i in segments(range(n), every=4):
            u[i % 4] *= 1.0 + 0.1 * u[(i + 1) % 4]
        return np.sum(u * u)

    u = V.copy()
    gradient = ad.grad(scaled)(u, 7)
    np.testing.assert_array_equal(u, V)
    expected = ad.jacfwd(lambda v: scaled(v, 7))(V)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


@pytest.mark.parametrize("fn", [rebound, square_root])
def test_float32(fn: Any) -> None:
    gradient = ad.grad(fn)(V.astype(np.float32), 7)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(fn)(V, 7), rtol=1e-3, atol=1e-5)


def test_float32_written() -> None:
    assert ad.grad(written)(V.astype(np.float32), 7, 3).dtype == np.float32


def test_values_returned_are_final() -> None:
    def states(x, n):
        u, seen = x * 1.0, []
        for _ in segments(range(n), every=2):
            u[1:] = u[1:] * np.sin(u[:-1])
            seen.append(np.sum(u))
        return u, seen

    value, _ = ad.value_and_grad(states)(V, 5)
    expected = states(V, 5)
    np.testing.assert_array_equal(value[0], expected[0])
    assert value[1] == expected[1]


def test_second_order() -> None:
    for fn, rest in ((rebound, (5,)), (written, (5, 2)), (nested_segments, (3, 3))):

        def first(x, fn=fn, rest=rest):
            return np.sum(ad.grad(fn)(x, *rest) * np.cos(x))

        def first_plain(x, fn=twin(fn), rest=rest):
            return np.sum(ad.grad(fn)(x, *rest) * np.cos(x))

        np.testing.assert_allclose(ad.grad(first)(V), ad.grad(first_plain)(V), rtol=1e-9)


def test_the_tape_goes_over_the_range() -> None:
    x = ad.tape.tensor(V, requires_grad=True)
    rebound(x, 7).backward()
    np.testing.assert_allclose(x.grad, ad.grad(rebound)(V, 7), rtol=1e-12)


def test_in_plain_python() -> None:
    assert segments(range(3)) == range(3)
    assert segments(range(5, 0, -2), every=4) == range(5, 0, -2)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            segments(range(3), every=wrong)
    for steps, every in ((range(3), "two"), (range(3), 1.5), ([1, 2], 1), (3, None)):
        with pytest.raises(TypeError):
            segments(steps, every=every)  # type: ignore[arg-type]


@pytest.mark.parametrize("every", [0, -2])
def test_wrong_lengths_where_the_program_runs(every: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ad.grad(written)(V, 5, every)


@pytest.mark.parametrize("n", [1, 3, 7, 40])
def test_native_programs_go_back_to_kept_states(n) -> None:
    """Nothing is said of NumPy code, which would be a warning."""
    pytest.importorskip("numba")
    found = ad.grad(rebound, backend="numba")(V, n)
    np.testing.assert_allclose(found, ad.grad(rebound)(V, n), 1e-12)


# -- refused


def over_a_list(x):
    for i in segments([0, 1, 2], every=2):
        x = x * i
    return np.sum(x)


def left_early(x):
    for i in segments(range(9), every=2):
        if x[0] > 3:
            break
        x = x * x * i
    return np.sum(x)


def returned_early(x):
    for _ in segments(range(9), every=2):
        if x[0] > 3:
            return np.sum(x)
        x = x * x
    return np.sum(x)


def handled(x):
    for i in segments(range(9), every=2):
        try:
            x = x * [1, 2][i]
        except IndexError:
            x = np.sin(x)
    return np.sum(x)


GENERATOR = np.random.default_rng(0)


def drawn_in_a_branch(x):
    for i in segments(range(9), every=2):
        if i > 3:
            x = x * GENERATOR.normal()
    return np.sum(x)


def swapped(x):
    a, b = x * 1.0, x * 2.0
    for _ in segments(range(9), every=2):
        b[1:] = a[1:] * np.sin(a[:-1])
        a, b = b, a
    return np.sum(a * b)


def list_of_written(x):
    rows = [x * 1.0, x * 2.0]
    for i in segments(range(9), every=2):
        rows[i % 2][1:] *= np.sin(rows[1 - i % 2][:-1])
    return np.sum(rows[0])


def pairs_of_written(x):
    pairs = [(x * 1.0, 2.0), (x * 2.0, 3.0)]
    for i in segments(range(2), every=1):
        u, v = pairs[i]
        u *= v * np.sin(u)
    return np.sum(pairs[0][0] * pairs[1][0])


BUFFER = np.zeros(9)


def captured(x):
    for i in segments(range(9), every=2):
        BUFFER[i] = i + BUFFER[i - 1]
        x = np.sin(x) * BUFFER[i]
    return np.sum(x)


@pytest.mark.parametrize(
    "fn",
    [over_a_list, left_early, returned_early, handled, drawn_in_a_branch, list_of_written, pairs_of_written, captured],
)
def test_refused(fn: Any) -> None:
    with pytest.raises(Refused) as caught:
        ad.grad(fn)(V)
    assert caught.value.origin is not None
    assert caught.value.remedy


def test_two_arrays_that_change_places() -> None:
    try:
        found = ad.grad(swapped)(V)
    except Refused:
        return
    np.testing.assert_allclose(found, ad.jacfwd(swapped)(V), rtol=1e-9)


# -- memory


def peak(fn: Any, *args: Any) -> int:
    """The most memory that a call holds at once, in bytes."""
    fn(*args)
    tracemalloc.start()
    fn(*args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def stepped(x, n):
    for _ in segments(range(n)):
        x = np.sin(x) * x
    return np.sum(x)


def smoothed(u, n):
    u = u.copy()
    for _ in segments(range(n)):
        u[1:-1] = u[1:-1] + 0.1 * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u)


@pytest.mark.parametrize("fn", [stepped, smoothed])
def test_memory_grows_with_the_square_root_of_the_steps(fn: Any) -> None:
    x = np.linspace(0.1, 1.0, 20_000)
    few, many = (peak(ad.grad(fn), x, n) for n in (64, 1024))
    assert many < 4.6 * few
    assert many < peak(ad.grad(twin(fn)), x, 1024) / 8
