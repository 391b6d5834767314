"""Every row through the compiler: what is emitted for a call of its function gives what the row says."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_sct.api import grad, jvp
from tests.laws.checker import Call, fit, is_inexact, is_narrow, leaves, matched, pairing, random_like
from tests.laws.programs import Program, load, program

pytestmark = pytest.mark.once

OWN = Path(__file__)
TOPICS = sorted(path.stem for path in OWN.parent.glob("cases_*.py"))
EVERY = [
    program(item, f"{topic}_{k}")
    for topic in TOPICS
    for k, item in enumerate(importlib.import_module(f"tests.laws.{topic}").CASES)
]
PROGRAMS = [p for p in EVERY if p.positions and "np.ndarray" not in p.text]


@pytest.fixture(scope="module", autouse=True)
def _functions(tmp_path_factory: pytest.TempPathFactory) -> None:
    load(PROGRAMS, tmp_path_factory.mktemp("programs") / "programs_of_cases.py")


def differentiable(p: Program, y: Any) -> tuple[list[int], list[Any]]:
    """The places among the arguments that have an entry, and the entries for a cotangent of ones."""
    call = Call(p.item.fn, p.item.args, p.item.kwargs)
    ones = matched(lambda leaf: np.ones_like(leaf) if is_inexact(leaf) else None, y)
    entries = call.entries(y, tuple(ones) if isinstance(y, tuple) else ones)
    places = [k for k, at in enumerate(p.positions) if at < len(entries) and entries[at] is not None]
    return places, [entries[p.positions[k]] for k in places]


@pytest.mark.parametrize("p", PROGRAMS, ids=lambda p: str(p.item))
def test_gradient(p: Program) -> None:
    y = p.function(*p.args)
    places, entries = differentiable(p, y)
    if not places:
        return
    got = grad(p.function, tuple(places))(*p.args)
    got = got if isinstance(got, tuple) else (got,)
    for gradient, entry, k in zip(got, entries, places, strict=True):
        x = p.args[k]
        assert type(gradient) is type(x)
        assert np.shape(gradient) == np.shape(x) and np.asarray(gradient).dtype == np.asarray(x).dtype
        np.testing.assert_allclose(gradient, fit(entry, x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("p", PROGRAMS, ids=lambda p: str(p.item))
def test_tangent(p: Program) -> None:
    rng = np.random.default_rng(5)
    y = p.function(*p.args)
    places, entries = differentiable(p, y)
    if len(places) != len(p.positions):
        return
    directions = [random_like(x, rng)[()] for x in p.args]
    directions = [type(x)(t) if isinstance(x, (float, complex)) else np.asarray(t) for x, t in zip(p.args, directions)]
    value, tangent = jvp(p.function, tuple(p.args), tuple(directions))
    expected = sum(pairing(fit(e, x), t) for e, x, t in zip(entries, p.args, directions, strict=True))
    accuracy = 1e-5 if any(is_narrow(leaf) for leaf in leaves(y)) else 1e-7
    assert sum(np.sum(t).real for t in leaves(tangent) if is_inexact(t)) == pytest.approx(expected, accuracy, 1e-9)
