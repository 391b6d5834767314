"""`debug_nans`: the first line of each sweep that makes a NaN or an infinity."""

import dataclasses

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import NonFinite

HOLE = np.array([1.0, 2.0, 0.0, 4.0])


def logs(x):
    y = np.log(x)
    return np.sum(y * x)


def root(x):
    return np.sum(np.sqrt(x))


def masked(x):
    return np.sum(np.where(x > 0, x * np.log(x), 0.0))


def centred(a):
    b = a - a.mean()
    return b / b.std()


def by_helper(x):
    return np.sum(centred(x * 0.0))


def loop(x):
    s = 0.0
    for i in range(len(x)):
        s = s + 1.0 / x[i] ** 2
    return s


def smallest(x):
    best = np.inf
    for v in x:
        if v < best:
            best = v
    return best * 2


def in_place(x):
    y = x.copy()
    y[1:] /= x[:-1]
    return np.sum(y)


def growing(x):
    for _ in range(3):
        x = np.exp(x)
    return np.sum(x)


def findings(fn, *args, **settings):
    with pytest.raises(NonFinite) as caught:
        ad.debug_nans(fn, **settings)(*args)
    assert isinstance(caught.value, FloatingPointError)
    return caught.value.findings


def line_in(fn, text):
    import inspect

    lines, start = inspect.getsourcelines(fn)
    return start + next(k for k, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("fn", "text", "sweep", "kind", "given"),
    [
        (logs, "y = np.log(x)", "forward", "an infinity", "x[2] = 0.0"),
        (root, "return", "reverse", "an infinity", "[2] = 0.0"),
        (masked, "return", "forward", "an infinity", "x[2] = 0.0"),
        (loop, "s = s + ", "forward", "an infinity", "s = 1.25"),
        (in_place, "/=", "forward", "an infinity", "y[3] = 4.0"),
    ],
)
def test_the_line_that_made_it(fn, text, sweep, kind, given):
    first = findings(fn, HOLE)[0]
    assert (first.line.sweep, first.kind) == (sweep, kind)
    assert first.line.origin.file == __file__ and first.line.origin.line == line_in(fn, text)
    assert any(given in each for each in first.given), first.given
    assert text.split()[0] in str(first) and "inf" in first.made


def test_a_line_of_a_function_that_is_called():
    first = findings(by_helper, HOLE)[0]
    assert first.line.origin.function == "centred" and first.line.origin.line == line_in(centred, "return")
    assert first.kind == "NaN" and "4 of 4 elements" in first.made


def test_one_line_of_each_sweep():
    sweeps = [each.line.sweep for each in findings(loop, HOLE)]
    assert sweeps == ["forward", "reverse"]


def test_what_passes_through_a_line_is_not_blamed_on_it():
    first = findings(growing, np.array([50.0, 1.0]))[0]
    assert first.given == ["x[0] = 5.184705528587072e+21"]


def test_the_same_gradient_where_all_is_finite():
    x = HOLE + 1
    np.testing.assert_array_equal(ad.debug_nans(logs)(x), ad.grad(logs)(x))
    np.testing.assert_array_equal(ad.debug_nans(smallest)(HOLE), ad.grad(smallest)(HOLE))
    value, gradient = ad.debug_nans(ad.value_and_grad(logs))(x)
    assert value == logs(x)
    np.testing.assert_array_equal(gradient, ad.grad(logs)(x))
    both = ad.debug_nans(lambda a, b: np.sum(a * b), (0, 1))(x, HOLE)
    np.testing.assert_array_equal(both[0], HOLE)


def test_infinities_may_be_left_out():
    gradient = ad.debug_nans(masked, infinities=False)(HOLE + 1)
    np.testing.assert_array_equal(gradient, ad.grad(masked)(HOLE + 1))
    assert all(each.kind == "NaN" for each in findings(loop, HOLE, infinities=False))


def test_an_argument_that_holds_it():
    (only,) = findings(logs, np.array([1.0, np.nan]))
    assert "argument 'x' of logs holds nan" in str(only)


def test_arguments_stay_as_they_are_and_no_trace_is_left():
    import sys

    before, tracer = HOLE.copy(), sys.gettrace()
    findings(in_place, HOLE)
    assert sys.gettrace() is tracer
    np.testing.assert_array_equal(HOLE, before)


def test_tensors_and_objects():
    @dataclasses.dataclass
    class Spring:
        stiffness: float
        length: float

    def energy(spring):
        return np.sqrt(np.float64(spring.stiffness)) * spring.length

    for fn, given in ((energy, Spring(0.0, 1.0)), (lambda x: x.log().sum(), ad.Tensor(np.zeros(2, np.float32)))):
        with pytest.raises(NonFinite) as caught:
            ad.debug_nans(fn)(given)
        assert "finite all the same" not in str(caught.value)
    assert ad.debug_nans(energy)(Spring(4.0, 2.0)) == Spring(0.5, 2.0)


def test_settings_of_a_gradient_function():
    seeded = ad.grad(lambda x: np.log(x), sens_param=True)
    np.testing.assert_array_equal(ad.debug_nans(seeded)(np.array([2.0, 4.0]), np.array([1.0, 8.0])), [0.5, 2.0])
    with pytest.raises(NonFinite):
        ad.debug_nans(seeded)(np.array([2.0, 0.0]), np.array([1.0, 8.0]))
    within = ad.grad(growing, memory="1 MB")
    np.testing.assert_allclose(ad.debug_nans(within)(np.zeros(2)), ad.grad(growing)(np.zeros(2)))
    assert ad.debug_nans(lambda x: np.sum(x**2))(ad.Tensor([1, 2])).asnumpy().tolist() == [2, 4]
    with pytest.raises(ad.errors.NotDifferentiable):
        ad.debug_nans(lambda x: x * 2)(3)


def test_an_exception_of_the_program_comes_out():
    def fails(x):
        if np.sum(x) > 0:
            raise KeyError("x")
        return np.sum(x)

    with pytest.raises(KeyError):
        ad.debug_nans(fails)(HOLE)
