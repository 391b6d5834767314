"""Decorators that look at the arguments of a call by the signature of what they wrap."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


def columns(*wanted: str) -> Any:
    def decorator(fn: Any) -> Any:
        @functools.wraps(fn)
        def checked(*args: Any, **kwargs: Any) -> Any:
            bound = inspect.signature(fn).bind(*args, **kwargs)
            bound.apply_defaults()
            for name in wanted:
                value = bound.arguments[name]
                if np.ndim(value) == 1:
                    bound.arguments[name] = value[:, None]
            return fn(*bound.args, **bound.kwargs)

        return checked

    return decorator


def arrays(*wanted: str) -> Any:
    def decorator(fn: Any) -> Any:
        @functools.wraps(fn)
        def converted(*args: Any, **kwargs: Any) -> Any:
            names = inspect.getfullargspec(fn).args
            args = list(args)
            for k, (name, value) in enumerate(zip(names, args)):
                if name in wanted and value is not None:
                    args[k] = np.array(value)
            for name, value in kwargs.items():
                if name in wanted and value is not None:
                    kwargs[name] = np.array(value)
            return fn(*args, **kwargs)

        return converted

    return decorator


def counted(fn: Any) -> Any:
    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        missing = [name for name in inspect.signature(fn).parameters if name not in kwargs]
        return fn(*args, **kwargs) * len(missing)

    return wrapper


@columns("x", "weights")
def product(x, weights, *more, scale=2.0, **options):
    total = np.sum(x @ weights.T) * scale + sum(np.sum(each) for each in more)
    return total * options.get("factor", 1.0)


@arrays("x", "y")
def paired(x, y=None, power=2):
    return np.sum(x**power) + (0.0 if y is None else np.sum(x * y))


class Model:
    @columns("x")
    def loss(self, x, shift=0.5):
        return np.sum((x - shift) ** 2) * x.shape[1] / self.size

    def __init__(self) -> None:
        self.size = 3.0


@case(V)
def bound_with_defaults(x: Any) -> Any:
    return product(x, x[:2] * 3)


@case(V)
def bound_by_name_and_with_more(x: Any) -> Any:
    return product(x, x[:2], x**2, x[0], scale=x[1], factor=3.0) + product(weights=x, x=x)


@case(V)
def bound_methods(x: Any) -> Any:
    return Model().loss(x) + Model().loss(x, shift=x[0])


@case(V)
def converted_arguments(x: Any) -> Any:
    return paired(x) + paired(x, [1.0, 2.0, 3.0, 4.0]) + paired(x, y=list(x), power=3)


@case(V)
def counted_parameters(x: Any) -> Any:
    return of_two(x, k=3)


@counted
def of_two(v, k=2):
    return np.sum(v**k)


@case(V)
def bound_in_part(x: Any) -> Any:
    bound = inspect.signature(of_parts).bind_partial(x)
    bound.arguments["scale"] = 3.0
    return of_parts(*bound.args, **bound.kwargs)


def of_parts(v, shift=1.0, *, scale):
    return np.sum((v - shift) ** 2) * scale


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_the_variant_is_used_again() -> None:
    gradient = ad.grad(converted_arguments)
    first = gradient(V)
    assert np.array_equal(gradient(V), first)
    assert np.array_equal(gradient(V.copy()), first)


def test_arguments_that_do_not_fit_raise() -> None:
    with pytest.raises(TypeError, match="missing a required argument"):
        ad.grad(lambda x: product(x))(V)
    with pytest.raises(TypeError, match="multiple values"):
        ad.grad(lambda x: product(x, x, x=x))(V)


def with_rows(fn):
    """A decorator that reads the signature once, outside of the calls."""
    known = inspect.signature(fn)

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        bound = known.bind(*args, **kwargs)
        bound.apply_defaults()
        bound.arguments["x"] = np.atleast_2d(bound.arguments["x"])
        for name in known.parameters:
            if name == "scale":
                bound.arguments[name] = 2 * bound.arguments[name]
        return fn(*bound.args, **bound.kwargs)

    return wrapper


WEIGHTS = np.array([1.0, 2.0, 3.0])


@with_rows
def powers_of_rows(x, scale=WEIGHTS, *more, power=2.0, **others):
    return np.sum(x**power * scale) + sum(more)


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        ((), {}, 4 * WEIGHTS * 2.0),
        ((np.ones(3) * 5,), {}, np.full(3, 40.0)),
        ((np.ones(3), 4.0), {}, np.full(3, 8.0)),
        ((), {"scale": 2.0, "power": 3.0}, np.full(3, 48.0)),
    ],
)
def test_a_signature_that_was_made_outside(args, kwargs, expected):
    x = np.full(3, 2.0)
    np.testing.assert_allclose(ad.grad(lambda x: powers_of_rows(x, *args, **kwargs))(x), expected)
    _, tangent = ad.jvp(lambda x: powers_of_rows(x, *args, **kwargs), (x,), (np.ones(3),))
    np.testing.assert_allclose(tangent, np.sum(expected))


def test_such_a_signature_on_one_path():
    def program(x):
        y = powers_of_rows(x) if x[0] > 0.5 else np.sum(x)
        return y + powers_of_rows(x, 1.0)

    for x in (np.full(3, 2.0), np.zeros(3)):
        first = 4 * WEIGHTS * x if x[0] > 0.5 else np.ones(3)
        np.testing.assert_allclose(ad.grad(program)(x), first + 4 * x)


def test_arguments_that_do_not_fit_such_a_signature():
    with pytest.raises(TypeError, match="missing a required argument"):
        ad.grad(lambda x: powers_of_rows(scale=x))(np.ones(3))
