"""Paths that only raise are carried out as they stand where they cannot be followed."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.linspace(0.1, 0.9, 5)


def check_classes(x: Any) -> Any:
    if x[0] > 10.0:
        names = [type(a) for a in (x, x)]
        raise ValueError("bad classes: %s" % names)
    return np.sum(x**3)


def check_imports(x: Any, mode: str = "plain") -> Any:
    if x.sum() > 10.0:
        import fractions

        kinds = ", ".join(sorted({"b", "a"}))
        raise ValueError(f"{kinds}: {fractions.Fraction(1, 3)} {mode!r} {x.shape}")
    return np.sum(x**3)


def check_missing(x: Any) -> Any:
    if x.sum() > 10.0:
        import no_such_module_at_all

        raise no_such_module_at_all.Error("never seen")
    return np.sum(x**3)


def check_lists(x: Any) -> Any:
    seen = []
    for value in x:
        seen.append(value * 2.0)
    if len(seen) > 1 and x[0] > 10.0:
        described = {str(k): "%.1f" % v for k, v in enumerate(seen)}
        raise ValueError("lists: " + repr(sorted(described.items())))
    return np.sum(x**3)


def unified(*items: Any) -> list[Any]:
    if len(items[0]) > 100:
        kinds = [sorted({str(value): type(value)}) for value in items[0]]
        raise ValueError(f"too long: {kinds}")
    return [items[0] * 1.0, items[-1] * 2.0]


def weighted(x: Any) -> Any:
    result = unified(x, x[:, None] * x)
    weights, matrix = result
    return np.sum(np.einsum("i,ij->j", weights, matrix))


class Limited:
    def __init__(self, most: float) -> None:
        self.most = most
        self.__secret = "kept"

    def cube(self, x: Any) -> Any:
        if x[0] > self.most:
            import textwrap

            raise OverflowError(textwrap.dedent(f"  {self.__secret} {self.most}"))
        return np.sum(x**3)

    def made_cube(self, x: Any) -> Any:
        if x[0] > self.most:
            message = "over %s" % [self.most, self.__secret]
            raise OverflowError(message)
        return np.sum(x**3)


LIMITED = Limited(10.0)


def check_object(x: Any) -> Any:
    return LIMITED.cube(x)


def check_made_object(x: Any) -> Any:
    return Limited(10.0).made_cube(x)


def check_loop(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        if x[k] > 10.0:
            import fractions

            raise ValueError(f"item {k}: {fractions.Fraction(k, 7)}")
        total = total + x[k] ** 3
    return total


def depth(x: Any, n: int) -> Any:
    if n == 0:
        return np.sum(x**3)
    if x[0] > 10.0:
        import fractions

        raise ValueError(f"depth {n} {fractions.Fraction(n, 7)}")
    return depth(x * 1.0, n - 1)


def check_recursion(x: Any) -> Any:
    return depth(x, int(np.sum(x) * 0) + 3)


CHECKS: list[Callable[[Any], Any]] = [
    check_classes, check_imports, check_missing, check_lists, check_object, check_made_object, check_loop,
    check_recursion,
]  # fmt: skip
DERIVATIVES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "grad": ad.grad,
    "value_and_grad": lambda f: lambda x: ad.value_and_grad(f)(x)[1],
    "jvp": lambda f: lambda x: np.array([ad.jvp(f, (x,), (row,))[1] for row in np.eye(len(x))]),
    "vjp": lambda f: lambda x: ad.vjp(f, x)[1](1.0),
}


def raised_by(call: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("fn", CHECKS, ids=lambda fn: fn.__name__)
def test_derivative_beside_a_path_that_raises(fn: Callable[[Any], Any], name: str) -> None:
    derivative = DERIVATIVES[name](fn)
    found = derivative(X)
    np.testing.assert_allclose(found[0] if isinstance(found, tuple) else found, 3 * X**2, 1e-12)
    expected, raised = raised_by(lambda: fn(X + 20)), raised_by(lambda: derivative(X + 20))
    assert type(raised) is type(expected)
    assert str(raised) == str(expected)


@pytest.mark.parametrize("fn", [check_classes, check_imports, check_lists, check_loop], ids=lambda fn: fn.__name__)
def test_second_derivative_beside_a_path_that_raises(fn: Callable[[Any], Any]) -> None:
    second = ad.grad(lambda x: np.sum(ad.grad(fn)(x)))
    np.testing.assert_allclose(second(X), 6 * X, 1e-12)
    assert str(raised_by(lambda: second(X + 20))) == str(raised_by(lambda: fn(X + 20)))


def test_loops_given_up_half_way_leave_the_rest_as_it_is() -> None:
    check_gradient(weighted, (X,))
    far = np.ones(101)
    assert str(raised_by(lambda: ad.grad(weighted)(far))) == str(raised_by(lambda: weighted(far)))


def test_the_path_is_not_run_while_compiling() -> None:
    sys.modules.pop("this", None)

    def fn(x: Any) -> Any:
        if x[0] > 10.0:
            import this

            raise ValueError(this.s)
        return np.sum(x**3)

    ad.grad(fn)(X)
    assert "this" not in sys.modules


def test_the_traceback_names_the_line_of_the_user() -> None:
    raised = raised_by(lambda: ad.grad(check_imports)(X + 20))
    last = traceback.extract_tb(raised.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, "check_imports")
    assert "raise ValueError" in str(last.line)


def test_a_handler_in_the_program_is_still_followed() -> None:
    def fn(x: Any) -> Any:
        try:
            return check_classes(x)
        except ValueError:
            return np.sum(x**2)

    try:
        np.testing.assert_allclose(ad.grad(fn)(X), 3 * X**2, 1e-12)
    except ad.errors.Refused:
        return
    np.testing.assert_allclose(ad.grad(fn)(X + 20), 2 * (X + 20), 1e-12)


def test_the_path_keeps_to_the_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "1")
    for _ in range(2):
        np.testing.assert_allclose(ad.grad(check_imports)(X), 3 * X**2, 1e-12)
        assert str(raised_by(lambda: ad.grad(check_imports)(X + 20))).startswith("a, b: 1/3 'plain' (5,)")
