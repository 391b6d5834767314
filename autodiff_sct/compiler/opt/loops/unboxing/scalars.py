"""Functions of single numbers in loops are those of `math`: NumPy takes half a microsecond for one, `math` a tenth.

What loops compute with are Python's numbers, so they are from where they are taken out of arrays before the loops.

::

    for k in range(n):                              for k in range(n):
        x = x + h * np.sin(w * x)             ->        x = x + h * math.sin(w * x)

    mu = p[0]                                       mu = float(p[0])
    for k in range(n):                        ->    for k in range(n):
        s = s + (y_items[k] - mu) ** 2                  s = s + (y_items[k] - mu) ** 2

What `math` returns is a Python float, and so is what comes from it, which makes all arithmetic with it as fast.  Where
its type is seen, it is made a ``np.float64`` again outside loops; inside, the function stays NumPy's (`item_flow`
tells).  Where `math` and floats raise (a root of a number below zero, an overflow, a quotient by zero), the program is
run again as it was (see `unbox_arrays`).

The root is the same to the last bit.  The others may differ from NumPy's there, so they are replaced only in programs
that return nothing but gradients, and where nothing that is compared comes from them, which would decide a branch.
Elsewhere NumPy's number is made a Python float: ``float(np.sin(w * x))``.

Reductions of arrays as methods in loops: NumPy's functions only look the method up, which takes a microsecond.

::

    for i in range(len(x)):                        for i in range(len(x)):
        z = w @ x[i]                                   z = w @ x[i]
        z = z - np.max(z)                    ->        z = z - z.max()
        total = np.sum(np.exp(z), axis=0)              total = np.exp(z).sum(axis=0)

The method does what the function does, bit for bit.  What is no array, or may be of a class of its own, keeps the
function; and so does what runs once, which reads as the user wrote it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import gast
import numpy as np

from .....runtime import broadcast
from .... import ir
from ....analysis.liveness import REDUCTIONS
from ....analysis.subscript_uses import is_float_array, item_of, module_function
from ....domain.facts import Num
from ....ir.builder import Specialiser
from ....ir.patterns import numpy_name
from ....ir.traversal import change_own, with_operands
from ...rewrite.canonicalize import Spelling
from .kinds import NUMBERS, is_choice, is_numpy_number
from .representation import Flow, Flowing

Made = dict[int, Callable[[Any], Any]]  # expression, by its id -> what it becomes

FUNCTIONS = {f: f for f in "cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh".split()}
FUNCTIONS |= {"arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2"}
EXACT = ("sqrt",)


def scalar_math(s: Specialiser, program: ir.Block, alone: bool) -> bool:
    """Rewrite a program in place, and tell whether it has changed; `alone` if nothing but gradients leave it."""
    statements = ir.walk(program)
    in_loops = [x for stmt in statements if isinstance(stmt, ir.Loop) for x in ir.walk([*stmt.head, *stmt.body])]
    calls = {id(call): call for call in calls_in(statements) if of_math(s, call)}
    inside, taken = {id(call) for call in calls_in(in_loops)}, taken_before(s, statements, {id(x) for x in in_loops})
    calls |= taken
    if not calls:
        return False
    flow = Numbers(s, program, calls)
    while flow.refused:
        calls = {key: call for key, call in calls.items() if str(key) not in flow.refused}
        flow = Numbers(s, program, calls)
    calls = {k: call for k, call in calls.items() if str(k) in flow.met and (k in inside or str(k) in flow.looped)}
    free = calls.keys() - map(int, flow.deciding) if alone else set()
    same = {key for key, call in calls.items() if key not in taken and (key in free or of_math(s, call) in EXACT)}
    made: Made = dict.fromkeys(calls, as_float)
    made |= {key: partial(with_function, ir.attribute(s.bind("math", math), of_math(s, calls[key]))) for key in same}
    for _, expr, test in list(flow.restored):
        if not flow.sources_of(expr).isdisjoint(map(str, calls)):
            made[id(expr)] = partial(as_numpys, s, test, made.get(id(expr)))
    for stmt in statements if calls else ():
        change_own(stmt, lambda expr: remade(expr, made))
    return bool(calls)


def as_float(expr: Any) -> Any:
    return ir.call("float", expr)


def with_function(function: Any, call: Any) -> Any:
    return gast.Call(function, call.args, call.keywords)


def as_numpys(s: Specialiser, test: Any | None, first: Callable[[Any], Any] | None, expr: Any) -> Any:
    """A number as NumPy's, where a test holds."""
    expr = expr if first is None else first(expr)
    number = ir.call(ir.attribute(s.bind("numpy", np), "float64"), expr)
    return number if test is None else gast.IfExp(test, number, expr)


def taken_before(s: Specialiser, statements: list[Any], in_loops: set[int]) -> dict[int, Any]:
    """The expressions outside loops, by their ids, that are surely an item of an array of float64 or made of arrays."""
    found: dict[int, Any] = {}
    for stmt in statements:
        if id(stmt) in in_loops or isinstance(stmt, ir.Loop):
            continue
        items = (node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr) if is_float_item(s, node))
        found |= {id(node): node for node in items}
        if isinstance(stmt, ir.Let) and not stmt.effect and is_reduced(s, stmt):
            found[id(stmt.expr)] = stmt.expr
    return found


def is_float_item(s: Specialiser, expr: Any) -> bool:
    array = getattr(expr.value, "id", "") if isinstance(expr, gast.Subscript) else ""
    return is_float_array(s.facts.get(array)) and item_of(s, expr, (array,)) is not None


def is_reduced(s: Specialiser, stmt: ir.Let) -> bool:
    """True if a statement makes one of NumPy's numbers in another way than from single numbers."""
    if len(stmt.targets) != 1 or not is_numpy_number(s.facts.get(stmt.target)) or is_choice(stmt.expr):
        return False
    product = isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, gast.MatMult)
    return product or (isinstance(stmt.expr, gast.Call) and not of_math(s, stmt.expr))


def calls_in(statements: Iterable[Any]) -> list[Any]:
    """The calls in statements themselves."""
    parts = [node for stmt in statements for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
    return [node for node in parts if isinstance(node, gast.Call)]


def of_math(s: Specialiser, call: Any) -> str:
    """The name of the function of `math` for a call of NumPy's, if there is one."""
    return FUNCTIONS.get(module_function(s, call, np) or "", "")


def remade(expr: Any, made: Made) -> Any:
    """An expression of which some parts, told by their ids, are made in another way."""
    if not isinstance(expr, (gast.AST, list)) or not any(id(node) in made for node in ir.nodes_in(expr)):
        return expr
    if isinstance(expr, list):
        return [remade(item, made) for item in expr]
    parts = {key: remade(getattr(expr, key, None), made) for key in expr._fields}
    new = type(expr)(**parts)
    return made[id(expr)](new) if id(expr) in made else new


class Numbers(Flow):
    """The numbers from calls that may be of `math`, or from arrays; the arrays of `Flow` are here their ids."""

    def __init__(self, s: Specialiser, program: ir.Block, calls: dict[int, Any]) -> None:
        self.calls = calls
        self.met: set[str] = set()  # the calls of which the arguments are surely numbers
        self.deciding: set[str] = set()  # the calls from which comes what is compared
        self.looped: set[str] = set()  # those with which loops compute numbers
        self.loops = 0  # around the statement that is looked at
        super().__init__(s, program, {}, None)

    def sources_of(self, expr: Any) -> frozenset[str]:
        """The sources of an expression outside loops."""
        self.outside = None
        return self.flowing(expr)[1]

    def statement(self, stmt: Any) -> None:
        self.loops += isinstance(stmt, ir.Loop)
        super().statement(stmt)
        self.loops -= isinstance(stmt, ir.Loop)

    def flowing(self, expr: Any) -> Flowing:
        found = super().flowing(expr)
        if id(expr) in self.calls and not of_math(self.s, expr):
            self.met.add(str(id(expr)))
            return "float", frozenset([str(id(expr))])
        return found

    def binop(self, expr: Any) -> Flowing:
        kind, sources = super().binop(expr)
        if self.loops and kind in NUMBERS:
            self.looped |= sources
        return kind, sources

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
        """A zero like a number is one like any other."""
        callee, argument = getattr(expr.func, "id", ""), expr.args[0] if expr.args else None
        if callee in self.s.globals and self.s.globals[callee] is broadcast.zeros_like:
            kind, sources = self.expr(argument)
            if kind in NUMBERS:
                return kind, sources
        return super().call(expr)


def use_methods(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the loops of a block of the forward sweep, in place."""
    methods = Methods(s)
    for loop in [x for x in ir.walk(block) if isinstance(x, ir.Loop)]:
        for stmt in ir.walk(loop.body):
            if isinstance(stmt, (ir.Let, ir.Effect)) and any(isinstance(n, gast.Call) for n in ir.nodes_in(stmt.expr)):
                stmt.expr = methods.expr(stmt.expr)


class Methods:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Specialiser) -> None:
        self.s, self.spelling = s, Spelling(s)

    def expr(self, expr: Any) -> Any:
        new = with_operands(expr, self.expr)
        return self.method(new) if type(new) is gast.Call and new.args and numpy_name(new) in REDUCTIONS else new

    def method(self, call: Any) -> Any:
        first, rest = call.args[0], call.args[1:]
        if not self.spelling.rank(first) or not all(self.is_plain(n) for n in ir.variables_in(first)):
            return call
        return gast.Call(gast.Attribute(first, numpy_name(call), gast.Load()), rest, call.keywords)

    def is_plain(self, name: str) -> bool:
        facts = self.s.facts.get(name)
        return isinstance(facts, Num) and not facts.tensor
