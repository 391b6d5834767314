"""What is the same in every step of a loop is computed once, before it.

::

    for _ in range(steps):                       t = s[1:-1] ** 2
        v[1:-1] += k * s[1:-1] ** 2         ->   for _ in range(steps):
                                                     v[1:-1] += k * t

So for what surely raises nothing, since the loop may have no steps, or where a call that raises is run again as the
program was without this: then for quotients and powers of floats, and for items of arrays at literal places, too.  Not
for what stands in branches, nor for loops that are run in segments.  It is a function of floats and of arrays of
doubles that are made before the loop and that nothing in it writes to, it is only computed with, and it takes NumPy
longer than a name takes to read: of Python's floats, only several operations do.  Where the forward sweep has it
already, the reverse sweep reads that.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast
import numpy as np

from ... import ir
from ...ad.tape.rows import changed_by, memory
from ...analysis.alias import Regions, roots_of
from ...analysis.may_raise import path
from ...domain.facts import FLOAT, Num
from ...ir.builder import Specialiser
from ...ir.patterns import literal
from ...ir.rewrite import read_instead, with_operands
from ..rewrite.canonicalize import is_part
from ..rewrite.contractions import sliced

SUMS = (gast.Add, gast.Sub, gast.Mult)
MAKE_NEW = (np.vdot, np.dot, np.outer)  # beside operators and elementwise functions
WORTH, ON_ARRAYS, ON_SCALARS, ON_FLOATS = 80, 500, 80, 25  # nanoseconds of an operation
OF_MATH = (math.sqrt, math.exp, math.log, math.sin, math.cos, math.tan, math.tanh, math.sinh, math.cosh, math.log1p)
LITERAL = replace(FLOAT, kind="literal")  # a number of the program's text, which is as good as a float


def before_loops(s: Specialiser, front: ir.Block, back: ir.Block, again: bool) -> bool:
    """Move what the loops of both sweeps compute in every step alike before them, in place.

    `again` says that a call that raises may be run again; the result, whether one that raises has to be.
    """
    program = [*front, *back]
    inside = ir.walk(program)
    loops = [x for x in inside if isinstance(x, ir.Loop)]
    segments = any(x.every is not None or x.rerun is not None or x.again for x in loops)
    if not loops or segments or any(isinstance(x, ir.Let) and x.loud for x in inside):
        return False
    every = Invariants(s, program, again)
    for block in (front, back):
        every.block(block, every.there, True)
    return every.relies


class Invariants:
    """Looks for what the steps of loops have in common."""

    def __init__(self, s: Specialiser, program: ir.Block, again: bool) -> None:
        self.s, self.program, self.kinds = s, program, Kinds(s, again)
        self.safe, self.relies = Kinds(s, False), False  # whether what is moved may raise
        self.known: dict[str, str] = {}  # what lasts and is computed outside all loops
        self.made: dict[str, Any] = {}  # what is computed before loops
        self.defined, self.there = ir.defined(program), set[str]()

    @cached_property
    def where(self) -> Regions:
        """The memory of the program, and what of it is changed anywhere."""
        return memory(self.s, self.program)

    def block(self, block: ir.Block, there: set[str], outermost: bool) -> None:
        """Rewrite a block and those inside it; `there` are the variables that have a value by then."""
        for stmt in list(block):
            if isinstance(stmt, ir.Loop):
                place = block.index(stmt)
                before = Steps(self, stmt, there, self.known if outermost else {}).before()
                there.update(let.target for let in before)
                block[place:place] = before
            for inner in ir.bodies(stmt):
                self.block(inner, {*there, *ir.ir_targets(stmt)}, False)
            there.update([c.out for c in stmt.carries] if isinstance(stmt, ir.Loop) else ir.ir_targets(stmt))

    def lasts(self, expr: Any) -> bool:
        """Whether nothing in the whole program changes what an expression gives."""
        names = ir.variables_in(expr)
        return all(is_number(self.s.facts[n]) or not self.where.is_written(n) for n in names)


class Steps:
    """One loop, and what is computed before it; `known` tells what lasts and is there by then."""

    def __init__(self, every: Invariants, loop: ir.Loop, there: set[str], known: dict[str, str]) -> None:
        self.s, self.every, self.kinds, self.loop, self.there = every.s, every, every.kinds, loop, there
        self.inside = ir.walk([loop])
        self.known, self.here = known, dict[str, str]()
        self.moved: ir.Block = []
        self.moved_names: set[str] = set()
        self.renamed: dict[str, str] = {}

    @cached_property
    def where(self) -> Regions:
        """The memory of the program, and what of it the loop changes."""
        changed = {name for stmt in self.inside for name in changed_by(stmt)}
        where = self.every.where
        written = {where.find(root) for name in changed for root in roots_of(self.s.facts[name])}
        return Regions(where.parent, written, where.facts, where.elements)

    @cached_property
    def readers(self) -> dict[str, list[Any]]:
        """For each variable, the statements of the loop that read it or pass it on."""
        readers: dict[str, list[Any]] = {}
        for stmt in self.inside:
            for name in set(ir.uses(stmt)):
                readers.setdefault(name, []).append(stmt)
        return readers

    def before(self) -> ir.Block:
        for block in (self.loop.head, self.loop.body):
            self.block(block)
        for stmt in [*self.moved, *ir.walk([self.loop])] if self.renamed else ():
            read_instead(stmt, self.renamed)
        return self.moved

    def block(self, block: ir.Block) -> None:
        kept = []
        for stmt in block:
            if isinstance(stmt, ir.Let) and self.moves(stmt):
                self.move(stmt)
                continue
            kept.append(stmt)
            if isinstance(stmt, ir.Let) and not stmt.effect:
                stmt.expr = self.expr(stmt.expr, False)
            elif isinstance(stmt, ir.Store):
                stmt.value = self.expr(stmt.value, isinstance(self.s.facts[stmt.base], Num))
            elif isinstance(stmt, ir.Loop):
                self.block(stmt.head)
                self.block(stmt.body)
        block[:] = kept

    def moves(self, stmt: ir.Let) -> bool:
        """Whether a statement as a whole is the same in all steps, and what it gives is only computed with."""
        if len(stmt.targets) != 1 or stmt.effect or stmt.in_place or stmt.saves or stmt.placed or stmt.state_reads:
            return False
        if not self.is_same(stmt.expr) or self.kinds.cost(stmt.expr) < WORTH or not self.is_unchanged(stmt.target):
            return False
        if is_number(self.s.facts[stmt.target]):
            return True
        return all(self.computes_with(reader, stmt.target) for reader in self.readers.get(stmt.target, ()))

    def computes_with(self, stmt: Any, name: str) -> bool:
        """Whether a statement makes something new of a variable, and neither changes it nor hands it on."""
        if isinstance(stmt, ir.Let) and not stmt.effect:
            changed = stmt.in_place and getattr(stmt.expr.left, "id", None) == name
            return not changed and self.is_operand(stmt.expr, name, is_number(self.s.facts[stmt.target]))
        if isinstance(stmt, ir.Effect) and stmt.kind == "save":
            return self.every.lasts(ir.name(name))
        if not isinstance(stmt, ir.Store) or stmt.base == name or name in ir.variables_in(stmt.index):
            return False
        return self.is_operand(stmt.value, name, isinstance(self.s.facts[stmt.base], Num))

    def is_operand(self, expr: Any, name: str, new: bool) -> bool:
        """Whether a variable is only computed with in an expression; `new` if what that gives shares no memory."""
        if isinstance(expr, gast.Name):
            return new or expr.id != name
        new = new or self.makes_new(expr)
        if isinstance(expr, (gast.BinOp, gast.UnaryOp, gast.Call, gast.Subscript)):
            return all(self.is_operand(e, name, new) for e in ir.children(expr))
        return new or name not in ir.variables_in(expr)

    def makes_new(self, expr: Any) -> bool:
        if not isinstance(expr, gast.Call):
            return isinstance(expr, (gast.BinOp, gast.UnaryOp))
        callee = path(self.s, expr.func)
        return not expr.keywords and (isinstance(callee, np.ufunc) or callee in MAKE_NEW)

    def move(self, stmt: ir.Let) -> None:
        """Compute before the loop what a statement computes, if it is not there by then."""
        found = self.found(stmt.expr)
        if found is not None:
            self.renamed[stmt.target], self.every.made[stmt.target] = found, ir.name(found)
        else:
            stmt.origin = None
            self.moved.append(stmt)
            self.note(stmt.expr, stmt.target)
        self.moved_names.add(stmt.target)

    def is_same(self, expr: Any) -> bool:
        """Whether an expression surely works before the loop, and gives what it gives in each step."""
        names = ir.variables_in(expr)
        called = any(isinstance(node, gast.Call) for node in ir.nodes_in(expr))
        if not (names or called) or not all(map(self.is_there, names)):
            return False
        return self.kinds.of(expr) is not None and all(map(self.is_unchanged, names))

    def is_there(self, name: str) -> bool:
        """Whether a variable has a value before the loop."""
        made = name in self.moved_names or name in self.there or name not in self.every.defined
        return made and name not in self.s.unbound

    def is_unchanged(self, name: str) -> bool:
        facts = self.s.facts[name]
        return is_number(facts) or (bool(roots_of(facts)) and not self.where.is_written(name))

    def expr(self, expr: Any, new: bool) -> Any:
        """An expression with names for the largest parts that are the same in all steps.

        What is not `new` may be changed later: there is an array of its own for it in each step.
        """
        if new and isinstance(expr, (gast.BinOp, gast.UnaryOp, gast.Call)) and self.is_same(expr):
            return ir.name(self.named(expr)) if self.kinds.cost(expr) >= WORTH else expr
        new = new or self.makes_new(expr)
        return with_operands(expr, lambda e: self.expr(e, new))

    def named(self, expr: Any) -> str:
        if (found := self.found(expr)) is not None:
            return found
        facts = self.kinds.of(expr)
        assert facts is not None
        name = self.s.fresh("t", facts)
        if facts.dims:
            self.s.facts[name] = replace(facts, roots=frozenset([self.s.root(("before", name))]))
        self.moved.append(ir.Let((name,), expr))
        self.moved_names.add(name)
        self.note(expr, name)
        return name

    # -- what is there

    def found(self, expr: Any) -> str | None:
        key = self.key(expr)
        return self.known.get(key) or self.here.get(key)

    def note(self, expr: Any, name: str) -> None:
        self.every.relies = self.every.relies or self.every.safe.of(expr) is None
        (self.known if self.every.lasts(expr) else self.here)[self.key(expr)] = name
        self.every.made[name] = expr

    def key(self, expr: Any) -> str:
        """An expression, written with what is there without the loop."""
        names = self.every.made.keys() & set(ir.variables_in(expr))
        return self.key(ir.substitute(expr, {n: self.every.made[n] for n in names})) if names else str(gast.dump(expr))


class Kinds:
    """What expressions are that surely raise nothing: floats, NumPy's floats and arrays of doubles."""

    def __init__(self, s: Specialiser, again: bool) -> None:
        self.s, self.again = s, again  # whether what raises is run again

    def of(self, expr: Any) -> Num | None:
        """The facts of what an expression gives; None where it may raise, or is anything else."""
        if isinstance(expr, gast.Constant):
            small = type(expr.value) is float or (type(expr.value) is int and abs(expr.value) < 2**31)
            return LITERAL if small else None
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            return facts if isinstance(facts, Num) and is_of_doubles(facts) else None
        if isinstance(expr, gast.UnaryOp):
            return self.of(expr.operand) if isinstance(expr.op, gast.USub) else None
        if isinstance(expr, gast.BinOp):
            return self.of_operation(expr)
        if isinstance(expr, gast.Subscript):
            facts = self.of(expr.value)
            if self.again and facts is not None and len(facts.dims or ()) == 1 and type(literal(expr.slice)) is int:
                return Num("npscalar", np.dtype(float), ())
            dims = sliced(facts.dims, expr.slice) if facts is not None and facts.dims and is_part(expr.slice) else None
            return replace(facts, dims=dims) if facts is not None and dims else None
        return self.of_call(expr) if isinstance(expr, gast.Call) else None

    def of_call(self, expr: gast.Call) -> Num | None:
        """The facts of an elementwise function of one array or number, or of an identity matrix."""
        callee = path(self.s, expr.func)
        if len(expr.args) != 1 or expr.keywords:
            return None
        if callee is np.eye and type(literal(expr.args[0])) is int and literal(expr.args[0]) >= 0:
            return Num("array", np.dtype(float), (literal(expr.args[0]),) * 2)
        if self.again and callee in OF_MATH:
            facts = self.of(expr.args[0])
            return FLOAT if facts is not None and not facts.dims else None
        if not isinstance(callee, np.ufunc) or "d->d" not in callee.types:
            return None
        facts = self.of(expr.args[0])
        return facts if facts is None or facts.dims else Num("npscalar", np.dtype(float), ())

    def of_operation(self, expr: gast.BinOp) -> Num | None:
        """The facts of an operation whose operands have one shape, if not one of them is a number."""
        left, right = self.of(expr.left), self.of(expr.right)
        if left is None or right is None:
            return None
        if left.dims and right.dims and (left.dims != right.dims or None in left.dims):
            return None
        numpys = [f for f in (left, right) if f.kind in ("array", "npscalar")]
        wide = next((f for f in numpys if f.dims), numpys[0] if numpys else None)
        if isinstance(expr.op, SUMS):
            return wide or FLOAT
        if not isinstance(expr.op, (gast.Div, gast.Pow)):
            return None
        divided = isinstance(expr.op, gast.Div) and isinstance(expr.right, gast.Constant) and expr.right.value != 0
        if isinstance(expr.op, gast.Pow) and not (wide or type(literal(expr.right)) is int):
            return None  # the power of a negative float may be complex
        return wide or (FLOAT if divided or self.again else None)

    def cost(self, expr: Any) -> int:
        """How long an expression takes."""
        total = 0
        for node in ir.nodes_in(expr):
            if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Call)):
                facts = self.of(node)
                numpys = facts is not None and facts.kind == "npscalar"
                arrays = isinstance(node, gast.Call) or (facts is not None and bool(facts.dims))
                total += ON_ARRAYS if arrays else ON_SCALARS if numpys else ON_FLOATS
            elif isinstance(node, gast.Subscript):
                total += ON_SCALARS
        return total


def is_number(facts: Any) -> bool:
    """Whether something is one number, which nobody can change."""
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array" and facts.kind is not None


def is_of_doubles(facts: Num) -> bool:
    """Whether something is a float or an array of doubles."""
    if facts.dtype != np.float64 or facts.dims is None or facts.tensor or facts.whole:
        return False
    return facts.kind == "array" if facts.dims else facts.kind in ("float", "npscalar")
