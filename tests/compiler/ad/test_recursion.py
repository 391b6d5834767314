"""Recursive functions: reverse and forward mode against central differences, or a refusal that names the line."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError

pytestmark = pytest.mark.once

H = 1e-6
WEIGHTS = np.array([0.4, -0.8, 1.3])


def numeric(fn, x):
    if np.ndim(x) == 0:
        return (fn(x + H) - fn(x - H)) / (2 * H)
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = H
        result[index] = (fn(x + step) - fn(x - step)) / (2 * H)
    return result


def check(fn, x, expected=None):
    """Gradient, pullback (twice) and tangent agree with differences, and the argument stays as it was."""
    before = np.copy(x)
    expected = numeric(fn, x) if expected is None else expected
    close = {"rtol": 2e-5, "atol": 1e-7}
    np.testing.assert_allclose(ad.grad(fn)(x), expected, **close)
    _, pull = ad.vjp(fn, x)
    for _ in range(2):
        found = pull(1.0)
        np.testing.assert_allclose(found[0] if isinstance(found, tuple) else found, expected, **close)
    direction = np.cos(np.arange(np.size(x), dtype=float)).reshape(np.shape(x))[()]
    direction = float(direction) if np.ndim(x) == 0 else direction
    _, tangent = ad.jvp(fn, (x,), (direction,))
    np.testing.assert_allclose(tangent, np.sum(expected * direction), **close)
    np.testing.assert_array_equal(x, before)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def test_emitted_text_is_a_pair():
    text = ad.adjoint_source(power, 0.9, 5)
    assert "def power_forward(x, n, state):" in text
    assert "def power_backward(" in text
    assert text.count("def ") == 3


def test_count_known_at_run_time():
    check(lambda x: power(x, 7), 0.9)
    for n in (0, 1, 2, 30):
        found = ad.grad(power)(1.1, n)
        assert found == pytest.approx(n * 1.1 ** (n - 1))


def deep(x, n):
    if n <= 0:
        return x
    inner = deep(x + 0.0001 * x**2, n - 1)
    return inner + 0.001 * np.sin(3 * inner)


def test_two_hundred_deep():
    found = ad.grad(deep)(0.7, 200)
    assert found == pytest.approx(numeric(lambda x: deep(x, 200), 0.7), rel=1e-5)
    check(lambda x: deep(x, 200), 0.7)


def fib(x, n):
    if n < 2:
        return x * x + n
    return fib(x, n - 1) * fib(x, n - 2) * 0.5 + np.sin(fib(x, n - 2))


def test_several_calls_in_one_expression():
    check(lambda x: fib(x, 6), 0.4)
    found = ad.grad(fib)(0.4, 6)
    assert found == pytest.approx(numeric(lambda x: fib(x, 6), 0.4), rel=1e-5)


def in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        total = total + power(x[k], k + 1) * total + np.sin(power(x[k] + total, 2))
    return total


def test_called_in_loops():
    x = np.array([0.3, -0.4, 0.8])
    check(lambda v: in_a_loop(v, 3), x)
    np.testing.assert_allclose(ad.grad(in_a_loop)(x, 3), numeric(lambda v: in_a_loop(v, 3), x), rtol=1e-5)


def calls_itself_in_a_loop(x, n):
    total = x**2
    for k in range(n):
        total = total + calls_itself_in_a_loop(x * 0.5 + k, k) * np.sin(total)
    return total


def test_calls_itself_in_a_loop():
    check(lambda x: calls_itself_in_a_loop(x, 3), 0.6)
    found = ad.grad(calls_itself_in_a_loop)(0.6, 4)
    assert found == pytest.approx(numeric(lambda x: calls_itself_in_a_loop(x, 4), 0.6), rel=1e-5)


def halves(x):
    """Sum and product by recursion on halves."""
    if len(x) == 1:
        return x[0] ** 2, np.sin(x[0])
    half = len(x) // 2
    first, second = halves(x[:half]), halves(x[half:])
    return first[0] * second[1] + second[0], first[1] + first[0] * second[1]


def test_returns_tuples():
    check(lambda x: halves(x)[0] * halves(x)[1], np.array([0.3, 0.5, -0.4, 1.2, 0.9]))


def test_one_result_unused():
    check(lambda x: halves(x)[1], np.array([0.3, 0.5, -0.4]))


def collatz_like(x, depth):
    if x < 0.01 or depth > 40:
        return x * x
    if x > 1:
        return collatz_like(x * 0.3, depth + 1) * x
    return collatz_like(x * 0.7, depth + 1) + np.sqrt(x)


def test_condition_depends_on_data():
    for x in (0.005, 0.5, 2.9, 14.0):
        check(lambda v: collatz_like(v, 0), x)


def bisect(x, lo, hi):
    middle = 0.5 * (lo + hi)
    if hi - lo < 1e-3:
        return middle * x
    if middle * middle > x:
        return bisect(x, lo, middle) + x * 0.1
    return bisect(x, middle, hi) * 0.99


def test_constants_and_variables_as_arguments():
    check(lambda x: bisect(x, 0.0, 2.0), 1.7)


def accumulate(items, x, n):
    if n > 0:
        items.append(x * n)
        accumulate(items, np.sin(x) + x, n - 1)
        items.append(x * x)


def filled_list(x, n):
    items = [x]
    accumulate(items, x, n)
    total = 0.0
    for k in range(len(items)):
        total = total + items[k] ** 2 * (k + 1)
    return total


def test_list_argument_is_filled():
    check(lambda x: filled_list(x, 3), 0.4)
    assert ad.grad(filled_list)(0.4, 4) == pytest.approx(numeric(lambda x: filled_list(x, 4), 0.4), rel=1e-5)


def smooth(a, i):
    if i < len(a):
        a[i] = a[i] * a[i - 1] + np.sin(a[i])
        smooth(a, i + 1)
        a[i - 1] = a[i - 1] * a[i]


def written_argument(x):
    y = x * 1.5
    z = np.sum(y**2)
    smooth(y, 1)
    return np.sum(y**3) + z


def test_array_argument_is_written():
    check(written_argument, np.array([0.3, 0.7, -0.5, 1.1]))


def written_in_loop(x, n):
    total = 0.0
    y = x * 1.0
    for k in range(n):
        smooth(y, k + 1)
        total = total + np.sum(np.sin(y)) * total + y[0]
    return total


def test_array_is_written_in_a_loop():
    x = np.array([0.3, 0.7, -0.5, 1.1])
    np.testing.assert_allclose(
        ad.grad(written_in_loop)(x, 2), numeric(lambda v: written_in_loop(v, 2), x), rtol=1e-5, atol=1e-8
    )
    check(lambda v: written_in_loop(v, 3), x)


def made_in_loop(x, n):
    total = 0.0
    for k in range(n):
        y = x * (k + 1.0)
        smooth(y, 1)
        total = total + np.sum(y**2)
    return total


def test_array_made_in_a_loop_is_written():
    x = np.array([0.3, 0.7, -0.5])
    np.testing.assert_allclose(
        ad.grad(made_in_loop)(x, 3), numeric(lambda v: made_in_loop(v, 3), x), rtol=1e-5, atol=1e-8
    )


def quicksort(a, lo, hi):
    if lo < hi:
        pivot, i = a[hi], lo
        for j in range(lo, hi):
            if a[j] < pivot:
                t = a[i]
                a[i] = a[j]
                a[j] = t
                i += 1
        t = a[i]
        a[i] = a[hi]
        a[hi] = t
        quicksort(a, lo, i - 1)
        quicksort(a, i + 1, hi)


def test_sorting_in_place():
    def program(x):
        y = x**2
        quicksort(y, 0, len(y) - 1)
        return np.sum(y * np.arange(len(y)))

    check(program, np.array([0.9, -0.2, 1.4, 0.5, -0.7, 0.1]))


def returns_its_argument(a, i):
    if i >= len(a):
        return a
    a[i] = a[i] * a[i - 1]
    return returns_its_argument(a, i + 1)


def test_written_argument_is_returned():
    check(lambda x: np.sum(returns_its_argument(x * 1.0, 1) ** 2), np.array([0.3, 0.7, -0.5]))


def maybe_itself(a, n):
    if n == 0:
        return a
    return maybe_itself(a * 1.5, n - 1)


def test_result_that_may_be_the_argument():
    def reading(x, n):
        y = x * 2.0
        z = maybe_itself(y, n)
        return np.sum(y * z)

    def writing(x, n):
        y = x * 2.0
        z = maybe_itself(y, n)
        z[0] = z[0] ** 2
        return np.sum(y * z)

    x = np.array([0.3, 0.7])
    for n in (0, 2):
        np.testing.assert_allclose(ad.grad(reading)(x, n), numeric(lambda v: reading(v, n), x), rtol=1e-5)
        try:
            found = ad.grad(writing)(x, n)
        except AutodiffError:
            continue
        np.testing.assert_allclose(found, numeric(lambda v: writing(v, n), x), rtol=1e-5)


def twice(a, n):
    if n == 0:
        b = a * 2.0
        return b, b
    return twice(a + 1.0, n - 1)


def test_two_results_in_one_memory():
    def program(x, n):
        b, c = twice(x, n)
        b[0] = b[0] ** 2
        return np.sum(b * c)

    x = np.array([0.3, 0.7])
    try:
        found = ad.grad(program)(x, 2)
    except AutodiffError:
        return
    np.testing.assert_allclose(found, numeric(lambda v: program(v, 2), x), rtol=1e-5)


def two_arrays(a, b, i):
    if i < len(a):
        a[i] = a[i] * b[i]
        two_arrays(b, a, i + 1)


def test_arguments_change_places():
    def program(x):
        a, b = x * 1.0, x**2
        two_arrays(a, b, 0)
        return np.sum(a * 3.0 + b**2)

    check(program, np.array([0.3, 0.7, -0.5]))


def test_one_array_given_twice():
    def program(x):
        a = x * 1.0
        two_arrays(a, a, 0)
        return np.sum(a * 3.0)

    x = np.array([0.3, 0.7, -0.5])
    try:
        found = ad.grad(program)(x)
    except AutodiffError:
        return
    np.testing.assert_allclose(found, numeric(program, x), rtol=1e-5)


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients
        self.scale = 0.7

    def value(self, x, k):
        if k == len(self.coefficients):
            return 0.0
        return self.coefficients[k] * self.scale + x * self.value(x, k + 1)


def test_method():
    p = Polynomial(np.array([0.3, -1.0, 2.0, 0.5]))
    check(lambda x: p.value(x, 0) ** 2, 0.8)
    assert ad.grad(p.value)(0.8, 1) == pytest.approx(numeric(lambda x: p.value(x, 1), 0.8), rel=1e-5)


def test_object_made_inside():
    def program(c, n):
        p = Polynomial(c * c)
        return p.value(1.3, n) + p.value(c[0], n + 1)

    x = np.array([0.3, -1.0, 2.0])
    np.testing.assert_allclose(ad.grad(program)(x, 0), numeric(lambda v: program(v, 0), x), rtol=1e-5)


def test_captured_arrays_get_their_gradients():
    def program(w, n):
        bias = np.sum(w)

        def apply(h, k):
            if k <= 0:
                return h * bias
            return apply(np.tanh(h * w[0] + w[1]), k - 1) + bias * WEIGHTS[0]

        return np.sum(apply(w * 2.0, n))

    x = np.array([0.3, -1.0, 2.0])
    np.testing.assert_allclose(ad.grad(program)(x, 3), numeric(lambda v: program(v, 3), x), rtol=1e-5)
    check(lambda v: program(v, 4), x)


def test_captured_variable_changes_between_calls():
    def program(x, n):
        scale = x

        def f(y, k):
            if k == 0:
                return y
            return f(y * scale, k - 1) + scale

        first = f(x, n)
        scale = x * x
        return first * f(x, n)

    assert ad.grad(program)(0.8, 3) == pytest.approx(numeric(lambda x: program(x, 3), 0.8), rel=1e-5)


def test_nonlocal_is_right_or_refused():
    def program(x, n):
        total = 0.0

        def visit(y, k):
            nonlocal total
            total = total + y * y
            if k > 0:
                visit(y * 0.5, k - 1)
                visit(np.sin(y), k - 1)

        visit(x, n)
        return total

    try:
        found = ad.grad(program)(0.8, 3)
    except AutodiffError as error:
        assert "visit" in str(error) or "total" in str(error)
        return
    assert found == pytest.approx(numeric(lambda x: program(x, 3), 0.8), rel=1e-5)


def even(x, n):
    return x if n == 0 else odd(x * x + 0.1, n - 1)


def odd(x, n):
    return -x if n == 0 else even(np.sin(x) + 0.5, n - 1)


def test_mutual_recursion():
    for n in range(4):
        assert ad.grad(even)(0.3, n) == pytest.approx(numeric(lambda x: even(x, n), 0.3), rel=1e-5)
        _, tangent = ad.jvp(lambda x: even(x, n), (0.3,), (1.0,))
        assert tangent == pytest.approx(numeric(lambda x: even(x, n), 0.3), rel=1e-5)


def ackermann_like(x, m, n):
    if m == 0:
        return x + 0.1 * n
    if n == 0:
        return ackermann_like(x * 1.1, m - 1, 1) * 0.9
    return ackermann_like(np.sin(ackermann_like(x, m, n - 1)), m - 1, n)


def test_call_inside_the_argument_of_a_call():
    for m, n in ((0, 1), (1, 0), (1, 3), (2, 2)):
        found = ad.grad(ackermann_like)(0.4, m, n)
        assert found == pytest.approx(numeric(lambda x: ackermann_like(x, m, n), 0.4), rel=1e-5)


def total_of(tree):
    if isinstance(tree, tuple):
        return sum(total_of(branch) for branch in tree) * 1.1
    return tree**2


def test_structure_is_followed_at_compile_time():
    tree = (0.3, (0.5, (0.2, 0.1)), ((0.7, 1.1), 0.9))
    found = ad.grad(total_of)(tree)
    assert found[0] == pytest.approx(1.1 * 2 * 0.3)
    assert found[1][1][0] == pytest.approx(1.1**3 * 2 * 0.2)


def merge_sort(values):
    if len(values) <= 1:
        return values
    half = len(values) // 2
    left, right = merge_sort(values[:half]), merge_sort(values[half:])
    result, i, j = [], 0, 0
    while i < len(left) or j < len(right):
        if j >= len(right) or (i < len(left) and left[i] < right[j]):
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result


def test_lists_in_and_out():
    def program(x):
        ordered = merge_sort([v * v for v in x])
        return sum(v * k for k, v in enumerate(ordered))

    x = np.array([0.9, -0.2, 1.4, 0.5, -0.7])
    try:
        ad.grad(program)(x)
    except AutodiffError as error:
        assert "merge_sort" in str(error)
        return
    check(program, x)


def strassen_like(a, b):
    n = len(a)
    if n == 1:
        return a * b
    h = n // 2
    top = np.concatenate([strassen_like(a[:h, :h], b[:h, :h]), strassen_like(a[:h, h:], b[h:, h:])], axis=1)
    low = np.concatenate([strassen_like(a[h:, :h], b[:h, h:]), strassen_like(a[h:, h:], b[h:, :h])], axis=1)
    return np.concatenate([top, low], axis=0)


def test_matrices():
    b = np.linspace(-1, 1, 16).reshape(4, 4)
    check(lambda a: np.sum(strassen_like(a, b) ** 2), np.linspace(0.1, 2, 16).reshape(4, 4))
    check(lambda a: np.sum(strassen_like(b, np.sin(a)) ** 2), np.linspace(0.1, 2, 16).reshape(4, 4))


def broadcasts(a, b, n):
    if n == 0:
        return a * b
    return broadcasts(a + b, np.sum(a * b, axis=0, keepdims=True), n - 1)


def test_broadcasting_arguments():
    a = np.linspace(0.1, 1, 6).reshape(3, 2)
    check(lambda v: np.sum(broadcasts(v, np.array([0.3, 0.5]), 2)), a)
    check(lambda v: np.sum(broadcasts(a, v, 2)), np.array([[0.3, 0.5]]))


def test_float32_stays():
    x = np.array([0.3, 0.5, 0.2], np.float32)
    assert ad.grad(lambda v: np.sum(maybe_itself(v, 3)))(x).dtype == np.float32


def inactive(x, n):
    return 1 if n <= 1 else n * inactive(x, n - 1)


def test_recursion_without_derivative():
    def factor(n):
        return 1 if n <= 1 else n * factor(n - 1)

    def program(x, n):
        return x * factor(n) + x**2

    assert ad.grad(program)(0.5, 5) == pytest.approx(121.0)
    assert ad.grad(inactive)(0.5, 5) == 0.0


def raises(x, n):
    if n > 10:
        raise ValueError("too deep")
    if x < 0.1:
        return x * n
    return raises(x * 0.5, n + 1)


def test_user_errors_pass_through():
    assert ad.grad(raises)(0.7, 0) == pytest.approx(numeric(lambda x: raises(x, 0), 0.7))
    with pytest.raises(ValueError, match="too deep"):
        ad.grad(raises)(1e9, 0)


def test_endless_recursion_is_refused():
    def endless(x, n):
        return endless(x * 2.0, n + 1)

    with pytest.raises(AutodiffError, match="recurs"):
        ad.grad(endless)(0.5, 1)


@pytest.mark.parametrize("program", [lambda x: power(x, 5), lambda x: deep(x, 4), lambda x: fib(x, 4)])
def test_second_order_is_right_or_refused(program):
    try:
        found = ad.grad(ad.grad(program))(0.6)
    except AutodiffError:
        return
    assert found == pytest.approx((program(0.6 + 1e-4) - 2 * program(0.6) + program(0.6 - 1e-4)) / 1e-8, rel=1e-4)


def gcd_scaled(x, a, b):
    return x**2 * a if b == 0 else gcd_scaled(x + 0.1, b, a % b)


def test_integers_change_places():
    assert ad.grad(gcd_scaled)(0.5, 48, 18) == pytest.approx(numeric(lambda x: gcd_scaled(x, 48, 18), 0.5))


def simpson(f, a, b, depth):
    middle = 0.5 * (a + b)
    whole = (b - a) / 6 * (f(a) + 4 * f(middle) + f(b))
    if depth == 0 or abs(whole) < 1e-6:
        return whole
    return simpson(f, a, middle, depth - 1) + simpson(f, middle, b, depth - 1)


def test_function_as_an_argument():
    check(lambda x: simpson(lambda t: math.exp(-t * x), 0.0, x, 3), 1.3)

    def program(x, depth):
        return simpson(lambda t: np.exp(-t * x), 0.0, x * 2, depth)

    assert ad.grad(program)(1.3, 2) == pytest.approx(numeric(lambda x: program(x, 2), 1.3), rel=1e-5)


def cubes(a, n):
    if n <= 0:
        return np.sum(a * a * a)
    return cubes(a, n - 1) * np.sum(np.sin(a))


def exponentials(a, n):
    return np.exp(a) if n <= 0 else np.exp(exponentials(a, n - 1) * 0.1)


def argument_written_later(x, n):
    y = x * 1.0
    t = cubes(y, n)
    y[0] = 5 * y[1]
    return t + np.sum(y * y)


def result_written_later(x, n):
    y = exponentials(x * 1.0, n)
    y[0] = 5 * y[1] * y[0]
    y *= y
    return np.sum(y * y)


def both_in_a_loop(x, n):
    y, t = x * 1.0, 0.0
    for k in range(n):
        t = t + cubes(y, k)
        y[0] = y[0] * y[1]
        z = exponentials(y, k)
        z[1] = z[0] * z[1]
        t = t + np.sum(z * z)
    return t


def ends(items, n):
    return items[0] * items[1] if n <= 0 else ends(items, n - 1) * items[-1]


def list_changed_later(x, n):
    items = [x[0], x[0] * x[1], np.sin(x[1])]
    t = ends(items, n)
    items[0] = x[1] * 3
    items.append(x[1] * 5)
    return t * items[0] * items[-1]


@pytest.mark.parametrize("fn", [argument_written_later, result_written_later, both_in_a_loop, list_changed_later])
def test_what_the_state_keeps_is_written_later(fn):
    x = np.array([0.3, 0.7, -0.4])
    expected = numeric(lambda v: fn(v, 2), x)
    np.testing.assert_allclose(ad.grad(fn)(x, 2), expected, rtol=1e-5)
    n = np.arange(3)
    np.testing.assert_allclose(ad.jvp(lambda v: fn(v, len(n) - 1), (x,), (x * 0 + 1,))[1], np.sum(expected), rtol=1e-5)
    try:
        _, pull = ad.vjp(lambda v: fn(v, len(n) - 1), x)
    except AutodiffError:
        return
    for _ in range(2):
        found = pull(1.0)
        np.testing.assert_allclose(found[0] if isinstance(found, tuple) else found, expected, rtol=1e-5)


def summed_tree(tree):
    if isinstance(tree, list):
        return sum(summed_tree(branch) for branch in tree)
    return tree * tree


def test_structure_of_a_tree_drives_its_recursion():
    check(lambda x: summed_tree([x, [2.0 * x, [x * x], x], 3.0]), 0.7)


def test_tree_whose_structure_only_the_run_knows():
    def f(x):
        tree = []
        tree.append(x)
        tree.append([2.0 * x, x])
        return summed_tree(tree)

    with pytest.raises(AutodiffError, match="containers beside numbers"):
        ad.grad(f)(0.7)
