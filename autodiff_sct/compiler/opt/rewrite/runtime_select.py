"""Selections and scatters decided at run time.

Selections of cotangents that look at the values at run time.

Whether two arrays tie anywhere is asked before half of a cotangent is made for the places where they do::

    d_x = np.where(x > 0.0, d_y, np.where(x == 0.0, d_y / 2, 0))
    ->
    d_x = select(x > 0.0, d_y, half_where(x == 0.0, d_y))

That is the adjoint of ``np.maximum(x, 0.0)``.  Numbers that were computed are seldom equal, and then three passes over
memory out of five are not made.  The outer condition is an array, so that one number in the place of the halves is
broadcast to all of it.

What equals the extreme along an axis shares its cotangent, and where there is one in each lane, that is put there::

    extreme = x == max_x[:, None]
    d_x = np.where(extreme, d_max_x[:, None] / extreme.sum(1, x.dtype, keepdims=True), 0)
    ->
    d_x = share_out(d_max_x[:, None], extreme, 1, x.dtype)

`select` gives the numbers of `np.where`, by their bits if the array is large (see `runtime.selection`).  For vectors in
loops, which are mostly short, looking at their size is not worth it.

Scatter-add: additions at places that integers name are made by NumPy itself, where that is all of a loop.

::

    add_at(d_x, cols, d_y * vals)      ->      np.add.at(d_x, cols, d_y * vals)

The function of `runtime` knows lists, complex cotangents and faster ways to add whole rows, and numbers of arrays with
several axes; of a vector of real doubles of which each is named by an integer from an array, none of these is asked.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ....runtime import scatter
from ....runtime.selection import half_where, select, share_out
from ... import ir
from ...domain.facts import Num
from ...interp.kernel.slice_lengths import site_of
from ...ir.function import Function
from ...ir.patterns import is_pop_call, literal, numpy_name
from ...ir.traversal import with_operands
from .canonicalize import cotangents


def select_at_runtime(s: Function, block: ir.Block) -> None:
    """Rewrite the cotangents that a block of the reverse sweep computes, in place."""
    share_halves(s, block)
    looped = {id(x) for stmt in ir.walk(block) if isinstance(stmt, ir.Loop) for x in ir.walk(stmt.body)}
    halves = {x.target for x in ir.adjoint_walk(block) if isinstance(x, ir.Let) and is_sparse(x.expr)}
    for stmt, part in cotangents(s, block):
        expr = getattr(stmt, part)
        selections = sum(type(node) is gast.Call and is_selection(node) for node in ir.nodes_in(expr))
        if selections:
            expr = asked(s, expr) if selections > 1 else shared_out(s, expr)
            setattr(stmt, part, quick(s, expr, 2 if id(stmt) in looped else 1, halves))


def quick(s: Function, expr: Any, axes: int, halves: set[str]) -> Any:
    """An expression whose selections by arrays of so many axes and more are quick."""
    expr = with_operands(expr, lambda e: quick(s, e, axes, halves))
    if not is_selection(expr) or not any(has_axes(s, e, axes) for e in expr.args[:2]):
        return expr
    other = expr.args[2]
    if literal(other) != 0 and not is_sparse(other) and getattr(other, "id", "") not in halves:
        return expr
    return ir.call(s.bind("select", select), *expr.args)


def is_sparse(other: Any) -> bool:
    """True if an expression is the half of a cotangent where two arrays tie, and so mostly 0."""
    return isinstance(other, gast.Call) and getattr(other.func, "id", "") == "half_where"


def has_axes(s: Function, expr: Any, axes: int) -> bool:
    """True if a variable, or one side of a comparison, is an array of doubles or of truth values with so many axes."""
    expr = test_of(s, expr)
    if isinstance(expr, gast.Compare):
        return any(has_axes(s, side, axes) for side in (expr.left, *expr.comparators))
    facts = s.facts.get(expr.id) if isinstance(expr, gast.Name) else None
    known = isinstance(facts, Num) and facts.kind == "array" and facts.dtype is not None and not facts.tensor
    return known and facts.dtype.kind in "bf" and (facts.ndim or 0) >= axes  # type: ignore[union-attr]


def shared_out(s: Function, expr: Any) -> Any:
    """An expression in which the cotangents of extremes along an axis are put where these are."""
    expr = with_operands(expr, lambda e: shared_out(s, e))
    if not is_selection(expr) or not isinstance(expr.args[0], gast.Name) or literal(expr.args[2]) != 0:
        return expr
    extreme, share, _ = expr.args
    facts = s.facts.get(extreme.id)
    if not isinstance(share, gast.BinOp) or not isinstance(share.op, gast.Div):
        return expr
    if not isinstance(facts, Num) or (facts.ndim or 0) < 2 or facts.tensor:
        return expr
    found = counted_along(s, share.right, extreme.id)
    return expr if found is None else ir.call(s.bind("share_out", share_out), share.left, extreme, *found)


def counted_along(s: Function, count: Any, name: str) -> list[Any] | None:
    """The axis and the dtype of ``name.sum(axis, dtype, keepdims=True)``."""
    if not isinstance(count, gast.Call) or not isinstance(count.func, gast.Attribute) or count.func.attr != "sum":
        return None
    args = count.args if getattr(count.func.value, "id", "") == name else count.args[1:]
    summed = args is count.args or numpy_name(count) == "sum" and getattr(count.args[0], "id", "") == name
    kept = [(k.arg, literal(k.value)) for k in count.keywords] == [("keepdims", True)]
    if not summed or not kept or len(args) != 2:
        return None
    axis = s.facts.get(getattr(args[0], "id", ""))
    one = type(literal(args[0])) is int or isinstance(axis, Num) and axis.kind == "int"
    return args if one else None


def share_halves(s: Function, block: ir.Block) -> None:
    """Ask once for halves that have a name because both of the arrays get them."""
    halves = {x.target: x for x in ir.adjoint_walk(block) if isinstance(x, ir.Let) and is_halving(s, x.expr)}
    if not halves:
        return
    readers: dict[str, list[Any]] = {name: [] for name in halves}
    others: set[str] = set()
    for stmt in ir.adjoint_walk(block):
        chosen = [e for expr in ir.expressions(stmt) for e in ir.nodes_in(expr) if is_choice(s, e, halves)]
        for selection in chosen:
            readers[selection.args[2].id].append(selection)
        read = [n for n in ir.uses(stmt) if n in halves]
        others |= {n for n in read if read.count(n) != sum(e.args[2].id == n for e in chosen)}
    for name, stmt in halves.items():
        if readers[name] and name not in others:
            tie, half, _ = stmt.expr.args
            if all(
                is_tie_of(s, tie, e.args[0]) and gast.dump(e.args[1]) == gast.dump(half.left) for e in readers[name]
            ):
                stmt.expr = ir.call(s.bind("half_where", half_where), tie, half.left)


def is_halving(s: Function, expr: Any) -> bool:
    """True if an expression is half of something where two arrays tie, and zero elsewhere."""
    return is_selection(expr) and is_half(expr) and isinstance(test_of(s, expr.args[0]), gast.Compare)


def is_choice(s: Function, expr: Any, halves: dict[str, ir.Let]) -> bool:
    """True if an expression selects by a comparison of arrays, and named halves elsewhere."""
    return is_selection(expr) and is_comparison(s, expr.args[0]) and getattr(expr.args[2], "id", "") in halves


def asked(s: Function, expr: Any) -> Any:
    """An expression whose selections have their halves from `half_where`."""
    expr = with_operands(expr, lambda e: asked(s, e))
    if not is_selection(expr) or not is_comparison(s, expr.args[0]):
        return expr
    halves = expr.args[2]
    if not is_selection(halves) or not is_half(halves) or not is_tie_of(s, halves.args[0], expr.args[0]):
        return expr
    half = ir.call(s.bind("half_where", half_where), halves.args[0], halves.args[1].left)
    return gast.Call(expr.func, [*expr.args[:2], half], [])


def is_selection(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and numpy_name(expr) == "where" and len(expr.args) == 3 and not expr.keywords


def test_of(s: Function, condition: Any) -> Any:
    """The comparison that a condition is, also where the forward sweep has made it."""
    name = s.step_of(getattr(condition, "id", ""))
    if is_pop_call(condition) and (saved := getattr(condition.func.value, "id", "")) in s.saved:
        _, name = site_of(s, min(s.facts[saved].roots))
    made = s.definitions.get(name)
    return made if isinstance(made, gast.Compare) else condition


def is_comparison(s: Function, test: Any) -> bool:
    """True if a condition compares an array with something."""
    test = test_of(s, test)
    if not isinstance(test, gast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (gast.Gt, gast.Lt)):
        return False
    facts = [s.facts.get(getattr(side, "id", "")) for side in (test.left, *test.comparators)]
    return any(isinstance(f, Num) and f.kind == "array" and bool(f.ndim) for f in facts)


def is_half(selection: Any) -> bool:
    """True if the half of something is selected, or zero."""
    _, chosen, other = selection.args
    halved = isinstance(chosen, gast.BinOp) and isinstance(chosen.op, gast.Div) and literal(chosen.right) == 2
    return halved and literal(other) == 0


def is_tie_of(s: Function, tie: Any, test: Any) -> bool:
    """True if a condition says that the two sides of a comparison are equal."""
    tie, test = test_of(s, tie), test_of(s, test)
    if not isinstance(tie, gast.Compare) or len(tie.ops) != 1 or not isinstance(tie.ops[0], gast.Eq):
        return False
    sides, others = (tie.left, tie.comparators[0]), (test.left, test.comparators[0])
    texts = [sorted(gast.dump(side) for side in pair) for pair in (sides, others)]
    return bool(texts[0] == texts[1])


def scatter_add(s: Function, block: ir.Block) -> None:
    """Rewrite the additions of a block of the reverse sweep and the blocks inside it, in place."""
    for stmt in ir.adjoint_walk(block):
        if isinstance(stmt, ir.Effect) and is_plain(s, stmt.expr):
            stmt.expr = ir.call(ir.attribute(ir.attribute(s.bind("np", np), "add"), "at"), *stmt.expr.args)


def is_plain(s: Function, call: Any) -> bool:
    """True if a call adds real numbers to single numbers of a vector."""
    if not isinstance(call, gast.Call) or s.globals.get(getattr(call.func, "id", "")) is not scatter.add_at:
        return False
    shadow, index, value = call.args
    facts = array(s, shadow)
    if facts is None or facts.dtype != np.float64 or facts.tensor or facts.ndim != 1:
        return False
    places = array(s, index.elts[0] if isinstance(index, gast.Tuple) and len(index.elts) == 1 else index)
    if places is None or places.dtype is None or places.dtype.kind not in "iu":
        return False
    read = [s.facts[n] for n in ir.variables_in(value)]
    return all(isinstance(f, Num) and f.dtype is not None and f.dtype.kind in "fiub" for f in read)


def array(s: Function, expr: Any) -> Num | None:
    """The facts of a variable that is an array with an axis or more."""
    facts = s.facts.get(expr.id) if isinstance(expr, gast.Name) else None
    return facts if isinstance(facts, Num) and facts.kind == "array" and facts.ndim else None
