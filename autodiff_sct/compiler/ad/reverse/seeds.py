"""Begin and end of the reverse sweep: the seeds of the results, and the gradients of Parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime import boundary, broadcast, memory
from ... import ir
from ...domain.facts import FLOAT, Facts, Listed, Mapped, Num, Opaque
from ...domain.identifiers import unique
from ...domain.request import Request
from ...domain.values import Leaf, Value
from ...ir.builder import Role, Specialiser
from ..results import leaf_gradient, output_leaves
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
                ir.call(s.bind("seed", boundary.seed), ir.name(variable), ir.name(leaf)),
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
