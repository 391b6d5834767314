"""Second order over the bank and the benchmarks, whatever the programs are tagged: a sample of each way in each run."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver import dispatch
from autodiff_sct.compiler.domain.request import Way
from autodiff_sct.errors import Refused
from tests.bank import second
from tests.bank.registry import Program, load_bank

PROGRAMS = [*second.of_benchmarks(), *load_bank()[0].values()]
ALWAYS = {"lbfgs_two_loop"}  # which is compiled at the third attempt
CASES = [(way, program) for program in PROGRAMS for way in second.WAYS if second.applies(way, program)]


def drawn(seed: str, one_in: int) -> list[Any]:
    """Return some of the cases that are right, as parameters of a test."""
    left = {(way, name) for name, (ways, _) in second.REFUSED.items() for way in ways}
    right = [case for case in CASES if (case[0], case[1].name) not in left and case[1].name not in second.UNTOLD]
    chosen = [
        case
        for case in right
        if case[1].name in ALWAYS or not zlib.crc32(f"{seed} {case[0]} {case[1].name}".encode()) % one_in
    ]
    return [pytest.param(way, program, id=f"{way}-{program.topic}-{program.name}") for way, program in chosen]


@pytest.mark.parametrize(("way", "program"), drawn("inlined", 80))
def test_second_derivative(way: str, program: Program) -> None:
    second.check(way, program)


@pytest.mark.parametrize(("way", "program"), drawn("called", 120))
def test_gradients_that_stay_calls(way: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is followed where the text of a gradient cannot be differentiated is right for other programs, too."""

    repeatable = dispatch.Compiled.repeatable

    def called(self: Any, request: Any) -> Any:
        ways = request.attempt.ways | {Way.CALL}
        return repeatable(self, replace(request, attempt=replace(request.attempt, ways=ways)))

    monkeypatch.setattr(dispatch.Compiled, "repeatable", called)
    try:
        second.check(way, program)
    except Refused as error:
        pytest.skip(error.reason)


@pytest.mark.parametrize("name", sorted(second.REFUSED)[::4])
def test_what_is_refused_names_a_line_of_the_user(name: str) -> None:
    program = next(program for program in PROGRAMS if program.name == name)
    ways, reason = second.REFUSED[name]
    for way in ways:
        with pytest.raises(ad.AutodiffError) as caught:
            second.WAYS[way](program)
        message = str(caught.value)
        assert re.match(r"\S*tests.bank.\w+\.py:\d+: in ", message), message
        assert re.search(reason, message)


def square_sum_of_gradient(f: Any) -> Any:
    """A function of the gradient of `f`, and of nothing else."""
    return lambda *args: np.sum(ad.grad(f)(*args) ** 2)


def test_effects_happen_once() -> None:
    """What prints or draws numbers is run once, or refused where the gradient stays a call."""

    def draws(x: Any, rng: Any) -> Any:
        counts = {}
        for k in range(3):
            counts[k % 2] = counts.get(k % 2, 0.0) + x[k] ** 3 * rng.normal()
        return sum(counts.values())

    x = np.array([1.0, 2.0, 3.0])
    weights = np.random.default_rng(0).normal(size=3)
    try:
        found = ad.grad(square_sum_of_gradient(draws))(x, np.random.default_rng(0))
    except ad.AutodiffError as error:
        assert "effects" in str(error)
    else:
        np.testing.assert_allclose(found, 36 * weights**2 * x**3)


def test_a_captured_array_gets_its_share() -> None:
    """The derivative of a gradient by what its function captures passes through its call."""

    def outer(x: Any, y: Any) -> Any:
        def inner(q: Any) -> Any:
            memo: dict[Any, Any] = {}
            for k in range(len(q)):
                memo[k % 2] = memo.get(k % 2, 0.0) + q[k] ** 3 * y[k]
            return sum(memo.values())

        value, gradient = ad.value_and_grad(inner)(x)
        gradient[0] = 2.0 * gradient[0]
        return np.sum(gradient**2) * value

    def by_hand(x: Any, y: Any) -> Any:
        gradient = 3 * x**2 * y * np.array([2.0, 1.0, 1.0])
        return np.sum(gradient**2) * np.sum(x**3 * y)

    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    for found, expected in zip(ad.grad(outer, (0, 1))(x, y), ad.grad(by_hand, (0, 1))(x, y)):
        np.testing.assert_allclose(found, expected)


def test_starred_arguments_beside_keywords() -> None:
    """An argument that `*rest` takes is not known by the name of a parameter that is given by name only."""

    def mix(a: Any, b: Any, *rest: Any, scale: float = 2.0) -> Any:
        return a * b + sum([r * r * scale for r in rest])

    def by_rest(b: Any, r: Any, scale: Any) -> Any:
        return ad.grad(mix, 2)(b, 3.0, r, scale=scale) ** 2

    def by_first(b: Any, r: Any, scale: Any) -> Any:
        return ad.grad(mix, 0)(b, r * b, r, scale=scale) ** 2

    b, r, scale = 1.5, 0.7, 0.3
    found = [ad.grad(function, (0, 1, 2))(b, r, scale) for function in (by_rest, by_first)]
    np.testing.assert_allclose(found[0], (0.0, 8 * r * scale**2, 8 * r**2 * scale))
    np.testing.assert_allclose(found[1], (2 * r**2 * b, 2 * r * b**2, 0.0))
