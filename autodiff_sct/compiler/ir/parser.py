"""Text of the intermediate form, as `printer` writes it, to a program and what is known of its variables.

Tests of passes are written in it: a program before a pass and after it, with the facts that the pass asks for.  What is
not said is assumed: a variable has no facts, a statement no flags, ``t.3`` is a temporary while all other variables
carry names of the user's, and ``d_x.3`` is a cotangent.
"""

from __future__ import annotations

import builtins
import math
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from ...rules.table import TABLE
from ..domain.facts import PYTHON_KINDS, Dim, Facts, Listed, Mapped, Num, Opaque, Pair
from ..domain.values import Const, Leaf, ListV, TupleV, Value
from .function import Function, Role
from .printer import DOT, FLAGS, HEAD, STRING
from .statements import LOAD, Block, Carry, Effect, If, Let, Loop, Merge, Op, Raise, Return, Store, Try, With, path_of

VARIABLE = re.compile(rf"{STRING}|\b([^\W\d]\w*)\.(\d+)\b")
COMMENT = re.compile(r"  # (.*)$")
TEMPORARIES = frozenset(["t"])  # hints of variables without a name of the user's
OPERATORS: dict[type, Any] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.Pow: operator.pow, gast.MatMult: operator.matmul, gast.USub: operator.neg,
}  # fmt: skip


@dataclass
class Parsed:
    """A program and the tables that passes read."""

    s: Function
    block: Block


def parse(text: str, temporaries: frozenset[str] = TEMPORARIES) -> Parsed:
    """Read a program.

    >>> from autodiff_sct.compiler.ir.printer import printed
    >>> print(printed(parse("s.2 = np.sum(x.1)\\nreturn s.2").block), end="")
    s.2 = np.sum(x.1)
    return s.2
    """
    lines = [line for line in text.splitlines() if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    lines = [line[margin:] for line in lines]
    comments = {k: found[1] for k, line in enumerate(lines, 1) if (found := COMMENT.search(line))}
    source = "\n".join(VARIABLE.sub(lambda m: m[1] or f"{m[2]}{DOT}{m[3]}", line) for line in lines)
    tree = gast.parse(source)
    for node in gast.walk(tree):
        if isinstance(node, gast.Name):
            node.id, node.ctx = node.id.replace(DOT, "."), LOAD
        elif isinstance(node, gast.ExceptHandler) and isinstance(node.name, gast.AST):
            node.name.id = node.name.id.replace(DOT, ".")
    parser = Parser(comments, temporaries)
    return Parsed(parser.s, parser.block(tree.body))


@dataclass
class Parser:
    """Reads blocks of Python trees; flags are told by the comments on their lines."""

    comments: dict[int, str]
    temporaries: frozenset[str]
    s: Function = field(default_factory=lambda: Function([]))

    def __post_init__(self) -> None:
        self.s.globals |= {"np": np, "math": math}
        self.pending: Any = None  # the control statement whose phis come next

    def block(self, nodes: list[Any]) -> Block:
        block: Block = []
        for node in nodes:
            found = self.statement(node, block)
            if found is not None:
                block.append(found)
                self.pending = found
        return block

    def statement(self, node: Any, before: Block) -> Any:
        kind = type(node).__name__
        if kind == "Pass":
            return None
        if kind == "AnnAssign" and isinstance(node.target, gast.Subscript):
            self.s.elements[node.target.slice.value] = facts_of(node.annotation)
            return None
        if kind in ("Assign", "AnnAssign"):
            return self.assignment(node, before)
        if kind not in READERS:
            return self.marked_effect(node)
        return getattr(self, READERS[kind])(node)

    def flags(self, node: Any) -> list[str]:
        return [flag.strip() for flag in self.comments.get(node.lineno, "").split(",")]

    def flag(self, node: Any, key: str) -> str | None:
        """The value that follows a key among the flags of a statement."""
        return next((f.removeprefix(f"{key} ") for f in self.flags(node) if f.startswith(f"{key} ")), None)

    def define(self, variable: str, facts: Facts | None = None) -> str:
        s, hint = self.s, variable.rpartition(".")[0]
        s.hints[variable] = hint
        s.counter = max(s.counter, int(variable.rpartition(".")[2]))
        if hint not in self.temporaries:
            s.named.add(variable)
        if hint.startswith(Role.COTANGENT.value):
            s.roles[variable] = Role.COTANGENT
        if facts is not None:
            s.facts[variable] = facts
        return variable

    def assignment(self, node: Any, before: Block) -> Any:
        target = node.target if isinstance(node, gast.AnnAssign) else node.targets[0]
        if isinstance(node, gast.AnnAssign):
            self.define(target.id, facts_of(node.annotation))
            if node.value is None:
                return None
        if isinstance(target, gast.Attribute) or not is_place(target):
            return self.marked_effect(node)
        if isinstance(target, gast.Subscript):
            return Store(target.value.id, target.slice, node.value, old=self.flag(node, "old"))
        targets = [e.id for e in target.elts] if isinstance(target, gast.Tuple) else [target.id]
        for each in targets:
            self.define(each)
        if getattr(getattr(node.value, "func", None), "id", "") == "phi":
            self.phi(targets[0], [getattr(e, "id", None) for e in node.value.args], before[-1])
            return None
        flags = self.flags(node)
        let = Let(tuple(targets), node.value, op_of(self.s, node.value), counted=self.flag(node, "counted"))
        for attribute, flag in FLAGS.items():
            setattr(let, attribute, flag in flags)
        if let.saves:
            self.s.saved.update(targets)
        if len(targets) == 1:
            self.s.definitions[targets[0]] = let.expr
        return let

    def phi(self, target: str, sources: list[str | None], stmt: Any) -> None:
        """Add what a control statement hands on."""
        if isinstance(stmt, If):
            stmt.merges.append(Merge(target, *sources))
        elif isinstance(stmt, Try):
            stmt.merges.append((target, sources))
        else:
            next(c for c in stmt.carries if c.phi == sources[0]).out = target

    def aug_assign(self, node: Any) -> Store:
        target, old = node.target, self.flag(node, "old")
        if isinstance(target, gast.Name):
            return Store(target.id, gast.Constant(Ellipsis, None), node.value, type(node.op), old=old)
        return Store(target.value.id, target.slice, node.value, type(node.op), old=old)

    def marked_effect(self, node: Any) -> Effect:
        expr = node.value if isinstance(node, gast.Expr) else node
        return Effect(expr, kind=self.flag(node, "kind") or "")

    def raised(self, node: Any) -> Raise:
        return Raise(node)

    def returned(self, node: Any) -> Return:
        return Return(node.value)

    def branch(self, node: Any) -> If:
        return If(node.test, self.block(node.body), self.block(node.orelse), [])

    def loop(self, node: Any) -> Loop:
        body, stop = list(node.body), None
        if isinstance(body[-1], gast.If) and isinstance(body[-1].body[0], gast.Break):
            stop = body.pop().test
        carries = []
        while body and self.is_phi(body[0]):
            carries.append(self.carry(body.pop(0)))
        head: Block = []
        if body and isinstance(body[0], gast.With) and getattr(body[0].items[0].context_expr, "id", "") == HEAD:
            head = self.block(body.pop(0).body)
        loop = Loop("while", [], carries, head=head, stop=stop, trips=self.flag(node, "trips"))
        if loop.trips:
            self.define(loop.trips)
        if isinstance(node, gast.While):
            loop.test = node.test
        else:
            self.goes_over(loop, node)
        loop.body = self.block(body)
        return loop

    def is_phi(self, node: Any) -> bool:
        value = node.value if isinstance(node, (gast.Assign, gast.AnnAssign)) else None
        return getattr(getattr(value, "func", None), "id", "") == "phi" and len(value.args) == 2  # type: ignore[union-attr]

    def carry(self, node: Any) -> Carry:
        target = node.target if isinstance(node, gast.AnnAssign) else node.targets[0]
        self.define(target.id, facts_of(node.annotation) if isinstance(node, gast.AnnAssign) else None)
        init, following = (getattr(e, "id", None) for e in node.value.args)
        return Carry(target.id, init, following, "")

    def goes_over(self, loop: Loop, node: Any) -> None:
        """Read the head of a ``for``."""
        counts = isinstance(node.iter, gast.Call) and getattr(node.iter.func, "id", "") == "range"
        loop.kind = "range" if counts else "iter"
        loop.bounds = tuple(node.iter.args) if counts else (node.iter,)
        if isinstance(node.target, gast.Name):
            loop.index = node.target.id
        else:
            loop.items, loop.index = node.target, self.flag(node, "index")
        for each in [e.id for e in gast.walk(node.target) if isinstance(e, gast.Name)]:
            self.define(each, named_facts("int") if counts else None)

    def context(self, node: Any) -> With:
        items = [(item.context_expr, getattr(item.optional_vars, "id", None)) for item in node.items]
        for _, bound in items:
            if bound:
                self.define(bound)
        return With(items, self.block(node.body))

    def attempt(self, node: Any) -> Try:
        handlers = [(h.type, getattr(h.name, "id", None), self.block(h.body)) for h in node.handlers]
        took = self.flag(node, "took") or ""
        if took:
            self.define(took)
        return Try(self.block(node.body), handlers, self.block(node.finalbody), [], took)


READERS = {
    "AugAssign": "aug_assign",
    "Raise": "raised",
    "Assert": "raised",
    "Return": "returned",
    "If": "branch",
    "For": "loop",
    "While": "loop",
    "With": "context",
    "Try": "attempt",
}


def is_place(target: Any) -> bool:
    """True for a variable, several of them, or an item of one."""
    parts = target.elts if isinstance(target, gast.Tuple) else [getattr(target, "value", target)]
    return all(isinstance(part, gast.Name) and "." in part.id for part in parts)


def op_of(s: Function, expr: Any) -> Op | None:
    """The operation that an expression of one operation is, with its operands by the names of its row's parameters."""
    if isinstance(expr, gast.BinOp):
        fn, operands = OPERATORS.get(type(expr.op)), [expr.left, expr.right]
    elif isinstance(expr, gast.UnaryOp):
        fn, operands = OPERATORS.get(type(expr.op)), [expr.operand]
    elif isinstance(expr, gast.Subscript):
        fn, operands = operator.getitem, [expr.value, expr.slice]
    elif isinstance(expr, gast.Call) and not expr.keywords:
        fn, operands = function_of(s, path_of(expr.func)), expr.args
    else:
        return None
    values = [value_of(e) for e in operands]
    if fn is None or fn not in TABLE or None in values:
        return None
    return Op(fn, dict(zip(TABLE[fn].by_position[0], values)))


def function_of(s: Function, path: str | None) -> Any:
    if path is None or "." in path and path.split(".")[1].isdigit():
        return None
    first, *rest = path.split(".")
    found = s.globals.get(first, getattr(builtins, first, None))
    for attribute in rest:
        found = getattr(found, attribute, None)
    return found


def value_of(expr: Any) -> Value | None:
    """The abstract value that a variable, a number, or a tuple of them is."""
    if isinstance(expr, gast.Name) and "." in expr.id:
        return Leaf(expr.id)
    if isinstance(expr, gast.Constant):
        return Const(expr.value)
    if isinstance(expr, (gast.Tuple, gast.List)):
        items = [value_of(e) for e in expr.elts]
        known = tuple(item for item in items if item is not None)
        return None if len(known) < len(items) else TupleV(known) if isinstance(expr, gast.Tuple) else ListV(known)
    return None


# -- facts


def facts_of(node: Any) -> Facts:
    """The facts that an annotation tells: ``float64[n, 3] @ 1``, ``int(n)``, ``list @ 2``, ``(float, int)``."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        return with_roots(facts_of(node.left), roots_in(node.right))
    if isinstance(node, gast.Tuple):
        return Pair(tuple(facts_of(e) for e in node.elts))
    if isinstance(node, gast.Subscript):
        dtype = None if node.value.id == "number" else np.dtype(node.value.id)
        axes: Sequence[Any] = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        unknown = isinstance(axes[0], gast.Constant) and axes[0].value is Ellipsis if axes else False
        return Num("array", dtype, None if unknown else tuple(map(axis_of, axes)))
    if isinstance(node, gast.Call) and node.func.id == "object":
        return Opaque(getattr(builtins, node.args[0].value, None))
    if isinstance(node, gast.Call):
        inner = facts_of(node.func if node.func.id not in ("unknown", "row") else node.args[0])
        assert isinstance(inner, Num)
        if node.func.id in ("unknown", "row"):
            return Num(None if node.func.id == "unknown" else "row", inner.dtype, inner.dims)
        return Num(inner.kind, inner.dtype, inner.dims, size=axis_of(node.args[0]))
    return named_facts(node.id)


def named_facts(kind: str) -> Facts:
    containers: dict[str, Facts] = {
        "list": Listed(frozenset()), "tuple": Listed(frozenset(), True), "sequence": Listed(frozenset(), None),
        "dict": Mapped(frozenset()), "object": Opaque(),
    }  # fmt: skip
    if kind in containers:
        return containers[kind]
    if kind in PYTHON_KINDS.values():
        return Num(kind, np.dtype(getattr(builtins, kind)), ())
    return Num("npscalar", None if kind == "number" else np.dtype(kind), ())


def with_roots(facts: Facts, roots: frozenset[int]) -> Facts:
    if isinstance(facts, Num):
        return Num(facts.kind, facts.dtype, facts.dims, roots, facts.size)
    return Listed(roots, facts.is_tuple) if isinstance(facts, Listed) else Mapped(roots)


def roots_in(node: Any) -> frozenset[int]:
    return frozenset(e.value for e in (node.elts if isinstance(node, gast.Set) else [node]))


def axis_of(node: Any) -> Any:
    if isinstance(node, gast.Compare):
        found = axis_of(node.left)
        return Dim(found.symbol, found.offset, True)
    if isinstance(node, gast.BinOp):
        found, offset = axis_of(node.left), node.right.value
        return Dim(found.symbol, offset if isinstance(node.op, gast.Add) else -offset)
    return node.value if isinstance(node, gast.Constant) else Dim(node.id)
