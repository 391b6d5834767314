"""Tracebacks of refusals: short under every call of the package, whole on request."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

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


def test_what_the_users_function_raises_keeps_its_frames() -> None:
    def raising(x: np.ndarray) -> Any:
        if x[0] > 0:
            raise ValueError("too large")
        return np.sum(x)

    with pytest.raises(ValueError) as caught:
        ad.grad(raising)(X)
    assert "adjoint" in "".join(traceback.format_exception(caught.value))
