"""Spectra of ``scipy.signal``, by texts, and filters by texts: from a state, in sections, at other rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import signal

from ....runtime.scipy import signal as texts
from ... import ir
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_python, get_item, opaque_call
from ...interp.kernel.specialiser import Specialiser
from ...interp.library.introspection import dict_of
from .functions import (
    arguments_of,
    bound,
    by_text,
    constant_result,
    is_free,
    known,
    refuse_complex,
    several_by_text,
    vector_like,
    without_derivative,
)

SIDES = ("left", "right")
SEGMENTS = "fs window nperseg noverlap nfft axis"
POWER = "detrend return_onesided scaling"
# The text of each function, its arguments, its settings, what must have its default, and how many results there are.
TEXTS: dict[Any, tuple[Callable[..., Any], str, str, str, int]] = {
    signal.welch: (texts.cross, f"x y {SEGMENTS}", POWER, "average", 2),
    signal.csd: (texts.cross, f"x y {SEGMENTS}", POWER, "average", 2),
    signal.coherence: (texts.coherence, f"x y {SEGMENTS}", "detrend", "", 2),
    signal.periodogram: (texts.periodogram, "x fs window nfft axis", POWER, "", 2),
    signal.spectrogram: (texts.spectrogram, f"x {SEGMENTS}", POWER, "mode", 3),
    signal.stft: (texts.short_time, f"x {SEGMENTS}", f"{POWER} boundary padded", "", 3),
}


def spectrum(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A spectrum with the frequencies, and times, that it belongs to."""
    text, names, settings, defaults, count = TEXTS[fn]
    callee = ir.attribute(s.bind("signal", signal), fn.__name__)
    named = arguments_of(fn, args, kwargs)
    if named is None:
        return opaque_call(s, callee, fn, args, kwargs)
    for name in defaults.split():
        if constant(s, fn, named, name) not in ("mean", "psd"):
            raise refusal(s, fn, f"another {name} than the default", f"leave {name} out")
    chosen = {name: Const(constant(s, fn, named, name)) for name in settings.split()}
    if chosen["detrend"].value not in ("constant", "linear", False):
        raise refusal(s, fn, "a function for `detrend`", "detrend the signal yourself")
    if chosen.get("boundary", Const(None)).value not in ("zeros", None):
        raise refusal(s, fn, "this `boundary`", "use boundary='zeros'")
    named["axis"] = Const(constant(s, fn, named, "axis"))
    for name in ("x", "y"):
        named[name] = array_of_list(s, named.get(name, Const(None)))
        refuse_complex(s, named[name], f"scipy.signal.{fn.__name__}")
    if fn is signal.csd and named["y"] == named["x"]:
        named["y"] = Const(None)
    window = named["window"]
    if not s.is_static(window) or isinstance(s.static(window), list):
        if isinstance(window, TupleV) and window.items and isinstance(window.items[0], Const):
            raise refusal(s, fn, "a window whose parameters only the run knows", "make it with get_window outside")
        named["window"] = array_of_list(s, window)
    given = [named[name] for name in names.split()]
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    found = constant_result(s, expr, [*args, *kwargs.values()], "found")
    value = by_text(s, text, ir.subscript(s.expr(found), ir.constant(count - 1)), given, chosen)
    return TupleV((*(axis_of(s, found, k, named["fs"]) for k in range(count - 1)), value))


def axis_of(s: Specialiser, found: Leaf, k: int, fs: Value) -> Value:
    """The frequencies or the times of a spectrum, by the sampling frequency."""
    part = ir.subscript(s.expr(found), ir.constant(k))
    axis = s.let(part, vector_like(s), ir.Op(without_derivative, {"value": found}), ("frequencies", "times")[k])
    if not isinstance(fs, Leaf):
        return axis
    fixed = s.let(s.expr(fs), s.facts[fs.name], ir.Op(without_derivative, {"value": fs}), "fs")
    return by_text(s, texts.proportional, s.expr(axis), [axis, *((fs, fixed) if k == 0 else (fixed, fs))])


@handles(signal.freqz)
def freqz(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``freqz(b, a, worN, ..., fs)``: the frequencies and the response there."""
    named = arguments_of(signal.freqz, args, kwargs)
    callee = ir.attribute(s.bind("signal", signal), "freqz")
    if named is None or named["plot"] != Const(None):
        return opaque_call(s, callee, signal.freqz, args, kwargs)
    b, a, places = (array_of_list(s, named[name]) for name in ("b", "a", "worN"))
    for coefficients in (b, a, places):
        refuse_complex(s, coefficients, "scipy.signal.freqz")
    b, a = (as_vector(s, coefficients) for coefficients in (b, a))
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    found = constant_result(s, expr, [*args, *kwargs.values()], "found")
    facts = s.num(places)
    of_array = facts is not None and facts.ndim == 1
    if not of_array and not s.is_static(places):
        raise refusal(s, signal.freqz, "`worN` that may be a number or an array", "write it as one of them")
    frequencies = places if of_array else axis_of(s, found, 0, named["fs"])
    part = ir.subscript(s.expr(found), ir.constant(1))
    return TupleV((frequencies, by_text(s, texts.response, part, [b, a, frequencies, named["fs"]])))


@handles(signal.freqs)
def freqs(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``freqs(b, a, worN)`` at given frequencies."""
    named = arguments_of(signal.freqs, args, kwargs)
    callee = ir.attribute(s.bind("signal", signal), "freqs")
    places = array_of_list(s, named["worN"]) if named is not None else Const(None)
    facts = s.num(places)
    if named is None or named["plot"] != Const(None) or facts is None or facts.ndim != 1:
        return opaque_call(s, callee, signal.freqs, args, kwargs)
    b, a = (as_vector(s, array_of_list(s, named[name])) for name in ("b", "a"))
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    part = ir.subscript(expr, ir.constant(1))
    return TupleV((places, by_text(s, texts.analog_response, part, [b, a, places])))


def as_vector(s: Specialiser, coefficients: Value) -> Value:
    facts = s.num(coefficients)
    if facts is not None and facts.dims == ():
        return array_of_list(s, ListV((coefficients,), s.site()))
    if facts is None or facts.ndim != 1:
        raise refusal(s, signal.freqz, "coefficients that are no vector", "give it arrays of one axis")
    return coefficients


def constant(s: Specialiser, fn: Any, named: dict[str, Any], name: str) -> Any:
    """A setting that is known while compiling."""
    found = known(s, named[name]) if isinstance(named[name], (Leaf, Const)) else None
    if found is None:
        raise refusal(s, fn, f"{name} known at run time only", f"write {name} as a constant")
    return found.value


def refusal(s: Specialiser, fn: Any, what: str, instead: str) -> Exception:
    return s.refuse("setting", f"scipy.signal.{fn.__name__} with {what} has no derivative", instead)


for _fn in TEXTS:
    handles(_fn)(partial(spectrum, _fn))


NAMES = {signal.lfilter: "b a x axis zi", signal.sosfilt: "sos x axis zi"}
FILTERS: dict[Any, Callable[..., Any]] = {
    signal.lfilter: texts.from_state,
    signal.sosfilt: texts.sections_from_state,
}


def filtered(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lfilter(b, a, x, axis, zi)`` and ``sosfilt(sos, x, axis, zi)``; without a state it is in the table."""
    callee = ir.attribute(s.bind("signal", signal), fn.__name__)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    named = bound(NAMES[fn], args, kwargs)
    if named.get("zi", Const(None)) == Const(None):
        return within_sections(s, fn, expr, args, kwargs)
    values = [array_of_list(s, named[k]) for k in NAMES[fn].split() if k not in ("axis", "zi")]
    given = [*values, named.get("axis", Const(-1)), array_of_list(s, named["zi"])]
    return several_by_text(s, FILTERS[fn], expr, given, [values[-1], given[-1]])


for _fn in NAMES:
    handles(_fn)(partial(filtered, _fn))


def within_sections(s: Specialiser, fn: Any, expr: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A filter without a state; coefficients of sections that only the run knows may have derivatives."""
    named = arguments_of(fn, args, kwargs)
    if fn is signal.lfilter or named is None or not is_free(s, array_of_list(s, named["sos"])):
        return emit_op.apply(s, fn, expr, args, kwargs)
    named = {k: array_of_list(s, v) if k in ("sos", "x") else v for k, v in named.items() if k != "zi"}
    text = texts.in_sections if fn is signal.sosfilt else texts.in_sections_both_ways
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
    return by_text(s, FILTERS[fn], expr, list(named.values()))


FILTERS |= {signal.resample_poly: texts.resampled, signal.decimate: texts.decimated}
for _fn in (signal.resample_poly, signal.decimate):
    handles(_fn)(partial(at_other_rate, _fn))


@handles(signal.deconvolve)
def deconvolve(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``deconvolve(signal, divisor)``."""
    named = arguments_of(signal.deconvolve, args, kwargs) or {}
    values = [array_of_list(s, named[name]) for name in ("signal", "divisor")]
    return several_by_text(s, texts.quotient, called(s, signal.deconvolve, args, kwargs), values)


@handles(signal.find_peaks)
def find_peaks(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``find_peaks(x, height=..., prominence=...)``: the places of the peaks, and what is known of them."""
    named = {k: v for k, v in bound("x height threshold distance prominence", args, kwargs).items() if v != Const(None)}
    x, callee = array_of_list(s, named.pop("x")), ir.attribute(s.bind("signal", signal), "find_peaks")
    if not is_free(s, x):
        return opaque_call(s, callee, signal.find_peaks, args, kwargs)
    if named.keys() - {"height", "distance", "prominence", "wlen"}:
        raise refusal(s, signal.find_peaks, "these settings", "use height, distance and prominence")
    call = ir.call(callee, s.expr(x), **{k: s.expr(v) for k, v in named.items()})
    found = constant_result(s, call, [x, *named.values()], "found")

    def places(expr: Any, hint: str) -> Leaf:
        facts = replace(vector_like(s), dtype=np.dtype(np.int64))
        return s.let(expr, facts, ir.Op(without_derivative, {"found": found}), hint)

    peaks = places(ir.subscript(s.expr(found), ir.constant(0)), "peaks")
    known_of_them: dict[str, Value] = {}
    if "height" in named:
        known_of_them["peak_heights"] = get_item(s, x, peaks)
    if "prominence" in named:
        report = ir.subscript(s.expr(found), ir.constant(1))
        bases = [places(ir.subscript(report, ir.constant(f"{side}_bases")), f"{side}_bases") for side in SIDES]
        known_of_them["prominences"] = call_python(s, texts.prominences, [x, peaks, *bases], {})
        known_of_them |= {f"{side}_bases": base for side, base in zip(SIDES, bases)}
    return TupleV((peaks, dict_of(s, known_of_them)))
