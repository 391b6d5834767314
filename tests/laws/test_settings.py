"""Every rule with every setting of its optional parameters, through the compiler: right, or refused.

Whoever writes a case of a rule gives the settings that he has in mind; these are the others, one by one and together.
Without the environment variable ``AUTODIFF_SCT_EVERY_SETTING``, one in eight rules is tried.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections import defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.rules.table import TABLE, Rule
from tests.laws.checker import Call, Case, full_name, is_inexact, random_like, show
from tests.laws.programs import spelled
from tests.laws.settings import variants
from tests.random.oracle import forget, load

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]

HERE = Path(__file__).parent
MODULES = [f"tests.laws.{path.stem}" for path in sorted(HERE.glob("cases_*.py"))] + [
    f"tests.scipy.{path.stem}"
    for path in sorted((HERE.parent / "scipy").glob("*.py"))
    if not path.stem.startswith(("test_", "_"))
]
MOST = 4  # cases of one rule, of different arguments
PARTS = 6  # of a result


def rules() -> list[tuple[Rule, list[Case]]]:
    """The rules for functions of NumPy and SciPy, each with cases of different shapes."""
    found: dict[Any, dict[Any, Case]] = defaultdict(dict)
    for module in MODULES:
        for item in getattr(importlib.import_module(module), "CASES", []):
            if item.fn in TABLE and "autodiff_sct" not in full_name(item.fn):
                found[item.fn].setdefault(tuple(map(show, item.args)), item)
    return [(TABLE[fn], [*cases.values()][:MOST]) for fn, cases in found.items()]


class Program:
    """A program that calls a function and adds up the squares of its results, with settings in its text."""

    def __init__(self, item: Case, y: Any) -> None:
        inputs = Call(item.fn, item.args, item.kwargs).inputs()
        moving = [path for path, x in inputs.items() if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
        self.start = [inputs[path] for path in moving]
        words, constants = spelled(item, moving, "k")
        constants["fn"] = item.fn
        parts = [(f"y[{k}]", part) for k, part in enumerate(y)] if isinstance(y, (tuple, list)) else [("y", y)]
        terms = []
        for name, part in parts:
            if is_inexact(part) and not isinstance(part, (list, tuple)):
                weights = 1.3 + np.cos(np.arange(1.0, np.size(part) + 1)).reshape(np.shape(part))
                constants[f"w{len(terms)}"] = weights
                terms.append(f"np.sum(w{len(terms)} * np.abs({name}) ** 2)")
        given = ", ".join(f"x{path}" for path in moving)
        self.text = f"import numpy as np\n\n\ndef program({given}):\n    y = fn({words})\n"
        self.text += f"    return {' + '.join(terms) or '0.0'}\n"
        self.function = load(self.text)
        self.function.__globals__.update(constants)
        rng = np.random.default_rng(5)
        self.directions = [random_like(x, rng) for x in self.start]

    def at(self, step: float) -> float:
        return float(self.function(*[x + step * d for x, d in zip(deepcopy(self.start), self.directions)]))

    def slope(self, step: float) -> float:
        """The derivative along the directions by differences of fourth order."""
        return (8 * (self.at(step) - self.at(-step)) - (self.at(2 * step) - self.at(-2 * step))) / (12 * step)

    def check(self) -> None:
        """Compare the gradient and the tangent with differences, but at kinks."""
        try:
            fine, coarse, size = self.slope(1e-4), self.slope(3e-4), abs(self.at(0.0))
        except Exception:  # what the function does not take near these numbers
            return
        scale = max(1.0, abs(fine), size)
        if not self.start or not abs(fine - coarse) <= 1e-6 * scale:
            return
        for derivative in (self.by_gradient, self.by_tangent):
            try:
                found = derivative()
            except ad.AutodiffError:
                continue
            assert found == pytest.approx(fine, abs=1e-5 * scale), self.text

    def by_gradient(self) -> float:
        found = ad.grad(self.function, tuple(range(len(self.start))))(*deepcopy(self.start))
        gradients = found if isinstance(found, tuple) else (found,)
        return sum(float(np.sum(np.multiply(g, d)).real) for g, d in zip(gradients, self.directions, strict=True))

    def by_tangent(self) -> float:
        return float(ad.jvp(self.function, tuple(deepcopy(self.start)), tuple(self.directions))[1])


def check_setting(item: Case) -> None:
    try:
        y = item.fn(*deepcopy(item.args), **deepcopy(item.kwargs))
    except Exception:  # what the function does not take
        return
    if np.size(y) == 0 if isinstance(y, np.ndarray) else isinstance(y, (list, tuple)) and len(y) > PARTS:
        return
    program = Program(item, y)
    try:
        program.check()
    except Exception as error:
        error.add_note(str(item))
        raise
    finally:
        forget(program.function)


EVERY = rules()
if not os.environ.get("AUTODIFF_SCT_EVERY_SETTING"):
    EVERY = [(row, cases) for row, cases in EVERY if zlib.crc32(full_name(row.fn).encode()) % 8 == 0]


@pytest.mark.parametrize(("row", "cases"), EVERY, ids=[full_name(row.fn) for row, _ in EVERY])
def test_right_or_refused(row: Rule, cases: list[Case]) -> None:
    tried = set()
    for item in cases:
        for variant in variants(item, row):
            if (key := str(variant)) not in tried:
                tried.add(key)
                check_setting(variant)


@pytest.mark.parametrize("fn", [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn])
def test_lengths_without_axes(fn: Any) -> None:
    check_setting(Case(fn, (np.linspace(-1.0, 2.0, 60).reshape(3, 4, 5) ** 2, (6, 3)), {}))
