"""Statements of the intermediate form, in the native dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ....runtime import memory, scatter
from ... import ir
from ...analysis.alias import roots_of
from ...codegen.emit import is_new_list
from ...domain.facts import Num
from ..kinds import INT64, WIDTH, Bundle, Grid, Items, Number, Raw, Value
from ..passes.affine import form_of, reads_memory
from ..passes.index_functions import make, store, stored_number
from ..state import State
from . import expressions, lists
from .expressions import arithmetic, facts_number, lower, number, resolved
from .gather_scatter import added, written
from .scalars import as_truth, constant_of, within
from .tape import begin, is_held, pushed
from .tape_index import part

AUG = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow)  # the operators of augmented assignments


def block(state: State, stmts: ir.Block, after: ir.Block | None = None) -> None:
    """Lower a block; `after` are the statements that come after it at the same depth."""
    outer = state.following
    if ir.ends_in_raise(stmts):
        stmts = stmts[-1:]  # the NumPy program does all of it, from the start
    for k, stmt in enumerate(stmts):
        state.following = [*stmts[k + 1 :], *(after or [])]
        statement(state, stmt)
    state.following = outer


def statement(state: State, stmt: Any) -> None:
    found = LOWERINGS.get(type(stmt).__name__)
    state.origin = getattr(stmt, "origin", None) or state.origin
    if found is None:
        raise state.outside(f"a statement of the kind {type(stmt).__name__.lower()}")
    found(state, stmt)


# An array whose elements cost little is computed at each of a few uses instead of being made.
CHEAP_USES, CHEAP_WORK = 3, 4

# -- definitions


def let(state: State, stmt: ir.Let) -> None:
    if is_new_list(stmt):
        return begin(state, stmt.target)
    if len(stmt.targets) != 1:
        return several(state, stmt)
    if is_argument(state, stmt.expr):
        return receive(state, stmt)
    if is_exception(state, stmt.expr):
        state.values[stmt.target] = Bundle(())
        return
    added = lower(state, stmt.expr.right) if is_addition(stmt) else None
    if added is None:
        value = lower(state, stmt.expr)
    else:
        value = arithmetic(state, type(stmt.expr.op), lower(state, stmt.expr.left), added)
    if isinstance(value, Number):
        return let_number(state, stmt, value)
    if isinstance(value, Grid):
        refuse_copy(state, stmt)
        return let_array(state, stmt, value, added)
    if isinstance(value, Items):
        return lists.let_given(state, stmt.target, value)
    if isinstance(value, Bundle) and isinstance(stmt.expr, gast.List) and lists.is_changed(state, stmt.target):
        return lists.let_new(state, stmt.target, value.items)
    if isinstance(value, Bundle):
        state.values[stmt.target] = Bundle(tuple(kept(state, item) for item in value.items))
        return
    raise state.outside("a value that is no number or array")


def refuse_copy(state: State, stmt: ir.Let) -> None:
    """Refuse a write to an item of a list of copies: NumPy would write what the list shows."""
    expr = stmt.expr
    if isinstance(expr, gast.Call) and getattr(expr.func, "attr", "") == "pop" and stmt.target in state.written_later:
        stack = state.stacks.get(getattr(expr.func.value, "id", ""))
        if stack is not None and stack.copies:
            raise state.outside("a view that is saved, of memory that is written")


def several(state: State, stmt: ir.Let) -> None:
    """Several results at once."""
    value = lower(state, stmt.expr)
    items = value.items if isinstance(value, Bundle) else ()
    if len(items) != len(stmt.targets) or not all(isinstance(item, Number) for item in items):
        raise state.outside("several results at once")
    for target, item in zip(stmt.targets, items):
        let_number(state, ir.Let((target,), item.expr, None, stmt.origin), item)


def is_addition(stmt: ir.Let) -> bool:
    """True if a statement may write a sum, or the like, over its left side."""
    expr = stmt.expr
    return stmt.in_place and isinstance(expr, gast.BinOp) and isinstance(expr.left, gast.Name) and type(expr.op) in AUG


def kept(state: State, value: Value) -> Value:
    """An item of a tuple, in a variable."""
    if isinstance(value, Number):
        return state.let(value)
    if isinstance(value, Items):
        return lists.in_variable(state, value)
    if isinstance(value, Grid) and not isinstance(value.view, gast.Name):
        raise state.outside("a tuple of arrays")
    return value


def is_exception(state: State, expr: Any) -> bool:
    """True if an expression makes an exception: whatever it says, the NumPy program raises it."""
    made = resolved(state, expr.func) if isinstance(expr, gast.Call) else None
    return isinstance(made, type) and issubclass(made, BaseException)


def is_argument(state: State, expr: Any) -> bool:
    """True if an expression takes something out of an argument, or copies that."""
    if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "copy":
        expr = expr.func.value
    while isinstance(expr, gast.Subscript):
        expr = expr.value
    return isinstance(expr, gast.Name) and isinstance(state.values.get(expr.id), Raw)


def receive(state: State, stmt: ir.Let) -> None:
    """The kind of an argument, by the facts of the variable that it is put into."""
    target, expr = stmt.target, stmt.expr
    facts = state.s.facts[target]
    if isinstance(expr, gast.Call):
        variable = state.s.fresh_like(target, facts)
        receive(state, ir.Let((variable,), expr.func.value))
        make(state, state.values[variable], target)
        return
    value = lower(state, expr)
    is_array = isinstance(facts, Num) and facts.kind == "array" and facts.dims
    if not is_array and not (isinstance(facts, Num) and facts.dims == ()):
        state.values[target] = value
        return
    state.emit(ir.Let((target,), value.expr))
    if is_array:
        state.enter(target)
    else:
        state.values[target] = facts_number(state, target, WIDTH)
        state.define(target, state.values[target].dtype)
        if state.values[target].dtype == INT64 and not isinstance(expr, gast.Name):
            state.check(within(ir.name(target), WIDTH))
    if isinstance(value.expr, gast.Name):
        state.kinds[value.expr.id] = state.kinds[target]


def let_number(state: State, stmt: ir.Let, value: Number) -> None:
    target = stmt.target
    check_facts(state, target, value.dtype, 0)
    if value.dtype == INT64:
        state.forms[target] = form_of(state, value.expr)
        size = getattr(state.s.facts.get(target), "size", None)
        lasting = gast.dump(value.expr) in state.entered_as
        known = (
            lasting or isinstance(value.expr, (gast.Name, gast.BinOp, gast.Constant)) and not reads_memory(value.expr)
        )
        if state.forms[target].terms and (size is not None or not known):
            del state.forms[target]
    state.define(target, value.dtype)
    state.emit(ir.Let((target,), value.expr, None, stmt.origin))
    state.values[target] = replace(value, expr=ir.name(target))


def check_facts(state: State, target: str, dtype: Any, ndim: int) -> None:
    """Check that a kind found here is the compiler's, where that found any."""
    facts = state.s.facts.get(target)
    if not isinstance(facts, Num):
        return
    if facts.dtype is not None and facts.dtype != dtype:
        raise state.outside(f"a value of {facts.dtype} that is {dtype} natively")
    if facts.dims is not None and len(facts.dims) != ndim:
        raise state.outside("an array whose rank is not known before the run")


def let_array(state: State, stmt: ir.Let, value: Grid, added: Value | None) -> None:
    """An array in a variable; `added` is what is combined with its left side, where that may be written over."""
    target = stmt.target
    check_facts(state, target, value.dtype, value.ndim)
    if added is not None and in_place(state, stmt, stmt.expr.left.id, value, added):
        return
    if value.detached and is_view(state, target, stmt) and is_written(state, target):
        raise state.outside("a view that there is no native form of")
    if value.view is not None:
        state.emit(ir.Let((target,), value.view, None, stmt.origin))
        state.share(target, *(n for n in ir.names_in(value.view) if isinstance(state.values.get(n), Grid)))
        state.array(target, value.axes, value.dtype, value.contiguous and isinstance(value.view, gast.Name))
        return
    shown = value.at([ir.name("i")] * value.ndim)
    if isinstance(shown, gast.Subscript) and not value.copied and is_view(state, target, stmt):
        raise state.outside("a view that there is no native form of")
    if used_at_once(state, target, shown):
        state.values[target] = value
    else:
        make(state, value, target)


def is_view(state: State, target: str, stmt: ir.Let) -> bool:
    return any(roots_of(state.s.facts[target]) & roots_of(state.s.facts[n]) for n in ir.reads(stmt))


def is_written(state: State, target: str) -> bool:
    """True if anything writes memory that a variable may show."""
    return bool(roots_of(state.s.facts[target]) & state.written)


def used_at_once(state: State, target: str, shown: Any) -> bool:
    """True if an array is part of one later expression only, before which nothing that it reads is written."""
    left = state.uses.get(target, 0)
    if left > (CHEAP_USES if is_cheap(shown) else 1):
        return False
    sources = {n for n in ir.names_in(shown) if ir.is_variable(n)}
    for stmt in state.following:
        left -= ir.reads(stmt).count(target)
        if target in ir.reads(stmt):
            if not computes(state, stmt, target):
                return False
            if left == 0:
                return True
        for inner in ir.inside(stmt):
            for base in written_in(inner):
                if any(state.may_alias(base, source) for source in sources):
                    return False
    return False


def computes(state: State, stmt: Any, target: str) -> bool:
    """True if a statement only reads the elements of an array: no view of it is made, and nothing stored into it."""
    if isinstance(stmt, ir.Store):
        return stmt.base != target
    if not isinstance(stmt, ir.Let) or is_new_list(stmt) or target in written_in(stmt):
        return False
    facts = state.s.facts[stmt.target]
    number = isinstance(facts, Num) and facts.dims == ()
    return number or isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp, gast.Compare))


def is_cheap(shown: Any) -> bool:
    """True if an element costs less than putting it into memory and taking it out again."""
    work = [n for n in gast.walk(shown) if isinstance(n, (gast.BinOp, gast.Call, gast.IfExp, gast.Compare))]
    return len(work) <= CHEAP_WORK and not any(
        isinstance(n, gast.Call) or isinstance(getattr(n, "op", None), gast.Div) or is_hard_power(n) for n in work
    )


def is_hard_power(node: Any) -> bool:
    return isinstance(getattr(node, "op", None), gast.Pow) and constant_of(node.right) not in (2, 3)


def written_in(stmt: Any) -> list[str]:
    """The variables through which a statement writes memory."""
    if isinstance(stmt, ir.Store):
        return [stmt.base]
    if isinstance(stmt, ir.Effect) and isinstance(stmt.expr, gast.Call) and stmt.expr.args and stmt.kind != "save":
        return [n for n in ir.names_in(stmt.expr.args[0]) if ir.is_variable(n)][:1]
    if isinstance(stmt, ir.Let) and stmt.in_place:
        return [stmt.expr.left.id] if isinstance(stmt.expr.left, gast.Name) else []
    return []


def in_place(state: State, stmt: ir.Let, left: str, value: Grid, added: Value) -> bool:
    """``d += e``, where nobody reads the old sum again."""
    old = state.values.get(left)
    if state.uses.get(left, 0) != 1 or not isinstance(old, Grid) or old.dtype != value.dtype or old.ndim != value.ndim:
        return False
    if any(a.one != b.one for a, b in zip(old.axes, value.axes)) or not isinstance(old.view, gast.Name):
        return False
    store(state, old.view.id, old, added, type(stmt.expr.op))
    state.emit(ir.Let((stmt.target,), old.view, None, stmt.origin))
    state.share(stmt.target, old.view.id)
    state.array(stmt.target, old.axes, old.dtype, old.contiguous)
    return True


# -- memory


def store_stmt(state: State, stmt: ir.Store) -> None:
    base = lower(state, ir.name(stmt.base))
    if isinstance(base, Items):
        return lists.stored(state, base, stmt)
    if not isinstance(base, Grid):
        raise state.outside("an item of something that is no array is assigned")
    value = lower(state, stmt.value)
    if not isinstance(value, (Number, Grid)):
        raise state.outside("something that is no number is stored")
    if written(state, stmt.base, base, stmt.index, value, stmt.aug):
        return
    target = part(state, base, stmt.index, lambda e: number(state, e))
    if stmt.aug is not None and stmt.aug not in AUG:
        raise state.outside("an operator that assigns")
    if isinstance(target, Grid):
        return store(state, stmt.base, target, value, stmt.aug)
    if isinstance(value, Grid):
        raise state.outside("an array is stored into one place")
    item = target.expr
    state.emit(ir.Store(item.value.id, item.slice, stored_number(state, value, base.dtype), stmt.aug, stmt.origin))


def effect(state: State, stmt: ir.Effect) -> None:
    expr = stmt.expr
    if stmt.kind == "save" and isinstance(expr, gast.Call) and expr.func.attr == "append":
        value = lower(state, expr.args[0])
        if is_shared(state, expr.args[0], value):
            raise state.outside("a view that is saved, of memory that is written")
        return pushed(state, expr.func.value.id, value)
    if isinstance(expr, gast.Name) and expr.id in state.values:
        return expressions.check(state, expr.id)
    if isinstance(expr, gast.Call) and resolved(state, expr.func) is scatter.add_at:
        shadow = lower(state, expr.args[0])
        return lists.added_part(state, shadow, expr.args) if isinstance(shadow, Items) else added(state, expr.args)
    if isinstance(expr, gast.Call) and resolved(state, expr.func) in (memory.add_items, memory.add_carried):
        return lists.added_items(state, expr.func.id, [lower(state, arg) for arg in expr.args])
    if isinstance(expr, gast.Call) and getattr(expr.func, "attr", "") in lists.METHODS:
        base = lower(state, expr.func.value)
        if isinstance(base, Items):
            return lists.method(state, base, expr.func.attr, expr.args)
    if isinstance(expr, gast.Call) and getattr(expr.func, "attr", "") == "at" and len(expr.args) == 3:
        op = ADDED_AT.get(resolved(state, expr.func.value))
        if op is not None:
            return added(state, expr.args, op)
    raise state.outside("a statement with effects")


ADDED_AT = {np.add: gast.Add, np.subtract: gast.Sub}


def is_shared(state: State, expr: Any, value: Value) -> bool:
    """True if a list is to hold memory that the program writes, where here it would hold a copy."""
    if not isinstance(value, Grid) or value.copied:
        return False
    roots = {root for n in ir.names_in(expr) if n in state.s.facts for root in roots_of(state.s.facts[n])}
    return not is_held(value) and bool(roots & state.written)


def raise_stmt(state: State, stmt: ir.Raise) -> None:
    """Whatever is raised, the NumPy program raises it: here the call is only given up."""
    if isinstance(stmt.node, gast.Assert):
        return state.check(as_truth(number(state, stmt.node.test)))
    state.emit(ir.Raise(gast.Raise(ir.name("ValueError"), None), stmt.origin))


LOWERINGS: dict[str, Any] = {"Let": let, "Store": store_stmt, "Effect": effect, "Raise": raise_stmt}
