"""``with``: NumPy's and other well-known managers stay as they are; the user's are inlined, as calls around it.

A manager that may swallow an exception leaves its block half done, so that the block is written like one under
handlers.
"""

from __future__ import annotations

import contextlib
import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ....errors import AutodiffError, SourceUnavailable
from ... import ir
from ...domain.facts import Opaque
from ...domain.values import Leaf, Obj, Suspended, Value
from ...frontend.builders import assign, load, parameters
from ...frontend.exception_regions import Block, at
from ...frontend.parse import parse
from ..kernel.handlers import evaluate
from ..kernel.operations import execute, run_generator, store
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended, run_block
from ..world.class_guards import found_in
from ..world.names import assign_name
from ..world.normalized_bodies import prepared
from .exceptions import rewritten, run_under_handlers
from .joins import own_manager, stay

# Managers that let every exception through.
TRANSPARENT = (
    np.errstate,
    warnings.catch_warnings,
    contextlib.nullcontext,
    contextlib.redirect_stdout,
    contextlib.redirect_stderr,
    contextlib.closing,
    type(threading.Lock()),
    type(threading.RLock()),
)


def manage(s: Specialiser, node: Any) -> None:
    """Specialise a ``with`` statement."""
    if len(node.items) > 1:
        execute(s, rewritten(s, node, lambda fresh: nested(node)))
        return
    if (tangents := own_manager(s, node)) is not None:
        stay(s, node, tangents)
        return
    item = node.items[0]
    manager = evaluate(s, item.context_expr)
    handled = getattr(node, "handled", None)
    if isinstance(manager, Suspended):
        if handled is None:
            around(s, node, manager)
        elif ends_with_yield(manager):
            run_under_handlers(s, manager, lambda value: enter_block(s, node, value))
        else:
            execute(s, rewritten(s, node, lambda fresh: handled.as_unit()))
    elif isinstance(manager, Obj):
        call_around(s, node, manager, is_told(s, manager))
    elif may_swallow(s, manager, handled is not None):
        call_around(s, node, manager, True)
    else:
        plain(s, node, manager)


def around(s: Specialiser, node: Any, manager: Suspended) -> None:
    """The text of a generator around the block that it yields to."""
    run_generator(s, manager, lambda value: enter_block(s, node, value))


def enter_block(s: Specialiser, node: Any, value: Value) -> None:
    """The block of a ``with`` statement, after what its manager gave has its name."""
    if node.items[0].optional_vars is not None:
        store(s, node.items[0].optional_vars, value)
    execute(s, node.body)


def nested(node: Any) -> Block:
    inner = node.body
    for item in reversed(node.items):
        inner = [gast.copy_location(gast.With([item], inner, None), node)]
    return inner


def plain(s: Specialiser, node: Any, manager: Value) -> None:
    """A manager that stays a manager."""
    target = node.items[0].optional_vars
    origin = s.where()
    bound = None
    if target is not None:
        bound = s.fresh(getattr(target, "id", "manager"), Opaque())
        store(s, target, Leaf(bound))
    block: ir.Block = []
    loud = is_loud(node)
    s.loud += loud
    goes_on = run_block(s, block, lambda: execute(s, node.body))
    s.loud -= loud
    s.block.append(ir.With([(s.expr(manager), bound)], block, origin))
    if not goes_on:
        raise Ended


def is_loud(node: Any) -> bool:
    """True if a ``with`` statement makes exceptions of NumPy's warnings."""
    manager = node.items[0].context_expr
    if name_of(manager) == "errstate":
        return any(getattr(k.value, "value", "raise") in ("raise", "call") for k in manager.keywords)
    calls = [n for stmt in node.body for n in gast.walk(stmt) if name_of(n) in ("simplefilter", "filterwarnings")]
    return any(getattr(a, "value", "") == "error" for call in calls for a in [*call.args, *call.keywords])


def name_of(call: Any) -> str:
    """The last part of the name of what is called."""
    callee = call.func if isinstance(call, gast.Call) else None
    return str(getattr(callee, "attr", getattr(callee, "id", "")))


def call_around(s: Specialiser, node: Any, manager: Value, told: bool) -> None:
    """Calls of ``__enter__`` and ``__exit__`` in place of the statement; a manager may have to be `told` of errors."""
    make = swallowing if told else letting_through
    handled = getattr(node, "handled", None)
    if handled is None:
        body = rewritten(s, node, lambda fresh: make(node, fresh))
    else:
        body = rewritten(s, node, lambda fresh: handled.called(make, fresh))
        node = handled.statement
    assign_name(s, node.manager_name, manager)
    execute(s, body)


def enter(node: Any, fresh: Callable[[str], str]) -> Any:
    node.manager_name = fresh("manager")
    entered = method(node.manager_name, "__enter__")
    target = node.items[0].optional_vars
    return gast.Expr(entered) if target is None else gast.Assign([target], entered, None)


def method(manager: str, name: str, *args: Any) -> Any:
    return gast.Call(gast.Attribute(load(manager), name, gast.Load()), list(args), [])


def leave(node: Any) -> Any:
    return gast.Expr(method(node.manager_name, "__exit__", *(gast.Constant(None, None) for _ in range(3))))


def letting_through(node: Any, fresh: Callable[[str], str]) -> Block:
    entering = enter(node, fresh)
    return [at(node, entering), at(node, gast.Try(node.body, [], [], [leave(node)]))]


def swallowing(node: Any, fresh: Callable[[str], str]) -> Block:
    entering, error, swallowed = enter(node, fresh), fresh("error"), fresh("swallowed")
    kind = gast.Call(load("type"), [load(error)], [])
    asked = method(
        node.manager_name, "__exit__", kind, load(error), gast.Attribute(load(error), "__traceback__", gast.Load())
    )
    again = gast.If(gast.UnaryOp(gast.Not(), load(swallowed)), [gast.Raise(None, None)], [])
    everything = load("BaseException")
    everything.passes_on = True
    handler = gast.ExceptHandler(
        everything, gast.Name(error, gast.Store(), None, None), [assign(swallowed, asked), again]
    )
    return [at(node, entering), at(node, gast.Try(node.body, [handler], [leave(node)], []))]


# -- what swallows


def is_told(s: Specialiser, manager: Obj) -> bool:
    """True if ``__exit__`` reads what was raised, or may return something true."""
    fn = found_in(s, manager.cls, "__exit__")
    if not isinstance(fn, types.FunctionType):
        return True
    try:
        tree = prepared(fn.__code__, fn)[0].tree
    except SourceUnavailable:
        return True
    raised = set(parameters(tree.args)[1:])
    return any(
        isinstance(n, gast.Return) and not is_false(n.value) or isinstance(n, gast.Name) and n.id in raised
        for body in tree.body
        for n in gast.walk(body)
    )


def is_false(expr: Any) -> bool:
    return expr is None or (isinstance(expr, gast.Constant) and not expr.value)


def may_swallow(s: Specialiser, manager: Value, handled: bool) -> bool:
    """True if a manager of a library's may end its block early, or sees an exception that is `handled`."""
    facts = s.facts_of(manager)
    if isinstance(facts, Opaque) and facts.cls is not None and issubclass(facts.cls, TRANSPARENT):
        return False
    made_by = next(
        (
            x.op.fn
            for x in reversed(s.block)
            if isinstance(x, ir.Let) and isinstance(manager, Leaf) and x.target == manager.name and x.op
        ),
        None,
    )
    if made_by is open or made_by is np.printoptions:
        return False
    if is_generator_manager(made_by):
        return handled or not yields_freely(made_by)
    return True


def is_generator_manager(fn: Any) -> bool:
    """True if a function was made by ``contextlib.contextmanager``."""
    code = getattr(fn, "__code__", None)
    return (
        code is not None
        and code.co_filename == contextlib.__file__
        and isinstance(getattr(fn, "__wrapped__", None), types.FunctionType)
    )


def suspended(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Suspended | None:
    """The generator of a manager that is given numbers or arrays and yields in one place; others stay as they are."""
    if all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return None
    made_from = fn.__wrapped__
    try:
        tree = prepared(made_from.__code__, made_from, True)[1].tree
    except AutodiffError:
        return None
    return Suspended(made_from, args, kwargs, s.site("generator")) if yields_once(tree.body) else None


def yields_once(body: Block) -> bool:
    """True if a block surely yields, in one place that is no loop and no branch."""
    found = [stmt for stmt in body if any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in gast.walk(stmt))]
    if len(found) != 1:
        return False
    if isinstance(found[0], (gast.With, gast.Try)):
        return yields_once(found[0].body)
    return isinstance(found[0], (gast.Expr, gast.Assign)) and isinstance(found[0].value, gast.Yield)


def ends_with_yield(generator: Suspended) -> bool:
    """True if a generator does nothing after it has yielded that it does not do after an exception, too."""

    def ends(body: Block) -> bool:
        last = body[-1]
        if isinstance(last, gast.Try):
            return not last.handlers and not last.orelse and not leaves(last.finalbody) and ends(last.body)
        return isinstance(getattr(last, "value", None), gast.Yield)

    if not isinstance(generator.fn, types.FunctionType):
        return False
    return ends(prepared(generator.fn.__code__, generator.fn, True)[0].tree.body)


def yields_freely(fn: Any) -> bool:
    """True if the ``yield`` of a generator stands under no handlers, so that an exception goes through."""
    try:
        tree = parse(fn.__wrapped__).tree
    except SourceUnavailable:
        return False
    guarded = [
        n
        for n in gast.walk(tree)
        if isinstance(n, gast.With) or (isinstance(n, gast.Try) and (n.handlers or leaves(n.finalbody)))
    ]
    return not any(isinstance(inner, (gast.Yield, gast.YieldFrom)) for n in guarded for inner in gast.walk(n))


def leaves(block: Block) -> bool:
    return any(isinstance(n, (gast.Return, gast.Break, gast.Continue)) for each in block for n in gast.walk(each))
