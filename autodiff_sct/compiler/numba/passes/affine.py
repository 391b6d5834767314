"""Integer expressions as sums, and the proof or the check that an index is inside its axis.

A native program reads whatever lies behind an array if an index is outside, so each index is shown to be inside: at
compile time, by the range of the loops around it; else by a check, before the outermost loop that it can be made
before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gast

from ... import ir
from ...domain.facts import Dim

if TYPE_CHECKING:
    from ..kinds import Number
    from ..state import State


@dataclass(frozen=True)
class Form:
    """A sum: whole multiples of atoms, each with the expression it stands for, and a constant."""

    terms: tuple[tuple[Any, int, Any], ...]  # (key, factor, expression)
    constant: int = 0

    def plus(self, other: Form, factor: int = 1) -> Form:
        terms = {key: (count, expr) for key, count, expr in self.terms}
        for key, count, expr in other.terms:
            have, shown = terms.get(key, (0, expr))
            terms[key] = (have + factor * count, shown)
        kept = tuple((key, count, expr) for key, (count, expr) in terms.items() if count)
        return Form(kept, self.constant + factor * other.constant)

    def times(self, factor: int) -> Form:
        return Form(tuple((k, factor * c, e) for k, c, e in self.terms if factor * c), self.constant * factor)

    def factor(self, key: Any) -> int:
        return next((count for k, count, _ in self.terms if k == key), 0)

    def without(self, key: Any) -> Form:
        return Form(tuple(term for term in self.terms if term[0] != key), self.constant)

    def expr(self) -> Any:
        """The sum as an expression, what is added first."""
        result: Any = None
        for _, count, expr in sorted(self.terms, key=lambda term: term[1] < 0):
            part = expr if abs(count) == 1 else ir.binop(ir.constant(abs(count)), gast.Mult, expr)
            if result is None:
                result = part if count > 0 else gast.UnaryOp(gast.USub(), part)
            else:
                result = ir.binop(result, gast.Add if count > 0 else gast.Sub, part)
        if result is None:
            return ir.constant(self.constant)
        if self.constant:
            op = gast.Add if self.constant > 0 else gast.Sub
            result = ir.binop(result, op, ir.constant(abs(self.constant)))
        return result


def constant_form(value: int) -> Form:
    return Form((), value)


def form_of(state: State, expr: Any) -> Form:
    """An integer expression as a sum."""
    if isinstance(expr, gast.Constant) and isinstance(expr.value, int):
        return Form((), int(expr.value))
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
        return form_of(state, expr.operand).times(-1)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Add, gast.Sub)):
        factor = 1 if isinstance(expr.op, gast.Add) else -1
        return form_of(state, expr.left).plus(form_of(state, expr.right), factor)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult):
        left, right = form_of(state, expr.left), form_of(state, expr.right)
        for a, b in ((left, right), (right, left)):
            if not a.terms:
                return b.times(a.constant)
    if isinstance(expr, gast.Name):
        if expr.id in state.forms:
            return state.forms[expr.id]
        size = getattr(state.s.facts.get(expr.id), "size", None)
        if size is not None:
            return size_form(state, state.canonical(size), expr)
    key = gast.dump(expr)
    return size_form(state, state.entered_as[key], expr) if key in state.entered_as else Form(((key, 1, expr),))


def size_form(state: State, size: Any, expr: Any) -> Form:
    """A length: one symbol, however it is written."""
    if isinstance(size, int):
        return Form((), size)
    if isinstance(size, Dim):
        known = state.lengths.get(state.outer(size.symbol))
        if known is not None:
            return Form(((("dim", size.symbol), 1, known),), size.offset)
        # What stands for the symbol itself is this expression less the offset.
        whole = Form(((("dim", size.symbol), 1, expr),), size.offset)
        return whole if size.offset == 0 else Form((((("dim", size.symbol), size.offset), 1, expr),))
    return Form(((gast.dump(expr), 1, expr),))


def length_form(state: State, axis: Any) -> Form:
    """The length of an axis as a sum."""
    if isinstance(axis.key, int):
        return Form((), axis.key)
    if isinstance(axis.key, Dim) and axis.key.offset == 0:
        return Form(((("dim", axis.key.symbol), 1, axis.length),))
    return form_of(state, axis.length)


def depth_of(state: State, form: Form) -> int:
    """The depth of the innermost variable of a sum; memory counts as made here."""
    depth = 0
    for _, _, expr in form.terms:
        if reads_memory(expr):
            return state.level
        depth = max([depth, *(state.depth.get(n, 0) for n in ir.names_in(expr) if ir.is_variable(n))])
    return depth


def reads_memory(expr: Any) -> bool:
    """True if the value of an expression hangs on what is in an array."""
    return any(isinstance(n, gast.Subscript) and not is_shape(n.value) for n in gast.walk(expr))


def is_shape(expr: Any) -> bool:
    return isinstance(expr, gast.Attribute) and expr.attr == "shape"


def least(state: State, form: Form, level: int) -> tuple[Form, int] | None:
    """The least value of a sum over the loop at `level`, with the level that it is free of; None if it is not known."""
    scope = state.scopes[level]
    if scope.kind != "range" or scope.index is None or scope.low is None or scope.high is None:
        return None
    key = gast.dump(ir.name(scope.index))
    factor = form.factor(key)
    if factor == 0:
        return None
    extreme = scope.low if factor > 0 else scope.high
    return form.without(key).plus(extreme, factor), level - 1


def proved(state: State, form: Form) -> bool:
    """True if a sum is at least zero, by the ranges of remainders and of the loops around."""
    for key, count, _ in form.terms:
        if key in state.ranges:
            form = form.without(key).plus(state.ranges[key][count < 0], count)
    while form.terms:
        if is_known(state, form):
            return True
        found = least(state, form, depth_of(state, form))
        if found is None:
            return all(count > 0 and is_length(key, expr) for key, count, expr in form.terms) and form.constant >= 0
        form = found[0]
    return form.constant >= 0


def is_known(state: State, form: Form) -> bool:
    """True if something that has been checked says that a sum is at least zero."""
    for scope in state.scopes:
        for known in scope.known:
            more = form.plus(known, -1)
            if not more.terms and more.constant >= 0:
                return True
    return False


def is_length(key: Any, expr: Any) -> bool:
    """True if an atom is a length, or a length and more: such a thing is at least zero, and 1 less than one is not."""
    if isinstance(key, tuple):
        return key[0] == "dim" or key[1] >= 0
    if isinstance(expr, gast.Call):
        return getattr(expr.func, "id", "") == "len"
    return isinstance(expr, gast.Subscript) and is_shape(expr.value)


def require(state: State, form: Form) -> None:
    """See to it that a sum is at least zero wherever this statement runs."""
    if proved(state, form):
        return
    level = state.level
    while True:
        depth = depth_of(state, form)
        while level > depth and state.scopes[level].kind == "range":
            level -= 1
        found = least(state, form, level) if level == depth and level > 0 else None
        if found is None or depth_of(state, found[0]) > found[1]:
            break
        form, level = found
    if not form.terms and form.constant >= 0:
        return
    test = comparison(form)
    place = state.out if level == state.level else state.scopes[level + 1].before
    if not any(isinstance(x, ir.Effect) and gast.dump(x.expr) == gast.dump(test) for x in place):
        place.append(ir.Effect(test, state.origin))
        state.learn(form, level)


def comparison(form: Form) -> Any:
    """The assertion that a sum is at least zero, as ``low <= high``."""
    up = Form(tuple(t for t in form.terms if t[1] > 0), max(form.constant, 0))
    down = Form(tuple((k, -c, e) for k, c, e in form.terms if c < 0), max(-form.constant, 0))
    if down.constant == 1:
        strict = Form(down.terms, 0)
        return gast.Assert(gast.Compare(strict.expr(), [gast.Lt()], [up.expr()]), None)
    return gast.Assert(gast.Compare(down.expr(), [gast.LtE()], [up.expr()]), None)


def check_index(state: State, index: Any, axis: Any) -> None:
    """See to it that an index is inside its axis; from -1 down it counts from the end, as everywhere in NumPy."""
    form, length = form_of(state, index), length_form(state, axis)
    require(state, length.plus(form, -1).plus(constant_form(1), -1))
    if not proved(state, form):
        require(state, form.plus(length))


def wrapped(state: State, a: Any, b: Any) -> Any:
    """``a % b`` where `a` is at most one step outside the range from 0 to ``b - 1``: no division is needed.

    None where that cannot be shown.  That `b` is no zero is checked.
    """
    place, length = form_of(state, a), form_of(state, b)
    beyond = place.plus(length, -1)
    zero, one = ir.constant(0), constant_form(1)
    if proved(state, place) and proved(state, beyond.times(-1)):  # from 0 to b
        return gast.IfExp(gast.Compare(a, [gast.Eq()], [b]), zero, a)
    if proved(state, place.plus(one)) and proved(state, beyond.plus(one).times(-1)):  # from -1 to b - 1
        return gast.IfExp(gast.Compare(a, [gast.Lt()], [zero]), place.plus(length).expr(), a)
    if proved(state, beyond.plus(one)) and proved(state, length.plus(beyond, -1).plus(one, -1)):  # b - 1 to 2 * b - 1
        return gast.IfExp(gast.Compare(beyond.expr(), [gast.Lt()], [zero]), a, beyond.expr())
    return None


def remainder(state: State, a: Number, b: Number, result: Number) -> Number:
    """``a % b`` of whole numbers, of which it is known that it lies between 0 and `b` where `b` is a length."""
    if max(a.bits, b.bits) > 62 or reads_memory(b.expr):
        return result
    length = form_of(state, b.expr)
    if not proved(state, length):
        return result
    quick = None if reads_memory(a.expr) else wrapped(state, a.expr, b.expr)
    number = state.let(result if quick is None else replace(result, expr=quick), "k")
    key = gast.dump(number.expr)
    state.forms[number.expr.id] = Form(((key, 1, number.expr),))
    state.ranges[key] = (constant_form(0), length.plus(constant_form(1), -1))
    return number
