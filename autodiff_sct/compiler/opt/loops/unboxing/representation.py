"""Representations: places where Python floats may stand for NumPy's, followed from lists through a program.

A float is as good as a ``np.float64`` in sums, products, quotients, comparisons, ``abs``, ``min``, ``max`` and as an
argument of functions of NumPy and of `math`: the bits are the same. Where a quotient or a power fails for a float only,
it raises, and the program is run again with its arrays as they were (see `unbox_arrays`). Elsewhere (a result, a
remainder, a product with a float32 array) the type is seen: outside loops such a number is made a ``np.float64``
again, inside loops the arrays that it comes from stay arrays. Items of arrays of places are followed, too: they may
tell an index, with a number added, or the bounds of a loop, and be compared.
"""

from __future__ import annotations

import math
from typing import Any

import gast
import numpy as np

from .... import ir
from ....analysis.definite_assignment import NOTHING, Meetings, all_of, is_plain_arithmetic
from ....analysis.subscript_uses import (
    FLOAT64,
    is_float_array,
    is_place,
    is_place_array,
    item_of,
    leaves,
    module_function,
)
from ....domain.facts import Listed, Num
from ....ir.function import Function
from ....ir.patterns import is_pop_call
from .kinds import (
    CHOICES,
    NUMBERS,
    ONE_NUMBER,
    is_choice,
    is_empty,
    is_numpy_number,
    is_of_floats,
    joined,
    kind_of,
    union_of,
)

ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)
COMPARISONS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)
UFUNCS = frozenset(
    "absolute abs arccos arcsin arctan arctan2 cbrt ceil cos cosh exp exp2 expm1 floor hypot log log10 log1p log2 "
    "logaddexp maximum minimum sign sin sinh sqrt square tan tanh trunc".split()
)
REDUCTIONS = frozenset("dot max mean min prod std sum var vdot".split())
TESTS = frozenset("isfinite isinf isnan".split())
INTEGERS = frozenset("ceil comb factorial floor gcd isqrt lcm perm trunc".split())  # functions of `math`
FOLLOWED = (gast.Subscript, gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.IfExp, gast.Call)
CONVERSIONS = ("float", "int", "bool")
LOGICAL = (gast.BitAnd, gast.BitOr, gast.BitXor)
PLACES = frozenset(["place", "shifted"])  # an item of an array of places; with a number added, which may wrap around
Flowing = tuple[str | None, frozenset[str]]  # what it is (see `kind_of`), and the arrays that it comes from


class Flow:
    """The flow from the arrays of `lists`, each of which is a list in the statements whose ids are given.

    `refused` are the arrays that have to stay: those from which comes what somebody sees the type of.
    """

    def __init__(self, s: Function, program: ir.Block, lists: dict[str, set[int]], owner: Any) -> None:
        self.s, self.lists = s, lists
        self.here: set[str] = set()
        self.sources: dict[str, frozenset[str]] = {}
        self.refused: set[str] = set()
        self.meeting = Meetings(program)
        self.mixed: set[str] = set()  # variables that may be integers, whatever their facts
        self.unsure: set[str] = set()  # variables that may be Python's numbers, whatever their facts
        self.sure: set[str] = set()  # variables that are NumPy's numbers, whatever their facts
        # Statements, an expression that has to be a np.float64 there, and where that depends, a test.
        self.restored: list[tuple[Any, Any, Any | None]] = []
        outside = [stmt for stmt in program if isinstance(stmt, ir.Let) and owner is None]
        self.tops = {x.target: x for x in outside if len(x.targets) == 1 and not (x.effect or x.in_place)}
        self.outside: Any = None
        known, arrays = -1, {id(x): ir.reads(x) for x in program if isinstance(x, ir.Let) and self.is_of_arrays(x)}
        while known != (known := sum(map(len, (*self.sources.values(), self.mixed, self.unsure, self.sure)))):
            self.restored.clear()
            for stmt in program:
                if known and id(stmt) in arrays and not any(map(self.sources.get, arrays[id(stmt)])):
                    continue  # it says the same as before
                self.outside = stmt if type(stmt) in ir.SIMPLE and owner is None else None
                self.statement(stmt)
                if lists and self.refused.issuperset(lists):
                    return  # nothing is left to be told

    def is_of_arrays(self, stmt: ir.Let) -> bool:
        """True if a statement makes an array from arrays and constants."""
        names = (*stmt.targets, *ir.reads(stmt))
        return not self.lists and all(getattr(self.s.facts[n], "kind", None) == "array" for n in names)

    def flows(self, target: str, sources: frozenset[str]) -> None:
        if sources:
            self.sources[target] = self.sources.get(target, NOTHING) | sources

    # -- statements

    def statement(self, stmt: Any) -> None:
        outer, self.here = self.here, self.here | {n for n, span in self.lists.items() if id(stmt) in span}
        self.own(stmt)
        for block in ir.bodies(stmt):
            for inner in block:
                self.statement(inner)
        self.meetings(stmt)
        self.here = outer

    def own(self, stmt: Any) -> None:
        """The kind that a statement itself computes."""
        if isinstance(stmt, ir.Let):
            self.let(stmt)
        elif isinstance(stmt, ir.Store):
            self.store(stmt)
        elif (
            isinstance(stmt, ir.Effect) and stmt.kind == "save" and isinstance(stmt.expr, gast.Call) and stmt.expr.args
        ):
            self.save(stmt.expr.func.value.id, stmt.expr.args[0])
        elif isinstance(stmt, ir.If):
            self.expr(stmt.test)
        elif isinstance(stmt, ir.Loop):
            for test in (stmt.test, stmt.stop):
                if test is not None:
                    self.expr(test)
            for bound in stmt.bounds:
                self.index(bound)
        elif not ir.is_reading(stmt):
            for expr in ir.expressions(stmt):
                self.seen(expr)

    def meetings(self, stmt: Any) -> None:
        """The values that leave a branch or a loop under another name."""
        if isinstance(stmt, ir.If):
            pairs = [(m.target, name) for m in stmt.merges for name in (m.then, m.orelse)]
        elif isinstance(stmt, ir.Loop):
            pairs = [(c.phi, name) for c in stmt.carries for name in (c.init, c.next)]
            pairs += [(c.out, c.phi) for c in stmt.carries]
        else:
            return
        for target, name in pairs:
            if name is not None:
                self.passes(name, target)

    def let(self, stmt: ir.Let) -> None:
        if len(stmt.targets) == 1:
            self.becomes(stmt.target, stmt.expr)
        elif is_pop_call(stmt.expr) and (saved := getattr(stmt.expr.func.value, "id", "")) in self.s.saved:
            for place, target in enumerate(stmt.targets):
                self.passes(saved, target)
                if self.is_open(target) and target in self.meeting.followed:
                    items = [item.elts[place] for item in self.meeting.saves[saved]]
                    self.mixed |= {target} if any(self.expr(item)[0] != "float" for item in items) else NOTHING
        else:
            self.seen(stmt.expr)

    def save(self, saved: str, expr: Any) -> None:
        """A list of saved values gets a number, or a tuple of some, of which an integer stays one."""
        for item in expr.elts if isinstance(expr, gast.Tuple) else [expr]:
            if self.is_open(saved) or not (isinstance(item, gast.Name) and self.expr(item)[0] == "int"):
                self.becomes(saved, item)

    def passes(self, name: str, target: str) -> None:
        """Note that a variable comes from another that is its value, or one of its values."""
        self.flows(target, self.sources.get(name, NOTHING))
        for known in (self.mixed, self.unsure):
            known |= {target} if name in known else set()
        if self.is_open(target) and name not in self.s.saved and self.kind_of_name(name) != "float":
            self.mixed.add(target)

    def becomes(self, target: str, expr: Any) -> None:
        """A variable is an expression, or a list of saved values gets it."""
        kind, sources = self.flowing(expr)
        if kind == "shifted":
            self.demand(expr, sources)
        self.flows(target, sources)
        unsure = kind != "float" and self.is_open(target) and not isinstance(expr, gast.List)
        if kind in ("int", "mixed") or unsure:
            self.mixed.add(target)
        if self.was_numpy(expr):
            self.sure |= {target} - self.s.saved
        elif isinstance(expr, (gast.Name, gast.IfExp, gast.BoolOp, gast.BinOp, gast.UnaryOp)) or is_choice(expr):
            self.unsure.add(target)

    def store(self, stmt: ir.Store) -> None:
        kind, sources = self.expr(stmt.value)
        operator = stmt.aug is None or issubclass(stmt.aug, ARITHMETIC)
        if stmt.base in self.here:
            if kind not in ONE_NUMBER or not operator:  # an array takes more than a list of floats may hold
                self.refuse(sources | {stmt.base})
        elif sources and not (operator and (is_float_array(self.s.facts.get(stmt.base)) or self.takes(stmt, kind))):
            self.demand(stmt.value, sources)
        self.index(stmt.index)

    def takes(self, stmt: ir.Store, kind: str | None) -> bool:
        """True if a statement puts a float into a list that holds nothing else."""
        return kind == "float" and is_of_floats(self.s, stmt.base)

    # -- expressions

    def seen(self, expr: Any) -> None:
        """An expression whose types somebody may see."""
        if isinstance(expr, (gast.Tuple, gast.List)):
            for item in expr.elts:
                self.seen(item)
            return
        _, sources = self.expr(expr)
        if sources:
            self.demand(expr, sources)

    def index(self, expr: Any) -> None:
        """An expression that tells a place, as a number of Python's and one of NumPy's do."""
        if isinstance(expr, gast.Tuple):
            for item in expr.elts:
                self.index(item)
            return
        kind, sources = self.flowing(expr)
        if sources and kind not in PLACES:
            self.demand(expr, sources)

    def demand(self, expr: Any, sources: frozenset[str]) -> None:
        """An expression has to be a ``np.float64``: outside loops it is made one where it surely was one."""
        if not self.restore(self.outside, expr):
            self.refuse(sources)

    def restore(self, where: Any, expr: Any) -> bool:
        """Make an expression of a statement outside loops a ``np.float64`` where it was one, if that can be told."""
        if where is None or isinstance(where, ir.Raise):
            return False
        tests = [] if self.was_numpy(expr) else self.meeting.tests(expr, self.was_numpy, self.was_python)
        if tests is None:
            return self.restore_operands(expr)
        test = all_of(tests) if tests else None
        if not any(expr is known for _, known, _ in self.restored):
            self.restored.append((where, expr, test))
        return True

    def restore_operands(self, expr: Any) -> bool:
        """The same of what a variable is computed from outside loops: with that it is what it was."""
        let = self.tops.get(getattr(expr, "id", ""))
        nodes = [] if let is None else list(ir.nodes_in(let.expr))
        if not all(map(is_plain_arithmetic, nodes)):
            return False
        names = [node for node in nodes if isinstance(node, gast.Name) and self.sources.get(node.id)]
        return bool(names) and all(self.restore(let, name) for name in names)

    def refuse(self, sources: frozenset[str]) -> None:
        self.refused |= sources

    def was_python(self, name: str) -> bool:
        """True if a variable surely is a number of Python's where its arrays are arrays."""
        facts = self.s.facts.get(name)
        return isinstance(facts, Num) and facts.python and not self.sources.get(name)

    def was_numpy(self, expr: Any) -> bool:
        """True if an expression is surely a ``np.float64`` where its arrays are arrays."""
        if isinstance(expr, gast.Name):
            if expr.id in self.sure:
                return True
            return is_numpy_number(self.s.facts.get(expr.id)) and expr.id not in self.unsure
        if isinstance(expr, gast.BinOp):
            return self.was_numpy(expr.left) or self.was_numpy(expr.right)
        if isinstance(expr, gast.UnaryOp):
            return self.was_numpy(expr.operand)
        if is_choice(expr):
            return all(self.was_numpy(part) for part in expr.args)
        if module_function(self.s, expr, np) in UFUNCS or self.is_float64(expr):
            return True
        if is_pop_call(expr) and isinstance(expr.func.value, gast.Name):
            facts = self.s.facts.get(expr.func.value.id)
            known = isinstance(facts, Listed) and is_numpy_number(self.s.elements_of(facts))
            return known and expr.func.value.id not in self.unsure
        array = getattr(getattr(expr, "value", None), "id", "")
        return is_float_array(self.s.facts.get(array)) and item_of(self.s, expr, (array,)) is not None

    def expr(self, expr: Any) -> Flowing:
        """The kind of an expression where it does not tell a place."""
        return self.number(expr, self.flowing(expr))

    def number(self, expr: Any, found: Flowing) -> Flowing:
        """The number that was found of an expression; an item of an array of places has to be NumPy's number."""
        if found[0] not in PLACES:
            return found
        self.demand(expr, found[1])
        return "int", NOTHING

    def flowing(self, expr: Any) -> Flowing:
        if isinstance(expr, gast.Constant):
            return {float: "float", int: "int", bool: "bool"}.get(type(expr.value)), NOTHING
        if isinstance(expr, gast.Name):
            return self.kind_of_name(expr.id), self.sources.get(expr.id, NOTHING)
        if isinstance(expr, FOLLOWED):
            found: Flowing = getattr(self, type(expr).__name__.lower())(expr)
            return found
        return self.other(expr)

    def kind_of_name(self, name: str) -> str | None:
        """The kind of a variable; where facts leave open which number, a float unless something else has come to it."""
        kind = kind_of(self.s.facts.get(name))
        if self.is_open(name) and name in self.meeting.followed:
            kind = "float"
        return "mixed" if kind == "float" and name in self.mixed else self.place_or(kind, name)

    def place_or(self, kind: str | None, name: str) -> str | None:
        """An integer, or one that comes from an array of places."""
        sources = self.sources.get(name, NOTHING)
        return "place" if kind == "int" and any(is_place_array(self.s.facts.get(a)) for a in sources) else kind

    def is_open(self, name: str) -> bool:
        """True if facts leave open which number a variable is, or the items of a list of saved values are."""
        facts = self.s.facts.get(name)
        if name in self.s.saved and isinstance(facts, Listed):
            facts = self.s.elements_of(facts)
        known = isinstance(facts, Num) and facts.dtype is not None
        return known and (facts.kind, facts.dims, facts.dtype) == (None, (), FLOAT64)  # type: ignore[union-attr]

    def other(self, expr: Any) -> Flowing:
        """An expression of which nothing is known but its parts."""
        for part in ir.children(expr):
            self.seen(part.value if isinstance(part, gast.keyword) else part)
        return None, NOTHING

    def subscript(self, expr: Any) -> Flowing:
        index = item_of(self.s, expr, self.here)
        if index is not None:
            for part in index:
                self.index(part)
            return self.item_kind(expr.value.id), frozenset([expr.value.id])
        kind, sources = self.expr(expr.value)
        if sources:
            self.demand(expr.value, sources)
        self.index(expr.slice)
        if kind == "grid" and isinstance(expr.value, gast.Call) and is_empty(expr.slice):
            return "float", NOTHING
        facts = self.s.facts.get(expr.value.id) if isinstance(expr.value, gast.Name) else None
        if facts is not None and is_of_floats(self.s, expr.value.id) and is_place(self.s, expr.slice):
            return "float", NOTHING
        if not is_float_array(facts):
            return None, NOTHING
        return ("float" if item_of(self.s, expr, (expr.value.id,)) else "grid"), NOTHING

    def item_kind(self, name: str) -> str:
        return "place" if is_place_array(self.s.facts.get(name)) else "float"

    def binop(self, expr: Any) -> Flowing:
        sides = (left, a), (right, b) = self.flowing(expr.left), self.flowing(expr.right)
        if PLACES & {left, right} and {left, right} <= PLACES | {"int"} and isinstance(expr.op, (gast.Add, gast.Sub)):
            return "shifted", a | b
        (left, a), (right, b) = self.number(expr.left, sides[0]), self.number(expr.right, sides[1])
        if isinstance(expr.op, ARITHMETIC):
            kind = joined(left, right, isinstance(expr.op, gast.Div))
        elif isinstance(expr.op, LOGICAL):
            kind = "bool" if left == right == "bool" else None
        else:
            fits = isinstance(expr.op, gast.Pow) and right == "int"
            kind = left if fits and left == "float" else None
        if kind is None:
            for side, sources in ((expr.left, a), (expr.right, b)):
                if sources:
                    self.demand(side, sources)
            return None, NOTHING
        return kind, a | b if kind != "grid" else NOTHING

    def unaryop(self, expr: Any) -> Flowing:
        kind, sources = self.expr(expr.operand)
        if isinstance(expr.op, gast.Not):
            return "bool", NOTHING
        if isinstance(expr.op, gast.USub) and kind in (*NUMBERS, "grid"):
            return kind, sources
        if sources:
            self.demand(expr.operand, sources)
        return None, NOTHING

    def compare(self, expr: Any) -> Flowing:
        found = [(part, *self.compared(part)) for part in (expr.left, *expr.comparators)]
        fits = all(isinstance(op, COMPARISONS) for op in expr.ops)
        fits = fits and all(kind in (*NUMBERS, "place") for _, kind, _ in found)
        if not fits:
            for part, _, sources in found:
                if sources:
                    self.demand(part, sources)
        return ("bool", NOTHING.union(*(sources for _, _, sources in found))) if fits else (None, NOTHING)

    def compared(self, expr: Any) -> Flowing:
        found = self.flowing(expr)
        return found if found[0] == "place" else self.number(expr, found)

    def is_restored(self, expr: Any) -> bool:
        """True if an expression is ``np.float64(x) if n > 0 else x``, which is what it was, whatever `x` is."""
        name = getattr(expr.orelse, "id", None)
        if name is None or not self.is_float64(expr.body) or getattr(expr.body.args[0], "id", "") != name:
            return False
        tests = self.meeting.tests(expr.orelse, self.was_numpy, self.was_python)
        return tests is not None and gast.dump(all_of(tests)) == gast.dump(expr.test)

    def is_float64(self, expr: Any) -> bool:
        return module_function(self.s, expr, np) == "float64" and len(expr.args) == 1

    def boolop(self, expr: Any) -> Flowing:
        return self.one_of(expr.values)

    def ifexp(self, expr: Any) -> Flowing:
        self.expr(expr.test)
        if self.is_restored(expr):
            return "float", NOTHING
        return self.one_of([expr.body, expr.orelse])

    def one_of(self, choices: list[Any]) -> Flowing:
        """The value is one of several."""
        found = [self.flowing(choice) for choice in choices]
        if {kind for kind, _ in found} != {"place"}:
            found = [self.number(choice, known) for choice, known in zip(choices, found)]
        kinds = {kind for kind, _ in found}
        return union_of(kinds), NOTHING.union(*(sources for _, sources in found))

    def call(self, expr: Any) -> Flowing:
        if is_pop_call(expr) and isinstance(expr.func.value, gast.Name):
            return self.popped(expr.func.value.id)
        plain = not expr.keywords and not any(isinstance(a, gast.Starred) for a in expr.args)
        builtin = getattr(expr.func, "id", "") if plain else ""
        if builtin in self.s.globals or ir.is_variable(builtin):
            return self.other(expr)
        if builtin == "len" and isinstance(expr.args[0], gast.Name):
            return "int", NOTHING
        if builtin in CHOICES:
            return self.chosen(expr)
        if builtin == "sum" and len(expr.args) == 1 and isinstance(expr.args[0], gast.List):
            return self.function(expr.args[0].elts, ("bool", "int"), "int") or self.other(expr)
        if builtin in CONVERSIONS:
            return self.function(expr.args, (*ONE_NUMBER, "place"), builtin) or self.other(expr)
        return (self.library(expr) if plain else None) or self.other(expr)

    def library(self, expr: Any) -> Flowing | None:
        """A call of a function of NumPy or of `math` that takes a float like a ``np.float64``."""
        name, of_math = module_function(self.s, expr, np), module_function(self.s, expr, math)
        if name in TESTS or of_math in TESTS:
            return self.function(expr.args, NUMBERS, "bool")
        if name in REDUCTIONS:
            return self.function(expr.args, ("grid",), "grid")
        if name == "array" and len(expr.args) == 1 and isinstance(expr.args[0], gast.List):
            return self.function(leaves(expr.args[0]), NUMBERS, "grid", "float")
        if name == "where" and len(expr.args) == 3:
            return self.function(expr.args, (*ONE_NUMBER, "grid"), "grid", "float")
        if name in UFUNCS:
            return self.function(expr.args, NUMBERS, "float", "float")
        if self.is_float64(expr):
            return self.function(expr.args, NUMBERS, "float")
        if of_math is not None:
            return self.function(expr.args, NUMBERS, "int" if of_math in INTEGERS else "float")
        return None

    def function(self, args: list[Any], allowed: tuple[str, ...], kind: str, needed: str = "") -> Flowing | None:
        """A call whose arguments are all of the kinds allowed, and one of the kind needed: its result."""
        kinds = {(self.flowing(arg) if "place" in allowed else self.expr(arg))[0] for arg in args}
        fits = kinds <= set(allowed) and (not needed or needed in kinds or kind in kinds)
        return (kind, NOTHING) if fits else None

    def popped(self, name: str) -> Flowing:
        facts = self.s.facts.get(name)
        if name not in self.s.saved or not isinstance(facts, Listed):
            return None, NOTHING
        kind = kind_of(self.s.elements_of(facts))
        if self.is_open(name) and name in self.meeting.saves:
            kind = "float"
        kind = "mixed" if kind == "float" and name in self.mixed else self.place_or(kind, name)
        return kind, self.sources.get(name, NOTHING)

    def chosen(self, expr: Any) -> Flowing:
        """``abs``, ``min`` or ``max`` of numbers."""
        found = [(part, *self.expr(part)) for part in expr.args]
        several = len(found) > 1 or expr.func.id == "abs"
        if several and all(kind in NUMBERS for _, kind, _ in found):
            return union_of({kind for _, kind, _ in found}), NOTHING.union(*(x for _, _, x in found))
        return self.other(expr)
