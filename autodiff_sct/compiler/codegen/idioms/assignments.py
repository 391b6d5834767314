"""Tuple and chained assignments: small assignments that belong together stand on one line.

::

    d_x = d_out * y
    d_y = d_out * x                ->    d_x, d_y = d_out * y, d_out * x

    d_t = d_u[0]
    d_u[0] = 0.0                   ->    d_t, d_u[0] = d_u[0], 0.0

    d_a = 0.0
    d_b = 0.0                      ->    d_a = d_b = 0.0

    d_x[1] = d_out * x[0]
    d_x[0] = d_out * x[1]          ->    d_x[1], d_x[0] = d_out * x[0], d_out * x[1]

They follow each other, stand for one line of the user's, and neither reads what the other assigns: the order of
evaluation stays, and so does every value. A name that is read and assigned in one row would keep the memory of its old
value for longer, but that of an argument of which a copy is made is kept anyway. In a ``try`` a handler may see which
names are assigned: there nothing is changed.

A value that is given to several places is written once.

::

    t = 0.1 * x
    saved_t[k] = t                 ->      t = saved_t[k] = 0.1 * x

    captured["best"] = v
    best = v                       ->      captured["best"] = best = v

    d_y = np.zeros_like(y)
    t = 2.0 * x[1]
    d_z = d_y                      ->      d_y = d_z = np.zeros_like(y)

Of one line of the user's, where an item is among the places: what only gets names stands side by side. The value is
computed first, and the places get it from left to right, as before.  A name that only the next places read is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import gast

from ... import ir
from ...ir.function import COTANGENTS
from ...ir.patterns import is_method
from ...text.expressions import COLUMNS, columns_of
from ..emit import ROW, line_of

PARTS = 4  # parts of something that are named on a line, or beginnings
OPERATIONS = 4  # in each value
STARTS = ("zeros_like", "zeros", "empty_like", "full_like", "ones_like")


def join_assignments(body: list[Any], indent: int = 1) -> list[Any]:
    """The statements of a body of an emitted function, with rows for single assignments."""
    result: list[Any] = []
    row: list[Any] = []
    for stmt in body:
        single, columns = is_single(stmt), COLUMNS - 4 * indent
        if row and not single and is_taken(row, stmt, columns):
            row.append(stmt)
            continue
        if row and not (single and joins(row, stmt, columns)):
            result.append(joined(row))
            row = []
        if single:
            row.append(stmt)
            continue
        result.append(stmt)
        for inner in blocks(stmt):
            inner[:] = join_assignments(inner, indent + 1)
    return [*result, joined(row)] if row else result


def blocks(stmt: Any) -> Iterator[list[Any]]:
    """The blocks of a loop or a branch."""
    if isinstance(stmt, (gast.For, gast.While, gast.If)):
        yield stmt.body
        yield stmt.orelse


def is_single(stmt: Any) -> bool:
    """True if a statement assigns to one name."""
    return isinstance(stmt, gast.Assign) and len(stmt.targets) == 1 and type(stmt.targets[0]) is gast.Name


def joins(row: list[Any], stmt: Any, columns: int) -> bool:
    """True if a statement may stand in a row."""
    if len(row) == PARTS or getattr(stmt, "comment", None) or not is_single(row[-1]):
        return False
    first, every = row[0], [*row, stmt]
    lines = {line_of(first), line_of(stmt)}
    if len(lines) > 1 and None not in lines:
        return False
    shared = set.intersection(*(kinds(each.value) for each in every))
    if not shared or (len(lines) > 1 and not shared & {"start", "list"}):
        return False
    if len(row) >= ROW and ("value" in shared or any(is_computed(each.value) for each in every)):
        return False
    width = sum(len(each.targets[0].id) + columns_of(each.value) + 4 for each in every) - 1
    if width > columns or any(operations(each.value) > OPERATIONS for each in every):
        return False
    targets = {each.targets[0].id for each in every}
    return len(targets) == len(every) and not any(targets & read_in(each) for each in every)


def read_in(stmt: Any) -> set[str]:
    """The names that an assignment reads, but for one of which it makes a copy or a list under its own name."""
    copied = (is_method(stmt.value, "copy") or is_method(stmt.value, "tolist")) and not stmt.value.args
    own = stmt.targets[0].id if copied and isinstance(stmt.value.func.value, gast.Name) else None
    return set(ir.names_in(stmt.value)) - {own}


def is_taken(row: list[Any], stmt: Any, columns: int) -> bool:
    """True if a statement puts zero, or another value, where one or two of a row have just read."""
    if len(row) > 2 or not all(map(is_single, row)) or not isinstance(stmt, gast.Assign) or len(stmt.targets) > 1:
        return False
    if not isinstance(stmt.targets[0], gast.Subscript):
        return False
    place, value = stmt.targets[0], stmt.value
    base, names = place.value, {each.targets[0].id for each in row}
    put = isinstance(value, gast.Name) and value.id not in names and all(is_place(each.value) for each in row)
    if not (put or (isinstance(value, gast.Constant) and value.value == 0)) or getattr(stmt, "comment", None):
        return False
    if not isinstance(base, gast.Name) or line_of(row[0]) != line_of(stmt) or names & {*ir.names_in(place)}:
        return False
    width = sum(len(each.targets[0].id) + columns_of(each.value) + 4 for each in row) + columns_of(place) + 6
    simple = all(operations(each.value) <= OPERATIONS for each in row)
    return simple and width <= columns and all(base.id in ir.names_in(each.value) for each in row)


def is_place(expr: Any) -> bool:
    """True if an expression is an item or a part of something that has a name."""
    return isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name)


def joined(row: list[Any]) -> Any:
    """One assignment for a row of them."""
    if len(row) == 1:
        return row[0]
    targets, value = [stmt.targets[0] for stmt in row], row[0].value
    if isinstance(value, gast.Constant) and all(gast.dump(stmt.value) == gast.dump(value) for stmt in row):
        result = gast.Assign(targets, value, None)
    else:
        values = ir.tuple_([stmt.value for stmt in row])
        result = gast.Assign([gast.Tuple(targets, gast.Store())], values, None)
    for attribute in ("origin", "comment", "forward", "sweep"):
        if hasattr(row[0], attribute):
            setattr(result, attribute, getattr(row[0], attribute))
    return result


def join_stores(block: list[Any], indent: int = 1) -> None:
    """Put what is stored into items side by side, in place, where the emitter knows that neither reads the other's."""
    kept: list[Any] = []
    for stmt in block:
        for inner in blocks(stmt):
            join_stores(inner, indent + 1)
        if kept and is_stored_beside(kept[-1], stmt, COLUMNS - 4 * indent):
            both = [*getattr(kept[-1], "row", kept[-1:]), stmt]
            kept[-1] = joined(both)
            kept[-1].row = both
        else:
            kept.append(stmt)
    block[:] = kept


def is_stored_beside(first: Any, stmt: Any, columns: int) -> bool:
    row = [*getattr(first, "row", [first]), stmt]
    beside = getattr(stmt, "beside", [])[: len(row) - 1]
    if not all(x is y for x, y in zip_longest(reversed(row[:-1]), beside)):
        return False
    if getattr(stmt, "comment", None) or len(row) > ROW:
        return False
    if not all(isinstance(x, gast.Assign) and len(x.targets) == 1 for x in row):
        return False
    if not all(isinstance(x.targets[0], gast.Subscript) and operations(x.value) <= OPERATIONS for x in row):
        return False
    return sum(columns_of(x.targets[0]) + columns_of(x.value) + 4 for x in row) - 1 <= columns


def kinds(expr: Any) -> set[str]:
    """The kinds of an assignment: a beginning, a list, a part of something, or a computed value."""
    if isinstance(expr, (gast.Name, gast.Constant)):
        return {"start", "part"} if isinstance(expr, gast.Name) else {"start"}
    if isinstance(expr, (gast.IfExp, gast.BoolOp, gast.ListComp)):
        return set()  # read well only on a line of their own
    if isinstance(expr, gast.List):
        return {"list"}
    if isinstance(expr, gast.BinOp) and isinstance(expr.left, gast.List):
        return {"start"}  # ``[0.0] * len(x)``
    if isinstance(expr, gast.Call) and getattr(expr.func, "attr", getattr(expr.func, "id", "")) in STARTS:
        return {"start"}
    while isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and not expr.args:
        expr = expr.func.value  # of a copy, or of a list that is popped from
    return {"part"} if isinstance(expr, (gast.Subscript, gast.Attribute, gast.Name)) else {"value"}


def is_computed(expr: Any) -> bool:
    return any(isinstance(node, gast.Call) and getattr(node.func, "id", "") != "len" for node in ir.nodes(expr))


def operations(expr: Any) -> int:
    """The number of operations in an expression."""
    return sum(isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Call, gast.Subscript)) for node in ir.nodes(expr))


MOST = 3  # targets of one assignment
NEAR = 4  # statements among which what has a second name is looked for


def chain_assignments(block: list[Any], reads: Counter[str] | None = None, indent: int = 1) -> None:
    """Rewrite a block of the emitted function and the blocks inside it, in place.

    From `reads`, the number of reads of each name in the function, those are taken off that have become targets; a
    name that nothing else reads is left out.
    """
    reads = Counter() if reads is None else reads
    kept: list[Any] = []
    for stmt in block:
        for inner in blocks(stmt):
            chain_assignments(inner, reads, indent + 1)
        made = maker_of(stmt, kept)
        if kept and is_given_on(kept[-1], stmt, COLUMNS - 4 * indent):
            first = kept[-1].targets[0]
            kept[-1].targets.append(stmt.targets[0])
            if isinstance(first, gast.Name) and isinstance(stmt.value, gast.Name) and stmt.value.id == first.id:
                reads[first.id] -= 1
                if reads[first.id] == 0:
                    del kept[-1].targets[0]
        elif made is not None:
            made.targets.append(stmt.targets[0])
        else:
            kept.append(stmt)
    block[:] = kept


def count_reads(block: list[Any]) -> Counter[str]:
    """The number of reads of each name in the statements of a function; what is updated is read."""
    names = [node for node in ir.nodes(gast.Module(block, [])) if isinstance(node, (gast.Name, gast.AugAssign))]
    updated = [getattr(node.target, "id", "") for node in names if isinstance(node, gast.AugAssign)]
    return Counter([*updated, *(n.id for n in names if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Store))])


def is_given_on(first: Any, stmt: Any, columns: int) -> bool:
    """True if a statement assigns to one more place what the one before it has assigned."""
    if not is_simple(first) or not is_simple(stmt) or len(stmt.targets) > 1 or len(first.targets) >= MOST:
        return False
    if getattr(stmt, "comment", None) or line_of(stmt) not in (None, line_of(first)):
        return False
    names = [target.id for target in first.targets if isinstance(target, gast.Name)]
    places = [*first.targets, *stmt.targets]
    if len(names) == len(first.targets) and isinstance(stmt.targets[0], gast.Name):
        return False
    if not isinstance(stmt.value, (gast.Name, gast.Constant)):
        return False
    given = isinstance(stmt.value, gast.Name) and stmt.value.id in names
    if not given and gast.dump(stmt.value) != gast.dump(first.value):
        return False
    return sum(columns_of(place) + 3 for place in places) + columns_of(first.value) <= columns


def maker_of(stmt: Any, before: list[Any]) -> Any:
    """The statement that makes a cotangent to which another gives a second name, if nobody reads either until then."""
    if not is_simple(stmt) or getattr(stmt.value, "role", None) not in COTANGENTS:
        return None
    second = getattr(stmt.targets[0], "id", None)
    for first in reversed(before[-NEAR:]):
        if not is_simple(first) or second is None or getattr(stmt, "comment", None):
            return None
        names = [getattr(target, "id", None) for target in first.targets]
        if stmt.value.id in names:
            alone = all(names) and len(names) < MOST and isinstance(first.value, gast.Call)
            return first if alone and second not in ir.names_in(first) else None
        if {second, stmt.value.id} & {*ir.names_in(first)}:
            return None
    return None


def is_simple(stmt: Any) -> bool:
    """True if a statement assigns to names and items."""
    return isinstance(stmt, gast.Assign) and all(isinstance(t, (gast.Name, gast.Subscript)) for t in stmt.targets)


def augment(body: list[Any]) -> None:
    """Augmented assignment of numbers.

    ::

        d_x = d_x + d_t * y      ->      d_x += d_t * y

    A number cannot be changed in place, so that both make a new one.  `codegen.emit` marks the statements that update
    one.
    """
    for k, stmt in enumerate(body):
        if is_update(stmt):
            body[k] = gast.AugAssign(stmt.targets[0], stmt.value.op, stmt.value.right)
            vars(body[k]).update({name: value for name, value in vars(stmt).items() if name not in stmt._fields})
        for inner in blocks(stmt):
            augment(inner)


def is_update(stmt: Any) -> bool:
    """True for ``x = x op y`` of a number."""
    if not is_single(stmt) or not getattr(stmt, "of_number", False) or not isinstance(stmt.value, gast.BinOp):
        return False
    return isinstance(stmt.value.left, gast.Name) and stmt.value.left.id == stmt.targets[0].id
