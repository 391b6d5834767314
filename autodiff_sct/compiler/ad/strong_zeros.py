"""Strong zeros: a derivative of exactly zero stays zero, whatever the local slope.

The slope of ``sqrt`` at 0 is infinite, that at -1 is NaN, and zero times either is NaN: so a masked element, as in
``np.where(x > 0, np.sqrt(x), 0.0)``, would spoil the gradient.  An elementwise entry of a rule therefore becomes ::

    d_x = np.where(d_y == 0, 0.0, d_y / (2 * y))

and that of a number stands in a branch, since Python's numbers raise: ``if d_y != 0: ...``.

That costs a pass over memory for each operation, so a program is emitted without.  Where one with a function that is
singular or overflows, or one that multiplies and selects, returns a derivative that contains a NaN, the call is
repeated with a program in which every function has strong zeros (`EVERY`).  Programs that cannot be repeated, as they
print or draw, and pullbacks, whose forward function has returned, have them from the beginning where the slope of a
function has singular points (`SINGULAR`), and in products with what such a function returns; a pullback that returns
NaN all the same is repeated from the start.

A derivative that is differentiated again may be zero and still depend on an input, as that of ``(sqrt(x) - 1)**2`` at 1
does.  There only those zeros are put in that would be NaN ::

    d_x = d_y / (2 * y)
    d_x = np.where((d_y == 0) & np.isnan(d_x), 0.0, d_x)

In a sum of products, such as ``d_y @ w.T``, the factors are left out that are infinite and meet zeros only.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ...errors import NoRule
from ...rules.table import TABLE, Rule
from ...runtime.linalg.slopes import pushed, slope
from .. import ir
from ..domain.facts import Num
from ..domain.values import Const, Leaf, ListV, TupleV, Value
from ..interp.kernel.operations import call_python
from ..interp.kernel.specialiser import Specialiser

__all__ = ["EVERY", "NONE", "SINGULAR", "is_selection", "rule_for", "with_strong_zeros", "without_slope"]

Entries = dict[str, Value]
Write = Callable[[Value, Entries], Entries]  # the entries of a rule for a derivative and arguments
Functions = frozenset[Any]

NONE: Functions = frozenset()
QUOTIENTS: Functions = frozenset({np.divide, operator.truediv})
POWERS: Functions = frozenset({np.power, np.float_power, operator.pow, math.pow, pow})
SINGULAR: Functions = frozenset({
    np.sqrt, math.sqrt, np.cbrt, math.cbrt, np.log, math.log, np.log2, math.log2, np.log10, math.log10, np.log1p,
    math.log1p, np.reciprocal, np.arcsin, math.asin, np.arccos, math.acos, np.arccosh, math.acosh, np.arctanh,
    math.atanh, np.arctan2, math.atan2,
}) | QUOTIENTS | POWERS  # fmt: skip
PRODUCTS: Functions = frozenset({np.multiply, operator.mul})
SUMS_OF_PRODUCTS: Functions = frozenset({
    np.matmul, np.linalg.matmul, operator.matmul, np.dot, np.ndarray.dot, np.vdot, np.inner, np.outer, np.tensordot,
    np.einsum, np.kron, np.convolve, np.correlate,
})  # fmt: skip
OVERFLOWING: Functions = frozenset({
    np.exp, math.exp, np.exp2, math.exp2, np.expm1, math.expm1, np.sinh, math.sinh, np.cosh, math.cosh,
    np.tan, math.tan,
})  # fmt: skip
SELECTIONS: Functions = frozenset({
    np.where, np.maximum, np.minimum, np.fmax, np.fmin, max, min, np.clip, np.nan_to_num, np.select, np.choose,
    np.max, np.min, np.nanmax, np.nanmin, np.nansum, np.sort, np.median, np.take, np.compress, np.extract, np.diagonal,
    np.diag, np.trace, np.tril, np.triu, np.array_split, np.split,
})  # fmt: skip
INFINITE = {fn.__name__ for fn in SINGULAR | OVERFLOWING}
BOUNDED: Functions = frozenset({
    np.add, operator.add, np.subtract, operator.sub, np.negative, operator.neg, np.where, slope, pushed,
})  # fmt: skip
EVERY: Functions = frozenset({"every elementwise function but those that are bounded"})
WITH_POLES = "autodiff_sct.rules.scipy."


def has_strong_zeros(s: Specialiser, op: ir.Op) -> bool:
    """True if the entries of an operation are to be zero where the derivative of its result is."""
    if s.strong is EVERY:
        return op.fn in TABLE and TABLE[op.fn].kind == "elementwise" and op.fn not in BOUNDED
    if s.strong and has_singular_slope(op):
        return True
    factors = [s.definitions.get(n) for a in op.arguments.values() for n in s.leaves(a)] if op.fn in PRODUCTS else []
    return bool(s.strong) and any(is_singular(expr) for expr in factors)


def is_selection(stmt: Any) -> bool:
    """True if a statement reads or writes a part of an array: the derivative of the other part is zero."""
    if isinstance(stmt, ir.Let):
        return stmt.op is not None and stmt.op.fn is operator.getitem
    return isinstance(stmt, ir.Store)


def rule_for(s: Specialiser, row: Rule, mode: str) -> Any:
    """The rule of a row in a mode, "reverse" or "forward"; where it has to hold at singular points, one that does.

    It has to where the call is repeated, or its derivative differentiated again.
    """
    again = getattr(row, f"{mode}_again") if s.read_again else None
    anywhere = getattr(row, f"{mode}_anywhere") if s.strong is EVERY or s.read_again else None
    return again or anywhere or getattr(row, mode)


def has_singular_slope(op: ir.Op) -> bool:
    """True if the slope of a function is infinite or undefined somewhere, as that of most special functions is."""
    if op.fn in SINGULAR:
        return not is_smooth(op)
    return op.fn in TABLE and TABLE[op.fn].kind == "elementwise" and TABLE[op.fn].home.startswith(WITH_POLES)


def is_smooth(op: ir.Op) -> bool:
    """True for a quotient by a number that is not zero, and for powers such as a square and a cube."""
    second = [*op.arguments.values()][-1]
    number = second.value if isinstance(second, Const) and type(second.value) in (int, float) else 0
    return (op.fn in QUOTIENTS and number != 0) or (op.fn in POWERS and number >= 1 and number == int(number))


def is_singular(expr: Any) -> bool:
    """True if an expression is a quotient, a power, or a call of a function that has infinite values."""
    if isinstance(expr, gast.BinOp):
        return isinstance(expr.op, (gast.Div, gast.Pow))
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr in INFINITE


def with_strong_zeros(s: Specialiser, op: ir.Op, d: Value, write: Write, wanted: Any) -> Entries:
    """The entries of a rule for the derivative `d`, which `write` emits; zero where `d` is, if they are to be."""
    row = TABLE[op.fn]
    s.spectral |= row.degenerate
    s.selects |= op.fn in SELECTIONS
    s.multiplies |= op.fn in PRODUCTS and not any(isinstance(a, Const) for a in op.arguments.values())
    s.multiplies |= op.fn in SUMS_OF_PRODUCTS
    s.singular |= op.fn in OVERFLOWING or has_singular_slope(op) or row.reverse_anywhere is not None or s.spectral
    s.singular |= s.selects and s.multiplies  # a factor may be infinite where the product is not selected
    have = s.num(d)
    if s.strong is EVERY and op.fn in SUMS_OF_PRODUCTS and have is not None:
        return without_zeros(s, op, d, write, wanted)
    if have is None or not isinstance(d, Leaf) or not has_strong_zeros(s, op):
        return write(d, op.arguments)
    mark = len(s.block)
    lengths = s.lengths
    block: ir.Block = []
    with s.writing(block, lengths):
        entries = write(d, op.arguments)
    numbers = all(is_number(s, entries[p]) for p in wanted if p in entries)
    if have.dims == () and have.kind != "array" and numbers:
        return in_branch(s, d, entries, block, [p for p in wanted if p in entries], lambda d: write(d, op.arguments))
    s.block[mark:] = block
    return entries | {p: masked(s, d, entries[p]) for p in wanted if p in entries}


def without_zeros(s: Specialiser, op: ir.Op, d: Value, write: Write, wanted: Any) -> Entries:
    """The entries of a sum of products, without the products of a derivative that is zero and an infinite factor.

    The factors that are not finite are left out.  Where one meets a derivative that is not zero, the sum is what it is.
    """
    whole = write(d, op.arguments)
    finite = write(d, {p: mapped(s, finite_part, value) for p, value in op.arguments.items()})
    infinite = {p: mapped(s, is_infinite, value) for p, value in op.arguments.items()}
    met = write(call_python(s, is_nonzero, [d], {}), infinite)
    return whole | {p: where_met(s, met[p], whole[p], finite[p]) for p in wanted if p in whole}


def where_met(s: Specialiser, met: Value, whole: Value, finite: Value) -> Value:
    """The whole sum where an infinite factor meets what is not zero; of each operand, if there are several."""
    if isinstance(whole, (TupleV, ListV)):
        parts = zip(met.items, whole.items, finite.items)  # type: ignore[union-attr]
        return replace(whole, items=tuple(where_met(s, *part) for part in parts))
    return call_python(s, whole_where, [met, whole, finite], {}) if isinstance(whole, Leaf) else whole


def mapped(s: Specialiser, function: Callable[..., Any], value: Value) -> Value:
    """An operand, or each of several, after a function; settings as they are."""
    if isinstance(value, TupleV):
        return TupleV(tuple(mapped(s, function, item) for item in value.items), value.cls)
    facts = s.facts_of(value)
    real = isinstance(value, Leaf) and isinstance(facts, Num) and facts.dtype is not None and facts.dtype.kind in "fc"
    return call_python(s, function, [value], {}) if real else value


def finite_part(a: Any) -> Any:
    return np.where(np.isfinite(a), a, 0.0)


def is_infinite(a: Any) -> Any:
    return np.where(np.isfinite(a), 0.0, 1.0)


def is_nonzero(d: Any) -> Any:
    return np.where(d == 0, 0.0, 1.0)


def whole_where(met: Any, whole: Any, finite: Any) -> Any:
    return np.where(met == 0, finite, whole)


def without_slope(s: Specialiser, op: ir.Op, write: Write, entries: Entries, p: str) -> Entries:
    """The tangent in forward mode: zero where the slope is, whatever the direction, as in reverse mode."""
    facts = s.num(entries[p])
    if s.strong is not EVERY or not has_strong_zeros(s, op) or facts is None or facts.dims == ():
        return {}
    mark = len(s.block)
    try:
        slope = write(Const(1.0), op.arguments)[p]
    except NoRule:  # of a number that is written out, as in `x / 0`, which raises in the run
        del s.block[mark:]
        return {}
    return {p: masked(s, slope, entries[p])} if isinstance(slope, Leaf) else {}


def is_number(s: Specialiser, entry: Value) -> bool:
    facts = s.num(entry)
    return facts is not None and facts.dims == () and facts.kind != "array"


def is_linear(d: Value, entry: Value) -> bool:
    """True if an entry is the derivative itself, or none."""
    return entry == d or isinstance(entry, Const)


def masked(s: Specialiser, d: Value, entry: Value) -> Value:
    """An array that is zero where the derivative is."""
    if is_linear(d, entry) or s.num(entry) is None:
        return entry
    return call_python(s, where_defined if s.read_again else where_nonzero, [d, entry], {})


def where_nonzero(d: Any, entry: Any) -> Any:
    """Inlined: `entry`, and zero where `d` is zero."""
    return np.where(d == 0, 0.0, entry)


def where_defined(d: Any, entry: Any) -> Any:
    """Inlined where the derivative is differentiated again: zero only where it would be NaN."""
    return np.where((d == 0) & np.isnan(entry), 0.0, entry)


def in_branch(
    s: Specialiser, d: Leaf, entries: Entries, block: ir.Block, wanted: list[str], write: Callable[[Value], Entries]
) -> Entries:
    """Numbers that are computed only where the derivative is not zero."""
    changed = [p for p in wanted if not is_linear(d, entries[p])]
    if not changed:
        s.block += block
        return entries
    node = ir.If(gast.Compare(s.expr(d), [gast.NotEq()], [ir.constant(0)]), block, [], [], s.origin)
    result = dict(entries)
    with s.writing(node.orelse):
        others = defined(s, d, changed, write) if s.read_again else {}
    for p in changed:
        facts = s.facts_of(entries[p])
        with s.writing(node.then):
            then = entries[p] if isinstance(entries[p], Leaf) else s.let(s.expr(entries[p]), facts, may_raise=False)
        with s.writing(node.orelse):
            orelse = s.let(others.get(p) or zero_of(s, facts), facts, may_raise=False)
        target = s.fresh("t", facts)
        node.merges.append(ir.Merge(target, then.name, orelse.name))
        result[p] = Leaf(target)
    s.block.append(node)
    return result


def defined(s: Specialiser, d: Leaf, wanted: list[str], write: Callable[[Value], Entries]) -> dict[str, Any]:
    """Entries for a derivative that is zero, as numbers of NumPy's, which raise nothing; zero in the place of NaN."""
    facts, careful = s.num(d), s.careful
    dtype = np.dtype(float) if facts is None or facts.dtype is None else facts.dtype
    s.careful = True
    number = s.let(
        ir.call(ir.attribute(s.bind("np", np), dtype.name), s.expr(d)), Num("npscalar", dtype, ()), may_raise=False
    )
    found = write(number)
    s.careful = careful
    return {p: s.expr(call_python(s, number_defined, [found[p]], {})) for p in wanted}


def number_defined(entry: Any) -> Any:
    """Inlined: `entry`, and zero where it is NaN."""
    return 0.0 if entry != entry else entry


def zero_of(s: Specialiser, facts: Any) -> Any:
    """Zero as a number of a kind: Python's, or NumPy's of a dtype."""
    if isinstance(facts, Num) and facts.kind == "npscalar" and facts.dtype is not None:
        return ir.call(ir.attribute(s.bind("np", np), facts.dtype.type.__name__), ir.constant(0.0))
    return ir.constant(0.0)
