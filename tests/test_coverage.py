"""The page of coverage lists every public function of NumPy and SciPy, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autodiff_sct.cli import coverage

scipy = pytest.importorskip("scipy")

pytestmark = pytest.mark.once

PAGE = (Path(__file__).parents[1] / "docs" / "coverage.md").read_text()
VERSIONS = f"of NumPy {np.__version__} and SciPy {scipy.__version__} "


@pytest.mark.skipif(VERSIONS not in PAGE, reason="the page is of another NumPy or SciPy")
def test_the_page_is_what_the_tables_say() -> None:
    assert coverage.as_page() == PAGE, "run `python -m autodiff_sct coverage --page > docs/coverage.md`"


def test_no_function_is_supported_and_has_a_reason_to_be_refused() -> None:
    given_reasons = {name for names in coverage.REFUSED.values() for name in names.split()}
    supported = (coverage.BOTH, coverage.REVERSE, coverage.COMPOSED)
    found = coverage.coverage()
    assert sum(len(names) for of in found.values() for outcome, names in of.items() if outcome in supported) > 700
    for namespace in coverage.NAMESPACES:
        for outcome, names in found[namespace].items():
            assert outcome not in supported or given_reasons.isdisjoint(names)


def test_the_text_names_namespaces_and_outcomes() -> None:
    text = coverage.as_text()
    assert f"numpy.linalg: {coverage.BOTH} (" in text and "scipy.integrate: followed" in text
