"""Roots, fixed points, minima and fits of ``scipy.optimize``: their derivatives by the implicit function theorem."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize

from ....runtime.scipy import solvers
from ....runtime.scipy.solvers import Fitted, LeastSquares, Minimum, Root, Solution, closed, inside
from ... import ir
from ...domain.facts import Num, Opaque
from ...domain.values import Closure, Const, Leaf, ListV, PartialV, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel import operations
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import get_item
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from . import solutions
from .constrained import Constraint, constrained_minimum, constraints_of, is_sequence
from .functions import (
    NUMBER,
    NUMPYS_NUMBER,
    OFF,
    Given,
    beside,
    bound,
    by_text,
    call_of,
    constant_result,
    derived,
    given,
    items_of,
    refuse_complex,
    row,
    vector_like,
    without,
    without_derivative,
)

BRACKETING = (optimize.brentq, optimize.brenth, optimize.ridder, optimize.bisect, optimize.toms748)


def refuse_unless_off(s: Specialiser, what: str, named: dict[str, Value], names: str) -> None:
    """Refuse settings with which a solver does something else."""
    for name in names.split():
        if named.get(name, Const(None)) not in OFF:
            raise s.refuse("setting", f"scipy.optimize.{what} with {name} has no derivative", f"leave {name} out")


# Numbers


def bracketed(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``brentq(f, a, b, args)`` and its like."""
    named = bound("f a b args xtol rtol maxiter full_output disp", args, kwargs)
    fn = given(s, named["f"], [NUMBER], named.get("args"))
    expr = call_of(s, optimize, name, [named["a"], named["b"]], without(named, "f a b args"), fn)
    facts = NUMPYS_NUMBER if name == "toms748" else NUMBER
    return with_report(s, named, expr, facts, [fn.fn, *fn.settings(s)])


def with_report(s: Specialiser, named: dict[str, Value], expr: Any, facts: Any, values: list[Value]) -> Value:
    """A root, with what SciPy reports of the search where the program asks for that."""
    wanted = named.get("full_output", Const(False))
    if wanted in OFF:
        return row(s, solutions.root, expr, facts, values, "root")
    if not isinstance(wanted, Const):
        raise s.refuse("setting", "full_output of a solver is not known", "write it as True or False")
    found = s.let(expr, Opaque(), hint="found")
    first, second = (ir.subscript(s.expr(found), ir.constant(k)) for k in (0, 1))
    return TupleV((row(s, solutions.root, first, facts, values, "root"), s.let(second, Opaque(), hint="report")))


for solver in BRACKETING:
    handles(solver)(partial(bracketed, solver.__name__))


@handles(optimize.newton)
def newton(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``newton(func, x0, fprime, args)`` of a number."""
    names = "func x0 fprime args tol maxiter fprime2 x1 rtol full_output disp"
    named = bound(names, args, kwargs)
    named["x0"] = array_of_list(s, named["x0"])
    facts, single = solution_facts(s, named["x0"])
    if not single:
        refuse_unless_off(s, "newton of several numbers", named, "full_output")
    fn = given(s, named["func"], [facts], named.get("args"))
    others = derivatives_of(s, named, "fprime fprime2", [facts], named.get("args"))
    settings = without(named, "func x0 args fprime fprime2")
    expr = call_of(s, optimize, "newton", [named["x0"]], settings, fn, **others)
    return with_report(s, named, expr, facts, [fn.fn, *fn.settings(s)])


@handles(optimize.root_scalar)
def root_scalar(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``root_scalar(f, args, method, bracket, ...)``, of which ``root`` has a derivative."""
    named = bound("f args method bracket fprime fprime2 x0 x1 xtol rtol maxiter options", args, kwargs)
    between = named.get("bracket", Const(None)) != Const(None) and named.get("method") != Const("toms748")
    facts = NUMBER if between else NUMPYS_NUMBER
    fn = given(s, named["f"], [facts], named.get("args"))
    together, names = valued(named, "fprime", "fprime fprime2")
    others = derivatives_of(s, named, names, [facts], named.get("args"))
    expr = call_of(s, optimize, "root_scalar", [], without(named, f"f args {names}"), fn, **others)
    found = s.let(expr, Opaque(), hint="found")
    equation = derived(solutions.value_first, fn.fn) if together else fn.fn
    root = row(s, solutions.root, part(s, found, "root"), facts, [equation, *fn.settings(s)], "root")
    return construct(s, Root, [root, *parts(s, found, "converged flag iterations function_calls")], {})


@handles(optimize.fixed_point)
def fixed_point(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``fixed_point(func, x0, args)``."""
    named = bound("func x0 args xtol maxiter method", args, kwargs)
    named["x0"] = array_of_list(s, named["x0"])
    facts, single = solution_facts(s, named["x0"])
    fn = given(s, named["func"], [facts], named.get("args"))
    expr = call_of(s, optimize, "fixed_point", [named["x0"]], without(named, "func x0 args"), fn)
    equation = derived(solutions.fixed_equation, fn.fn)
    expr = ir.subscript(expr, ir.tuple_([])) if single else expr  # SciPy returns an array without axes
    return row(s, solutions.root, expr, facts, [equation, *fn.settings(s)], "fixed")


def derivatives_of(
    s: Specialiser, named: dict[str, Value], names: str, first: list[Any], args: Value | None
) -> dict[str, Any]:
    """The expressions of functions that are derivatives, which SciPy calls as it does the function."""
    given_ = {n: named[n] for n in names.split() if named.get(n, Const(None)) not in OFF}
    return {n: beside(s, fn, first, len(items_of(s, args))) for n, fn in given_.items()}


def valued(named: dict[str, Value], name: str, names: str) -> tuple[bool, str]:
    """True if a function returns its derivative beside its value, and the names of those that are other functions."""
    together = named.get(name) == Const(True)
    return together, " ".join(n for n in names.split() if n != name or not together)


def part(s: Specialiser, found: Leaf, name: str) -> Any:
    return ir.attribute(s.expr(found), name)


def parts(s: Specialiser, found: Leaf, names: str) -> list[Value]:
    """Other attributes of what a solver returns, which have no derivative."""
    return [s.let(part(s, found, name), Opaque(), hint=name, may_raise=False) for name in names.split()]


# Vectors


def solution_facts(s: Specialiser, x0: Value) -> tuple[Any, bool]:
    """The facts of the argument of a solver's function, and whether that is a number."""
    facts = s.num(x0)
    refuse_complex(s, x0, "a solver of scipy.optimize")
    if facts is None or facts.dims is None or len(facts.dims) > 1:
        raise s.refuse(
            "setting", "the first guess of this solver is no number and no vector", "give it an array of one axis"
        )
    return (NUMPYS_NUMBER, True) if facts.dims == () else (vector_like(s, facts.dims[0]), False)


def vector_guess(s: Specialiser, value: Value) -> tuple[Value, Num]:
    """The first guess of a solver as an array, and the facts of the solution."""
    value = array_of_list(s, value)
    facts, single = solution_facts(s, value)
    return value, vector_like(s, 1) if single else facts


@handles(optimize.fsolve)
def fsolve(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``fsolve(func, x0, args)``."""
    named = bound("func x0 args fprime full_output col_deriv xtol maxfev band epsfcn factor diag", args, kwargs)
    refuse_unless_off(s, "fsolve", named, "col_deriv")
    named["x0"], facts = vector_guess(s, named["x0"])
    fn = given(s, named["func"], [facts], named.get("args"))
    others = derivatives_of(s, named, "fprime", [facts], named.get("args"))
    expr = call_of(s, optimize, "fsolve", [named["x0"]], without(named, "func x0 args fprime"), fn, **others)
    equation = [derived(solutions.vector_of, fn.fn), *fn.settings(s)]
    if named.get("full_output", Const(False)) in OFF:
        return row(s, solutions.root, expr, facts, equation, "root")
    found = s.let(expr, Opaque(), hint="found")
    reports = [s.let(item(s, found, k), Opaque(), hint="report", may_raise=False) for k in (1, 2, 3)]
    return TupleV((row(s, solutions.root, item(s, found, 0), facts, equation, "root"), *reports))


def iterated(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``broyden1(F, xin)`` and its like."""
    named = bound("F xin", args, kwargs)
    refuse_unless_off(s, name, named, "callback")
    guess, facts = vector_guess(s, named["xin"])
    fn = given(s, named["F"], [facts], None)
    solver = s.expr(fn.fn)
    if fn.arguments:
        solver = ir.call(s.bind(closed.__name__, closed), solver, ir.constant(0), *map(s.expr, fn.arguments))
    rest = {k: s.expr(v) for k, v in without(named, "F xin").items()}
    expr = ir.call(ir.attribute(s.bind("optimize", optimize), name), solver, s.expr(guess), **rest)
    return row(s, solutions.root, expr, facts, [derived(solutions.vector_of, fn.fn), *fn.settings(s)], "root")


for _name in (
    "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "newton_krylov",
):  # fmt: skip
    handles(getattr(optimize, _name))(partial(iterated, _name))


@handles(optimize.root)
def root(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``root(fun, x0, args, method, jac)``, of which ``x`` has a derivative."""
    named = bound("fun x0 args method jac tol callback options", args, kwargs)
    named["x0"], facts = vector_guess(s, named["x0"])
    refuse_unless_off(s, "root", named, "callback")
    fn = given(s, named["fun"], [facts], named.get("args"))
    together, names = valued(named, "jac", "jac")
    others = derivatives_of(s, named, names, [facts], named.get("args"))
    expr = call_of(s, optimize, "root", [named["x0"]], without(named, f"fun x0 args {names}"), fn, **others)
    found = s.let(expr, Opaque(), hint="found")
    equation = derived(solutions.value_first if together else solutions.vector_of, fn.fn)
    x = row(s, solutions.root, part(s, found, "x"), facts, [equation, *fn.settings(s)], "x")
    given_ = [found, equation, TupleV(tuple(fn.arguments)), x]
    return construct(s, Solution, [*given_, *parts(s, found, "success status message nfev")], {})


# Minima


@handles(optimize.minimize)
def minimize(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``minimize(fun, x0, args)``: the point and the value of the minimum."""
    named = bound("fun x0 args method jac hess hessp bounds constraints tol callback options", args, kwargs)
    named["x0"], facts = vector_guess(s, named["x0"])
    refuse_unless_off(s, "minimize", named, "callback")
    constraints = constraints_of(s, named.pop("constraints", Const(())), facts)
    fn = given(s, named["fun"], [facts], named.get("args"))
    together, names = valued(named, "jac", "jac hess hessp")
    by_name = isinstance(named.get("jac"), Const) and isinstance(getattr(named["jac"], "value", None), str)
    names = names.replace("jac ", "") if by_name else names
    others = derivatives_of(s, named, names, [facts], named.get("args"))
    settings = without(named, f"fun x0 args {names}")
    if constraints:
        others["constraints"] = ir.tuple_([c.expr for c in constraints])
    found = s.let(call_of(s, optimize, "minimize", [named["x0"]], settings, fn, **others), Opaque(), hint="found")
    fn = Given(derived(solutions.value_first, fn.fn), fn.arguments) if together else fn
    bounds = bounds_of(s, solvers.limits_of_pairs, named, part(s, found, "x"), facts)
    return minimum(s, fn, found, facts, bounds, constraints)


def bounds_of(s: Specialiser, limits: Any, named: dict[str, Value], found: Any, facts: Num) -> list[Value]:
    """The lower and the upper bounds of a solution as arrays, where there are some."""
    bounds = named.get("bounds", Const(None))
    if bounds == Const(None):
        return []
    if limits is solvers.limits_of_pairs and is_sequence(bounds):
        pairs = [[get_item(s, pair, Const(k)) for k in (0, 1)] for pair in operations.items_of(s, bounds, None)]
        lows = tuple(Const(-np.inf) if low == Const(None) else low for low, _ in pairs)
        highs = tuple(Const(np.inf) if high == Const(None) else high for _, high in pairs)
        return [array_of_list(s, ListV(ends, s.site())) for ends in (lows, highs)]
    expr = ir.call(s.bind(limits.__name__, limits), s.expr(bounds), found)
    op = ir.Op(limits, {"bounds": bounds})
    return list(s.let_several(expr, [replace(facts), replace(facts)], op, "bounds"))


def minimal(fn: Given, bounds: list[Value]) -> Given:
    """The equation that holds at a minimum, which may lie between bounds."""
    text = solutions.stationary_within if bounds else solutions.stationary
    return Given(derived(text, fn.fn), [*bounds, *fn.arguments])


def minimiser(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``fmin(func, x0, args)`` and its like, which return the point of the minimum, or several results."""
    solver = getattr(optimize, name)
    first, *rest = inspect.signature(solver).parameters
    named = bound(" ".join(["fun", *rest]), args, {"fun" if k == first else k: v for k, v in kwargs.items()})
    refuse_unless_off(s, name, named, "retall callback fhess_p eqcons f_eqcons ieqcons f_ieqcons")
    named["x0"], facts = vector_guess(s, named["x0"])
    fn = given(s, named["fun"], [facts], named.get("args"))
    others = derivatives_of(s, named, "fprime fhess", [facts], named.get("args"))
    settings = without(named, "fun x0 args fprime fhess")
    found = s.let(call_of(s, optimize, name, [named["x0"]], settings, fn, **others), Opaque(), hint="found")
    if name in OF_PAIRS and not others and named.get("approx_grad", Const(False)) in OFF:
        fn = Given(derived(solutions.value_first, fn.fn), fn.arguments)
    several = name in OF_PAIRS or named.get("full_output", Const(False)) not in OFF
    results = [item(s, found, k) for k in range(MINIMISERS[name])] if several else [s.expr(found)]
    bounds = {"bounds": named["bounds"]} if named.get("bounds", Const(None)) not in OFF else {}
    equation = minimal(fn, bounds_of(s, solvers.limits_of_pairs, bounds, results[0], facts))
    x = row(s, solutions.root, results[0], facts, [equation.fn, *equation.settings(s)], "x")
    if not several:
        return x
    least = []
    if name != "fmin_tnc":
        values = [fn.fn, x, *fn.settings(s)]
        least = [row(s, solutions.least_value, results[1], NUMPYS_NUMBER, values, "fun")]
    reports = [s.let(expr, Opaque(), hint="report", may_raise=False) for expr in results[1 + len(least) :]]
    return TupleV((x, *least, *reports))


# Minimisers, with the number of results that they have at most
MINIMISERS = {
    "fmin": 5, "fmin_powell": 6, "fmin_bfgs": 7, "fmin_cg": 5, "fmin_ncg": 6, "fmin_slsqp": 5,
    "fmin_l_bfgs_b": 3, "fmin_tnc": 3,
}  # fmt: skip
OF_PAIRS = ("fmin_l_bfgs_b", "fmin_tnc")  # always return all, and take functions that return their derivative, too
for _name in MINIMISERS:
    handles(getattr(optimize, _name))(partial(minimiser, _name))


@handles(optimize.minimize_scalar)
def minimize_scalar(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``minimize_scalar(fun, bracket, bounds, args)``."""
    named = bound("fun bracket bounds args method tol options", args, kwargs)
    fn = given(s, named["fun"], [NUMPYS_NUMBER], named.get("args"))
    expr = call_of(s, optimize, "minimize_scalar", [], without(named, "fun args"), fn)
    found = s.let(expr, Opaque(), hint="found")
    if named.get("bounds", Const(None)) != Const(None):
        check = ir.call(s.bind(inside.__name__, inside), part(s, found, "x"), s.expr(named["bounds"]))
        s.block.append(ir.Effect(check, s.where()))
    return minimum(s, fn, found, NUMPYS_NUMBER, [])


def minimum(
    s: Specialiser, fn: Given, found: Leaf, facts: Num, bounds: list[Value], constraints: list[Constraint] | None = None
) -> Value:
    """The result of a solver that has found a minimum."""
    equation = minimal(fn, bounds)
    found_x = part(s, found, "x")
    found_x = ir.subscript(found_x, ir.tuple_([])) if facts.dims == () else found_x  # it may be an array without axes
    if constraints:
        x = constrained_minimum(s, fn, constraints, found, found_x, facts, bounds)
    else:
        x = row(s, solutions.root, found_x, facts, [equation.fn, *equation.settings(s)], "x")
    value = part(s, found, "fun")
    least = row(s, solutions.least_value, value, NUMPYS_NUMBER, [fn.fn, x, *fn.settings(s)], "fun")
    return construct(s, Minimum, [x, least, *parts(s, found, "success message nfev nit")], {})


@handles(optimize.least_squares)
def least_squares(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``least_squares(fun, x0)``, of which ``x`` has a derivative."""
    names = "fun x0 jac bounds method ftol xtol gtol x_scale loss f_scale diff_step tr_solver tr_options"
    named = bound(f"{names} jac_sparsity max_nfev verbose args kwargs callback workers", args, kwargs)
    named["x0"], facts = vector_guess(s, named["x0"])
    refuse_unless_off(s, "least_squares", named, "callback kwargs")
    loss, scale = named.get("loss", Const("linear")), named.get("f_scale", Const(1.0))
    if not isinstance(loss, Const) or loss.value not in LOSSES:
        raise s.refuse(
            "setting", "scipy.optimize.least_squares with this loss has no derivative", f"use one of {LOSSES}"
        )
    fn = given(s, named["fun"], [facts], named.get("args"))
    text = isinstance(named.get("jac"), Const) and isinstance(getattr(named["jac"], "value", None), str)
    others = {} if text else derivatives_of(s, named, "jac", [facts], named.get("args"))
    settings = without(named, "fun x0 args" if text else "fun x0 args jac")
    found = s.let(call_of(s, optimize, "least_squares", [named["x0"]], settings, fn, **others), Opaque(), hint="found")
    square = Given(derived(solutions.half_square, fn.fn, loss, scale), fn.arguments)
    equation = minimal(square, bounds_of(s, solvers.limits, named, part(s, found, "x"), facts))
    x = row(s, solutions.root, part(s, found, "x"), facts, [equation.fn, *equation.settings(s)], "x")
    values = [square.fn, x, *square.settings(s)]
    cost = row(s, solutions.least_value, part(s, found, "cost"), NUMPYS_NUMBER, values, "cost")
    given_ = [found, fn.fn, TupleV(tuple(fn.arguments)), x, cost]
    return construct(s, LeastSquares, [*given_, *parts(s, found, "success message nfev status")], {})


@handles(optimize.leastsq)
def leastsq(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``leastsq(func, x0, args)``: the point of the least squares, and SciPy's answer how it was found."""
    named = bound(" ".join(inspect.signature(optimize.leastsq).parameters), args, kwargs)
    refuse_unless_off(s, "leastsq", named, "full_output col_deriv")
    named["x0"], facts = vector_guess(s, named["x0"])
    fn = given(s, named["func"], [facts], named.get("args"))
    others = derivatives_of(s, named, "Dfun", [facts], named.get("args"))
    settings = without(named, "func x0 args Dfun")
    found = s.let(call_of(s, optimize, "leastsq", [named["x0"]], settings, fn, **others), Opaque(), hint="found")
    equation = minimal(Given(derived(solutions.half_square, fn.fn, Const("linear"), Const(1.0)), fn.arguments), [])
    point, answer = (ir.subscript(s.expr(found), ir.constant(k)) for k in (0, 1))
    x = row(s, solutions.root, point, facts, [equation.fn, *equation.settings(s)], "x")
    return TupleV((x, s.let(answer, Opaque(), hint="answer", may_raise=False)))


@handles(optimize.nnls)
def nnls(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``nnls(A, b)``: the solution, and the norm of what is left."""
    named = bound("A b maxiter atol", args, kwargs)
    found, a, b = linear_system(s, "nnls", named)
    x = linear_solution(s, item(s, found, 0), found, a, b, [Const(0.0), Const(np.inf)])
    return TupleV((x, by_text(s, solvers.distance, item(s, found, 1), [a, x, b])))


@handles(optimize.lsq_linear)
def lsq_linear(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``lsq_linear(A, b, bounds)``."""
    named = bound("A b bounds method tol lsq_solver lsmr_tol max_iter verbose lsmr_maxiter", args, kwargs)
    found, a, b = linear_system(s, "lsq_linear", named)
    limits = bounds_of(s, solvers.limits, named, part(s, found, "x"), vector_like(s))
    x = linear_solution(s, part(s, found, "x"), found, a, b, limits or [Const(-np.inf), Const(np.inf)])
    cost, fun = (by_text(s, text, part(s, found, text_name), [a, x, b]) for text, text_name in FITTED)
    return construct(s, Fitted, [x, cost, fun, *parts(s, found, "success message status nit")], {})


FITTED = ((solvers.half_squares, "cost"), (solvers.residual, "fun"))


def linear_system(s: Specialiser, name: str, named: dict[str, Value]) -> tuple[Leaf, Value, Value]:
    """The result of SciPy for a matrix and a right side, and both of these."""
    a, b = (array_of_list(s, named[k]) for k in ("A", "b"))
    rest = {k: s.expr(v) for k, v in without(named, "A b").items()}
    call = ir.call(ir.attribute(s.bind("optimize", optimize), name), s.expr(a), s.expr(b), **rest)
    return constant_result(s, call, [a, b], "found"), a, b


def linear_solution(s: Specialiser, expr: Any, found: Leaf, a: Value, b: Value, limits: list[Value]) -> Value:
    reference = s.let(expr, vector_like(s), ir.Op(without_derivative, {"value": found}), "reference")
    return by_text(s, solvers.between_bounds, expr, [reference, a, b, *limits])


def item(s: Specialiser, found: Leaf, k: int) -> Any:
    return ir.subscript(s.expr(found), ir.constant(k))


def minimiser_of_number(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``fminbound(func, x1, x2)``, ``brent(func)`` and ``golden(func)``."""
    named = bound(" ".join(inspect.signature(getattr(optimize, name)).parameters), args, kwargs)
    refuse_unless_off(s, name, named, "full_output")
    fn = given(s, named["func"], [NUMPYS_NUMBER], named.get("args"))
    expr = call_of(s, optimize, name, [], without(named, "func args"), fn)
    if name == "fminbound":
        expr = s.expr(s.let(expr, NUMPYS_NUMBER, ir.Op(without_derivative, {"value": fn.fn}), "found"))
        ends = ir.tuple_([s.expr(named["x1"]), s.expr(named["x2"])])
        s.block.append(ir.Effect(ir.call(s.bind(inside.__name__, inside), expr, ends), s.where()))
    equation = minimal(fn, [])
    return row(s, solutions.root, expr, NUMPYS_NUMBER, [equation.fn, *equation.settings(s)], "x")


for _name in ("fminbound", "brent", "golden"):
    handles(getattr(optimize, _name))(partial(minimiser_of_number, _name))


LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")


def at_solution(name: str, text: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The values of a solver's function at the solution: SciPy's numbers, with the derivatives of the function."""
    return by_text(s, text, part(s, args[0], name), args[1:])


handles(solvers.residuals)(partial(at_solution, "fun", solutions.vector_of))
handles(solvers.slopes)(partial(at_solution, "jac", solutions.slopes_at))


# Fits


@handles(optimize.curve_fit)
def curve_fit(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``curve_fit(f, xdata, ydata, p0, sigma)``: the parameters, and their covariance."""
    names = "f xdata ydata p0 sigma absolute_sigma check_finite bounds method jac full_output nan_policy"
    named = bound(names, args, kwargs)
    refuse_unless_off(s, "curve_fit", named, "full_output nan_policy")
    count = parameter_count(s, named["f"])
    for name in ("xdata", "ydata", "sigma"):
        if name in named:
            named[name] = array_of_list(s, named[name])
    first = [s.facts_of(named["xdata"]), *[NUMPYS_NUMBER] * count]
    inner = given(s, named["f"], first, None)
    model = s.expr(inner.fn)
    if inner.arguments or inner.fn != named["f"]:
        captured = (s.expr(a) for a in inner.arguments)
        model = ir.call(s.bind(solvers.model_of.__name__, solvers.model_of), model, ir.constant(count), *captured)
    rest = {k: s.expr(v) for k, v in without(named, "f xdata ydata").items()}
    callee = ir.attribute(s.bind("optimize", optimize), "curve_fit")
    call = ir.call(callee, model, s.expr(named["xdata"]), s.expr(named["ydata"]), **rest)
    found = s.let(call, Opaque(), hint="fitted")
    expr, spread = (ir.subscript(s.expr(found), ir.constant(k)) for k in (0, 1))
    data = [named["xdata"], named["ydata"], named.get("sigma", Const(None)), *inner.arguments]
    facts = vector_like(s, count)
    fn = Given(derived(solutions.misfit, inner.fn, Const(count)), data)
    equation = minimal(fn, bounds_of(s, solvers.limits, named, expr, facts))
    x = row(s, solutions.root, expr, facts, [equation.fn, *equation.settings(s)], "parameters")
    given_ = [inner.fn, Const(count), named.get("absolute_sigma", Const(False)), x, *data]
    return TupleV((x, by_text(s, solutions.covariance, spread, given_)))


@handles(solvers.model_of)
def model_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A model in the derivative of a program."""
    return PartialV(Const(solvers.called), (args[0], args[1], TupleV(tuple(args[2:]))), {})


def parameter_count(s: Specialiser, fn: Value) -> int:
    """The number of parameters of a model after its first."""
    if isinstance(fn, PartialV) and fn.function == Const(solvers.called):
        return int(s.static(fn.args[1]))
    if isinstance(fn, Closure):
        return len(fn.node.args.args) - 1
    if isinstance(fn, Const) and callable(fn.value):
        parameters = inspect.signature(fn.value).parameters.values()
        if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters):
            return len(parameters) - 1
    raise s.refuse("setting", "the parameters of this model cannot be counted", "write it as `def model(x, a, b)`")
