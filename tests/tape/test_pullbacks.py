"""Every row of the derivative table through the tape: the gradient is what the row says, by each argument alone too.

The rows themselves are checked against differences in `tests/laws`; here the tape has to execute them: with only the
entries that are wanted, with shells in the place of values that are not read, on tensors for second derivatives.
"""

from __future__ import annotations

import importlib
import math
import pathlib
import warnings
from typing import Any

import numpy as np
import pytest

from autodiff_sct import AutodiffError, tape
from autodiff_sct.core import thresholds
from autodiff_sct.runtime.linalg.slopes import pushed, slope
from autodiff_sct.tape.engine import call
from tests.laws import test_second_order
from tests.laws.checker import Call, Case, fit, is_inexact, leaves, matched, narrowed, random_like
from tests.laws.second_order import ATOL, RTOL, Directions

pytestmark = pytest.mark.once

LAWS = pathlib.Path(__file__).parents[1] / "laws"
TOPICS = sorted(path.stem for path in LAWS.glob("cases_*.py"))
CASES: list[Case] = [
    item
    for topic in TOPICS
    for item in importlib.import_module(f"tests.laws.{topic}").CASES
    if item.fn is not np.ndarray.item  # it leaves the tape
    and not (item.fn is np.full_like and item.args[0].dtype == int)  # a plain array is filled
]
# Functions that make plain numbers or arrays of what they are given, before a tensor can tell.
PLAIN = [np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.full, np.arange, float]
PLAIN += [complex, np.float64, np.float32, np.complex64, np.complex128, np.longdouble, np.clongdouble]
PLAIN += [np.asarray_chkfinite, np.lib.stride_tricks.as_strided]


@pytest.fixture(autouse=True)
def shells_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small values, too, are replaced by shells of NaN where they are not read."""
    monkeypatch.setattr(thresholds, "BYTES_KEPT", -1)


def is_of_math(item: Case) -> bool:
    return getattr(item.fn, "__module__", "") in ("math", "cmath") and item.fn is not math.prod


def is_plain(item: Case) -> bool:
    return item.fn in PLAIN or is_of_math(item)


def active(item: Case) -> list[int]:
    """The positions of the arguments with a derivative."""
    at = Call(item.fn, item.args, item.kwargs)
    y = at.primal()
    entries = at.entries(y, random_like(y, np.random.default_rng(0)))
    inputs = at.inputs()
    return [p for p, x in inputs.items() if p < len(entries) and entries[p] is not None and is_inexact(x)]


def watched(value: Any) -> Any:
    """`value` with tensors in the place of its inexact leaves."""
    if isinstance(value, (list, tuple)):
        return type(value)([watched(v) for v in value])
    return tape.tensor(value, requires_grad=True) if is_inexact(value) else value


def tensors(value: Any) -> list[tape.Tensor]:
    return [leaf for leaf in leaves(value) if isinstance(leaf, tape.Tensor)]


def on_tape(item: Call) -> Any:
    """The call as a program makes it."""
    if isinstance(item.fn, type(np.ndarray.copy)):
        return getattr(item.args[0], item.fn.__name__)(*item.args[1:], **item.kwargs)
    if (getattr(item.fn, "__module__", None) or "").startswith("autodiff_sct"):
        return call(item.fn, item.args, item.kwargs)
    return item.fn(*item.args, **item.kwargs)


def check_gradient(item: Case, positions: list[int]) -> None:
    at = Call(item.fn, item.args, item.kwargs)
    y = at.primal()
    d = random_like(y, np.random.default_rng(3))
    expected = at.entries(y, d)
    inputs = {p: watched(at.inputs()[p]) for p in positions}
    for p, x in inputs.items():
        at = Call(item.fn, *at.replace(p, x))
    results, seeds = leaves(on_tape(at)), leaves(d)
    pairs = [(r, tape.tensor(s)) for r, s in zip(results, seeds, strict=True) if getattr(r, "requires_grad", False)]
    xs = [x for value in inputs.values() for x in tensors(value)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = iter(tape.grad([r for r, _ in pairs], xs, [s for _, s in pairs], materialize_grads=True))
    original = Call(item.fn, item.args, item.kwargs).inputs()
    for p in positions:
        for leaf, entry in zip(leaves(original[p]), leaves(fitted(original[p], expected[p])), strict=True):
            if is_inexact(leaf):
                got = next(found)
                assert got.shape == np.shape(leaf) and got.dtype == np.asarray(leaf).dtype
                np.testing.assert_allclose(got.value, entry, rtol=1e-10, atol=1e-12)


def fitted(value: Any, entry: Any) -> Any:
    """An entry in the shapes and dtypes of its argument."""
    return matched(lambda leaf, part: fit(part, leaf) if is_inexact(leaf) else None, value, entry)


def is_refused(item: Case, positions: list[int]) -> bool:
    """Check the gradient by some arguments, unless the tape refuses the call."""
    try:
        check_gradient(item, positions)
    except (AutodiffError, ValueError) as error:
        if not isinstance(error, AutodiffError) and not isinstance(error.__cause__, AutodiffError):
            raise
        return True
    return False


@pytest.mark.parametrize("item", CASES, ids=str)
def test_gradient(item: Case) -> None:
    """By all arguments; by each one alone, where NumPy asks that one whether it is a tensor."""
    positions = active(item)
    assert is_refused(item, positions) == (item.fn in PLAIN or is_of_math(item))
    for position in positions if len(positions) > 1 else []:
        assert not is_refused(item, [position]) or position > 0 or item.fn in (*PLAIN, np.polyval) or is_of_math(item)


@pytest.mark.parametrize("item", [item for item in CASES if not is_plain(item)], ids=str)
def test_single_precision(item: Case) -> None:
    """A gradient is finite and has its tensor's dtype, and no pullback of single precision warns or fails."""
    single = Case(item.fn, narrowed(item.args), {k: narrowed(v) for k, v in item.kwargs.items()})
    at = Call(single.fn, single.args, single.kwargs)
    inputs = {p: watched(at.inputs()[p]) for p in active(item)}
    for p, x in inputs.items():
        at = Call(at.fn, *at.replace(p, x))
    results = [r for r in leaves(on_tape(at)) if getattr(r, "requires_grad", False)]
    xs = [x for value in inputs.values() for x in tensors(value)]
    found = tape.grad(results, xs, [tape.tensor(np.ones(r.shape, r.dtype)) for r in results], materialize_grads=True)
    for x, got in zip(xs, found, strict=True):
        assert got.dtype == x.dtype and got.shape == x.shape and np.all(np.isfinite(got.value))


def second_order(item: Case) -> float:
    """The derivative of the paired entries along the directions, by a recorded pass back."""
    along = Directions(item)
    at, inputs = along.call, {}
    for p, x in along.inputs.items():
        inputs[p] = watched(x)
        at = Call(at.fn, *at.replace(p, inputs[p]))
    d = watched(along.d)
    pairs = [(r, s) for r, s in zip(leaves(on_tape(at)), leaves(d), strict=True) if getattr(r, "requires_grad", False)]
    xs = [x for p in inputs for x in tensors(inputs[p])]
    ts = [t for p in inputs for t in leaves(along.t[p]) if t is not None]
    first = tape.grad([r for r, _ in pairs], xs, [s for _, s in pairs], create_graph=True, materialize_grads=True)
    total = sum(np.sum(g * t).real for g, t in zip(first, ts, strict=True))
    if not total.requires_grad:
        return 0.0
    moving = xs + tensors(d)
    ways = [u for p in inputs for u in leaves(along.u[p]) if u is not None] + [
        u for u in leaves(along.ud) if u is not None
    ]
    second = tape.grad(total, moving, materialize_grads=True)
    return sum(float(np.sum(g.value * u).real) for g, u in zip(second, ways, strict=True))


# What derivatives call that are differentiated again by the compiler: the tape differentiates rules as they stand.
SLOPES = (slope, pushed)


@pytest.mark.parametrize(
    "item",
    [i for i in test_second_order.CASES if any(i is c for c in CASES) and not is_plain(i) and i.fn not in SLOPES],
    ids=str,
)
def test_second_derivative(item: Case) -> None:
    along = Directions(item)
    at = along.paired_entries
    measured = (8 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(second_order(item), measured, RTOL, ATOL)
