"""``implicit_root``: solvers of the user's own."""

from __future__ import annotations

from ....api.implicit import ImplicitRoot, implicit_root, solution
from ....runtime.scipy.solvers import closed
from ... import ir
from ...domain.values import Const, Leaf, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from . import solutions
from .functions import derived, given, row
from .optimize import solution_facts


@handles(implicit_root)
def made(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``implicit_root(solve, residual)`` inside a program."""
    return construct(s, ImplicitRoot, args, kwargs)


@handles(ImplicitRoot.__call__)
def called(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a solver with a residual."""
    root, *rest = args
    if kwargs or not rest:
        raise s.refuse(
            "function-value", "a solver of implicit_root is called with keywords", "give its arguments by position"
        )
    solve, residual = (attribute_of(s, root, name) for name in ("solve", "residual"))
    return solved(s, [solve, Const(len(rest) - 1), residual, *rest], {})


@handles(solution)
def solved(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``solution(solve, count, residual, guess, *args)``, which is what the program calls."""
    solve, count, residual, guess, *arguments = args
    if not all(isinstance(a, (Leaf, Const)) for a in arguments):
        raise s.refuse(
            "function-value", "an argument of implicit_root is a container", "give its numbers and arrays one by one"
        )
    guess = array_of_list(s, guess)
    facts, single = solution_facts(s, guess)
    equation = given(s, residual, [facts], TupleV(tuple(arguments)))
    if not isinstance(solve, Const):
        own = given(s, solve, [facts], TupleV(tuple(arguments[: s.static(count)])))
        solver = ir.call(s.bind(closed.__name__, closed), s.expr(own.fn), s.expr(count))
        solver.args += [s.expr(captured) for captured in own.arguments[s.static(count) :]]
    else:
        solver = s.expr(solve)
    values = [s.expr(count), s.expr(equation.fn), s.expr(guess), *map(s.expr, equation.arguments)]
    expr = ir.call(s.bind(solution.__name__, solution), solver, *values)
    fn = equation.fn if single else derived(solutions.vector_of, equation.fn)
    return row(s, solutions.root, expr, facts, [fn, *equation.settings(s)], "root")
