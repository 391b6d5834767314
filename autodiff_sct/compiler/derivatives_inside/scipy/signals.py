"""Filters of ``scipy.signal`` that start from a state, and so return two results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scipy import signal

from ....runtime.scipy import filters
from ... import ir
from ...domain.values import Const, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...ir.builder import Specialiser
from .by_text import several_by_text
from .functions import bound

NAMES = {signal.lfilter: "b a x axis zi", signal.sosfilt: "sos x axis zi"}
TEXTS: dict[Any, Callable[..., Any]] = {signal.lfilter: filters.from_state, signal.sosfilt: filters.sections_from_state}


def filtered(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lfilter(b, a, x, axis, zi)`` and ``sosfilt(sos, x, axis, zi)``; without a state it is in the table."""
    callee = ir.attribute(s.bind("signal", signal), fn.__name__)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    named = bound(NAMES[fn], args, kwargs)
    if named.get("zi", Const(None)) == Const(None):
        return emit_op.apply(s, fn, expr, args, kwargs)
    values = [array_of_list(s, named[k]) for k in NAMES[fn].split() if k not in ("axis", "zi")]
    given = [*values, named.get("axis", Const(-1)), array_of_list(s, named["zi"])]
    return several_by_text(s, TEXTS[fn], expr, given, [values[-1], given[-1]])


for _fn in NAMES:
    handles(_fn)(partial(filtered, _fn))
