"""Lists of texts, None and containers that live outside the function: what is appended is there after each call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

LOG: Any = []
NAMES: Any = []
GROUPS: Any = {}
X = np.array([1.0, 2.0])


def noting(x):
    LOG.append("called")
    return np.sum(x**2)


def noting_several(x):
    LOG.extend(["begun", None, ("x", 1), True])
    return np.sum(x**2)


def noting_into_another(x):
    NAMES[0].append("called" * len(NAMES[0]))
    return np.sum(x**2)


def noting_in_a_dict(x):
    GROUPS.setdefault("log", []).append("called")
    return np.sum(x**2)


def noting_records(x):
    LOG.append({"loss": float(x[0]), "name": "x"})
    return np.sum(x**2)


def noting_on_one_path(x):
    if x[0] > 0.0:
        LOG.append("positive")
    return np.sum(x**2)


def noting_in_a_loop(x):
    for v in x:
        if v > 0.0:
            LOG.append("positive")
    return np.sum(x**2)


def begin(first: list[Any]) -> None:
    LOG[:], NAMES[:] = first, [["one"]]
    GROUPS.clear()


def state_after(call: Any, first: list[Any]) -> str:
    begin(first)
    for _ in range(3):
        call(X)
    return repr((LOG, NAMES, GROUPS))


NOTING = [noting, noting_several, noting_into_another, noting_in_a_dict]
CASES = [(fn, first) for fn in NOTING for first in ([], ["begun"], [None])] + [(noting_records, ["begun"])]


@pytest.mark.parametrize(("fn", "first"), CASES)
def test_what_is_appended_outside_is_there_after_each_call(fn, first):
    assert state_after(ad.grad(fn), first) == state_after(fn, first)
    begin(first)
    assert np.array_equal(ad.grad(fn)(X), 2.0 * X)


@pytest.mark.parametrize("fn", [noting_on_one_path, noting_in_a_loop])
def test_on_some_paths_it_is_refused_and_nothing_is_lost(fn):
    begin(["begun"])
    with pytest.raises(ad.errors.Refused, match="outside the function"):
        ad.grad(fn)(X)
    assert LOG == ["begun"]
