"""Values that carry a derivative, kept in what the compiler does not look into: none comes out as a constant."""

import collections
import io
import queue

import numpy as np
import pytest
from scipy import interpolate

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

waiting = queue.SimpleQueue()
seen = set()


def interpolated(x, places):
    """What an object of compiled code makes of the numbers that it keeps."""
    return interpolate.CloughTocher2DInterpolator([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], x)(places, places)


def in_interpolator(x):
    return float(interpolated(x, np.array([1.1]))[0])


def in_interpolator_of_array(x):
    y = np.zeros(3)
    y[:] = interpolated(x, np.arange(3.0))
    return y.sum()


def in_queue(x):
    q = queue.SimpleQueue()
    q.put(x[0] * 2)
    return float(q.get())


def in_queue_outside(x):
    waiting.put(float(x[0]))
    return float(waiting.get())


def in_file(x):
    file = io.StringIO()
    file.write(str(float(x[0])))
    return float(file.getvalue())


def in_set(x):
    found = set()
    found.add(float(x[0]))
    return found.pop() * 2


def in_set_outside(x):
    seen.add(float(x[0]))
    return seen.pop() * 2


def in_set_comprehension(x):
    return sum({float(v) for v in x})


def largest_of_set(x):
    return max({float(v) for v in x})


def in_text(x):
    return float(str(float(x[0])))


def in_formatted_text(x):
    return float(f"{x[0]:.17g}")


def in_texts(x):
    return np.array(list(map(str, x))).astype(float).sum()


def beside_a_number(x):
    return x.sum(), interpolated(x, np.array([1.1]))


def inside_a_table(x):
    return {"sum": x.sum(), "rest": [interpolated(x, np.array([1.1]))]}


def set_beside_a_number(x):
    return x.sum(), {float(v) for v in x}


def iterator_beside_a_number(x):
    return x.sum(), iter([x[0], x[1]])


def lazy_map_beside_a_number(x):
    return x.sum(), map(lambda v: 2 * v, x)


@pytest.mark.parametrize(
    "fn",
    [
        in_interpolator,
        in_interpolator_of_array,
        in_queue,
        in_queue_outside,
        in_file,
        in_set,
        in_set_outside,
        in_set_comprehension,
        largest_of_set,
        in_text,
        in_formatted_text,
        in_texts,
        beside_a_number,
        inside_a_table,
        set_beside_a_number,
        iterator_beside_a_number,
        lazy_map_beside_a_number,
    ],
)
def test_derivative_that_would_pass_is_refused(fn):
    with pytest.raises(ad.AutodiffError):
        ad.grad(fn)(np.array([0.5, -1.5, 2.0]))
    with pytest.raises(ad.AutodiffError):
        ad.jvp(fn, (np.array([0.5, -1.5, 2.0]),), (np.ones(3),))


def test_polynomial_that_only_decides():
    def chosen(x):
        p = np.polynomial.Polynomial(x)
        return x[0] ** 2 if p(1.1) > 0 else x[1] ** 2

    check_gradient(chosen, (np.array([0.5, -1.5, 2.0]),))


def test_text_that_only_names():
    def named(x):
        table = {"0.5": x[1] ** 2}
        key = f"{x[0]:.1f}"
        return table[key] if key in table else x[2]

    check_gradient(named, (np.array([0.51, -1.5, 2.0]),))


def test_set_that_only_decides():
    def unique(x):
        total, met = 0.0, set()
        for v in x:
            if float(v) not in met:
                met.add(float(v))
                total += v * v
        return total

    check_gradient(unique, (np.array([0.5, -1.5, 2.0]),))


def test_methods_taken_from_their_class():
    def unbound(x):
        items, table, ends = [1.0], {}, collections.deque()
        append = list.append
        append(items, x[0])
        list.extend(items, [x[1]])
        dict.update(table, {"last": x[2]})
        collections.deque.appendleft(ends, x[0] * x[1])
        return items[1] * items[2] * table["last"] + ends[0] + np.ndarray.sum(x) * np.ndarray.item(x, 0)

    check_gradient(unbound, (np.array([0.5, -1.5, 2.0]),))


def test_write_by_a_method_taken_from_its_class_is_refused():
    def unbound(x):
        y = np.zeros(3)
        np.ndarray.__setitem__(y, 0, x[0])
        return y.sum()

    with pytest.raises(ad.AutodiffError):
        ad.grad(unbound)(np.array([0.5, -1.5, 2.0]))


def test_what_an_unknown_object_computes_is_named():
    with pytest.raises(ad.errors.NoRule, match="scipy.interpolate.CloughTocher2DInterpolator has no derivative rule"):
        ad.grad(in_interpolator)(np.array([0.5, -1.5, 2.0]))


def test_unknown_result_as_auxiliary():
    def fn(x):
        return (x**2).sum(), np.polynomial.Polynomial(x)(1.1), f"{x[0]:.1f}"

    x = np.array([0.5, -1.5, 2.0])
    (value, *aux), gradient = ad.value_and_grad(fn, has_aux=True)(x)
    assert value == (x**2).sum() and aux == list(fn(x)[1:])
    np.testing.assert_array_equal(gradient, 2 * x)


def test_rule_of_an_object_that_is_called():
    class Curve:
        def __call__(self, x):
            return np.asarray([1.0, 2.0, 3.0]) @ np.stack([x**0, x, x**2])

    curve, slope = Curve(), np.polynomial.Polynomial([2.0, 6.0])

    @ad.rule(curve)
    def curve_rule(y, d, x):
        return d * slope(x)

    class Model:
        def __init__(self):
            self.curve = curve

        def __call__(self, x):
            return (self.curve(x) ** 2).sum() + curve(x).sum()

    x, model = np.array([0.5, -1.5, 2.0]), Model()
    gradient = ad.grad(lambda x: model(x))
    np.testing.assert_allclose(gradient(x), (2 * curve(x) + 1) * slope(x), rtol=1e-13)
    assert "slope(x)" in gradient.source


def test_object_without_a_rule_is_named():
    curve = np.polynomial.Polynomial([1.0, 2.0])
    with pytest.raises(ad.errors.NoRule, match="curve has no derivative rule"):
        ad.grad(lambda x: 2.0 * float(curve(x)))(1.5)


def test_object_that_only_decides():
    curve = np.polynomial.Polynomial([1.0, 2.0])
    check_gradient(lambda x: x[0] ** 2 if curve(x)[0] > 0 else x[1] ** 2, (np.array([0.5, -1.5, 2.0]),))
