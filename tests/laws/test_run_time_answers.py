"""What only the run knows is asked at run time, or refused: memory of arrays, exceptions, frames, imports."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax

pytestmark = pytest.mark.once

K = 3.0


class Asks(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return getattr(other, "ndim", 0) == 2


class TwoAxes(metaclass=Asks):
    pass


class Coded(Exception):
    def __init__(self, code: float) -> None:
        super().__init__(code)
        self.code = code


def chosen(answer: Any, x: Any) -> Any:
    return np.sum(x**2) if answer else np.sum(x**3)


def of_parent(x):
    return chosen(x[1:].base is x, x[1:])


def of_transposed(x):
    y = x.T
    return chosen(y.flags.c_contiguous, y)


def held_in_a_name(x):
    flags = x.flags
    return chosen(flags.f_contiguous and not flags.owndata, x)


OF_MEMORY: list[Callable[[Any], Any]] = [
    *(lambda x, n=n: chosen(getattr(x.flags, n), x) for n in ("c_contiguous", "f_contiguous", "owndata", "writeable")),
    lambda x: chosen(x.flags.contiguous, x),
    lambda x: chosen(x.flags.fnc, x),
    lambda x: chosen(x.flags["F_CONTIGUOUS"], x),
    lambda x: chosen(x.strides[-1] == x.itemsize, x),
    lambda x: chosen(x.strides[0] > x.nbytes, x),
    lambda x: chosen(x.base is None, x),
    lambda x: chosen(x.data.c_contiguous, x),
    lambda x: chosen(x.__array_interface__["strides"] is None, x),
    lambda x: chosen(x.ctypes.strides[0] == 32, x),
    lambda x: chosen(np.isfortran(x), x),
    lambda x: chosen(np.shares_memory(x, np.ascontiguousarray(x)), x),
    lambda x: chosen(np.may_share_memory(x, x.ravel()), x),
    lambda x: chosen(np.asarray(x, order="C") is x, x),
    lambda x: chosen(x.dtype.isnative, x),
    of_parent,
    of_transposed,
    held_in_a_name,
]


def arrays() -> dict[str, np.ndarray]:
    rows = np.arange(1.0, 13.0).reshape(3, 4)
    frozen = rows.copy()
    frozen.flags.writeable = False
    return {
        "own": rows.copy(),
        "view": rows,
        "fortran": np.asfortranarray(rows),
        "strided": np.arange(1.0, 37.0).reshape(3, 12)[:, ::3],
        "one": np.full((2, 1), 2.0),
        "frozen": frozen,
        "large": np.arange(130.0 * 3).reshape(130, 3) / 100,
    }


@pytest.mark.parametrize("number", range(len(OF_MEMORY)))
def test_memory(number: int) -> None:
    fn = OF_MEMORY[number]
    gradient = ad.value_and_grad(fn)
    for x in arrays().values():
        value, found = gradient(x)
        assert value == fn(x)
        kept = np.zeros_like(x)
        kept[1 if fn is of_parent else 0 :] = 1.0
        squares = value == np.sum((x[1:] if fn is of_parent else x) ** 2)
        np.testing.assert_allclose(found, kept * (2 * x if squares else 3 * x**2))


def cause(x):
    try:
        try:
            raise ValueError("a")
        except ValueError as error:
            raise KeyError("b") from error
    except KeyError as error:
        return chosen(error.__cause__ is None, x)


def suppressed(x):
    try:
        try:
            raise ValueError("a")
        except ValueError:
            raise KeyError("b") from None
    except KeyError as error:
        return chosen(error.__suppress_context__, x)


def of_class(x):
    try:
        return x[100]
    except Exception as error:
        return chosen(error.__class__ is IndexError, x)


def arguments(x):
    try:
        raise ValueError(3.0, "b")
    except ValueError as error:
        return np.sum(x**2) * error.args[0]


def code(x):
    try:
        raise Coded(5)
    except Coded as error:
        return np.sum(x**2) * error.code


def code_after(x):
    try:
        if x[0, 0] > 0:
            raise Coded(5)
        k = 1.0
    except Coded as error:
        k = error.code
    return np.sum(x**2) * k


def metaclass(x):
    return chosen(isinstance(x, TwoAxes), x)


def no_module(x):
    try:
        import not_there_at_all
    except ImportError:
        return np.sum(x**2)
    return not_there_at_all.sum(x)


def no_module_name(x):
    try:
        import numpy.not_there
    except ModuleNotFoundError as error:
        return np.sum(x**2) * len(error.name)
    return numpy.not_there.sum(x)


def no_name(x):
    try:
        from math import not_there
    except ImportError:
        not_there = np.sin
    return np.sum(not_there(x))


def on_another_path(x):
    if x[0, 0] < 0:
        import not_there_at_all

        return not_there_at_all.sum(x)
    return np.sum(x**2)


def measures(x):
    some = True
    known = np.ndim(some) + np.size(some) + len(np.shape(some)) + np.size("text") + np.ndim(None)
    return np.sum(x**2) * (known + 1)


def flat_of_rank_0(x):
    y = np.array(x[0, 0] * 2)
    y.flat[0] = x[1, 1]
    return y * np.array(np.sum(x**2)).flat[-1]


RIGHT = [
    cause, suppressed, of_class, arguments, code, code_after, metaclass, no_module, no_module_name, no_name,
    on_another_path, measures, flat_of_rank_0,
]  # fmt: skip


@pytest.mark.parametrize("fn", RIGHT, ids=lambda fn: fn.__name__)
def test_right(fn: Callable[[Any], Any]) -> None:
    x = np.array([[1.0, 2.0], [0.5, 3.0]])
    value, found = ad.value_and_grad(fn)(x)
    assert value == fn(x)
    steps = np.eye(4).reshape(4, 2, 2) * 1e-6
    wanted = [(fn(x + step) - fn(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-6, atol=1e-6)


def test_a_missing_module_is_as_the_primal_says() -> None:
    def fn(x):
        import not_there_at_all

        return not_there_at_all.sum(x)

    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        ad.grad(fn)(np.ones(3))


def test_a_module_that_comes_later_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def fn(x):
        try:
            from comes_later import factor
        except ImportError:
            factor = 1.0
        return np.sum(x**2) * factor

    gradient = ad.grad(fn)
    assert gradient(np.ones(2))[0] == 2.0
    (tmp_path / "comes_later.py").write_text("factor = 3.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert gradient(np.ones(2))[0] == 6.0


def context(x):
    try:
        try:
            raise ValueError("a")
        except ValueError:
            raise KeyError("b")
    except KeyError as error:
        return chosen(error.__context__ is None, x)


aliased = globals

REFUSED = [
    context,
    lambda x: np.sum(x) * sys._getframe().f_lineno,
    lambda x: chosen(inspect.currentframe() is None, x),
    lambda x: np.sum(x) * len(inspect.stack()),
    lambda x: np.sum(x) * len(dir()),
    lambda x: np.sum(x) * len(vars()),
    lambda x: np.sum(x) * globals()["K"],
    lambda x: np.sum(x) * aliased()["K"],
    lambda x: chosen(isinstance(x, (int, TwoAxes)), x),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    with pytest.raises(UnsupportedSyntax, match="What to do") as caught:
        ad.grad(REFUSED[number])(np.ones((2, 2)))
    assert "test_run_time_answers.py" in str(caught.value)


def fresh_in_a_loop(x):
    y = x
    for b in (1.0, 2.0):
        out = np.empty_like(y)
        out[0] = b * y[0]
        out[1:] = y[1:]
        y = out
    return np.sum(y**2)


def fresh_copies(x):
    y = x
    for b in range(3):
        out = y.copy()
        out[0] = (b + 1) * y[0]
        y = out
    return np.sum(y**2)


def fresh_by_a_while(x):
    y = x
    while y[0] < 100:
        out = np.zeros_like(y)
        out[:] = 2 * y + 1
        y = out
    return np.sum(y**2)


def swapped(x):
    y, z = x, np.zeros_like(x)
    for _ in range(4):
        z[:] = 2 * y
        y, z = z, y.copy()
    return np.sum(y**2)


@pytest.mark.parametrize("fn", [fresh_in_a_loop, fresh_copies, fresh_by_a_while, swapped], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("length", [3, 130])
def test_only_fresh_arrays_are_written(fn: Callable[[Any], Any], length: int) -> None:
    x = np.arange(1.0, length + 1)
    wanted = ad.value_and_grad(fn)(x)
    x.flags.writeable = False
    value, found = ad.value_and_grad(fn)(x)
    assert value == wanted[0] == fn(x)
    np.testing.assert_array_equal(found, wanted[1])


def test_what_is_written_stays_refused() -> None:
    def fn(x):
        y = x
        for _ in range(3):
            y[0] = 3 * x[1]
            y = x * 2
        return np.sum(y)

    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ad.errors.ArgumentValueError, match="read-only"):
        ad.grad(fn)(x)
