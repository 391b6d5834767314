"""What several wanted values are computed from is saved in their place.

::

    t = r * x                              saved_x.append(x)
    saved_t.append(t)                      x = r * x * (1.0 - x)
    t2 = 1.0 - x                           ...
    saved_t2.append(t2)             ->     x = saved_x.pop()
    x = t * t2                             d_x = d_x * (1.0 - x) * r - d_x * (r * x)
    ...
    d_x = d_x * saved_t2.pop() * r - d_x * saved_t.pop()

An operation on arrays gives no less than it is given: what it is computed from is as small.  An array of which items
are wanted is saved in their place if it is known to be short.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ... import ir
from ...domain.facts import Num
from .availability import AtHand

if TYPE_CHECKING:
    from .insert import Record


def common_sources(record: Record, forward: ir.Block) -> None:
    """Want the variables of a block that two or more of the wanted ones can be computed from."""
    wanted = record.wanted[id(forward)]
    while True:
        served: dict[str, list[str]] = defaultdict(list)
        there = AtHand(record, forward, {})
        for name in sorted(wanted, key=order):
            lacking = there.lacking(name)
            if lacking is not None and len(lacking) == 1:
                served[min(lacking)].append(name)
        source = next((n for n, names in served.items() if len(names) > 1 and is_worth(record, forward, n)), None)
        if source is None:
            return
        wanted.add(source)
        record.readers[source] = [x for n in served[source] for x in record.readers.get(n, ())]


def is_worth(record: Record, forward: ir.Block, name: str) -> bool:
    """Whether a variable of the block is no larger than what is computed from it, if that are items of an array."""
    facts = record.s.facts[name]
    if not record.is_local(name, forward) or not isinstance(facts, Num) or facts.kind != "array":
        return record.is_local(name, forward)
    items = [n for n in record.wanted[id(forward)] if record.is_item_of(n, name)]
    lengths = [record.s.lengths_in(forward).canonical(axis) for axis in facts.dims or (None,)]
    return not items or (len(lengths) == 1 and isinstance(lengths[0], int) and lengths[0] <= 2 * len(items))


def order(name: str) -> int:
    """Where a variable stands among those of its program."""
    return int(name.rpartition(".")[2])
