"""Functions with ``yield``: their text around the work that is done with each value that they yield.

::

    def halves(x):                       for h in halves(x):           for v in x:
        for v in x:                          t = t + h          ->         h = v / 2
            yield v / 2                                                    t = t + h

So everything happens in Python's order, and `with` a manager made by ``contextlib.contextmanager`` is the same, its
text around the block.  What goes through all of a generator at once, such as ``sum``, gets a list of what it yields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from .. import ir
from ..fence import YIELDS, own_nodes
from ..regions import roots_of, written_by
from .calls import HANDLERS, call_closure, call_python
from .comprehensions import bound_names
from .expressions import evaluate, expression
from .iterators import own_iterator
from .state import Specialiser
from .values import Closure, Const, ListV, Suspended, Value


def run(s: Specialiser, generator: Suspended, work: Callable[[Value], None]) -> None:
    """Write the text of a generator, with `work` where it yields; the work belongs to the function around it."""
    frame, node = s.frame, s.node

    def resume(value: Value) -> None:
        inner, s.frame, s.node = (s.frame, s.node), frame, node
        try:
            work(value)
        finally:
            s.frame, s.node = inner

    call = call_closure if isinstance(generator.fn, Closure) else call_python
    call(s, generator.fn, generator.args, generator.kwargs, resume)


@expression(gast.Yield)
def yielded(s: Specialiser, node: Any) -> Value:
    assert s.frame is not None and s.frame.resume is not None
    value = Const(None) if node.value is None else evaluate(s, node.value)
    with s.written_out(place_of(s.frame.tree, node)):  # the work has a place of its own for each `yield`
        s.frame.resume(value)
    return Const(None)


@expression(gast.YieldFrom)
def delegated(s: Specialiser, node: Any) -> Value:
    from .iteration import each, over

    assert s.frame is not None and s.frame.resume is not None
    resume, inner = s.frame.resume, evaluate(s, node.value)
    with s.written_out(place_of(s.frame.tree, node)):
        if isinstance(inner, Suspended):
            run(s, inner, resume)
        else:
            each(s, over(s, inner), resume)
    return Const(None)


def place_of(tree: Any, node: Any) -> int:
    return next(k for k, other in enumerate(yields(tree)) if other is node)


def yields(function: Any) -> list[Any]:
    return [n for n in own_nodes(function) if isinstance(n, YIELDS)]


def exhausting(fn: Any) -> None:
    """Let a builtin go through all of a generator."""
    handler = HANDLERS[fn]

    def of_lists(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return handler(s, [listed(s, a) for a in args], kwargs)

    HANDLERS[fn] = of_lists


for builtin in {list, tuple, sum, max, min, sorted} & HANDLERS.keys():
    exhausting(builtin)


def listed(s: Specialiser, value: Value) -> Value:
    """The list of what a generator yields, for a caller that goes through all of it at once; else what it goes over."""
    from .containers import own_list
    from .lists import append

    if not isinstance(iterator := own_iterator(s, value), Suspended):
        return iterator  # `__iter__` has run, and must not run again
    items = own_list(s, ListV((), s.site("yielded")))
    run(s, iterator, lambda item: append(s, items, item))
    return items


def check_order(s: Specialiser, loop: Any, made: ir.Block, run: ir.Block) -> None:
    """A generator expression is a list here, made before the loop: the loop must not change what it reads."""
    expressions = [n for n in gast.walk(loop.iter) if isinstance(n, gast.GeneratorExp)]
    if not expressions:
        return
    read = [n for e in expressions for n in gast.walk(e)]
    inside = {n.id for n in read if isinstance(n, gast.Name)} - {
        n for e in expressions for n in bound_names(e.generators)
    }
    stored = [n for stmt in loop.body for n in gast.walk(stmt) if isinstance(getattr(n, "ctx", None), gast.Store)]
    names = {n.id for n in stored if isinstance(n, gast.Name)}
    fields = {n.attr for n in read if isinstance(n, gast.Attribute)}
    assigned = {n.attr for n in stored if isinstance(n, gast.Attribute)}
    memory = {root for stmt in ir.walk(made) for n in ir.reads(stmt) for root in roots_of(s.facts[n])}
    written = {root for stmt in ir.walk(run) if (n := written_by(stmt)) for root in roots_of(s.facts[n])}
    if inside & names or fields & assigned or memory & written:
        raise s.refuse("a loop over a generator changes what the generator reads", "make a list of it")
