"""The reverse of reading a part of an array, an item of a list, or a value of a dict."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import NoRule
from ....runtime import scatter
from ... import ir
from ...domain.facts import Listed, Mapped, Num, Pair
from ...domain.values import Const, Value
from ...interp.arrays import indexing
from .container_aliasing import check_copied
from .cotangents import (
    helper,
    spread,
)
from .injective_index import is_distinct, may_repeat

NOTHING, ZERO = Const(None), Const(0.0)
PRODUCTS = {operator.matmul, np.matmul, np.linalg.matmul, np.dot, np.ndarray.dot, np.linalg.solve}

if TYPE_CHECKING:
    from .transform import Reverse


def item_read(r: Reverse, stmt: ir.Let) -> None:
    """``y = x[index]``"""
    s = r.s
    assert stmt.op is not None
    base, index = stmt.op.arguments["x"], stmt.op.arguments.get("index")
    facts = s.facts[base.name]
    if r.shadows.is_view(stmt) or (isinstance(facts, Num) and facts.python):  # of a number: it raises
        return
    if index is None:
        raise NoRule("something of unknown structure is unpacked", "unpack a tuple or an array", stmt.origin)
    incoming = r.incoming(stmt)
    if incoming is None:
        return
    d = incoming[0]
    if isinstance(facts, (Listed, Mapped, Pair)):
        if isinstance(s.facts[stmt.target], Listed):  # a slice of a list
            check_copied(r, stmt)
            s.block.append(ir.Effect(helper(s, scatter.add_at, r.shadows.of(base.name), index, d), s.origin, "adjoint"))
        else:
            r.add_at(r.shadows.of(base.name), index, d)
        return
    if not isinstance(facts, Num):
        reason = f"{s.in_words(base.name)} is None on some paths and a container on others, or of several kinds"
        raise NoRule(reason, "keep its items in variables of their own", stmt.origin)
    if not all(indexing.is_basic(s, p) for p in indexing.parts_of(index)) and not is_distinct(r, index):
        d = spread(s, d, stmt.target)
    if facts.dims == () and not r.has_shadow(base.name):
        r.add(base.name, d, False)  # what a mask or an axis makes of a number holds nothing else
    else:
        add_part(r, base.name, index, d)
    if r.joint and not r.attempts:
        stmt.may_raise = False  # the cotangent is indexed alike, and that fails alike


def add_part(r: Reverse, name: str, index: Value, d: Value) -> None:
    """Add `d` to the cotangent of ``name[index]``."""
    s = r.s
    if not r.activity.active(name):
        return
    buffer = r.shadows.of(name) if r.has_shadow(name) else r.buffer(name)
    facts: Any = s.facts[name]
    if not may_repeat(r, index) and facts.dims is not None:
        r.add_at(buffer, index, d)
    else:
        s.block.append(ir.Effect(helper(s, scatter.add_at, buffer, index, d), s.origin, "adjoint"))
