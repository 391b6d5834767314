"""Cotangents of parts of arrays, collected where they belong.

::

    d_row = np.zeros_like(row)              d_row = d_A[i]
    d_row[0] += d_s * t                     d_row[0] += d_s * t
    d_row += d_t                      ->    d_row += d_t
    d_A[i] += d_row

``row = A[i]`` is a view, and nothing but additions happens to its cotangent before that is added to the cotangent of
``A``: so it may as well be the same view of that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from .. import ir
from ..facts import Num
from ..peephole import is_call, is_ellipsis, touches
from ..regions import roots_of
from ..specialise.state import Specialiser


def collect_parts(s: Specialiser, program: ir.Block) -> None:
    """Rewrite all blocks of a program in place."""
    makers = {stmt.target: stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Let) and len(stmt.targets) == 1}
    for block in ir.blocks(program):
        for stmt in list(block):
            if isinstance(stmt, ir.Store) and stmt.aug is gast.Add and isinstance(stmt.value, gast.Name):
                collect(s, block, stmt, makers)


def collect(s: Specialiser, block: ir.Block, final: ir.Store, makers: dict[str, ir.Let]) -> None:
    chain = additions(block, final, makers)
    if not chain or not is_same_part(s, chain[0].expr.args[0], final, makers):
        return
    start, end = block.index(chain[0]), block.index(final)
    made = {target for stmt in block[start:end] for target in ir.ir_targets(stmt)}
    region = roots_of(s.facts[final.base])
    if made & {final.base, *ir.names_in(final.index)} or any(touches(s, x, region, False) for x in block[start:end]):
        return
    name = chain[0].target
    for stmt in chain[1:]:
        if isinstance(stmt, ir.Let):
            addition = ir.Store(name, gast.Constant(Ellipsis, None), stmt.expr.right, gast.Add, stmt.origin)
            block[block.index(stmt)] = addition
        else:
            stmt.base = name
    chain[0].expr = ir.subscript(ir.name(final.base), final.index)
    facts = s.facts[name]
    assert isinstance(facts, Num)
    s.facts[name] = replace(facts, roots=region)
    block.remove(final)


def additions(block: ir.Block, final: ir.Store, makers: dict[str, ir.Let]) -> list[Any]:
    """The statements that fill a cotangent from zeros, where they do nothing else with it; the zeros first."""
    if not begins_with_zeros(final.value.id, makers):
        return []
    chain: list[Any] = []
    name = final.value.id
    for stmt in reversed(block[: block.index(final)]):
        if isinstance(stmt, ir.Let) and stmt.targets == (name,):
            chain.insert(0, stmt)
            if is_call(stmt.expr, "zeros_like"):
                return chain if is_private(block, chain, final) else []
            if not is_addition(stmt):
                return []
            name = stmt.expr.left.id
        elif isinstance(stmt, ir.Store) and stmt.base == name and stmt.aug is gast.Add:
            chain.insert(0, stmt)
    return []


def begins_with_zeros(name: str, makers: dict[str, ir.Let]) -> bool:
    maker = makers.get(name)
    while maker is not None and is_addition(maker):
        maker = makers.get(maker.expr.left.id)
    return maker is not None and is_call(maker.expr, "zeros_like")


def is_addition(stmt: ir.Let) -> bool:
    """Whether a statement adds to a buffer in place."""
    return stmt.in_place and isinstance(stmt.expr.left, gast.Name)


def is_private(block: ir.Block, chain: list[Any], final: ir.Store) -> bool:
    """Whether nobody but a chain of additions sees the buffer that they fill."""
    names = {stmt.target for stmt in chain if isinstance(stmt, ir.Let)}
    for stmt in chain[1:]:
        seen = (
            ir.names_in(stmt.expr.right)
            if isinstance(stmt, ir.Let)
            else [*ir.names_in(stmt.index), *ir.names_in(stmt.value)]
        )
        if names & set(seen):
            return False
    users = [stmt for stmt in block if names & set(ir.reads_inside(stmt))]
    return all(stmt in chain or stmt is final for stmt in users) and not names & set(ir.names_in(final.index))


def is_same_part(s: Specialiser, like: Any, final: ir.Store, makers: dict[str, ir.Let]) -> bool:
    """Whether the variable that a cotangent belongs to is that part of the array to whose cotangent it is added."""
    maker = makers.get(getattr(like, "id", ""))
    facts = s.facts.get(getattr(like, "id", ""))
    if maker is None or not isinstance(facts, Num) or facts.kind != "array" or is_ellipsis(final.index):
        return False
    if not isinstance(maker.expr, gast.Subscript) or gast.dump(maker.expr.slice) != gast.dump(final.index):
        return False
    base = s.facts[final.base]
    return (
        isinstance(base, Num)
        and base.kind == "array"
        and bool(roots_of(facts) & roots_of(s.facts[maker.expr.value.id]))
    )
