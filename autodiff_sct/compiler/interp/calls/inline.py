"""Functions with a text: a call becomes the text; loops over objects with a `__next__` of the user's."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import gast

from ....errors import NoRule, SourceUnavailable
from ...domain.dependencies import CodeRead, Guard, KwDefaultRead
from ...domain.values import Closure, Const, Frame, Leaf, Obj, Suspended, TupleV, Value
from ...frontend.parse import Parsed
from ...frontend.supported_syntax import YIELDS, own_nodes
from ...ir.builder import Specialiser
from ..containers.sources import Source
from ..kernel import operations
from ..kernel.bind_arguments import bind_signature
from ..kernel.handlers import evaluate
from ..kernel.operations import defines, execute, own_value
from ..world.captures import default_of, import_external, object_number
from ..world.class_guards import found_in
from ..world.names import called_after, is_own
from ..world.normalized_bodies import Body, body_of_closure, leaving, prepared
from ..world.partial_keys import Presence
from .outline import inlined, shared_call
from .recursion import recursive_call

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
