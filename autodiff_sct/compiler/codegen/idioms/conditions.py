"""Branches and exits as one writes them: shared heads merged, choices as expressions, breaks where they are decided.

Branches as one writes them: shared heads and tests are merged, and choices are expressions.

::

    if took_path == 0:                        d_x = np.zeros_like(x)
        d_x = np.zeros_like(x)                if took_path != 0:
    else:                            ->           d_x[0] = d_best
        d_x = np.zeros_like(x)
        d_x[0] = d_best

    if condition:                             if condition and condition2:
        if condition2:               ->           d_x[0] += d_t
            d_x[0] += d_t

    if condition.pop():                       if condition.pop() or condition2.pop():
        d_v = d_best                              d_v = d_best
    elif condition2.pop():           ->       else:
        d_v = d_best                              d_v = 0.0
    else:
        d_v = 0.0

In the reverse sweep; of the forward sweep, which is the user's, only what both sides of a branch save is taken out.

A branch that only chooses a value is a conditional expression.

::

    if saved.pop() > 0.5:
        d_v = d_total * 2.0        ->      d_v = d_total * 2.0 if saved.pop() > 0.5 else 0.0
    else:
        d_v = 0.0

Where the branches stand for two lines of the user's they stay: each has its own line above it. So does what follows
an ``elif``.

A loop is left where that is decided.

::

    stop = False                           while True:
    while True:                                if x > 3.0:
        if x > 3.0:                                break
            stop = True                ->      x = 2 * x
        else:
            x = 2 * x
        if stop:
            break

The flag is false when a body begins, and is set at the end of branches that end the body: nothing is left to do but the
count of bodies, which may as well be the first thing in them, after the test of the loop. In a ``try`` an exception may
leave between the two, so loops there stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gast

from ... import ir
from ...analysis.effects import fact
from ...domain.facts import Num
from ...frontend.builders import negated
from ...ir.function import Function, Role
from ...ir.patterns import is_method
from ...text.expressions import COLUMNS, columns_of
from ..emit import line_of
from .assignments import blocks

ZEROS = ("zeros_like", "empty_like")


def merge_branch_heads(block: list[Any], forward: bool, indent: int = 1) -> None:
    """Rewrite a block of the emitted function and the blocks inside it, in place."""
    for stmt in list(block):
        branches = list(chain_of(stmt))
        for inner in paths(stmt) if branches else blocks(stmt):
            merge_branch_heads(inner, forward, indent + 1)
        for branch in branches if not forward else ():
            join_tests(branch, COLUMNS - 4 * indent)
        if branches:
            place = block.index(stmt)
            block[place:place] = taken_ahead(stmt, forward)


def chain_of(stmt: Any) -> Iterator[Any]:
    """A branch and those that are its ``elif``, the last one first."""
    if isinstance(stmt, gast.If):
        if len(stmt.orelse) == 1:
            yield from chain_of(stmt.orelse[0])
        yield stmt


# -- tests


def join_tests(stmt: Any, columns: int) -> None:
    """Ask two tests at once where that says the same."""
    inner = stmt.body[0]
    if not stmt.orelse and len(stmt.body) == 1 and is_plain(inner) and not inner.orelse:
        join(stmt, gast.And, inner, inner.body, [], columns)
    following = stmt.orelse[0] if len(stmt.orelse) == 1 else None
    if following is not None and is_plain(following) and is_same(stmt.body, following.body):
        join(stmt, gast.Or, following, stmt.body, following.orelse, columns)


def is_plain(stmt: Any) -> bool:
    """True if a statement is a branch of which nothing else is said."""
    return isinstance(stmt, gast.If) and not getattr(stmt, "comment", None)


def is_same(first: Any, second: Any) -> bool:
    return [gast.dump(x) for x in first] == [gast.dump(x) for x in second]


def join(stmt: Any, op: Any, other: Any, body: list[Any], orelse: list[Any], columns: int) -> None:
    """Let a branch ask what another asks, too."""
    tests = [part for test in (stmt.test, other.test) for part in (test.values if is_of(test, op) else [test])]
    test = gast.BoolOp(op(), tests)
    if columns_of(test) <= columns:
        stmt.test, stmt.body, stmt.orelse = test, body, orelse


def is_of(test: Any, op: Any) -> bool:
    return isinstance(test, gast.BoolOp) and isinstance(test.op, op)


# -- statements


def taken_ahead(stmt: Any, forward: bool) -> list[Any]:
    """The common head of all paths through a branch, taken out of it."""
    found: list[Any] = []
    while shared := shared_by(stmt, forward):
        for path, each in zip(paths(stmt), shared, strict=True):
            path.remove(each)
        found.append(shared[0])
        if not stmt.body:
            stmt.test, stmt.body, stmt.orelse = opposite(stmt.test), stmt.orelse, []
    return found


def paths(stmt: Any) -> list[list[Any]]:
    """The blocks of a branch and of those that are its ``elif``; the last one is empty where there is no ``else``."""
    last = stmt.orelse
    if len(last) == 1 and isinstance(last[0], gast.If):
        return [stmt.body, *paths(last[0])]
    return [stmt.body, last]


def shared_by(stmt: Any, forward: bool) -> list[Any]:
    """A statement of each path, all of them the same, that may be done before the branch asks anything."""
    every, tests = paths(stmt), [each.test for each in chain_of(stmt)]
    asked = set(ir.names_in(tests))
    simple = not any(isinstance(node, (gast.Call, gast.Subscript, gast.Attribute)) for node in ir.nodes(tests))
    for candidate in every[0]:
        name = name_of(candidate, forward)
        if name is None or name in asked or not (simple or isinstance(candidate, gast.Assign)):
            continue
        same = [next((x for x in path if gast.dump(x) == gast.dump(candidate)), None) for path in every]
        if all(x is not None and may_lead(x, path) for x, path in zip(same, every, strict=True)) and reads_well(every):
            return same
    return []


def name_of(stmt: Any, forward: bool) -> str | None:
    """The name that a statement gives a value, or whose list it adds to, if it does no more than that."""
    call: Any = stmt.value if isinstance(stmt, gast.Expr) else None
    if is_method(call, "append") and isinstance(call.func.value, gast.Name) and isinstance(call.args[0], gast.Name):
        return str(call.func.value.id) if getattr(call.func.value, "role", None) is Role.SAVED else None
    if forward or not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return None
    return str(stmt.targets[0].id) if is_zero(stmt.value) else None


def is_zero(value: Any) -> bool:
    """True if a value is a number, or made of the shape of an array."""
    if isinstance(value, gast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return name in ZEROS and not value.keywords and [type(arg) for arg in value.args] == [gast.Name]
    return isinstance(value, gast.Constant)


def may_lead(stmt: Any, path: list[Any]) -> bool:
    """True if a statement may as well be the first of a block."""
    before = path[: path.index(stmt)]
    given = {*ir.names_in(stmt)}
    if isinstance(stmt, gast.Expr):
        return not before
    target = stmt.targets[0].id
    if isinstance(stmt.value, gast.Constant) and target in ir.names_in(path[len(before) + 1 :]):
        return False
    stored = {n.id for n in ir.nodes(before) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    return target not in ir.names_in(before) and not given & stored


def reads_well(every: Sequence[list[Any]]) -> bool:
    """True if a branch still has something in it on each path but one, which goes."""
    short = [k for k, path in enumerate(every) if len(path) <= 1]
    return not short or short == [len(every) - 1] or (short == [0] and len(every) == 2)


def opposite(test: Any) -> Any:
    """The test that is true where another is not."""
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], gast.Constant):
        other = (ALWAYS | EQUAL).get(type(test.ops[0]))
        if other is not None:
            return gast.Compare(test.left, [other()], test.comparators)
    return negated(test)


def recover_conditionals(body: list[Any], indent: int = 1) -> None:
    """Rewrite the branches in the body of an emitted function, in place."""
    for place, stmt in enumerate(body):
        chain = isinstance(stmt, gast.If) and len(stmt.orelse) == 1 and isinstance(stmt.orelse[0], gast.If)
        for inner in blocks(stmt):
            if not (chain and inner is stmt.orelse):
                recover_conditionals(inner, indent + 1)
        if isinstance(stmt, gast.If) and not chain and (chosen := choice(stmt, COLUMNS - 4 * indent)):
            body[place] = chosen


def choice(stmt: Any, columns: int) -> Any:
    """The one assignment that a branch comes to, or nothing."""
    then, orelse = assigned(stmt.body), assigned(stmt.orelse)
    if then is None or orelse is None or then.targets[0].id != orelse.targets[0].id:
        return None
    target, origins = then.targets[0], {line_of(x) for x in (then, orelse)} - {None}
    width = len(target.id) + 14 + sum(columns_of(x) for x in (then.value, stmt.test, orelse.value))
    if len(origins) > 1 or width > columns:
        return None
    result = gast.Assign([target], gast.IfExp(stmt.test, then.value, orelse.value), None)
    comments = [x.comment for x in (stmt, then, orelse) if getattr(x, "comment", None)]
    if comments:
        result.comment = "\n".join(dict.fromkeys(comments))
    result.origin = getattr(then if line_of(then) else orelse, "origin", None) or getattr(stmt, "origin", None)
    result.forward = getattr(stmt, "forward", False)
    if hasattr(stmt, "sweep"):
        result.sweep = stmt.sweep
    if getattr(stmt, "chosen", None) == target.id:
        result.read_once, result.temporary, result.effect = True, True, False
    return result


def assigned(block: list[Any]) -> Any:
    """The assignment to a name that a block consists of; flags are set where they are decided."""
    if len(block) != 1 or not isinstance(block[0], gast.Assign) or not isinstance(block[0].targets[0], gast.Name):
        return None
    value = block[0].value
    is_flag = isinstance(value, gast.Constant) and isinstance(value.value, bool)
    return None if is_flag or isinstance(value, gast.IfExp) else block[0]


EQUAL = {gast.Eq: gast.NotEq, gast.NotEq: gast.Eq}
ALWAYS = {gast.In: gast.NotIn, gast.Is: gast.IsNot, gast.NotIn: gast.In, gast.IsNot: gast.Is}
ORDERED = {gast.Lt: gast.GtE, gast.LtE: gast.Gt, gast.Gt: gast.LtE, gast.GtE: gast.Lt}
TURNED = {gast.Lt: gast.Gt, gast.LtE: gast.GtE, gast.Gt: gast.Lt, gast.GtE: gast.LtE}  # the sides change places


def negate_tests(s: Function, block: ir.Block) -> None:
    """The opposite of a test is written as the opposite comparison, where that is the same for all values.

    ::

        if not i == j:                         if i != j:
            ...                        ->          ...

        if not n < 2:                          if n >= 2:
            ...                        ->          ...

    Integers have no NaN, which is neither less than a number nor not less: of floats, only equality has an opposite.

    Rewrite the branches of a block, in place.
    """
    for stmt in ir.walk(block):
        if not isinstance(stmt, ir.If):
            continue
        if isinstance(stmt.test, gast.UnaryOp) and isinstance(stmt.test.op, gast.Not):
            stmt.test = opposite_test(s, stmt.test.operand) or stmt.test
        elif not stmt.then and stmt.orelse and not stmt.merges and (found := opposite_test(s, stmt.test)) is not None:
            stmt.test, stmt.then, stmt.orelse = found, stmt.orelse, []


def opposite_test(s: Function, test: Any) -> Any | None:
    """The comparison that holds where another does not, if there is one."""
    if not isinstance(test, gast.Compare) or len(test.ops) != 1:
        return None
    kind, sides = type(test.ops[0]), [fact(s, test.left), fact(s, test.comparators[0])]
    numbers = all(isinstance(f, Num) and f.dims == () and f.kind not in (None, "array") for f in sides)
    whole = numbers and all(f.dtype is not None and f.dtype.kind in "iub" and not f.whole for f in sides)
    known = ALWAYS | (EQUAL if numbers else {}) | (ORDERED if whole else {})
    if kind not in known:
        return None
    found = known[kind]
    if isinstance(test.left, gast.Constant) and found in TURNED:
        return gast.Compare(test.comparators[0], [TURNED[found]()], [test.left])
    return gast.Compare(test.left, [found()], test.comparators)


def recover_breaks(*bodies: list[Any]) -> None:
    """Rewrite the loops in the blocks that make the body of an emitted function, in place."""
    found = [(block, loop) for body in bodies for block, loop in loops(body) if flag_of(loop.body)]
    if not found:
        return
    counts = Occurrences([*bodies])
    for block, loop in found:
        flag = flag_of(loop.body)
        begin = None if flag is None else beginning(block[: block.index(loop)], flag)
        if begin is not None and flag is not None and in_loop(loop, flag, counts) and flag not in counts.read:
            block.remove(begin)


def loops(block: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """The loops in a block and inside it, each with the block that it stands in, the inner ones first."""
    for stmt in block:
        for inner in blocks(stmt):
            yield from loops(inner)
        if isinstance(stmt, (gast.For, gast.While)):
            yield block, stmt


class Occurrences:
    """The reads and assignments of each name of a function, counted."""

    def __init__(self, bodies: list[list[Any]]) -> None:
        self.read: dict[str, int] = {}
        self.assigned: dict[str, int] = {}
        for node in ir.nodes(bodies):
            if isinstance(node, gast.Name):
                table = self.assigned if isinstance(node.ctx, gast.Store) else self.read
                table[node.id] = table.get(node.id, 0) + 1


def flag_of(body: list[Any]) -> str | None:
    """The name that is tested at the end of a body to leave the loop."""
    last = body[-1]
    if not isinstance(last, gast.If) or last.orelse or not isinstance(last.test, gast.Name):
        return None
    return last.test.id if len(last.body) == 1 and isinstance(last.body[0], gast.Break) else None


def beginning(before: list[Any], flag: str) -> Any:
    """The statement that sets a flag to false for a loop, which nothing else sets in between."""
    for stmt in reversed(before):
        if is_set(stmt, flag, False):
            return stmt
        if flag in names_of(stmt):
            return None
    return None


def is_set(stmt: Any, flag: str, value: bool) -> bool:
    """True if a statement gives a flag a value."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name) or stmt.targets[0].id != flag:
        return False
    return isinstance(stmt.value, gast.Constant) and stmt.value.value is value


def in_loop(loop: Any, flag: str, counts: Occurrences) -> bool:
    """Rewrite the body of a loop, if all that sets its flag ends the body."""
    body = loop.body[:-1]
    count = body.pop() if body and getattr(body[-1], "is_trip", False) else None
    if count is not None and count.target.id in names_of(body):
        return False
    ends: list[tuple[list[Any], Any]] = []
    if not find_ends(body, flag, ends) or any(flag in names_of(x) for x in body if x is not body[-1]):
        return False
    counts.read[flag] -= 1
    if not counts.read[flag] and counts.assigned[flag] == len(ends) + 1:
        del counts.read[flag]
    for block, setting in ends:
        if flag not in counts.read:
            block.remove(setting)
        if setting.value.value is True:
            block.append(gast.Break())
    first = 1 + max((k for k, stmt in enumerate(body) if getattr(stmt, "is_test", False)), default=-1)
    loop.body = [*body[:first], *([] if count is None else [count]), *flat(body[first:])]
    return True


def find_ends(block: list[Any], flag: str, ends: list[tuple[list[Any], Any]]) -> bool:
    """Find where a flag is set, at the ends of a block; whether nothing else is done with it."""
    if not block:
        return True
    for stmt in block:
        if is_set(stmt, flag, True) or is_set(stmt, flag, False):
            ends.append((block, stmt))
            after = block[block.index(stmt) + 1 :]
            return not any(flag in names_of(x) for x in block if x is not stmt) and not any([*blocks(x)] for x in after)
    last = block[-1]
    if not isinstance(last, gast.If):
        return flag not in names_of(block)
    before = flag in names_of(block[:-1]) or flag in names_of(last.test)
    return not before and find_ends(last.body, flag, ends) and find_ends(last.orelse, flag, ends)


def flat(block: list[Any]) -> list[Any]:
    """A block in which nothing is nested below a branch that leaves."""
    if not block or not isinstance(block[-1], gast.If):
        return block
    *before, last = block
    last.body, last.orelse = flat(last.body), flat(last.orelse)
    if leaves(last.body):
        rest, last.orelse = last.orelse, []
    elif leaves(last.orelse):
        rest, last.test = last.body, negated(last.test)
        last.body, last.orelse = last.orelse, []
    else:
        last.body = last.body or [gast.Pass()]
        return block
    return [*before, last, *rest]


def leaves(block: list[Any]) -> bool:
    return bool(block) and isinstance(block[-1], gast.Break)


def names_of(tree: Any) -> set[str]:
    """The names that statements read or assign."""
    trees = tree if isinstance(tree, list) else [tree]
    return {node.id for each in trees for node in ir.nodes(each) if isinstance(node, gast.Name)}
