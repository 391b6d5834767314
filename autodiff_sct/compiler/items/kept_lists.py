"""The list of which an array was made is the list of its items, as long as neither has changed.

::

    y = [0.0] * len(x)                      y_items = [0.0] * len(x)
    ...                                     ...
    y = np.array(y)                         y = np.array(y_items)
    d_x = 2 * d_out * (x - y)       ->      d_x = 2 * d_out * (x - y)
    y_items = y.tolist()

    y_items = np.array(y).tolist()          y_items = y

So it is with two lists of the items of one array.  A list that is written later is one that nobody else
reads then.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import FLOAT, Listed, Num
from ..optimise import is_method
from ..regions import reachable
from ..specialise.state import Specialiser
from ..substitution import read_instead
from .carried_lists import listed_in
from .item_sites import written_names


def keep_lists(s: Specialiser, program: ir.Block) -> None:
    """Rewrite a program in place."""
    if any(taken_from(stmt) is not None or made_and_taken(s, stmt) for stmt in ir.walk(program)):
        Keeper(s, program).block(program, None)


class Keeper:
    """The lists of a program, and which names may stand for one of them."""

    def __init__(self, s: Specialiser, program: ir.Block) -> None:
        self.s, self.program = s, program
        self.groups: dict[str, set[str]] = {}
        self.makers = {stmt.target: stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Let)}
        for stmt in ir.walk(program):
            if isinstance(stmt, ir.Loop):
                for c in stmt.carries:
                    self.unite(c.phi, c.init, c.next, c.out)
            elif isinstance(stmt, ir.If):
                for m in stmt.merges:
                    self.unite(m.target, m.then, m.orelse)
            elif isinstance(stmt, ir.Try):
                for target, names in stmt.merges:
                    self.unite(target, *names)
            elif isinstance(stmt, ir.Let) and isinstance(stmt.expr, (gast.Name, gast.IfExp)):
                self.unite(stmt.target, *ir.names_in(stmt.expr))

    def unite(self, *names: str | None) -> None:
        whole = set().union(*(self.group(n) for n in names if n is not None))
        self.groups |= dict.fromkeys(whole, whole)

    def group(self, name: str) -> set[str]:
        """The names that may stand for the list that a name stands for."""
        return self.groups.get(name, {name})

    def block(self, block: ir.Block, owner: Any) -> None:
        """Rewrite a block of a statement, after those inside it."""
        for stmt in block:
            for inner in ir.adjoint_bodies(stmt):
                self.block(inner, stmt)
        place = 0
        known: list[tuple[str, str, int]] = []  # an array of one axis, a list of its items, and since when it is that
        while place < len(block):
            stmt = block[place]
            array, source = taken_from(stmt), made_and_taken(self.s, stmt)
            found = [name for a, name, since in known if a == array and self.stays(block, a, name, since, place)]
            found += [source] if source is not None else []
            kept = next((name for name in found if self.is_left(block, name, place)), None)
            if kept is not None:
                self.replace(block, owner, place, kept, array)
                continue
            if array is not None:
                known.append((array, stmt.target, place))
            elif isinstance(stmt, ir.Let) and (made := listed_in(self.s, stmt.expr)) is not None:
                if isinstance(self.s.facts.get(made), Listed):
                    known.append((stmt.target, made, place))
            place += 1

    def replace(self, block: ir.Block, owner: Any, place: int, kept: str, array: str | None) -> None:
        """Let one list stand for another that a statement makes."""
        name, hints = block[place].target, self.s.hints
        for other in [*ir.walk(block[place + 1 :]), *([owner] if owner is not None else ())]:
            read_instead(other, {name: kept})
        if array is not None and hints[kept] == hints[array]:
            hints[kept] = hints[name]
        self.s.named.add(kept)
        self.unite(kept, name)
        del block[place]

    def stays(self, block: ir.Block, array: str, kept: str, since: int, place: int) -> bool:
        """Whether the items of an array still are those of a list that there was before."""
        facts = self.s.facts.get(array)
        if not isinstance(facts, Num) or facts.ndim != 1 or not facts.roots:
            return False
        written = written_in(block[since + 1 : place])
        if written & self.group(kept):
            return False
        return not any(n in self.s.facts and reachable(self.s, self.s.facts[n]) & facts.roots for n in written)

    def is_left(self, block: ir.Block, kept: str, place: int) -> bool:
        """Whether a list may stand for a new one of the same items from a place on: nobody sees it change."""
        after, old, new = block[place + 1 :], self.group(kept), self.group(block[place].target)
        if old & new:
            return False
        own = ir.defined(block)
        later = written_in(after if old | new <= own else self.program)
        if not later & (old | new):
            return True
        made = [self.makers[n] for n in old if n in self.makers]
        return old <= own and all(map(makes_list, made)) and not any(old & set(ir.reads_inside(x)) for x in after)


def taken_from(stmt: Any) -> str | None:
    """The array of whose items a statement makes a list."""
    call: Any = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 else None
    return getattr(call.func.value, "id", None) if is_method(call, "tolist") and not call.args else None


def made_and_taken(s: Specialiser, stmt: Any) -> str | None:
    """The list of which a statement makes an array only to take its items."""
    call: Any = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 else None
    source = listed_in(s, call.func.value) if is_method(call, "tolist") and not call.args else None
    facts = s.facts.get(source or "")
    return source if isinstance(facts, Listed) and s.elements_of(facts) == FLOAT else None


def written_in(block: ir.Block) -> set[str]:
    return {n for stmt in block for n in written_names(stmt)}


def makes_list(stmt: ir.Let) -> bool:
    """Whether a statement makes a list, or is another name of one."""
    known = (gast.BinOp, gast.ListComp, gast.Name)
    return not stmt.effect and (isinstance(stmt.expr, known) or is_method(stmt.expr, "tolist"))
