"""Loops as one writes them: over items, in reverse over what was saved, as comprehensions.

A loop that reads items by its counter goes over them.

::

    for i in range(len(A)):                for row in A:
        row = A[i]                 ->          total = total + np.sum(row)
        total = total + np.sum(row)

    n = min(len(x), len(w))                for i, (v, k) in enumerate(zip(x, w)):
    for i in range(n):                         total = total + v * k * i
        v, k = x[i], w[i]          ->
        total = total + v * k * i

    for t in pairs:                        for a, b in pairs:
        a, b = t                   ->          ...
        ...

What is gone over is an array, or a list that the loop does not change in length: the compiler's own, or one that no
method is called on.  The items are read where an iteration begins, before anything else runs.  So it is in the forward
sweep; the reverse sweep goes back over lists that it reads by nothing else than the counter::

    for i in range(len(bodies) - 1, -1, -1):       for body in reversed(bodies):
        body = bodies[i]                   ->          ...

A loop that takes back what each step of another has saved goes over it from the end.

::

    for _ in range(n):                     for x in reversed(saved_x):
        x = saved_x.pop()            ->        d_x = d_x * np.cos(x)
        d_x = d_x * np.cos(x)

Each step of the one saves once, and each of the other takes once: they are as many.  What has been taken is kept until
the end, so that where the loop itself makes a list, it is left as it is.

A list that a loop only fills is a comprehension.

::

    items = []
    for v in x:                    ->      items = [np.sin(v) for v in x if v > 0]
        if v > 0:
            items.append(np.sin(v))

Where nobody reads the loop's variable after it: a comprehension keeps it to itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from ... import ir
from ...analysis.alias import reachable, roots_of
from ...analysis.effects import written_names
from ...analysis.liveness import count_uses
from ...domain.facts import UNKNOWN, Listed, Num
from ...ir.function import Function
from ...ir.patterns import is_method, is_pop_call
from ...ir.traversal import change_own, replaced_node
from ...text.expressions import COLUMNS, columns_of
from .assignments import blocks
from .conditions import loops


def recover_iteration(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the loops of both sweeps, in place."""
    go_over_items(s, front, back)
    if "reversed" not in s.globals:
        for loop in [x for x in (*ir.walk(front), *ir.adjoint_walk(back)) if isinstance(x, ir.Loop)]:
            if loop.kind == "range":
                go_back(s, loop)


def go_over_items(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the loops of the forward sweep, in place."""
    statements = ir.walk(front)
    loops = [x for x in statements if isinstance(x, ir.Loop) and x.kind == "range" and begins_at(x) is not None]
    if not loops:
        return
    uses: dict[str, int] = {}  # once they are asked for
    lists = {stmt.target: stmt.expr.func.value.id for stmt in statements if is_list_of(stmt)}
    counts = {x.target: x.expr for x in statements if isinstance(x, ir.Let) and lengths_of(x.expr)}
    for loop in loops:
        bound, start = loop.bounds[-1], begins_at(loop)
        lengths = lengths_of(counts.get(bound.id) if isinstance(bound, gast.Name) else bound)
        lengths = lengths or as_long(s, loop, getattr(bound, "value", None))
        found = items_of(s, loop, lengths, lists) if loop.index is not None else []
        if found and (len(lengths) == 1 or lengths == {lists.get(b, b) for b in map(base_of, found)}):
            uses = uses or count_uses([*front, *back])
            alone = uses.get(loop.index or "") == len(found)
            if not start or (alone and not writes_any(s, loop, found)):
                go_over(s, loop, found, alone)
                unpack_items(loop, uses)


def as_long(s: Function, loop: ir.Loop, length: Any) -> set[str]:
    """The arrays of a known length of which a loop reads items by its counter, and nothing else by it."""
    items = [stmt for stmt in loop.body if is_item(stmt, str(loop.index))]
    found = {base: s.facts.get(base) for base in map(base_of, items)}
    alone = [n for stmt in ir.walk(loop.body) for n in ir.uses(stmt)].count(str(loop.index)) == len(items)
    known = type(length) is int and all(isinstance(f, Num) and f.dims and f.dims[0] == length for f in found.values())
    return {*found} if alone and known else set()


def begins_at(loop: ir.Loop) -> int | None:
    """The first number of a loop that counts up by one, where that is known."""
    if len(loop.bounds) == 1:
        return 0
    first = getattr(loop.bounds[0], "value", None) if len(loop.bounds) == 2 else None
    return first if type(first) is int and first > 0 else None


def writes_any(s: Function, loop: ir.Loop, found: list[ir.Let]) -> bool:
    """True if a loop changes what it reads the items of: what is left of a list is a copy of it."""
    memory = {root for stmt in found for root in reachable(s, s.facts[base_of(stmt)])}
    changed = {n for stmt in ir.walk(loop.body) for n in written_names(stmt) if n in s.facts}
    return any(memory & reachable(s, s.facts[n]) for n in changed) or bool(changed & set(map(base_of, found)))


def go_over(s: Function, loop: ir.Loop, found: list[ir.Let], alone: bool) -> None:
    """Let a loop go over what its first statements read; `alone` if nothing else reads its counter."""
    sources = [x.expr.value for x in found]
    if begins_at(loop):
        sources = [ir.subscript(x, gast.Slice(loop.bounds[0], None, None)) for x in sources]
    over, items = sources[0], ir.name(found[0].target)
    called = set()
    if len(found) > 1:
        called.add("zip")
        over, items = ir.call("zip", *sources), ir.tuple_([ir.name(x.target) for x in found])
    if not alone:
        called.add("enumerate")
        over, items = ir.call("enumerate", over), ir.tuple_([ir.name(str(loop.index)), items])
    if called & set(s.globals):
        return  # a function of the user's has that name
    loop.kind, loop.bounds = "iter", (over,)
    if alone:
        loop.index = found[0].target
    loop.items = items if isinstance(items, gast.Tuple) else None
    loop.body[:] = [x for x in loop.body if x not in found]


def unpack_items(loop: ir.Loop, uses: dict[str, int]) -> None:
    """Let a loop unpack its items in its head, where that is all that is done with them."""
    first = loop.body[0] if loop.body and loop.kind == "iter" else None
    if not isinstance(first, ir.Let) or len(first.targets) < 2 or not isinstance(first.expr, gast.Name):
        return
    item, whole = first.expr.id, ir.name(str(loop.index)) if loop.items is None else loop.items
    if uses.get(item) == 1 and item in ir.names_in(whole):
        loop.items = ir.substitute(whole, {item: ir.tuple_([ir.name(n) for n in first.targets])})
        loop.index = first.targets[0] if loop.index == item else loop.index
        loop.body.remove(first)


def items_of(s: Function, loop: ir.Loop, lengths: set[str], lists: dict[str, str]) -> list[ir.Let]:
    """The statements at the beginning of a loop that read items by its counter, of what is as long as the loop."""
    found: list[ir.Let] = []
    own = ir.defined(loop.body) | {c.phi for c in loop.carries}
    for stmt in loop.body:
        if isinstance(stmt, ir.Effect) and stmt.kind == "save":
            continue
        if not is_item(stmt, str(loop.index)):
            break
        base = base_of(stmt)
        length = base if base in lengths else lists.get(base)
        if length not in lengths or base in own or not keeps_length(s, loop, base, length):
            break
        found.append(stmt)
    return found


def base_of(stmt: ir.Let) -> str:
    """The container of the item that a statement reads."""
    return str(stmt.expr.value.id)


def is_list_of(stmt: Any) -> bool:
    """True if a statement makes a list of the items of an array."""
    call: Any = stmt.expr if isinstance(stmt, ir.Let) else None
    return is_method(call, "tolist") and isinstance(call.func.value, gast.Name)


def is_item(stmt: Any, index: str | None) -> bool:
    """True if a statement reads the item that a counter stands at."""
    if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1:
        return False
    base = getattr(getattr(stmt.expr, "value", None), "id", None)
    return base is not None and is_read_of(stmt.expr, base, str(index))


def lengths_of(bound: Any) -> set[str]:
    """The variables of whose lengths an expression is the smallest."""
    called = getattr(bound.func, "id", "") if isinstance(bound, gast.Call) else ""
    if called == "len" and isinstance(bound.args[0], gast.Name):
        return {bound.args[0].id}
    parts = [lengths_of(arg) for arg in bound.args] if called == "min" else []
    return set().union(*parts) if all(parts) else set()


def keeps_length(s: Function, loop: ir.Loop, base: str, length: str) -> bool:
    """True if what a loop goes over has the same items in number at its end."""
    facts = s.facts.get(length)
    if isinstance(facts, Num):
        return facts.kind == "array" and (base != length or facts.dims != ())
    if not isinstance(facts, Listed) or base != length:
        return False
    changes = (x for x in ir.walk(loop.body) if isinstance(x, (ir.Effect, ir.Let)))
    return not any(x.effect if isinstance(x, ir.Let) else may_change(s, x, facts) for x in changes)


def may_change(s: Function, stmt: ir.Effect, facts: Listed) -> bool:
    """True if a statement may change the length of a list."""
    if stmt.kind != "append" or not isinstance(stmt.expr, gast.Call):
        return stmt.kind != "save"
    other = getattr(stmt.expr.func, "value", None)
    grown = s.facts.get(other.id) if isinstance(other, gast.Name) else None
    return not isinstance(grown, Listed) or bool(grown.roots & facts.roots)


# -- backwards


def go_back(s: Function, loop: ir.Loop) -> None:
    """Let a loop of the reverse sweep go over a list from its end, where it reads that by its counter only."""
    counted, facts = counted_back(loop), s.facts.get(counted_back(loop))
    inside = ir.walk(loop.body)
    if not isinstance(facts, Listed) or loop.index is None or loop.rerun is not None:
        return
    nodes = (node for stmt in inside for expr in ir.expressions(stmt) for node in ir.nodes_in(expr))
    found = [node for node in nodes if is_read_of(node, counted, loop.index)]
    used = [name for stmt in inside for name in ir.uses(stmt)]
    changed = {n for stmt in inside for n in written_names(stmt)}
    if not found or used.count(loop.index) != len(found) or any(facts.roots & roots_of(s.facts[n]) for n in changed):
        return
    named = next((stmt for stmt in loop.body if is_item(stmt, loop.index)), None)
    item = named.target if named is not None else s.fresh("item", s.elements_of(facts) or UNKNOWN)
    for stmt in inside:
        change_own(stmt, lambda expr: replaced_node(expr, found[0], ir.name(item)))
    loop.body[:] = [stmt for stmt in loop.body if stmt is not named]
    loop.kind, loop.bounds, loop.index = "iter", (ir.call("reversed", ir.name(counted)),), item


def is_read_of(node: Any, base: str, index: str) -> bool:
    item = isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and isinstance(node.slice, gast.Name)
    return item and (node.value.id, node.slice.id) == (base, index)


def counted_back(loop: ir.Loop) -> str:
    """The list of which a loop counts the items from the last one to the first."""
    if len(loop.bounds) != 3 or [gast.dump(bound) for bound in loop.bounds[1:]] != [gast.dump(ir.constant(-1))] * 2:
        return ""
    start = loop.bounds[0]
    if not isinstance(start, gast.BinOp) or not isinstance(start.op, gast.Sub) or getattr(start.right, "value", 0) != 1:
        return ""
    lengths = lengths_of(start.left) if isinstance(start.left, gast.Call) else set()
    return lengths.pop() if len(lengths) == 1 else ""


LOOPS = (gast.For, gast.While)


def recover_reversed(body: list[Any], tail: list[Any]) -> None:
    """Rewrite the loops of the reverse sweep of an emitted function, in place."""
    for loop in outermost(tail):
        taken = next((stmt for stmt in loop.body if is_taking(stmt)), None)
        if taken is not None and counts_only(loop) and not is_method_called("append", loop.body):
            name = taken.value.func.value.id
            if is_new_before(loop, taken) and is_saved_once(body, loop, name) and is_alone(body, tail, loop, name):
                loop.target, loop.iter = taken.targets[0], ir.call("reversed", ir.name(name))
                loop.body.remove(taken)
                if getattr(taken, "comment", None):
                    loop.comment = "\n".join(filter(None, [getattr(loop, "comment", None), taken.comment]))


def outermost(block: list[Any]) -> Iterator[Any]:
    """The loops of a block that are inside no other."""
    for stmt in block:
        if isinstance(stmt, LOOPS):
            yield stmt
        else:
            for inner in blocks(stmt):
                yield from outermost(inner)


def counts_only(loop: Any) -> bool:
    """True if a loop makes a number of steps, none of which asks which it is."""
    return isinstance(loop, gast.For) and getattr(loop.target, "id", "") == "_" and len(loop.body) > 1


def is_taking(stmt: Any) -> bool:
    """True if a statement gives names to what it takes from the end of a list."""
    if not isinstance(stmt, gast.Assign) or not is_pop_call(stmt.value) or stmt.value.args:
        return False
    parts = getattr(stmt.targets[0], "elts", stmt.targets[:1])
    return isinstance(stmt.value.func.value, gast.Name) and all(isinstance(part, gast.Name) for part in parts)


def is_method_called(name: str, block: list[Any]) -> bool:
    return any(is_method(node, name) for node in ir.nodes(block))


def is_new_before(loop: Any, taken: Any) -> bool:
    """True if no statement of a step has the names that another gives before that."""
    given = {n.id for n in ir.nodes(taken.targets) if isinstance(n, gast.Name)}
    return given.isdisjoint(ir.names_in(loop.body[: loop.body.index(taken)]))


def is_saved_once(body: list[Any], loop: Any, name: str) -> bool:
    """True if a loop of the forward sweep saves once in each step, and makes as many steps as another."""
    every = gast.dump(loop.iter) == gast.dump(ir.call("range", ir.call("len", ir.name(name))))
    for each in outermost(body):
        if any(is_saving(stmt, name) for stmt in each.body):
            return every or (isinstance(each, gast.For) and not leaves(each))
    return False


def is_saving(stmt: Any, name: str) -> bool:
    call: Any = stmt.value if isinstance(stmt, gast.Expr) else None
    return is_method(call, "append") and getattr(call.func.value, "id", None) == name


def leaves(loop: Any) -> bool:
    """True if a loop may be left, or a step ended, before all is done."""
    inner = {id(node) for _, other in loops(loop.body) for node in ir.nodes(other.body)}
    ends = [n for n in ir.nodes(loop.body) if isinstance(n, (gast.Break, gast.Continue)) and id(n) not in inner]
    return bool(ends)


def is_alone(body: list[Any], tail: list[Any], loop: Any, name: str) -> bool:
    """True if a list is made empty, and then only added to once, taken from once, and counted for the loop."""
    begins = [stmt for stmt in body if isinstance(stmt, gast.Assign) and name in ir.names_in(stmt.targets)]
    if len(begins) != 1 or not is_empty(begins[0], name):
        return False
    counted = ir.names_in(loop.iter).count(name)
    return ir.names_in([*body, *tail]).count(name) == 3 + counted


def is_empty(stmt: Any, name: str) -> bool:
    """True if a statement makes a list without items."""
    target, value = stmt.targets[0], stmt.value
    if isinstance(target, gast.Tuple):
        places = [k for k, part in enumerate(target.elts) if getattr(part, "id", None) == name]
        value = value.elts[places[0]] if isinstance(value, gast.Tuple) and places else None
    return isinstance(value, gast.List) and not value.elts


WIDE = COLUMNS + 16  # columns of a comprehension, which takes the place of several lines


def recover_comprehensions(*bodies: list[Any]) -> None:
    """Rewrite the loops in the blocks that make the body of an emitted function, in place."""
    if not any(is_filling(loop) for body in bodies for _, loop in loops(body)):
        return
    reads = loads([*bodies])
    private = Counter[str]()  # reads of a name inside loops that assign it
    for _, loop in [each for body in bodies for each in loops(body)]:
        if isinstance(loop, gast.For):
            read = loads(loop.body)
            for name in targets_of(loop):
                private[name] += read[name]
    own = {name for name, count in private.items() if count == reads[name]}
    for place, body in enumerate(bodies):
        in_block(body, own, 1, [x for later in bodies[place + 1 :] for x in later])


def is_filling(loop: Any) -> bool:
    """True if a loop does nothing but add to a list, as far as its shape tells."""
    inner = loop.body
    while len(inner) == 1 and isinstance(inner[0], gast.If):
        inner = inner[0].body
    return isinstance(loop, gast.For) and len(inner) == 1 and isinstance(inner[0], gast.Expr)


def loads(tree: Any) -> Counter[str]:
    """The number of reads of each name."""
    return Counter(n.id for n in ir.nodes(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Store))


def in_block(block: list[Any], own: set[str], indent: int, after: list[Any]) -> None:
    """Rewrite a block, at whose end the function goes on with `after`, if that is known."""
    for stmt in list(block):
        for inner in blocks(stmt):
            in_block(inner, own, indent + 1, [])
        if not isinstance(stmt, gast.For) or (made := filled(stmt, WIDE - 4 * indent)) is None:
            continue
        place = block.index(stmt)
        begin = beginning(block[:place], made.targets[0].id)
        rest = [*block[place + 1 :], *after]
        unread = all(n in own or (after and not is_read(n, rest)) for n in targets_of(stmt))
        if begin is not None and unread:
            made.read_once, made.temporary = getattr(begin, "reads", 0) == 2, getattr(begin, "temporary", False)
            made.effect = False
            block[place] = made
            block.remove(begin)


def targets_of(loop: Any) -> list[str]:
    """The names that a loop assigns in each iteration."""
    return [n.id for n in ir.nodes(loop.target) if isinstance(n, gast.Name)]


def is_read(name: str, block: list[Any]) -> bool:
    """True if statements may read the value that a name has before them."""
    for stmt in block:
        inner = [*blocks(stmt)]
        if name in loads([getattr(stmt, part, None) for part in ("iter", "test")] if inner else stmt):
            return True
        if inner and not is_assigned(name, stmt) and any(is_read(name, x) for x in inner):
            return True
        if not inner and is_assigned(name, stmt):
            return False
    return False


def is_assigned(name: str, stmt: Any) -> bool:
    """True if a statement gives a name a value: a loop, at the start of its body."""
    targets = [stmt.target] if isinstance(stmt, gast.For) else getattr(stmt, "targets", [])
    return any(isinstance(n, gast.Name) and n.id == name for n in ir.nodes([*targets]))


def filled(loop: Any, columns: int) -> Any:
    """The comprehension that a loop comes to, assigned to its list, or nothing."""
    inner, tests = loop.body, []
    if len(inner) == 1 and isinstance(inner[0], gast.If) and not inner[0].orelse:
        tests, inner = [inner[0].test], inner[0].body
    call = inner[0].value if len(inner) == 1 and isinstance(inner[0], gast.Expr) else None
    if not isinstance(call, gast.Call):
        return None
    if not isinstance(call.func, gast.Attribute) or call.func.attr != "append":
        return None
    made, item = call.func.value, call.args[0]
    if not isinstance(made, gast.Name) or made.id in ir.names_in([item, loop.iter, *tests]):
        return None
    width = sum(columns_of(x) for x in (item, loop.target, loop.iter)) + sum(columns_of(x) + 4 for x in tests)
    if len(made.id) + 14 + width > columns:
        return None
    every: Any = gast.ListComp(item, [gast.comprehension(loop.target, loop.iter, tests, 0)])
    if not tests and isinstance(item, gast.Name) and item.id == getattr(loop.target, "id", None):
        every = ir.call("list", loop.iter)
    result = gast.Assign([gast.Name(made.id, gast.Store(), None, None)], every, None)
    for attribute in ("origin", "comment", "sweep"):
        if hasattr(inner[0], attribute):
            setattr(result, attribute, getattr(inner[0], attribute))
    return result


def beginning(before: list[Any], name: str) -> Any:
    """The statement that makes a list, before anybody else sees it."""
    for stmt in reversed(before):
        names = [n.id for n in ir.nodes(stmt) if isinstance(n, gast.Name)]
        if name in names:
            is_new = isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.List) and not stmt.value.elts
            return stmt if is_new and names == [name] else None
    return None
