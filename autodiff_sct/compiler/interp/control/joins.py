"""Branches and loops: where environments part and meet.

At a meeting point a name that stands for two variables becomes a third (a merge or a carry); structures are met item by
item, objects field by field.  A loop's body is specialised until what holds at its head no longer changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gast

from ... import ir
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair, join
from ...domain.identifiers import is_identifier
from ...domain.values import Choice, Const, Leaf, ListV, MaybeV, Obj, Poison, TupleV, Value
from ...ir.builder import LITERALS, Restart, Specialiser
from ...ir.dims import born, outliving
from ...ir.element_facts import is_slice, slice_object
from ..containers.items import own_list
from ..containers.resizing_iteration import refuse_resizing
from ..kernel import operations
from ..kernel.functions import is_function
from ..kernel.operations import defines
from ..kernel.raising import beside, run_block
from ..objects import class_defaults, optional
from ..objects.tables import restart_tabled, several_things, with_other_keys
from ..world import outside_writes
from ..world.presence import join_presence, note_deleted, note_presence
from .late_refusals import run_side

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
    expr = s.expr(test)
    entry = dict(s.env)
    then_block: ir.Block = []
    with optional.knowing(s, test, True):
        then_goes_on = run_side(s, then_block, then)
    then_env, s.env = s.env, dict(entry)
    if not then_goes_on:
        s.block.append(ir.If(expr, then_block, [], [], origin))
        with optional.knowing(s, test, False), beside(s):
            orelse()
        return
    else_block: ir.Block = []
    with optional.knowing(s, test, False):
        else_goes_on = run_side(s, else_block, orelse)
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
    """What only one of two environments holds, in order."""
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
        there = class_defaults.objects_in(env)
        for key in keys:
            if key not in env and (value := of_other_path(s, key, env, there)) is not None:
                env[key] = value


def of_other_path(s: Specialiser, key: Any, env: dict[Any, Value], there: dict[Any, Obj]) -> Value | None:
    """What a path that does not assign an attribute finds there; None where nothing is known of it."""
    id, attr = key
    if id in s.objects:
        return outside_writes.of_other_path(s, id, attr)
    return class_defaults.on_other_path(s, there[id], attr, env) if id in there else None


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
    """Whether values are functions, at least one of them, and the others None."""
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


@defines(operations.loop)
def loop(s: Specialiser, make: Callable[[], ir.Loop], body: Callable[[ir.Loop], None]) -> None:
    """Specialise a loop: `make` gives its statement anew, `body` writes head and body into it.

    The body is written again and again until the facts at its head hold for every iteration.  A loop inside another
    starts from what held when the body of the other was written before, and anew where that no longer holds: so each
    loop of a nest is written about as often as there are loops around it.
    """
    entry = dict(s.env)
    rule_calls, since, site = s.rule_calls, s.counter, s.site("carried")
    carried: dict[Any, Value] = s.solved.pop(site, {})
    again = bool(carried)
    with s.inside_loop():
        for _ in range(ROUNDS):
            s.rule_calls = rule_calls
            node = make()
            if node.kind == "range" and node.index is not None:
                s.ranges[node.index] = node.bounds
            s.env = dict(entry)
            known = dict(s.elements)
            phis = {key: phi(s, key, value, entry.get(key, MISSING)) for key, value in carried.items()}
            s.env.update(phis)
            head = dict(s.env)
            proven: dict[Any, Any] = {}
            with s.going_over() as lists:
                goes_on = run_block(s, node.body, partial(iteration, s, node, body, proven))
            end = s.env if goes_on else head
            forget(s, end, head)
            check_presence(s, entry, end)
            complete(s, end, entry)
            note_presence(entry, end)
            with s.knowing(proven):
                wanted = next_carried(s, site, entry, head, end, carried)
            wanted = {key: outliving(value, since) for key, value in wanted.items()}
            if wanted == carried and known == s.elements:
                break
            carried, again = {} if again else wanted, False
        else:
            raise s.refuse("different-kinds", "what this loop changes takes on new kinds in each iteration")
    refuse_resizing(s, lists, node.body)
    note_solved(s, site, carried)
    s.block.append(node)
    finish_loop(s, node, entry, phis, end)


def note_solved(s: Specialiser, site: Any, carried: dict[Any, Value]) -> None:
    """Note what a loop inside another carries; the fields of objects are found anew."""
    if not s.loops:
        s.solved.clear()
    elif all(isinstance(value, (Num, Listed, Mapped, Pair, Opaque)) for value in carried.values()):
        s.solved[site] = carried


def iteration(s: Specialiser, node: ir.Loop, body: Callable[[ir.Loop], None], proven: dict[Any, Any]) -> None:
    """Write head and body of a loop, and note in `proven` which lengths are equal once an iteration has succeeded."""
    body(node)
    proven |= s.proven


def phi(s: Specialiser, key: Any, template: Value, entry: Value) -> Value:
    """The value at the head of a loop of a name that the loop changes; `template` holds facts in place of leaves."""
    if isinstance(template, TupleV):
        items = entry.items if isinstance(entry, TupleV) else (MISSING,) * len(template.items)
        return TupleV(tuple(phi(s, key, t, e) for t, e in zip(template.items, items)), template.cls)
    if isinstance(template, MaybeV):
        entries = optional.items_of_either(entry, len(template.items), MISSING)
        return replace(template, items=tuple(phi(s, key, t, e) for t, e in zip(template.items, entries)))
    if isinstance(template, (Poison, Obj)):
        return template
    target = s.fresh(label(key), template)
    s.named.add(target)
    if entry is MISSING or key in s.deleted or (isinstance(entry, Leaf) and entry.name in s.partly):
        s.partly.add(target)
    return Leaf(target)


def next_carried(
    s: Specialiser,
    site: Any,
    entry: dict[Any, Value],
    head: dict[Any, Value],
    end: dict[Any, Value],
    carried: dict[Any, Value],
) -> dict[Any, Value]:
    """For each name that the body changes, the facts that hold at the head, in the shape of its value."""
    result: dict[Any, Value] = {}
    pending = [
        key for key in end if key in carried or key not in head or not (head[key] is end[key] or head[key] == end[key])
    ]
    envs = (entry, end, dict(end), site)
    while pending:
        key = pending.pop(0)
        if key in result:
            continue
        first, last = entry.get(key, MISSING), end.get(key, MISSING)
        result[key] = template(s, key, first, last, carried.get(key), envs, result)
    return result


def template(
    s: Specialiser, key: Any, first: Value, last: Value, before: Value | None, envs: Any, result: dict[Any, Value]
) -> Value:
    if isinstance(first, Poison) and first is not MISSING:
        return first
    if isinstance(last, Poison):
        return last
    parts = before.items if isinstance(before, (MaybeV, TupleV)) else ()

    def of_item(k: int, pair: tuple[Value, ...]) -> Value:
        return template(s, item(key, k), pair[0], pair[1], parts[k] if parts else None, envs, result)

    if (maybe := optional.met(s, (first, last), MISSING, of_item)) is not None:
        return maybe
    if isinstance(last, TupleV) and (
        first is MISSING
        or (isinstance(first, TupleV) and len(first.items) == len(last.items) and first.cls is last.cls)
    ):
        firsts = first.items if isinstance(first, TupleV) else (MISSING,) * len(last.items)
        befores = before.items if isinstance(before, TupleV) else (None,) * len(last.items)
        rows = enumerate(zip(firsts, last.items, befores))
        return TupleV(tuple(template(s, item(key, k), *row, envs, result) for k, row in rows), last.cls)
    if isinstance(last, Obj):
        return carried_object(s, key, first, last, envs, result)
    facts = [s.facts_of(v) for v in (first, last) if v is not MISSING]
    if len(facts) == 2:
        facts[1] = in_lengths_of(s, facts[0], facts[1])
    for value in (first, last):
        if value is not MISSING and not isinstance(value, (Leaf, TupleV, ListV)) and not is_plain(s, value):
            if first is MISSING or first is last:
                return Poison(f"{s.in_words(label(key))} is known only inside the loop")
            reason = f"{s.in_words(label(key))} stands for different things in different iterations of the loop"
            return several_things(s, reason, first, last)
    joined = facts[0]
    for other in facts[1:]:
        joined = join(joined, other)
    if isinstance(before, (Num, Listed, Mapped, Pair, Opaque)):
        joined = join(before, joined)
    return joined


def in_lengths_of(s: Specialiser, first: Facts, last: Facts) -> Facts:
    """The facts at the end of an iteration, in the lengths from before the loop where these have turned out equal."""
    if not isinstance(first, Num) or not isinstance(last, Num) or not first.dims or first.ndim != last.ndim:
        return last
    assert last.dims is not None
    return replace(last, dims=tuple(a if s.have_met([(a,), (b,)]) else b for a, b in zip(first.dims, last.dims)))


def is_plain(s: Specialiser, value: Value) -> bool:
    return isinstance(value, Const) and (isinstance(value.value, LITERALS) or isinstance(s.facts_of(value), Num))


def depth_of(id: Any) -> int:
    """How many objects that a loop carries are around one that is a field of another."""
    depth = 0
    while isinstance(id, tuple) and id[0] == "carried":
        id, depth = id[1][0], depth + 1
    return depth


def have_same_keys(s: Specialiser, a: Obj, b: Obj) -> bool:
    """True if two objects are not dicts or lists with different keys, which might grow with each iteration."""
    return a.cls not in (dict, list) or s.fields(a) == s.fields(b) or not with_other_keys(s, (a, b))


def carried_object(s: Specialiser, key: Any, first: Value, last: Obj, envs: Any, result: dict[Any, Value]) -> Value:
    """An object that the loop replaces by another of its class is carried field by field.

    Objects may change places: what is in one is read as the iteration left it, before any other takes its name.
    Each loop carries an object of its own: what an earlier one left may still have other names.
    """
    if isinstance(first, Obj) and first.id == last.id:
        return first
    if last.id in s.cursors or isinstance(first, Obj) and first.id in s.cursors:
        return SEVERAL
    entry, end, left, site = envs
    id = ("carried", key, site)
    if last.id == id or holds_itself(key, first, last, entry):
        return last
    for around in s.carrying:
        if around[:2] == (first, last):
            return Obj(around[2], last.cls)
    alike = first is MISSING or (isinstance(first, Obj) and first.cls is last.cls and have_same_keys(s, first, last))
    if last.id in s.objects or not alike or depth_of(id) > NESTED:
        reason = f"{s.in_words(label(key))} stands for different objects in different iterations of the loop"
        return several_things(s, reason, first, last)
    s.stands_for[id] = tuple(obj for obj in (first, last) if isinstance(obj, Obj))
    s.frozen |= {id, *(obj.id for obj in s.stands_for[id])}
    names = [k[1] for k in left if isinstance(k, tuple) and k[0] == last.id]
    if isinstance(first, Obj):
        for f in names:
            entry[(id, f)] = entry.get((first.id, f), MISSING)
    s.unsure |= {(id, f) for f in names for obj in (first, last) if isinstance(obj, Obj) and (obj.id, f) in s.unsure}
    s.carrying.append((first, last, id))
    for f in names:
        end[(id, f)] = left[(last.id, f)]
        result[(id, f)] = template(
            s, (id, f"{label(key)}_{f}"), entry.get((id, f), MISSING), end[(id, f)], None, envs, result
        )
    s.carrying.pop()
    return Obj(id, last.cls)


def holds_itself(key: Any, first: Value, last: Obj, entry: dict[Any, Value]) -> bool:
    """Whether a field is the carried object that has it, before the loop and after each iteration."""
    around = key[0] if isinstance(key, tuple) else None
    return around == last.id and last.id[0] == "carried" and first == entry.get(last.id[1], MISSING) is not MISSING


def finish_loop(
    s: Specialiser, node: ir.Loop, entry: dict[Any, Value], phis: dict[Any, Value], end: dict[Any, Value]
) -> None:
    after = dict(entry)
    for key, value in phis.items():
        after[key] = close(s, node, key, value, entry.get(key, MISSING), end.get(key, MISSING))
    s.env = after


def close(s: Specialiser, node: ir.Loop, key: Any, head: Value, first: Value, last: Value) -> Value:
    """The value after the loop, with the carries that bring it there."""
    if isinstance(head, TupleV):
        firsts = first.items if isinstance(first, TupleV) else (MISSING,) * len(head.items)
        return TupleV(tuple(close(s, node, key, h, f, l) for h, f, l in zip(head.items, firsts, last.items)), head.cls)
    if isinstance(head, MaybeV):
        pairs = [optional.items_of_either(v, len(head.items), MISSING) for v in (first, last)]
        return replace(head, items=tuple(close(s, node, key, *parts) for parts in zip(head.items, *pairs)))
    if not isinstance(head, Leaf):
        return head
    init = None if first is MISSING else entry_leaf(s, first, key)
    if last is MISSING:
        return Poison(MISSING.reason)
    next_leaf = as_leaf(s, last, node.body, label(key))
    out = s.fresh(label(key), outliving(s.facts[head.name], born(head.name) - 1))
    s.named.add(out)
    join_presence(s, out, [init, next_leaf.name if next_leaf else None])
    node.carries.append(ir.Carry(head.name, init, next_leaf.name if next_leaf else None, out))
    return Leaf(out)


def entry_leaf(s: Specialiser, value: Value, key: Any) -> str:
    """The variable that holds a name's value before the loop, assigned just before the loop where it was a constant."""
    if isinstance(value, Leaf):
        return value.name
    node = s.block.pop()
    leaf = as_leaf(s, value, s.block, label(key))
    s.block.append(node)
    if leaf is None:
        raise s.refuse(
            "different-kinds",
            f"{s.in_words(label(key))} cannot be carried through this loop",
            "give it one kind of value before the loop and in it",
        )
    return leaf.name
