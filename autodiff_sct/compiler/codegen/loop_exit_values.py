"""What a loop goes over is still there after it, under the same name.

::

    for i2 in range(n):                  for i in range(n):
        ...                                  ...
        i = i2                   ->      y = x[i]
    y = x[i]
"""

from __future__ import annotations

from collections import Counter

from .. import ir
from ..ir.rewrite import read_instead


def read_exit_values(program: ir.Block) -> None:
    """Rewrite a program that is one function, in place."""
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop) and stmt.index is not None]
    found = [(loop, c) for loop in loops for c in loop.carries if c.init is None and c.next == loop.index]
    if not found:
        return
    used = Counter(name for stmt in ir.walk(program) for name in ir.uses(stmt))
    names: dict[str, str] = {}
    for loop, carry in found:
        if not used[carry.phi]:
            loop.carries.remove(carry)
            names[carry.out] = str(loop.index)
    for stmt in ir.walk(program) if names else []:
        read_instead(stmt, names)
