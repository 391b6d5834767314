"""Integrals of ``scipy.integrate``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from ....runtime.scipy import integrals
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Leaf, ListV, Poison, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles, otherwise
from ...interp.kernel.operations import call_python, call_value, get_item
from ...interp.kernel.specialiser import Specialiser
from . import solutions
from .functions import NUMBER, arguments_of, bound, by_text, call_of, derived, dummy, given, is_free, without

QUAD = "func a b args full_output epsabs epsrel limit points weight wvar wopts maxp1 limlst complex_func"
UNKNOWN = "full_output weight wvar wopts maxp1 limlst complex_func"


@handles(integrate.quad)
def quad(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``quad(func, a, b, args)``: the integral, and an estimate of its error."""
    named = bound(QUAD, args, kwargs)
    if any(named.get(name, Const(None)) not in (Const(None), Const(0), Const(False)) for name in UNKNOWN.split()):
        raise s.refuse(
            "setting", "scipy.integrate.quad with these settings has no derivative", "leave full_output and weight out"
        )
    fn = given(s, named["func"], [NUMBER], named.get("args"))
    settings = without(named, "func a b args")
    expr = call_of(s, integrate, "quad", [named["a"], named["b"]], settings, fn)
    values = [fn.fn, named["a"], named["b"], *fn.settings(s)]
    op = emit_op.make_op(s, solutions.integral, values, {})
    return TupleV(tuple(s.let_several(expr, [NUMBER, NUMBER], op, "integral")))


@handles(integrate.quad_vec)
def quad_vec(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``quad_vec(f, a, b)`` of a function that returns an array."""
    named = bound("f a b epsabs epsrel norm cache_size limit workers points quadrature full_output args", args, kwargs)
    if named.get("full_output", Const(False)) != Const(False):
        raise s.refuse("setting", "scipy.integrate.quad_vec with full_output has no derivative")
    fn = given(s, named["f"], [NUMBER], named.get("args"))
    env = dict(s.env)
    with s.writing([], s.lengths):
        sample = s.num(call_value(s, fn.fn, [dummy(s, NUMBER), *fn.arguments], {}))
    s.env = env
    if sample is None or sample.kind is None or (sample.dtype is not None and sample.dtype.kind == "c"):
        raise s.refuse("setting", "what this function returns is not known to be real", "return an array or a number")
    facts = Num(sample.kind if sample.kind == "array" else "npscalar", np.dtype(np.float64), sample.dims)
    expr = call_of(s, integrate, "quad_vec", [named["a"], named["b"]], without(named, "f a b args"), fn)
    op = emit_op.make_op(s, solutions.vector_integral, [fn.fn, named["a"], named["b"], *fn.settings(s)], {})
    return TupleV(tuple(s.let_several(expr, [facts, NUMBER], op, "integral")))


@handles(integrate.cumulative_simpson)
def cumulative_simpson(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cumulative_simpson(y, x=x, dx=dx, axis=axis, initial=initial)``."""
    named = arguments_of(integrate.cumulative_simpson, args, kwargs)
    if named is None:
        raise s.refuse("setting", "scipy.integrate.cumulative_simpson does not take these arguments")
    callee = ir.attribute(s.bind("integrate", integrate), "cumulative_simpson")
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    named |= {k: array_of_list(s, named[k]) for k in ("y", "x")}
    return by_text(s, integrals.cumulative_simpson, expr, list(named.values()))


# Over regions

DEPTHS = (integrals.single, integrals.double, integrals.triple)


def over_region(
    s: Specialiser, name: str, func: Value, args: Value, lows: list[Value], highs: list[Value], settings: Any
) -> Value:
    """The integral over one to three variables, the first of which is integrated first."""
    func = derived(integrals.with_arguments, func, args)
    text = DEPTHS[len(lows) - 1]
    ends = [TupleV(tuple(lows)), TupleV(tuple(highs))] if len(lows) > 1 else [lows[0], highs[0]]
    found = call_python(s, text, [func, *ends, Const(tuple(settings.items()))], {})
    assert isinstance(found, TupleV)
    return TupleV((found.items[0], Poison(f"scipy.integrate.{name}'s estimate of its error has no derivative")))


def tolerances(s: Specialiser, name: str, named: dict[str, Value]) -> dict[str, Any]:
    """The settings of each integral, which are numbers."""
    found = {k: v for k, v in named.items() if k in ("epsabs", "epsrel")}
    if not all(s.is_static(v) for v in found.values()):
        raise s.refuse("setting", f"the tolerances of scipy.integrate.{name} are not known", "write them as numbers")
    return {k: s.static(v) for k, v in found.items()}


@handles(integrate.dblquad)
def dblquad(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``dblquad(func, a, b, gfun, hfun)``."""
    named = bound("func a b gfun hfun args epsabs epsrel", args, kwargs)
    lows, highs = [named["gfun"], named["a"]], [named["hfun"], named["b"]]
    behind = named.get("args", Const(()))
    return over_region(s, "dblquad", named["func"], behind, lows, highs, tolerances(s, "dblquad", named))


@handles(integrate.tplquad)
def tplquad(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``tplquad(func, a, b, gfun, hfun, qfun, rfun)``."""
    named = bound("func a b gfun hfun qfun rfun args epsabs epsrel", args, kwargs)
    numbers = [is_number(named[k]) for k in ("qfun", "rfun")]
    inner = [named[k] if n else derived(integrals.swapped, named[k]) for k, n in zip(("qfun", "rfun"), numbers)]
    lows, highs = [inner[0], named["gfun"], named["a"]], [inner[1], named["hfun"], named["b"]]
    behind = named.get("args", Const(()))
    return over_region(s, "tplquad", named["func"], behind, lows, highs, tolerances(s, "tplquad", named))


@handles(integrate.nquad)
def nquad(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``nquad(func, ranges, args)`` of one to three variables."""
    named = bound("func ranges args opts full_output", args, kwargs)
    ranges = named["ranges"]
    if isinstance(ranges, Const) and isinstance(ranges.value, (tuple, list)):
        ranges = TupleV(tuple(Const(r) for r in ranges.value))
    known = isinstance(ranges, (TupleV, ListV)) and len(ranges.items) <= len(DEPTHS)
    if not known or any(named.get(k, Const(None)) not in (Const(None), Const(False)) for k in ("opts", "full_output")):
        raise s.refuse(
            "setting", "scipy.integrate.nquad has a derivative for up to three ranges in a list, without opts"
        )
    behind = named.get("args", Const(()))
    lows, highs = ([limit_of(s, r, k, behind) for r in ranges.items] for k in (0, 1))
    return over_region(s, "nquad", named["func"], behind, lows, highs, {})


def limit_of(s: Specialiser, limits: Value, k: int, args: Value) -> Value:
    """One of both limits of a variable: they are a pair, or a function of the variables that are integrated later."""
    pair = isinstance(limits, Const) and isinstance(limits.value, (tuple, list))
    if pair or isinstance(limits, (TupleV, ListV, Leaf)):
        return get_item(s, limits, Const(k))
    return derived(integrals.end, limits, Const(k), args)


def is_number(value: Value) -> bool:
    """True for a limit that is no function."""
    return isinstance(value, Leaf) or isinstance(value, Const) and not callable(value.value)


@otherwise(integrate.simpson)
def simpson(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """``simpson(y, x=x)`` where the places have a derivative."""
    named = arguments_of(integrate.simpson, args, kwargs)
    if named is None or not is_free(s, named["x"]):
        return None
    axis = {} if named["axis"] == Const(-1) else {"axis": s.expr(named["axis"])}
    callee = ir.attribute(s.bind("integrate", integrate), "simpson")
    expr = ir.call(callee, s.expr(named["y"]), x=s.expr(named["x"]), **axis)
    return by_text(s, integrals.simpson, expr, [named["y"], named["x"], named["axis"]])
