"""Every public function of NumPy is spoken for, and the page says what becomes of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws import coverage

pytestmark = pytest.mark.once


@pytest.mark.skipif(f"NumPy {np.__version__}'s" not in coverage.PAGE.read_text(), reason="the page is of another NumPy")
def test_the_page_lists_all_functions() -> None:
    page = coverage.PAGE.read_text()
    assert coverage.with_section(page) == page, "run `python -m tests.laws.coverage`"


def test_no_function_is_refused_and_followed() -> None:
    coverage.load_handlers()
    names = {name for group in coverage.REFUSED.values() for name in group.split()}
    for namespace in coverage.NAMESPACES.values():
        assert not [name for name, fn in coverage.functions(namespace) if name in names and coverage.kind_of(fn)]
