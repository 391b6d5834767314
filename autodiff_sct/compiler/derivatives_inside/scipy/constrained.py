"""Minima under constraints: the conditions of Karush, Kuhn and Tucker, of which the active ones are equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from ....runtime.scipy.solvers import Linear, Nonlinear
from ... import ir
from ...domain.facts import Dim, Num
from ...domain.values import Bound, Const, Leaf, ListV, Obj, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel import operations
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, call_value, get_item
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from . import solutions
from .functions import OFF, Given, beside, derived, given, items_of, row, without_derivative


@dataclass
class Constraint:
    """A function that is 0 at the minimum, or not negative there."""

    equal: bool
    fn: Given
    expr: Any  # the constraint as SciPy takes it


def constraints_of(s: Specialiser, value: Value, facts: Num) -> list[Constraint]:
    """The constraints of ``minimize``: one dict, or several in a list or tuple."""
    if value in OFF:
        return []
    several = operations.items_of(s, value, None) if is_sequence(value) else [value]
    if not all(isinstance(item, Obj) and item.cls in (dict, Linear, Nonlinear) for item in several):
        raise s.refuse(
            "setting",
            "a constraint of scipy.optimize.minimize is made outside of the function",
            "write constraints={'type': 'eq', 'fun': g} inside the function",
        )
    return [constraint_of(s, item, facts) if item.cls is dict else between_two(s, item, facts) for item in several]


for _fn, _cls in ((optimize.LinearConstraint, Linear), (optimize.NonlinearConstraint, Nonlinear)):
    handles(_fn)(lambda s, args, kwargs, cls=_cls: construct(s, cls, args, kwargs))


def between_two(s: Specialiser, value: Obj, facts: Num) -> Constraint:
    """A constraint with a lower and an upper end."""
    low, high = (array_of_list(s, attribute_of(s, value, name)) for name in ("lb", "ub"))
    maker = ir.attribute(s.bind("optimize", optimize), f"{value.cls.__name__}Constraint")
    if value.cls is Linear:
        matrix = array_of_list(s, attribute_of(s, value, "A"))
        fn, first = Given(Const(solutions.linear), [matrix]), s.expr(matrix)
    else:
        fn = given(s, attribute_of(s, value, "fun"), [facts], None)
        first = beside(s, attribute_of(s, value, "fun"), [facts], 0)
    both = Given(derived(solutions.nearer_end, fn.fn), [low, high, *fn.arguments])
    return Constraint(False, both, ir.call(maker, first, s.expr(low), s.expr(high)))


def is_sequence(value: Value) -> bool:
    """True for a list or a tuple whose items are known while compiling."""
    return isinstance(value, (ListV, TupleV)) or isinstance(value, Obj) and value.cls is list


def constraint_of(s: Specialiser, value: Value, facts: Num) -> Constraint:
    args = call_value(s, Bound("get", value), [Const("args"), Const(())], {})
    fn = given(s, get_item(s, value, Const("fun")), [facts], args)
    kind = s.static(get_item(s, value, Const("type")))
    slope = call_value(s, Bound("get", value), [Const("jac"), Const(None)], {})
    fields = {"type": ir.constant(kind), "fun": s.expr(fn.fn), "args": fn.called_with(s)}
    if slope not in OFF and not (isinstance(slope, Const) and isinstance(slope.value, str)):
        fields["jac"] = beside(s, slope, [facts], len(items_of(s, args)))
    return Constraint(kind == "eq", fn, ir.call(s.bind("dict", dict), **fields))


def constrained_minimum(
    s: Specialiser, fn: Given, constraints: list[Constraint], solved: Leaf, found: Any, facts: Num, bounds: list[Value]
) -> Value:
    """The point of a minimum that is `found`, by the equation of the point and the multipliers together."""
    functions = [fn, *(c.fn for c in constraints)]
    counts = [len(f.arguments) for f in functions]
    ends = tuple((sum(counts[:k]), sum(counts[: k + 1])) for k in range(len(counts)))
    settings = [TupleV(tuple(c.fn.fn for c in constraints)), Const(ends)]
    arguments = [a for f in functions for a in f.arguments]
    x = s.let(found, facts, ir.Op(without_derivative, {"value": solved}), "minimum")
    equal = Const(tuple(c.equal for c in constraints))
    active = call_python(s, solutions.active_ones, [*settings, equal, x, *arguments], {})
    limits = bounds or [Const(-np.inf), Const(np.inf)]
    factors = call_python(s, solutions.multipliers, [fn.fn, *settings, x, active, *limits, *arguments], {})
    whole = ir.call(ir.attribute(s.bind("np", np), "concatenate"), ir.tuple_([found, s.expr(factors)]))
    equation = Given(derived(solutions.saddle, fn.fn, *settings), [active, *limits, *arguments])
    both = Num("array", np.dtype(np.float64), (Dim((s.new_symbol("axis"), 0)),))
    z = row(s, solutions.root, whole, both, [equation.fn, *equation.settings(s)], "saddle")
    return call_python(s, solutions.point_of, [z, factors], {})
