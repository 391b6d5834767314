"""Sums of products without an array of the products: a third of the passes over memory, and none that is written.

=====================================  =========================================
``(d_y * x).sum()``                    ``np.vdot(d_y, x)``
``(2 * d_y * x).sum()``                ``2 * np.vdot(d_y, x)``
``(d_y * x).sum(axis=1)``              ``np.einsum("ij,ij->i", d_y, x)``
``(d_y * x / c).sum(axis=1)``          ``np.einsum("ij,ij->i", d_y, x) / c``
``(d_b * x).sum(axis=1)``              ``x @ d_b``, or ``np.einsum("j,ij->i", d_b, x)``
``d_y / c - d_c / c``                  ``(d_y - d_c) / c``
``d_c[:, None] * (2 * x)``             ``2 * d_c[:, None] * x``
``np.linalg.norm(x)``                  ``np.sqrt(np.vdot(x, x))``
``np.linalg.norm(x, axis=1)``          ``np.sqrt(np.einsum("ij,ij->i", x, x))``
``np.mean(x ** 2, axis=1)``            ``np.einsum("ij,ij->i", x, x) / x.shape[1]``
``np.sum((a - b) ** 2, axis=1)``       the same of ``t = a - b``
=====================================  =========================================

In the third line ``c`` has one number for each of the sums; the last four are of the forward sweep.  The terms are
added in another order, which a cotangent may, and what the forward sweep computes for cotangents only; only of doubles,
for single precision would feel it.
Arrays that are broadcast against each other stay as they are where all is summed, for `vdot` pairs elements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.facts import Axis, Dim, Num, broadcast
from ...interp.kernel.slice_lengths import written_span
from ...ir.dims import Lengths, born
from ...ir.function import Function
from ...ir.patterns import ELEMENTWISE, compared, is_pop_call, literal, numpy_name, subscript_parts
from ...ir.traversal import with_operands
from .canonicalize import Spelling, cotangents, factors_of, multiplied, popped, ratio_of, rewrite, signed
from .new_axes import axes_gone, is_item, new_axes, summed_axis, widened

LETTERS = "ijklmnop"
UNKNOWN = object()  # a bound of a slice
KEPT = {"keepdims": True}


def fuse_contractions(s: Function, block: ir.Block) -> None:
    """Rewrite the cotangents that a block of the reverse sweep computes, in place."""
    contractions = Contractions(s)
    for stmt, part in cotangents(s, block):
        rewrite(s, stmt, part, contractions.expr(getattr(stmt, part)))


def fuse_forward_contractions(s: Function, block: ir.Block) -> None:
    """Rewrite the sums of the forward sweep, in place: of a program whose value is not asked for."""
    contractions = Contractions(s)
    for part in ir.blocks(block):
        for stmt in list(part):
            if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not stmt.effect and not stmt.augments:
                if (named := contractions.named_square(stmt)) is not None:
                    part.insert(part.index(stmt), named)
                stmt.expr = contractions.forward(stmt.expr)


class Contractions:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Function) -> None:
        self.s, self.spelling = s, Spelling(s)

    def expr(self, expr: Any) -> Any:
        kind = type(expr)
        if kind is gast.BinOp:
            return self.binop(with_operands(expr, self.expr))
        if kind is gast.Call and isinstance(expr.func, gast.Attribute) and expr.func.attr == "sum" and not expr.args:
            return self.sum(expr)
        return expr if kind is gast.Subscript and new_axes(expr) is None else with_operands(expr, self.expr)

    def forward(self, expr: Any) -> Any:
        """Rewrite the user's expressions, but for the order in which terms of sums of products are added."""
        if not isinstance(expr, gast.Call):
            return expr if isinstance(expr, gast.Subscript) else with_operands(expr, self.forward)
        if ir.path_of(expr.func) == "np.linalg.norm" and len(expr.args) == 1:
            return self.norm(expr, expr.args[0]) or with_operands(expr, self.forward)
        if (mean := self.mean_of_squares(expr)) is not None:
            return mean
        method = isinstance(expr.func, gast.Attribute) and expr.func.attr == "sum" and not expr.args
        if not method and not (numpy_name(expr) == "sum" and len(expr.args) == 1):
            return with_operands(expr, self.forward)
        return self.summed(expr, expr.func.value if method else expr.args[0]) or expr

    def named_square(self, stmt: ir.Let) -> ir.Let | None:
        """Give what a statement squares to add it up along one axis a name, under which it is a product with itself."""
        found = reduced(stmt.expr)
        if found is None or found[0] not in ("sum", "mean") or not is_square(found[1]):
            return None
        call: Any = stmt.expr
        square, base = found[1], found[1].left
        dims = self.dims(base) if isinstance(base, gast.BinOp) else None
        if not dims or not -len(dims) <= found[2] < len(dims):
            return None
        facts = Num("array", np.dtype(float), dims)
        name = self.s.fresh("t", replace(facts, roots=frozenset([self.s.root(("square", stmt.target))])))
        square = ir.binop(ir.name(name), gast.Pow, square.right)
        if call.args:
            stmt.expr = gast.Call(call.func, [square], call.keywords)
        else:
            stmt.expr = gast.Call(gast.Attribute(square, call.func.attr, gast.Load()), [], call.keywords)
        return ir.Let((name,), base, None, stmt.origin)

    def mean_of_squares(self, call: Any) -> Any | None:
        """The sum of squares along an axis over its length."""
        found = reduced(call)
        if found is None or found[0] != "mean" or not is_square(found[1]) or not isinstance(found[1].left, gast.Name):
            return None
        return self.mean_square(found[1].left, *found[2:])

    def mean_square(self, squared: Any, axis: int, keeps: bool) -> Any | None:
        """The sum of the squares of an array along an axis, over its length."""
        dims = self.dims(squared)
        if not dims or not -len(dims) <= axis < len(dims):
            return None
        place = ir.constant(axis % len(dims))
        settings = [gast.keyword("axis", place), *([gast.keyword("keepdims", ir.constant(True))] if keeps else [])]
        total = self.of_two(gast.Call(ir.name("sum"), [], settings), squared, squared)
        return total and ir.binop(total, gast.Div, ir.subscript(ir.attribute(squared, "shape"), place))

    def norm(self, call: Any, vectors: Any) -> Any | None:
        """The Euclidean norm of an array, or of its vectors along one axis; NumPy has to find out which is asked."""
        dims = self.dims(vectors) if isinstance(vectors, gast.Name) else None
        if not dims or not call.keywords:
            return self.numpy("sqrt", self.numpy("vdot", vectors, vectors)) if dims else None
        settings = {k.arg: literal(k.value) for k in call.keywords}
        axis, keeps = settings.get("axis"), settings.get("keepdims", False)
        if not settings.keys() <= {"axis", "keepdims"} or type(axis) is not int or type(keeps) is not bool:
            return None
        if not -len(dims) <= axis < len(dims) <= len(LETTERS):
            return None
        along = [gast.keyword("axis", ir.constant(axis % len(dims)))]
        along += [gast.keyword("keepdims", ir.constant(True))] if keeps else []
        total = self.of_two(gast.Call(call.func, [], along), vectors, vectors)
        return total and self.root(total)

    def root(self, total: Any) -> Any:
        """The square root of sums, before they get an axis of length 1."""
        if isinstance(total, gast.Subscript):
            return ir.subscript(self.numpy("sqrt", total.value), total.slice)
        return self.numpy("sqrt", total)

    def summed(self, call: Any, terms: Any) -> Any | None:
        """The sum of a product or a square of arrays."""
        dims = self.dims(terms)
        if not isinstance(terms, gast.BinOp) or not dims:
            return None
        sides = (terms.left, terms.right) if isinstance(terms.op, gast.Mult) else (terms.left, terms.left)
        square = is_square(terms) and isinstance(terms.left, gast.Name)
        if not square and not (isinstance(terms.op, gast.Mult) and all(map(is_plain, sides))):
            return None
        if not call.keywords:
            return self.of_two(call, *sides)
        axes = [k.value for k in call.keywords if k.arg == "axis"]
        axis = literal(axes[0]) if axes else None
        if type(axis) is not int or not -len(dims) <= axis < len(dims):
            return None
        settings = [gast.keyword("axis", ir.constant(axis % len(dims))), *(k for k in call.keywords if k.arg != "axis")]
        return self.of_two(gast.Call(call.func, [], settings), *sides)

    def binop(self, expr: Any) -> Any:
        """A product with its numbers at the narrow factor, a difference of quotients by one divisor as one quotient."""
        if isinstance(expr.op, gast.Mult):
            return self.narrow_first(expr)
        left, right = expr.left, expr.right
        if not isinstance(expr.op, (gast.Add, gast.Sub)) or not is_quotient(left) or not is_quotient(right):
            return expr
        same = isinstance(left.right, gast.Name) and left.right.id == getattr(right.right, "id", None)
        if not same or self.dims(left.right) is None:
            return expr
        return ir.binop(gast.BinOp(left.left, expr.op, right.left), gast.Div, left.right)

    def narrow_first(self, expr: Any) -> Any:
        """``2 * d[:, None] * x`` for ``d[:, None] * (2 * x)``, which has two operations on an array as large as x."""
        sign, factors = factors_of(expr)
        numbers, arrays = self.spelling.numbers_and_arrays(factors)
        if sign < 0 or len(arrays) != 2 or not numbers or self.spelling.is_number(factors[0]):
            return expr
        narrow, wide = self.dims(arrays[0]), self.dims(arrays[1])
        if narrow is None or wide is None or len(narrow) > len(wide):
            return expr
        narrow = (1,) * (len(wide) - len(narrow)) + narrow
        saves = any(a == 1 != b for a, b in zip(narrow, wide)) and not any(b == 1 != a for a, b in zip(narrow, wide))
        return multiplied([*numbers, *arrays]) if saves else expr

    def sum(self, call: Any) -> Any:
        """A sum, without the factors that all its terms have, and as a contraction if it is one of a product."""
        sign, above, below = ratio_of(call.func.value)
        if len(self.spelling.dtypes([*above, *below])) > 1:
            return call  # without its widest factor, the sum would be one of narrower numbers
        place = self.place(call)
        front = [f for f in above if self.is_common(f, call, place)]
        behind = [f for f in below if self.is_common(f, call, place)]
        terms = [f for f in above if not any(f is g for g in front)]
        divisors = [f for f in below if not any(f is g for g in behind)]
        found = self.of_terms(call, terms, divisors, bool(front or behind))
        if found is None:
            return call
        numbers = [f for f in front if self.spelling.is_number(f)]
        arrays = [f for f in front if not self.spelling.is_number(f)]
        result = divided(multiplied([*numbers, found, *arrays]), behind)
        return result if sign > 0 else signed(result)

    def of_terms(self, call: Any, terms: list[Any], divisors: list[Any], shorter: bool) -> Any | None:
        """The sum of what is left of the terms."""
        if not terms:
            return None
        if len(terms) > 1 and not divisors:
            found = self.of_two(call, multiplied(terms[:-1]), terms[-1])
            if found is not None:
                return found
        if not shorter:
            return None
        rest = divided(multiplied(terms), divisors)
        have, all_of_it = self.dims(rest), self.dims(call.func.value)
        if not have or not all_of_it or len(have) != len(all_of_it):
            return None
        return gast.Call(gast.Attribute(rest, "sum", gast.Load()), [], call.keywords)

    def place(self, call: Any) -> int | None:
        """The axis that is summed, where it is one and nothing else is said."""
        settings = {k.arg: getattr(k.value, "value", None) for k in call.keywords}
        axis = settings.get("axis")
        return axis if type(axis) is int and axis >= 0 and settings in ({"axis": axis}, KEPT | {"axis": axis}) else None

    def is_common(self, factor: Any, call: Any, place: int | None) -> bool:
        """True if a factor is one number for each sum, and stands by the sums as it stood by the terms."""
        if self.spelling.is_number(factor):
            return place is not None or not call.keywords
        have, terms = self.dims(factor), self.dims(call.func.value)
        if place is None or not have or not terms or place >= len(terms):
            return False
        behind = len(terms) - 1 - place  # the axes behind the one that is summed
        if len(have) <= behind:
            return True
        return len(call.keywords) == 2 and len(have) > behind and have[len(have) - 1 - behind] == 1

    def dims(self, expr: Any) -> tuple[Axis, ...] | None:
        """The axes of an array of doubles that is computed element by element."""
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            return facts.dims if isinstance(facts, Num) and is_of_doubles(facts) else None
        if is_pop_call(expr):
            saved = popped(self.s, expr)
            known = saved.dims if saved is not None and is_of_doubles(saved) else None
            return known and tuple(axis if axis == 1 or lasts(axis) else None for axis in known)
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
            sides = [expr.left, *compared(expr.right)]
            return broadcast(*(() if self.spelling.is_number(e) else self.dims(e) for e in sides))
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            return self.dims(expr.operand)
        if isinstance(expr, gast.Subscript) and (places := new_axes(expr)) is not None:
            return with_axes(self.dims(expr.value), places)
        if isinstance(expr, gast.Subscript) and is_item(self.s, expr):
            return (self.dims(expr.value) or (None,))[1:] or None
        if isinstance(expr, gast.Subscript):
            return self.selected(self.dims(expr.value), expr.slice)
        if isinstance(expr, gast.Call) and (axis := summed_axis(expr)) is not None:
            dims = self.dims(expr.func.value)
            return dims[:axis] + dims[axis + 1 :] if dims and axis < len(dims) else None
        if isinstance(expr, gast.Call) and numpy_name(expr) == "einsum":
            return self.contracted(expr)
        if isinstance(expr, gast.Call) and isinstance(getattr(np, numpy_name(expr) or "", None), np.ufunc):
            return self.dims(expr.args[0]) if len(expr.args) == 1 and not expr.keywords else None
        return None

    def selected(self, dims: tuple[Axis, ...] | None, index: Any) -> tuple[Axis, ...] | None:
        """The axes of a part that integers and slices tell, as in ``[k, k:]``; the sign of variables is not known."""
        if (found := sliced(dims, index)) is not None or dims is None:
            return found
        parts = subscript_parts(index)
        if len(parts) > len(dims) or axes_gone(self.s, index) is None:
            return None
        result: list[Axis] = []
        for part, axis in zip(parts, dims):
            if isinstance(part, gast.Slice):
                bounds = [bound_of(self.s, end) for end in (part.lower, part.upper, part.step)]
                if bounds == [None, None, None]:
                    result.append(axis)
                    continue
                known = axis is not None and UNKNOWN not in bounds
                result.append(written_span(self.s, axis, part) or (Dim(("slice", axis, *bounds)) if known else None))
        return (*result, *dims[len(parts) :]) or None

    def contracted(self, call: Any) -> tuple[Axis, ...] | None:
        """The axes of ``np.einsum("ij,ij->i", a, b)``."""
        inputs, arrow, output = str(getattr(call.args[0], "value", "")).partition("->")
        axes: dict[str, Axis] = {}
        for letters, operand in zip(inputs.split(","), call.args[1:]):
            dims = self.dims(operand)
            if not arrow or dims is None or len(dims) != len(letters):
                return None
            axes |= {letter: axis for letter, axis in zip(letters, dims) if axis != 1}
        return tuple(axes.get(letter) for letter in output)

    def of_two(self, call: Any, a: Any, b: Any) -> Any | None:
        have, other = self.dims(a), self.dims(b)
        if not have or not other:
            return None
        if not call.keywords:
            return self.numpy("vdot", a, b) if self.s.same_lengths(have, other, self.where(a, b)) else None
        axis, rank, least = self.place(call), max(len(have), len(other)), min(len(have), len(other))
        if axis is None or not rank - least <= axis < rank <= len(LETTERS) or least not in (1, rank):
            return None
        if least == 1 < rank and self.s.same_lengths(have[-1:], other[-1:], self.where(a, b)):
            result = ir.binop(*((a, gast.MatMult, b) if len(have) == rank else (b, gast.MatMult, a)))
        else:
            letters = LETTERS[:rank]
            subscripts = f"{letters[-len(have) :]},{letters[-len(other) :]}->{letters[:axis]}{letters[axis + 1 :]}"
            result = self.numpy("einsum", ir.constant(subscripts), a, b)
        return result if len(call.keywords) == 1 else widened(result, ir.constant(axis), rank - 1)

    def where(self, *exprs: Any) -> Lengths:
        """The equalities that hold where the variables of expressions are defined."""
        return self.s.where_made(*(n for expr in exprs for n in ir.names_in(expr)))

    def numpy(self, fn: str, *args: Any) -> Any:
        return ir.call(ir.attribute(self.s.bind("np", np), fn), *args)


def reduced(call: Any) -> tuple[str, Any, int, bool] | None:
    """The function or the method that reduces one axis of something, the axis, and whether it is kept."""
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return None
    settings = {k.arg: literal(k.value) for k in call.keywords}
    axis, keeps = settings.get("axis"), settings.get("keepdims", False)
    if not settings.keys() <= {"axis", "keepdims"} or type(axis) is not int or type(keeps) is not bool:
        return None
    if numpy_name(call) is not None:
        return (call.func.attr, call.args[0], axis, keeps) if len(call.args) == 1 else None
    return None if call.args else (call.func.attr, call.func.value, axis, keeps)


def is_square(expr: Any) -> bool:
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow) and literal(expr.right) == 2


def sliced(dims: tuple[Axis, ...] | None, index: Any) -> tuple[Axis, ...] | None:
    """The axes of a part that leaves out a few at the ends of some axes."""
    parts = subscript_parts(index)
    if dims is None or len(parts) > len(dims):
        return None
    result: list[Axis] = []
    for part, axis in zip(parts, dims):
        if not isinstance(part, gast.Slice) or part.step is not None:
            return None
        ends = [0 if end is None else literal(end) for end in (part.lower, part.upper)]
        if not all(type(end) is int for end in ends) or ends[0] < 0 or (part.upper is not None and ends[1] >= 0):
            return None
        result.append(axis.plus(ends[1] - ends[0]) if isinstance(axis, Dim) else None)
    return (*result, *dims[len(parts) :])


def bound_of(s: Function, end: Any) -> Any:
    """The number or the variable that bounds a slice, as lengths name it."""
    if end is None or isinstance(end, gast.Name):
        return end and s.step_of(end.id)
    found = literal(end)
    return found if type(found) is int else UNKNOWN


def lasts(axis: Axis) -> bool:
    """True if a length is one of the arguments', and so the same in all steps of a loop."""
    return isinstance(axis, Dim) and born(axis) == 0


def is_plain(expr: Any) -> bool:
    """True if an expression is a variable, or anything with new axes."""
    return isinstance(expr, gast.Name) or (isinstance(expr, gast.Subscript) and new_axes(expr) is not None)


def is_of_doubles(facts: Num) -> bool:
    return facts.kind == "array" and facts.dtype == np.float64


def divided(expr: Any, divisors: list[Any]) -> Any:
    for divisor in divisors:
        expr = ir.binop(expr, gast.Div, divisor)
    return expr


def is_quotient(expr: Any) -> bool:
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Div)


def with_axes(dims: tuple[Axis, ...] | None, places: list[int]) -> tuple[Axis, ...] | None:
    """`dims` with axes of length 1 at some places."""
    if dims is None:
        return None
    result = list(dims)
    for place in places:
        result.insert(place, 1)
    return tuple(result)
