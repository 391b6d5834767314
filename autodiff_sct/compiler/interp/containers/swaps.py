"""``rows[i], rows[j] = rows[j], rows[i]`` of lists in a list: two items change places, and so do their cotangents.

Item by item, a list would for a moment be in two places.
"""

from __future__ import annotations

from typing import Any

import gast

from ...analysis.list_permutations import write_move
from ...domain.facts import Listed
from ...domain.values import Leaf
from ...ir.builder import Specialiser
from ..arrays.emit_op import KEPT_GENERATOR
from ..kernel.handlers import evaluate

CALM = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context)


def swapped(s: Specialiser, node: Any) -> bool:
    """Write an assignment as a swap, if it is one of lists in a list that lives in a variable."""
    places = places_of(node)
    if places is None:
        return False

    base = evaluate(s, places[0])
    facts = s.facts[base.name] if isinstance(base, Leaf) else None
    if not isinstance(base, Leaf) or not isinstance(facts, Listed) or facts.is_tuple is not False:
        return False
    if not isinstance(s.elements_of(facts), Listed):
        return False
    if facts.roots & s.lazy:
        raise s.refuse("kept-generator", KEPT_GENERATOR)
    i, j = evaluate(s, places[1]), evaluate(s, places[2])
    write_move(s, "swap", base, i, j)
    return True


def places_of(node: Any) -> tuple[Any, Any, Any] | None:
    """The list and the two places of a swap; None for another assignment."""
    if len(node.targets) != 1 or not isinstance(node.targets[0], gast.Tuple) or not isinstance(node.value, gast.Tuple):
        return None
    parts = [*node.targets[0].elts, *node.value.elts]
    if len(parts) != 4 or not all(isinstance(p, gast.Subscript) and isinstance(p.value, gast.Name) for p in parts):
        return None
    a, b, c, d = parts
    if len({p.value.id for p in parts}) > 1 or text(a.slice) != text(d.slice) or text(b.slice) != text(c.slice):
        return None
    calm = all(isinstance(inner, CALM) for place in (a, b) for inner in gast.walk(place.slice))
    return (d.value, a.slice, b.slice) if calm else None


def text(expr: Any) -> str:
    return str(gast.dump(expr))
