"""Signs and small powers of cotangents.

Propagation of signs: the negative of another cotangent is not made, but subtracted where it would be added.

::

    d_t = -d_y
    d_a = d_a + d_t * x        ->    d_a = d_a - d_y * x
    d_x = d_x + d_t * a              d_x = d_x - d_y * a

A sign passes through products, quotients and functions that are linear, and rounding does not know it, so the sums are
the same bit for bit.  One reader may keep the sign, which costs there what it has cost before.

Small powers of arrays are products of squares.

::

    h ** 3                    ->      h ** 2 * h
    h ** 6                    ->      (h ** 2 * h) ** 2
    h ** -4                   ->      1 / (h ** 2) ** 2

NumPy multiplies for squares only; other powers take 4 times as long, and of negative numbers 100 times.  The last
digits may be others, so that the forward sweep keeps its powers where the value is asked for or decides anything.
Arrays of a few numbers are left alone, for which every operation takes as long as a power.

In loops of the reverse sweep, the square of a number is a product where nothing is decided by it: Python takes three
times as long for a power.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.ownership import Memory, changed, is_new, is_number, with_own_memory
from ...domain.facts import Num
from ...ir.function import Function
from ...ir.patterns import is_call, is_negative, literal, negated, numpy_name, signed
from ...ir.traversal import change_own, replaced, with_operands
from .canonicalize import Spelling

LINEAR = frozenset(("vdot", "dot", "outer", "matmul", "sum", "roll", "squeeze", "expand_dims", "reshape", "transpose"))
COMPUTED = (gast.BinOp, gast.UnaryOp)
METHODS = frozenset(("sum", "reshape", "transpose", "swapaxes"))


def propagate_negations(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the blocks of the reverse sweep of a program, in place."""
    for stmt in ir.adjoint_walk(back):
        if isinstance(stmt, ir.Store) and stmt.aug is gast.Add and (positive := negated(stmt.value)) is not None:
            stmt.aug, stmt.value = gast.Sub, positive
        if isinstance(stmt, ir.Let) and is_negative(stmt.expr) and is_negative(stmt.expr.operand):
            stmt.expr = with_own_memory(s, stmt.target, stmt.expr, stmt.expr.operand.operand)
    every = [back, *(inner for stmt in ir.adjoint_walk(back) for inner in ir.adjoint_bodies(stmt))]
    negatives = [(block, stmt) for block in every for stmt in block if is_opposite(s, stmt)]
    if not negatives:
        return
    passed_on = {n for stmt in ir.walk(back) if type(stmt) not in ir.SIMPLE for n in ir.uses(stmt)}
    signs = Signs(s, front, back)
    rest = [(block, stmt) for block, stmt in negatives if stmt.target not in passed_on]
    dropped = True
    while dropped:  # what is dropped may have been in the way of another, or its reader a negative that is none now
        left = [(block, stmt) for block, stmt in rest if is_opposite(s, stmt) and not signs.drop(block, stmt)]
        dropped, rest = len(left) < len(rest), left


def is_opposite(s: Function, stmt: Any) -> bool:
    """True if a statement names the negative of a cotangent."""
    plain = isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not (stmt.effect or stmt.in_place)
    if not plain or not is_negative(stmt.expr) or not isinstance(stmt.expr.operand, gast.Name):
        return False
    return ir.is_variable(stmt.expr.operand.id) and s.is_cotangent(stmt.expr.operand.id)


class Signs:
    """Readers of negatives in one program."""

    def __init__(self, s: Function, front: ir.Block, back: ir.Block) -> None:
        self.s, self.front, self.back = s, front, back
        self.spelling = Spelling(s)
        self.readers: dict[str, set[Any]] = defaultdict(set)
        for stmt in ir.walk([*front, *back]):
            for name in ir.reads(stmt):
                self.readers[name].add(stmt)
        self.known: Memory | None = None

    @property
    def memory(self) -> Memory:
        if self.known is None:
            self.known = Memory(self.s, [*self.front, *self.back], self.back)
        return self.known

    def drop(self, block: ir.Block, stmt: ir.Let) -> bool:
        """Let the readers of a negative read what it is the negative of, if they are statements of its block."""
        name = stmt.target
        if not is_opposite(self.s, stmt):  # it has read another negative, which was dropped
            return False
        readers = [x for x in block if x in self.readers[name] and makes_new(self.s, x, name)]
        if not readers or len(readers) < len(self.readers[name]):
            return False
        start, end = block.index(stmt), block.index(readers[-1])
        if not self.may_read(block, start, end):
            return False
        found = [without_sign(self.s, reader, stmt) for reader in readers]
        signs = sum(kept for _, _, kept in found)
        if signs > 1 or all(kept for _, _, kept in found):
            return False
        for reader, (aug, value, _) in zip(readers, found):
            if isinstance(reader, ir.Store):
                reader.aug, reader.value = aug, self.spelling.value(value)
            else:
                reader.expr = self.spelling.value(value)
        block.remove(stmt)
        self.readers[stmt.expr.operand.id].update(readers)
        self.known = None
        return True

    def may_read(self, block: ir.Block, start: int, end: int) -> bool:
        """True if what a statement negates may be read up to a later place of its block, and is the same until then."""
        name = block[start].expr.operand.id
        between, hint = block[start + 1 : end], self.s.hints[name]
        alone = is_number(self.s.facts[name])
        if not any(name in ir.reads_inside(x) for x in block[end:]):  # its successor takes its name
            takers = between if alone else [*between, block[end]]
            if any(self.s.hints[n] == hint for x in takers for n in ir.ir_targets(x)):
                return False
        last = () if type(block[end]) in ir.SIMPLE else (block[end],)  # what it changes it has read before
        inside = [x for stmt in (*between, *last) for x in ir.inside(stmt)]
        return alone or not any(self.may_change(x, name) for x in inside)

    def may_change(self, stmt: Any, name: str) -> bool:
        """True if a statement may write into the memory of an array."""
        if isinstance(stmt, ir.Store):
            changed: list[str] = [stmt.base]
        elif isinstance(stmt, ir.Let) and not (stmt.effect or stmt.in_place):
            return False
        else:
            changed = [n for n in ir.reads(stmt) if ir.is_variable(n)] if type(stmt) in ir.SIMPLE else []
        return any(self.memory.may_share(n, name) for n in changed)


def makes_new(s: Function, stmt: Any, name: str) -> bool:
    """True if a statement makes something new of a variable, or adds it to an array: it holds none of its memory."""
    if isinstance(stmt, ir.Store):
        return stmt.base != name and isinstance(s.facts[stmt.base], Num)
    if not isinstance(stmt, ir.Let) or stmt.effect or (stmt.in_place and name in ir.names_in(changed(stmt))):
        return False
    if is_number(s.facts[name]):
        return not isinstance(stmt.expr, gast.Name)
    return isinstance(stmt.expr, COMPUTED) or is_new(stmt.expr) or is_call(stmt.expr, "vdot")


def without_sign(s: Function, reader: Any, stmt: ir.Let) -> tuple[type | None, Any, int]:
    """The reader of a negative rewritten for the positive, and the number of signs that it keeps."""
    name, positive = stmt.target, stmt.expr.operand
    stored = isinstance(reader, ir.Store)
    aug, value = (reader.aug, reader.value) if stored else (None, reader.expr)
    keeps = replaced(value, {name: stmt.expr})
    if stored and name in ir.variables_in(reader.index):
        return aug, keeps, 2
    found = freed(s, value, name, positive)
    if found is not None and not stored and with_own_memory(s, reader.target, value, found[1]) is not found[1]:
        return aug, keeps, 2  # it would be a second name
    if found is not None and found[0] > 0:
        return aug, found[1], 0
    if found is not None and aug in (gast.Add, gast.Sub):
        return gast.Sub if aug is gast.Add else gast.Add, found[1], 0
    if found is not None and (rest := negated(found[1])) is not None:
        return aug, rest, 0
    if found is not None and not stored and is_number(s.facts[reader.target]):
        return aug, signed(found[1]), 1
    return aug, keeps, ir.variables_in(value).count(name)


def freed(s: Function, expr: Any, name: str, positive: Any) -> tuple[int, Any] | None:
    """The sign and the rest of an expression of the negative of something: one has no negatives of that any more."""
    if isinstance(expr, gast.Name) and expr.id == name:
        return -1, positive
    if name not in ir.names_in(expr):
        return 1, expr
    if is_negative(expr):
        found = freed(s, expr.operand, name, positive)
        return found and ((1, found[1]) if found[0] < 0 else (1, gast.UnaryOp(expr.op, found[1])))
    if isinstance(expr, gast.BinOp):
        left, right = freed(s, expr.left, name, positive), freed(s, expr.right, name, positive)
        return None if left is None or right is None else joined(expr.op, *left, *right)
    if isinstance(expr, gast.Call):
        return of_call(s, expr, name, positive)
    if isinstance(expr, gast.Subscript) and name not in ir.names_in(expr.slice):
        found = freed(s, expr.value, name, positive)
        return found and (found[0], ir.subscript(found[1], expr.slice))
    if isinstance(expr, gast.Attribute) and expr.attr == "T":
        found = freed(s, expr.value, name, positive)
        return found and (found[0], ir.attribute(found[1], "T"))
    return None


def joined(op: Any, one: int, left: Any, other: int, right: Any) -> tuple[int, Any] | None:
    """The sign and the rest of an operation on operands with signs."""
    if isinstance(op, (gast.Mult, gast.Div, gast.MatMult)):
        return one * other, gast.BinOp(left, op, right)
    if not isinstance(op, (gast.Add, gast.Sub)):
        return (1, gast.BinOp(left, op, right)) if one > 0 and other > 0 else None
    other = -other if isinstance(op, gast.Sub) else other
    if one > 0:
        return 1, ir.binop(left, gast.Add if other > 0 else gast.Sub, right)
    return (1, ir.binop(right, gast.Sub, left)) if other > 0 else (-1, ir.binop(left, gast.Add, right))


def of_call(s: Function, call: Any, name: str, positive: Any) -> tuple[int, Any] | None:
    """The sign and the rest of a call of a function that is linear in one of its operands."""
    if any(name in ir.names_in(keyword.value) for keyword in call.keywords):
        return None
    plain = isinstance(call.func, gast.Name) and call.func.id == "float" and len(call.args) == 1
    of_arrays = numpy_name(call) in LINEAR or (numpy_name(call) == "einsum" and len(call.args) == 3)
    if plain or of_arrays:
        places = [k for k, arg in enumerate(call.args) if name in ir.names_in(arg)]
        found = freed(s, call.args[places[0]], name, positive) if len(places) == 1 else None
        rest = [found[1] if found and k == places[0] else arg for k, arg in enumerate(call.args)]
        return found and (found[0], gast.Call(call.func, rest, call.keywords))
    if isinstance(call.func, gast.Attribute) and call.func.attr in METHODS and numpy_name(call) is None:
        found = None if any(name in ir.names_in(a) for a in call.args) else freed(s, call.func.value, name, positive)
        func = found and gast.Attribute(found[1], call.func.attr, gast.Load())
        return found and (found[0], gast.Call(func, call.args, call.keywords))
    return None


EXPONENTS = {*range(3, 13), *range(-12, -1)}


def reduce_powers(s: Function, statements: list[Any]) -> None:
    """Rewrite some statements of a program, in place."""
    for stmt in statements:
        if isinstance(stmt, ir.Let) and (stmt.effect or stmt.loud):
            continue
        if any(is_power(s, node) for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)):
            change_own(stmt, lambda expr: as_product(s, expr))


def reduce_squares(s: Function, back: ir.Block) -> None:
    """Write squares of numbers as products in the loops of the reverse sweep, in place, if that has no branches."""
    statements = ir.adjoint_walk(back)
    loops = [stmt for stmt in statements if isinstance(stmt, ir.Loop)]
    if any(map(decides, statements)) or any(loop.kind == "while" or loop.stop is not None for loop in loops):
        return
    for stmt in ir.adjoint_walk([stmt for loop in loops for stmt in loop.body]):
        if isinstance(stmt, (ir.Let, ir.Store)) and any(
            is_square_of_number(s, node) for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)
        ):
            change_own(stmt, lambda expr: with_products(s, expr))


def with_products(s: Function, expr: Any) -> Any:
    """An expression with products for such squares."""
    if is_square_of_number(s, expr):
        return ir.binop(expr.left, gast.Mult, expr.left)
    return with_operands(expr, lambda e: with_products(s, e))


def is_square_of_number(s: Function, expr: Any) -> bool:
    """True if an expression is the square of a variable that is a float."""
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, gast.Pow) or not isinstance(expr.left, gast.Name):
        return False
    facts = s.facts.get(expr.left.id)
    if literal(expr.right) != 2 or not isinstance(facts, Num) or facts.dims != () or facts.tensor:
        return False
    return facts.kind in ("float", "npscalar") and facts.dtype is not None and facts.dtype.kind == "f"


def decides(stmt: Any) -> bool:
    """True if a statement itself chooses between two sides."""
    if isinstance(stmt, ir.If):
        return True
    return any(isinstance(node, gast.IfExp) for expr in ir.expressions(stmt) for node in ir.nodes_in(expr))


def as_product(s: Function, expr: Any) -> Any:
    """An expression with products for such powers."""
    if not is_power(s, expr):
        return with_operands(expr, lambda e: as_product(s, e))
    exponent = int(literal(expr.right))
    whole = product(expr.left, abs(exponent))
    return whole if exponent > 0 else ir.binop(ir.constant(1), gast.Div, whole)


def product(base: Any, exponent: int) -> Any:
    """A natural power by squares."""
    if exponent == 1:
        return base
    square = ir.binop(product(base, exponent // 2), gast.Pow, ir.constant(2))
    return ir.binop(square, gast.Mult, base) if exponent % 2 else square


def is_power(s: Function, expr: Any) -> bool:
    """True if an expression is such a power of an array of floats."""
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, gast.Pow) or not isinstance(expr.left, gast.Name):
        return False
    exponent, facts = literal(expr.right), s.facts.get(expr.left.id)
    if type(exponent) not in (int, float) or exponent not in EXPONENTS or not isinstance(facts, Num):
        return False
    if facts.kind != "array" or not facts.dims or facts.dtype is None or facts.dtype.kind != "f" or facts.tensor:
        return False
    known = [n for n in facts.dims if isinstance(n, int)]
    return len(known) < len(facts.dims) or math.prod(known) > thresholds.NUMBERS_OF_A_POWER
