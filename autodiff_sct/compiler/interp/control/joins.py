"""Joins: where environments part and meet, and tangents inside ``try``.

Branches: where environments part and meet.

At a meeting point a name that stands for two variables becomes a third (a merge); structures are met item by
item, objects field by field.  A loop's body is specialised until what holds at its head no longer changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ....runtime.apart import apart, rejoined
from ... import ir
from ...domain.facts import BOOL, Num, join
from ...domain.identifiers import is_identifier
from ...domain.values import Choice, Const, Frame, Leaf, ListV, Obj, Poison, TupleV, Value
from ..containers.items import own_list
from ..kernel import operations
from ..kernel.bind_arguments import is_function
from ..kernel.operations import defines, execute
from ..kernel.program_values import LITERALS, Restart
from ..kernel.specialiser import Specialiser, is_slice, slice_object
from ..kernel.user_errors import Ended, beside, run_block
from ..objects import local_classes, optional
from ..objects.tables import restart_tabled, several_things
from ..world import captures
from ..world.names import home
from ..world.partial_keys import join_presence, note_deleted, note_presence
from .unreachable_handlers import run_side

COMPARED = (gast.Compare, gast.BoolOp, gast.UnaryOp)
ROUNDS = 30  # facts can only grow, so that far fewer are needed unless they grow for ever
NESTED = 2  # objects that a loop carries inside each other: a chain that grows would have no end
SEVERAL = Poison("a name stands for one of several iterators, depending on the path")
MISSING = Poison("this name may not have been assigned on the path that led here")


@defines(operations.branch)
def branch(s: Specialiser, test: Value, then: Callable[[], None], orelse: Callable[[], None]) -> None:
    """``if test: then else: orelse``, whose bodies write into the environment.

    Where one side always raises, the other is no side of a branch: it is what follows.
    """
    origin = s.where()
    expr = s.expr(outcome_of(s, test))
    entry = dict(s.env)
    then_block: ir.Block = []
    then_goes_on = run_side(s, then_block, optional.told(s, test, True, then))
    then_env, s.env = s.env, dict(entry)
    if not then_goes_on:
        s.block.append(ir.If(expr, then_block, [], [], origin))
        with optional.knowing(s, test, False), beside(s):
            orelse()
        return
    else_block: ir.Block = []
    else_goes_on = run_side(s, else_block, optional.told(s, test, False, orelse))
    else_env = s.env
    note_deleted(s, entry, then_env, else_env)
    if not else_goes_on:
        s.block.append(ir.If(gast.UnaryOp(gast.Not(), expr), else_block, [], [], origin))
        s.block += then_block
        for a, b in s.lengths_in(then_block).pairs:
            s.equate(a, b)
        s.env = then_env
        return
    node = ir.If(expr, then_block, else_block, [], origin)
    s.block.append(node)
    s.env = meet(s, node, then_env, else_env)


def outcome_of(s: Specialiser, test: Value) -> Value:
    """The truth value of a list, a dict or an array as it is now: what the test decides may change that.

    ::

        if queue:                           condition = bool(queue)
            task = queue.pop(0)     ->      if condition:
    """
    facts = s.facts[test.name] if isinstance(test, Leaf) else None
    if facts is None or (isinstance(facts, Num) and (facts.number or (facts.dims == () and not facts.roots))):
        return test
    made = s.block[-1] if s.block else None
    if isinstance(made, ir.Let) and made.targets == (test.name,) and isinstance(made.expr, COMPARED):
        return test  # nobody else has what a comparison makes
    return s.let(ir.call(s.bind("bool", bool), s.expr(test)), BOOL, hint="condition")


def meet(s: Specialiser, node: ir.If, then_env: dict[Any, Value], else_env: dict[Any, Value]) -> dict[Any, Value]:
    result: dict[Any, Value] = {}
    forget(s, then_env, else_env)
    for key in [*then_env, *(k for k in else_env if k not in then_env)]:
        a, b = then_env.get(key, MISSING), else_env.get(key, MISSING)
        if a is b or a == b:
            result[key] = a
    s.env = result
    envs = (then_env, else_env)
    check_presence(s, *envs)
    complete(s, *envs)
    note_presence(*envs)
    for key in [*then_env, *(k for k in else_env if k not in then_env)]:
        if key not in result:
            a, b = then_env.get(key, MISSING), else_env.get(key, MISSING)
            result[key] = merge(s, node, key, (a, b), envs)
    order = [key for key in then_env if key in result]
    return dict.fromkeys(order) | result  # the keys of a dict stay in order


def forget(s: Specialiser, *envs: dict[Any, Value]) -> None:
    """Drop what functions remember on one path, where another joins it: only paths that computed it may use it."""
    for key in s.memos:
        if any(env.get(key) is not envs[0].get(key) for env in envs):
            for env in envs:
                env.pop(key, None)


def on_one_path(one: dict[Any, Value], other: dict[Any, Value]) -> list[Any]:
    """The names that only one of two environments holds, in order."""
    if one.keys() == other.keys():
        return []
    return [*(key for key in one if key not in other), *(key for key in other if key not in one)]


def check_presence(s: Specialiser, one: dict[Any, Value], other: dict[Any, Value]) -> None:
    """A dict that has a key on one path and lacks it on another lives at run time, as does a list of either length."""
    for key in on_one_path(one, other):
        if isinstance(key, tuple) and isinstance(key[0], tuple) and key[0][0] in ("dict", "list"):
            having, lacking = (one, other) if key in one else (other, one)
            if ("made", key[0]) in lacking:
                restart_tabled(s, having[key])
                raise Restart(key[0])
        if isinstance(key, tuple) and isinstance(key[0], tuple) and key[0][0] == "kwargs":
            if ("made", key[0]) in one and ("made", key[0]) in other:
                raise s.refuse(
                    "different-kinds",
                    f"the keyword argument {key[1]!r} is added or removed on some paths only",
                    "change a dict of them that is made in the function: `options = dict(kwargs)`",
                )
    for dict_ in reordered(one, other):
        raise Restart(dict_)


def reordered(one: dict[Any, Value], other: dict[Any, Value]) -> list[Any]:
    """The dicts whose keys are in another order on another path."""
    first, second = (
        [k for k in env if isinstance(k, tuple) and k in beside] for env, beside in ((one, other), (other, one))
    )
    if first == second:
        return []
    ids = dict.fromkeys(k[0] for k in first if isinstance(k[0], tuple) and k[0][0] == "dict" and ("made", k[0]) in one)
    return [id for id in ids if [k for k in first if k[0] == id] != [k for k in second if k[0] == id]]


def complete(s: Specialiser, *envs: dict[Any, Value]) -> None:
    """An attribute that one path assigns has on another the value that the object came with, or that of its class."""
    one_sided = dict.fromkeys(key for one, other in zip(envs, envs[1:]) for key in on_one_path(one, other))
    keys = [key for key in one_sided if isinstance(key, tuple) and isinstance(key[0], tuple)]
    for env in envs if keys else ():
        there = local_classes.objects_in(env)
        for key in keys:
            if key not in env and (value := of_other_path(s, key, env, there)) is not None:
                env[key] = value


def of_other_path(s: Specialiser, key: Any, env: dict[Any, Value], there: dict[Any, Obj]) -> Value | None:
    """The value of an attribute on a path that does not assign it; None if unknown."""
    id, attr = key
    if id in s.objects:
        return captures.of_other_path(s, id, attr)
    return local_classes.on_other_path(s, there[id], attr, env) if id in there else None


def label(key: Any) -> str:
    text = str(key[1]) if isinstance(key, tuple) else str(key)
    return text if is_identifier(text) else "t"


def item(key: Any, k: int) -> Any:
    """The key of an item of a tuple: objects in it are told apart by their places."""
    return (key[0], key[1], k, *key[2:])


def merge(
    s: Specialiser, node: ir.If, key: Any, pair: tuple[Value, Value], envs: tuple[dict[Any, Value], dict[Any, Value]]
) -> Value:
    """The value of a name after a branch that gave it either of two."""
    a, b = pair
    if a is b or a == b:
        return a
    maybe = optional.met(s, pair, MISSING, lambda k, items: merge(s, node, key, (items[0], items[1]), envs))
    if maybe is not None:
        return maybe
    if isinstance(a, TupleV) and isinstance(b, TupleV) and len(a.items) == len(b.items) and a.cls is b.cls:
        return TupleV(tuple(merge(s, node, key, p, envs) for p in zip(a.items, b.items)), a.cls)
    if isinstance(a, Obj) and isinstance(b, Obj) and a.cls is b.cls:
        return merge_objects(s, node, key, (a, b), envs)
    if MISSING in pair and any(isinstance(v, Obj) for v in pair):
        return b if a is MISSING else a  # its fields meet one by one
    if MISSING in pair and any(isinstance(v, TupleV) for v in pair):
        known = b if a is MISSING else a
        items = [(MISSING, item) if a is MISSING else (item, MISSING) for item in known.items]
        return TupleV(tuple(merge(s, node, key, item, envs) for item in items), known.cls)
    if isinstance(node.test, gast.Name) and are_functions_or_none(a, b):
        return Choice(Leaf(node.test.id), a, b)
    names: list[str | None] = []
    for value, block in zip(pair, (node.then, node.orelse)):
        if value is MISSING:
            names.append(None)
            continue
        leaf = as_leaf(s, value, block, label(key))
        if leaf is None:
            return (
                value
                if isinstance(value, Poison)
                else several_things(
                    s, f"{s.in_words(label(key))} stands for different kinds of things after this branch", *pair
                )
            )
        names.append(leaf.name)
    facts = [s.facts[n] for n in names if n is not None]
    joined = facts[0] if len(facts) == 1 else join(facts[0], facts[1])
    target = s.fresh(label(key), joined)
    s.named.add(target)
    optional.note_number(s, target, pair)
    join_presence(s, target, names)
    node.merges.append(ir.Merge(target, names[0], names[1]))
    return Leaf(target)


def are_functions_or_none(*values: Value) -> bool:
    """True if values are functions, at least one of them, and the others None."""
    functions = [v for v in values if is_function(v)]
    return bool(functions) and all(v in functions or v == Const(None) for v in values)


def merge_objects(
    s: Specialiser, node: ir.If, key: Any, pair: tuple[Obj, Obj], envs: tuple[dict[Any, Value], dict[Any, Value]]
) -> Value:
    a, b = pair
    if a.id in s.cursors or b.id in s.cursors:
        return SEVERAL
    if a.id in s.objects or b.id in s.objects:
        return Poison(f"{s.in_words(label(key))} stands for one of several objects")
    id = ("merge", a.id, b.id, s.site("merge"))  # another branch may choose otherwise
    if id in s.merging:  # a field of its own, or of what is in it
        return Obj(id, a.cls)
    fields = [
        {k[1]: v for k, v in env.items() if isinstance(k, tuple) and k[0] == obj.id} for obj, env in zip(pair, envs)
    ]
    if list(fields[0]) != list(fields[1]):
        return several_things(s, f"{s.in_words(label(key))} stands for objects with different fields", a, b)
    s.frozen |= {a.id, b.id, id}
    s.stands_for[id] = pair
    s.merging.add(id)
    for f in fields[0]:
        hint = (id, f"{label(key)}_{f}")
        s.env[(id, f)] = merge(s, node, hint, (fields[0][f], fields[1][f]), envs)
        if (a.id, f) in s.unsure or (b.id, f) in s.unsure:
            s.unsure.add((id, f))
    s.merging.remove(id)
    return Obj(id, a.cls)


def as_leaf(s: Specialiser, value: Value, block: ir.Block, hint: str) -> Leaf | None:
    """`value` as a variable, assigned at the end of `block` where it was none."""
    if isinstance(value, Leaf):
        return value
    if is_slice(value):
        with s.writing(block):
            return slice_object(s, value)
    plain = isinstance(value, Const) and (isinstance(value.value, LITERALS) or isinstance(s.facts_of(value), Num))
    if not plain and not isinstance(value, (ListV, TupleV)):
        return None
    with s.writing(block):
        if isinstance(value, ListV):
            owned = own_list(s, value)
            return owned if isinstance(owned, Leaf) else None
        op = ir.Op(list, {"items": ListV(value.items)}) if isinstance(value, TupleV) else None
        return s.let(s.stored(value), s.facts_of(value), op, hint=hint, may_raise=False)


# -- loops


def own_manager(s: Specialiser, node: Any) -> Any:
    """`apart` or `rejoined`, where the manager of a ``with`` statement is one of theirs."""
    callee = getattr(node.items[0].context_expr, "func", None)
    if not isinstance(callee, gast.Name) or home(s.frame, callee.id) is not None:
        return None
    top: Frame | None = s.frame
    while top is not None and top.parent is not None:
        top = top.parent
    found = None if top is None else top.globals.get(callee.id)
    return found if found is apart or found is rejoined else None


def keep_whole(s: Specialiser, node: Any) -> None:
    """Mark the blocks in a ``try`` that only see what was raised inside them: its handlers stay around them."""
    for part in gast.walk(node):
        if isinstance(part, gast.With) and own_manager(s, part) is not None:
            part.is_unit = True


def stay(s: Specialiser, node: Any, cls: Any) -> None:
    """Specialise a block of tangents, or one around tangents: all of their levels are below those of this program."""
    numbers = [n.value for n in node.items[0].context_expr.args]
    level = numbers[0] if numbers else 1
    write(s, cls, level, lambda: execute(s, node.body))


def write(s: Specialiser, cls: Any, level: int, work: Callable[[], Any]) -> Any:
    """``with cls(level):`` around what `work` writes."""
    s.level = max(s.level, level + 1)
    block: ir.Block = []
    origin = s.where()
    found: list[Any] = []
    goes_on = run_block(s, block, lambda: found.append(work()))
    s.block.append(ir.With([(manager(s, cls, level), None)], block, origin))
    if not goes_on:
        raise Ended
    return found[0]


def manager(s: Specialiser, cls: Any, level: int) -> Any:
    """The call that makes a manager."""
    return ir.call(s.bind(cls.__name__, cls), *([ir.constant(level)] if level > 1 else []))


def with_tangents(s: Specialiser, emitted: Any, call: Callable[[], Value]) -> Value:
    """The result of a program with tangents, which becomes part of this one: its exceptions are its own again."""
    if not any(value is apart for value in emitted.namespace.values()):
        return call()
    found: Value = write(s, rejoined, emitted.level, call)
    return found
