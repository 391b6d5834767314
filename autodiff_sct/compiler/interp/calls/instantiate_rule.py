"""Rules, inlined: the text of a rule becomes statements of the adjoint, its tests on facts fold away."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Collection
from typing import Any, NamedTuple

import gast
import numpy as np

from ....core import thresholds
from ....errors import NoRule
from ....rules.table import TABLE
from ... import ir
from ...analysis.missing_rules import full_name
from ...domain.facts import Listed, Num
from ...domain.values import Closure, Const, Frame, Leaf, ListV, PartialV, TupleV, Value
from ..containers.items import spread
from ..kernel.bind_arguments import bind_signature
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended
from ..world.normalized_bodies import prepared
from .inline import new_frame, run


def apply_rule(
    s: Specialiser,
    rule: Any,
    fn: Any,
    y: Value,
    d: Value,
    arguments: dict[str, Value],
    wanted: Collection[str] | None = None,
    pick: int | None = None,
) -> dict[str, Value]:
    """The entries of ``rule(y, d, **arguments)``, by parameter; of those only that are `wanted`, where that is told.

    Of those of a starred parameter it is the `pick`-th alone, where there is one.
    """
    parsed, body = prepared(rule.__code__, rule)
    parameters = parameters_of(rule, rule.__code__)
    positional, named = arrange(parameters, arguments)
    d = widened(s, d, y, arguments)
    defaults = [Const(v) for v in rule.__defaults__ or ()]
    kw_defaults = {k: Const(v) for k, v in (rule.__kwdefaults__ or {}).items()}
    bound = bind_signature(s, body.tree.args, [y, d, *positional], named, defaults, kw_defaults, rule.__name__)
    outer_frame, outer_origin, outer_node = s.frame, s.origin, s.node
    if s.origin is None:
        s.origin = s.where()
    s.frame = Frame(0, parsed, rule.__globals__, rule=True)
    s.node = body.tree
    s.counter += 1
    free = dict(zip(rule.__code__.co_freevars, rule.__closure__ or ()))
    try:
        frame = new_frame(s, rule.__code__, parsed, rule.__globals__, free, body, None)
        frame.rule = True
        frame.wanted = None if wanted is None else [p.name in wanted for p in parameters]
        frame.pick = pick
        mark = len(s.block)
        result = run(s, frame, body, bound, rule)
        if is_undecided(s.block[mark:]) and not one_at_a_time(fn, rule, result) and not holds_function(arguments):
            del s.block[mark:]
            result = call_rule(s, rule, [y, d, *positional], named, result)
    except Ended:
        raise NoRule(reason_of(s.block[mark:]), "", s.where(), "setting") from None
    finally:
        s.frame, s.origin, s.node = outer_frame, outer_origin, outer_node
    return entries_of(s, parameters, result)


def widened(s: Specialiser, d: Value, y: Value, arguments: dict[str, Value]) -> Value:
    """A derivative that is a number as NumPy's, where it meets a narrower dtype than that of the result.

    Python's numbers take the dtype of what they are multiplied by: ``0.1 * np.float32(3)`` has the digits of a float32,
    also where both stand for parts of a float64.  And a cotangent may be Python's whatever its facts say, as a seed is.
    """
    have, want = s.num(d), s.num(y)
    if have is None or have.dims != () or have.kind == "array":
        return d
    if want is None or want.python or want.dtype is None or want.dtype.kind not in "fc":
        return d
    met = [s.facts[n] for value in arguments.values() for n in s.leaves(value)]
    narrow = [f.dtype for f in met if isinstance(f, Num) and not f.python and f.dtype is not None]
    if all(dtype.kind not in "fc" or np.result_type(dtype, want.dtype) == dtype for dtype in narrow):
        return d
    if have.kind == "npscalar" and is_made_by_numpy(s, s.expr(d)):
        return d
    kind = np.complex128 if have.dtype is not None and have.dtype.kind == "c" else np.float64
    expr = ir.call(ir.attribute(s.bind("np", np), kind.__name__), s.expr(d))
    op = ir.Op(np.ndarray.astype, {"a": d, "dtype": Const(np.dtype(kind))})
    return s.let(expr, Num("npscalar", np.dtype(kind), ()), op, may_raise=False)


def is_made_by_numpy(s: Specialiser, expr: Any, depth: int = 4) -> bool:
    """True if a number surely comes from an operation of NumPy's, of those that led to it last."""
    if isinstance(expr, gast.Name):
        made = s.definitions.get(expr.id) if depth else None
        return made is not None and is_made_by_numpy(s, made, depth - 1)
    if isinstance(expr, gast.BinOp):
        return is_made_by_numpy(s, expr.left, depth) or is_made_by_numpy(s, expr.right, depth)
    if isinstance(expr, gast.Subscript):
        facts = s.facts.get(getattr(expr.value, "id", ""))
        return isinstance(facts, Num) and facts.kind == "array"
    return isinstance(expr, gast.Call) and getattr(getattr(expr.func, "value", None), "id", "") == "np"


class Parameter(NamedTuple):
    """A parameter of a rule."""

    name: str
    starred: bool
    by_name: bool  # it is given by name only


@functools.lru_cache(maxsize=4096)
def parameters_of(rule: Any, code: types.CodeType) -> list[Parameter]:
    """The parameters of a rule but for the first two, the result and its derivative."""
    del code  # the parameters of the rule as it is now
    kinds = list(inspect.signature(rule).parameters.values())[2:]
    return [Parameter(p.name, p.kind is p.VAR_POSITIONAL, p.kind is p.KEYWORD_ONLY) for p in kinds]


def reason_of(block: ir.Block) -> str:
    """Why a rule raises: the text of the error that it made last."""
    made = [stmt.expr for stmt in ir.walk(block) if isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Call)]
    texts = [call.args[0].value for call in made if call.args and isinstance(call.args[0], gast.Constant)]
    return next((text for text in reversed(texts) if isinstance(text, str)), "this call has no derivative")


def is_undecided(block: ir.Block) -> bool:
    """True if facts left several of a rule's cases open; a check that only raises is none."""
    statements = list(ir.walk(block))
    return len(statements) > thresholds.RULE_STATEMENTS and any(
        isinstance(stmt, ir.If) and not is_check(stmt) for stmt in statements
    )


def holds_function(arguments: dict[str, Value]) -> bool:
    """True if a rule is given a function, which it differentiates: that is only possible where it is inlined."""
    return any(
        isinstance(v, (PartialV, Closure)) or isinstance(v, Const) and isinstance(v.value, types.FunctionType)
        for v in arguments.values()
    )


def is_check(stmt: ir.If) -> bool:
    return ir.ends_in_raise(stmt.then) and not stmt.orelse


def one_at_a_time(fn: Any, rule: Any, result: Value) -> bool:
    """True if a tangent fits one of the entries only: the others' texts are dropped, and must not run."""
    row = TABLE[fn]
    return rule is row.forward and row.kind == "general" and isinstance(result, TupleV) and len(result.items) > 1


def call_rule(s: Specialiser, rule: Any, args: list[Value], named: dict[str, Value], result: Value) -> Value:
    """A call of the rule itself, which decides at run time."""
    callee = s.bind(f"{rule.__name__}_rule", rule)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in named.items()})
    if not isinstance(result, TupleV):
        return s.let(expr, s.facts_of(result), may_raise=False)
    facts = [s.facts_of(item) for item in result.items]
    leaves = (
        [s.let(ir.subscript(expr, ir.constant(0)), facts[0])] if len(facts) == 1 else s.let_several(expr, facts, None)
    )
    return TupleV(tuple(item if item == Const(None) else spread(s, leaf) for item, leaf in zip(result.items, leaves)))


def arrange(parameters: list[Parameter], arguments: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """Arguments by name as positional and keyword arguments, a starred parameter's spread out."""
    positional: list[Value] = []
    named: dict[str, Value] = {}
    in_order = True
    for parameter in parameters:
        if parameter.starred:
            items = arguments.get(parameter.name, TupleV(()))
            positional += items.items
        elif parameter.name in arguments:
            if in_order and not parameter.by_name:
                positional.append(arguments[parameter.name])
            else:
                named[parameter.name] = arguments[parameter.name]
        else:
            in_order = False
    return positional, named


def entries_of(s: Specialiser, parameters: list[Parameter], result: Value) -> dict[str, Value]:
    """The entries that a rule returns, by parameter: a starred one given a run-time list has the entries of all."""
    if not isinstance(result, TupleV):
        is_one = parameters[0].starred and not isinstance(s.facts_of(result), Listed)
        return {parameters[0].name: TupleV((result,)) if is_one else result}
    entries: dict[str, Value] = {}
    items = list(result.items)
    for parameter in parameters:
        if parameter.starred:
            entries[parameter.name] = TupleV(tuple(items))
            break
        if not items:
            break
        entries[parameter.name] = items.pop(0)
    return entries


def check_entries(fn: Any, entries: dict[str, Value], wanted: Collection[str], origin: Any) -> None:
    """Refuse a parameter for which a rule has no entry."""
    for p in wanted:
        if entries.get(p, Const(None)) == Const(None):
            message = f"{full_name(fn)} has no derivative with respect to {p!r}"
            raise NoRule(message, "wrap that argument in stop_gradient", origin)


__all__ = ["Leaf", "ListV", "apply_rule", "check_entries"]
