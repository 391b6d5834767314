"""Meetings: the axes that the reverse sweep brings together, and the items that it reads, wherever the program does.

::

    B[1:-1] = 0.5 * (A[:-2] + A[2:])      # raises where A is not as long as B
    ...
    d_t = d_B[1:-1] * 0.5
    d_A[2:] += d_t                        # raises there, too

What the forward sweep would raise for shapes and subscripts alone need not be raised by it, where the reverse sweep
does the same to arrays of the same shapes.  Lengths are those of the arguments, followed through the text of both
sweeps: no length counts here that is known only since a statement of the forward sweep has run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from .. import ir
from ..domain.facts import MANY, Axis, Dim, Num, broadcast, several
from ..ir.function import Function
from ..ir.patterns import is_ellipsis
from .effects import SUMS, has_item, is_integer, is_real, literal, path

Dims = tuple[Axis, ...]
ELEMENTWISE = (*SUMS, gast.Div, gast.Pow)
LAZY = (gast.IfExp, gast.BoolOp, gast.Lambda, gast.ListComp, gast.DictComp, gast.GeneratorExp)
LIKE = (np.zeros_like, np.ones_like, np.full_like, np.empty_like)
SUMS_OF = (np.sum, np.mean, np.max, np.min)
CHOICES = (np.maximum, np.minimum, np.where)


class Unproven(Exception):
    """Nothing else raises what an expression may raise."""


class Shapes:
    """The shapes of variables and expressions, by the lengths of the arguments."""

    def __init__(self, s: Function, program: ir.Block) -> None:
        self.s = s
        lets = [x for x in ir.walk(program) if isinstance(x, ir.Let) and len(x.targets) == 1]
        self.lets = {x.target: x.expr for x in lets}
        self.defined = set(ir.defined(program))
        self.known: dict[str, Dims | None] = {}

    def of_name(self, name: str) -> Dims | None:
        if name not in self.known:
            self.known[name] = None  # of what is made of itself
            facts = self.s.facts.get(name)
            if not isinstance(facts, Num) or not is_real(facts) or facts.tensor:
                return None
            if facts.dims == ():
                self.known[name] = () if facts.unless_none is None else None
            elif facts.kind == "array" and (self.is_given(name) or self.is_constant(name)):
                self.known[name] = facts.dims and tuple(
                    None if getattr(axis, "symbol", "") == MANY.symbol else axis for axis in facts.dims
                )
            elif name in self.lets:
                self.known[name] = self.of(self.lets[name])
        return self.known[name]

    def is_given(self, name: str) -> bool:
        """True if a variable is an argument, or what is read from outside."""
        made = self.lets.get(name)
        return name not in self.defined or (isinstance(made, gast.Name) and made.id not in self.defined)

    def is_constant(self, name: str) -> bool:
        """True if a variable is made of nothing that the program reads."""
        return name in self.lets and not ir.variables_in(self.lets[name])

    def of(self, expr: Any) -> Dims | None:
        """The shape of an expression; None if it is not known."""
        if isinstance(expr, gast.Constant):
            return () if type(expr.value) in (int, float) else None
        if isinstance(expr, gast.Name):
            return self.of_name(expr.id) if ir.is_variable(expr.id) else None
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            return self.of(expr.operand)
        if isinstance(expr, gast.BinOp):
            left, right = self.of(expr.left), self.of(expr.right)
            if left is None or right is None:
                return None
            if isinstance(expr.op, gast.MatMult):
                return (*left[:-1], *right[1:]) if 0 < len(left) < 3 and 0 < len(right) < 3 else None
            return broadcast(left, right) if isinstance(expr.op, ELEMENTWISE) else None
        if isinstance(expr, gast.Compare):
            return broadcast(*map(self.of, (expr.left, *expr.comparators)))
        if isinstance(expr, gast.Subscript):
            return self.of_part(self.of(expr.value), expr.slice)
        if isinstance(expr, gast.Attribute):
            found = self.of(expr.value) if expr.attr in ("T", "size") else None
            return () if expr.attr == "size" and found else found and found[::-1]
        return self.of_call(expr) if isinstance(expr, gast.Call) else None

    def of_call(self, expr: gast.Call) -> Dims | None:
        callee = path(self.s, expr.func)
        if getattr(expr.func, "id", "") == "len":
            return () if self.of(expr.args[0]) else None
        if callee in LIKE and not expr.keywords:
            return self.of(expr.args[0])
        if callee in CHOICES or (isinstance(callee, np.ufunc) and len(expr.args) == 1):
            return None if expr.keywords else broadcast(*map(self.of, expr.args))
        if callee in SUMS_OF and len(expr.args) == 1:
            return without_axis(self.of(expr.args[0]), {k.arg: k.value for k in expr.keywords})
        if callee is not None or not isinstance(expr.func, gast.Attribute) or expr.args:
            return None
        if expr.func.attr in ("sum", "mean", "max", "min") and expr.keywords:
            return without_axis(self.of(expr.func.value), {k.arg: k.value for k in expr.keywords})
        return self.of(expr.func.value) if expr.func.attr == "copy" and not expr.keywords else None

    def of_part(self, dims: Dims | None, index: Any) -> Dims | None:
        """The shape of a part: integers take an axis away, slices leave out a few at the ends of a long one."""
        if dims is None or is_ellipsis(index):
            return dims
        result: list[Axis] = []
        rest = list(dims)
        for part in parts_of(index):
            if isinstance(part, gast.Constant) and part.value is None:
                result.append(1)
            elif not rest:
                return None
            elif isinstance(part, gast.Slice):
                result.append(cut(rest.pop(0), part))
            elif is_integer(self.s, part):
                rest.pop(0)
            elif part is index and (picked := self.of(part)):
                return (*picked, *rest[1:])
            else:
                return None
        return (*result, *rest)


def without_axis(dims: Dims | None, settings: dict[str | None, Any]) -> Dims | None:
    """The shape of a sum along one axis, which may be kept with length 1."""
    axis = literal(settings.get("axis"))
    if (
        not settings.keys() <= {"axis", "keepdims"}
        or dims is None
        or axis is None
        or not -len(dims) <= axis < len(dims)
    ):
        return None
    k, kept = axis % len(dims), getattr(settings.get("keepdims"), "value", False)
    return (*dims[:k], *((1,) if kept is True else ()), *dims[k + 1 :])


def parts_of(index: Any) -> list[Any]:
    return index.elts if isinstance(index, gast.Tuple) else [index]


def cut(axis: Axis, part: gast.Slice) -> Axis:
    """The length of a slice between ends that are written in the program; None if it is not known."""
    lower, upper = (0 if end is None else literal(end) for end in (part.lower, part.upper))
    if part.step is not None or lower is None or upper is None or lower < 0:
        return None
    if part.upper is not None and upper >= 0:
        return None
    shorter = axis.plus(upper - lower) if isinstance(axis, Dim) else None
    return axis if upper == lower == 0 else shorter if several(shorter) else None


@dataclass
class Meetings:
    """The axes that surely meet in a block of the reverse sweep, and the items that it surely reads.

    `indices` has the index of each loop of the reverse sweep under which it has the values of that of the loop that
    it reverses.
    """

    shapes: Shapes
    indices: dict[str, str] = field(default_factory=dict)
    table: dict[Axis, Axis] = field(default_factory=dict)
    items: set[tuple[Axis, str]] = field(default_factory=set)

    def inside(self, primal: ir.Loop, loop: ir.Loop) -> Meetings:
        """Those of a loop that reverses another, whose steps are the steps of that."""
        indices = {**self.indices, str(loop.index): str(primal.index)}
        return Meetings(self.shapes, indices, dict(self.table), set(self.items))

    def learn(self, block: ir.Block) -> None:
        """Take in what a block does each time that it runs."""
        for stmt in block:
            if type(stmt) not in ir.SIMPLE:
                continue
            nodes = [node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
            if any(isinstance(node, LAZY) for node in nodes):
                continue
            for node in nodes:
                self.learn_node(node)
            if isinstance(stmt, ir.Store):
                base = self.shapes.of_name(stmt.base)
                self.learn_items(base, stmt.index)
                self.meet(self.shapes.of_part(base, stmt.index), self.shapes.of(stmt.value))

    def learn_node(self, node: Any) -> None:
        of = self.shapes.of
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
            left, right = of(node.left) or (), of(node.right) or ()
            self.meet(left[-1:], right[-2:][:1])
        elif isinstance(node, gast.BinOp) and isinstance(node.op, ELEMENTWISE):
            first, *others = [*self.operands(node)] or [()]
            for other in others:
                self.meet(first, other)
                first = broadcast(first, other) or ()
        elif isinstance(node, gast.Compare) and isinstance(node.ops[0], (gast.Lt, gast.LtE, gast.Gt, gast.GtE)):
            self.meet(of(node.left), of(node.comparators[0]))
        elif isinstance(node, gast.Call) and path(self.shapes.s, node.func) in (*CHOICES, np.vdot, np.dot):
            found = [dims for arg in node.args if (dims := of(arg))]
            for other in found[1:] if len({*map(len, found)}) == 1 else ():
                if path(self.shapes.s, node.func) in CHOICES or len(other) == 1:
                    self.meet(found[0], other)
        elif isinstance(node, gast.Subscript):
            self.learn_items(of(node.value), node.slice)

    def operands(self, expr: Any) -> Iterator[Dims]:
        """The shapes that are known of the arrays that an expression computes with element by element."""
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
            yield from self.operands(expr.left)
            yield from self.operands(expr.right)
        elif isinstance(expr, gast.UnaryOp):
            yield from self.operands(expr.operand)
        elif found := self.shapes.of(expr):
            yield found

    def learn_items(self, dims: Dims | None, index: Any) -> None:
        self.items.update((axis, self.spelt(part)) for axis, part in self.of_items(dims, index))

    def of_items(self, dims: Dims | None, index: Any) -> Iterator[tuple[Axis, Any]]:
        """The axes of which an index reads one item, with the place of the item."""
        axes = iter(dims or ())
        for part in parts_of(index) if dims is not None and not is_ellipsis(index) else ():
            if not (isinstance(part, gast.Constant) and part.value is None):
                axis = next(axes, None)
                if not isinstance(part, gast.Slice):
                    yield axis, part

    def spelt(self, expr: Any) -> str:
        """The text of an integer, by the variables of the forward sweep."""
        return str(gast.dump(self.expanded(expr)))

    def expanded(self, expr: Any) -> Any:
        lets = self.shapes.lets
        others: dict[str, Any] = {}
        for name in ir.variables_in(expr):
            made = lets.get(name)
            inlined = made is not None and is_integer(self.shapes.s, made)
            others[name] = self.expanded(made) if inlined else ir.name(self.indices.get(name, name))
        return ir.substitute(expr, others)

    def meet(self, a: Dims | None, b: Dims | None) -> None:
        for x, y in zip(reversed(a or ()), reversed(b or ())):
            if several(x) and several(y) and (x := self.find(x)) != (y := self.find(y)):
                self.table[x] = y

    def find(self, axis: Axis) -> Axis:
        while axis in self.table:
            axis = self.table[axis]
        return axis

    def are_one(self, a: Axis, b: Axis) -> bool:
        """True if two lengths are one, or the reverse sweep raises."""
        return a is not None and b is not None and (a == b or self.find(a) == self.find(b))

    # -- what is proved by them

    def proved_store(self, stmt: ir.Store, products: list[Any] | None) -> None:
        """Raise `Unproven` unless all that a store may raise is raised by the reverse sweep; `products` as below."""
        base = self.shapes.of_name(stmt.base)
        if getattr(self.shapes.s.facts[stmt.base], "dtype", np.dtype(bool)).kind != "f":
            raise Unproven
        part, value = self.proved_part(base, stmt.index), self.proved(stmt.value, products)
        if len(value) > len(part) or (stmt.aug is not None and not issubclass(stmt.aug, ELEMENTWISE[:-1])):
            raise Unproven
        if not all(x == 1 or self.are_one(x, y) for x, y in zip(reversed(value), reversed(part))):
            raise Unproven

    def proved(self, expr: Any, products: list[Any] | None) -> Dims:
        """The shape of an expression that raises nothing unless the reverse sweep does.

        Products of matrices that may raise for themselves are added to `products`.
        """
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            return self.proved(expr.operand, products)
        if isinstance(expr, gast.BinOp):
            left, right = self.proved(expr.left, products), self.proved(expr.right, products)
            if isinstance(expr.op, gast.MatMult):
                self.product(expr, left, right, products)
            elif not self.is_total(expr, left, right):
                raise Unproven
            else:
                self.fitting(left, right)
        elif isinstance(expr, gast.Subscript):
            return self.proved_part(self.proved(expr.value, products), expr.slice)
        elif isinstance(expr, gast.Call):
            if isinstance(expr.func, gast.Attribute) and path(self.shapes.s, expr.func) is None:
                self.proved(expr.func.value, products)
            found = [self.proved(arg, products) for arg in expr.args]
            if path(self.shapes.s, expr.func) in CHOICES:
                self.fitting(*found)
        elif isinstance(expr, gast.Name):
            facts = self.shapes.s.facts.get(expr.id)
            if getattr(facts, "kind", None) not in ("array", "float", "int", "npscalar"):
                raise Unproven
        elif not isinstance(expr, gast.Constant):
            raise Unproven
        dims = self.shapes.of(expr)
        if dims is None:
            raise Unproven
        return dims

    def fitting(self, first: Dims, *others: Dims) -> None:
        """Raise `Unproven` unless shapes surely fit for an operation element by element."""
        for other in others:
            pairs = zip(reversed(first), reversed(other))
            if len(others) > 1 or not all(x == 1 or y == 1 or self.are_one(x, y) for x, y in pairs):
                raise Unproven

    def product(self, expr: Any, left: Dims, right: Dims, products: list[Any] | None) -> None:
        if not left or not right or not self.are_one(left[-1], right[0]):
            names = all(isinstance(side, gast.Name) for side in (expr.left, expr.right))
            if products is None or not names or len(left) + len(right) < 3:
                raise Unproven
            products.append(expr)

    def is_total(self, expr: Any, left: Dims, right: Dims) -> bool:
        """True if an operator takes any two numbers of these shapes."""
        if isinstance(expr.op, SUMS):
            return True
        if isinstance(expr.op, gast.Div):
            return bool(left or right) or bool(literal(expr.right) or getattr(expr.right, "value", None))
        return isinstance(expr.op, gast.Pow) and bool(left) and literal(expr.right) == 2

    def proved_part(self, dims: Dims | None, index: Any) -> Dims:
        found = self.shapes.of_part(dims, index)
        if found is None:
            raise Unproven
        for part in parts_of(index):
            if isinstance(part, gast.Slice):
                ends = [end for end in (part.lower, part.upper) if end is not None]
                if part.step is not None or not all(is_integer(self.shapes.s, end) for end in ends):
                    raise Unproven
        for axis, part in self.of_items(dims, index):
            if not has_item(axis, part) and (axis is None or (axis, self.spelt(part)) not in self.items):
                raise Unproven
        return found
