"""Comprehensions and generator expressions: loops that fill a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ... import ir
from ...domain.facts import INT, Listed, Num
from ...domain.values import Const, Frame, Leaf, ListV, Suspended, Value
from ..containers import items, lists
from ..containers.iteration import advancing, known_numbers, short
from ..containers.iterators import ahead_of, own_iterator
from ..containers.sources import Source, unchanged
from ..kernel.handlers import evaluate, expression
from ..kernel.operations import branch, loop, operate, over, run_generator, store
from ..kernel.specialiser import Specialiser
from ..library.builtins import listed_opaque, set_of
from ..world.partial_keys import Presence
from .comparisons import condition


def bound_names(generators: list[Any]) -> list[str]:
    return [n.id for g in generators for n in gast.walk(g.target) if isinstance(n, gast.Name)]


def scoped(s: Specialiser, comprehension: Any, work: Callable[[], Any]) -> Any:
    """Run `work` with the comprehension's own variables hidden from the function around it."""
    frame = s.frame
    assert frame is not None
    names = bound_names(comprehension.generators)
    if are_captured(comprehension, names):
        s.frame = scope_of(s, frame, comprehension, names)
        try:
            return work()
        finally:
            s.frame = frame
    saved = {(frame.id, n): s.env.get((frame.id, n)) for name in names for n in (name, Presence(name))}
    outer = frame.locals
    frame.locals = outer | frozenset(names)
    try:
        return work()
    finally:
        frame.locals = outer
        for key, value in saved.items():
            s.env.pop(key, None)
            if value is not None:
                s.env[key] = value


def are_captured(comprehension: Any, names: list[str]) -> bool:
    """True if a function or a generator in a comprehension reads its variables, maybe after the comprehension's end."""
    late = [n for n in gast.walk(comprehension) if isinstance(n, (gast.Lambda, gast.GeneratorExp))]
    read = {n.id for each in late if each is not comprehension for n in gast.walk(each) if isinstance(n, gast.Name)}
    return not read.isdisjoint(names)


def scope_of(s: Specialiser, frame: Frame, comprehension: Any, names: list[str]) -> Frame:
    """An activation that holds the variables of a comprehension, as long as what captures them lives."""
    number = s.frames.setdefault(("comprehension", s.site(), id(comprehension)), len(s.frames) + 1)
    beyond = {n.target.id for n in gast.walk(comprehension) if isinstance(n, gast.NamedExpr)}
    return replace(frame, id=number, locals=frozenset(names), nonlocals=frozenset(beyond), parent=frame)


def build_list(s: Specialiser, node: Any) -> Value:
    """A list of the elements; things known one by one stay so."""
    site = s.site()
    static = scoped(s, node, lambda: unrolled(s, node.generators, 0, lambda: evaluate(s, node.elt)))
    if static is None:
        static = known_integers(s, node)
    if static is not None:
        return ListV(tuple(static), site)
    listed = Listed(frozenset([s.root(("list", site))]))
    result = s.let(gast.List([], gast.Load()), listed, ir.Op(list, {"items": ListV(())}), hint="items", may_raise=False)
    scoped(s, node, lambda: nest(s, node.generators, 0, lambda: lists.append(s, result, evaluate(s, node.elt))))
    return result


def known_integers(s: Specialiser, node: Any) -> list[Value] | None:
    """The elements where they are integers that are known, made of those of short ranges: axes and lengths."""
    parts = [node.elt, *(test for generator in node.generators for test in generator.ifs)]
    if any(isinstance(n, (gast.Call, gast.Lambda)) for part in parts for n in gast.walk(part)):
        return None
    mark, env = len(s.block), dict(s.env)
    found = scoped(s, node, lambda: unrolled(s, node.generators, 0, lambda: evaluate(s, node.elt), listing=True))
    if found is not None and all(isinstance(v, Const) and type(v.value) is int for v in found):
        return found
    del s.block[mark:]
    s.env = env
    return None


def add_up(s: Specialiser, node: Any) -> Value | None:
    """``sum(e for v in items)`` of arrays and NumPy scalars, as a loop that makes no list.

    Python's own numbers stay with `sum`, which compensates their rounding; None where that, or a list, is needed.
    """
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], (gast.GeneratorExp, gast.ListComp)):
        return None
    comprehension = node.args[0]
    mark, env, loops = len(s.block), dict(s.env), s.loops
    total = ("sum", id(node)), "total"
    added: list[bool] = []

    def add() -> None:
        element = evaluate(s, comprehension.elt)
        facts = s.facts_of(element)
        added.append(s.loops > loops and isinstance(facts, Num) and facts.kind in ("npscalar", "array"))
        if added[-1]:
            s.env[total] = operate(s, gast.Add, s.env[total], element)

    s.env[total] = Const(0)
    scoped(s, comprehension, lambda: nest(s, comprehension.generators, 0, add))
    if all(added) and added:
        return s.env.pop(total)
    del s.block[mark:]
    s.env = env
    return None


def unrolled(
    s: Specialiser, generators: list[Any], k: int, element: Callable[[], Value], listing: bool = False
) -> list[Value] | None:
    """The elements where every generator goes over things known one by one and every condition is known.

    With `listing`, the numbers of short ranges are known, too.
    """
    mark, env = len(s.block), dict(s.env)
    if k == len(generators):
        return [element()]
    iterable = own_iterator(s, evaluate(s, generators[k].iter))
    _, numbers = short(s, iterable)
    if numbers is None and listing and (known := known_numbers(iterable)) is not None:
        numbers = [*known]
    source = Source(items=numbers) if numbers or isinstance(iterable, Suspended) else over(s, iterable)
    result: list[Value] | None = None
    begin = len(s.block)
    if source.items is not None:
        result = []
        for number in range(len(source.items)):
            with source.reached(s, number) as item:
                more = unrolled_item(s, generators, k, item, element, listing)
            if more is None:
                result = None
                break
            result += more
        else:
            source.check_length(s)
            for ahead in ahead_of(s, iterable):
                ahead.check(s, s.block[begin:])
    if result is None:
        del s.block[mark:]
        s.env = env
    return result


def unrolled_item(
    s: Specialiser, generators: list[Any], k: int, item: Value, element: Callable[[], Value], listing: bool
) -> list[Value] | None:
    """The elements that one item of the k-th generator leads to."""
    store(s, generators[k].target, item)
    tests = [condition(s, test) for test in generators[k].ifs]
    if not all(isinstance(t, Const) for t in tests):
        return None
    return unrolled(s, generators, k + 1, element, listing) if all(t.value for t in tests) else []


def nest(s: Specialiser, generators: list[Any], k: int, action: Callable[[], None]) -> None:
    """The loops of a comprehension, from the outermost in."""
    if k == len(generators):
        action()
        return

    iterable = evaluate(s, generators[k].iter)
    site, numbers = short(s, iterable)
    iterable = own_iterator(s, iterable)
    with unchanged(s, ahead_of(s, iterable)), s.short_loop(site if numbers is None else None):
        go_over(s, generators, k, action, iterable, numbers)


def go_over(
    s: Specialiser,
    generators: list[Any],
    k: int,
    action: Callable[[], None],
    iterable: Value,
    numbers: list[Value] | None,
) -> None:
    """The loop over an iterable, or over `numbers` one by one, and those inside it."""
    generator = generators[k]

    def inside(item: Value) -> None:
        store(s, generator.target, item)
        guarded(s, generator.ifs, lambda: nest(s, generators, k + 1, action))

    if isinstance(iterable, Suspended):
        run_generator(s, iterable, inside)
        return
    source = over(s, iterable) if numbers is None else Source(items=numbers)
    if source.items is None and source.bounds is None and source.advance is None:
        source = over(s, listed_opaque(s, iterable))
    if source.items is not None:
        for number in range(len(source.items)):
            with source.reached(s, number) as item:
                inside(item)
        source.check_length(s)
        return
    if source.advance is not None:
        advancing(s, source, inside)
        return
    if source.endless:
        raise s.refuse(
            "iterator",
            "a comprehension over an iterator without an end cannot be followed",
            "zip it with what has one, or use a loop",
        )
    hint = (
        generator.target.id if isinstance(generator.target, gast.Name) and source.hint is None else source.hint or "i"
    )

    def make() -> ir.Loop:
        assert source.bounds is not None
        return ir.Loop("range", [], [], s.fresh(hint, INT), tuple(s.expr(b) for b in source.bounds), origin=s.where())

    def run(node: ir.Loop) -> None:
        assert node.index is not None
        inside(source.item(Leaf(node.index)))

    loop(s, make, run)


def guarded(s: Specialiser, tests: list[Any], action: Callable[[], None]) -> None:
    if not tests:
        action()
        return
    test = condition(s, tests[0])
    if isinstance(test, Const):
        if test.value:
            guarded(s, tests[1:], action)
        return
    branch(s, test, lambda: guarded(s, tests[1:], action), lambda: None)


def build_dict(s: Specialiser, node: Any) -> Value:
    result = items.new_dict(s)

    def put() -> None:
        key = evaluate(s, node.key)
        items.set_item(s, result, key, evaluate(s, node.value))

    scoped(s, node, lambda: nest(s, node.generators, 0, put))
    return result


@expression(gast.ListComp)
def list_comprehension(s: Specialiser, node: Any) -> Value:
    return build_list(s, node)


@expression(gast.SetComp)
def set_comprehension(s: Specialiser, node: Any) -> Value:
    return set_of(s, build_list(s, node))


@expression(gast.DictComp)
def dict_comprehension(s: Specialiser, node: Any) -> Value:
    return build_dict(s, node)
