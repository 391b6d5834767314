"""``try``/``except``: the path that was taken is recorded, and only that path is differentiated."""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import INT, Opaque
from .control import MISSING, as_leaf, label, run_block
from .expressions import evaluate
from .names import assign_name
from .state import Specialiser
from .values import Leaf, Obj, Poison, TupleV, Value


def attempt(s: Specialiser, node: Any) -> None:
    from .statements import execute

    origin = s.where()
    entry = dict(s.env)
    took = s.fresh("took_path", INT)
    body: ir.Block = []
    goes_on = run_block(s, body, lambda: execute(s, [*node.body, *node.orelse]))
    refuse_half_done(s, body)
    ends: list[tuple[ir.Block, dict[Any, Value]]] = [(body, s.env)] if goes_on else [(body, {})]
    handlers: list[tuple[Any, str | None, ir.Block]] = []
    for handler in node.handlers:
        # A handler sees what was bound before the attempt; names bound inside it may be either.
        s.env = {key: value if ends[0][1].get(key, value) == value or not goes_on else Poison(f"{label(key)!r} may or may not have been assigned when the exception came") for key, value in entry.items()}
        block: ir.Block = []
        kind = None if handler.type is None else s.expr(evaluate(s, handler.type))
        bound = None
        if handler.name is not None:
            bound = s.fresh(handler.name if isinstance(handler.name, str) else handler.name.id, Opaque())
            assign_name(s, s.hints[bound], Leaf(bound))
        alive = run_block(s, block, lambda handler=handler: execute(s, handler.body))
        handlers.append((kind, bound, block))
        ends.append((block, s.env if alive else {}))
    final: ir.Block = []
    result = ir.Try(body, handlers, final, [], took, origin)
    s.block.append(result)
    s.env = meet_all(s, result, ends)
    with s.writing(final):
        if node.finalbody:
            execute(s, node.finalbody)


def refuse_half_done(s: Specialiser, body: ir.Block) -> None:
    """A write that an exception cuts off from its adjoint cannot be undone later."""
    for stmt in ir.walk(body):
        if isinstance(stmt, (ir.Store, ir.Loop)) or (isinstance(stmt, ir.Effect) and stmt.kind):
            kind = "a loop" if isinstance(stmt, ir.Loop) else "an in-place update"
            raise s.refuse(f"{kind} inside `try` with handlers", "compute into new names inside `try`, and loop or write after it")


def meet_all(s: Specialiser, node: ir.Try, ends: list[tuple[ir.Block, dict[Any, Value]]]) -> dict[Any, Value]:
    alive = [k for k, (_, env) in enumerate(ends) if env]
    result: dict[Any, Value] = {}
    s.env = result
    keys = [key for _, env in ends for key in env]
    for key in dict.fromkeys(keys):
        values = [ends[k][1].get(key, MISSING) for k in alive]
        if all(v is values[0] or v == values[0] for v in values):
            result[key] = values[0]
        else:
            result[key] = meet_one(s, node, key, ends, alive, values)
    return result


def meet_one(s: Specialiser, node: ir.Try, key: Any, ends: Any, alive: list[int], values: list[Value]) -> Value:
    if any(isinstance(v, (TupleV, Obj, Poison)) and v is not MISSING for v in values):
        return Poison(f"{label(key)!r} stands for different things after this try")
    names: list[str | None] = [None] * len(ends)
    for k, value in zip(alive, values):
        leaf = None if value is MISSING else as_leaf(s, value, ends[k][0], label(key))
        names[k] = leaf.name if leaf is not None else None
    from ..facts import join

    facts = None
    for n in names:
        if n is not None:
            facts = s.facts[n] if facts is None else join(facts, s.facts[n])
    if facts is None:
        return Poison(MISSING.reason)
    target = s.fresh(label(key), facts)
    s.named.add(target)
    node.merges.append((target, names))
    return Leaf(target)



