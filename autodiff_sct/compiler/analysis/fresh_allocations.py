"""Memory that a loop makes anew in each step: what is written into it was nobody's before.

::

    for _ in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] * u[:-2])
        u = new

`u` and `new` are one region of memory, and it is written; but no write meets an array that `u` has been, for each is of
an array that was made after it in the same step.  So `u` still holds in the reverse sweep what was read of it, and what
is overwritten of `new` need not be put back.
"""

from __future__ import annotations

from typing import Any

from ...rules.table import NONDIFFERENTIABLE, TABLE
from .. import ir
from ..domain.facts import Num
from ..ir.builder import Specialiser
from .alias import Regions, enclosing_loops, written_by


class Generations:
    """The statements of a program that make memory, and those that bind variables and write."""

    def __init__(self, s: Specialiser, where: Regions, block: ir.Block) -> None:
        self.s, self.where = s, where
        self.around = enclosing_loops(block)
        self.order: dict[Any, int] = {}  # statement -> its place
        self.makers: dict[str, Any] = {}  # variable -> the statement that binds it
        self.writes: dict[int | None, list[Any]] = {}  # region -> the statements that write it
        for place, stmt in enumerate(ir.walk(block)):
            self.order[stmt] = place
            for name in ir.ir_targets(stmt):
                self.makers[name] = stmt
            for region in where.written_in(stmt):
                self.writes.setdefault(region, []).append(stmt)
        self.steady: dict[str, bool] = {}  # what `is_steady` has told
        self.origins: dict[Any, ir.Let | None] = {}  # what `made_by` has told

    def is_steady(self, name: str) -> bool:
        """True if nothing is written into the memory of a variable from where it is bound on."""
        if not self.where.is_written(name):
            return True
        if name not in self.steady:
            self.steady[name] = all(self.is_apart(name, write) for write in self.writes[self.where.of(name)])
        return self.steady[name]

    def stays(self, name: str, reader: Any) -> bool:
        """True if nothing is written any more into the memory of a variable from where a statement reads it on."""
        if self.is_steady(name):
            return True
        writes = self.writes.get(self.where.of(name), ())
        return all(self.is_over(write, reader) or self.is_apart(name, write) for write in writes)

    def is_over(self, write: Any, reader: Any) -> bool:
        """True if a statement has run for the last time when another one runs."""
        if reader not in self.order or self.order[write] >= self.order[reader]:
            return False
        return not any(loop in self.around[reader] for loop in self.around[write])

    def is_apart(self, name: str, write: Any) -> bool:
        """True if a variable never has the memory that a statement writes, where it is bound before that.

        So it is where the memory was made after the variable was bound, or the variable has memory of its own, or a
        part of another's that is apart.
        """
        if write not in self.origins:
            self.origins[write] = self.made_by(write)
        made, bound = self.origins[write], self.makers.get(name)
        if made is None or bound is None:
            return False
        deeper = self.around[write][len(self.around[made]) :]  # these run many times after the memory was made
        between = self.order[made] <= self.order[bound] < self.order[write]
        if not between and not any(loop is bound or loop in self.around[bound] for loop in deeper):
            return True
        sources = self.sources(bound)
        return bound is not made and sources is not None and all(self.is_apart(n, write) for n in sources)

    def made_by(self, write: Any) -> ir.Let | None:
        """The statement that makes what another one writes, earlier in the same steps of the loops around it."""
        name = written_by(write) if isinstance(write, (ir.Store, ir.Effect)) else None
        while name is not None:
            stmt = self.makers.get(name)
            sources = self.sources(stmt)
            if sources is None or self.around[stmt] != self.around[write][: len(self.around[stmt])]:
                return None
            if not sources:
                return stmt  # type: ignore[no-any-return]
            name = sources[0] if len(sources) == 1 else None
        return None

    def sources(self, stmt: Any) -> tuple[str, ...] | None:
        """The arrays whose memory a statement may give its variable, if it makes none; None where that is not known."""
        if (
            not isinstance(stmt, ir.Let)
            or stmt.op is None
            or not (stmt.op.fn in TABLE or stmt.op.fn in NONDIFFERENTIABLE)
        ):
            return None
        return stmt.op.shares if all(isinstance(self.s.facts[n], Num) for n in ir.reads(stmt)) else None
