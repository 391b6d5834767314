"""Tracebacks of refusals: short under every call of the package, whole on request."""

from __future__ import annotations

import contextlib
import gc
import os
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds

X = np.ones(3)


def written(x: np.ndarray) -> Any:
    constant = ad.stop_gradient(x)
    constant[0] = 1.0
    return np.sum(x * constant)


def outer(x: np.ndarray) -> Any:
    return written(x * 2.0)


CALLS: dict[str, Callable[[], Any]] = {
    "grad": lambda: ad.grad(outer)(X),
    "value_and_grad": lambda: ad.value_and_grad(outer)(X),
    "vjp": lambda: ad.vjp(outer, X),
    "jvp": lambda: ad.jvp(ad.grad(outer), X, X),
    "jacrev": lambda: ad.jacrev(outer)(X),
    "jacfwd": lambda: ad.jacfwd(ad.grad(outer))(X),
    "hessian": lambda: ad.hessian(outer)(X),
    "adjoint_source": lambda: ad.adjoint_source(outer, X),
}


def lines_of(call: Callable[[], Any]) -> list[str]:
    with pytest.raises(ad.errors.Refused) as caught:
        call()
    return "".join(traceback.format_exception(caught.value)).splitlines()


@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_is_short_the_second_time_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTODIFF_SCT_TRACEBACK", raising=False)
    for _ in range(2):
        lines = lines_of(CALLS[name])
        assert any("constant[0] = 1.0" in line for line in lines)
        frames = [line for line in lines if line.startswith("  File")]
        assert not any("compiler" in frame for frame in frames)
        assert len(lines) - 3 * (len(frames) - 2) <= 14  # pytest's own frames stand before the call


def test_all_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_SCT_TRACEBACK", "full")
    assert any("compiler" in line for line in lines_of(CALLS["grad"]))


def quotient(x: Any, k: int) -> Any:
    return x / k


def sum_of_quotients(x: Any) -> Any:
    return sum(quotient(x, k) for k in (2, 1, 0))


def shown(call: Callable[[], Any], error: type[Exception]) -> tuple[list[str], BaseException]:
    """The files and functions of the frames below this one, and the exception."""
    with pytest.raises(error) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    assert all("autodiff_sct" in f.filename and f.name in ("__call__", "call") for f in own), own
    assert len(own) == 1
    return [frame.name for frame in frames if frame.filename == __file__][2:], caught.value


USERS = {
    "grad": lambda: ad.grad(sum_of_quotients)(2.0),
    "grad by name": lambda: ad.grad(sum_of_quotients)(x=2.0),
    "seed": lambda: ad.grad(sum_of_quotients, sens_param=True)(2.0, 1.0),
    "value_and_grad": lambda: ad.value_and_grad(sum_of_quotients)(2.0),
    "vjp": lambda: ad.vjp(sum_of_quotients, 2.0),
    "jvp": lambda: ad.jvp(sum_of_quotients, 2.0, 1.0),
    "jacrev": lambda: ad.jacrev(sum_of_quotients)(2.0),
    "jacfwd": lambda: ad.jacfwd(sum_of_quotients)(2.0),
}


@pytest.mark.parametrize("name", USERS)
def test_what_the_users_function_raises_comes_with_the_frames_that_python_shows(name: str) -> None:
    for _ in range(2):  # the second call goes another way
        frames, error = shown(USERS[name], ZeroDivisionError)
        assert frames[-3:] == ["sum_of_quotients", "<genexpr>", "quotient"]
        assert error.__context__ is None and not hasattr(error, "__notes__")


def test_a_chain_of_exceptions_is_kept() -> None:
    def chained(x: Any) -> Any:
        try:
            return x / 0
        except ZeroDivisionError as error:
            raise ValueError("no quotient") from error

    with pytest.raises(ValueError, match="no quotient") as caught:
        ad.grad(chained)(2.0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


LINES: list[str] = []


def noting(x: np.ndarray) -> Any:
    LINES.append("called")
    return np.sum(np.ones((2, 7)) @ x)


def writing(x: np.ndarray) -> Any:
    x[0] = 3.0
    return np.sum(np.ones((2, 7)) @ x)


@pytest.mark.parametrize("fn", [noting, writing])
def test_a_function_with_effects_is_not_called_again(fn: Callable[..., Any]) -> None:
    LINES.clear()
    for count in (1, 2):
        with pytest.raises(ValueError, match="matmul") as caught:
            ad.grad(fn)(np.ones(3))
        assert fn is writing or len(LINES) == count
        assert f"in {fn.__name__}: return np.sum(np.ones((2, 7)) @ x)" in caught.value.__notes__[0]
        assert not [f for f in traceback.extract_tb(caught.value.__traceback__) if "compiler" in f.filename]


def test_nor_is_one_that_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "SECONDS_REPEATED", 0.0)
    with pytest.raises(ZeroDivisionError) as caught:
        ad.grad(sum_of_quotients)(2.0)
    assert "quotient" in caught.value.__notes__[0]
    assert "adjoint" in "".join(traceback.format_exception(caught.value))


def test_a_fault_of_the_package_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*args: Any) -> Any:
        return np.linalg.inv(np.zeros((2, 2)))

    monkeypatch.setattr(ad.GradFunction, "call_carefully", faulty)
    with pytest.raises(np.linalg.LinAlgError) as caught:
        ad.grad(outer)(X)
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "faulty" in frames and frames.count("__call__") == 2


def test_a_wrong_call_is_short() -> None:
    for call in (
        lambda: ad.grad(outer, X),
        lambda: ad.grad(outer(X)),
        lambda: ad.grad(outer)(),
        lambda: ad.grad(outer)(X, m=3),
    ):
        frames, _ = shown(call, TypeError)
        assert frames == []


def test_ipython_shows_a_refusal_in_twelve_lines() -> None:
    with pytest.raises(ad.AutodiffError) as caught:
        ad.grad(outer)(X)
    lines = caught.value._render_traceback_()
    own = [line for line in lines if line.startswith("  File") and "autodiff_sct" + os.sep in line]
    assert lines[-1].startswith("More: docs/errors.md#") and not [line for line in own if "tests" not in line]


def test_no_frame_is_kept_alive() -> None:
    def fail() -> weakref.ref[np.ndarray]:
        x = np.ones(3)
        with contextlib.suppress(ValueError):
            gradient(x)
        return weakref.ref(x)

    gradient = ad.grad(lambda x: np.sum(np.ones((2, 7)) @ x))
    fail()
    gc.collect()
    gc.disable()
    try:
        assert fail()() is None
    finally:
        gc.enable()
