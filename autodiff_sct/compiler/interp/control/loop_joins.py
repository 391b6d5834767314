"""Loops: the variables that they carry, found by going over the body until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ... import ir
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair, join
from ...domain.values import Const, Leaf, ListV, MaybeV, Obj, Poison, TupleV, Value
from ...ir.dims import born, outliving
from ..containers.sources import refuse_resizing
from ..kernel import operations
from ..kernel.operations import defines
from ..kernel.program_values import LITERALS
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import run_block
from ..objects import optional
from ..objects.tables import several_things, with_other_keys
from ..world.partial_keys import join_presence, note_presence
from .joins import MISSING, NESTED, ROUNDS, SEVERAL, as_leaf, check_presence, complete, forget, item, label


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
            s.indices[s.loops] = node.index
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
    """The facts at the head of the loop for each name that the body changes, in the shape of its value."""
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
            return before_and_in_loop(s, reason, first, last, envs)
    joined = facts[0]
    for other in facts[1:]:
        joined = join(joined, other)
    if isinstance(before, (Num, Listed, Mapped, Pair, Opaque)):
        joined = join(before, joined)
    is_lost = isinstance(joined, Opaque) and first == Const(None) and not isinstance(facts[-1], Opaque)
    if is_lost and ("peel", envs[-1]) not in s.dynamic:
        reason = f"{s.in_words(label(key))} is None before the loop"
        return before_and_in_loop(s, reason, first, last, envs)
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
    """The number of objects that a loop carries around one that is a field of another."""
    depth = 0
    while isinstance(id, tuple) and id[0] == "carried":
        id, depth = id[1][0], depth + 1
    return depth


def have_same_keys(s: Specialiser, a: Obj, b: Obj) -> bool:
    """True if two objects are not dicts or lists with different keys, which might grow with each iteration."""
    return a.cls not in (dict, list) or s.fields(a) == s.fields(b) or not with_other_keys(s, (a, b))


def before_and_in_loop(s: Specialiser, reason: str, first: Value, last: Value, envs: Any) -> Poison:
    """A name that stands for one thing before a loop and for another one in it: where the first iteration is peeled."""
    found = several_things(s, reason, first, last)
    return found if found.containers else replace(found, containers=(("peel", envs[-1]),))


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
    if first is MISSING and last in entry.values():
        return several_things(s, f"{s.in_words(label(key))} is known only inside the loop", last)
    id = ("carried", key, site)
    if last.id == id or holds_itself(key, first, last, entry):
        return last
    for around in s.carrying:
        if around[:2] == (first, last):
            return Obj(around[2], last.cls)
    alike = first is MISSING or (isinstance(first, Obj) and first.cls is last.cls and have_same_keys(s, first, last))
    if last.id in s.objects or not alike or depth_of(id) > NESTED:
        reason = f"{s.in_words(label(key))} stands for different objects in different iterations of the loop"
        return before_and_in_loop(s, reason, first, last, envs)
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
    """True if a field is the carried object that has it, before the loop and after each iteration."""
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
