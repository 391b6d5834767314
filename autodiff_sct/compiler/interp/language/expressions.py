"""Expressions and subscripts: evaluated to abstract values, in Python's order, one statement for each operation.

Subscripts: what is indexed and by what.

``a[i][j]`` of an array is ``a[i, j]``: one read or write of one place, whichever of the two people write.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.dummies import is_cheap
from ...domain.facts import BOOL, Num, Opaque
from ...domain.values import Choice, Closure, Const, Leaf, ListV, MaybeV, Obj, Poison, SliceV, TupleV, Value
from ..arrays import emit_op, indexing
from ..arrays.emit_op import array_of_list
from ..containers import items, lists
from ..containers import items as containers
from ..containers.sources import count_of, is_range
from ..kernel import operations
from ..kernel.escape import refuse_references
from ..kernel.handlers import OPERATORS, UNARY, evaluate, expression
from ..kernel.operations import branch, call_python, call_value, defines
from ..kernel.program_values import expr_of_object
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended
from ..library.builtins import tuple_
from ..models import lists as models_lists
from ..numpy.methods import is_counter
from ..objects import attributes, dict_views, objects, optional, union_tables
from ..objects.record_tables import as_record
from ..objects.tables import class_of_row, exists, method_of, overloaded_rows
from ..objects.union_tables import classes_of
from ..world.names import assign_name, load_name
from .comparisons import condition
from .star_arguments import display, in_one_list

ONE, ONE_FLOAT = Const(1), Const(1.0)
OF_SETS = (gast.BitOr, gast.BitAnd, gast.BitXor, gast.Sub)
OF_COUNTERS = {
    gast.Add: models_lists.counts_add,
    gast.Sub: models_lists.counts_sub,
    gast.BitOr: models_lists.counts_or,
    gast.BitAnd: models_lists.counts_and,
}


@expression(gast.Constant)
def constant(s: Specialiser, node: Any) -> Value:
    return Const(node.value)


@expression(gast.Name)
def name(s: Specialiser, node: Any) -> Value:
    return load_name(s, node.id)


@expression(gast.Attribute)
def attribute(s: Specialiser, node: Any) -> Value:
    return attributes.read_now(s, attribute_or_method(s, node))


def attribute_or_method(s: Specialiser, node: Any) -> Value:
    return attributes.asked_for(s, evaluate(s, node.value), node.attr)


def callee_of(s: Specialiser, node: Any) -> Value:
    """The callee of a call: an attribute of something of an unknown class is a method then."""
    return evaluate(s, node, attribute_or_method if isinstance(node, gast.Attribute) else None)


@expression(gast.BinOp)
def binary(s: Specialiser, node: Any) -> Value:
    # Long chains are walked without recursion.
    chain = [node]
    while isinstance(chain[-1].left, gast.BinOp):
        chain.append(chain[-1].left)
    value = evaluate(s, chain[-1].left)
    for link in reversed(chain):
        right = evaluate(s, link.right)
        s.node = link
        value = operate(s, type(link.op), value, right)
    return value


@defines(operations.operate)
def operate(s: Specialiser, op: type, a: Value, b: Value) -> Value:
    """``a op b``."""
    fn, python, _ = OPERATORS[op]
    if isinstance(a, Const) and isinstance(b, Const) and is_cheap(python, (a.value, b.value)):
        return fold(s, python, gast.BinOp(s.expr(a), op(), s.expr(b)), a, b)
    if not (holds_numbers(s, a) and holds_numbers(s, b)):
        s.as_list(a, b)
        if (found := of_others(s, op, a, b)) is not None:
            return found
        a, b = beside_array(s, a, b), beside_array(s, b, a)
    if op is gast.Pow and is_negative(a) and (real := power_of_negative(s, a, b)) is not None:
        return real
    if s.perturbed and op is gast.Pow and b == Const(0.5):
        return operations.call_constant(s, Const(np.sqrt), [a], {})
    expr = ir.binop(s.expr(a), op, s.expr(b))
    simple = simplify(s, op, a, b)
    return simple if simple is not None else emit_op.apply(s, fn, expr, [a, b], {}, python)


def beside_array(s: Specialiser, value: Value, other: Value) -> Value:
    """A list or a range in an operation with an array, which NumPy makes an array."""
    facts = s.num(other)
    if facts is None or facts.kind not in ("array", "npscalar"):
        return value
    return array_of_list(s, operations.as_list(s, value) if is_range(value) else value)


def is_negative(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) in (int, float) and value.value < 0


def power_of_negative(s: Specialiser, base: Value, exp: Value) -> Value | None:
    """A negative number to a power that may be a Python float: by `math`, which raises where Python's is complex."""
    facts = s.num(exp)
    if facts is None or facts.kind not in ("float", None) or facts.dims:
        return None
    if facts.kind is None:
        raise s.refuse(
            "different-kinds",
            "a power of a negative number may be complex",
            "use `np.power`, or an integer as exponent",
        )
    return call_value(s, Const(math.pow, ir.attribute(s.bind("math", math), "pow")), [base, exp], {})


def holds_numbers(s: Specialiser, value: Value) -> bool:
    """True if a value is a number or an array of numbers, and no reference to an object."""
    if type(value) is Const:
        return type(value.value) in (int, float)
    facts = s.facts[value.name] if type(value) is Leaf else None
    return isinstance(facts, Num) and facts.row is None


def of_others(s: Specialiser, op: type, a: Value, b: Value) -> Value | None:
    """``a op b`` where one of them is a container or an object; None where it is as for arrays."""
    method = OPERATORS[op][2]
    if (of_views := dict_views.operated(s, op, a, b)) is not None:
        return of_views
    if op in OF_COUNTERS and is_counter(s, a) and is_counter(s, b):
        return call_python(s, OF_COUNTERS[op], [a, b], {})
    if op is gast.BitOr and lists.is_dict(s, a) and lists.is_dict(s, b):
        return lists.union(s, a, b)
    if op in OF_SETS and s.facts_of(a) == Opaque(set) == s.facts_of(b):
        return s.let(ir.binop(s.expr(a), op, s.expr(b)), Opaque(set), effect=True)
    of_rows = overloaded_rows(s, method, a, b)
    if of_rows is not None:
        return of_rows
    if any(isinstance(v, Obj) and not lists.is_known_list(v) for v in (a, b)):
        return objects.overloaded(s, (f"__{method}__", f"__r{method}__"), a, b)
    return lists.combine(s, op, a, b)


def simplify(s: Specialiser, op: type, a: Value, b: Value) -> Value | None:
    """Exact simplifications of a rule's text, as of ``x * 1``; in an emitted text, of what nobody can write."""
    if op not in (gast.Mult, gast.Pow) or s.frame is None:
        return None
    sides = (s.node.left, s.node.right) if isinstance(s.node, gast.BinOp) else (None, None)
    for value, one, side in ((a, b, sides[0]), *(((b, a, sides[1]),) if op is gast.Mult else ())):
        if not is_one(s, value, one):
            continue
        new = is_number(s, value) or isinstance(side, gast.BinOp)
        if s.frame.rule or (is_emitted(s) and new):
            return value
    return None


def is_emitted(s: Specialiser) -> bool:
    """True if the text that is being specialised is that of an adjoint."""
    return s.frame is not None and "__name__" not in s.frame.globals


def is_one(s: Specialiser, value: Value, one: Value) -> bool:
    """True if one of two factors is a one that leaves the other as it is, its dtype too."""
    if not isinstance(one, Const):
        return False
    if one == ONE:
        return True
    facts = s.num(value)
    return one == ONE_FLOAT and facts is not None and facts.dtype is not None and facts.dtype.kind in "fc"


def is_number(s: Specialiser, value: Value) -> bool:
    """True if a value is a number, not an array that may be written."""
    facts = s.num(value)
    return facts is not None and facts.kind in ("float", "npscalar")


def fold(s: Specialiser, python: Callable[..., Any], expr: Any, *args: Const) -> Value:
    """An operation on constants: in the user's program written as it was, in a rule or an adjoint as its value."""
    try:
        value = python(*(a.value for a in args))
    except Exception:  # so will the run
        s.block.append(ir.Effect(expr, s.where()))
        raise Ended from None
    plain = all(isinstance(a.value, int) and a.expr is None for a in args)
    own = s.frame is not None and (s.frame.rule or is_emitted(s))
    if (own and not any(a.expr for a in args)) or plain:
        return Const(value)
    return Const(value, expr)


@expression(gast.UnaryOp)
def unary(s: Specialiser, node: Any) -> Value:
    if isinstance(node.op, gast.Not):
        test = condition(s, node.operand)
        if isinstance(test, Const):
            return Const(not test.value)
        return optional.opposite(s, test, s.let(gast.UnaryOp(gast.Not(), s.expr(test)), BOOL, may_raise=False))
    value = evaluate(s, node.operand)
    fn, python, method = UNARY[type(node.op)]
    if isinstance(value, Obj):
        return objects.call_method(s, value, f"__{method}__", [])
    own = method_of(s, value, f"__{method}__")
    if own is not None:
        return call_value(s, own, [], {})
    expr = gast.UnaryOp(type(node.op)(), s.expr(value))
    if isinstance(value, Const):
        if isinstance(value.value, (int, float)) and value.expr is None:
            return Const(python(value.value))
        return fold(s, python, expr, value)
    return emit_op.apply(s, fn, expr, [value], {}, python)


# -- truth


@defines(operations.truth)
def truth(s: Specialiser, value: Value) -> Value:
    """A value where a truth value is asked for: a constant where it is known."""
    if (view := dict_views.viewed(s, value)) is not None:
        return truth(s, view.base)
    if is_range(value):
        return truth(s, count_of(s, value))
    if isinstance(value, Const):
        return Const(bool(value.value))
    if isinstance(value, (TupleV, ListV)):
        return Const(bool(value.items))
    if isinstance(value, Obj):
        if value.cls in (dict, list):
            return Const(bool(s.fields(value)))
        if objects.has_method(s, value, "__bool__"):
            return truth(s, objects.call_method(s, value, "__bool__", []))
        if objects.has_method(s, value, "__len__"):
            return truth(s, objects.call_method(s, value, "__len__", []))
        return Const(True)
    if isinstance(value, MaybeV):
        return optional.asked(s, value, False)
    if isinstance(value, Choice):
        return union_tables.exists(s, value)
    if classes_of(s, value) is not None or class_of_row(s, value) is not None:
        return exists(s, value)
    if isinstance(value, Leaf):
        return value
    if isinstance(value, Poison):
        raise s.poisoned(value)
    return Const(True)


@expression(gast.IfExp)
def conditional(s: Specialiser, node: Any) -> Value:
    test = condition(s, node.test)
    if isinstance(test, Const):
        return evaluate(s, node.body if test.value else node.orelse)
    key = ("choice", s.site())

    def choose(which: Any) -> Callable[[], None]:
        def run() -> None:
            s.env[key] = evaluate(s, which)

        return run

    branch(s, test, choose(node.body), choose(node.orelse))
    result = s.env.pop(key)
    if isinstance(result, Leaf):
        s.named.discard(result.name)
    return result


@expression(gast.NamedExpr)
def walrus(s: Specialiser, node: Any) -> Value:
    value = evaluate(s, node.value)
    assign_name(s, node.target.id, value)
    return load_name(s, node.target.id)


# -- displays


def elements(s: Specialiser, nodes: list[Any]) -> tuple[Value, ...]:
    items: list[Value] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            items += containers.items_of(s, evaluate(s, node.value), None)
        else:
            items.append(evaluate(s, node))
    return tuple(items)


@expression(gast.Tuple)
def tuple_display(s: Specialiser, node: Any) -> Value:
    if any(isinstance(n, gast.Starred) for n in node.elts):
        return tuple_(s, [in_one_list(s, display(s, node.elts))], {})
    return TupleV(elements(s, node.elts))


@expression(gast.List)
def list_display(s: Specialiser, node: Any) -> Value:
    if any(isinstance(n, gast.Starred) for n in node.elts):
        return in_one_list(s, display(s, node.elts))
    return ListV(elements(s, node.elts), s.site())


@expression(gast.Set)
def set_display(s: Specialiser, node: Any) -> Value:
    items = elements(s, node.elts)
    return s.let(gast.Set([s.expr(v) for v in items]), Opaque(set), effect=True)


@expression(gast.Dict)
def dict_display(s: Specialiser, node: Any) -> Value:
    pairs: list[tuple[Value | None, Value]] = []
    for key, value in zip(node.keys, node.values):
        pairs.append((None if key is None else evaluate(s, key), evaluate(s, value)))
    result = containers.new_dict(s)
    containers.update_dict(s, result, pairs)
    return as_record(s, result)


@expression(gast.Lambda)
def lambda_(s: Specialiser, node: Any) -> Value:
    assert s.frame is not None
    if not hasattr(node, "function"):  # made once, for memory is told apart by the nodes that make it
        body = [gast.copy_location(gast.Return(node.body), node.body)]
        node.function = gast.copy_location(gast.FunctionDef("lambda_", node.args, body, [], None, None, []), node)
    defaults = tuple(evaluate(s, d) for d in node.args.defaults)
    kw_defaults = tuple(None if d is None else evaluate(s, d) for d in node.args.kw_defaults)
    return Closure(node.function, s.frame, defaults, kw_defaults)


@expression(gast.JoinedStr)
def formatted(s: Specialiser, node: Any) -> Value:
    parts = [rewrite_part(s, part) for part in node.values]
    known = known_text(parts)
    if known is not None:
        return Const(known)
    return s.let(gast.JoinedStr(parts), Opaque(str), hint="text", effect=not all(is_plain(s, part) for part in parts))


def is_plain(s: Specialiser, part: Any) -> bool:
    """True if a part of an f-string surely is of Python's numbers, or a shape: its text is written without effects."""
    value = getattr(part, "value", None)
    if isinstance(value, gast.Attribute) and value.attr == "shape" and part.format_spec is None:
        return isinstance(value.value, gast.Name) and isinstance(s.facts.get(value.value.id), Num)
    return all(isinstance(n, Num) and n.python for n in map(s.facts.get, ir.names_in(part)))


def known_text(parts: list[Any]) -> str | None:
    """The text of an f-string whose every part is a plain constant."""
    texts = []
    for part in parts:
        plain = isinstance(part, gast.FormattedValue) and part.conversion == -1 and part.format_spec is None
        value = part.value if plain else part
        if not isinstance(value, gast.Constant) or not isinstance(value.value, (str, int)):
            return None
        texts.append(str(value.value))
    return "".join(texts)


def rewrite_part(s: Specialiser, part: Any) -> Any:
    if isinstance(part, gast.FormattedValue):
        spec = (
            None if part.format_spec is None else gast.JoinedStr([rewrite_part(s, p) for p in part.format_spec.values])
        )
        value = evaluate(s, part.value)
        refuse_references(s, value)
        text = expr_of_object(s, value, built=True) if isinstance(value, Obj) else s.expr(value)
        return gast.FormattedValue(text, part.conversion, spec)
    return part


@expression(gast.Slice)
def slice_(s: Specialiser, node: Any) -> Value:
    parts = [Const(None) if part is None else evaluate(s, part) for part in (node.lower, node.upper, node.step)]
    if all(isinstance(p, Const) and p.expr is None for p in parts):
        return Const(slice(*(p.value for p in parts)))
    return SliceV(*parts)


@expression(gast.Subscript)
def subscript(s: Specialiser, node: Any) -> Value:
    return items.get_item(s, *place_of(s, node))


def place_of(s: Specialiser, node: Any) -> tuple[Value, Value]:
    """The base of a subscript, and its index: ``a[i][j]`` of an array is ``a[i, j]``."""
    if not isinstance(node.value, gast.Subscript) or not is_plain_index(node.slice):
        base = evaluate(s, node.value)
        return base, index_into(s, base, node.slice)
    whole, first = place_of(s, node.value)
    if not indexing.is_row(s, whole, first):
        base = items.get_item(s, whole, first)
        return base, index_into(s, base, node.slice)
    index = index_into(s, whole, node.slice)
    if not all(indexing.is_basic(s, part) for part in indexing.parts_of(index)):
        return items.get_item(s, whole, first), index
    return whole, TupleV((*indexing.parts_of(first), *indexing.parts_of(index)))


def is_plain_index(node: Any) -> bool:
    """True if an index calls nothing of a user's, so that it may be computed before that is read which it is of."""
    for part in gast.walk(node):
        if isinstance(part, gast.Call) and getattr(part.func, "id", None) not in ("abs", "int", "len", "max", "min"):
            return False
        if isinstance(part, (gast.NamedExpr, gast.Lambda, gast.comprehension)):
            return False
    return True


def index_into(s: Specialiser, base: Value, node: Any) -> Value:
    """An index; for an array with ranges that only the run knows as arrays, as NumPy reads them."""
    index = evaluate(s, node)
    if not isinstance(base, Leaf) or not isinstance(s.facts[base.name], Num):
        return index
    if isinstance(index, TupleV) and index.cls is None:
        return TupleV(tuple(positions(s, part) for part in index.items))
    return positions(s, index)


def positions(s: Specialiser, index: Value) -> Value:
    if not is_range(index):
        return index

    return call_value(s, Const(np.arange, ir.attribute(s.bind("np", np), "arange")), list(index.bounds), {})
