"""Deep recursion on a thread with a large stack, and nothing of it left behind."""

import contextvars
import sys
import threading
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver import pipeline
from autodiff_sct.core.deep_stack import deeply

pytestmark = pytest.mark.once

setting = contextvars.ContextVar("setting", default="outside")


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def test_what_fits_runs_where_it_is():
    assert deeply(threading.get_ident) == threading.get_ident()


def test_what_does_not_fit_runs_with_more_room():
    before = sys.getrecursionlimit(), threading.stack_size()
    assert deeply(depth, 20_000) == 20_000
    assert deeply(deeply, depth, 20_000) == 20_000
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


def test_context_and_errors_are_the_callers():
    def deep(n):
        depth(n)
        if setting.get() == "inside":
            raise KeyError("mine")

    setting.set("inside")
    with pytest.raises(KeyError, match="mine"):
        deeply(deep, 20_000)


def test_no_end_is_still_an_error():
    def forever():
        return forever()

    before = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        deeply(forever)
    assert sys.getrecursionlimit() == before


def test_a_compilation_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(request: Any) -> Any:
        return sorted([request, request], key=endless)  # of all of Python's own recursion it takes the most stack

    monkeypatch.setattr(pipeline, "specialised", endless)
    with pytest.raises(ad.errors.UnsupportedSyntax, match="calls itself without end"):
        ad.grad(lambda x: np.sum(x * x))(np.ones(3))


def of_its_own_gradient(x: Any) -> Any:
    return np.sum(ad.grad(of_its_own_gradient)(x) * x) if np.sum(x) > 3 else np.sum(x**2)


def test_a_function_of_its_own_gradient_is_refused() -> None:
    for derivative in (ad.grad(of_its_own_gradient), lambda x: ad.jvp(of_its_own_gradient, x, x)):
        with pytest.raises(ad.errors.UnsupportedSyntax, match="nested without end while compiling"):
            derivative(np.ones(3))
