"""``try`` and ``with``: the path that was taken is recorded, and only that path is differentiated.

A ``try`` of one step is written as it is: either its block did all of its work, or none of it is seen.  One of several
steps is first taken apart by `piecewise`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ... import ir
from ...analysis.alias import written_by as base
from ...analysis.effects import SUMS, fact, is_float, is_safe
from ...domain.facts import INT, Facts, Listed, Mapped, Num, Opaque, Pair, join
from ...domain.values import BEGUN, Const, Leaf, Obj, Poison, Suspended, TupleV, Value
from ...frontend.exception_regions import Piecewise, is_one_unit
from ..containers.iterators import stand_at_end
from ..kernel.handlers import evaluate
from ..kernel.operations import execute, run_generator
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended, run_block
from ..world.names import assign_name
from ..world.partial_keys import join_presence, note_presence
from .joins import MISSING, as_leaf, complete, forget, keep_whole, label, own_manager
from .unreachable_handlers import caught_by, certain, is_late, is_unreached, refuse_there

QUOTIENTS = (gast.Div, gast.FloorDiv, gast.Mod, gast.Pow)
Ends = list[tuple[ir.Block, dict[Any, Value] | None]]  # a path's block, and its environment where it goes on


def fresh_names(s: Specialiser, made: list[str]) -> Callable[[str], str]:
    """Names for new variables of the current function; `made` collects them."""
    assert s.frame is not None
    taken = {n.id for n in gast.walk(s.frame.tree) if isinstance(n, gast.Name)} | set(s.frame.locals)

    def fresh(hint: str) -> str:
        candidate, number = hint, 1
        while candidate in taken:
            number += 1
            candidate = f"{hint}{number}"
        taken.add(candidate)
        made.append(candidate)
        return candidate

    return fresh


def rewritten(s: Specialiser, node: Any, make: Callable[[Callable[[str], str]], list[Any]]) -> list[Any]:
    """The statements that stand for `node`, made once; the current function gets their variables."""
    assert s.frame is not None
    if not hasattr(node, "stands_for"):
        names: list[str] = []
        node.stands_for = make(fresh_names(s, names)), frozenset(names)
    statements, added = node.stands_for
    s.frame.locals |= added
    return statements


def attempt(s: Specialiser, node: Any) -> None:
    assert s.frame is not None
    function = s.frame.tree
    keep_whole(s, node)
    if is_one_unit(node, function):
        small_attempt(s, node)
    else:
        execute(s, rewritten(s, node, lambda fresh: Piecewise(fresh, function).attempt(node, False)))


def hears_numpy(kinds: Any) -> bool:
    """True if a handler is for what NumPy's warnings become where they are exceptions."""
    names = {getattr(n, "id", "") for n in gast.walk(kinds)} if kinds is not None else set()
    return not names.isdisjoint(("FloatingPointError", "ArithmeticError", "RuntimeWarning", "Warning"))


def hears_refusals(s: Specialiser, handler: Any) -> bool:
    """True if a handler may catch every exception, and not only to raise it again."""
    if handler.type is None or getattr(handler.type, "passes_on", False):
        return handler.type is None
    classes = caught_by(s, handler)
    return not classes or BaseException in classes


def refuse_unknown_classes(s: Specialiser, node: Any) -> None:
    """Put a handler that raises in the place of one whose class does not exist: Python asks for it once it catches."""
    for k, handler in enumerate(node.handlers):
        if handler.type is None:
            return
        try:
            with s.writing([]):
                evaluate(s, handler.type)
        except Ended:
            raising = gast.copy_location(gast.Expr(handler.type), handler)
            node.handlers[k:] = [gast.copy_location(gast.ExceptHandler(None, None, [raising]), handler)]
            return


def small_attempt(s: Specialiser, node: Any) -> None:
    """A ``try`` whose block does its work in one step."""
    refuse_unknown_classes(s, node)
    origin = s.where()
    entry = dict(s.env)
    took = s.fresh("took_path", INT)
    body = Watched(s)
    loud = any(hears_numpy(handler.type) for handler in node.handlers)
    with s.under_handlers(loud, any(hears_refusals(s, handler) for handler in node.handlers)):
        goes_on = run_block(s, body, lambda: execute(s, node.body))
    if not goes_on and (handler := certain(s, node.handlers, body)) is not None:
        s.block += body[:-1]
        execute(s, [*handler.body, *node.finalbody])
        return
    if goes_on and (all(cannot_raise(s, stmt) for stmt in body) or is_unreached(s, node.handlers, body)):
        s.block += body
        execute(s, node.finalbody)
        return
    refuse_half_done(s, body, entry)
    end = s.env
    before = before_body(s, node, body, entry, end)
    ends: Ends = [(body, end if goes_on else None)]
    handlers: list[tuple[Any, str | None, ir.Block]] = []
    for handler in node.handlers:
        s.env = dict(before)
        handlers.append(write_handler(s, handler, ends, late_site(origin)))
    final: ir.Block = []
    ended = frozenset(k for k, (_, env) in enumerate(ends) if env is None)
    result = ir.Try(body, handlers, final, [], took, origin, ended)
    s.handles = True
    s.block.append(result)
    if len(ended) == len(ends):
        raise Ended
    s.env = meet_all(s, result, ends)
    with s.writing(final):
        execute(s, node.finalbody)


class Watched(list[Any]):
    """A block that knows what held where each of its statements was written."""

    def __init__(self, s: Specialiser) -> None:
        super().__init__()
        self.s = s
        self.held: dict[int, dict[Any, Value]] = {}

    def append(self, stmt: Any) -> None:
        if not ir.bodies(stmt):
            self.held[id(stmt)] = dict(self.s.env)
        super().append(stmt)


def before_body(
    s: Specialiser, node: Any, body: Watched, entry: dict[Any, Value], end: dict[Any, Value]
) -> dict[Any, Value]:
    """The state that a handler sees: facts that hold wherever the block may have raised, before it computed them.

    Where that is inside another block, names that the `try` assigns last have their old values.
    """
    assert s.frame is not None
    parts = [part for each in node.body for part in gast.walk(each)]
    assigned = {n.id for n in parts if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    early = {n.target.id for n in parts if isinstance(n, gast.NamedExpr)}
    last = not any(isinstance(each, gast.With) and own_manager(s, each) is None for each in node.body)
    own = {(s.frame.id, name) for name in assigned - early - set(s.frame.nonlocals) if last}
    raising = [body.held.get(id(stmt)) for stmt in body if not runs_through(s, stmt)]
    body.held = {}
    inside = ir.defined(body)

    def seen(key: Any, value: Value) -> Value:
        now = end.get(key, value)
        if now is value or now == value or key in own:
            return value
        found = [now if held is None else held.get(key, MISSING) for held in raising]
        same = bool(found) and all(other is found[0] or other == found[0] for other in found)
        if same and None not in raising and inside.isdisjoint(s.leaves(found[0])):
            return found[0]
        return Poison(f"{s.in_words(label(key))} may or may not have been changed when the exception came")

    made = [(s.frame.id, name) for name in early if (s.frame.id, name) not in entry]
    return {key: seen(key, value) for key, value in [*entry.items(), *((key, MISSING) for key in made)]}


def late_site(origin: Any) -> Any:
    """The key in `dynamic` of the handlers of a ``try`` of a package that are refused where the run comes to them."""
    return ("handlers", origin and (origin.file, origin.line))


def write_handler(s: Specialiser, handler: Any, ends: Ends, late: Any) -> tuple[Any, str | None, ir.Block]:
    """A handler; one after which names stand for other things is refused where the run comes to it, if it is `late`."""
    block: ir.Block = []
    caught = None if handler.type is None else evaluate(s, handler.type)
    raising = [stmt for stmt in ir.walk(ends[0][0]) if isinstance(stmt, ir.Raise)]
    if caught == Const(StopIteration) and len(raising) == 1:
        stand_at_end(s)
    kind = None if caught is None else s.expr(caught)
    bound = None
    if handler.name is not None:
        id = handler.name if isinstance(handler.name, str) else handler.name.id
        bound = s.fresh(id, Opaque())
        s.named.add(bound)
        assign_name(s, id, Leaf(bound))
    alive = run_block(s, block, lambda: execute(s, handler.body))
    if alive and late in s.dynamic:
        refuse_there(
            s,
            block,
            s.refuse(
                "different-kinds",
                "after this handler, names stand for other things than after its block",
                "give each name one kind of value in the block and in its handlers",
            ),
        )
    ends.append((block, s.env if alive and late not in s.dynamic else None))
    return kind, bound, block


# -- what may be cut off


def cannot_raise(s: Specialiser, stmt: Any) -> bool:
    """True if a statement is arithmetic of Python's that nothing stops: NumPy's may be told to raise."""
    if not isinstance(stmt, ir.Let) or stmt.effect:
        return False
    expr = stmt.expr
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, SUMS):
        kinds = {kind_of(s, each) for each in (expr.left, expr.right) if not is_small(each)}
        return kinds <= {"float"} or kinds <= {"int"}  # an integer may be too large for a float
    if isinstance(expr, gast.Compare) and any(isinstance(op, (gast.In, gast.NotIn)) for op in expr.ops):
        return False
    operands = [expr.left, *expr.comparators] if isinstance(expr, gast.Compare) else [expr]
    return all(kind_of(s, operand) is not None for operand in operands)


def is_small(expr: Any) -> bool:
    """True if an expression is an integer that any float can be added to."""
    return isinstance(expr, gast.Constant) and type(expr.value) is int and abs(expr.value) < 2**53


def runs_through(s: Specialiser, stmt: Any) -> bool:
    """True if nothing stops a statement nor what is inside it."""
    if isinstance(stmt, ir.If):
        return all(runs_through(s, each) for block in ir.bodies(stmt) for each in block)
    return cannot_raise(s, stmt)


def kind_of(s: Specialiser, expr: Any) -> str | None:
    """The kind of a Python number."""
    found = fact(s, expr)
    return found.kind if isinstance(found, Num) and found.kind in ("bool", "int", "float") else None


def refuse_half_done(s: Specialiser, body: ir.Block, entry: dict[Any, Value]) -> None:
    """A write that is seen afterwards has to be the last thing that a step does."""
    outside = roots_in(s, [s.facts[n] for value in entry.values() for n in s.leaves(value)])
    read = {place_read(stmt) for stmt in body}
    last = max((k for k, stmt in enumerate(body) if may_raise(s, stmt, read)), default=-1)
    for k, stmt in enumerate(body):
        for inner in ir.inside(stmt):
            base = written_by(inner)
            if base is None or not roots_in(s, [s.facts[base]]) & outside:
                continue
            if inner is not stmt or k < last:
                raise s.refuse(
                    "exceptions",
                    "a statement inside `try` that may raise after it has changed something",
                    "do the steps one by one",
                )


def written_by(stmt: Any) -> str | None:
    return base(stmt)


def may_raise(s: Specialiser, stmt: Any, read: set[Any]) -> bool:
    """True if a statement may raise; where an item was read, which `read` lists, a number is stored without fail."""
    if isinstance(stmt, ir.Let):
        return (stmt.may_raise or stmt.effect) and not is_safe(s, stmt)
    if not isinstance(stmt, ir.Store) or stmt.aug is not None or (stmt.base, gast.dump(stmt.index)) not in read:
        return True
    base, value = s.facts[stmt.base], fact(s, stmt.value)
    fits = isinstance(base, Num) and base.dtype is not None and base.dtype.kind == "f" and is_float(value)
    return not (fits and value.dims == ())


def place_read(stmt: Any) -> Any:
    """The variable and the index that a statement reads an item of; None for others."""
    expr = getattr(stmt, "expr", None)
    if not isinstance(stmt, ir.Let) or not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
        return None
    return expr.value.id, gast.dump(expr.slice)


def roots_in(s: Specialiser, found: list[Facts]) -> set[int]:
    """The places where the memory was made that values refer to, also through lists."""
    roots: set[int] = set()
    stack: list[Any] = list(found)
    while stack:
        item = stack.pop()
        if isinstance(item, Pair):
            stack += item.items
        elif isinstance(item, (Num, Listed, Mapped)):
            new = item.roots - roots
            roots |= new
            stack += [s.elements[root] for root in new if root in s.elements]
    return roots


# -- generators


def run_under_handlers(
    s: Specialiser, generator: Suspended, work: Callable[[Value], Value | None], early: bool = False
) -> None:
    """The text of a generator around units of a ``try``, whose handlers do not see what that text raises."""
    start, inside = len(s.block), set[Any]()

    def noted(value: Value) -> Value | None:
        mark = len(s.block)
        result = work(value)
        inside.update(ir.walk(s.block[mark:]))
        return result

    run_generator(s, generator, noted, early)
    if any(raises_itself(s, stmt) for stmt in ir.walk(s.block[start:]) if stmt not in inside):
        raise s.refuse(
            "exceptions",
            "a generator that may raise an exception itself, under handlers",
            "make a list of what it yields, or write what may raise into the block of the `try`",
        )


def raises_itself(s: Specialiser, stmt: Any) -> bool:
    """True if a statement is there to raise, or does what often raises: quotients and functions of Python's numbers."""
    if not isinstance(stmt, ir.Let) or runs_through(s, stmt):
        return isinstance(stmt, ir.Raise)
    if isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, QUOTIENTS):
        fixed = isinstance(stmt.expr.right, gast.Constant) and bool(stmt.expr.right.value)
        return not fixed and kind_of(s, stmt.expr.right) is not None
    fn = getattr(stmt.op, "fn", None)
    return (stmt.effect and fn is not print) or getattr(fn, "__module__", "") in ("math", "numpy.linalg")


# -- where the paths meet


def meet_all(s: Specialiser, node: ir.Try, ends: Ends) -> dict[Any, Value]:
    alive = [(k, env) for k, (_, env) in enumerate(ends) if env is not None]
    if len(alive) == 1:
        return only_path(s, node, ends, *alive[0])
    result: dict[Any, Value] = {}
    s.env = result
    forget(s, *(env for _, env in alive))
    complete(s, *(env for _, env in alive))
    note_presence(*(env for _, env in alive))
    for key in dict.fromkeys(key for _, env in alive for key in env):
        values = [env.get(key, MISSING) for _, env in alive]
        result[key] = meet_one(s, node, key, ends, [k for k, _ in alive], values)
    return result


def only_path(s: Specialiser, node: ir.Try, ends: Ends, k: int, env: dict[Any, Value]) -> dict[Any, Value]:
    """The environment after a ``try`` with one path that goes on; a handler's own name does not outlive it."""
    bound = node.handlers[k - 1][1] if k else None
    if bound is None or not any(value == Leaf(bound) for value in env.values()):
        return env
    op = ir.Op(BaseException, {"argument 0": Leaf(bound)})  # without a rule: what it may carry is not followed
    with s.writing(ends[k][0]):
        kept = s.let(ir.name(bound), s.facts[bound], op, hint=s.hints[bound], may_raise=False)
    return {key: kept if value == Leaf(bound) else value for key, value in env.items()}


def meet_one(s: Specialiser, node: ir.Try, key: Any, ends: Ends, alive: list[int], values: list[Value]) -> Value:
    """The value of a name after a ``try`` whose paths gave it these; what some path leaves unbound is not read."""
    first = values[0]
    if all(v is first or v == first for v in values):
        return first
    known = [v for v in values if v is not MISSING]
    if key[1] == BEGUN and all(v == known[0] for v in known):
        return known[0]  # of a generator that is not there on the other paths
    if isinstance(known[0], Obj) and all(v == known[0] for v in known):
        return known[0]  # its fields meet one by one
    if isinstance(known[0], Suspended) and all(v is known[0] for v in known) and not made_in(s, known[0], ends):
        return known[0]  # where it was not made, nothing goes through it
    if all(isinstance(v, TupleV) and len(v.items) == len(first.items) and v.cls is first.cls for v in values):
        return TupleV(
            tuple(meet_one(s, node, key, ends, alive, list(items)) for items in zip(*(v.items for v in values))),
            first.cls,
        )
    if any(isinstance(v, (TupleV, Obj, Poison)) and v is not MISSING for v in values):
        poisons = [v for v in values if isinstance(v, Poison) and v is not MISSING]
        return poisons[0] if poisons else parted(s, node, key)
    names: list[str | None] = [None] * len(ends)
    for k, value in zip(alive, values):
        if value is MISSING:
            continue
        leaf = as_leaf(s, value, ends[k][0], label(key))
        if leaf is None:
            return parted(s, node, key)
        names[k] = leaf.name
    facts: Facts | None = None
    for n in names:
        if n is not None:
            facts = s.facts[n] if facts is None else join(facts, s.facts[n])
    assert facts is not None
    target = s.fresh(label(key), facts)
    s.named.add(target)
    join_presence(s, target, [names[k] for k in alive])
    node.merges.append((target, names))
    return Leaf(target)


def parted(s: Specialiser, node: ir.Try, key: Any) -> Poison:
    """The stand-in of different things; in a package, its handlers may be refused where the run comes to them."""
    handlers = (late_site(node.origin),) if is_late(s) and 0 not in node.ended else ()
    return Poison(f"{s.in_words(label(key))} stands for different things after this try", containers=handlers)


def made_in(s: Specialiser, value: Value, ends: Ends) -> bool:
    """True if something inside a value is a variable of one of the paths of a ``try``."""
    return any(not ir.defined(block).isdisjoint(s.leaves(value)) for block, _ in ends)


# -- finally


def finally_(s: Specialiser, node: Any) -> None:
    """``try``/``finally`` without handlers."""
    origin = s.where()
    body: ir.Block = []
    goes_on = run_block(s, body, lambda: execute(s, node.body))
    final: ir.Block = []
    goes_on = run_block(s, final, lambda: execute(s, node.finalbody)) and goes_on
    if all(is_unseen(stmt) for stmt in ir.walk(final)):
        s.block += [*body, *final]  # when an exception leaves the function, nobody sees what it computed
    else:
        s.block.append(ir.Try(body, [], final, [], "", origin))
    if not goes_on:
        raise Ended


def is_unseen(stmt: Any) -> bool:
    """True if what a statement does is seen only inside the function."""
    if isinstance(stmt, ir.Let):
        return not stmt.effect
    return isinstance(stmt, (ir.Store, ir.If, ir.Loop))
