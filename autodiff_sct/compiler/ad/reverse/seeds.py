"""Begin and end of the reverse sweep, and calls of functions of which nothing is known.

Calls of functions of which nothing is known, and that may write into the arrays that they are given.

An array that carries a derivative is never given to one (see `activity`).  Of any other array, the reverse sweep must
not read what was in it before such a call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import AliasError
from ....rules.table import TABLE
from ....runtime import broadcast, memory
from ... import ir
from ...domain.facts import FLOAT, Facts, Listed, Mapped, Num, Opaque
from ...domain.identifiers import unique
from ...domain.request import Request
from ...domain.values import Leaf, Value
from ...interp.kernel.specialiser import Specialiser
from ...ir.function import Role
from ..checkpoint.plan import is_draw, may_write
from ..results import leaf_gradient, output_leaves
from ..tape.required_restores import is_needed, readings
from .cotangents import facts_like
from .transform import Reverse


def sow(r: Reverse, request: Request, chosen: Value, forward: ir.Block, taken: set[str]) -> dict[str, str]:
    """Seed the results with parameters of the emitted function, whose names are not those that are taken."""
    s = r.s
    leaves = output_leaves(s, chosen)
    several = len(leaves) > 1
    for external in s.externals.values():
        if r.shadows.wanted(external.name):
            r.shadows.table[external.name] = r.shadows.fresh(external.name)
    r.shadows.open(forward)
    seeds: dict[str, str] = {}
    for k, leaf in enumerate(leaves):
        name = unique(f"d_out_{k + 1}" if several else "d_out", taken)
        variable = s.fresh(name, Opaque() if request.seeded else FLOAT, Role.SEED)
        s.named.add(variable)
        s.parameters.add(name)
        seeds[variable] = name
        given = Leaf(variable)
        if request.seeded:
            given = s.let(
                ir.call(s.bind("seed", broadcast.seed), ir.name(variable), ir.name(leaf)),
                full_facts(s, leaf),
                hint=name,
                role=Role.COTANGENT,
            )
            s.named.add(given.name)
        if isinstance(s.facts[leaf], (Listed, Mapped)):
            seed_list(r, leaf, given if request.seeded else None)
        else:
            r.add(leaf, given, False)
    return seeds


def full_facts(s: Specialiser, leaf: str) -> Facts:
    facts = s.facts[leaf]
    return facts_like(s, leaf) if isinstance(facts, Num) else facts


def seed_list(r: Reverse, leaf: str, given: Leaf | None) -> None:
    s = r.s
    if not r.activity.active(leaf):
        return
    seed = ir.call(s.bind("ones_like", broadcast.ones_like), ir.name(leaf)) if given is None else s.expr(given)
    s.block.append(
        ir.Effect(ir.call(s.bind("add_items", memory.add_items), s.expr(r.shadows.of(leaf)), seed), None, "adjoint")
    )


def weight_gradients(r: Reverse, weights: list[tuple[Any, str | None]]) -> list[Any]:
    """The gradients of Parameters; one that is listed twice gets its gradient twice, in memory of its own."""
    known: dict[str, Any] = {}
    found = []
    for parameter, name in weights:
        if name is None:
            found.append(numpy_zeros(r.s, parameter))
        elif name in known:
            found.append(ir.call(ir.attribute(known[name], "copy")))
        else:
            known[name] = leaf_gradient(r, Leaf(name))
            found.append(known[name])
    return found


def numpy_zeros(s: Specialiser, parameter: Any) -> Any:
    data = parameter.asnumpy() if hasattr(parameter, "asnumpy") else parameter
    return ir.call(s.bind("zeros_like", broadcast.zeros_like), s.bind("frozen", np.asarray(data)))


def refuse_unseen(r: Reverse, reverse: ir.Block) -> None:
    """Refuse calls that may change memory whose content from before is needed."""
    given = {stmt: memory for stmt in r.order if is_draw(stmt) and (memory := memory_given(r, stmt))}
    if not given:
        return
    found = readings(r, reverse, {}, set().union(*given.values()))
    for stmt, memory in given.items():
        if any(is_needed(r, stmt, region, found) for region in memory):
            raise AliasError(
                "a function of which nothing is known may write into an array whose content is needed later",
                "give it a copy (`x.copy()`)",
                stmt.origin,
                code="unknown-write",
            )


def memory_given(r: Reverse, stmt: ir.Let) -> set[int]:
    """The regions of the arrays that a function is given which may write into them."""
    if stmt.op is None or stmt.op.fn in TABLE or not may_write(r, stmt):
        return set()
    first = stmt.op.arguments.get("argument 0")
    base = getattr(stmt.expr.func, "value", None)  # methods of arrays that write are known
    names = {n for value in stmt.op.arguments.values() for n in r.s.leaves(value)}
    if first is not None and base is not None and is_array(r, getattr(first, "name", "")):
        names -= set(ir.names_in(base))
    return {region for n in names if is_array(r, n) and (region := r.regions.of(n)) is not None}


def is_array(r: Reverse, name: Any) -> bool:
    facts = r.s.facts.get(name)
    return isinstance(facts, Num) and facts.kind == "array"
