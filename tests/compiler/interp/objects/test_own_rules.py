"""Functions with a rule of the user's: what they return may be the array that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.rules.table import TABLE
from tests.compiler.checked import V, check_gradient, check_tangent


def as_array(x: Any) -> Any:
    return np.asarray(x)


@pytest.fixture(autouse=True)
def rule_of_as_array() -> Iterator[None]:
    @ad.rule(as_array)
    def as_array_rule(y: Any, d: Any, x: Any) -> Any:
        return d

    yield
    del TABLE[as_array]


def written_through_it(u: Any) -> Any:
    new = u * 2.0
    same = as_array(new)
    same[1] = same[0] * new[2]
    return np.sum(new**2)


def of_a_kind_that_only_the_run_tells(u: Any) -> Any:
    mixed = [u, 3]
    new = mixed[0] * 2.0
    same = as_array(new)
    same[1] = same[0] * new[2]
    return np.sum(new**2)


def test_one_memory_by_two_names() -> None:
    check_gradient(written_through_it, (V,))
    check_tangent(written_through_it, (V,))


def test_what_may_be_one_memory_is_refused() -> None:
    with pytest.raises(ad.AutodiffError, match="only at run time"):
        ad.grad(of_a_kind_that_only_the_run_tells)(V)
    check_tangent(of_a_kind_that_only_the_run_tells, (V,))
