"""Statements of the user's program, after `desugar`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...domain.facts import INT
from ...domain.values import Closure, Const, Leaf, ListV, Obj, Suspended, Value
from ...frontend.exception_regions import at, endless
from ..containers import items as containers
from ..containers import lists, swaps
from ..containers.iteration import advancing, changes, counted_list, over_growing, short
from ..containers.iterators import ahead_of, own_iterator
from ..containers.sources import CHANGED, Source, unchanged
from ..containers.swaps import swapped
from ..control.context_managers import manage
from ..control.exceptions import attempt, finally_, rewritten, run_under_handlers
from ..control.joins import as_leaf
from ..control.peeling import decide, first_of, is_peeled, peel
from ..control.unreachable_handlers import raise_from, raises_from
from ..kernel import operations
from ..kernel.escape import roots_held
from ..kernel.handlers import evaluate, execute_each, statement
from ..kernel.operations import augment, branch, call_value, defines, listed, loop, operate, run_generator
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended, always, attempted
from ..objects import dict_views, tables
from ..objects.attributes import with_imaginary
from ..world.names import assign_name, delete_name
from .augmented_assignment import augment_item
from .comparisons import condition
from .expressions import index_into, place_of
from .star_arguments import unpacked_at_once


@defines(operations.execute)
def execute(s: Specialiser, body: list[Any]) -> None:
    """Specialise statements in order."""
    end = raises_from(body)
    if end is None:
        execute_each(s, body)
    else:
        execute_each(s, body[:end])
        raise_from(s, body[end:], lambda: execute_each(s, body[end:]))


@statement(gast.Assign)
def assign(s: Specialiser, node: Any) -> None:
    if swapped(s, node):
        return
    value = evaluate(s, node.value)
    if len(node.targets) > 1:
        value = containers.own_value(s, value)
    for target in node.targets:
        store(s, target, value)


@statement(gast.AnnAssign)
def annotated(s: Specialiser, node: Any) -> None:
    if node.value is not None:
        store(s, node.target, evaluate(s, node.value))


@defines(operations.store)
def store(s: Specialiser, target: Any, value: Value) -> None:
    """``target = value``."""
    if isinstance(target, gast.Name):
        assign_name(s, target.id, value)
    elif isinstance(target, (gast.Tuple, gast.List)):
        unpack(s, target.elts, value)
    elif isinstance(target, gast.Subscript) and (whole := imaginary_whole(s, target)) is not None:
        store_imaginary(s, whole, index_into(s, whole, target.slice), value)
    elif isinstance(target, gast.Subscript):
        containers.set_item(s, *place_of(s, target), value)
    elif isinstance(target, gast.Attribute):
        containers.set_attribute(s, evaluate(s, target.value), target.attr, value)
    else:
        raise s.refuse(
            "unsupported-syntax",
            f"assignment to {type(target).__name__} is not supported",
            "assign to a name, an item or an attribute",
        )


def imaginary_whole(s: Specialiser, target: Any) -> Leaf | None:
    """The complex array of an assignment to ``z.imag[k]``, where it has a name."""
    node = target.value
    if not isinstance(node, gast.Attribute) or node.attr != "imag" or not isinstance(node.value, gast.Name):
        return None
    base = evaluate(s, node.value)
    facts = s.num(base) if isinstance(base, Leaf) else None
    is_complex = facts is not None and facts.kind == "array" and facts.dtype is not None and facts.dtype.kind == "c"
    return base if is_complex and isinstance(base, Leaf) else None


def store_imaginary(s: Specialiser, whole: Leaf, index: Value, value: Value) -> None:
    """``z.imag[k] = value``"""
    containers.set_item(s, whole, index, with_imaginary(s, containers.get_item(s, whole, index), value))


def unpack(s: Specialiser, targets: list[Any], value: Value) -> None:
    value = listed(s, value)
    stars = [k for k, t in enumerate(targets) if isinstance(t, gast.Starred)]
    value = unpacked_at_once(s, value) if stars else value
    if stars and (swaps.is_counted(s, value) or swaps.is_too_short(s, value, len(targets) - 1)):
        items = swaps.items_around(s, value, stars[0], len(targets) - stars[0] - 1)
    else:
        items = containers.items_of(s, value, None if stars else len(targets))
        if stars:
            items = gathered(s, items, stars[0], len(targets) - stars[0] - 1)
    if len(items) != len(targets):
        wrong = "not enough" if len(items) < len(targets) else "too many"
        raise always(s, ValueError, f"{wrong} values to unpack (expected {len(targets)})")
    for target, item in zip(targets, items):
        store(s, target.value if isinstance(target, gast.Starred) else target, item)


def gathered(s: Specialiser, items: list[Value], first: int, last: int) -> list[Value]:
    """The targets of ``a, *middle, b = items``: those between the first and the last are in a list, also one alone."""
    if len(items) < first + last:
        raise always(s, ValueError, f"not enough values to unpack (expected at least {first + last})")
    behind = len(items) - last
    return [*items[:first], ListV(tuple(items[first:behind]), s.site("middle")), *items[behind:]]


@statement(gast.AugAssign)
def augmented(s: Specialiser, node: Any) -> None:
    target = node.target
    if isinstance(target, gast.Name):
        old = evaluate(s, gast.copy_location(gast.Name(target.id, gast.Load(), None, None), target))
        outer = s.frame is not None and target.id in s.frame.nonlocals
        assign_name(s, target.id, augment(s, old, type(node.op), evaluate(s, node.value), outer))
    elif isinstance(target, gast.Subscript) and (whole := imaginary_whole(s, target)) is not None:
        index = index_into(s, whole, target.slice)
        old = containers.get_item(s, containers.get_attribute(s, whole, "imag"), index)
        store_imaginary(s, whole, index, operate(s, type(node.op), old, evaluate(s, node.value)))
    elif isinstance(target, gast.Subscript):
        augment_item(s, node)
    else:
        base = evaluate(s, target.value)
        old = containers.get_attribute(s, base, target.attr)
        place = len(s.block)
        new = augment(s, old, type(node.op), evaluate(s, node.value), True)
        if new is not old or not tables.still_holds(s, base, target.attr, s.block[place:]):
            containers.set_attribute(s, base, target.attr, new)


@statement(gast.Expr)
def expression(s: Specialiser, node: Any) -> None:
    if not isinstance(node.value, gast.Constant):
        s.by_itself = node.value
        evaluate(s, node.value)


@statement(gast.Pass)
def nothing(s: Specialiser, node: Any) -> None:
    del s, node


@statement(gast.If)
def if_(s: Specialiser, node: Any) -> None:
    test = condition(s, node.test)
    if isinstance(test, Const):
        execute(s, node.body if test.value else node.orelse)
    else:
        branch(s, test, lambda: execute(s, node.body), lambda: execute(s, node.orelse))


def default(s: Specialiser, node: Any) -> Value:
    """The value of a parameter's default."""
    value = evaluate(s, node)
    return containers.own_list(s, value) if isinstance(value, ListV) else value


@statement(gast.FunctionDef)
def define(s: Specialiser, node: Any) -> None:
    assert s.frame is not None
    decorators = [evaluate(s, d) for d in node.decorator_list]
    # A default is made once, where the function is defined, and shared by its calls.
    defaults = tuple(default(s, d) for d in node.args.defaults)
    kw_defaults = tuple(None if d is None else default(s, d) for d in node.args.kw_defaults)
    value: Value = Closure(node, s.frame, defaults, kw_defaults, node.name)
    for decorator in reversed(decorators):
        value = call_value(s, decorator, [value], {})
    assign_name(s, node.name, value)


@statement(gast.Nonlocal, gast.Global)
def declaration(s: Specialiser, node: Any) -> None:
    del s, node  # names.py has read it


@statement(gast.Delete)
def delete(s: Specialiser, node: Any) -> None:
    for target in node.targets:
        if isinstance(target, gast.Subscript):
            lists.delete_item(s, evaluate(s, target.value), evaluate(s, target.slice))
        elif isinstance(target, gast.Name):
            delete_name(s, target.id)
        else:
            raise s.refuse(
                "unsupported-syntax", "`del` of an attribute cannot be followed", "build a new object without it"
            )


@statement(gast.Assert)
def assert_(s: Specialiser, node: Any) -> None:
    test = condition(s, node.test)
    if isinstance(test, Const) and test.value:
        return
    block: ir.Block = []
    message = None
    if node.msg is not None:
        value = attempted(s, block, lambda: evaluate(s, node.msg))
        if value is None:  # making the message raises: that is what happens where the test fails
            branch(s, test, lambda: None, lambda: ended(s, block))
            return
        message = s.expr(value)
    if block:
        s.block.append(ir.If(gast.UnaryOp(gast.Not(), s.expr(test)), block, [], [], s.where()))
    s.block.append(ir.Raise(gast.Assert(s.expr(test), message), s.where()))


def ended(s: Specialiser, block: ir.Block) -> None:
    s.block += block
    raise Ended


@statement(gast.Raise)
def raise_(s: Specialiser, node: Any) -> None:
    exc = None if node.exc is None else s.expr(evaluate(s, node.exc))
    cause = None if node.cause is None else s.expr(evaluate(s, node.cause))
    s.block.append(ir.Raise(gast.Raise(exc, cause), s.where()))
    raise Ended


# -- loops


@statement(gast.While)
def while_(s: Specialiser, node: Any) -> None:
    site = ("head", s.site())
    if site in s.dynamic:
        node = endless_form(s, node)
    body, stop = split_stop(node.body)

    def make() -> ir.Loop:
        return ir.Loop("while", [], [], origin=s.where())

    def run(loop_node: ir.Loop) -> None:
        before = dict(s.env)
        test = attempted(s, loop_node.head, lambda: condition(s, node.test))
        if test is None:
            raise s.refuse(
                "exceptions",
                "the test of this loop always raises an exception",
                "test a condition that is a number or a bool",
            )
        if changes(s, before, loop_node.head) and site not in s.dynamic:
            raise Restart(site)
        loop_node.test = s.expr(test)
        execute(s, body)
        read_stop(s, loop_node, stop)

    if is_peeled(s):
        test = condition(s, node.test)
        decide(
            s, test, lambda: peel(s, lambda: execute(s, body), partial(stop_of, s, stop), lambda: loop(s, make, run))
        )
    else:
        loop(s, make, run)


def endless_form(s: Specialiser, node: Any) -> Any:
    """``while True`` with the test as a statement, for a test that changes something."""

    def make(fresh: Callable[[str], str]) -> list[Any]:
        return [at(node, gast.While(gast.Constant(True, None), endless(node, fresh), []))]

    return rewritten(s, node, make)[0]


def stop_of(s: Specialiser, stop: Any) -> Value:
    """The test that ends a loop after an iteration."""
    return Const(False) if stop is None else condition(s, stop)


def split_stop(body: list[Any]) -> tuple[list[Any], Any]:
    """The body without its trailing ``if NAME: break``, and that test."""
    last = body[-1]
    if isinstance(last, gast.If) and len(last.body) == 1 and isinstance(last.body[0], gast.Break):
        return body[:-1], last.test
    return body, None


@defines(operations.read_stop)
def read_stop(s: Specialiser, node: ir.Loop, stop: Any) -> None:
    if stop is not None:
        value = condition(s, stop)
        if not (isinstance(value, Const) and not value.value):
            leaf = as_leaf(s, value, s.block, "stop")
            assert leaf is not None
            node.stop = s.expr(leaf)


def over_generator(s: Specialiser, node: Any, generator: Suspended, body: list[Any], stop: Any) -> None:
    def work(value: Value) -> Value | None:
        store(s, node.target, value)
        execute(s, body)
        return None if stop is None else condition(s, stop)

    go_through = run_under_handlers if getattr(node, "is_handled", False) else run_generator
    go_through(s, generator, work, stop is not None)


@statement(gast.For)
def for_(s: Specialiser, node: Any) -> None:
    iterable = own_iterator(s, evaluate(s, node.iter))
    with unchanged(s, ahead_of(s, iterable)):
        go_over(s, node, iterable)


def iteration_of(s: Specialiser, node: Any, iterable: Value) -> Source:
    """The iteration over a value; under handlers, an exception that always comes would be written outside of them."""
    try:
        return containers.iteration(s, iterable)
    except Ended:
        if getattr(node, "is_handled", False):
            raise s.refuse(
                "exceptions", "a loop under a handler goes over a number", "test what it is before the loop"
            ) from None
        raise


def go_over(s: Specialiser, node: Any, iterable: Value) -> None:
    """The loop, once it is known what it goes over."""
    body, stop = split_stop(node.body)
    if isinstance(iterable, Suspended):
        over_generator(s, node, iterable, body, stop)
        return

    def each(item: Value) -> None:
        store(s, node.target, item)
        execute(s, body)

    site, numbers = short(s, iterable)
    grown = ("grown", s.site("for"))
    if grown in s.dynamic and (found := counted_list(s, iterable)) is not None:
        over_growing(s, *found, each, stop)
        return
    source = iteration_of(s, node, iterable) if numbers is None else Source(items=numbers)
    if source.items is not None:
        known = dict_views.container(s, iterable)
        if known is None:
            unroll(s, node, source.items, body, stop, partial(source.read, s))
            if stop is None:
                source.check_length(s)
        else:
            go_over_known(s, node, *known, body, stop)
        return

    if source.advance is not None:
        advancing(s, source, each, stop)
        return

    def make() -> ir.Loop:
        if source.bounds is None:
            item = s.fresh(target_hint(node), source.facts)
            return ir.Loop("iter", [], [], item, (s.expr(iterable),), origin=s.where())
        index = s.fresh(source.hint or target_hint(node), INT)
        if source.hint is None:
            s.named.add(index)
        made = ir.Loop("range", [], [], index, tuple(s.expr(b) for b in source.bounds), origin=s.where())
        made.every, made.folder = (None if x is None else s.expr(x) for x in (source.every, source.folder))
        return made

    def run(loop_node: ir.Loop) -> None:
        assert loop_node.index is not None
        store(s, node.target, source.item(Leaf(loop_node.index)))
        execute(s, body)
        read_stop(s, loop_node, stop)
        if source.every is not None and loop_node.stop is not None:
            raise s.refuse(
                "segments",
                "a loop over segments may end early",
                "go over all steps, and skip those that are not wanted with `if`",
            )

    def first(item: Value) -> None:
        store(s, node.target, source.item(item))
        execute(s, body)

    with s.short_loop(site), s.going_over_growing(grown):
        peeled = first_of(s, source) if is_peeled(s) else None
        if peeled is None:
            loop(s, make, run)
        else:
            start, is_there, source.bounds = peeled
            decide(
                s,
                is_there,
                lambda: peel(s, lambda: first(start), partial(stop_of, s, stop), lambda: loop(s, make, run)),
            )


def go_over_known(s: Specialiser, node: Any, base: Obj, method: str, body: list[Any], stop: Any) -> None:
    """A loop over a dict or a list that is known item by item, which sees what is appended to the list meanwhile."""
    keys, done = s.fields(base), 0
    while keys:
        with s.written_out(-done) if done else nullcontext():
            limit = thresholds.ENTRIES_WRITTEN_OUT if base.cls is dict and stop is None else None
            unroll(s, node, keys, body, stop, lambda pair: dict_views.item(s, base, method, pair[1]), limit=limit)
        done += len(keys)
        after = s.fields(base)
        if len(after) > done and base.cls is list and (stop is not None or done > thresholds.TRIPS_WRITTEN_OUT):
            raise Restart(base.id)  # it is no list of known items
        if base.cls is dict and stop is None and after != keys:
            raise s.refuse("changed-while-iterated", CHANGED)
        keys = after[done:] if base.cls is list else []


def target_hint(node: Any) -> str:
    return node.target.id if isinstance(node.target, gast.Name) else "i"


def unroll(
    s: Specialiser,
    node: Any,
    items: list[Any],
    body: list[Any],
    stop: Any,
    read: Callable[[tuple[int, Any]], Value],
    done: int = 0,
    limit: int | None = None,
) -> None:
    """A loop over things known one by one, such as the layers of a network, is written out; `read` gives the next."""
    if len(items) > (limit or thresholds.TRIPS_WRITTEN_OUT):
        raise s.refuse(
            "too-large",
            f"a loop over {len(items)} objects known at compile time would be written out {len(items)} times",
            "loop over a list of arrays or over a range",
        )
    if not items:
        return
    with s.written_out(len(items)), s.holding(roots_held(s, items[1:])):
        store(s, node.target, read((done, items[0])))
        execute(s, body)
    test = stop_of(s, stop)
    if isinstance(test, Const):
        if not test.value:
            unroll(s, node, items[1:], body, stop, read, done + 1, limit)
    else:
        branch(s, test, lambda: None, lambda: unroll(s, node, items[1:], body, stop, read, done + 1))


# -- with and try


@statement(gast.With)
def with_(s: Specialiser, node: Any) -> None:
    manage(s, node)


@statement(gast.Try)
def try_(s: Specialiser, node: Any) -> None:
    if node.handlers:
        attempt(s, node)
    else:
        finally_(s, node)
