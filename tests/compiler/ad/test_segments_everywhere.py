"""The bank with every loop over a range run in segments of two steps: right, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autodiff_sct.compiler.domain.values import Const
from autodiff_sct.compiler.interp.containers import iteration
from autodiff_sct.compiler.interp.language import statements
from autodiff_sct.compiler.interp.library import builtins
from autodiff_sct.errors import Refused
from tests.bank import registry
from tests.bank.checks import check_gradient

pytestmark = pytest.mark.once

PROGRAMS, _ = registry.load_bank()


@pytest.fixture
def segmented(monkeypatch: Any) -> None:
    """Let ``range`` in a program be ``segments(range, every=2)``, and keep no program for later."""
    plain = iteration.over_range

    def over_range(s: Any, args: Any) -> Any:
        source = plain(s, args)
        return source if s.frame is not None and s.frame.rule else replace(source, every=Const(2))

    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    monkeypatch.setattr(iteration, "over_range", over_range)
    monkeypatch.setattr(builtins, "over_range", over_range)
    monkeypatch.setattr(statements, "short", lambda s, value: (None, None))


@pytest.mark.usefixtures("segmented")
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_gradient(name: str) -> None:
    try:
        check_gradient(PROGRAMS[name])
    except Refused as refused:
        assert refused.reason
