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

A Python float is not made one.

::

    d_k = d_k + float(d_t * saved_t.pop())        ->        d_k = d_k + d_t * saved_t.pop()

The derivative of a Python number is one, so where a number of NumPy's was added to it, that was made one; with lists
for arrays and with functions of `math` many of these are Python's already.  What is put into a list of Python's floats
is made one, as the array would hold it: one number of NumPy's makes all that is computed from it slow ones::

    x_items[0] = p[0]                             ->        x_items[0] = float(p[0])
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
from ....analysis.subscript_uses import is_float_array, is_integer, is_place, item_of, module_function
from ....domain.facts import FLOAT, Listed, Num
from ....ir.function import Function
from ....ir.patterns import is_pop_call, numpy_name
from ....ir.traversal import change_own, with_operands
from ...rewrite.canonicalize import Spelling
from .kinds import CHOICES, NUMBERS, is_choice, is_numpy_number, is_of_floats
from .representation import ARITHMETIC, INTEGERS, TESTS, Flow, Flowing

Made = dict[int, Callable[[Any], Any]]  # expression, by its id -> what it becomes

FUNCTIONS = {f: f for f in "cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh".split()}
FUNCTIONS |= {"arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2"}
EXACT = ("sqrt",)


def scalar_math(s: Function, program: ir.Block, alone: bool) -> bool:
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


def as_numpys(s: Function, test: Any | None, first: Callable[[Any], Any] | None, expr: Any) -> Any:
    """A number as NumPy's, where a test holds."""
    expr = expr if first is None else first(expr)
    number = ir.call(ir.attribute(s.bind("numpy", np), "float64"), expr)
    return number if test is None else gast.IfExp(test, number, expr)


def taken_before(s: Function, statements: list[Any], in_loops: set[int]) -> dict[int, Any]:
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


def is_float_item(s: Function, expr: Any) -> bool:
    array = getattr(expr.value, "id", "") if isinstance(expr, gast.Subscript) else ""
    return is_float_array(s.facts.get(array)) and item_of(s, expr, (array,)) is not None


def is_reduced(s: Function, stmt: ir.Let) -> bool:
    """True if a statement makes one of NumPy's numbers in another way than from single numbers."""
    if len(stmt.targets) != 1 or not is_numpy_number(s.facts.get(stmt.target)) or is_choice(stmt.expr):
        return False
    product = isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, gast.MatMult)
    return product or (isinstance(stmt.expr, gast.Call) and not of_math(s, stmt.expr))


def calls_in(statements: Iterable[Any]) -> list[Any]:
    """The calls in statements themselves."""
    parts = [node for stmt in statements for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
    return [node for node in parts if isinstance(node, gast.Call)]


def of_math(s: Function, call: Any) -> str:
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

    def __init__(self, s: Function, program: ir.Block, calls: dict[int, Any]) -> None:
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


def use_methods(s: Function, block: ir.Block) -> None:
    """Rewrite the loops of a block of the forward sweep, in place."""
    methods = Methods(s)
    for loop in [x for x in ir.walk(block) if isinstance(x, ir.Loop)]:
        for stmt in ir.walk(loop.body):
            if isinstance(stmt, (ir.Let, ir.Effect)) and any(isinstance(n, gast.Call) for n in ir.nodes_in(stmt.expr)):
                stmt.expr = methods.expr(stmt.expr)


class Methods:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Function) -> None:
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


def drop_casts(s: Function, program: ir.Block) -> None:
    """Rewrite a program in place."""
    if "float" in s.globals:
        return
    floats = Floats(s, program)
    if floats.mixed and make_floats(s, program, floats):
        floats = Floats(s, program)
    for stmt in ir.walk(program):
        if any(type(n) is gast.Call and (converts(n) or is_zero(s, n)) for n in parts(stmt)):
            change_own(stmt, floats.without_conversions)


def make_floats(s: Function, program: ir.Block, floats: Floats) -> bool:
    """Make floats of items of arrays, and of what is computed from them, where they are put into lists of floats."""
    items = {x.target for x in ir.walk(program) if isinstance(x, ir.Let) and is_array_item(s, x.expr)}
    mixed = [x for x in ir.walk(program) if isinstance(x, ir.Store) and not floats.fits(x) and is_place(s, x.index)]
    mixed = [
        x for x in mixed if any(is_array_item(s, n) or getattr(n, "id", "") in items for n in ir.nodes_in(x.value))
    ]
    for stmt in mixed:
        stmt.value = ir.call(ir.name("float"), stmt.value)
    return bool(mixed)


def is_array_item(s: Function, expr: Any) -> bool:
    """True if an expression is a number of NumPy's, read from an array."""
    facts = s.facts.get(getattr(expr.value, "id", "")) if isinstance(expr, gast.Subscript) else None
    return isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 1 and is_place(s, expr.slice)


def parts(stmt: Any) -> list[Any]:
    return [node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]


def converts(expr: Any) -> bool:
    """True if an expression is ``float(...)``."""
    return isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "float" and len(expr.args) == 1


class Floats:
    """The variables, and items of lists of saved values, that are surely Python floats."""

    def __init__(self, s: Function, program: ir.Block) -> None:
        self.s = s
        self.others: set[str] = set()  # those that are not
        self.mixed = False  # whether a number of NumPy's may be put into a list of floats
        statements = ir.walk(program)
        self.made = {n for stmt in statements for n in ir.ir_targets(stmt)}
        self.counts = {  # variable -> the comparisons of which it tells how many hold
            stmt.target: stmt.expr.args[0].elts
            for stmt in statements
            if isinstance(stmt, ir.Let) and "sum" not in s.globals and is_count(stmt.expr)
        }
        known = (-1, False)
        while known != (known := (len(self.others), self.mixed)):
            for stmt in statements:
                self.statement(stmt)
            statements = [x for x in statements if type(x) is not ir.Let or not self.others.issuperset(x.targets)]

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Let) and stmt.target in self.s.saved:
            return  # an empty list
        if isinstance(stmt, ir.Let):
            alone = stmt.expr if len(stmt.targets) == 1 or is_pop_call(stmt.expr) else None
            self.becomes(stmt.targets, [alone])
        elif isinstance(stmt, ir.If):
            for m in stmt.merges:
                self.becomes((m.target,), [n and ir.name(n) for n in (m.then, m.orelse)])
        elif isinstance(stmt, ir.Loop):
            self.others |= {*ir.ir_targets(stmt)} - {n for c in stmt.carries for n in (c.phi, c.out)}
            for c in stmt.carries:
                self.becomes((c.phi, c.out), [ir.name(n) for n in (c.init, c.next) if n])
        elif isinstance(stmt, ir.Effect) and stmt.kind == "save" and isinstance(stmt.expr, gast.Call):
            saved = stmt.expr.args[0] if stmt.expr.args else None
            items = saved.elts if isinstance(saved, gast.Tuple) else [saved]
            self.becomes((stmt.expr.func.value.id,), items)
        elif isinstance(stmt, ir.Store):
            self.mixed = self.mixed or not self.fits(stmt)
        else:
            self.others |= {*ir.ir_targets(stmt)}

    def fits(self, stmt: ir.Store) -> bool:
        """True if a list of floats, if it is one that is written, still is one."""
        if not is_of_floats(self.s, stmt.base):
            return True
        return self.is_float(stmt.value) or (stmt.aug is not None and self.is_whole(stmt.value))

    def becomes(self, targets: tuple[str, ...], sources: list[Any]) -> None:
        if not self.others.issuperset(targets) and not all(map(self.is_float, sources)):
            self.others |= {*targets}

    def is_float(self, expr: Any) -> bool:
        if isinstance(expr, gast.Name):
            plain = self.s.facts.get(expr.id) == FLOAT
            return plain or (expr.id in self.made and expr.id not in self.others)
        if isinstance(expr, gast.BinOp):
            return self.is_arithmetic(expr)
        if isinstance(expr, gast.UnaryOp):
            return isinstance(expr.op, gast.USub) and self.is_float(expr.operand)
        if isinstance(expr, gast.IfExp):
            return self.is_float(expr.body) and self.is_float(expr.orelse)
        if isinstance(expr, gast.Subscript):
            return self.is_item(expr)
        if isinstance(expr, gast.Call):
            return self.is_call(expr)
        return isinstance(expr, gast.Constant) and type(expr.value) is float

    def is_arithmetic(self, expr: Any) -> bool:
        sides = (expr.left, expr.right)
        if isinstance(expr.op, gast.Pow):
            return self.is_float(expr.left) and is_integer(self.s, expr.right)
        fits = isinstance(expr.op, ARITHMETIC) and any(map(self.is_float, sides))
        return fits and all(self.is_float(side) or self.is_whole(side) for side in sides)

    def is_whole(self, expr: Any) -> bool:
        """True if an expression is surely a Python integer, or truth value."""
        if isinstance(expr, gast.Constant):
            return type(expr.value) is int
        if isinstance(expr, gast.Compare):
            return all(self.is_float(side) or self.is_whole(side) for side in (expr.left, *expr.comparators))
        facts = self.s.facts.get(expr.id) if isinstance(expr, gast.Name) else None
        if isinstance(facts, Num) and facts.kind == "int":
            return True
        tests = self.counts.get(expr.id, ()) if isinstance(expr, gast.Name) else ()
        return bool(tests) and all(self.is_float(part) for test in tests for part in (test.left, *test.comparators))

    def is_item(self, expr: Any) -> bool:
        """True if an expression is an item of a list of floats."""
        if self.mixed or not is_place(self.s, expr.slice):
            return False
        if isinstance(expr.value, gast.Subscript) and isinstance(expr.value.value, gast.Name):  # of one of its rows
            rows = self.s.facts.get(expr.value.value.id)
            row = self.s.elements_of(rows) if isinstance(rows, Listed) and is_place(self.s, expr.value.slice) else None
            return isinstance(row, Listed) and self.s.elements_of(row) == FLOAT
        return isinstance(expr.value, gast.Name) and is_of_floats(self.s, expr.value.id)

    def is_call(self, expr: Any) -> bool:
        builtin = getattr(expr.func, "id", "")
        if is_pop_call(expr) and isinstance(expr.func.value, gast.Name):
            saved = expr.func.value.id
            return saved in self.s.saved and saved not in self.others and isinstance(self.s.facts.get(saved), Listed)
        if builtin in CHOICES and builtin not in self.s.globals:
            return bool(expr.args) and not expr.keywords and all(map(self.is_float, expr.args))
        function = module_function(self.s, expr, math)
        if is_zero(self.s, expr):
            return self.is_float(expr.args[0])
        return converts(expr) or (function is not None and function not in INTEGERS | TESTS)

    def without_conversions(self, expr: Any) -> Any:
        if isinstance(expr, list):
            return [self.without_conversions(item) for item in expr]
        if not isinstance(expr, gast.AST) or not any(converts(n) or is_zero(self.s, n) for n in ir.nodes(expr)):
            return expr
        if converts(expr) and self.is_float(expr.args[0]):
            return self.without_conversions(expr.args[0])
        if is_zero(self.s, expr) and self.is_float(expr.args[0]):
            return ir.constant(0.0)
        return type(expr)(**{key: self.without_conversions(getattr(expr, key, None)) for key in expr._fields})


def is_count(expr: Any) -> bool:
    """True if an expression is the number of comparisons that hold."""
    if not isinstance(expr, gast.Call) or getattr(expr.func, "id", "") != "sum" or len(expr.args) != 1:
        return False
    tests = expr.args[0]
    return isinstance(tests, gast.List) and all(isinstance(test, gast.Compare) for test in tests.elts)


def is_zero(s: Function, expr: Any) -> bool:
    """True if an expression is a zero of the kind of something."""
    function = getattr(expr.func, "id", "") if isinstance(expr, gast.Call) else ""
    return s.globals.get(function) is broadcast.zeros_like
