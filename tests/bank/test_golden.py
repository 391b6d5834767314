"""The printed adjoints are the expected ones; `python -m tests.golden --write` rewrites them for review."""

from __future__ import annotations

import pytest

from tests.golden import NAMES, expected, expected_path, printed


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str) -> None:
    assert printed(name) == expected(name)


def test_no_golden_is_left_over() -> None:
    folder = expected_path(NAMES[0]).parent
    assert {path.stem for path in folder.glob("*.txt")} == set(NAMES)
