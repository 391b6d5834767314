"""The intermediate form as text, which `parser` reads.

::

    x.1: float64[n]                      an argument, with its facts
    s.2 = 0.0
    for i.3 in range(len(x.1)):
        s.4 = phi(s.2, s.5)              a carry: first `s.2`, then `s.5` of the iteration before
        if x.1[i.3] > 0.0:
            t.6 = s.4 + x.1[i.3]
        else:
            t.7 = s.4
        s.5 = phi(t.6, t.7)              a merge
    s.8 = phi(s.4)                       the carry after the loop
    return s.8

``None`` in a `phi` is a name that is not bound on that path.  The statements that compute the test of a ``while`` stand
in a block ``with head:``.  With `facts`, variables have their facts as annotations, and statements their flags as
comments.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping
from typing import Any

import gast

from ..domain.facts import Dim, Facts, Listed, Mapped, Num, Pair
from ..domain.identifiers import identifier
from ..text.unparse import unparse
from .statements import (
    Block,
    Carry,
    Effect,
    If,
    Let,
    Loop,
    Raise,
    Return,
    Store,
    Try,
    With,
    name,
    subscript,
    substitute,
    variables_in,
    whole,
)

DOT = "\N{MIDDLE DOT}"  # stands in a variable's name for the dot, while it has to be a name of Python's
STRING = r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
UNDOTTED = re.compile(rf"{STRING}|\b([^\W\d]\w*){DOT}(?=\d+\b)")
INDENT = "    "
FLAGS = {
    "effect": "effect",
    "may_raise": "may raise",
    "loud": "loud",
    "augments": "augments",
    "in_place": "in place",
    "saves": "saves",
    "placed": "placed",
}  # of a `Let`, as its comment has them
HEAD = "head"  # what the block of the statements that compute the test of a loop is called


def printed(
    block: Block, facts: Mapping[str, Facts] | None = None, comment: Callable[[Any], str] = lambda stmt: ""
) -> str:
    """The text of a program; with `facts`, with all that `parser` reads; `comment` tells what to say of a statement."""
    return "".join(f"{line}\n" for line in Printer(facts, comment).block(block))


class Printer:
    """Writes blocks as lines."""

    def __init__(self, facts: Mapping[str, Facts] | None, comment: Callable[[Any], str]) -> None:
        self.facts, self.comment = facts, comment

    def block(self, block: Block) -> list[str]:
        return [line for stmt in block for line in self.statement(stmt)]

    def inside(self, block: Block, before: list[str] | None = None) -> list[str]:
        """The lines of a block in a control statement."""
        return [INDENT + line for line in [*(before or []), *self.block(block)] or ["pass"]]

    def statement(self, stmt: Any) -> list[str]:
        first, *rest = getattr(self, type(stmt).__name__.lower())(stmt)
        said = [*(self.marks(stmt) if self.facts is not None else []), *filter(None, [self.comment(stmt)])]
        return [f"{first}  # {', '.join(said)}" if said else first, *rest]

    def marks(self, stmt: Any) -> list[str]:
        """The flags of a statement that its text does not show."""
        kind = type(stmt)
        if kind is Let:
            counted = [f"counted {shown(stmt.counted)}"] if stmt.counted else []
            return [*(text for field, text in FLAGS.items() if getattr(stmt, field)), *counted]
        if kind is Store:
            return [f"old {shown(stmt.old)}"] if stmt.old else []
        if kind is Effect:
            return [f"kind {stmt.kind}"] if stmt.kind else []
        if kind is Loop:
            every = [] if stmt.every is None else [f"every {text_of(stmt.every)}"]
            index = [f"index {shown(stmt.index)}"] if stmt.items is not None else []
            return [*index, *([f"trips {shown(stmt.trips)}"] if stmt.trips else []), *every]
        return [f"took {shown(stmt.took)}"] if kind is Try and stmt.took else []

    def typed(self, target: str) -> str:
        found = None if self.facts is None else self.facts.get(target)
        return shown(target) if found is None else f"{shown(target)}: {text_of_facts(found)}"

    def let(self, stmt: Let) -> list[str]:
        value = text_of(stmt.expr)
        if len(stmt.targets) == 1:
            return [f"{self.typed(stmt.target)} = {value}"]
        known = [t for t in stmt.targets if self.facts is not None and t in self.facts]
        return [f"{', '.join(map(shown, stmt.targets))} = {value}", *map(self.typed, known)]

    def store(self, stmt: Store) -> list[str]:
        target = text_of(subscript(name(stmt.base), stmt.index))
        if stmt.aug is None:
            return [f"{target} = {text_of(stmt.value)}"]
        node = gast.AugAssign(gast.Name("_", gast.Store(), None, None), stmt.aug(), whole(stmt.value))
        return [target + text_of(node).removeprefix("_")]

    def effect(self, stmt: Effect) -> list[str]:
        return text_of(stmt.expr).split("\n")

    def raise_(self, stmt: Raise) -> list[str]:
        return text_of(stmt.node).split("\n")

    def return_(self, stmt: Return) -> list[str]:
        return [f"return {text_of(stmt.value)}"]

    def if_(self, stmt: If) -> list[str]:
        lines = [f"if {text_of(stmt.test)}:", *self.inside(stmt.then)]
        if stmt.orelse:
            lines += ["else:", *self.inside(stmt.orelse)]
        return lines + [f"{self.typed(m.target)} = phi({shown(m.then)}, {shown(m.orelse)})" for m in stmt.merges]

    def loop(self, stmt: Loop) -> list[str]:
        before = [self.carry(c) for c in stmt.carries]
        if stmt.head:
            before += [f"with {HEAD}:", *self.inside(stmt.head)]
        lines = [f"{self.loop_head(stmt)}:", *self.inside(stmt.body, before)]
        if stmt.stop is not None:
            lines += [f"{INDENT}if {text_of(stmt.stop)}:", f"{INDENT}{INDENT}break"]
        return lines + [f"{self.typed(c.out)} = phi({shown(c.phi)})" for c in stmt.carries]

    def carry(self, carry: Carry) -> str:
        return f"{self.typed(carry.phi)} = phi({shown(carry.init)}, {shown(carry.next)})"

    def loop_head(self, stmt: Loop) -> str:
        if stmt.kind == "while":
            return f"while {text_of(stmt.test)}"
        bounds = [text_of(b) for b in stmt.bounds]
        target = shown(stmt.index) if stmt.items is None else text_of(stmt.items)
        return f"for {target} in {bounds[0] if stmt.kind == 'iter' else 'range(' + ', '.join(bounds) + ')'}"

    def with_(self, stmt: With) -> list[str]:
        items = [text_of(e) + (f" as {shown(bound)}" if bound else "") for e, bound in stmt.items]
        return [f"with {', '.join(items)}:", *self.inside(stmt.body)]

    def try_(self, stmt: Try) -> list[str]:
        lines = ["try:", *self.inside(stmt.body)]
        for kind, bound, block in stmt.handlers:
            caught = "" if kind is None else " " + parenthesised(kind) + (f" as {shown(bound)}" if bound else "")
            lines += [f"except{caught}:", *self.inside(block)]
        if stmt.final or not stmt.handlers:
            lines += ["finally:", *self.inside(stmt.final)]
        return lines + [f"{self.typed(target)} = phi({', '.join(map(shown, names))})" for target, names in stmt.merges]


for _kind in ("raise", "return", "if", "with", "try"):
    setattr(Printer, _kind, getattr(Printer, f"{_kind}_"))


def shown(variable: str | None) -> str:
    """A variable as the text has it; one that is called after a key of a dict may have any name.

    >>> shown("x.1"), shown("item_steel (lined).2"), shown(None)
    ('x.1', 'item_steel_lined.2', 'None')
    """
    hint, _, number = str(variable).rpartition(".")
    return f"{identifier(hint)}.{number}" if hint else number


def parenthesised(expr: Any) -> str:
    """The text of an expression where a tuple needs its parentheses."""
    return f"({text_of(expr)})" if isinstance(expr, gast.Tuple) else text_of(expr)


def text_of(expr: Any) -> str:
    """The text of an expression, on one line where it is no statement."""
    variables = {n: name(shown(n).replace(".", DOT)) for n in variables_in(expr)}
    text = UNDOTTED.sub(lambda m: m[1] or m[2] + ".", unparse(whole(substitute(expr, variables))).rstrip("\n"))
    return text if isinstance(expr, gast.stmt) else " ".join(line.strip() for line in text.split("\n"))


# -- facts


def text_of_facts(facts: Facts) -> str:
    """Facts as an expression of Python.

    >>> import numpy as np
    >>> text_of_facts(Num("array", np.dtype("f8"), (Dim("n", -1), 3, None), frozenset([2])))
    'float64[n - 1, 3, None] @ 2'
    """
    if isinstance(facts, Num):
        return text_of_number(facts)
    if isinstance(facts, Listed):
        return {False: "list", True: "tuple", None: "sequence"}[facts.is_tuple] + text_of_roots(facts.roots)
    if isinstance(facts, Mapped):
        return "dict" + text_of_roots(facts.roots)
    if isinstance(facts, Pair):
        return f"({''.join(text_of_facts(item) + ', ' for item in facts.items)})"
    cls: Any = facts.cls
    named = isinstance(cls, type) and getattr(builtins, cls.__name__, None) is cls
    return f"object({cls.__name__!r})" if named else "object"


def text_of_number(facts: Num) -> str:
    base = str(facts.kind) if facts.python else "number" if facts.dtype is None else str(facts.dtype)
    if facts.kind is None:
        base = f"unknown({base})"
    elif facts.kind == "array":
        base += "[...]" if facts.dims is None else f"[{', '.join(map(text_of_axis, facts.dims)) or '()'}]"
    elif facts.kind == "row":
        base = f"row({base})"
    if facts.size is not None:
        base += f"({text_of_axis(facts.size)})"
    return base + text_of_roots(facts.roots)


def text_of_axis(axis: Any) -> str:
    """A length; one that is 2 or more where it is known to be."""
    if not isinstance(axis, Dim):
        return str(axis)
    parts = axis.symbol if isinstance(axis.symbol, tuple) else (axis.symbol,)
    symbol = "_".join("".join(c if c.isalnum() else "_" for c in str(part)) for part in parts)
    offset = f" {'-' if axis.offset < 0 else '+'} {abs(axis.offset)}" if axis.offset else ""
    return symbol + offset + (" > 1" if axis.several else "")


def text_of_roots(roots: frozenset[int]) -> str:
    found = sorted(roots)
    return "" if not found else f" @ {found[0]}" if len(found) == 1 else f" @ {{{', '.join(map(str, found))}}}"
