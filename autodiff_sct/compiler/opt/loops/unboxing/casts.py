"""A Python float is not made one.

::

    d_k = d_k + float(d_t * saved_t.pop())        ->        d_k = d_k + d_t * saved_t.pop()

The derivative of a Python number is one, so where a number of NumPy's was added to it, that was made one; with lists
for arrays and with functions of `math` many of these are Python's already.  What is put into a list of Python's floats
is made one, as the array would hold it: one number of NumPy's makes all that is computed from it slow ones::

    x_items[0] = p[0]                             ->        x_items[0] = float(p[0])
"""

from __future__ import annotations

import math
from typing import Any

import gast

from .....runtime import broadcast
from .... import ir
from ....analysis.subscript_uses import is_integer, is_place, module_function
from ....domain.facts import FLOAT, Listed, Num
from ....ir.builder import Specialiser
from ....ir.patterns import is_pop_call
from ....ir.traversal import change_own
from .kinds import CHOICES, is_of_floats
from .representation import ARITHMETIC, INTEGERS, TESTS


def drop_casts(s: Specialiser, program: ir.Block) -> None:
    """Rewrite a program in place."""
    if "float" in s.globals:
        return
    floats = Floats(s, program)
    if floats.mixed and make_floats(s, program, floats):
        floats = Floats(s, program)
    for stmt in ir.walk(program):
        if any(type(n) is gast.Call and (converts(n) or is_zero(s, n)) for n in parts(stmt)):
            change_own(stmt, floats.without_conversions)


def make_floats(s: Specialiser, program: ir.Block, floats: Floats) -> bool:
    """Make floats of items of arrays, and of what is computed from them, where they are put into lists of floats."""
    items = {x.target for x in ir.walk(program) if isinstance(x, ir.Let) and is_array_item(s, x.expr)}
    mixed = [x for x in ir.walk(program) if isinstance(x, ir.Store) and not floats.fits(x) and is_place(s, x.index)]
    mixed = [
        x for x in mixed if any(is_array_item(s, n) or getattr(n, "id", "") in items for n in ir.nodes_in(x.value))
    ]
    for stmt in mixed:
        stmt.value = ir.call(ir.name("float"), stmt.value)
    return bool(mixed)


def is_array_item(s: Specialiser, expr: Any) -> bool:
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

    def __init__(self, s: Specialiser, program: ir.Block) -> None:
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


def is_zero(s: Specialiser, expr: Any) -> bool:
    """True if an expression is a zero of the kind of something."""
    function = getattr(expr.func, "id", "") if isinstance(expr, gast.Call) else ""
    return s.globals.get(function) is broadcast.zeros_like
