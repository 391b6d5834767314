"""Statistics of samples in ``scipy.stats``: numbers, and results of tests."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from ....runtime.scipy import statistics as texts
from ... import ir
from ...domain.values import Const, Leaf, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_python, opaque_call
from ...interp.library.validation import takes_floats
from ...ir.builder import Specialiser
from .by_text import by_text, computed, constant_result
from .functions import arguments_of, known, row

IGNORED = ("sum_check",)  # settings that decide only whether SciPy raises


def statistic(text: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function of samples: SciPy computes it, and its derivative is that of a text along the last axis.

    A call that SciPy does not take is made in the run, which raises.
    """
    fn = getattr(stats, text.__name__)
    callee = ir.attribute(s.bind("stats", stats), text.__name__)
    given = arguments_of(fn, args, kwargs)
    if given is None or not set(inspect.signature(text).parameters) <= set(given) or not takes_floats(s, args, kwargs):
        return opaque_call(s, callee, fn, args, kwargs)
    axis = axes(s, given.pop("axis", Const(None)))
    keepdims = static(s, text, "keepdims", given.pop("keepdims", Const(False)))
    policy = static(s, text, "nan_policy", given.pop("nan_policy", Const("propagate")))
    samples, settings = parts_of(s, text, fn, given)
    ranks = [None if f is None or f.dims is None else len(f.dims) for f in map(s.num, samples)]
    if len({*ranks}) > 1 and axis != Const(None):
        raise refusal(s, text, "samples of several ranks", "give it arrays of one rank")
    if None in ranks and keepdims:
        raise refusal(s, text, "keepdims=True for a rank known at run time only", "give it an array of known rank")
    axes_of = [Const(None) if k == 0 else axis for k in ranks]  # a number is a sample of one
    along = [a if k == 1 else call_python(s, last_axis, [a, by], {}) for a, k, by in zip(samples, ranks, axes_of)]
    if policy == "omit" and (len(samples) > 1 or (ranks[0] != 1 and axis != Const(None))):
        raise refusal(s, text, "nan_policy='omit' for several samples", "leave the NaNs out yourself")
    if policy == "omit":
        along = [call_python(s, without_nans, along, {})]
    value = call_python(s, text, along, settings)
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    kept = partial(with_axes, s, axis, max(k or 0 for k in ranks) if keepdims else 0)
    if not isinstance(value, TupleV):
        return of_text(s, text, expr, kept(value))
    return of_parts(s, text, s.expr(constant_result(s, expr, [*args, *kwargs.values()], "found")), value, kept)


def of_parts(s: Specialiser, text: Any, found: Any, value: TupleV, kept: Any) -> Value:
    """The parts of a result, which may be tuples, with the derivatives of those of a text."""
    items: list[Value] = []
    for k, item in enumerate(value.items):
        part = ir.subscript(found, ir.constant(k))
        if isinstance(item, TupleV):
            items.append(of_parts(s, text, part, item, kept))
        else:
            items.append(item if isinstance(item, Const) else of_text(s, text, part, kept(item)))
    return TupleV(tuple(items), value.cls)


def parts_of(s: Specialiser, text: Any, fn: Any, given: dict[str, Any]) -> tuple[list[Value], dict[str, Value]]:
    """The samples and the settings of a text, from the arguments of SciPy's function by name."""
    defaults = inspect.signature(fn).parameters
    samples: list[Value] = []
    settings: dict[str, Value] = {}
    parameters = inspect.signature(text).parameters
    for name, value in given.items():
        kind = parameters[name].kind if name in parameters else None
        if kind is inspect.Parameter.VAR_POSITIONAL:
            if len(value) < 2:
                raise refusal(s, text, "fewer than two samples", "give it two samples or more")
            samples += [array_of_list(s, item) for item in value]
        elif kind is inspect.Parameter.KEYWORD_ONLY:
            settings[name] = value
        elif kind is not None and value != Const(None):
            samples.append(array_of_list(s, value))
        elif kind is None and name not in IGNORED and static(s, text, name, value) != defaults[name].default:
            raise refusal(s, text, f"another {name} than {defaults[name].default!r}", f"leave {name} out")
    return samples, settings


def axes(s: Specialiser, value: Value) -> Value:
    """The axis or axes that are reduced, as constants where they are known while compiling."""
    if isinstance(value, TupleV):
        return TupleV(tuple(known(s, item) or item for item in value.items))
    return (known(s, value) if isinstance(value, Leaf) else None) or value


def static(s: Specialiser, text: Any, name: str, value: Value) -> Any:
    """A setting that is known while compiling."""
    constant = known(s, value) if isinstance(value, (Leaf, Const)) else None
    if constant is None:
        raise refusal(s, text, f"{name} known at run time only", f"write {name} as a constant")
    return constant.value


def refusal(s: Specialiser, text: Any, what: str, instead: str) -> Exception:
    return s.refuse("setting", f"scipy.stats.{text.__name__} with {what} has no derivative", instead)


def of_text(s: Specialiser, text: Any, expr: Any, value: Value) -> Value:
    facts = s.num(value)
    if facts is None:
        raise refusal(s, text, "these arguments", "give it arrays of known rank")
    return row(s, computed, expr, facts, [value], text.__name__)


def with_axes(s: Specialiser, axis: Value, rank: int, value: Value) -> Value:
    """A result with the axes of length one that ``keepdims`` keeps of samples of a rank."""
    return call_python(s, spread_out, [value, axis, Const(rank)], {}) if rank else value


def without_nans(a: Any) -> Any:
    return a[~np.isnan(a)]


def spread_out(value: Any, axis: Any, rank: Any) -> Any:
    return np.expand_dims(value, tuple(range(rank)) if axis is None else axis)


def last_axis(a: Any, axis: Any) -> Any:
    """A sample with the axes that a statistic reduces as its last one."""
    if axis is None:
        return np.ravel(a)
    if isinstance(axis, tuple):
        first = [k for k in range(a.ndim) if k not in axis and k - a.ndim not in axis]
        moved = np.transpose(a, (*first, *axis))
        return np.reshape(moved, (*[a.shape[k] for k in first], -1))
    return np.moveaxis(a, axis, -1)


@handles(stats.zmap)
def zmap(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``zmap(scores, compare, axis, ddof)``: scores by the mean and the deviation of others."""
    given = arguments_of(stats.zmap, args, kwargs)
    callee = ir.attribute(s.bind("stats", stats), "zmap")
    if given is None:
        return opaque_call(s, callee, stats.zmap, args, kwargs)
    if static(s, stats.zmap, "nan_policy", given["nan_policy"]) != "propagate":
        raise refusal(s, stats.zmap, "another nan_policy than 'propagate'", "leave nan_policy out")
    values = [array_of_list(s, given["scores"]), array_of_list(s, given["compare"]), given["axis"], given["ddof"]]
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    return by_text(s, texts.zmap, expr, values)


for _text in texts.SAMPLES:
    if hasattr(stats, _text.__name__):
        handles(getattr(stats, _text.__name__))(partial(statistic, _text))
