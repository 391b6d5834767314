"""What is read from outside is a parameter of the emitted function, whatever the keys are called that lead to it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import autodiff_sct as ad

ROUGHNESS = {
    "Cr13, bare": (1.0, 2.0, 3.0),
    "Cr13 (bare)": (2.0, 3.0, 4.0),
    "class": (1.5, 2.5, 3.5),
    "7732-18-5": (5.0, 6.0, 7.0),
    "β = 1, 45°": (0.5, 1.0, 2.0),
    "": (0.5, 3.0, 2.0),
}
FACTORS = {"7732-18-5": 3.0, "class": 4.0, "a b": 5.0, "a, b": 6.0, "a_b": 7.0, "(,)": 8.0, "_": 9.0, "x": 2.0}
BUILTINS = {"max": 3.0, "len": 2.0, "float": 4.0, "np": 5.0, "range": 3.0, "round": 1.5, "math": 2.0}
SETTINGS = SimpleNamespace(**{"a b": 3.0, "class": 4.0})


@pytest.mark.parametrize("name", list(ROUGHNESS))
def test_key_chosen_by_the_call(name: str) -> None:
    def f(name: str, d: Any) -> Any:
        if name in ROUGHNESS:
            found = ROUGHNESS[name]
        return found[1] * d ** found[2]

    _, b, c = ROUGHNESS[name]
    assert ad.grad(f, 1)(name, 2.0) == pytest.approx(b * c * 2.0 ** (c - 1.0))


def test_keys_that_would_be_one_name() -> None:
    def f(x: Any) -> Any:
        return sum(k * x * FACTORS[name] for k, name in enumerate(FACTORS))

    assert ad.grad(f)(2.0) == pytest.approx(sum(k * v for k, v in enumerate(FACTORS.values())))


def test_keys_that_are_names_of_functions() -> None:
    def f(x: Any) -> Any:
        y = max(x, BUILTINS["max"]) * float(BUILTINS["float"]) * BUILTINS["np"] * len([x]) * BUILTINS["len"]
        for _ in range(3):
            y = math.sin(y) * BUILTINS["range"] * round(BUILTINS["round"]) + BUILTINS["math"]
        return y

    near = (f(4.0 + 1e-7) - f(4.0 - 1e-7)) / 2e-7
    assert ad.grad(f)(4.0) == pytest.approx(near, rel=1e-5)
    assert ad.grad(f)(2.0) == 0.0


def test_attributes_that_are_no_identifiers() -> None:
    def f(x: Any) -> Any:
        return x * getattr(SETTINGS, "a b") + x**2 * getattr(SETTINGS, "class")

    assert ad.grad(f)(2.0) == 3.0 + 4.0 * 4.0


def test_parameters_with_the_names_of_builtins_that_helpers_call(capsys: Any) -> None:
    def helper(v: Any) -> Any:
        print("here")
        return round(3.2) * v if any([True, False]) else v

    def f(print: Any, any: Any, round: Any) -> Any:
        return helper(print) * any * round

    assert ad.grad(f, (0, 1, 2))(1.0, 2.0, 3.0) == (18.0, 9.0, 6.0)
    assert capsys.readouterr().out == "here\n"
