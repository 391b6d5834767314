"""`check_grads`, `check_rule`, `constant`, and rules that are registered wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import ArgumentTypeError, ArgumentValueError, DerivativeMismatch
from autodiff_sct.rules import table


@pytest.fixture
def own_rules() -> Iterator[None]:
    """Forget the rules that a test registers."""
    rows, constants = dict(table.TABLE), set(table.NONDIFFERENTIABLE)
    yield
    table.TABLE.clear()
    table.TABLE.update(rows)
    table.NONDIFFERENTIABLE.intersection_update(constants)


def scaled_in_place(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a[0] *= b[1]
    return a


@pytest.mark.parametrize(
    "fn, args",
    [
        (lambda x, y: np.sin(x) @ y, (np.ones(3), np.arange(3.0))),
        (lambda d, n: d["a"] ** n * np.sum(d["b"][0]), ({"a": 2.0, "b": [np.ones(3)]}, 3)),
        (lambda x: np.exp(x), (np.ones(3, np.float32),)),
        (lambda x, flag, name: x**2 if flag and name == "s" else x, (2.0, True, "s")),
        (lambda x: (x, x * 2.0, [np.sum(x) ** 2]), (np.arange(4.0),)),
        (lambda x: 0.0 * x, (np.arange(3.0),)),
        (scaled_in_place, (np.arange(6.0).reshape(2, 3), np.array([3.0, 4.0]))),
    ],
)
@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")])
def test_right_derivatives_pass(fn: Any, args: tuple[Any, ...], modes: Any) -> None:
    ad.check_grads(fn, args, order=2, modes=modes)


def test_holomorphic_and_other_complex_functions_pass() -> None:
    z = np.array([1 + 2j, 0.5 - 1j])
    ad.check_grads(lambda z: z * z * np.conj(z), (z,), order=1)
    ad.check_grads(lambda z: np.sum(np.abs(z) ** 2), (z,), order=1)


def test_arguments_stay_as_they_are() -> None:
    a = np.arange(6.0).reshape(2, 3)
    ad.check_grads(scaled_in_place, (a, np.array([3.0, 4.0])))
    assert np.array_equal(a, np.arange(6.0).reshape(2, 3))


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("mode, named", [("fwd", "forward mode"), ("rev", r"with respect to p\['x'\]\[2\]")])
def test_a_wrong_rule_is_found_with_the_element(mode: str, named: str) -> None:
    def cube(x: Any) -> Any:
        return x * x * x

    @ad.rule(cube)
    def cube_rule(y: Any, d: Any, x: Any) -> Any:
        return d * 2 * x**2

    with pytest.raises(DerivativeMismatch, match=named):
        ad.check_grads(lambda p: np.sum(cube(p["x"][1:])), ({"x": np.arange(3.0)},), modes=mode)
    with pytest.raises(AssertionError, match="order 1 of cube"):
        ad.check_rule(cube, 2.0)


@pytest.mark.usefixtures("own_rules")
def test_a_rule_that_is_wrong_at_second_order_only_is_found() -> None:
    def square(x: Any) -> Any:
        return x * x

    @ad.rule(square)
    def square_rule(y: Any, d: Any, x: Any) -> Any:
        return d * 2 * ad.stop_gradient(x)

    with pytest.raises(DerivativeMismatch, match="order 2"):
        ad.check_rule(square, 2.0)


@pytest.mark.usefixtures("own_rules")
def test_a_rule_that_forgets_the_incoming_derivative_is_found() -> None:
    def twice(x: Any) -> Any:
        return 2 * x

    @ad.rule(twice)
    def twice_rule(y: Any, d: Any, x: Any) -> Any:
        return 2.0

    with pytest.raises(DerivativeMismatch):
        ad.check_rule(twice, 3.0)


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-6, 1e-9])
def test_wrong_derivatives_of_small_numbers_are_found(scale: float, dtype: Any) -> None:
    def total(x: Any) -> Any:
        return np.sum(x) * scale

    @ad.rule(total)
    def total_rule(y: Any, d: Any, x: Any) -> Any:
        return d * 2.0 * scale * np.ones_like(x)

    with pytest.raises(DerivativeMismatch):
        ad.check_grads(lambda x: total(x), (np.ones(3, dtype),), order=1, modes="rev")


def test_derivatives_that_cancel_are_right() -> None:
    def shares(x: Any) -> Any:
        return np.exp(x) / np.sum(np.exp(x))

    ad.check_grads(shares, (np.array([0.3, 0.5, 0.9]),))


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"check_grads\(fn, \(x,\)\)"):
        ad.check_grads(np.sin, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentValueError, match="nothing to differentiate"):
        ad.check_grads(lambda n: n, (3,))
    with pytest.raises(ArgumentValueError, match="'fwd' and 'rev'"):
        ad.check_grads(np.sin, (1.0,), modes="reverse")
    with pytest.raises(ArgumentValueError, match="has no rule"):
        ad.check_rule(scaled_in_place, np.ones((2, 2)), np.ones(2))


@pytest.mark.usefixtures("own_rules")
def test_constant_is_a_decorator_and_is_not_looked_into() -> None:
    @ad.constant
    def price(table: Any, day: str) -> float:
        return float(eval("table")[day])

    assert price({"mon": 2}, "mon") == 2.0
    assert ad.grad(lambda x, t: x**2 * price(t, "mon"))(3.0, {"mon": 2}) == 12.0
    assert ad.rule.constant is ad.constant


@pytest.mark.usefixtures("own_rules")
def test_a_rule_takes_the_parameters_of_its_function() -> None:
    def bend(x: Any, k: float = 2.0) -> Any:
        return x * k

    with pytest.raises(ArgumentTypeError, match=r"write `def bend_rule\(y, d, x, k\)`"):

        @ad.rule(bend)
        def bend_rule(y: Any, d: Any, x: Any) -> Any:
            return d

    with pytest.raises(ArgumentTypeError, match=r"write `@rule\(bend\)`"):
        ad.rule(bend)(3.0)  # type: ignore[type-var]
