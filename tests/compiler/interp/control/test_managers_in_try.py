"""A manager of a ``with`` statement inside ``try`` is told of what handlers around it see."""

from contextlib import contextmanager, suppress

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences


class Noticing:
    def __init__(self):
        self.failed = False

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.failed = kind is not None


class Scaling:
    def __init__(self, y):
        self.y = y

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if raised[0] is ZeroDivisionError:
            self.y = self.y * 2


@contextmanager
def doubled(box):
    box[0] = box[0] * 2
    try:
        yield box
    finally:
        box[0] = box[0] * 3


LOG = []


@contextmanager
def logged(k):
    LOG.append(k)
    yield
    LOG.append(-k)


def noticed(x, d):
    manager, y = Noticing(), x
    try:
        with manager:
            y = x * x
            z = 1 // d
            y = y * z
    except ZeroDivisionError:
        y = y * 3
    return y * 2 if manager.failed else y


def scaled_by_a_manager(x, d):
    manager, y = Scaling(x), x
    try:
        with manager:
            y = x * x
            z = 1 // d
            y = y * z
    except ZeroDivisionError:
        y = y * 3
    return y * manager.y


def suppressed_first(x, d):
    y = x
    try:
        with suppress(ZeroDivisionError):
            y = x * x
            z = 1 // d
            y = y * z * 5
        y = y * 2
    except ZeroDivisionError:
        y = y * 3
    return y


def in_a_generator(x, d):
    box, y = [x], x
    try:
        with doubled(box) as inner:
            y = x * inner[0]
            z = 1 // d
            y = y * z * 5
    except ZeroDivisionError:
        y = y * 3
    return y * box[0]


def not_reached_in_a_generator(x, d):
    y = x
    try:
        with logged(1):
            y = x * x
            z = 1 // d
            y = y * z * 5
    except ZeroDivisionError:
        y = y * 3
    return y * len(LOG)


@pytest.mark.parametrize(
    "fn",
    [noticed, scaled_by_a_manager, suppressed_first, in_a_generator, not_reached_in_a_generator],
    ids=lambda fn: fn.__name__,
)
@pytest.mark.parametrize("d", [1, 0])
def test_with_inside_try(fn, d):
    def expected(x, d):
        LOG.clear()
        return fn(x, d)

    LOG.clear()
    value, gradient = ad.value_and_grad(fn)(0.7, d)
    assert value == expected(0.7, d)
    np.testing.assert_allclose(gradient, differences(expected, (0.7, d)), rtol=1e-6)
    LOG.clear()
    assert ad.jvp(lambda x: fn(x, d), (0.7,), (1.0,)) == pytest.approx((value, gradient))


def test_a_generator_whose_end_an_exception_skips():
    @contextmanager
    def tripled_at_the_end(box):
        yield box
        box[0] = box[0] * 3

    def f(x, d):
        box = [x]
        try:
            with tripled_at_the_end(box):
                z = 1 // d
                box[0] = box[0] * z
        except ZeroDivisionError:
            box[0] = box[0] * 7
        return box[0]

    assert ad.grad(f)(0.7, 0) == 7.0  # compiled for this number, with which the exception is certain
    assert [ad.grad(f)(0.7, d) for d in (1, 0, 2)] == [3.0, 7.0, 0.0]


def test_what_a_method_changed_before_it_raised():
    class Counter:
        def __init__(self, x):
            self.x, self.calls = x, 0

        def divide(self, d):
            self.x = self.x * 3
            self.calls = 1 // d

    def f(x, d):
        counter = Counter(x)
        try:
            counter.divide(d)
        except ZeroDivisionError:
            return counter.x * 2
        return counter.x

    with pytest.raises(ad.AutodiffError, match="may or may not have been changed"):
        ad.grad(f)(0.5, 0)


def test_handlers_of_which_one_keeps_the_exception_and_one_is_of_everything():
    def f(x, d):
        y = x
        try:
            y = x * x
            y = y * (1 // d)
        except KeyError:
            raise
        except:  # noqa: E722
            y = y * 3
        return y

    assert ad.value_and_grad(f)(0.5, 0) == (0.75, 3.0)
    assert ad.value_and_grad(f)(0.5, 1) == (0.25, 1.0)


def test_a_number_asked_for_its_items_under_handlers():
    def f(x):
        y = x * 2
        try:
            z = 1 in x
            y = y * 3 + z
        except TypeError:
            y = y * 7
        return y

    assert ad.value_and_grad(f)(0.5) == (7.0, 14.0)
