"""Arrays as lists while loops run: the same bits, types, warnings and errors as with arrays."""

from __future__ import annotations

import math
import traceback
import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.compiler.driver import dispatch
from tests.compiler.checked import differences

pytestmark = pytest.mark.once


def substitution(a, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        rest = b[i]
        for j in range(i):
            rest = rest - a[i, j] * x[j]
        x[i] = rest / a[i, i]
    return np.sum(x * x)


def total(x):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] * x[i]
    return s


def total_of_integers(x):
    s = 0
    for i in range(len(x)):
        s += x[i] * 2
    return s


def last(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    return y[-1]


def as_array(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = 3.0 * x[i]
    return y


def largest(x):
    best = x[0]
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
    return best


def whole_numbers(x):
    """Integers that are stored become floats."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            y[i] = 1
        else:
            y[i] = max(0, x[i])
    return np.sum(y * x) + y[0]


def only_whole_numbers(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = i
    return y * x


def powers(x):
    s = 1.0
    for i in range(len(x)):
        s = s + x[i] ** 2 + x[i] ** 3
    return s * 1.0


def root_powers(x):
    """A negative base: NumPy says nan, Python makes a complex number."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 0.5 + x[i] ** x[i]
    return np.sum(y)


def functions(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.exp(x[i]) + math.sin(x[i]) + np.sqrt(abs(x[i])) * np.maximum(x[i], 0.25)
    return np.sum(y)


def remainders(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] % 0.3 + x[i] // 0.4
    return np.sum(y)


def neighbours(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i - 1] * x[i]
    return np.sum(y)


def past_the_end(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i + 1] * x[i]
    return np.sum(y)


def view(x):
    """A view of what is written is read beside it."""
    y = x * 1.0
    tail = y[1:]
    for i in range(len(tail)):
        y[i] = y[i] * 2.0
        tail[i] = tail[i] * y[i]
    return np.sum(y)


def rows_as_views(a):
    b = a * 1.0
    for i in range(len(b)):
        row = b[i]
        for j in range(len(row)):
            row[j] = row[j] * b[i, 0]
    return np.sum(b)


def in_place_stencil(a):
    u = a.copy()
    for i in range(1, len(u) - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


def table(a):
    out = np.zeros((len(a), 2))
    for i in range(len(a)):
        for j in range(2):
            out[i, j] = a[i, j] * a[i, 0]
    return out


def branches(x, flag):
    y = np.zeros(len(x))
    if flag:
        for i in range(len(x)):
            y[i] = x[i] * x[i]
    return np.sum(y) + y[0] * x[0]


def stretches(x):
    """Items, the whole, items again."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    y = y / np.sum(y)
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1]
    return np.sum(y * x)


def pivots(x):
    order = np.argsort(x)
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[order[i]] = x[i] * (i + 1)
    return np.sum(y * y)


def conditions(x):
    count, kept = 0.0, np.zeros(len(x))
    for i in range(len(x)):
        inside = 0.2 < x[i] < 0.8
        kept[i] = x[i] * inside
        if inside and not x[i] == 0.5 or x[i] > 2.0:
            count = count + x[i]
    return count * 2.0 + np.sum(kept)


def with_single(x, w):
    """A product with a float32 array: a Python float would leave it float32."""
    total = np.zeros(len(w))
    for i in range(len(x)):
        total = total + x[i] * w
    return np.sum(total)


def search(x, limit):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i]
        if s > limit:
            break
    return s * x[0]


def nested_total(a):
    s = 0.0
    for i in range(len(a)):
        for j in range(a.shape[1]):
            s = s + a[i, j] * a[i, j]
    return s


def triangle(a):
    """Whether the inner loop has run is not known."""
    s = 0.0
    for i in range(len(a)):
        for j in range(i):
            s = s + a[i, j] * a[j, i]
    return s


def clipped(x):
    """Which of its arguments `min` returns, and of which type, only the run tells."""
    s = x[0] * 1.0
    for i in range(len(x)):
        s = min(x[i], 1.0)
    return s


def clipped_integers(x):
    s = x[0] * 1.0
    for i in range(len(x)):
        s = max(0, x[i])
    return s


def negative_zeros(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = max(0, x[i])
        y[i] = -t
    return 1.0 * y


def branch_total(x):
    s = 0
    for i in range(len(x)):
        if x[i] > 1.0:
            s = s + x[i]
    return s


def several_results(x):
    s, t = 0.0, 1.0
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        s = s + x[i]
        t = t * x[i - 1]
        y[i] = s * t
    return s, t, y, x[0]


def logic(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if (x[i] > 0.2) & (x[i] < 1.0) | (x[i] == 5.0):
            y[i] = x[i] * np.pi
        elif not (np.isnan(x[i]) or x[i] < 0.0):
            y[i] = math.floor(x[i]) * x[i] + int(x[i]) + float(x[i])
    return np.sum(y)


def choices(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.where(x[i] > 0.4, x[i] * 2.0, 0)
        y[i] += x[i] if x[i] > 0.6 else 1
    return y


def integer_steps(x, counts):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * counts[i] + counts[i]
    return np.sum(y)


def while_loop(x):
    y, i = x.copy(), 0
    while i < len(y) and y[i] < 1.5:
        y[i] = y[i] * y[i]
        i += 1
    for k in range(len(y)):
        y[k] = y[k] + 1.0
    return np.sum(y * y)


def stored_whole(x):
    """The whole array is kept in each step."""
    y, rows = np.zeros(len(x)), []
    for i in range(len(x)):
        y[i] = x[i] * 2.0
        rows.append(y.copy())
    return np.sum(rows[0] * rows[-1])


def returned_twice(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
    return y, y


def two_names(x):
    y = np.zeros(len(x))
    z = y
    for i in range(len(x)):
        y[i] = x[i] * x[i]
        z[i] = z[i] * 2.0
    return np.sum(z * y)


def checked(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        assert x[i] > 0.0, f"bad {x[i]!r}"
        y[i] = x[i] * x[i]
    return np.sum(y)


def counted_rows(a):
    """The row is chosen by a number that the loop counts itself."""
    b, s, i = a * 1.0, 0.0, 0
    while i < len(b):
        for j in range(b.shape[1]):
            b[i, j] = b[i, j] * b[i, 0] + 1.0
            s = s + b[i, j] * b[i - 1, j]
        i = i + 1
    for i in range(len(b)):
        for j in range(b.shape[1]):
            s = s + b[i, j]
    return s


def jumping_rows(a, order):
    s, i = 0.0, 0
    for k in range(len(order)):
        for j in range(len(order)):
            s = s + a[i, j] * a[k, j]
        i = order[k]
    return s


def upper_pairs(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            s = s + x[i] * x[j]
    return s


def steps_of_heat(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return np.sum(u * u)


def two_buffers(x, steps):
    u, v = x * 1.0, x * 2.0
    for _ in range(steps):
        for i in range(1, len(u)):
            v[i] = u[i] * v[i - 1]
        u, v = v, u
    return np.sum(u) + u[1] * v[1]


def history(x, steps):
    """What is kept before the loop is seen after it."""
    rows = []
    for k in range(steps):
        y = np.zeros(len(x))
        rows.append(y)
        for i in range(len(x)):
            y[i] = x[i] * x[i] + k
        rows.append(y)
        y = y * x
        for i in range(len(x)):
            y[i] = y[i] * x[i - 1]
        rows.append(y)
    return np.sum(rows[0] * rows[-1]) + np.sum(rows[1])


def view_before(x, steps):
    s = 0.0
    for _ in range(steps):
        y = x * 2.0
        tail = y[1:]
        for i in range(len(x)):
            y[i] = y[i] * x[i]
        s = s + np.sum(tail * tail)
    return s


def view_as_source(x):
    """The view is read after its base was written, by items."""
    y = x * 2.0
    tail = y[1:]
    y[2] = 5.0
    s = 0.0
    for i in range(len(tail)):
        s = s + tail[i] * tail[i]
    y[1] = s
    return np.sum(tail) * s


def same_array_in_steps(x, steps):
    y = x.copy()
    for k in range(steps):
        z = y
        for i in range(len(x)):
            z[i] = z[i] * x[i]
        y = y + z
    return np.sum(y * y)


def branches_in_steps(x, steps):
    y = x * 1.0
    for k in range(steps):
        if k % 2 == 0:
            z = np.zeros(len(x))
            for i in range(len(x)):
                z[i] = y[i] * y[i]
        else:
            z = y * 0.5
            z[0] = 1.0
        y = y + 0.1 * z
    return np.sum(y)


def in_place_steps(x, steps):
    y = x.copy()
    whole = y
    for _ in range(steps):
        y[1:] = y[1:] * 0.5
        for i in range(1, len(x)):
            y[i] = y[i] + y[i - 1] * x[i]
        y *= 0.9
    return np.sum(whole * whole)


def largest_change(x, steps):
    """The loop over steps is left early, by a number out of the loop over items."""
    u = x.copy()
    for _ in range(steps):
        v, change = u.copy(), 0.0
        for i in range(1, len(x) - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
            change = max(change, abs(v[i] - u[i]))
        u = v
        if change < 0.3:
            break
    return np.sum(u * u) + change


def plane(u, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u = v
    return np.sum(u * u)


def scratch(x):
    out = np.zeros(len(x))
    for k in range(len(x)):
        row = np.zeros(len(x))
        for i in range(len(x)):
            row[i] = x[i] * x[k]
        out[k] = np.sum(row[: k + 1])
    return np.sum(out * out)


def few_of_many(x, few):
    """A loop over a few in a loop over all: a list of all would be made again and again."""
    s = 0.0
    for k in range(len(x)):
        for i in range(few):
            s = s + x[i] * np.sum(x[k:])
    return s


def kept_together(x, z):
    """What the reverse sweep reads is saved as tuples, with integers among them."""
    upper, bend = np.zeros(len(x)), np.zeros(len(x))
    upper[0] = 1.0 / x[0]
    for i in range(1, len(x)):
        k = int(x[i]) + 1
        pivot = 3.0 + x[i] - upper[i - 1]
        upper[i] = k / pivot
        bend[i] = (z[i] - bend[i - 1]) / pivot * max(0, x[i]) ** k
    return np.sum(bend * bend)


VECTOR = np.array([0.7, 0.3, 1.9, 0.5, 0.2])
SQUARE = np.tril(np.arange(1.0, 17.0).reshape(4, 4)) / 7 + np.eye(4)
CASES = [
    (substitution, (SQUARE, VECTOR[:4])),
    (substitution, (np.ones((0, 0)), np.ones(0))),
    (total, (VECTOR,)),
    (total, (np.ones(0),)),
    (total_of_integers, (VECTOR,)),
    (total_of_integers, (np.ones(0),)),
    (last, (VECTOR,)),
    (as_array, (VECTOR,)),
    (as_array, (np.ones(0),)),
    (largest, (VECTOR,)),
    (whole_numbers, (VECTOR,)),
    (only_whole_numbers, (VECTOR,)),
    (powers, (VECTOR,)),
    (powers, (-VECTOR,)),
    (root_powers, (VECTOR,)),
    (functions, (VECTOR,)),
    (functions, (-VECTOR,)),
    (remainders, (VECTOR,)),
    (neighbours, (VECTOR,)),
    (view, (VECTOR,)),
    (rows_as_views, (SQUARE,)),
    (in_place_stencil, (SQUARE,)),
    (in_place_stencil, (np.ones((0, 5)),)),
    (in_place_stencil, (np.ones((5, 0)),)),
    (table, (SQUARE,)),
    (table, (np.ones((0, 4)),)),
    (branches, (VECTOR, True)),
    (branches, (VECTOR, False)),
    (stretches, (VECTOR,)),
    (pivots, (VECTOR,)),
    (conditions, (VECTOR,)),
    (with_single, (VECTOR, np.ones(3, np.float32) / 3)),
    (search, (VECTOR, 1.5)),
    (nested_total, (SQUARE,)),
    (nested_total, (np.ones((0, 3)),)),
    (nested_total, (np.ones((3, 0)),)),
    (triangle, (SQUARE,)),
    (triangle, (SQUARE[:1],)),
    (clipped, (VECTOR,)),
    (clipped, (VECTOR[:3],)),
    (clipped_integers, (VECTOR,)),
    (clipped_integers, (-VECTOR,)),
    (negative_zeros, (-VECTOR,)),
    (whole_numbers, (-VECTOR,)),
    (branch_total, (VECTOR,)),
    (branch_total, (VECTOR / 4,)),
    (several_results, (VECTOR,)),
    (several_results, (VECTOR[:1],)),
    (logic, (VECTOR,)),
    (logic, (-VECTOR,)),
    (choices, (VECTOR,)),
    (integer_steps, (VECTOR, np.array([3, 1, 2, 0, 5]))),
    (while_loop, (VECTOR,)),
    (stored_whole, (VECTOR,)),
    (returned_twice, (VECTOR,)),
    (two_names, (VECTOR,)),
    (checked, (VECTOR,)),
    (checked, (-VECTOR,)),
    (counted_rows, (SQUARE,)),
    (jumping_rows, (SQUARE, np.array([2, 1, 3, 0]))),
    (upper_pairs, (VECTOR,)),
    (steps_of_heat, (VECTOR, 3)),
    (steps_of_heat, (VECTOR, 0)),
    (steps_of_heat, (VECTOR[:1], 2)),
    (two_buffers, (VECTOR, 3)),
    (two_buffers, (VECTOR, 2)),
    (history, (VECTOR, 2)),
    (view_before, (VECTOR, 2)),
    (view_as_source, (VECTOR,)),
    (same_array_in_steps, (VECTOR, 3)),
    (branches_in_steps, (VECTOR, 3)),
    (in_place_steps, (VECTOR, 3)),
    (in_place_steps, (VECTOR[:0], 3)),
    (largest_change, (VECTOR, 5)),
    (largest_change, (VECTOR, 1)),
    (plane, (SQUARE, 3)),
    (plane, (np.ones((0, 4)), 2)),
    (plane, (np.ones((4, 0)), 2)),
    (scratch, (VECTOR,)),
    (few_of_many, (VECTOR, 2)),
    (kept_together, (VECTOR, VECTOR[::-1])),
    (kept_together, (-VECTOR, VECTOR)),
]
EVERY_CASE = [pytest.param(fn, args, id=f"{fn.__name__}-{k}") for k, (fn, args) in enumerate(CASES)]


def outcome(fn, args, **settings):
    """Value and gradients of a call, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = ad.value_and_grad(fn, **settings)(*args)
        except Exception as error:
            result = (type(error), str(error))
    return result, {(w.category, str(w.message)) for w in told}


def check_same(fn, args, **settings):
    """One outcome with lists and with arrays; the value is the function's own."""
    found, told = outcome(fn, args, **settings)
    with pass_registry.without("unbox_arrays"):
        wanted, warned = outcome(fn, args, **settings)
    assert told == warned
    assert_alike(found, wanted)
    return found


def assert_alike(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(found, tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            assert_alike(a, b)
    elif isinstance(found, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    else:
        assert found == wanted or found != found and wanted != wanted


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("fn", "args"), EVERY_CASE)
def test_same(fn, args, dtype):
    args = tuple(a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype == float else a for a in args)
    before = [np.copy(a) for a in args]
    found = check_same(fn, args)
    assert all(np.array_equal(a, b) for a, b in zip(args, before))
    if not isinstance(found[0], type):
        assert_bits(found[0], fn(*args))


def assert_bits(found, value):
    assert type(found) is type(value)
    if isinstance(value, tuple):
        for a, b in zip(found, value):
            assert_bits(a, b)
    else:
        assert np.asarray(found).tobytes() == np.asarray(value).tobytes()


def source(fn, *args):
    return ad.adjoint_source(fn, *args)


def test_value_of_a_sum_is_numpys_only_where_something_was_added():
    gradient = ad.value_and_grad(nested_total)
    assert type(gradient(SQUARE)[0]) is np.float64 and type(gradient(SQUARE[:0])[0]) is float
    assert "np.float64(s) if len(a) > 0 and a.shape[1] > 0 else s" in gradient.source


@pytest.mark.parametrize(("fn", "args"), [(steps_of_heat, (VECTOR, 3)), (plane, (SQUARE, 3)), (scratch, (VECTOR,))])
def test_bodies_of_loops(fn, args):
    assert ".tolist()" in source(fn, *args)


def test_numbers_saved_together():
    def sweep(x, z):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            pivot = x[i] - y[i - 1]
            y[i] = (z[i] - y[i - 1]) / pivot
        return np.sum(y * y)

    text = source(sweep, VECTOR, VECTOR[::-1])
    assert "x_items" in text and "z_items" in text and "y = [0.0] * len(x)" in text


def test_bodies_of_loops_over_a_part_stay():
    assert "tolist" not in source(few_of_many, VECTOR, 2)


def test_no_call_is_run_twice(monkeypatch):
    """What is converted may not fail where arrays do not."""
    monkeypatch.setattr(dispatch.Compiled, "on_arrays", None)
    for fn, args in CASES:
        if fn not in (checked, past_the_end):
            ad.value_and_grad(fn)(*args)


def test_loops_with_other_numbers_stay():
    def mixed(x, y):
        z = np.zeros(len(x))
        for i in range(len(x)):
            z[i] = x[i] * np.sum(y[i:])
        for i in range(len(x)):
            z[i] = z[i] * y[i] % 2.0
        return np.sum(z)

    assert "x_items" not in source(mixed, VECTOR, VECTOR)


def test_loops_that_visit_a_few_items_stay():
    def first(x):
        s = 0.0
        for i in range(3):
            s = s + x[i] * x[i]
        return s

    assert "tolist" not in source(first, VECTOR) and "tolist" not in source(search, VECTOR, 1.5)


@pytest.mark.parametrize("fn", [substitution, in_place_stencil, total, last, whole_numbers, powers, neighbours, pivots])
def test_becomes_lists(fn):
    args = {substitution: (SQUARE, VECTOR[:4]), in_place_stencil: (SQUARE,)}.get(fn, (VECTOR,))
    assert ".tolist()" in source(fn, *args)


@pytest.mark.parametrize("fn", [remainders, view, rows_as_views, root_powers])
def test_stays_arrays(fn):
    args = {rows_as_views: (SQUARE,)}.get(fn, (VECTOR,))
    text = source(fn, *args)
    assert " y = [" not in text and " y_items" not in text and " b_rows" not in text


def test_arrays_of_other_types_stay():
    assert "tolist" not in source(total, VECTOR.astype(np.float32))
    assert "tolist" not in source(total, VECTOR + 0j)


# -- where lists raise


def test_quotient_by_zero():
    singular = SQUARE.copy()
    singular[2, 2] = 0.0
    (value, grads), told = outcome(substitution, (singular, VECTOR[:4]))
    assert np.isinf(value) and told
    check_same(substitution, (singular, VECTOR[:4]))


def test_power_that_overflows():
    check_same(powers, (np.array([1e200, 1.0]),))


def test_index_error_is_numpys():
    found = check_same(past_the_end, (VECTOR,))
    assert found == (IndexError, "index 5 is out of bounds for axis 0 with size 5")
    with pytest.raises(IndexError) as info:
        ad.grad(past_the_end)(VECTOR)
    last = traceback.extract_tb(info.value.__traceback__)[-1]
    assert info.value.__context__ is None and last.name == "past_the_end"


def test_error_comes_again_and_again():
    gradient = ad.grad(past_the_end)
    for _ in range(3):
        with pytest.raises(IndexError, match="out of bounds for axis 0"):
            gradient(VECTOR)
    assert ad.grad(neighbours)(VECTOR).shape == (5,)


def test_short_way_after_an_error():
    gradient = ad.grad(substitution, (0, 1))
    singular = SQUARE.copy()
    singular[2, 2] = 0.0
    right = gradient(SQUARE, VECTOR[:4])
    with np.errstate(all="ignore"):
        assert not np.isfinite(gradient(singular, VECTOR[:4])[1]).all()
    again = gradient(SQUARE, VECTOR[:4])
    assert all(np.array_equal(a, b) for a, b in zip(right, again))


def test_callers_who_want_to_be_told_of_overflow():
    def grows(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = x[i] * x[i]
        return np.sum(y * y)

    for _ in range(2):
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            ad.grad(grows)(np.array([1e200]))
    gradient = ad.grad(grows)
    gradient(np.array([2.0]))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        gradient(np.array([1e200]))


# -- programs that may not be run again


def test_effects_keep_arrays():
    def says(x):
        s = 0.0
        for i in range(len(x)):
            print(x[i])
            s = s + x[i] / x[i]
        return s

    assert "tolist" not in source(says, VECTOR)


def test_handlers_keep_arrays():
    def careful(x):
        s = 0.0
        for i in range(len(x)):
            try:
                s = s + x[i] / (x[i] - 0.3)
            except ZeroDivisionError:
                s = s + 1.0
        return s

    assert "tolist" not in source(careful, VECTOR)
    check_same(careful, (VECTOR,))


def test_errstate_keeps_arrays():
    def quiet(x):
        s = 0.0
        with np.errstate(all="raise"):
            for i in range(len(x)):
                s = s + x[i] / (x[i] - 0.3)
        return s

    assert "tolist" not in source(quiet, VECTOR)
    check_same(quiet, (VECTOR,))


COUNTS = np.zeros(1)


def counted(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        COUNTS[0] += 1.0
        y[i] = 1.0 / x[i]
    return np.sum(y)


def test_outside_memory_is_written_once():
    COUNTS[0] = 0.0
    with np.errstate(all="ignore"):
        ad.grad(counted)(np.array([1.0, 0.0, 2.0]))
    assert COUNTS[0] == 3.0


# -- other ways in


def test_derivatives_of_derivatives():
    def trace(a, b):
        return np.sum(ad.grad(substitution, 1)(a, b) ** 2)

    found = ad.grad(trace, 1)(SQUARE, VECTOR[:4])
    with pass_registry.without("unbox_arrays"):
        wanted = ad.grad(trace, 1)(SQUARE, VECTOR[:4])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_gradients_share_no_memory():
    def f(x, y):
        s = 0.0
        for i in range(len(x)):
            s = s + x[i] * y[i]
        return s

    a, b = ad.grad(f, (0, 1))(VECTOR, VECTOR)
    assert not any(np.shares_memory(p, q) for p, q in ((a, b), (a, VECTOR), (b, VECTOR)))
    np.testing.assert_array_equal(a, b)


def test_a_program_is_compiled_for_lists_and_arrays_once():
    gradient = ad.grad(past_the_end)
    for _ in range(2):
        with pytest.raises(IndexError):
            gradient(VECTOR)
    assert gradient.source == gradient.source


def rows_one_after_another(x):
    y = np.zeros_like(x)
    for i in range(len(y)):
        for j in range(1, y.shape[1]):
            y[i, j] = y[i, j - 1] + x[i, j] * x[i, j]
    return np.sum(y * y)


def rows_twice(x):
    y = np.zeros_like(x)
    for i in range(-len(y), len(y)):
        for j in range(1, y.shape[1]):
            y[i, j] = y[i, j] + x[i, j] * x[i, j]
    return np.sum(y * y)


@pytest.mark.parametrize("fn", [rows_one_after_another, rows_twice])
def test_rows_made_one_by_one(fn):
    for shape in ((3, 4), (0, 4), (3, 0), (1, 1)):
        x = np.random.default_rng(0).uniform(0.5, 1.5, shape)
        with pass_registry.without("unbox_arrays"):
            expected = ad.value_and_grad(lambda x: fn(x))(x)
        value, gradient = ad.value_and_grad(fn)(x)
        assert value == expected[0] and np.array_equal(gradient, expected[1])
    assert ("y_row = [0.0]" in ad.adjoint_source(fn, np.ones((3, 4)))) is (fn is rows_one_after_another)


def test_numbers_of_numpy_are_made_floats_before_they_are_put_into_lists():
    def grown(p, k, n):
        x = np.zeros(n)
        x[0] = p[0]
        for i in range(1, n):
            x[i] = x[i - 1] * 1.25 + 0.5
        x[1] += k
        for i in range(2, n):
            x[i] = x[i - 1] + x[i - 2] * x[i]
        return np.sum(x * x) * p[1]

    p = np.array([0.5, 1.5])
    text = ad.adjoint_source(grown, p, 2, 5)
    assert "x[0] = float(p[0])" in text or "x_items[0] = float(p[0])" in text
    for k in (2, 0.25, np.float64(0.25)):
        value, found = ad.value_and_grad(grown)(p, k, 5)
        assert value == grown(p, k, 5) and type(value) is type(grown(p, k, 5))
        np.testing.assert_allclose(found, differences(grown, (p, k, 5)), rtol=1e-6)
        with pass_registry.without("unbox_arrays"):
            assert np.array_equal(found, ad.grad(grown)(p, k, 5))


def test_parameters():
    """What a program touches by literal indices only is a list beside the lists of loops, and where it stands alone."""

    def driven(p, n):
        x = np.zeros(n)
        x[0] = p[0]
        for i in range(1, n):
            x[i] = x[i - 1] + np.sqrt(p[-1]) * x[i - 1]
        return np.sum(x) * p[1]

    def read_as_a_whole(p, n):
        x = p[0]
        for _ in range(n):
            x = x * p[1]
        return x * np.sum(p)

    p = np.array([0.5, 1.5, 0.25])
    assert "p.tolist()" in ad.adjoint_source(driven, p, 4)
    assert "tolist" not in ad.adjoint_source(read_as_a_whole, p, 4)
    for fn in (driven, read_as_a_whole):
        value, found = ad.value_and_grad(fn)(p, 4)
        assert value == fn(p, 4) and type(value) is type(fn(p, 4))
        with pass_registry.without("unbox_arrays"):
            np.testing.assert_allclose(ad.grad(fn)(p, 4), found, rtol=1e-14)
        with pytest.raises(IndexError):
            ad.grad(fn)(p[:1], 4)


def levinson(r):
    """A loop that goes as far as the one around it: over half of the axis on average."""
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    e = r[0]
    for k in range(1, n + 1):
        acc = 0.0
        for j in range(k):
            acc = acc + a[j] * r[k - j]
        lam = -acc / e
        new = a.copy()
        for j in range(1, k + 1):
            new[j] = a[j] + lam * a[k - j]
        a = new
        e = e * (1.0 - lam * lam)
    return np.sum(a * a) + e


def rows_of_sparse(data, starts, places, x):
    """Items of rows that an array tells the ends of: as many as there are rows, and more."""
    for _ in range(3):
        y = np.zeros(len(x))
        for i in range(len(x)):
            for k in range(starts[i], starts[i + 1]):
                y[i] += data[k] * x[places[k]]
        x = np.tanh(y)
    return np.sum(x * x)


def bodies(pos, vel, mass):
    """The lengths of axes that only meet after the loops."""
    pos, vel = pos.copy(), vel.copy()
    for _ in range(3):
        acc = np.zeros((len(mass), 2))
        for i in range(len(mass)):
            for j in range(len(mass)):
                if i != j:
                    x = pos[j, 0] - pos[i, 0]
                    y = pos[j, 1] - pos[i, 1]
                    pull = mass[j] / (x * x + y * y + 0.1)
                    acc[i, 0] += pull * x
                    acc[i, 1] += pull * y
        vel += 0.1 * acc
        pos += 0.1 * vel
    return np.sum(pos * pos)


def small_system(p, x):
    """Parameters beside arrays that stay arrays."""
    for _ in range(4):
        rate = np.empty(2)
        rate[0] = p[0] * x[0] - p[1] * x[0] * x[1]
        rate[1] = p[2] * x[0] * x[1] - x[1]
        x = x + 0.1 * rate
    return np.sum(x)


LONG = 0.8 ** np.arange(20) + (np.arange(20) == 0)
SPARSE = (np.linspace(0.2, 1.1, 40), np.arange(0, 41, 2), (7 * np.arange(40)) % 20, np.cos(np.arange(20.0)))
PLANE = np.random.default_rng(0).normal(size=(5, 2))
COVERED = [
    (levinson, (LONG,), ("r.tolist()", "new = a.tolist()")),
    (rows_of_sparse, SPARSE, ("data.tolist()", "places.tolist()", "x.tolist()")),
    (bodies, (PLANE, PLANE[::-1] * 0.3, np.arange(1.0, 6.0)), ("pos_rows = pos.tolist()", "mass.tolist()")),
    (small_system, (np.array([0.5, 0.3, 0.2]), np.array([1.0, 2.0])), ("p_items = p.tolist()",)),
]


@pytest.mark.parametrize(("fn", "args", "parts"), COVERED, ids=lambda x: getattr(x, "__name__", ""))
def test_loops_that_touch_as_many_items_as_there_are(fn, args, parts):
    found = ad.grad(fn)(*args)
    with pass_registry.without("unbox_arrays"), pass_registry.without("scalar_math"):
        np.testing.assert_allclose(ad.grad(lambda *args: fn(*args))(*args), found, rtol=1e-13)
    text = ad.adjoint_source(fn, *args)
    assert all(part in text for part in parts)
    value, again = ad.value_and_grad(fn)(*args)
    assert value == fn(*args)
    np.testing.assert_allclose(again, found, rtol=1e-13)


def test_what_is_a_list_around_a_loop_is_made_once():
    for line in ad.adjoint_source(bodies, *COVERED[2][1]).splitlines():
        assert "mass.tolist()" not in line or line.startswith("    mass_items")


def trace_of_tanh(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += np.tanh(a[i, i])
    return np.sum(a + total)


def first_row_and_column(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, 0] * a[0, j]
    return total


def off_diagonals(a):
    total = 0.0
    for i in range(1, len(a)):
        total += a[i, i - 1] * a[i - 1, i]
    return total


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [1, 3, 20])
@pytest.mark.parametrize("fn", [trace_of_tanh, first_row_and_column, off_diagonals])
def test_a_small_share_of_a_matrix_makes_no_lists(fn, n, order):
    a = np.array(np.random.default_rng(n).normal(size=(n, n)), order=order)
    value, gradient = ad.value_and_grad(fn)(a)
    assert value == fn(a)
    np.testing.assert_allclose(gradient, differences(fn, (a,)), rtol=1e-6, atol=1e-8)
    # A row and a column of a matrix that is surely small are a large share of it.
    assert "tolist" not in ad.adjoint_source(fn, a) or (fn is first_row_and_column and n == 3)
