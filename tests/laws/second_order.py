"""The derivative of a reverse rule, found by executing the rule on variables that record what is done to them.

A rule is made of functions that have rules themselves.  `Variable` stands for an array, `record` keeps the calls, and
going back through them by the same table gives the derivative of the rule, which must be that of its differences.
"""

from __future__ import annotations

import operator
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autodiff_sct.rules.table import NONDIFFERENTIABLE, TABLE
from autodiff_sct.runtime import unbroadcast
from tests.laws.checker import STEP, Call, Case, fit, is_inexact, leaves, matched, pairing, random_like

RTOL, ATOL = 1e-4, 1e-5


@dataclass
class Step:
    """A recorded call: the arguments as they were given, the result, and the variables that stand for it."""

    call: Call
    y: Any
    outputs: Any


RECORDING: list[Step] = []


class Variable(NDArrayOperatorsMixin):
    """An array whose uses are recorded; to a rule, which asks, it is an array."""

    __class__ = property(lambda self: np.ndarray)  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)
        self.dtype, self.shape = self.value.dtype, self.value.shape
        self.ndim, self.size = self.value.ndim, self.value.size

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        assert method == "__call__"
        return record(ufunc, *args, **kwargs)

    def __array_function__(self, fn: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return record(fn, *args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return record(operator.getitem, self, index)

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def T(self) -> Any:
        return record(np.transpose, self)


def is_variable(value: Any) -> bool:
    return type(value) is Variable


def holds_variable(value: Any) -> bool:
    return is_variable(value) or isinstance(value, (list, tuple)) and any(holds_variable(v) for v in value)


def value_of(value: Any) -> Any:
    """`value` with arrays in the place of variables."""
    if is_variable(value):
        return value.value
    return type(value)(value_of(v) for v in value) if type(value) in (list, tuple) else value


def variable_of(value: Any) -> Any:
    """`value` with variables in the place of its inexact leaves."""
    if isinstance(value, (list, tuple)):
        return [variable_of(v) for v in value] if isinstance(value, list) else tuple(variable_of(v) for v in value)
    return Variable(value) if is_inexact(value) else value


def record(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `fn` on the values, and record the call if a derivative goes through it."""
    y = fn(*value_of(args), **{k: value_of(v) for k, v in kwargs.items()})
    if fn in NONDIFFERENTIABLE or not holds_variable([*args, *kwargs.values()]) or not is_inexact(y):
        return y
    RECORDING.append(Step(Call(fn, args, kwargs), y, variable_of(y)))
    return RECORDING[-1].outputs


@contextmanager
def recording() -> Iterator[None]:
    """An empty recording, in which the run-time helpers that rules call are recorded too."""
    RECORDING.clear()
    modules = [m for name, m in sys.modules.items() if name.startswith("autodiff_sct.rules.")]
    changed = [(m, name, fn) for m in modules for name, fn in vars(m).items() if is_helper(fn)]
    for module, name, fn in changed:
        setattr(module, name, recorder(fn))
    try:
        yield
    finally:
        for module, name, fn in changed:
            setattr(module, name, fn)


def is_helper(fn: Any) -> bool:
    ours = isinstance(fn, types.FunctionType) and fn.__module__.startswith("autodiff_sct.runtime")
    return ours and (fn in TABLE or fn in NONDIFFERENTIABLE)


def recorder(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: record(fn, *args, **kwargs)


def pull_back(cotangents: dict[int, Any]) -> None:
    """Go back through the recording, from and to cotangents by the identity of their variable."""
    for step in reversed(RECORDING):
        several = isinstance(step.outputs, (list, tuple))
        d = [cotangents.get(id(v)) for v in (step.outputs if several else [step.outputs])]
        if any(part is not None for part in d):
            plain = Call(step.call.fn, value_of(step.call.args), {k: value_of(v) for k, v in step.call.kwargs.items()})
            entries = plain.entries(step.y, d if several else d[0])
            for position, x in step.call.inputs().items():
                if position < len(entries) and entries[position] is not None:
                    add(cotangents, x, entries[position])


def add(cotangents: dict[int, Any], x: Any, entry: Any) -> None:
    """Add an entry to the cotangents of the variables in `x`."""
    if is_variable(x):
        cotangents[id(x)] = cotangents.get(id(x), 0) + unbroadcast(entry, x.value)
    elif isinstance(x, (list, tuple)):
        for item, part in zip(x, entry, strict=True):
            if part is not None:
                add(cotangents, item, part)


class Directions:
    """Active arguments are moved along `u`, the cotangent `d` along `ud`; the entries are paired with `t`."""

    def __init__(self, case: Case) -> None:
        rng = np.random.default_rng(5)
        self.call = Call(case.fn, case.args, case.kwargs)
        y = self.call.primal()
        self.d, self.ud = random_like(y, rng), random_like(y, rng)
        entries = self.call.entries(y, self.d)
        self.inputs = {
            p: x for p, x in self.call.inputs().items() if p < len(entries) and entries[p] is not None and is_inexact(x)
        }
        self.t = {p: random_like(x, rng) for p, x in self.inputs.items()}
        self.u = {p: random_like(x, rng) for p, x in self.inputs.items()}

    def with_inputs(self, change: Callable[[int, Any], Any]) -> Call:
        """The call with its active arguments changed."""
        call = self.call
        for position, x in self.inputs.items():
            changed = change(position, x)
            args, kwargs = call.replace(position, tuple(changed) if isinstance(x, tuple) else changed)
            call = Call(call.fn, args, kwargs)
        return call

    def paired_entries(self, step: float) -> float:
        """The entries paired with `t`, a step along the directions."""
        call = self.with_inputs(lambda p, x: moved(x, self.u[p], step))
        entries, inputs = call.entries(call.primal(), moved(self.d, self.ud, step)), call.inputs()
        return sum(pairing(t, matched(lambda x, e: fit(e, x), inputs[p], entries[p])) for p, t in self.t.items())


def moved(x: Any, u: Any, step: float) -> Any:
    return matched(lambda leaf, s: leaf if s is None else leaf + step * s, x, u)


def check_second_order(case: Case) -> None:
    """Assert that the derivative of the reverse rule is that of its differences."""
    along = Directions(case)
    at = along.paired_entries
    measured = (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)
    with recording(), warnings.catch_warnings():
        warnings.simplefilter("error")
        call = along.with_inputs(lambda p, x: variable_of(x))
        d = variable_of(along.d)
        entries = call.entries(record(call.fn, *call.args, **call.kwargs), d)
        cotangents: dict[int, Any] = {}
        for position, t in along.t.items():
            add(cotangents, entries[position], t)
        pull_back(cotangents)
    found = sum(paired(cotangents, call.inputs()[p], u) for p, u in along.u.items()) + paired(cotangents, d, along.ud)
    np.testing.assert_allclose(found, measured, RTOL, ATOL)


def paired(cotangents: dict[int, Any], x: Any, u: Any) -> float:
    """The cotangents of the variables in `x`, paired with the direction `u`."""
    return sum(
        float(np.sum(cotangents[id(v)] * s).real)
        for v, s in zip(leaves(x), leaves(u), strict=True)
        if id(v) in cotangents
    )
