"""Functions of single numbers in loops are those of `math`: NumPy takes half a microsecond for one, `math` a tenth.

::

    for k in range(n):                              for k in range(n):
        x = x + h * np.sin(w * x)             ->        x = x + h * math.sin(w * x)

What `math` returns is a Python float, and so is what comes from it, which makes all arithmetic with it as fast.  Where
its type is seen, the function stays NumPy's (`item_flow` tells).  Where `math` and floats raise (a root of a number
below zero, an overflow, a quotient by zero), the program is run again as it was (see `items`).

The root is the same to the last bit.  The others may differ from NumPy's there, so they are replaced only in programs
that return nothing but gradients, and where nothing that is compared comes from them, which would decide a branch.
Elsewhere NumPy's number is made a Python float: ``float(np.sin(w * x))``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from ...runtime import broadcast
from .. import ir
from ..specialise.state import Specialiser
from ..substitution import change_own
from .item_flow import NOTHING, NUMBERS, Flow, Flowing
from .item_uses import module_function

FUNCTIONS = {f: f for f in "cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh".split()}
FUNCTIONS |= {"arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2"}
EXACT = ("sqrt",)


def of_numbers(s: Specialiser, program: ir.Block, alone: bool) -> bool:
    """Rewrite a program in place, and tell whether it has changed; `alone` if nothing but gradients leave it."""
    in_loops = [x for stmt in ir.walk(program) if isinstance(stmt, ir.Loop) for x in ir.walk([*stmt.head, *stmt.body])]
    if not any(of_math(s, call) for call in calls_in(in_loops)):
        return False
    calls = {id(call): call for call in calls_in(ir.walk(program)) if of_math(s, call)}
    flow = Numbers(s, program, calls)
    while flow.refused:
        calls = {key: call for key, call in calls.items() if str(key) not in flow.refused}
        flow = Numbers(s, program, calls)
    met = {source for stmt in in_loops for name in ir.uses(stmt) for source in flow.sources.get(name, ())}
    met |= {str(id(call)) for call in calls_in(in_loops)}
    calls = {key: call for key, call in calls.items() if str(key) in met & flow.met}
    free = calls.keys() - map(int, flow.deciding) if alone else set()
    same = {key for key, call in calls.items() if key in free or of_math(s, call) in EXACT}
    functions = {k: ir.attribute(s.bind("math", math), of_math(s, calls[k])) if k in same else None for k in calls}
    for stmt in ir.walk(program) if functions else ():
        change_own(stmt, lambda expr: with_functions(expr, functions))
    return bool(functions)


def calls_in(statements: Iterable[Any]) -> list[Any]:
    """The calls in statements themselves."""
    parts = [node for stmt in statements for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
    return [node for node in parts if isinstance(node, gast.Call)]


def of_math(s: Specialiser, call: Any) -> str:
    """The name of the function of `math` for a call of NumPy's, if there is one."""
    return FUNCTIONS.get(module_function(s, call, np) or "", "")


def with_functions(expr: Any, functions: dict[int, Any]) -> Any:
    """An expression in which some calls, told by their ids, are of other functions, or their results made floats."""
    if not isinstance(expr, (gast.AST, list)) or not any(id(node) in functions for node in ir.nodes(expr)):
        return expr
    if isinstance(expr, list):
        return [with_functions(item, functions) for item in expr]
    parts = {key: with_functions(getattr(expr, key, None), functions) for key in expr._fields}
    if functions.get(id(expr)) is not None:
        parts["func"] = functions[id(expr)]
    new = type(expr)(**parts)
    return ir.call("float", new) if functions.get(id(expr), new) is None else new


class Numbers(Flow):
    """What comes from calls that may be of `math`; the arrays of `Flow` are here the ids of these calls."""

    def __init__(self, s: Specialiser, program: ir.Block, calls: dict[int, Any]) -> None:
        self.calls = calls
        self.met: set[str] = set()  # the calls of which the arguments are surely numbers
        self.deciding: set[str] = set()  # the calls from which comes what is compared
        super().__init__(s, program, {}, None)

    def demand(self, expr: Any, sources: frozenset[str]) -> None:
        self.refuse(sources)

    def library(self, expr: Any) -> Flowing | None:
        found, parts = super().library(expr), [self.expr(arg) for arg in expr.args]
        sources = frozenset().union(*(sources for _, sources in parts))
        if id(expr) in self.calls and all(kind in NUMBERS for kind, _ in parts):
            self.met.add(str(id(expr)))
            return "float", sources | {str(id(expr))}
        return None if found is None else (found[0], found[1] | sources)

    def compare(self, expr: Any) -> Flowing:
        kind, sources = super().compare(expr)
        self.deciding |= sources
        return kind, sources

    def own(self, stmt: Any) -> None:
        for test in (getattr(stmt, "test", None), getattr(stmt, "stop", None)):
            if test is not None:
                self.deciding |= self.expr(test)[1]
        super().own(stmt)

    def ifexp(self, expr: Any) -> Flowing:
        self.deciding |= self.expr(expr.test)[1]
        return super().ifexp(expr)

    def boolop(self, expr: Any) -> Flowing:
        kind, sources = super().boolop(expr)
        self.deciding |= sources
        return kind, sources

    def chosen(self, expr: Any) -> Flowing:
        kind, sources = super().chosen(expr)
        if expr.func.id != "abs":
            self.deciding |= sources
        return kind, sources

    def call(self, expr: Any) -> Flowing:
        """The length of a list of saved values shows none; a zero like a number is one like any other."""
        callee, argument = getattr(expr.func, "id", ""), expr.args[0] if expr.args else None
        if callee == "len" and callee not in self.s.globals and getattr(argument, "id", "") in self.s.saved:
            return "int", NOTHING
        if callee in self.s.globals and self.s.globals[callee] is broadcast.zeros_like:
            kind, sources = self.expr(argument)
            if kind in NUMBERS:
                return kind, sources
        return super().call(expr)
