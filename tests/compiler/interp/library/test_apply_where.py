"""SciPy's choice between two functions by a condition, as the texts of its distributions make it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.stats import _continuous_distns

from autodiff_sct.compiler.interp.library import substitutes

X = np.array([[0.3, -1.2, 0.8], [2.0, 0.0, -0.4]])


@pytest.mark.once
@pytest.mark.parametrize("cond", [X > 0, X[:, :1] > 1, np.True_, X > 9])
def test_it_computes_what_scipy_does(cond: Any) -> None:
    scipys = getattr(getattr(_continuous_distns, "xpx", None), "apply_where", None)
    if scipys is None:
        pytest.skip("this SciPy chooses otherwise")
    for args, one, other in (((X, 2.0), np.power, np.multiply), (X, np.exp, np.abs)):
        expected = scipys(cond, args, one, other)
        np.testing.assert_array_equal(substitutes.apply_where(cond, args, one, other), expected)
        filled = scipys(cond, args, one, fill_value=-np.inf)
        np.testing.assert_array_equal(substitutes.apply_where(cond, args, one, fill_value=-np.inf), filled)
