"""Tests: comparisons, ``and`` and ``or``, whose outcome is known at compile time or else is a condition."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.facts import BOOL, Mapped, Num, Opaque
from ...domain.values import Closure, Const, Leaf, Obj, TupleV, Value
from ...ir.patterns import fold_block
from ..arrays.transfer import facts_of_call
from ..containers.missing_keys import holds_nothing
from ..kernel import operations
from ..kernel.handlers import evaluate, expression
from ..kernel.operations import branch, call_value, defines, truth
from ..kernel.specialiser import Specialiser, as_operand
from ..kernel.user_errors import attempted
from ..objects import dict_views, optional
from ..objects.objects import call_method
from ..objects.record_tables import record_of
from ..objects.tables import compared, method_of
from ..objects.types import same_object, told_apart
from ..objects.union_tables import told_by_choice
from ..world.class_guards import has_method, observe

COMPARISONS: dict[type, tuple[Callable[..., Any], str, str]] = {
    gast.Eq: (operator.eq, "eq", "eq"),
    gast.NotEq: (operator.ne, "ne", "ne"),
    gast.Lt: (operator.lt, "lt", "gt"),
    gast.LtE: (operator.le, "le", "ge"),
    gast.Gt: (operator.gt, "gt", "lt"),
    gast.GtE: (operator.ge, "ge", "le"),
}


@expression(gast.BoolOp)
def boolean(s: Specialiser, node: Any) -> Value:
    return chain(s, isinstance(node.op, gast.And), node.values, evaluate)


def chain(s: Specialiser, is_and: bool, nodes: list[Any], value_of: Callable[[Specialiser, Any], Value]) -> Value:
    """``a and b and ...``: later operands are computed only where the earlier ones let them."""
    first = value_of(s, nodes[0])
    if len(nodes) == 1:
        return first
    test = truth(s, first)
    if isinstance(test, Const):
        return chain(s, is_and, nodes[1:], value_of) if bool(test.value) is is_and else first
    outer_env = dict(s.env)
    block: ir.Block = []
    rest = attempted(s, block, optional.told(s, test, is_and, lambda: chain(s, is_and, nodes[1:], value_of)))
    folded = (
        fold_block(block, s.expr(rest))
        if rest is not None and s.env == outer_env and is_condition(s, first) and is_condition(s, rest)
        else None
    )
    if folded is not None:
        op = gast.And() if is_and else gast.Or()
        more = folded.values if isinstance(folded, gast.BoolOp) and isinstance(folded.op, type(op)) else [folded]
        return s.let(gast.BoolOp(op, [s.expr(first), *more]), BOOL, hint="condition", may_raise=True)
    s.env = outer_env
    key = ("choice", s.site(len(nodes)))

    def take_rest() -> None:
        s.env[key] = chain(s, is_and, nodes[1:], value_of)

    def take_first() -> None:
        s.env[key] = first

    branch(s, test, take_rest if is_and else take_first, take_first if is_and else take_rest)
    return s.env.pop(key)


def is_condition(s: Specialiser, value: Value) -> bool:
    facts = s.num(value)
    return facts is not None and facts.dtype is not None and facts.dtype.kind == "b"


@expression(gast.Compare)
def compare(s: Specialiser, node: Any) -> Value:
    left = evaluate(s, node.left)
    if len(node.ops) == 1:
        return compare_two(s, node.ops[0], left, evaluate(s, node.comparators[0]))
    return compare_chain(s, node.ops, left, node.comparators)


def compare_chain(s: Specialiser, ops: list[Any], left: Value, nodes: list[Any]) -> Value:
    right = evaluate(s, nodes[0])
    first = compare_two(s, ops[0], left, right)
    if len(ops) == 1:
        return first
    test = truth(s, first)
    if isinstance(test, Const):
        return compare_chain(s, ops[1:], right, nodes[1:]) if test.value else first
    outer = dict(s.env)
    block: ir.Block = []
    rest = attempted(s, block, lambda: compare_chain(s, ops[1:], right, nodes[1:]))
    folded = fold_block(block, s.expr(rest)) if rest is not None and s.env == outer else None
    if folded is not None:
        return s.let(gast.BoolOp(gast.And(), [s.expr(first), folded]), BOOL, hint="condition")
    s.env = outer
    key = ("choice", s.site(len(nodes)))

    def go_on() -> None:
        s.env[key] = compare_chain(s, ops[1:], right, nodes[1:])

    def stay() -> None:
        s.env[key] = first

    branch(s, test, go_on, stay)
    return s.env.pop(key)


@defines(operations.compare_two)
def compare_two(s: Specialiser, op: Any, a: Value, b: Value) -> Value:
    ordered = type(op) in COMPARISONS
    if not isinstance(op, (gast.Is, gast.IsNot)) and not (s.is_static(a) and s.is_static(b)):
        a, b = as_operand(s, a), as_operand(s, b)
    known = dict_views.compared(s, op, COMPARISONS[type(op)][0], a, b) if ordered else None
    if known is None:
        known = optional.compared(s, op, a, b)
    if known is None:
        known = told_by_choice(s, op, a, b)
    if known is None:
        known = compare_static(s, op, a, b)
    if known is None:
        known = compared(s, op, a, b)
    if known is None:
        known = told_apart(s, op, a, b)
    if known is not None:
        return known
    if ordered:
        python, method, reflected = COMPARISONS[type(op)]
        if isinstance(a, Obj) and has_method(s, a, f"__{method}__"):
            return call_method(s, a, f"__{method}__", [b])
        if isinstance(b, Obj) and has_method(s, b, f"__{reflected}__"):
            return call_method(s, b, f"__{reflected}__", [a])
        for target, name, other in ((a, method, b), (b, reflected, a)):
            own = method_of(s, target, f"__{name}__")
            if own is not None:
                return call_value(s, own, [other], {})
        facts = facts_of_call(s, python, [a, b], {}, elementwise=True)
    else:
        facts = BOOL
    expr = gast.Compare(s.expr(a), [op], [s.expr(b)])
    return s.let(expr, facts, hint="condition", may_raise=True)


def compare_static(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """The outcome of a comparison where it is known at compile time."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        if is_small(a) and is_int(s, b) or is_int(s, a) and is_small(b):  # no `is` with a literal in emitted text
            return compare_two(s, gast.Eq() if isinstance(op, gast.Is) else gast.NotEq(), a, b)
        same = identical(s, a, b)
        return None if same is None else Const(same is isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        if isinstance(b, Obj) and b.id in s.cursors:
            raise s.refuse("iterator", "an iterator is searched, which moves it")
        if isinstance(b, Obj) and b.cls is dict and s.is_static(a):
            return Const((s.static(a) in s.fields(b)) is isinstance(op, gast.In))
        if s.is_static(a) and s.is_static(b):
            return Const((s.static(a) in s.static(b)) is isinstance(op, gast.In))
        if s.is_static(a) and (read := members_outside(s, b)) is not None:
            return Const(observe(s, lambda: s.static(a) in read()) is isinstance(op, gast.In))
        record = record_of(s, b)
        if record is not None and s.is_static(a):
            return Const((s.static(a) in record.keys_of_all) is isinstance(op, gast.In))
        table = s.facts[b.name] if isinstance(b, Leaf) else None
        return Const(isinstance(op, gast.NotIn)) if isinstance(table, Mapped) and holds_nothing(s, table) else None
    if s.is_static(a) and s.is_static(b) and type(op) in COMPARISONS:
        try:
            return Const(bool(COMPARISONS[type(op)][0](s.static(a), s.static(b))))
        except Exception:
            return None
    equality = isinstance(op, (gast.Eq, gast.NotEq))
    return Const(isinstance(op, gast.NotEq)) if equality and surely_differ(a, b) else None


def surely_differ(a: Value, b: Value) -> bool:
    """True for two tuples, as of lengths, of which one has more items, or that have known items which differ."""
    if not (isinstance(a, TupleV) and isinstance(b, TupleV)) or a.cls is not None or b.cls is not None:
        return False
    known = [(x.value, y.value) for x, y in zip(a.items, b.items) if isinstance(x, Const) and isinstance(y, Const)]
    return len(a.items) != len(b.items) or any(type(x) is type(y) is int and x != y for x, y in known)


def members_outside(s: Specialiser, value: Value) -> Callable[[], Any] | None:
    """The way to read a set, or a list in an installed package, of names and classes that no program changes."""
    if isinstance(value, Obj) and value.id in s.objects:
        found, read = s.objects[value.id]
    else:
        external = next((e for e in s.externals.values() if isinstance(value, Leaf) and e.name == value.name), None)
        if external is None:
            return None
        found, read = external.key, external.read
    installed = s.in_package()
    if not isinstance(found, frozenset) and not (installed and type(found) in (set, list)):
        return None
    return read if all(isinstance(item, (str, type, np.dtype)) for item in found) else None


SMALL = range(-5, 257)  # the integers of which CPython has one object each


def is_small(value: Value) -> bool:
    """True if a value is a small integer, known at compile time."""
    return isinstance(value, Const) and type(value.value) is int and value.value in SMALL


def is_int(s: Specialiser, value: Value) -> bool:
    """True if a value is an integer that only the run tells."""
    facts = s.num(value) if isinstance(value, Leaf) else None
    return facts is not None and facts.kind == "int"


def is_either(facts: Num, value: Any) -> bool:
    """True if something is one of the two objects of a class of truth values that a constant is one of, too."""
    numpys = facts.kind == "npscalar" and facts.dtype == bool
    return type(value) is bool and facts.kind == "bool" or type(value) is np.bool and numpys


def identical(s: Specialiser, a: Value, b: Value) -> bool | None:
    """True if two values are one object; None where only the run tells."""
    if isinstance(a, Const) and isinstance(b, Const):
        return a.value is b.value
    if isinstance(a, Closure) and isinstance(b, Closure) and (a is b or a.node is not b.node):
        return a is b
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Const):
            if not isinstance(y, Leaf):
                return False
            facts = s.facts[y.name]
            if isinstance(facts, Num) and is_either(facts, x.value):
                return None
            if isinstance(facts, Num) and facts.kind == "float" and type(x.value) is float:
                raise s.refuse(
                    "object-identity",
                    "whether a number is the same object as a constant is not known",
                    "compare by `==`, or `np.isnan`",
                )
            if not isinstance(facts, (Num, Opaque)) or (isinstance(facts, Num) and facts.kind is not None):
                return False
            if x.value is None and isinstance(facts, Num) and facts.dims == () and s.frame is not None and s.frame.rule:
                return False  # a cotangent that is not there is no variable
            if isinstance(facts, Opaque) and facts.cls is not None and not isinstance(x.value, facts.cls):
                return False
    if is_int(s, a) and is_int(s, b):
        if a == b:
            return True
        raise s.refuse("object-identity", "whether two integers are one object is not known")
    return None if isinstance(a, Const) or isinstance(b, Const) else same_object(s, a, b)


def condition(s: Specialiser, node: Any) -> Value:
    """A test, of which only the truth value is asked: objects and numbers may stand beside each other in it."""
    if isinstance(node, gast.BoolOp):
        return truth(s, chain(s, isinstance(node.op, gast.And), node.values, condition))
    return truth(s, evaluate(s, node))
