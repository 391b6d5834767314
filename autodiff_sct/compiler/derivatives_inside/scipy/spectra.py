"""Spectra of ``scipy.signal``: SciPy computes them, with the derivatives of texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scipy import signal

from ....runtime.scipy import spectra
from ... import ir
from ...domain.values import Const, Leaf, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import opaque_call
from ...ir.builder import Specialiser
from .by_text import by_text, constant_result
from .functions import arguments_of, known, refuse_complex, vector_like

SEGMENTS = "fs window nperseg noverlap nfft axis"
POWER = "detrend return_onesided scaling"
# The text of each function, its arguments, its settings, what must have its default, and how many results there are.
TEXTS: dict[Any, tuple[Callable[..., Any], str, str, str, int]] = {
    signal.welch: (spectra.cross, f"x y {SEGMENTS}", POWER, "average", 2),
    signal.csd: (spectra.cross, f"x y {SEGMENTS}", POWER, "average", 2),
    signal.coherence: (spectra.coherence, f"x y {SEGMENTS}", "detrend", "", 2),
    signal.periodogram: (spectra.periodogram, "x fs window nfft axis", POWER, "", 2),
    signal.spectrogram: (spectra.spectrogram, f"x {SEGMENTS}", POWER, "mode", 3),
    signal.stft: (spectra.short_time, f"x {SEGMENTS}", f"{POWER} boundary padded", "", 3),
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
    given = [named[name] for name in names.split()]
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    found = constant_result(s, expr, [*args, *kwargs.values()], "found")
    value = by_text(s, text, ir.subscript(s.expr(found), ir.constant(count - 1)), given, chosen)
    return TupleV((*(axis_of(s, found, k) for k in range(count - 1)), value))


def axis_of(s: Specialiser, found: Leaf, k: int) -> Value:
    """The frequencies or the times of a spectrum."""
    return s.let(ir.subscript(s.expr(found), ir.constant(k)), vector_like(s), hint=("frequencies", "times")[k])


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
