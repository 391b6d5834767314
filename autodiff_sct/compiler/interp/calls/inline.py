"""Functions with a text: a call becomes the text, or stays a call.

Large functions of numbers stay calls.

A function is inlined where it is called.  A solver that calls a function of hundreds of lines at its start, in its loop
and when it has failed would become many times as long as what the user wrote.  So a function that inlining has written
out at length already, and that is called again, is compiled once, as recursive functions are (see `recursion`), and
called::

    d_f: y = solve(p0) * solve(p1)          # each `solve` inlined: hundreds of lines, twice
    ->   result = solve_forward(p0, state)
         result2 = solve_forward(p1, state2)

That is done where it is plain that a call is as good as its text: numbers go in, numbers come out, and what is between
does nothing but compute.  Anything else is inlined, unless it is called from functions that are called from many
others: helpers that call helpers twice would double what is written with each level.  Such a helper may take arrays,
write into them, and read variables of its module.
"""

from __future__ import annotations

import copy
import inspect
import logging
import random
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ....errors import NoRule, Refused, SourceUnavailable
from ... import ir
from ...analysis.alias import written_by
from ...domain.dependencies import CodeRead, Guard, KwDefaultRead
from ...domain.facts import Num, Opaque
from ...domain.request import Way
from ...domain.values import Closure, Const, Frame, Leaf, Obj, Rest, Suspended, TupleV, Value, home_of
from ...frontend.parse import Parsed
from ...frontend.supported_syntax import YIELDS, own_nodes
from ..arrays import transfer
from ..containers import items
from ..containers.missing_keys import note_unseen
from ..containers.sources import Source
from ..kernel import operations
from ..kernel.bind_arguments import SHOWING, Shown, bind_signature, drawn, is_pure, written_by_name
from ..kernel.escape import refuse_references
from ..kernel.handlers import evaluate
from ..kernel.operations import defines, execute, own_value
from ..kernel.specialiser import Specialiser
from ..library import introspection
from ..world.captures import default_of, import_external, object_number
from ..world.class_guards import found_in
from ..world.names import called_after, is_own
from ..world.normalized_bodies import Body, body_of_closure, leaving, prepared
from ..world.partial_keys import Presence
from .recursion import activations, compile_recursion, recursive_call
from .recursive_functions import Recursion, Signature, call

DEPTH = 120


@defines(operations.call_python)
def call_python(
    s: Specialiser,
    fn: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    resume: Callable[[Value], Value | None] | None = None,
    early: bool = False,
) -> Value:
    """Inline a function of the user's; `resume` takes the values that a generator yields.

    Where that may be `early`, it tells after each value whether the generator is left.
    """
    if resume is None and s.frame is not None and inspect.isgeneratorfunction(fn):
        return Suspended(fn, args, kwargs, s.site("generator"))
    try:
        parsed, body = prepared(fn.__code__, fn, resume is not None)
    except SourceUnavailable as error:
        raise NoRule(
            f"{fn.__name__} has neither a rule nor Python source that could be read: {error.reason}",
            error.remedy,
            s.where() or error.origin,
            code="no-source",
        ) from error
    left = None
    if early:
        body, left = leaving(parsed.tree)
    s.world.texts.append(fn)
    defaults = [default_of(s, fn, k) for k in range(len(fn.__defaults__ or ()))]
    kw_names = list(fn.__kwdefaults__ or {})
    kw_defaults = {
        k: import_external(s, KwDefaultRead(fn, k), k, ("kwdefault", object_number(s, fn), k)) for k in kw_names
    }
    bound = bind_signature(s, body.tree.args, args, kwargs, defaults, kw_defaults, fn.__name__)
    free = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    frame = new_frame(s, fn.__code__, parsed, fn.__globals__, free, body, s.inside.get(fn))
    if not (frame.rule or (fn.__module__ or "autodiff_sct.").startswith("autodiff_sct.")):
        s.guards.append(Guard(CodeRead(fn), fn.__code__))
    frame.cls, frame.self = owner_class(free), args[0] if args else None
    frame.resume, frame.left = resume, left
    return run(s, frame, body, bound, fn)


def owner_class(free: dict[str, Any]) -> type | None:
    """The class that a method was written in, for super()."""
    if "__class__" in free:
        cls = free["__class__"].cell_contents
        return cls if isinstance(cls, type) else None
    return None


@defines(operations.call_closure)
def call_closure(
    s: Specialiser,
    closure: Closure,
    args: list[Value],
    kwargs: dict[str, Value],
    resume: Callable[[Value], Value | None] | None = None,
    early: bool = False,
) -> Value:
    if resume is None and any(isinstance(n, YIELDS) for n in own_nodes(closure.node)):
        return Suspended(closure, args, kwargs, s.site("generator"))
    body, left = leaving(closure.node) if early else (body_of_closure(closure), None)
    kw_defaults = {a.id: d for a, d in zip(body.tree.args.kwonlyargs, closure.kw_defaults) if d is not None}
    bound = bind_signature(s, body.tree.args, args, kwargs, list(closure.defaults), kw_defaults, closure.name)
    outer = closure.frame
    frame = new_frame(s, closure.node, outer.parsed, outer.globals, {}, body, outer)
    frame.resume, frame.left = resume, left
    return run(s, frame, body, bound, closure.node)


def new_frame(
    s: Specialiser, key: Any, parsed: Parsed, table: Any, free: Any, body: Body, parent: Frame | None
) -> Frame:
    """A new activation of a function."""
    if s.frame is not None and s.frame.rule:
        s.rule_calls += 1
        site: Any = ("rule", s.rule_calls)
    else:
        site = (s.frame.id if s.frame else 0, id(s.node), id(key), *s.iteration)
    number = s.frames.setdefault(site, len(s.frames) + 1)
    frame = Frame(number, parsed, table, free, body.names, body.declared, parent, s.frame)
    frame.site, frame.tree, frame.result = key, body.tree, body.result
    frame.rule = bool(s.frame and s.frame.rule) and is_own(table)  # what a rule calls of the user's is a program
    if not frame.rule:
        s.texts[id(parsed)] = parsed
    return frame


def run(s: Specialiser, frame: Frame, body: Body, bound: dict[str, Value], fn: Any) -> Value:
    """Execute a body in its frame; the value that it returns."""
    if frame.rule:
        check_recursion(s, frame)
    else:
        bound = {name: own_argument(s, value) for name, value in bound.items()}
        for instead in (recursive_call, shared_call):
            found = instead(s, frame, bound, fn, lambda arguments: enter(s, frame, body, arguments))
            if found is not None:
                return found
        return inlined(s, frame, lambda: enter(s, frame, body, bound))
    return enter(s, frame, body, bound)


def enter(s: Specialiser, frame: Frame, body: Body, bound: dict[str, Value]) -> Value:
    """Run a body in its frame."""
    if body.makes_closures:  # which left the variables of the activation before
        for key in [k for k in s.env if isinstance(k, tuple) and len(k) == 2 and k[0] == frame.id]:
            del s.env[key]
    frame.bound, frame.call = bound, s.node
    frame.branches, frame.loops = s.branches, s.loops
    outer_frame, outer_node, s.frame = s.frame, s.node, frame
    try:
        for name, value in bound.items():
            is_taken = name in s.called or name in s.parameters
            s.env[(frame.id, name)] = value if is_taken else called_after(s, name, value)
        return run_body(s, body.tree)
    finally:
        s.frame, s.node = outer_frame, outer_node
        if not body.makes_closures:
            for name in frame.locals:
                s.env.pop((frame.id, name), None)
                s.env.pop((frame.id, Presence(name)), None)


def own_argument(s: Specialiser, value: Value) -> Value:
    if not isinstance(value, (Leaf, Const)) and not (s.frame is not None and s.frame.rule):
        return own_value(s, value)
    return value


def run_body(s: Specialiser, tree: Any) -> Value:
    *body, last = tree.body
    if not isinstance(last, gast.Return):
        execute(s, tree.body)
        return Const(None)
    execute(s, body)
    if s.frame is not None and s.frame.wanted is not None and is_display(last.value, len(s.frame.wanted), s.frame.pick):
        entries = zip(last.value.elts, s.frame.wanted)
        return TupleV(tuple(item for node, wanted in entries for item in entry(s, node, wanted, s.frame.pick)))
    return Const(None) if last.value is None else evaluate(s, last.value)


def entry(s: Specialiser, node: Any, wanted: bool, pick: int | None) -> tuple[Value, ...]:
    """The entries of a parameter of a rule, if they are asked for; of a starred parameter, the `pick`-th."""
    if not wanted:
        return () if isinstance(node, gast.Starred) else (Const(None),)
    if not isinstance(node, gast.Starred):
        return (evaluate(s, node),)
    assert pick is not None
    return (*[Const(None)] * pick, evaluate(s, narrowed(node, pick)))


def narrowed(node: Any, pick: int) -> Any:
    """One item of a starred comprehension over what is known: the same tree whenever it is asked for."""
    known = node.__dict__.setdefault("narrowed", {})
    if pick not in known:
        comprehension = copy.deepcopy(node.value)
        generator = comprehension.generators[0]
        generator.iter = gast.List(
            [gast.Subscript(generator.iter, gast.Constant(pick, None), gast.Load())], gast.Load()
        )
        known[pick] = gast.Subscript(comprehension, gast.Constant(0, None), gast.Load())
    return known[pick]


def is_display(node: Any, length: int, pick: int | None) -> bool:
    """True for a tuple of so many written items, of which the last may be a starred comprehension to pick from."""
    if not isinstance(node, gast.Tuple) or len(node.elts) != length:
        return False
    starred = [item for item in node.elts if isinstance(item, gast.Starred)]
    return not starred or (
        pick is not None and starred == node.elts[-1:] and isinstance(starred[0].value, gast.ListComp)
    )


def check_recursion(s: Specialiser, frame: Frame) -> None:
    depth = 0
    caller = frame.caller
    while caller is not None:
        depth += caller.site is frame.site
        caller = caller.caller
    if depth > DEPTH:
        raise s.refuse("recursion", "this recursion does not end at compile time")


@defines(operations.stepped)
def stepped(s: Specialiser, value: Obj) -> Source | None:
    """An object whose `__next__` tests whether it is at its end before it does anything."""
    method = found_in(s, value.cls, "__next__")
    if not hasattr(method, "__code__"):
        return None
    parsed, body = prepared(method.__code__, method)
    first, *rest = body.tree.body
    if not is_end(first) or any(is_stop(n) for stmt in rest for n in gast.walk(stmt)):
        raise s.refuse(
            "iterator",
            "a `__next__` that raises StopIteration elsewhere than in its first statement",
            "test for the end first: `if ...: raise StopIteration`",
        )
    free = dict(zip(method.__code__.co_freevars, method.__closure__ or ()))

    def part(key: Any, statements: list[Any]) -> Value:
        some = body.part(statements)
        frame = new_frame(s, key, parsed, method.__globals__, free, some, s.inside.get(method))
        frame.cls, frame.self = value.cls, value
        return run(s, frame, some, {some.tree.args.args[0].id: value}, method)

    test = gast.copy_location(gast.UnaryOp(gast.Not(), first.test), first)
    return Source(
        advance=lambda: part(method.__code__, rest),
        goes_on=lambda: part(first, [gast.copy_location(gast.Return(test), first)]),
    )


def is_end(node: Any) -> bool:
    return isinstance(node, gast.If) and len(node.body) == 1 and is_stop(node.body[0]) and not node.orelse


def is_stop(node: Any) -> bool:
    exc = getattr(node, "exc", None) if isinstance(node, gast.Raise) else None
    return getattr(exc.func if isinstance(exc, gast.Call) else exc, "id", None) == "StopIteration"


Takes = Callable[[Specialiser, Value], bool]


def inlined(s: Specialiser, frame: Frame, write: Callable[[], Value]) -> Value:
    """The result of a function that is inlined, whose length is noted."""
    before = s.counter
    try:
        return write()
    finally:
        s.written_at[frame.site] = s.written_at.get(frame.site, 0) + s.counter - before


def shared_call(
    s: Specialiser, frame: Frame, bound: dict[str, Value], fn: Any, body: Callable[[dict[str, Value]], Value]
) -> Value | None:
    """The value of a call that is not inlined again; None where inlining it is right."""
    if s.shared is None or s.written_at.get(frame.site, 0) < thresholds.INLINED_VARIABLES or frame.site in s.inlined:
        return None
    if not isinstance(fn, types.FunctionType) or fn.__closure__ or frame.resume is not None or activations(frame):
        return None
    takes = is_array if depth_of(frame) >= thresholds.NESTED_CALLS else is_number
    if not all(is_plain(s, value, takes) for value in bound.values()):
        return None
    fixed, signature = Signature(s, {"function": Const(fn)}), Signature(s, bound)
    key = (fixed.key, signature.key)
    if key not in s.recursions:
        approved = s.shared.setdefault(frame.site, [])
        s.attempt.met.add(Way.INLINE)
        s.recursive_calls += 1
        try:
            compile_recursion(s, key, frame, bound, signature, body, (fixed.keep, signature.keep))
        except Refused:
            s.inlined.add(frame.site)
            return None
        if not only_computes(s, s.recursions[key], takes):
            s.inlined.add(frame.site)
            del s.recursions[key]
            return None
        approved.append(s.recursions[key])
    return call(s, s.recursions[key], [value for _, value in signature.leaves])


def depth_of(frame: Frame) -> int:
    """The number of functions being inlined around a frame."""
    depth, caller = 0, frame.caller
    while caller is not None:
        depth, caller = depth + 1, caller.caller
    return depth


def is_plain(s: Specialiser, value: Value, takes: Takes) -> bool:
    """True if an argument is a number or what else it `takes`, a constant, or a tuple of them."""
    if isinstance(value, TupleV):
        return all(is_plain(s, item, takes) for item in value.items)
    return isinstance(value, Const) or takes(s, value)


def is_number(s: Specialiser, value: Value) -> bool:
    facts = s.facts_of(value) if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array" and facts.row is None


def is_array(s: Specialiser, value: Value) -> bool:
    """True if a value is a number or an array of numbers."""
    facts = s.facts_of(value) if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.dims is not None and facts.row is None


def only_computes(s: Specialiser, function: Recursion, takes: Takes) -> bool:
    """True if a function returns what it may take, and does nothing besides, but that it may raise."""
    names = [*function.params, *function.results]
    if not all(takes(s, Leaf(name)) for name in names) or not all(
        is_quiet(s, stmt, takes) for stmt in ir.walk(function.block)
    ):
        return False
    return True


def is_quiet(s: Specialiser, stmt: Any, takes: Takes) -> bool:
    """True if a statement computes, raises, or writes into arrays where functions of arrays are called."""
    if takes is is_array and written_by(stmt) is not None:
        return True
    if not isinstance(stmt, ir.Let):
        return isinstance(stmt, (ir.If, ir.Loop, ir.Raise))
    made = stmt.op.fn if stmt.op is not None else None
    return not stmt.effect or (isinstance(made, type) and issubclass(made, Exception)) or is_shared(s, made)


def is_shared(s: Specialiser, fn: Any) -> bool:
    return isinstance(fn, Recursion) and any(fn in approved for approved in (s.shared or {}).values())


MAKES = {np.random.default_rng: np.random.Generator, logging.getLogger: logging.Logger}
CHANGE_LISTS = {random.shuffle, random.Random.shuffle}
AT_HAND = {sys.exc_info, getattr(sys, "exception", None), traceback.format_exc}
SHARE_MEMORY = {memoryview, np.frombuffer, np.nditer}


@defines(operations.opaque_call)
def opaque_call(s: Specialiser, callee: Any, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of something without a rule: it just runs, and is refused where a derivative would pass through it.

    `fn` is the function, or the variable that holds it.
    """

    refuse_references(s, *args, *kwargs.values())
    if fn in CHANGE_LISTS:
        raise s.refuse(
            "unknown-write",
            f"{fn.__name__} changes a list where the compiler cannot see it",
            "do that before the differentiated function, or write the change out with methods of the list",
        )
    if fn in AT_HAND:
        raise s.refuse(
            "exceptions",
            f"{fn.__name__} asks for the exception that is handled",
            "name it: `except ValueError as error:`",
        )
    if fn in SHARE_MEMORY and any(f.kind == "array" for a in args if (f := s.num(a)) is not None):
        if fn is not np.nditer or "op_flags" in kwargs:
            raise s.refuse(
                "unknown-write", f"{fn.__name__} gives another way to an array's memory", "index the array itself"
            )
    if (text := introspection.computed(s, fn, args, kwargs)) is not None:
        return text
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    facts: Any = Opaque()
    if is_pure(fn):
        facts = transfer.facts_of_call(s, fn, args, kwargs)
        if isinstance(facts, Num) and facts.kind is None:
            facts = Opaque()
    elif isinstance(getattr(fn, "__self__", None), str):
        facts = introspection.returned_by(fn.__name__)
    elif isinstance(getattr(fn, "__self__", None), random.Random):
        facts = drawn(fn.__name__)
    elif home_of(fn).split(".")[0] in SHOWING:
        facts = Opaque(Shown)
    elif isinstance(fn, type) or fn in MAKES:
        facts = Opaque(fn if isinstance(fn, type) else MAKES[fn])
    args = [a.items if isinstance(a, Rest) else a for a in args]
    held = [fn] if isinstance(fn, Leaf) else []
    every = {f"argument {k}": v for k, v in enumerate([*held, *args, *kwargs.values()])}
    op = ir.Op(operations.opaque_call if held else fn, every | written_by_name(fn, args, kwargs))
    note_unseen(s, [*args, *kwargs.values()])
    return items.spread(s, s.let(expr, facts, op, hint="result", effect=True))
