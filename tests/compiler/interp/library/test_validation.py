"""What installed packages ask of arguments, and their paths for arguments of other kinds, need not be followed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import values
from tests.compiler.checked import check_gradient

X = np.linspace(0.1, 0.9, 5)
TEXT = """
import inspect
import numpy as np

NAMES = {"numpy", "other"}
RULES = {"x": [np.ndarray, float], "kind": [str]}


class Rule:
    def __init__(self, kind):
        self.kind = kind

    def holds(self, value):
        return isinstance(value, self.kind)


def validate(rules, given):
    for name, value in given.items():
        made = [Rule(kind) for kind in rules[name]]
        for rule in made:
            if rule.holds(value):
                break
        else:
            raise ValueError(name)


def spoil(rules, given):
    for name, value in given.items():
        made = [Rule(kind) for kind in rules[name]]
        for rule in made:
            if rule.holds(value):
                break
        value[0] = 7.0


def frame_of(x):
    for seen in (type(x), *type(x).__mro__):
        if [each for each in vars(seen) if each == "__frame__"]:
            return True
    return False


def checked(x, kind="plain"):
    validate(RULES, {"x": x, "kind": kind})
    return np.sum(np.sin(x))


def spoiled(x):
    spoil(RULES, {"x": x})
    return np.sum(np.sin(x))


def framed(x):
    if frame_of(x):
        parts = [Rule(each) for each in x]
        return sum(part.kind for part in parts if part.holds(x))
    return np.sum(x**2)


def named(x, xp=np):
    y = x if xp.__name__ in NAMES else [x]
    return np.sum(y * y)


def dtypes_of(device):
    found = []
    for dtype in (np.dtype("float64"), np.dtype("float32")):
        found.append(Rule(dtype).kind if device else np.float16)
    found.append(np.float16)
    return tuple(found)


def cast(x, y):
    if x is y:
        return np.sum(x)
    dtype = x.dtype if x.dtype in dtypes_of(type(y).__name__) else [0.0]
    z = np.array(x, dtype=dtype, order="K")
    if not getattr(getattr(z, "flags", None), "writeable", True):
        z = z.copy()
    z *= y
    return np.sum(z)


def searched(x):
    for kind in ("flat", "round"):
        made = [Rule(kind)]
        x = x * len(made)
    return np.sum(np.unpackbits(x.view(np.uint8)))


def marked(x):
    try:
        inspect.getattr_static(x, "__frame__")
    except AttributeError:
        return np.sum(x**3)
    return x[0]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "asking.py").write_text(TEXT)
    monkeypatch.setattr(values, "PACKAGES", (str(tmp_path),))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("asking")
    del sys.modules["asking"]


@pytest.mark.parametrize("name", ["checked", "framed", "named", "marked"])
def test_what_is_asked_is_asked_in_the_run(package: Any, name: str) -> None:
    fn = getattr(package, name)
    check_gradient(lambda x: fn(x) * 2.0, (X,))
    assert ad.jvp(fn, (X,), (np.ones(5),))[1] == pytest.approx(np.sum(ad.grad(fn)(X)))


def test_dtypes_are_asked_for(package: Any) -> None:
    check_gradient(package.cast, (X, X + 1.0))


def test_the_refusal_that_is_shown_is_the_one_that_remains(package: Any) -> None:
    with pytest.raises(ad.errors.Refused, match="view"):
        ad.grad(lambda x: package.searched(x))(X)


def test_what_validation_raises_is_raised(package: Any) -> None:
    with pytest.raises(ValueError, match="kind"):
        ad.grad(package.checked)(X, 3)


def test_what_writes_is_no_validation(package: Any) -> None:
    check_gradient(lambda x: package.spoiled(x * 1.0), (X,))
