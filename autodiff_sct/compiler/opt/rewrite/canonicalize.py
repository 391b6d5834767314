"""Expressions of the reverse sweep as they cost least: each pass over an array is one operation less.

=====================================  =================================
``d_x += -d_t``                        ``d_x -= d_t``
``np.sum(-d_z, axis=0)``               ``-np.sum(d_z, axis=0)``
``-d_t + d_z``                         ``d_z - d_t``
``-d_t * 0.5 * (2 * x)``               ``-d_t * x``
``d_t * -k``                           ``-d_t * k``
``d_out * 100.0 * (2 * x)``            ``200.0 * d_out * x``
``d_c / (2 * c) * (2 * b)``            ``d_c / c * b``
``2 * (d_c / (2 * c))[:, None]``       ``(d_c / c)[:, None]``
``d_t = d / (2 * t); d_t * (2 * x)``   ``d_t = d / t; d_t * x``
``np.sum(d_z, axis=0)``                ``d_z.sum(axis=0)``
``np.expand_dims(d_z, 1)``             ``d_z[:, None]``
``d_b[None] * x``                      ``d_b * x``
``np.squeeze(d_z, 1)``                 ``d_z[:, 0]``
``np.flip(d_v)`` of one axis           ``d_v[::-1]``
``np.transpose(np.reshape(d, s), p)``  ``d.reshape(s).transpose(p)``
``d_z = np.zeros_like(z)`` in a loop   ``d_z = np.zeros(z.shape)``
``(a.T @ d_z).T``                      ``d_z.T @ a``
``d_z.copy() * x``                     ``d_z * x``
``where(c, where(c, d, 0) / t, 0)``    ``where(c, d / t, 0)``
``d[None, :] += e.sum(axis=0,``        ``d += e.sum(axis=0)``
``keepdims=True)``
=====================================  =================================

A sum that keeps an axis which is then squeezed away does not keep it.
Numbers are multiplied before arrays, which rounds differently: only cotangents are rewritten, and no comparison, for
that may ask whether a value of the primal is met again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gast
import numpy as np

from ....runtime import scatter
from ... import ir
from ...analysis.ownership import with_own_memory
from ...domain.facts import Listed, Num
from ...ir.function import Function
from ...ir.patterns import (
    ELEMENTWISE,
    NAMES,
    SUMS,
    WIDE,
    compared,
    is_method,
    is_negative,
    is_pop_call,
    literal,
    negated,
    numpy_name,
    signed,
    signed_first,
    size,
)
from ...ir.traversal import with_operands
from .new_axes import axes_gone, broadcast, drop_leading_axes, new_axes, summed_axis, widened, without_kept_axis

METHODS = {"sum", "max", "min", "prod", "reshape", "transpose", "swapaxes"}
POSITIONAL = {"axes", "axis1", "axis2", "shape"}  # parameters that the methods do not take by name


def canonicalize(s: Function, block: ir.Block) -> None:
    """Rewrite what the statements of a block of the reverse sweep compute, in place."""
    spelling = Spelling(s)
    for loop in [stmt for stmt in block if isinstance(stmt, ir.Loop)]:
        make_zeros(s, loop.body)
    for stmt, part in cotangents(s, block):
        rewrite(s, stmt, part, spelling.value(getattr(stmt, part)))
        if part == "value" and isinstance(stmt.value, gast.Call) and numpy_name(stmt.value) == "full_like":
            fill(spelling, stmt)
        if part == "value" and stmt.aug is gast.Add and (positive := negated(stmt.value)) is not None:
            stmt.aug, stmt.value = gast.Sub, positive
        if part == "value" and stmt.aug in (gast.Add, gast.Sub):
            without_new_axis(spelling, stmt)
    drop_leading_axes(s, spelling.rank, block)
    cancel(s, block)


def cancel(s: Function, block: ir.Block) -> None:
    """Drop the literal that divides a cotangent where each of its readers multiplies by it, in place."""
    parts = {stmt: part for stmt, part in cotangents(s, block) if not getattr(stmt, "in_place", False)}
    divided: dict[str, Any] = {}
    for stmt, part in parts.items():
        above, below, rest = apart(getattr(stmt, part))
        if part == "expr" and below and not above and size(rest):
            divided[stmt.target] = stmt, below, rest
    readers: dict[str, list[Any]] = {name: [] for name in divided}
    for stmt in ir.walk(block) if divided else ():
        for name in readers.keys() & set(ir.uses(stmt)):
            readers[name].append(stmt)
    for name, (stmt, below, rest) in divided.items():
        values = {x: getattr(x, parts[x]) for x in readers[name] if x in parts and not is_written(x, name)}
        found = {x: undivided(value, name, below) for x, value in values.items()}
        if 0 < len(found) == len(readers[name]) and None not in found.values():
            stmt.expr = rest
            for reader, expr in found.items():
                setattr(reader, parts[reader], expr)


def is_written(stmt: Any, name: str) -> bool:
    """True if a statement writes into an array, whose readers do not read what it was made as."""
    return isinstance(stmt, ir.Store) and name in (stmt.base, *ir.variables_in(stmt.index))


def undivided(expr: Any, name: str, by: list[float]) -> Any | None:
    """An expression for a variable that some literals divide no longer; None unless they multiply all of its terms."""
    if name not in ir.variables_in(expr):
        return expr
    if is_negative(expr):
        inner = undivided(expr.operand, name, by)
        return None if inner is None else gast.UnaryOp(expr.op, inner)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, SUMS):
        left, right = undivided(expr.left, name, by), undivided(expr.right, name, by)
        return None if left is None or right is None else gast.BinOp(left, expr.op, right)
    above, below, rest = apart(expr)
    factors = [] if rest is None or below or above != by else ratio_of(rest)[1]
    alone = [getattr(factor, "id", None) for factor in factors].count(name) == 1
    return rest if alone and len(factors) > 1 and ir.variables_in(rest).count(name) == 1 else None


def without_new_axis(spelling: Spelling, stmt: ir.Store) -> None:
    """Add a sum that keeps its axis to a view with an axis for it: both do without."""
    places = new_axes(ir.subscript(ir.name(stmt.base), stmt.index)) or []
    factors = factors_of(stmt.value)[1]
    sums = [f for f in factors if not spelling.is_number(f)]
    if len(places) != 1 or len(sums) != 1 or not is_method(sums[0], "sum") or sums[0].args:
        return
    options = {keyword.arg: literal(keyword.value) for keyword in sums[0].keywords}
    rank = spelling.rank(ir.name(stmt.base))
    if options != {"axis": places[0], "keepdims": True} or spelling.rank(sums[0].func.value) != (rank or 0) + 1:
        return
    kept = [keyword for keyword in sums[0].keywords if keyword.arg == "axis"]
    short = gast.Call(sums[0].func, [], kept)
    stmt.index, stmt.value = ir.constant(...), multiplied([short if f is sums[0] else f for f in factors])


def fill(spelling: Spelling, stmt: ir.Store) -> None:
    """Assign or add a number to all of a part of an array, without an array of it."""
    number = stmt.value.args[1]
    if spelling.is_number(number) and isinstance(spelling.s.facts[stmt.base], Num):
        stmt.value = number


def cotangents(s: Function, block: ir.Block) -> Iterator[tuple[Any, str]]:
    """The statements of the reverse sweep that compute cotangents, and where the expression is."""
    for stmt in ir.adjoint_walk(block):
        if isinstance(stmt, ir.Store):
            yield stmt, "value"
        elif isinstance(stmt, ir.Let) and not stmt.effect and is_cotangent(s, stmt):
            yield stmt, "expr"


def rewrite(s: Function, stmt: Any, part: str, expr: Any) -> None:
    """Let a statement compute something in another form.

    A sum may be made in the memory of its left side only where the variable there has been its left side before:
    ``(a + b) + c`` is made in what ``a + b`` is, and ``a + (b + c)`` not in ``a``, which may be smaller.  What is read
    from a list is not that of a copy, which need not be made.
    """
    if part == "expr" and stmt.in_place:
        before, left = (getattr(e, "left", None) for e in (stmt.expr, expr))
        same = isinstance(left, gast.Name) and left.id == getattr(before, "id", None)
        made = isinstance(left, (gast.BinOp, gast.UnaryOp)) or (isinstance(left, gast.Call) and makes_new(left))
        stmt.in_place = same or made
    if part == "expr":
        expr = with_own_memory(s, stmt.target, stmt.expr, expr)
    setattr(stmt, part, expr)


def is_cotangent(s: Function, stmt: ir.Let) -> bool:
    """True if a statement computes a cotangent, under its name or as a temporary that is made of one."""
    if s.is_cotangent(stmt.target):
        return True
    return s.hints[stmt.target] == "t" and any(s.is_cotangent(n) for n in ir.variables_in(stmt.expr))


def make_zeros(s: Function, block: ir.Block) -> None:
    """Make zeros in a loop by ``np.zeros(z.shape)``: a fifth of the time of ``np.zeros_like(z)`` if `z` is small."""
    for stmt in ir.adjoint_walk(block):
        facts = s.facts[stmt.target] if isinstance(stmt, ir.Let) else None
        if not isinstance(facts, Num) or facts.kind != "array" or facts.dtype != np.float64 or not facts.ndim:
            continue
        if isinstance(stmt.expr, gast.Call) and numpy_name(stmt.expr) == "zeros_like" and len(stmt.expr.args) == 1:
            shape = ir.attribute(stmt.expr.args[0], "shape")
            stmt.expr = ir.call(ir.attribute(stmt.expr.func.value, "zeros"), shape)


class Spelling:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Function) -> None:
        self.s = s

    def value(self, expr: Any) -> Any:
        """The value that is assigned or added; an array of its own stays one."""
        made = self.expr(expr.func.value) if is_method(expr, "copy") and not expr.args else None
        if isinstance(made, gast.Call) and summed_axis(made) is not None:
            return made
        new = self.expr(expr)
        return expr if isinstance(new, gast.Name) else new

    def expr(self, expr: Any) -> Any:
        kind = type(expr)
        if kind is gast.BinOp:
            return self.binop(with_operands(expr, self.operand))
        if kind is gast.UnaryOp and isinstance(expr.op, gast.USub):
            return self.product(with_operands(expr, self.expr))
        if kind is gast.Call:
            return self.call(with_operands(expr, self.operand if makes_new(expr) else self.expr))
        return self.transposed(expr) if kind is gast.Attribute and expr.attr == "T" else expr

    def operand(self, expr: Any) -> Any:
        """The operand of an operation that makes something new, which need not be a copy."""
        return self.expr(expr.func.value if is_method(expr, "copy") and not expr.args else expr)

    def transposed(self, expr: Any) -> Any:
        """``(a.T @ b).T`` is ``b.T @ a``."""
        product = expr.value
        if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.MatMult):
            return expr
        sides = [self.expr(product.left), self.expr(product.right)]
        turned = [isinstance(side, gast.Attribute) and side.attr == "T" for side in sides]
        if not any(turned) or any(self.rank(side.value if t else side) != 2 for side, t in zip(sides, turned)):
            return expr
        left, right = (side.value if t else ir.attribute(side, "T") for side, t in zip(sides, turned))
        return ir.binop(right, gast.MatMult, left)

    def binop(self, expr: Any) -> Any:
        expr = broadcast(self.rank, expr)
        if isinstance(expr.op, (gast.Mult, gast.Div)):
            expr = reduced(expr)
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult):
            return self.product(expr)
        if not isinstance(expr, gast.BinOp):
            return expr
        if isinstance(expr.op, gast.Div):
            return gast.BinOp(signed_first(expr.left), expr.op, expr.right)
        if isinstance(expr.op, (gast.Add, gast.Sub)) and (positive := negated(expr.right)) is not None:
            return ir.binop(expr.left, gast.Sub if isinstance(expr.op, gast.Add) else gast.Add, positive)
        if isinstance(expr.op, gast.Add) and (positive := negated(expr.left)) is not None:
            return ir.binop(expr.right, gast.Sub, positive)
        if isinstance(expr.op, gast.Add) and is_same(expr.left, expr.right):
            return self.binop(ir.binop(ir.constant(2), gast.Mult, expr.left))
        return expr

    def product(self, expr: Any) -> Any:
        """A product with its sign outside and its numbers first, where that saves an operation on an array."""
        sign, factors = factors_of(expr)
        numbers, arrays = self.numbers_and_arrays(factors)
        if not arrays and isinstance(expr, gast.BinOp) and is_negative(expr.right) and literal(expr.right) is None:
            return ir.binop(negated(expr.left) or signed(expr.left), gast.Mult, expr.right.operand)
        if not arrays:
            return signed_first(expr)
        cancelled = sign > 0 and is_negative(expr)
        if len(numbers) + (sign < 0) < 2 and not cancelled and not (sign < 0 and len(arrays) > 1):
            return expr
        front = folded(numbers)
        result = multiplied([*front, *arrays])
        if isinstance(result, gast.Name) and sign > 0:
            return expr
        return result if sign > 0 else gast.UnaryOp(gast.USub(), result) if not front else signed(result)

    def call(self, expr: Any) -> Any:
        name = numpy_name(expr)
        if self.s.globals.get(getattr(expr.func, "id", "")) is scatter.diagonal_adjoint:
            return self.with_number(expr)
        if name is None or not expr.args:
            return expr
        if name == "squeeze" and (summed := without_kept_axis(expr)) is not None:
            return summed
        first, rest = expr.args[0], expr.args[1:]
        if name in ("sum", "roll") and (positive := negated(first)) is not None:
            return gast.UnaryOp(gast.USub(), self.call(gast.Call(expr.func, [positive, *rest], expr.keywords)))
        if name == "where" and len(rest) == 2 and isinstance(first, gast.Name) and literal(rest[1]) == 0:
            return gast.Call(expr.func, [first, selected(rest[0], first.id), rest[1]], expr.keywords)
        if name == "squeeze" and len(rest) == 1 and (found := self.squeezed(first, rest[0])) is not None:
            return found
        rank = self.rank(first)
        if not rank:
            return expr
        if name == "flip" and rank == 1 and not expr.keywords and literal(rest[0] if rest else None) in (None, 0):
            return ir.subscript(first, gast.Slice(None, None, ir.constant(-1)))
        ordered = name == "reshape" and len(rest) > 1  # the method would take the order for a length
        if name in METHODS and not ordered and not POSITIONAL & {keyword.arg for keyword in expr.keywords}:
            return gast.Call(gast.Attribute(first, name, gast.Load()), rest, expr.keywords)
        if name == "expand_dims" and len(rest) == 1 and not expr.keywords:
            sign, positive = (-1, negated(first)) if negated(first) is not None else (1, first)
            found = widened(positive, rest[0], rank) or expr
            return gast.UnaryOp(gast.USub(), found) if sign < 0 and found is not expr else found
        return expr

    def with_number(self, call: Any) -> Any:
        """A call that takes one number for an array of it."""
        first = call.args[0]
        if not isinstance(first, gast.Call) or numpy_name(first) != "full_like" or not self.is_number(first.args[1]):
            return call
        return gast.Call(call.func, [first.args[1], *call.args[1:]], call.keywords)

    def squeezed(self, expr: Any, axis: Any) -> Any | None:
        """``np.squeeze``: a sum that does not keep its axis, or an item of the axis."""
        place = literal(axis)
        if isinstance(expr, gast.Call) and numpy_name(expr) == "sum" or is_method(expr, "sum"):
            options = {keyword.arg: literal(keyword.value) for keyword in expr.keywords}
            if options == {"axis": place, "keepdims": True} and place is not None:
                kept = [keyword for keyword in expr.keywords if keyword.arg == "axis"]
                return self.call(gast.Call(expr.func, expr.args, kept))
        rank = self.rank(expr)
        if not rank or type(place) is not int or not -rank <= place < rank or rank == 1:
            return None
        parts = [gast.Slice(None, None, None) for _ in range(place % rank)] + [ir.constant(0)]
        return ir.subscript(expr, parts[0] if len(parts) == 1 else ir.tuple_(parts))

    def numbers_and_arrays(self, factors: list[Any]) -> tuple[list[Any], list[Any]]:
        """The numbers of a product and the rest: beside a wider dtype, that of two float32 would be rounded."""
        found = self.dtypes(factors)
        narrow = found - WIDE if len(found) > 1 else set()
        numbers = [f for f in factors if self.is_number(f) and not narrow & self.dtypes([f])]
        return numbers, [f for f in factors if not any(f is n for n in numbers)]

    def dtypes(self, exprs: list[Any]) -> set[Any]:
        """The dtypes of what NumPy has made, or makes, of the variables of some expressions."""
        found: set[Any] = set()
        for expr in exprs:
            known = [self.s.facts.get(n) for n in ir.variables_in(expr)]
            known = [self.s.elements_of(facts) if isinstance(facts, Listed) else facts for facts in known]
            made = {facts.dtype for facts in known if isinstance(facts, Num) and not facts.python}
            names = {numpy_name(node) or "" for node in ir.nodes_in(expr) if isinstance(node, gast.Call)} - {""}
            made |= {NAMES[name] for name in names & NAMES.keys()}
            found |= made or ({np.dtype(np.float64)} if names else set())  # of Python's numbers
        return found

    def is_number(self, expr: Any) -> bool:
        """True if an expression is a number, not an array."""
        if isinstance(expr, gast.Constant):
            return type(expr.value) in (int, float)
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            return isinstance(facts, Num) and facts.dims == () and facts.kind != "bool"
        if isinstance(expr, gast.BinOp):
            return isinstance(expr.op, ELEMENTWISE) and self.is_number(expr.left) and self.is_number(expr.right)
        if isinstance(expr, gast.UnaryOp):
            return isinstance(expr.op, gast.USub) and self.is_number(expr.operand)
        if isinstance(expr, gast.Call):
            name = getattr(expr.func, "id", "")
            return name == "len" or (name == "max" and all(self.is_number(a) for a in expr.args))
        if isinstance(expr, gast.Subscript):
            return getattr(expr.value, "attr", "") == "shape" and literal(expr.slice) is not None
        return isinstance(expr, gast.Attribute) and expr.attr in ("size", "pi", "e")

    def rank(self, expr: Any) -> int | None:
        """The number of axes of an expression, where it is known to be an array."""
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            return facts.ndim if isinstance(facts, Num) and facts.kind == "array" else None
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            return self.rank(expr.operand)
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
            operands = [expr.left, *compared(expr.right)]
            sides = [0 if self.is_number(side) else self.rank(side) for side in operands]
            return None if None in sides else max(side for side in sides if side is not None)
        if isinstance(expr, gast.Subscript) and (places := new_axes(expr)) is not None:
            rank = self.rank(expr.value)
            return None if rank is None else rank + len(places)
        if isinstance(expr, gast.Subscript) and (gone := axes_gone(self.s, expr.slice)) is not None:
            rank = self.rank(expr.value)
            return None if rank is None else rank - gone or None
        if isinstance(expr, gast.Call) and (axis := summed_axis(expr)) is not None:
            rank = self.rank(expr.func.value)
            return rank - 1 if rank is not None and axis < rank else None
        if is_pop_call(expr):
            facts = popped(self.s, expr)
            return facts.ndim if facts is not None and facts.kind == "array" else None
        if isinstance(expr, gast.Call) and len(expr.args) == 1 and not expr.keywords:
            return self.rank(expr.args[0]) if isinstance(getattr(np, numpy_name(expr) or "", None), np.ufunc) else None
        return None


def makes_new(call: Any) -> bool:
    """True if a call is one of a function of NumPy's that computes each element of its result anew."""
    name = numpy_name(call)
    return name == "where" or isinstance(getattr(np, name or "", None), np.ufunc)


def selected(expr: Any, condition: str) -> Any:
    """The factors of a selection by a condition, which is not asked again."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        right = selected(expr.right, condition) if isinstance(expr.op, gast.Mult) else expr.right
        return gast.BinOp(selected(expr.left, condition), expr.op, right)
    if not isinstance(expr, gast.Call) or numpy_name(expr) != "where" or len(expr.args) != 3:
        return expr
    again = getattr(expr.args[0], "id", None) == condition and literal(expr.args[2]) == 0
    return expr.args[1] if again else expr


def popped(s: Function, expr: Any) -> Num | None:
    """The facts of a number or an array that is taken from a list of saved values."""
    saved = s.facts.get(getattr(expr.func.value, "id", ""))
    facts = s.elements_of(saved) if isinstance(saved, Listed) else None
    return facts if isinstance(facts, Num) else None


def reduced(expr: Any) -> Any:
    """A quotient whose literals above and below the line are made one: ``d / (2 * c) * (2 * b)`` is ``d / c * b``."""
    above, below, rest = apart(expr)
    if not above or not below or rest is None:
        return expr
    exact = math.prod(map(Fraction, above)) / math.prod(map(Fraction, below))
    number = math.prod(above) / math.prod(below)
    if exact != number:
        return expr
    return rest if number == 1 else preceded(ir.constant(int(number) if number == int(number) else number), rest)


def apart(expr: Any) -> tuple[list[float], list[float], Any]:
    """The literals that multiply an expression, those that divide it, and what is left, if anything."""
    if isinstance(expr, gast.Constant) and type(expr.value) in (int, float):
        return ([expr.value], [], None) if expr.value and math.isfinite(expr.value) else ([], [], expr)
    if isinstance(expr, gast.Subscript) and new_axes(expr) is not None:
        above, below, rest = apart(expr.value)
        return ([], [], expr) if rest is None else (above, below, ir.subscript(rest, expr.slice))
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Mult, gast.Div)):
        return [], [], expr
    above, below, left = apart(expr.left)
    more, less, right = apart(expr.right)
    if isinstance(expr.op, gast.Div):
        more, less = less, more
        if left is None and right is not None:
            return [], [], expr  # one over something stays that
    if left is expr.left and right is expr.right:
        return [], [], expr
    rest = left if right is None else right if left is None else gast.BinOp(left, expr.op, right)
    return [*above, *more], [*below, *less], rest


def preceded(number: Any, expr: Any) -> Any:
    """A product or quotient with a number before its first factor."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        return gast.BinOp(preceded(number, expr.left), expr.op, expr.right)
    return ir.binop(number, gast.Mult, expr)


def factors_of(expr: Any) -> tuple[int, list[Any]]:
    """The sign and the factors of a product."""
    if is_negative(expr):
        sign, factors = factors_of(expr.operand)
        return -sign, factors
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult):
        (a, left), (b, right) = factors_of(expr.left), factors_of(expr.right)
        return a * b, [*left, *right]
    return 1, [expr]


def ratio_of(expr: Any) -> tuple[int, list[Any], list[Any]]:
    """The sign of a product or quotient, its factors, and what it is divided by, each once."""
    if is_negative(expr):
        sign, above, below = ratio_of(expr.operand)
        return -sign, above, below
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        sign, above, below = ratio_of(expr.left)
        if isinstance(expr.op, gast.Div):
            return sign, above, [*below, expr.right]
        other, more, less = ratio_of(expr.right)
        return sign * other, [*above, *more], [*below, *less]
    return 1, [expr], []


def multiplied(factors: list[Any]) -> Any:
    result = factors[0]
    for factor in factors[1:]:
        result = ir.binop(result, gast.Mult, factor)
    return result


def folded(numbers: list[Any]) -> list[Any]:
    """Numbers with the literals among them multiplied, none where they make 1; a quotient comes first.

    A product that is not exact stays written out, as the user has its factors: Python multiplies literals itself.
    """
    literals = [n.value for n in numbers if isinstance(n, gast.Constant)]
    others = [n for n in numbers if not isinstance(n, gast.Constant)]
    product = math.prod(literals)
    exact = all(math.isfinite(n) for n in literals) and math.prod(map(Fraction, literals)) == product
    literal = [ir.constant(n) for n in ([product] if exact else literals) if n != 1]
    quotient = bool(others) and isinstance(others[0], gast.BinOp) and isinstance(others[0].op, gast.Div)
    return [*others[:1], *literal, *others[1:]] if quotient else [*literal, *others]


def is_same(a: Any, b: Any) -> bool:
    """True if two expressions are one product, of what nobody takes from a list there."""
    if not isinstance(a, gast.BinOp) or not isinstance(b, gast.BinOp) or ir.names_in(a) != ir.names_in(b):
        return False
    return not any(is_pop_call(node) for node in ir.nodes_in(a)) and bool(gast.dump(a) == gast.dump(b))
