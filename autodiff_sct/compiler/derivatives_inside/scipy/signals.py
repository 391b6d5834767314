"""Filters of ``scipy.signal`` by texts: those that start from a state, in sections, and at other rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from scipy import signal

from ....runtime.scipy import filters
from ... import ir
from ...domain.values import Const, ListV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...ir.builder import Specialiser
from .by_text import by_text, several_by_text
from .functions import arguments_of, bound, is_free

NAMES = {signal.lfilter: "b a x axis zi", signal.sosfilt: "sos x axis zi"}
TEXTS: dict[Any, Callable[..., Any]] = {signal.lfilter: filters.from_state, signal.sosfilt: filters.sections_from_state}


def filtered(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lfilter(b, a, x, axis, zi)`` and ``sosfilt(sos, x, axis, zi)``; without a state it is in the table."""
    callee = ir.attribute(s.bind("signal", signal), fn.__name__)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    named = bound(NAMES[fn], args, kwargs)
    if named.get("zi", Const(None)) == Const(None):
        return within_sections(s, fn, expr, args, kwargs)
    values = [array_of_list(s, named[k]) for k in NAMES[fn].split() if k not in ("axis", "zi")]
    given = [*values, named.get("axis", Const(-1)), array_of_list(s, named["zi"])]
    return several_by_text(s, TEXTS[fn], expr, given, [values[-1], given[-1]])


for _fn in NAMES:
    handles(_fn)(partial(filtered, _fn))


def within_sections(s: Specialiser, fn: Any, expr: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A filter without a state; coefficients of sections that only the run knows may have derivatives."""
    named = arguments_of(fn, args, kwargs)
    if fn is signal.lfilter or named is None or not is_free(s, array_of_list(s, named["sos"])):
        return emit_op.apply(s, fn, expr, args, kwargs)
    named = {k: array_of_list(s, v) if k in ("sos", "x") else v for k, v in named.items() if k != "zi"}
    text = filters.in_sections if fn is signal.sosfilt else filters.in_sections_both_ways
    return by_text(s, text, expr, list(named.values()))


def called(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Any:
    callee = ir.attribute(s.bind("signal", signal), fn.__name__)
    return ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})


@handles(signal.sosfiltfilt)
def sosfiltfilt(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``sosfiltfilt(sos, x, axis, padtype, padlen)``."""
    return within_sections(s, signal.sosfiltfilt, called(s, signal.sosfiltfilt, args, kwargs), args, kwargs)


def at_other_rate(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``resample_poly(x, up, down)`` and ``decimate(x, q)``."""
    expr = called(s, fn, args, kwargs)
    named = arguments_of(fn, args, kwargs) or {}
    if named.pop("cval", Const(None)) not in (Const(None), Const(0)) or not named:
        raise s.refuse("setting", f"scipy.signal.{fn.__name__} with cval has no derivative", "leave cval out")
    if named.get("padtype", Const("constant")) not in map(Const, ("constant", "mean", "median", "minimum", "maximum")):
        raise s.refuse("setting", "scipy.signal.resample_poly with this padtype has no derivative", "leave padtype out")
    if named.get("ftype", Const("iir")) not in (Const("iir"), Const("fir")):
        raise s.refuse("setting", "scipy.signal.decimate with a system has no derivative", "use ftype='iir' or 'fir'")
    window = named.get("window")
    if window is not None and (isinstance(window, ListV) or s.num(window) is not None and not s.is_static(window)):
        named["window"] = array_of_list(s, window)
    if "up" in named:
        up, down = int(s.static(named["up"])), int(s.static(named["down"]))
        named |= {"up": Const(up // math.gcd(up, down)), "down": Const(down // math.gcd(up, down))}
    named["x"] = array_of_list(s, named["x"])
    return by_text(s, TEXTS[fn], expr, list(named.values()))


TEXTS |= {signal.resample_poly: filters.resampled, signal.decimate: filters.decimated}
for _fn in (signal.resample_poly, signal.decimate):
    handles(_fn)(partial(at_other_rate, _fn))


@handles(signal.deconvolve)
def deconvolve(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``deconvolve(signal, divisor)``."""
    named = arguments_of(signal.deconvolve, args, kwargs) or {}
    values = [array_of_list(s, named[name]) for name in ("signal", "divisor")]
    return several_by_text(s, filters.quotient, called(s, signal.deconvolve, args, kwargs), values)
