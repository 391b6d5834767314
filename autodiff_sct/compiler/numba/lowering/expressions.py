"""Expressions of the intermediate form, as numbers and grids, and variables that some paths leave unbound.

    for i in range(n):                       bound = False
        if x[i] > 1:                         for i in range(n):
            result = x[i]             ->         if x[i] > 1:
            break                                    result = x[i]
    return result                                    bound = True
                                                     break
                                             assert bound
                                             return result

Where one is read that is not bound, the call is given up, and the NumPy program raises what Python raises.
"""

from __future__ import annotations

import builtins
import math
from types import ModuleType
from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.facts import Num
from ..kinds import BOOL, DTYPES, FLOAT64, INT64, WIDTH, Bundle, Grid, Items, Number, Raw, Value
from ..passes.affine import constant_form, form_of, proved, reads_memory, remainder
from ..passes.index_functions import elementwise, in_memory, size_expr
from ..state import State
from . import scalars
from .scalars import as_truth, compare, negation, negative, select
from .tape_index import part, transposed

__all__ = [
    "as_truth",
    "begin",
    "check",
    "dtype_of",
    "end",
    "enter",
    "in_memory",
    "lower",
    "merged",
    "number",
    "resolved",
]


def is_unbound(state: State, variable: str) -> bool:
    return variable in state.s.unbound  # type: ignore[attr-defined]


def flag(state: State, variable: str | None) -> str:
    """A variable that tells whether another one is bound."""
    if variable in state.bound:
        return state.bound[variable]
    name = state.fresh("bound", BOOL)
    state.emit(ir.Let((name,), ir.constant(variable is not None)))
    return name


def told(state: State, variable: str) -> str:
    """The truth value of a variable that is about to be defined."""
    name = state.bound[variable] = state.fresh("bound", BOOL)
    state.values[name] = Number(ir.name(name), BOOL, True)
    return name


def check(state: State, variable: str) -> None:
    """Give the call up where a variable is not bound."""
    if variable in state.bound:
        state.check(ir.name(state.bound[variable]))


def merged(state: State, stmt: ir.If, sides: list[ir.Block]) -> list[ir.Merge]:
    """The flags that tell, after a branch, whether the variables that it assigns are bound."""
    merges = []
    for m in stmt.merges:
        if is_unbound(state, m.target):
            names = []
            for source, side in zip((m.then, m.orelse), sides):
                with state.writing() as extra:
                    names.append(flag(state, source))
                side += extra
            merges.append(ir.Merge(told(state, m.target), *names))
    return merges


def begin(state: State, stmt: ir.Loop) -> list[ir.Carry]:
    """The flags that tell in a loop which of the variables that it carries are bound."""
    carried = [c for c in stmt.carries if is_unbound(state, c.out)]
    inits = [flag(state, c.init) for c in carried]
    return [ir.Carry(told(state, c.phi), init, None, told(state, c.out)) for c, init in zip(carried, inits)]


def enter(state: State, carries: list[ir.Carry]) -> None:
    for c in carries:
        state.define(c.phi, BOOL)


def end(state: State, stmt: ir.Loop, carries: list[ir.Carry]) -> None:
    """Update the flags at the end of an iteration."""
    table = {state.bound[c.phi]: c for c in stmt.carries if c.phi in state.bound}
    for carry in carries:
        carry.next = flag(state, table[carry.phi].next)


CONSTANTS = {id(value): f"{module}.{name}" for module, name, value in (
    ("np", "pi", np.pi), ("np", "e", np.e), ("np", "inf", np.inf), ("np", "nan", np.nan),
    ("math", "pi", math.pi), ("math", "e", math.e), ("math", "inf", math.inf), ("math", "nan", math.nan),
    ("math", "tau", math.tau),
)}  # fmt: skip


def lower(state: State, expr: Any) -> Value:
    """The value of an expression; what it does on the way is emitted."""
    found = LOWERINGS.get(type(expr).__name__)
    if found is None:
        raise state.outside(f"an expression of the kind {type(expr).__name__}")
    return found(state, expr)


def number(state: State, expr: Any) -> Number:
    value = lower(state, expr)
    if not isinstance(value, Number):
        raise state.outside("an array where a number is needed")
    return value


def lower_name(state: State, expr: Any) -> Value:
    if expr.id in state.values:
        check(state, expr.id)
        return state.values[expr.id]
    raise state.outside(f"{state.s.hints.get(expr.id, expr.id)!r}, which is no number or array")


def lower_constant(state: State, expr: Any) -> Value:
    value = expr.value
    if isinstance(value, bool):
        return Number(expr, BOOL, True)
    if isinstance(value, int):
        if abs(value) >= 2**31:
            raise state.outside("a large integer")
        return Number(expr, INT64, True, max(value.bit_length(), 1))
    if isinstance(value, float):
        return Number(expr, FLOAT64, True)
    raise state.outside(f"the constant {value!r}")


def lower_binop(state: State, expr: Any) -> Value:
    left, right = lower(state, expr.left), lower(state, expr.right)
    if isinstance(expr.op, gast.MatMult):
        from .constructors import matmul

        return matmul(state, left, right)
    return arithmetic(state, type(expr.op), left, right)


def arithmetic(state: State, op: type, left: Value, right: Value) -> Value:
    if isinstance(left, (Items, Bundle)) or isinstance(right, (Items, Bundle)):
        from .lists import joined_lists

        return joined_lists(state, op, left, right)
    operands(state, left, right)
    checks: list[Any] = []
    if op is gast.Pow:
        left = repeated(state, left)
    result = elementwise(state, lambda x: scalars.binary(op, x[0], x[1], checks.append), [left, right])
    if op is gast.Pow and checks:
        result = state.let(result, "power")
        checks = [ir.call("math.isfinite", result.expr)]
    if not (op in DIVISIONS and is_positive(state, right)):
        for test in checks:
            state.check(test)
    if op is gast.Mod and isinstance(result, Number) and result.dtype == INT64:
        return remainder(state, left, right, result)
    return result


DIVISIONS = (gast.Div, gast.FloorDiv, gast.Mod)


def is_positive(state: State, value: Value) -> bool:
    """True if a whole number is known to be greater than zero."""
    if not isinstance(value, Number) or value.dtype != INT64 or reads_memory(value.expr):
        return False
    return proved(state, form_of(state, value.expr).plus(constant_form(1), -1))


def repeated(state: State, value: Value) -> Value:
    """A number that an expression reads several times: in a variable."""
    return state.let(value) if isinstance(value, Number) else value


def operands(state: State, *values: Value) -> None:
    if not all(isinstance(value, (Number, Grid)) for value in values):
        raise state.outside("an operation on something that is no number or array")


def lower_unaryop(state: State, expr: Any) -> Value:
    operand = lower(state, expr.operand)
    operands(state, operand)
    if isinstance(expr.op, gast.USub):
        return elementwise(state, lambda x: negative(x[0]), [operand])
    if isinstance(expr.op, gast.UAdd):
        return operand
    if isinstance(expr.op, gast.Not) and isinstance(operand, Number):
        return negation(operand)
    if isinstance(expr.op, gast.Invert) and operand.dtype == BOOL and getattr(operand, "python", False) is False:
        return elementwise(state, lambda x: negation(x[0]), [operand])
    raise state.outside(f"the operator {type(expr.op).__name__}")


def lower_compare(state: State, expr: Any) -> Value:
    left, links = lower(state, expr.left), []
    for k, (op, comparator) in enumerate(zip(expr.ops, expr.comparators)):
        with state.writing() as extra:
            right = lower(state, comparator)
        if extra and k:
            raise state.outside("a chain of comparisons that computes something only where those before hold")
        state.out += extra
        right = repeated(state, right) if expr.ops[k + 1 :] else right
        links.append(comparison(state, type(op), left, right))
        left = right
    if len(links) == 1:
        return links[0]
    if not all(isinstance(link, Number) for link in links):
        raise state.outside("a chain of comparisons of arrays")
    python = links[0].python if all(link.python == links[0].python for link in links) else None
    return Number(gast.BoolOp(gast.And(), [link.expr for link in links]), BOOL, python)


def comparison(state: State, op: type, left: Value, right: Value) -> Value:
    if op not in (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq):
        raise state.outside(f"the comparison {op.__name__}")
    if isinstance(left, Bundle) and isinstance(right, Bundle) and op in (gast.Eq, gast.NotEq):
        return same_items(state, op, left, right)
    operands(state, left, right)
    return elementwise(state, lambda x: compare(op, x[0], x[1]), [left, right])


def same_items(state: State, op: type, left: Bundle, right: Bundle) -> Number:
    """The test whether two tuples of numbers are equal, or are not."""
    if not all(isinstance(item, Number) for item in (*left.items, *right.items)):
        raise state.outside("a comparison of tuples of something else than numbers")
    links = [compare(op, a, b).expr for a, b in zip(left.items, right.items)]
    if len(left.items) != len(right.items) or not links:
        return Number(ir.constant((len(left.items) == len(right.items)) == (op is gast.Eq)), BOOL, True)
    joint = gast.And() if op is gast.Eq else gast.Or()
    return Number(links[0] if len(links) == 1 else gast.BoolOp(joint, links), BOOL, True)


def lower_boolop(state: State, expr: Any) -> Value:
    values = []
    for value in expr.values:
        with state.writing() as extra:
            values.append(number(state, value))
        if extra and values[1:]:
            raise state.outside("a condition that is computed only where the one before it holds")
        state.out += extra
    if not all(value.dtype == BOOL for value in values):
        raise state.outside("`and` or `or` of numbers")
    python = values[0].python if all(v.python == values[0].python for v in values) else None
    return Number(gast.BoolOp(expr.op, [v.expr for v in values]), BOOL, python)


def lower_ifexp(state: State, expr: Any) -> Value:
    test, a, b = (number(state, e) for e in (expr.test, expr.body, expr.orelse))
    picked = select(test, a, b)
    return Number(picked.expr, picked.dtype, a.python if a.python == b.python else None, picked.bits)


def lower_subscript(state: State, expr: Any) -> Value:
    base = shape_or(state, expr.value)
    if isinstance(base, Bundle):
        index = number(state, expr.slice)
        place = scalars.constant_of(index.expr)
        if place is None and base.items and all(isinstance(item, Number) for item in base.items):
            return one_of(state, base, index)
        if not isinstance(place, int) or not -len(base.items) <= place < len(base.items):
            raise state.outside("an item of a tuple that is not known before the run")
        return base.items[place]
    if isinstance(base, Items):
        from .lists import subscript

        return subscript(state, base, expr.slice)
    if isinstance(base, Raw):
        if not isinstance(expr.slice, gast.Constant) or not isinstance(expr.slice.value, int):
            raise state.outside("an argument in a dict")
        return Raw(ir.subscript(base.expr, expr.slice))
    if not isinstance(base, Grid):
        raise state.outside("an item of something that is no array")
    from .gather_scatter import read

    by_arrays = read(state, base, expr.slice)
    if by_arrays is not None:
        return by_arrays
    return part(state, base, expr.slice, lambda e: number(state, e))


def one_of(state: State, base: Bundle, index: Number) -> Number:
    """An item of a tuple of numbers of one kind: out of an array that holds them."""
    kinds = {(item.dtype, item.python) for item in base.items}
    if len(kinds) > 1 or base.items[0].dtype == BOOL:
        raise state.outside("an item of a tuple of several kinds that is not known before the run")
    from .constructors import stacked

    constant = all(isinstance(item.expr, gast.Constant) for item in base.items)
    with state.writing() as making:
        array = stacked(state, base)
    (before_loops(state) if constant else state.out).extend(making)
    bits = max(item.bits for item in base.items)
    found = part(state, array, ir.name("index"), lambda e: index)
    return Number(found.expr, array.dtype, base.items[0].python, bits)


def before_loops(state: State) -> ir.Block:
    """The statements before the loops over ranges that are around, as far as nothing else is in between."""
    level = state.level
    while level > 0 and state.scopes[level].kind == "range":
        level -= 1
    return state.out if level == state.level else state.scopes[level + 1].before


def shape_or(state: State, expr: Any) -> Value:
    return lower(state, expr)


def lower_tuple(state: State, expr: Any) -> Value:
    return Bundle(tuple(lower(state, e) for e in expr.elts))


def lower_attribute(state: State, expr: Any) -> Value:
    found = resolved(state, expr)
    if isinstance(found, float):
        if id(found) in CONSTANTS:
            return Number(ir.dotted(CONSTANTS[id(found)]), FLOAT64, True)
        return Number(ir.constant(found), FLOAT64, True)
    base = lower(state, expr.value)
    if isinstance(base, Number):
        return number_attribute(state, base, expr.attr)
    if not isinstance(base, Grid):
        raise state.outside(f"the attribute {expr.attr!r}")
    if expr.attr == "T":
        view = None if base.view is None else ir.attribute(base.view, "T")
        return transposed(base, list(range(base.ndim))[::-1], view)
    if expr.attr == "shape":
        return Bundle(tuple(Number(state.lasting(axis), INT64, True, WIDTH) for axis in base.axes))
    if expr.attr in ("size", "ndim"):
        value = size_expr(base) if expr.attr == "size" else ir.constant(base.ndim)
        return Number(value, INT64, True, WIDTH)
    if expr.attr == "real":
        return base
    raise state.outside(f"the attribute {expr.attr!r}")


def number_attribute(state: State, base: Number, attr: str) -> Value:
    if attr in ("size", "ndim") and base.python is False:
        return Number(ir.constant(1 if attr == "size" else 0), INT64, True, 1)
    if attr in ("real", "T") and base.dtype.kind == "f":
        return base
    raise state.outside(f"the attribute {attr!r} of a number")


def resolved(state: State, expr: Any) -> Any:
    """The object behind a dotted name of the emitted module, or None."""
    if isinstance(expr, gast.Name):
        if ir.is_variable(expr.id):
            return None
        return state.s.globals.get(expr.id, getattr(builtins, expr.id, None))
    if isinstance(expr, gast.Attribute):
        base = resolved(state, expr.value)
        return getattr(base, expr.attr, None) if isinstance(base, ModuleType) else None
    return None


def lower_call(state: State, expr: Any) -> Value:
    from .calls import call

    return call(state, expr)


def lower_slice(state: State, expr: Any) -> Value:
    raise state.outside("a slice object")


def dtype_of(state: State, expr: Any) -> np.dtype:
    """The dtype that an expression names."""
    found = resolved(state, expr)
    if isinstance(expr, gast.Attribute) and expr.attr == "dtype":
        value = lower(state, expr.value)
        if isinstance(value, (Grid, Number)):
            return value.dtype
    if isinstance(expr, gast.Constant) and isinstance(expr.value, str):
        found = expr.value
    try:
        dtype = np.dtype(found) if found is not None else None
    except TypeError:
        dtype = None
    if dtype not in DTYPES:
        raise state.outside("a dtype that is not bool, int64, float32 or float64")
    assert dtype is not None
    return dtype


def facts_number(state: State, variable: str, bits: int = 63) -> Number:
    """A number as its facts describe it."""
    facts = state.s.facts[variable]
    if not isinstance(facts, Num) or facts.dtype is None or facts.dims != () or facts.kind == "array":
        raise state.outside(f"{state.s.hints[variable]!r}, of which it is not known before the run what it is")
    if facts.dtype not in DTYPES:
        raise state.outside(f"numbers of {facts.dtype}")
    python = True if facts.python else False if facts.kind == "npscalar" else None
    return Number(ir.name(variable), facts.dtype, python, bits)


LOWERINGS: dict[str, Any] = {
    "Name": lower_name, "Constant": lower_constant, "BinOp": lower_binop, "UnaryOp": lower_unaryop,
    "Compare": lower_compare, "BoolOp": lower_boolop, "IfExp": lower_ifexp, "Subscript": lower_subscript,
    "Tuple": lower_tuple, "Attribute": lower_attribute, "Call": lower_call, "Slice": lower_slice,
    "List": lower_tuple,
}  # fmt: skip
