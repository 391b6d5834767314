"""A length to which the user has given a name is called so in the reverse sweep, too.

::

    n = len(u)                             n = len(u)
    ...                                    ...
    d_new = np.zeros(u.shape)      ->      d_new = np.zeros(n)
    d_t = [0.0] * len(u)                   d_t = [0.0] * n

The array need not be at hand for it then.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast
import numpy as np

from .. import ir
from ..facts import Num
from ..items.item_uses import module_function
from ..specialise.state import Specialiser
from ..substitution import change_own, with_operands

OF_SHAPE = ("zeros", "empty", "ones")


def name_lengths(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the reverse sweep of a program that is one function, in place."""
    targets = [name for stmt in ir.walk(front) for name in ir.ir_targets(stmt) if name in s.named]
    hints = Counter(s.hints[name] for name in targets)
    named: dict[Any, str] = {}  # an axis -> the variable that is its length
    for stmt in front:
        for name in stmt.targets if isinstance(stmt, ir.Let) else ():
            facts = s.facts[name]
            if name in s.named and isinstance(facts, Num) and is_length(facts) and hints[s.hints[name]] == 1:
                named.setdefault(s.lengths.canonical(facts.size), name)
    for stmt in ir.walk(back) if named else ():
        change_own(stmt, lambda expr: with_names(s, expr, named))


def is_length(facts: Num) -> bool:
    """Whether a number is the length of an axis that only the run tells."""
    return facts.kind == "int" and facts.python and facts.size is not None and not isinstance(facts.size, int)


def with_names(s: Specialiser, expr: Any, named: dict[Any, str]) -> Any:
    """An expression with names for the lengths that it reads off arrays."""
    if not isinstance(expr, gast.Call) or len(expr.args) != 1 or expr.keywords:
        return with_operands(expr, lambda e: with_names(s, e, named))
    read = expr.args[0]
    if getattr(expr.func, "id", "") == "len":
        first = names_of(s, read, named)[:1]
        return ir.name(first[0]) if first and first[0] is not None else expr
    if module_function(s, expr, np) in OF_SHAPE and isinstance(read, gast.Attribute) and read.attr == "shape":
        names = names_of(s, read.value, named)
        if not names or None in names:
            return expr
        lengths = [ir.name(n) for n in names if n is not None]
        return gast.Call(expr.func, [lengths[0] if len(lengths) == 1 else ir.tuple_(lengths)], [])
    return with_operands(expr, lambda e: with_names(s, e, named))


def names_of(s: Specialiser, array: Any, named: dict[Any, str]) -> list[str | None]:
    """The names of the lengths of an array, None for those that have none."""
    facts = s.facts.get(getattr(array, "id", ""))
    if not isinstance(facts, Num) or facts.kind != "array" or not facts.dims:
        return []
    return [None if axis is None else named.get(s.lengths.canonical(axis)) for axis in facts.dims]
