"""Functions with ``yield``: their text around the work that is done with each value that they yield.

::

    def halves(x):                       for h in halves(x):           for v in x:
        for v in x:                          t = t + h          ->         h = v / 2
            yield v / 2                                                    t = t + h

So everything happens in Python's order, and `with` a manager made by ``contextlib.contextmanager`` is the same, its
text around the block.  What goes through all of a generator at once, such as ``sum``, gets a list of what it yields.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ... import ir
from ...domain.facts import BOOL
from ...domain.values import BEGUN, Bound, Closure, Const, Leaf, ListV, Obj, Poison, Suspended, TupleV, Value
from ...frontend.builders import Names, at, load, some
from ...frontend.supported_syntax import YIELDS, own_nodes
from ..containers.items import own_list
from ..containers.iteration import each
from ..containers.iterators import is_only_indexed, note_walked, own_iterator
from ..containers.lists import append
from ..containers.sources import as_counted, nth
from ..kernel import operations
from ..kernel.bind_arguments import is_library
from ..kernel.handlers import HANDLERS, Handler, evaluate, expression, handles, is_hashable, wraps
from ..kernel.operations import call_closure, call_python, defines, over
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import attempted
from ..models import functions as models
from ..objects.tables import method_of
from ..world.names import assign_name
from .comprehensions import build_list

Work = Callable[[Value], Value | None]
RUNNING = Poison("a generator is asked for its next value by the loop over it")
LEFT = Poison("a generator is used again after a loop that may have left it early")


@defines(operations.run_generator)
def run_generator(s: Specialiser, generator: Suspended, work: Work, early: bool = False) -> Value:
    """Write the text of a generator, with `work` where it yields; the work belongs to the function around it.

    Where the generator may be left `early`, the work returns whether it is, after this value.
    """
    if not begin(s, generator, early):
        return Const(None)
    frame, node = s.frame, s.node

    def resume(value: Value) -> Value | None:
        inner, s.frame, s.node = (s.frame, s.node), frame, node
        try:
            return work(value)
        finally:
            s.frame, s.node = inner

    call = call_closure if isinstance(generator.fn, Closure) else call_python
    result = call(s, generator.fn, generator.args, generator.kwargs, resume, early)
    if generator.kept and not early:
        s.env[(generator.site, BEGUN)] = Const(True)
    return result


@defines(operations.kept_under_name)
def kept_under_name(s: Specialiser, generator: Suspended) -> Suspended:
    """A generator that has a name: it begins where it is gone through, and is at its end after that."""
    if generator.kept:
        return generator
    note_walked(s, tuple(generator.args))
    s.env[(generator.site, BEGUN)] = Const(False)
    return replace(generator, kept=True)


def begin(s: Specialiser, generator: Suspended, early: bool) -> bool:
    """True if a generator has anything left, which is all of it; note that it is gone through."""
    if not generator.kept:
        return True
    state = s.env[(generator.site, BEGUN)]
    if state == Const(True):
        return False
    if state != Const(False):
        raise s.refuse(
            "kept-generator",
            "a generator is gone through that may have been gone through, or left early, before",
            "call its function where it is gone through, or make a list of it",
        )
    s.env[(generator.site, BEGUN)] = LEFT if early else RUNNING  # what it yields to may ask it for more
    return True


@expression(gast.Yield)
def yielded(s: Specialiser, node: Any) -> Value:
    assert s.frame is not None and s.frame.resume is not None
    value = Const(None) if node.value is None else evaluate(s, node.value)
    with s.written_out(place_of(s.frame.tree, node)):  # the work has a place of its own for each `yield`
        note_left(s, s.frame.resume(value))
    return Const(None)


@expression(gast.YieldFrom)
def delegated(s: Specialiser, node: Any) -> Value:
    assert s.frame is not None and s.frame.resume is not None
    frame, resume, inner = s.frame, s.frame.resume, evaluate(s, node.value)
    early = frame.left is not None
    if early:
        note_left(s, None)
        if not isinstance(inner, Suspended):
            inner = call_python(s, models.items_of, [inner], {})

    def passed_on(value: Value) -> Value | None:
        stop, inside = resume(value), s.frame
        s.frame = frame
        note_left(s, stop)
        s.frame = inside
        return stop

    with s.written_out(place_of(frame.tree, node)):
        if isinstance(inner, Suspended):
            return run_generator(s, inner, passed_on, early)
        each(s, over(s, inner), lambda item: note_left(s, resume(item)))
    return Const(None)


def note_left(s: Specialiser, stop: Value | None) -> None:
    """Tell the text of a generator whether it is left."""
    if s.frame is not None and s.frame.left is not None:
        assign_name(s, s.frame.left, Const(False) if stop is None else stop)


# -- generator expressions that are left early

EARLY = {any: models.any_of, all: models.all_of, next: models.first_item}


def left_early(s: Specialiser, callee: Value, node: Any) -> Value | None:
    """``any(e for v in items)`` and the like ask for values only until they know; None where a list is the same."""
    if not node.args or not isinstance(node.args[0], gast.GeneratorExp) or node.keywords:
        return None
    fn = next((EARLY[known] for known in EARLY if callee == Const(known)), None)
    if fn is None:
        return None
    mark, env = len(s.block), dict(s.env)
    names = any(isinstance(n, gast.NamedExpr) for n in gast.walk(node.args[0]))  # what is named tells how far it came
    if fn is not models.first_item and not names:
        trial: ir.Block = []
        value = attempted(s, trial, lambda: build_list(s, node.args[0]))
        stays = all(s.env.get(key) is known for key, known in env.items())
        del s.block[mark:]
        s.env = env
        if value is not None and stays and all(is_calm(stmt, value) for stmt in ir.walk(trial)):
            return None
    return call_python(s, fn, [as_generator(s, node.args[0]), *(evaluate(s, a) for a in node.args[1:])], {})


def is_calm(stmt: Any, made: Value) -> bool:
    """True if a statement of a comprehension, which makes a list, raises nothing, and does nothing that is seen."""
    if isinstance(stmt, ir.Let):
        simple = isinstance(stmt.expr, (gast.Subscript, gast.Compare, gast.BoolOp))
        return not stmt.effect and (simple or not stmt.may_raise)
    if isinstance(stmt, ir.Effect):
        return stmt.kind == "append" and stmt.operands[0] == made
    return isinstance(stmt, (ir.If, ir.Loop))


def goes_through(callee: Value) -> bool:
    """True if what is called goes through a generator expression at once, and changes nothing meanwhile."""
    if not isinstance(callee, (Bound, Const)):
        return False
    fn = callee.function if isinstance(callee, Bound) else callee.value
    if fn == "extend" or is_hashable(fn) and fn in LATE:
        return False
    return is_hashable(fn) and fn in HANDLERS or is_library(fn) or not isinstance(fn, (types.FunctionType, type))


@expression(gast.GeneratorExp)
def generator_expression(s: Specialiser, node: Any) -> Value:
    """Compute the items of a generator expression when they are asked for."""
    if id(node) in s.gone_through:
        return build_list(s, node)
    each, *inner = node.generators
    if inner or each.ifs:
        return as_generator(s, node)
    if not hasattr(node, "item_of"):
        parameter = Names(node).fresh("item")
        taken = gast.Assign([each.target], load(parameter))
        node.item_of = at(node, function("element", parameter, [taken, gast.Return(node.elt)]))
    assert s.frame is not None
    return HANDLERS[map](s, [Closure(node.item_of, s.frame, (), (), "element"), evaluate(s, each.iter)], {})


def as_generator(s: Specialiser, node: Any) -> Suspended:
    """A generator expression as the function that it stands for, which gets what it goes over first."""
    if not hasattr(node, "stands_for"):
        body: Any = gast.Expr(gast.Yield(node.elt))
        for part in reversed(node.generators):
            for test in reversed(part.ifs):
                body = gast.If(test, [body], [])
            body = gast.For(part.target, part.iter, [body], [], None)
        parameter = Names(node).fresh("items")
        body.iter = load(parameter)
        named = sorted({n.target.id for n in gast.walk(node) if isinstance(n, gast.NamedExpr)})
        outer = [gast.Nonlocal(named)] if named else []  # ``:=`` binds a name of the function around
        node.stands_for = at(node, function("generator", parameter, [*outer, body]))
    assert s.frame is not None
    return Suspended(
        Closure(node.stands_for, s.frame, (), (), "generator"), [evaluate(s, node.generators[0].iter)], {},
        s.site("generator"),
    )  # fmt: skip


def function(name: str, parameter: str, body: list[Any]) -> Any:
    arguments = gast.arguments([gast.Name(parameter, gast.Param(), None, None)], [], None, [], [], None, [])
    return gast.FunctionDef(name, arguments, body, [], None, None, [])


# -- iterators around generators

LATE = {zip, enumerate, map, filter, iter, *(f for f in vars(itertools).values() if isinstance(f, type))}
LATE.add(itertools.chain.from_iterable)
LAZY: dict[Any, Any] = {
    enumerate: models.counted,
    map: models.mapped,
    itertools.islice: models.first_of,
    itertools.chain: models.chained,
    itertools.chain.from_iterable: models.chained_from,
}


@defines(operations.around_generator)
def around_generator(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Suspended | None:
    """An iterator that goes through a generator is one itself; None where it goes through nothing of the kind."""
    if fn is not zip and fn not in LAZY:
        return None
    args = [own_iterator(s, a) if yields_itself(s, a) else a for a in args]
    places = [k for k, a in enumerate(args) if isinstance(a, Suspended)]
    if not places:
        return None
    if fn is not zip:
        return Suspended(LAZY[fn], args, kwargs, s.site("generator"))
    if len(places) > 1 or kwargs.get("strict", Const(False)) != Const(False):
        raise s.kept_generator()
    (place,) = places
    others = [Const(tuple(beside(s, a) for a in part)) for part in (args[:place], args[place + 1 :])]
    return Suspended(models.zipped_with, [others[0], args[place], others[1]], {}, s.site("generator"))


@handles(itertools.takewhile)
def takewhile(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return call_python(s, models.taken_while, args, kwargs)


@handles(itertools.dropwhile)
def dropwhile(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return call_python(s, models.dropped_while, args, kwargs)


def yields_itself(s: Specialiser, value: Value) -> bool:
    """True if going over an object of the user's is going through a generator."""
    method = method_of(s, value, "__iter__") if isinstance(value, Leaf) else None
    own = getattr(value.cls, "__iter__", None) if isinstance(value, Obj) else getattr(method, "function", None)
    return inspect.isgeneratorfunction(own) or is_only_indexed(s, value)


def beside(s: Specialiser, value: Value) -> Any:
    """The counters beside a generator."""
    source = as_counted(s, over(s, value))
    if source.bounds is None or source.length is None and not source.endless:
        raise s.refuse("unknown-length", "an iterable of unknown length is zipped")
    return source, None if source.length is None else source.length()


@handles(models.has_ended)
def has_ended(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    lengths = [length for _, length in args[0].value if length is not None]
    tests = [gast.Compare(s.expr(args[1]), [gast.GtE()], [s.expr(length)]) for length in lengths]
    return s.let(some(tests), BOOL, hint="ended", may_raise=False) if tests else Const(False)


@handles(models.row_of)
def row_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    first, last = ([nth(s, source, args[1]) for source, _ in part.value] for part in (args[0], args[3]))
    return TupleV((*first, args[2], *last))


def place_of(tree: Any, node: Any) -> int:
    return next(k for k, other in enumerate(yields(tree)) if other is node)


def yields(function: Any) -> list[Any]:
    return [n for n in own_nodes(function) if isinstance(n, YIELDS)]


@wraps(list, tuple, sum, max, min, sorted)
def exhausting(fn: Any, handler: Handler) -> Handler:
    """Let a builtin go through all of a generator."""

    def of_lists(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if fn in (max, min) and len(args) > 1:  # of these themselves
            return handler(s, args, kwargs)
        return handler(s, [listed(s, a) for a in args[:1]] + args[1:], kwargs)

    return of_lists


@defines(operations.listed)
def listed(s: Specialiser, value: Value) -> Value:
    """The list of what a generator yields, for a caller that goes through all of it at once; else what it goes over."""
    if not isinstance(iterator := own_iterator(s, value), Suspended):
        return iterator  # `__iter__` has run, and must not run again
    items = own_list(s, ListV((), s.site("yielded")))
    run_generator(s, iterator, lambda item: append(s, items, item))
    return items
