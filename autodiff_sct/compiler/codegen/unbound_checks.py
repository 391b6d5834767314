"""Readings of variables that some paths leave unbound, as text.

``y`` by itself raises where it is unbound.  Where the text gives it None at the beginning, it is compared with that.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..domain.facts import Listed, Mapped, Num, Opaque
from ..ir.builder import Specialiser
from .emit import Emitter

BLOCKS = ("body", "orelse", "handlers", "finalbody")


def with_checks(emitter: Emitter, body: list[Any], none: set[str]) -> list[Any]:
    """The statements of `body`, before which the names in `none` are given None."""
    none = set(none)
    while found := {target for target, source in emitter.moves if source in none} - none:
        none |= found
    return checked(emitter.s, body, none)


def checked(s: Specialiser, body: list[Any], none: set[str]) -> list[Any]:
    """The statements of `body`, in which the names in `none` stand for None where they are unbound."""
    result = []
    for node in body:
        for field in BLOCKS:
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, checked(s, getattr(node, field), none))
        reading = getattr(node, "reading", None)
        if reading is not None and node.value.id in none and is_never_none(s, reading):
            result.append(check(s, node.value.id, reading))
        elif reading is None or not node.repeated:
            result.append(node)
    return result


def is_never_none(s: Specialiser, variable: str) -> bool:
    """True if a variable that is bound is surely not None."""
    facts = s.facts[variable]
    if isinstance(facts, Opaque):
        return facts.cls not in (None, type(None))
    return isinstance(facts, (Listed, Mapped)) or (isinstance(facts, Num) and facts.unless_none is None)


def check(s: Specialiser, text: str, variable: str) -> Any:
    """``if y is None: raise UnboundLocalError(...)``."""
    test = gast.Compare(ir.name(text), [gast.Is()], [ir.constant(None)])
    message = f"cannot access local variable {s.hints[variable]!r} where it is not associated with a value"
    return gast.If(test, [gast.Raise(ir.call("UnboundLocalError", ir.constant(message)), None)], [])


def targets(assignments: list[Any]) -> set[str]:
    """The names that statements of the form ``y = None`` assign."""
    return {node.targets[0].id for node in assignments}
