"""Ordinary differential equations: ``solve_ivp`` and ``odeint``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import integrate

from ....runtime.scipy.solvers import Trajectory
from ... import ir
from ...domain.facts import Axis, Dim, Num, Opaque
from ...domain.values import Const, Leaf, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list, numpy_call
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_python, get_item
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from . import trajectories
from .functions import (
    NUMPYS_NUMBER,
    OFF,
    Given,
    bound,
    call_of,
    given,
    is_free,
    known,
    refuse_complex,
    row,
    without,
    without_derivative,
)
from .optimize import parts

OPTIONS = "rtol atol max_step first_step"


@handles(integrate.solve_ivp)
def solve_ivp(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``solve_ivp(fun, t_span, y0, ...)``, of which ``y`` has a derivative."""
    named = bound("fun t_span y0 method t_eval dense_output events vectorized args", args, kwargs)
    for name in ("dense_output", "events", "vectorized"):
        if named.get(name, Const(None)) not in OFF:
            raise s.refuse("setting", f"scipy.integrate.solve_ivp with {name} has no derivative", f"leave {name} out")
    if set(named) - set(f"fun t_span y0 method t_eval dense_output events vectorized args {OPTIONS}".split()):
        raise s.refuse(
            "setting", "scipy.integrate.solve_ivp with these options has no derivative", "leave jac and the like out"
        )
    start, facts = state_of(s, named["y0"])
    named["y0"] = start
    times = named.get("t_eval", Const(None))
    if times != Const(None):
        times = named["t_eval"] = times_of(s, times)
    method = named.get("method", Const("RK45"))
    fn = given(s, named["fun"], [NUMPYS_NUMBER, facts], named.get("args"))
    expr = call_of(s, integrate, "solve_ivp", [named["t_span"], start], without(named, "fun t_span y0 args"), fn)
    found = s.let(expr, Opaque(), hint="found")
    options = TupleV(tuple(named.get(name, Const(None)) for name in OPTIONS.split()))
    begin, end = (get_item(s, named["t_span"], Const(k)) for k in (0, 1))
    span = TupleV((fixed(s, begin), fixed(s, end)))
    if times == Const(None) and not (isinstance(method, Const) and method.value in trajectories.TABLEAUS):
        times = times_between(s, begin, found, end)
        end = Const(None)
    moving = [times, begin, end if times == Const(None) else Const(None)]
    settings = [fn.fn, Const(True), method, span, options]
    y, points = states(s, fn, ir.attribute(s.expr(found), "y"), settings, moving, start)
    t = s.let(ir.attribute(s.expr(found), "t"), matrix(points), hint="t", may_raise=False)
    return construct(s, Trajectory, [t, y, *parts(s, found, "success status message nfev")], {})


@handles(integrate.odeint)
def odeint(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``odeint(func, y0, t, args)``: the states at the times, one in each row."""
    named = bound("func y0 t args Dfun col_deriv full_output ml mu", args, kwargs)
    for name in "Dfun col_deriv full_output".split():
        if named.get(name, Const(None)) not in OFF:
            raise s.refuse("setting", f"scipy.integrate.odeint with {name} has no derivative", f"leave {name} out")
    begun = array_of_list(s, named["y0"])
    if (found := s.num(begun)) is not None and found.dims == ():
        begun = numpy_call(s, np.reshape, [begun, Const(1)], {})  # SciPy makes one state of a number
    start, facts = state_of(s, begun)
    times = times_of(s, named["t"])
    first = named.get("tfirst", Const(False))
    kinds = [NUMPYS_NUMBER, facts] if first == Const(True) else [facts, NUMPYS_NUMBER]
    fn = given(s, named["func"], kinds, named.get("args"))
    expr = call_of(s, integrate, "odeint", [start, times], without(named, "func y0 t args"), fn)
    begin, end = (get_item(s, times, Const(k)) for k in (0, -1))
    settings = [fn.fn, first, Const("LSODA"), TupleV((fixed(s, begin), fixed(s, end))), TupleV((Const(None),) * 4)]
    moving = [times, begin if moves(s, times) else Const(None), Const(None)]
    y, points = states(s, fn, ir.attribute(expr, "T"), settings, moving, start)
    return s.let(ir.attribute(s.expr(y), "T"), matrix(points, facts.dims[0]), transposed(s, y), "states")


def states(s: Specialiser, fn: Given, expr: Any, settings: list[Value], moving: list[Value], start: Value) -> Any:
    """The states of a solution, one in each column, and their number; `moving` are the times and the steps' ends."""
    order, rest, *inputs = fn.settings(s)
    given_times, *ends = moving
    ends = [v if moves(s, v) else Const(None) for v in ends]
    free = [k for k, v in enumerate([given_times, *ends]) if moves(s, v)]
    places = (*free, 3, *range(4, 4 + len(inputs)))
    facts = s.num(start)
    assert facts is not None and facts.dims is not None
    values = [*settings, Const(places), order, rest, given_times, *ends, start, *inputs]
    points = column_count(s, given_times)
    return row(s, trajectories.trajectory, expr, matrix(facts.dims[0], points), values, "y"), points


def column_count(s: Specialiser, times: Value) -> Axis:
    count = s.num(times)
    return count.dims[0] if count is not None and count.dims else Dim((s.new_symbol("axis"), 0))


def moves(s: Specialiser, value: Value) -> bool:
    """True for a time, or times, with respect to which there may be a derivative."""
    return isinstance(value, Leaf) and is_free(s, value) and known(s, value) is None


def fixed(s: Specialiser, value: Value) -> Value:
    """A time as a constant, by which SciPy's steps are found again."""
    if not isinstance(value, Leaf):
        return value
    return s.let(s.expr(value), s.facts[value.name], ir.Op(without_derivative, {"value": value}), "end")


def times_between(s: Specialiser, begin: Value, found: Leaf, end: Value) -> Value:
    """The times of the steps of a method that is not taken again, with the ends of the interval."""
    op = ir.Op(without_derivative, {"value": found})
    facts = matrix(Dim((s.new_symbol("axis"), 0), 0, True))
    times = s.let(ir.attribute(s.expr(found), "t"), facts, op, "times")
    ends = [v if moves(s, v) else Const(None) for v in (begin, end)]
    return call_python(s, trajectories.between_ends, [ends[0], times, ends[1]], {})


def transposed(s: Specialiser, value: Value) -> Any:
    return emit_op.make_op(s, np.transpose, [value], {})


def state_of(s: Specialiser, value: Value) -> tuple[Value, Any]:
    """The state at the start as an array, and the facts of a state."""
    value = array_of_list(s, value)
    refuse_complex(s, value, "a differential equation")
    facts = s.num(value)
    if facts is None or facts.dims is None or len(facts.dims) != 1:
        raise s.refuse("setting", "the state at the start is no vector", "give it an array of one axis")
    if facts.dtype is not None and facts.dtype.kind in "iub":
        value = numpy_call(s, np.asarray, [value, Const(float)], {})
    return value, matrix(facts.dims[0])


def times_of(s: Specialiser, value: Value) -> Value:
    """The times of a trajectory as an array; SciPy raises where one of unknown rank is no vector."""
    value = array_of_list(s, value)
    facts = s.num(value)
    if facts is not None and facts.dims is not None:
        return value
    times = numpy_call(s, np.asarray, [value, Const(float)], {})
    facts = s.num(times)
    if isinstance(times, Leaf) and facts is not None and facts.dims is None:
        s.facts[times.name] = replace(facts, kind="array", dims=(Dim((s.new_symbol("axis"), 0)),))
    return times


def matrix(*dims: Any) -> Num:
    return Num("array", np.dtype(np.float64), dims)


@handles(trajectories.moved_trajectory)
def moved_trajectory(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The tangent of a trajectory: a call, as rules have no lists that grow."""
    fn = trajectories.moved_trajectory
    start = s.num(args[12])
    assert start is not None and start.dims is not None
    points = column_count(s, args[9])
    expr = ir.call(s.bind(fn.__name__, fn), *(s.expr(a) for a in args))
    return row(s, fn, expr, matrix(start.dims[0], points), args, "tangent")


@handles(trajectories.accepted_steps)
def accepted_steps(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The times of the steps: a call that carries no derivative."""
    expr = ir.call(s.bind("accepted_steps", trajectories.accepted_steps), *(s.expr(a) for a in args))
    return s.let(expr, matrix(Dim((s.new_symbol("axis"), 0), 0, True)), ir.Op(trajectories.accepted_steps, {}), "steps")
