"""Effects of statements: what they write, and what surely raises no exception."""

from __future__ import annotations

import builtins
from typing import Any

import gast
import numpy as np

from .. import ir
from ..domain.facts import Axis, Listed, Num
from ..ir.function import Function
from .alias import roots_of, written_arguments


def touches(s: Function, stmt: Any, region: frozenset[int] | set[int], writing: bool) -> bool:
    """True if a statement writes to (or, unless `writing`, reads) memory of a region."""
    return any(touches_itself(s, inner, region, writing) for inner in ir.inside(stmt))


def touches_itself(s: Function, stmt: Any, region: frozenset[int] | set[int], writing: bool) -> bool:
    """The same for a statement without the blocks inside it."""
    kind = type(stmt)
    if kind is ir.Store and not region.isdisjoint(roots_of(s.facts[stmt.base])):
        return True
    if writing and kind is not ir.Effect:
        return False
    return any(not region.isdisjoint(roots_of(s.facts[n])) for n in ir.reads(stmt))


def is_loop(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop)


def written_names(stmt: Any) -> set[str]:
    """The variables through which a statement and the blocks inside it may write memory."""
    names: set[str] = set()
    for inner in ir.inside(stmt):
        names |= set(written_arguments(inner).values())
        if isinstance(inner, ir.Store):
            names.add(inner.base)
        elif (isinstance(inner, ir.Effect) and inner.kind != "save") or (
            isinstance(inner, ir.Let) and (inner.effect or inner.in_place)
        ):
            names |= set(ir.reads(inner))
    return names


SUMS = (gast.Add, gast.Sub, gast.Mult)
POWERS = (gast.Div, gast.Pow)
NEW = (np.empty_like, np.zeros_like, np.ones_like)
REDUCTIONS = (np.prod, np.mean, np.var, np.std, np.median, np.linalg.norm)  # of nothing, too


def is_safe(s: Function, stmt: Any) -> bool:
    """True if a statement itself, without the blocks inside it, surely raises no exception."""
    if not isinstance(stmt, (ir.Let, ir.If)) or (isinstance(stmt, ir.Let) and stmt.may_raise and stmt.loud):
        return False
    expr = stmt.expr if isinstance(stmt, ir.Let) else stmt.test
    if isinstance(expr, (gast.Name, gast.Constant)) or (isinstance(stmt, ir.Let) and not stmt.may_raise):
        return True
    return is_safe_value(s, expr)


def is_safe_value(s: Function, expr: Any) -> bool:
    """True if an expression is one operation that surely raises no exception, or a sum of what one gives."""
    if isinstance(expr, gast.UnaryOp):
        return isinstance(fact(s, expr.operand), Num) and not isinstance(expr.op, gast.Not)
    if isinstance(expr, gast.BinOp):
        if not all(is_safe_value(s, side) for side in (expr.left, expr.right) if isinstance(side, gast.BinOp)):
            return False
        left, right = operand(s, expr.left), operand(s, expr.right)
        return is_safe_operation(expr.op, left, right) or is_divided_by_constant(expr, left)
    if isinstance(expr, gast.Subscript):
        return is_safe_item(s, expr)
    if not isinstance(expr, gast.Call):
        return False
    return is_safe_sum(s, expr) or is_safe_call(s, expr) or is_safe_total(s, expr) or is_safe_product(s, expr)


def is_safe_item(s: Function, expr: gast.Subscript) -> bool:
    """True if an array has the part that is read: slices always are there, and items of an axis that is long enough."""
    found: Any = fact(s, expr.value)
    if not isinstance(found, Num) or found.kind != "array" or found.dims is None or found.tensor:
        return False
    parts = expr.slice.elts if isinstance(expr.slice, gast.Tuple) else [expr.slice]
    axes = [part for part in parts if not (isinstance(part, gast.Constant) and part.value is None)]
    if len(axes) > len(found.dims):
        return False
    return all(is_plain_slice(s, part) or has_item(dim, part) for dim, part in zip(found.dims, axes))


def is_plain_slice(s: Function, part: Any) -> bool:
    """True for a slice between integers, without a step or with one that is written in the program and not zero."""
    if not isinstance(part, gast.Slice) or (part.step is not None and not literal(part.step)):
        return False
    ends = [end for end in (part.lower, part.upper) if end is not None]
    return all(literal(end) is not None or getattr(fact(s, end), "kind", None) == "int" for end in ends)


def has_item(dim: Axis, part: Any) -> bool:
    """True if an axis surely has the item at a place that is written in the program."""
    place = literal(part)
    length = dim if isinstance(dim, int) else 2 if dim is not None and dim.several else 0
    return place is not None and -length <= place < length


def is_integer(s: Function, expr: Any) -> bool:
    """True if an expression is an integer, made of others without anything that raises."""
    if isinstance(expr, gast.Name):
        return getattr(s.facts.get(expr.id), "kind", None) == "int"
    if isinstance(expr, gast.BinOp):
        return isinstance(expr.op, SUMS) and is_integer(s, expr.left) and is_integer(s, expr.right)
    return literal(expr) is not None


def literal(part: Any) -> int | None:
    """The integer that is written in the program, with or without a sign."""
    if isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.USub):
        number = literal(part.operand)
        return None if number is None else -number
    return part.value if isinstance(part, gast.Constant) and type(part.value) is int else None


def fact(s: Function, expr: Any) -> Any:
    """The facts of a variable or a number, or of a sum or product of one of NumPy's floats and another number."""
    if isinstance(expr, gast.BinOp):
        sides = [fact(s, expr.left), fact(s, expr.right)]
        numpys = [side for side in sides if is_float(side) and side.kind == "npscalar"]
        return numpys[0] if numpys and all(is_real(side) and side.dims == () for side in sides) else None
    if isinstance(expr, gast.Constant) and type(expr.value) in (int, float):
        return Num(type(expr.value).__name__, np.dtype(type(expr.value)), ())
    return s.facts.get(expr.id) if isinstance(expr, gast.Name) else None


def operand(s: Function, expr: Any) -> Any:
    """The facts of an operand: as `fact` tells, or of a function of each element of an array of floats."""
    if not isinstance(expr, gast.Call) or len(expr.args) != 1 or expr.keywords:
        return fact(s, expr)
    callee, found = path(s, expr.func), fact(s, expr.args[0])
    of_floats = is_real(found) and found.kind in ("array", "npscalar") and found.dtype.kind == "f"
    return found if of_floats and isinstance(callee, np.ufunc) and "d->d" in callee.types else None


def is_safe_operation(op: Any, left: Any, right: Any) -> bool:
    """True if an operator works for all numbers of these kinds: NumPy's do, where shapes fit, but Python's may not."""
    if not isinstance(left, Num) or not isinstance(right, Num) or left.dims is None or right.dims is None:
        return False
    if not all(x == 1 or y == 1 or x == y is not None for x, y in zip(reversed(left.dims), reversed(right.dims))):
        return False
    if any(f.dtype is None or f.dtype.kind not in "iuf" for f in (left, right)):
        return False
    if isinstance(op, gast.MatMult):
        return left.ndim == 1 and left.dims == right.dims
    if isinstance(op, SUMS):
        return True
    floats = any(f.dtype is not None and f.dtype.kind == "f" and f.kind in ("array", "npscalar") for f in (left, right))
    return isinstance(op, POWERS) and floats


def is_divided_by_constant(expr: Any, left: Any) -> bool:
    """True if a float is divided by a number that is written in the program and not zero."""
    number = isinstance(expr.right, gast.Constant) and type(expr.right.value) in (int, float) and expr.right.value != 0
    return number and isinstance(expr.op, (gast.Div, gast.Mod, gast.FloorDiv)) and is_float(left)


def is_float(found: Any) -> bool:
    """True if something is one float."""
    return is_real(found) and found.dims == () and found.kind in ("float", "npscalar") and found.dtype.kind == "f"


def is_safe_total(s: Function, expr: Any) -> bool:
    """True if a call adds up a few numbers, takes or adds up a diagonal, adds up along axes or sorts."""
    if not expr.args or any(isinstance(arg, gast.Starred) for arg in expr.args):
        return False
    (first, *rest), name = expr.args, getattr(expr.func, "id", "")
    if isinstance(first, gast.List) and s.globals.get(name, getattr(builtins, name, None)) is sum:
        return not rest and not expr.keywords and all(is_float(fact(s, e)) for e in first.elts)
    found, callee = fact(s, first), path(s, expr.func)
    if rest or not is_real(found) or found.kind != "array":
        return False
    if callee in (np.trace, np.diag, np.diagonal):
        return not expr.keywords and found.ndim == 2
    if callee is np.sort and not expr.keywords:
        return bool(found.ndim)
    if (
        callee not in (np.sum, np.sort, np.linalg.norm)
        or [k.arg for k in expr.keywords] != ["axis"]
        or found.ndim is None
    ):
        return False
    axis = expr.keywords[0].value
    axes = [getattr(e, "value", None) for e in (axis.elts if isinstance(axis, gast.Tuple) else [axis])]
    if callee is np.linalg.norm and len(axes) > 2:
        return False
    return all(type(k) is int and 0 <= k < found.ndim for k in axes) and len(set(axes)) == len(axes)


def is_safe_product(s: Function, expr: Any) -> bool:
    """True if a call multiplies two vectors of one length, as the operator would."""
    if len(expr.args) != 2 or expr.keywords or path(s, expr.func) not in (np.dot, np.vdot, np.inner):
        return False
    left, right = (fact(s, e) for e in expr.args)
    return is_safe_operation(gast.MatMult(), left, right)


def is_safe_sum(s: Function, expr: Any) -> bool:
    """True if a call adds up an array, or a list of numbers."""
    if len(expr.args) != 1 or expr.keywords:
        return False
    (summed,), found = expr.args, fact(s, expr.args[0])
    if path(s, expr.func) is np.sum:
        return is_real(found) or (found is None and is_safe_value(s, summed))
    name = getattr(expr.func, "id", "")
    if s.globals.get(name, getattr(builtins, name, None)) is not sum:
        return False
    if isinstance(found, Listed):
        item: Any = s.elements_of(found)
        return is_real(item) and item.dims == () and item.kind != "array"
    return isinstance(found, Num) and is_real(found) and found.ndim == 1


def is_real(found: Any) -> bool:
    """True if something is a real number, or an array of them."""
    return isinstance(found, Num) and found.dtype is not None and found.dtype.kind in "iuf"


def path(s: Function, func: Any) -> Any:
    """The function of a module that is called, such as ``np.sum`` or ``np.linalg.norm``."""
    if isinstance(func, gast.Attribute):
        module = s.globals.get(func.value.id) if isinstance(func.value, gast.Name) else path(s, func.value)
        return getattr(module, func.attr, None)
    return None


def is_safe_call(s: Function, expr: Any) -> bool:
    """True if a call is one of an elementwise function of NumPy's on one array, of a reduction, `abs` or a copy."""
    if len(expr.args) != 1 or expr.keywords:
        copied = fact(s, expr.func.value) if isinstance(expr.func, gast.Attribute) else None
        return not (expr.args or expr.keywords) and is_real(copied) and expr.func.attr == "copy"
    if getattr(expr.func, "id", "") == "abs" and "abs" not in s.globals:
        return is_real(fact(s, expr.args[0]))
    callee = path(s, expr.func)
    given, elementwise = fact(s, expr.args[0]), isinstance(callee, np.ufunc) and callee.nin == 1
    if elementwise and isinstance(expr.args[0], gast.Call) and is_safe_product(s, expr.args[0]):
        return True
    return (elementwise or callee in (*REDUCTIONS, *NEW)) and is_real(given)
