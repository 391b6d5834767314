"""Forms of expressions and statements that several passes look for."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from .. import ir
from ..domain.facts import Listed, Mapped, Num
from .function import Function

SUMS = (gast.Add, gast.Sub)
OPERATIONS = {gast.BinOp, gast.UnaryOp, gast.Call, gast.Subscript, gast.Compare, gast.IfExp, gast.BoolOp}
NAMES = {name: np.dtype(name) for name in "float16 float32 float64 complex64 complex128".split()}
WIDE = {np.dtype(np.float64), np.dtype(np.complex128)}
ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow)
OF_OBJECTS = (gast.Is, gast.IsNot, gast.In, gast.NotIn)


def size(expr: Any) -> int:
    """The number of operations in an expression; a number with a sign is none."""
    known: int | None = getattr(expr, "size_of_it", None)
    if known is None:
        known = len([node for node in ir.nodes_in(expr) if type(node) in OPERATIONS and not is_number(node)])
        if isinstance(expr, gast.AST):
            expr.size_of_it = known
    return known


def is_number(node: Any) -> bool:
    return isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant)


def holds_numbers(s: Function, facts: Any) -> bool:
    """True if something is a list or a dict of numbers."""
    item = s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else None
    return isinstance(item, Num) and item.dims == () and not item.roots


def is_unknown(facts: Any) -> bool:
    """True if a value may hold a list of which nothing is known here."""
    return not isinstance(facts, Listed)


def compared(expr: Any) -> list[Any]:
    """The two sides of a comparison of elements; another expression itself."""
    if isinstance(expr, gast.Compare) and len(expr.ops) == 1 and not isinstance(expr.ops[0], OF_OBJECTS):
        return [expr.left, expr.comparators[0]]
    return [expr]


def is_method(expr: Any, name: str) -> bool:
    """True if an expression calls something's attribute of a name."""
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == name


def is_pop_call(expr: Any) -> bool:
    return is_method(expr, "pop") and not expr.args


def is_sum_of(expr: Any, name: str) -> bool:
    """True if a variable is one side of a sum, or what something is subtracted from."""
    if not isinstance(expr, gast.BinOp) or type(expr.op) not in SUMS:
        return False
    added = isinstance(expr.op, gast.Add) and getattr(expr.right, "id", None) == name
    return added or getattr(expr.left, "id", None) == name


def is_sum_with(expr: Any, name: str) -> bool:
    """True if an expression adds something to a variable."""
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Add) and getattr(expr.left, "id", None) == name


def leaving_of(stmt: Any, around: ir.Block) -> frozenset[str]:
    """The variables of the blocks of a statement that are read outside them."""
    if isinstance(stmt, ir.With):  # its block is one with what is around it
        return frozenset(name for other in around for name in ir.reads_inside(other) if other is not stmt)
    if isinstance(stmt, ir.Loop):
        return frozenset([*ir.reads(stmt), *(c.next for c in stmt.carries if c.next)])
    return frozenset(ir.uses(stmt))


def is_zero(s: Function, stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and is_call(stmt.expr, "zeros_like") and isinstance(s.facts[stmt.target], Num)


def is_call(expr: Any, name: str) -> bool:
    return type(expr) is gast.Call and type(expr.func) is gast.Attribute and expr.func.attr == name


def is_literal_zero(expr: Any) -> bool:
    return isinstance(expr, gast.Constant) and type(expr.value) in (int, float) and expr.value == 0


def subscript_parts(index: Any) -> list[Any]:
    """The parts of a subscript, one for each axis that it names."""
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def is_ellipsis(expr: Any) -> bool:
    return isinstance(expr, gast.Constant) and expr.value is Ellipsis


def is_copy(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and is_call(stmt.expr, "copy") and not stmt.expr.args and len(stmt.targets) == 1


def is_list(s: Function, name: str) -> bool:
    return not isinstance(s.facts[name], Num)


def is_zeroing(stmt: Any) -> bool:
    return (
        isinstance(stmt, ir.Store)
        and stmt.aug is None
        and isinstance(stmt.value, gast.Constant)
        and stmt.value.value == 0.0
    )


def numpy_name(expr: Any) -> str | None:
    """The name of the NumPy function that is called."""
    func = expr.func
    if isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name) and func.value.id == "np":
        return str(func.attr)
    return None


def literal(expr: Any) -> Any:
    """The number or flag that an expression spells out; None where it is none."""
    if is_negative(expr) and isinstance(expr.operand, gast.Constant):
        return -expr.operand.value
    return expr.value if isinstance(expr, gast.Constant) else None


def outside_names(block: ir.Block) -> list[str]:
    """The variables that a block reads and does not define."""
    made = ir.defined(block) | {stmt.index for stmt in ir.walk(block) if isinstance(stmt, ir.Loop)}
    return [n for n in dict.fromkeys(n for stmt in block for n in ir.reads_inside(stmt)) if n not in made]


def fold_block(block: ir.Block, expr: Any) -> Any | None:
    """`expr` with the statements that compute its operands put inside it; None where that changes the program."""
    for stmt in block:
        if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1:
            return None
    for stmt in reversed(block):
        uses = list(ir.names_in(expr)).count(stmt.target)
        if uses > 1 and not isinstance(stmt.expr, (gast.Name, gast.Constant)):
            return None
        expr = ir.substitute(expr, {stmt.target: stmt.expr})
    return expr


# Expressions with a minus sign in front, and where in a product that stands.


def signed(expr: Any) -> Any:
    """A product with its sign at its first factor."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        return gast.BinOp(signed(expr.left), expr.op, expr.right)
    return gast.UnaryOp(gast.USub(), expr)


def signed_first(expr: Any) -> Any:
    """A number with its sign where a product begins: ``-(a * b) * c`` is ``-a * b * c``."""
    if is_negative(expr):
        return negated(expr.operand) or signed(expr.operand)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        return gast.BinOp(signed_first(expr.left), expr.op, expr.right)
    return expr


def negated(expr: Any) -> Any | None:
    """The operand of a minus sign in front of an expression."""
    if is_negative(expr):
        return expr.operand
    if not isinstance(expr, gast.BinOp):
        return None
    left = negated(expr.left)
    if isinstance(expr.op, gast.Sub):
        return None if left is None else gast.BinOp(left, gast.Add(), expr.right)
    if not isinstance(expr.op, (gast.Mult, gast.Div, gast.MatMult)):
        return None
    if left is not None:
        return gast.BinOp(left, expr.op, expr.right)
    right = negated(expr.right) if isinstance(expr.op, gast.MatMult) else None
    return None if right is None else gast.BinOp(expr.left, expr.op, right)


def is_negative(expr: Any) -> bool:
    return isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub)
