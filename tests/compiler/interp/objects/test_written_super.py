"""``super(Layer, self)`` with both written, and the text of objects that the program makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


class Scale:
    def __init__(self, factor: Any) -> None:
        super(Scale, self).__init__()
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return x * self.factor

    @property
    def twice(self) -> Any:
        return self.factor * 2


class Squared(Scale):
    def __init__(self, factor: Any) -> None:
        super(Squared, self).__init__(factor)
        self.settings = {"text": str(self), "factor": factor}

    def __call__(self, x: Any) -> Any:
        return super(Squared, self).__call__(x) ** 2 + super(Squared, self).twice

    def __str__(self) -> str:
        return "Squared(factor={})".format(self.factor)


class Named(Scale):
    def __repr__(self) -> str:
        return f"Named({self.factor})"


@case(V)
def called(x: Any) -> Any:
    return np.sum(Squared(x[0])(x)) + np.sum(Squared(3)(x))


@case(V)
def texts(x: Any) -> Any:
    named, plain = Named(x[1]), Scale(2.0)
    known = {str(named): 1.0, repr(named): 2.0, str(plain): 3.0}
    return np.sum(named(x)) * len(known) if len(str(plain)) > 3 else np.sum(plain(x))


@case(V)
def decided_by_a_text(x: Any) -> Any:
    squared = Squared(3)
    return np.sum(squared(x)) if str(squared) == "Squared(factor=3)" else np.sum(x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)
