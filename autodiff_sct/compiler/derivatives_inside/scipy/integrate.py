"""Integrals of ``scipy.integrate``."""

from __future__ import annotations

import numpy as np
from scipy import integrate

from ...domain.facts import Num
from ...domain.values import Const, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_value
from ...ir.builder import Specialiser
from . import solutions
from .functions import NUMBER, bound, call_of, dummy, given, without

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
