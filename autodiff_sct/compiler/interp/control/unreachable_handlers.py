"""Paths that are not followed: handlers that no statement comes to, and statements that only raise.

Handlers of a ``try`` that no statement of its block comes to.

What NumPy raises as a `TypeError` or an `AttributeError` depends on kinds and dtypes, and where these are known, the
statement has been found to be right when its result was.  So ``try: e[small] = 0.0`` with a handler for scalars, which
take no items, is the statement alone where ``e`` is an array.

A path that ends in ``raise`` has no derivative, so nothing has to be known of what its message is made of. Its
statements become a function of what they read, which is called where the path is taken.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import gast
import numpy as np

from ....errors import Refused
from ....runtime.apart import Apart
from ... import ir
from ...analysis.effects import fact, path
from ...domain.facts import Facts, Num
from ...domain.request import Way
from ...domain.values import Const, Frame, TupleV
from ..kernel.handlers import evaluate
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended, beside, run_block
from ..world.names import home, load_name

SETTLED = (TypeError, AttributeError, NameError, ImportError, KeyError, StopIteration)
OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.Pow, gast.BitAnd, gast.BitOr)
COMPARISONS = (gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE)
REDUCTIONS = (np.sum, np.mean, np.any, np.all, np.max, np.min)
ELEMENTWISE = (
    abs,
    np.where,
    np.clip,
    np.isclose,
    np.copy,
    np.array,
    np.asarray,
    np.empty_like,
    np.zeros_like,
    np.ones_like,
)
NUMBERS = {"abs", "float", "int", "len", "max", "min", "range", "round", "sum"}
METHODS = {"any", "all", "sum", "mean", "max", "min", "copy", "ravel", "squeeze"}


def is_unreached(s: Specialiser, handlers: list[Any], block: ir.Block) -> bool:
    """True if no statement of a block raises what its handlers catch."""
    return are_settled(s, handlers) and all(is_known(s, stmt) for stmt in block)


def certain(s: Specialiser, handlers: list[Any], block: ir.Block) -> Any:
    """The handler that the `raise` at the end of a block comes to; None where another may be meant."""
    raised = raised_by(block[-1])
    if raised is None or not are_settled(s, handlers) or not all(is_known(s, stmt) for stmt in block[:-1]):
        return None
    found = next((h for h in handlers if issubclass(raised, tuple(caught_by(s, h)))), None)
    return found if found is not None and found.name is None and not any(map(may_ask, found.body)) else None


def may_ask(node: Any) -> bool:
    """True if a statement of a handler may ask which exception it is: it raises, or calls what could."""
    for part in gast.walk(node):
        if isinstance(part, gast.Raise):
            return True
        if isinstance(part, gast.Call):
            named = isinstance(part.func, gast.Name) and part.func.id in NUMBERS
            of_numpy = isinstance(part.func, gast.Attribute) and getattr(part.func.value, "id", "") in ("np", "numpy")
            if not named and not of_numpy:
                return True
    return False


def are_settled(s: Specialiser, handlers: list[Any]) -> bool:
    """True if handlers catch nothing but what depends on kinds and dtypes."""
    return all(
        found and all(issubclass(cls, SETTLED) for cls in found) for found in (caught_by(s, h) for h in handlers)
    )


def raised_by(stmt: Any) -> type[BaseException] | None:
    """The class of Python's own of what a statement raises; None where it is not known."""
    call = stmt.node.exc if isinstance(stmt, ir.Raise) and isinstance(stmt.node, gast.Raise) else None
    name = call.func.id if isinstance(call, gast.Call) and isinstance(call.func, gast.Name) else ""
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def caught_by(s: Specialiser, handler: Any) -> list[type]:
    """The classes that a handler names; none where they are not known."""
    caught = evaluate(s, handler.type) if handler.type is not None else Const(None)
    items = caught.items if isinstance(caught, TupleV) else (caught,)
    found = [item.value for item in items if isinstance(item, Const) and isinstance(item.value, type)]
    return found if len(found) == len(items) else []


def is_known(s: Specialiser, stmt: Any) -> bool:
    """True if a statement works on real numbers and arrays of known dtypes in ways that suit all of these."""
    if isinstance(stmt, ir.If):
        return is_number(s, stmt.test) and all(is_known(s, inner) for block in ir.bodies(stmt) for inner in block)
    if isinstance(stmt, ir.Store):
        arithmetic = stmt.aug is None or issubclass(stmt.aug, OPERATORS[:7])
        return arithmetic and holds_floats(s.facts[stmt.base]) and is_index(s, stmt.index) and is_number(s, stmt.value)
    if isinstance(stmt, ir.Effect):
        return isinstance(stmt.expr, gast.Name)
    return isinstance(stmt, ir.Let) and not stmt.effect and is_number(s, stmt.expr)


def is_number(s: Specialiser, expr: Any) -> bool:
    """True if an expression gives a real number or an array of them, computed of such by operators and functions."""
    match expr:
        case gast.Constant():
            return isinstance(expr.value, (bool, int, float))
        case gast.Name():
            found = fact(s, expr)
            return isinstance(found, Num) and found.kind is not None and is_real_dtype(found.dtype)
        case gast.UnaryOp():
            return is_number(s, expr.operand)
        case gast.BinOp():
            return isinstance(expr.op, OPERATORS) and is_number(s, expr.left) and is_number(s, expr.right)
        case gast.Compare():
            plain = all(isinstance(op, COMPARISONS) for op in expr.ops)
            return plain and all(is_number(s, each) for each in (expr.left, *expr.comparators))
        case gast.Subscript():
            return is_number(s, expr.value) and is_index(s, expr.slice)
        case gast.Call():
            return is_known_call(s, expr)
    return False


def is_known_call(s: Specialiser, expr: Any) -> bool:
    """True if a call is one of an elementwise function, a choice, or a reduction of the whole."""
    if expr.keywords:
        return False
    called = path(s, expr.func)
    if isinstance(expr.func, gast.Name):
        called = s.globals.get(expr.func.id, getattr(builtins, expr.func.id, None))
    if isinstance(called, np.ufunc) or called in REDUCTIONS + ELEMENTWISE:
        return all(is_number(s, arg) for arg in expr.args)
    method = isinstance(expr.func, gast.Attribute) and expr.func.attr in METHODS
    return method and not expr.args and is_number(s, expr.func.value)


def is_index(s: Specialiser, expr: Any) -> bool:
    """True if an expression is a mask, a place or places, or a slice between bounds that are Python's integers."""
    match expr:
        case gast.Tuple():
            return all(is_index(s, each) for each in expr.elts)
        case gast.Slice():
            bounds = [bound for bound in (expr.lower, expr.upper, expr.step) if bound is not None]
            return all(isinstance(found := fact(s, bound), Num) and found.kind == "int" for bound in bounds)
        case gast.Constant():
            return expr.value is None or expr.value is Ellipsis or type(expr.value) is int
    return is_number(s, expr)


def holds_floats(facts: Facts) -> bool:
    """True if something is an array of floats, which takes any real number."""
    return isinstance(facts, Num) and facts.kind == "array" and facts.dtype is not None and facts.dtype.kind == "f"


def is_real_dtype(dtype: np.dtype | None) -> bool:
    """True if a dtype is one of truth values, integers or floats."""
    return dtype is not None and dtype.kind in "biuf"


def run_side(s: Specialiser, block: ir.Block, work: Callable[[], None]) -> bool:
    """Write one side of a branch; one that cannot be followed may be refused where it is taken."""
    with beside(s):
        try:
            goes_on = run_block(s, block, work)
            if goes_on and is_late(s) and passes_on(s):
                raise s.refuse("class-feature", "whether this class has the operator is known only at run time")
            return goes_on
        except Refused as error:
            if not is_late(s):
                raise
            refuse_there(s, block, error)
            return False


def passes_on(s: Specialiser) -> bool:
    """True if the method of an operator is about to return NotImplemented, for the other operand to be asked."""
    return any(
        isinstance(value, Const) and value.value is NotImplemented and s.frame is not None and key[0] == s.frame.id
        for key, value in s.env.items()
    )


def is_late(s: Specialiser) -> bool:
    """True where a refusal may wait for the run: no handler of the program would catch it."""
    return Way.LATE in s.attempt.ways and not (s.strictly or s.hearing or s.recursive_calls) and s.in_package()


def refuse_there(s: Specialiser, block: ir.Block, error: Refused) -> None:
    """Write a block that raises a refusal, past the handlers of the program."""
    apart = ir.call(s.bind("Apart", Apart), ir.constant(1))
    block[:] = [ir.Raise(gast.Raise(apart, s.bind("refused", error)), s.where())]


STRAIGHT = (
    gast.Assign,
    gast.AugAssign,
    gast.AnnAssign,
    gast.Expr,
    gast.Pass,
    gast.Assert,
    gast.Import,
    gast.ImportFrom,
)
IMPORTS = (gast.Import, gast.ImportFrom)
CALLER = {
    "super",
    "__class__",
    "locals",
    "vars",
    "dir",
    "eval",
    "exec",
}  # what reads the variables of the function that calls it
LEAVES = (gast.Yield, gast.YieldFrom, gast.Await)


def raises_from(body: list[Any]) -> int | None:
    """The position from which statements do nothing but come to a ``raise``; None where they do not end in one."""
    if not body or not isinstance(body[-1], gast.Raise) or body[-1].exc is None:
        return None
    position = len(body) - 1
    while position and isinstance(body[position - 1], STRAIGHT):
        position -= 1
    return position


def raise_from(s: Specialiser, body: list[Any], follow: Callable[[], None]) -> None:
    """Follow statements that only raise; where one is refused, or would import, carry them out as they stand."""
    if s.attempts:  # a handler may catch what is raised, and goes on from what it knows
        return follow()
    if s.branches and any(isinstance(node, IMPORTS) for node in body):
        carry_out(s, body)
    mark, entry = len(s.block), dict(s.env)
    try:
        follow()
    except Refused:
        del s.block[mark:]
        s.env = entry
        carry_out(s, body)
        raise


def carry_out(s: Specialiser, body: list[Any]) -> None:
    """Call the statements as a function and end the path; do nothing where what they read cannot be given to them."""
    assert s.frame is not None
    names = parameters(s, s.frame, body)
    if names is None:
        return
    try:
        given = [s.expr(load_name(s, name)) for name in names]
    except Refused:
        return
    code = compiled(tuple(body), tuple(names), s.frame.parsed.file, s.frame.parsed.tree.name)
    fn = FunctionType(code, s.frame.globals)
    outer, s.node = s.node, body[-1]
    try:
        s.block.append(ir.Raise(gast.Raise(ir.call(s.bind("failed", fn), *given), None), s.where()))
    finally:
        s.node = outer
    raise Ended


def parameters(s: Specialiser, frame: Frame, body: list[Any]) -> list[str] | None:
    """The variables of the program that statements read; None where they need more than what these hold."""
    nodes = [node for statement in body for node in gast.walk(statement)]
    names = [node for node in nodes if isinstance(node, gast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, gast.Load)}
    bound |= {(alias.asname or alias.name).split(".")[0] for alias in nodes if isinstance(alias, gast.alias)}
    read = dict.fromkeys(node.id for node in names)
    if any(isinstance(node, LEAVES) for node in nodes) or CALLER & read.keys() or bound & frame.nonlocals:
        return None
    top = frame
    while top.parent is not None:
        top = top.parent
    found = []
    for name in read:
        owner = home(frame, name)
        if (owner.id, name) in s.env if owner is not None else name in top.free:
            found.append(name)
        elif owner is not None and name not in bound:
            return None  # it is not assigned: that is what is raised
    return found if all(map(str.isidentifier, found)) else None


@functools.lru_cache(maxsize=256)
def compiled(body: tuple[Any, ...], names: tuple[str, ...], file: str, name: str) -> CodeType:
    """The code of a function of some names that carries out statements of the function called `name`."""
    tree = gast.parse(f"def failed({', '.join(names)}): pass")
    tree.body[0].body = list(body)
    made: dict[str, Any] = {}
    exec(compile(gast.gast_to_ast(tree), file, "exec"), made)
    return made["failed"].__code__.replace(co_name=name)
