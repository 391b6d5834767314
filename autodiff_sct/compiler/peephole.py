"""Small rewritings of the reverse sweep, before temporaries are put back into expressions.

- ``d = zeros_like(a); d += e`` is ``d = e`` where ``e`` is new and of full shape (`first_contributions`);
- a copy of a part of a shadow is not needed where all that uses it runs before the next write, and a zeroing may wait
  until then (`without_copies`).
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .facts import Num, same
from .record import reads_inside
from .regions import roots_of
from .specialise.state import Specialiser


def improve(s: Specialiser, block: ir.Block) -> None:
    """Rewrite a block and the blocks inside it, in place."""
    for stmt in block:
        for inner in ir.bodies(stmt):
            improve(s, inner)
    first_contributions(s, block)
    without_copies(s, block)


def without_synonyms(s: Specialiser, block: ir.Block) -> None:
    """Call a temporary that is another variable by that variable's name."""
    from .optimise import substitute_own

    mapping = {stmt.target: stmt.expr for stmt in ir.walk(block) if is_synonym(s, stmt)}
    for name, expr in list(mapping.items()):
        while expr.id in mapping:
            expr = mapping[expr.id]
        mapping[name] = expr
    remove_synonyms(s, block)
    for stmt in ir.walk(block):
        substitute_own(stmt, mapping)
        for c in getattr(stmt, "carries", []):
            c.init, c.next = renamed(c.init, mapping), renamed(c.next, mapping)
        for m in getattr(stmt, "merges", []):
            if isinstance(m, ir.Merge):
                m.then, m.orelse = renamed(m.then, mapping), renamed(m.orelse, mapping)


def remove_synonyms(s: Specialiser, block: ir.Block) -> None:
    block[:] = [stmt for stmt in block if not is_synonym(s, stmt)]
    for stmt in block:
        for inner in ir.bodies(stmt):
            remove_synonyms(s, inner)


def is_synonym(s: Specialiser, stmt: Any) -> bool:
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.target in s.named:
        return False
    return isinstance(stmt.expr, gast.Name) and ir.is_variable(stmt.expr.id)


def renamed(name: str | None, mapping: dict[str, Any]) -> str | None:
    return mapping[name].id if name in mapping else name


# -- first contributions


def first_contributions(s: Specialiser, block: ir.Block) -> None:
    for stmt in list(block):
        if isinstance(stmt, ir.Let) and is_call(stmt.expr, "zeros_like") and isinstance(s.facts[stmt.target], Num):
            begin_with(s, block, stmt)


def is_call(expr: Any, name: str) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == name


def begin_with(s: Specialiser, block: ir.Block, zero: ir.Let) -> None:
    """Turn the first addition to a zero shadow into its definition."""
    name = zero.target
    start = block.index(zero)
    views: list[Any] = []
    for place in range(start + 1, len(block)):
        stmt = block[place]
        if name not in reads_inside(stmt) and not any(v.target in reads_inside(stmt) for v in views):
            continue
        if is_view_of(s, stmt, name):
            views.append(stmt)
            continue
        if is_uniform_addition(s, stmt, name):
            filled = ir.call(ir.attribute(zero.expr.func.value, "full_like"), zero.expr.args[0], stmt.value)
            stmt.value = filled
        elif not is_full_addition(s, stmt, name, block[start:place]):
            return
        block[place : place + 1] = [ir.Let((name,), stmt.value, None, stmt.origin), *views]
        for view in views:
            block.remove(view) if block.index(view) < place else None
        block.remove(zero)
        return


def is_view_of(s: Specialiser, stmt: Any, name: str) -> bool:
    if not isinstance(stmt, ir.Let) or not isinstance(stmt.expr, (gast.Subscript, gast.Attribute)):
        return False
    return name in ir.reads(stmt) and bool(roots_of(s.facts[stmt.target]) & roots_of(s.facts[name]))


def is_uniform_addition(s: Specialiser, stmt: Any, name: str) -> bool:
    """Whether one number is added to all of a shadow."""
    if not isinstance(stmt, ir.Store) or stmt.base != name or stmt.aug is not gast.Add or not is_ellipsis(stmt.index):
        return False
    have = s.facts.get(stmt.value.id) if isinstance(stmt.value, gast.Name) else None
    return isinstance(have, Num) and have.python


def is_full_addition(s: Specialiser, stmt: Any, name: str, before: ir.Block) -> bool:
    if not isinstance(stmt, ir.Store) or stmt.base != name or stmt.aug is not gast.Add or not is_ellipsis(stmt.index):
        return False
    if not isinstance(stmt.value, gast.Name) or name in ir.names_in(stmt.index):
        return False
    have, want = s.facts.get(stmt.value.id), s.facts[name]
    if not isinstance(have, Num) or not isinstance(want, Num) or have.kind != "array" or have.dtype != want.dtype:
        return False
    if have.dims is None or want.dims is None or len(have.dims) != len(want.dims):
        return False
    if not all(same(s.canonical(a), s.canonical(b)) for a, b in zip(have.dims, want.dims)):
        return False
    maker = next((x for x in before if isinstance(x, ir.Let) and stmt.value.id in x.targets), None)
    used_once = sum(stmt.value.id in reads_inside(x) for x in before) == 0
    return maker is not None and used_once and isinstance(maker.expr, (gast.BinOp, gast.UnaryOp))


def is_ellipsis(expr: Any) -> bool:
    return isinstance(expr, gast.Constant) and expr.value is Ellipsis


# -- copies


def without_copies(s: Specialiser, block: ir.Block) -> None:
    for stmt in list(block):
        if isinstance(stmt, ir.Let) and is_call(stmt.expr, "copy") and not stmt.expr.args and len(stmt.targets) == 1:
            drop_copy(s, block, stmt)


def drop_copy(s: Specialiser, block: ir.Block, copy: ir.Let) -> None:
    """Use a part of a shadow directly where nothing writes to it in between."""
    source = [n for n in ir.names_in(copy.expr.func.value) if ir.is_variable(n)]
    start = block.index(copy)
    users = [k for k in range(start + 1, len(block)) if copy.target in reads_inside(block[k])]
    if not source or not users or not all(consumes(s, block[k], copy.target) for k in users):
        return
    region = roots_of(s.facts[copy.target]) | {root for n in source for root in roots_of(s.facts[n])}
    last = users[-1]
    between = range(start + 1, last + 1)
    writes = [k for k in between if touches(s, block[k], region, True)]
    if not writes:
        copy.expr = copy.expr.func.value
        copy.op = None
        return
    if (
        len(writes) == 1
        and is_zeroing(block[writes[0]])
        and not any(touches(s, block[k], region, False) for k in range(writes[0] + 1, last + 1) if k not in users)
    ):
        zeroing = block.pop(writes[0])
        block.insert(last, zeroing)
        copy.expr = copy.expr.func.value
        copy.op = None


def consumes(s: Specialiser, stmt: Any, name: str) -> bool:
    """Whether a statement makes something new of a value, and keeps no reference to it."""
    if isinstance(stmt, ir.Store):
        return name in ir.names_in(stmt.value) and not is_list(s, stmt.base)
    if not isinstance(stmt, ir.Let):
        return False
    if isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)):
        # A sum that is printed as ``d += e`` changes the memory of its left side.
        return not getattr(stmt, "in_place", False) or getattr(stmt.expr.left, "id", None) != name
    return is_call(stmt.expr, "sum")


def is_list(s: Specialiser, name: str) -> bool:
    return not isinstance(s.facts[name], Num)


def is_zeroing(stmt: Any) -> bool:
    return (
        isinstance(stmt, ir.Store)
        and stmt.aug is None
        and isinstance(stmt.value, gast.Constant)
        and stmt.value.value == 0.0
    )


def touches(s: Specialiser, stmt: Any, region: frozenset[int] | set[int], writing: bool) -> bool:
    """Whether a statement writes to (or, unless `writing`, reads) memory of a region."""
    for inner in ir.walk([stmt]):
        if isinstance(inner, ir.Store) and roots_of(s.facts[inner.base]) & region:
            return True
        if isinstance(inner, ir.Effect) and any(
            ir.is_variable(n) and roots_of(s.facts[n]) & region for n in ir.reads(inner)
        ):
            return True
        if not writing and any(roots_of(s.facts[n]) & region for n in ir.reads(inner)):
            return True
    return False
