"""Programs with effects, whose calls cannot be repeated, have strong zeros and are compiled once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver import forward_pipeline, pipeline

X = np.array([0.0, 4.0])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def shown(x: Any) -> Any:
    print("shown")
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests for which a program has been specialised."""
    found: list[Any] = []
    specialise = pipeline.specialise

    def noted(request: Any) -> Any:
        found.append(request)
        return specialise(request)

    for module in (pipeline, forward_pipeline):
        monkeypatch.setattr(module, "specialise", noted)
    return found


def test_reverse(runs):
    np.testing.assert_array_equal(ad.grad(shown)(X), [0.0, 0.25])
    assert len(runs) == 1


def test_forward(runs):
    _, tangent = ad.jvp(shown, (X,), (np.ones(2),))
    assert tangent == 0.25
    assert len(runs) == 1


def test_derivatives_inside_have_strong_zeros_too():
    def outer(x):
        print("shown")
        return np.sum(ad.grad(lambda y: np.sum(np.where(y > 0.0, y * np.sqrt(y), 0.0)))(x))

    np.testing.assert_allclose(ad.grad(outer)(X), [0.0, 0.375])
