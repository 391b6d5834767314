"""The page of MindSpore's names is what the modules have."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from autodiff_sct import nn, ops
from autodiff_sct.cli import coverage

pytestmark = pytest.mark.once

PAGE = Path(__file__).parents[1] / "docs" / "mindspore.md"


def test_the_page_is_what_the_modules_have() -> None:
    assert coverage.mindspore_page() == PAGE.read_text(), (
        "run `python -m autodiff_sct coverage --mindspore > docs/mindspore.md`"
    )


def test_counts_of_what_can_be_called() -> None:
    functions = [name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))]
    assert len(functions) == len(set(functions)) >= 250
    assert sum(inspect.isclass(getattr(nn, name)) for name in nn.__all__) >= 100


def test_public_names_are_there_once() -> None:
    for module in (nn, ops):
        assert len(module.__all__) == len(set(module.__all__))
        assert all(hasattr(module, name) for name in module.__all__)
