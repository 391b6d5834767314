"""Arguments that hold themselves, or containers one in the other without end, which no tree describes."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from ..domain.leaves import children

__all__ = ["refuse_endless"]

DEEPEST = 100  # containers one in the other


def refuse_endless(called: str, arguments: dict[str, Any]) -> None:
    """Refuse an argument in which a container holds itself, or that is too deep to be described."""
    for name, value in arguments.items():
        if (reason := endless(value)) is not None:
            raise ArgumentValueError(
                f"the argument {name!r} of {called} {reason}: pass the numbers and arrays in it that {called} reads, "
                "or let it read the object from outside, under a global name"
            )


def endless(value: Any) -> str | None:
    """What is wrong with an argument: a walk without recursion, which enters and leaves each container."""
    inside: list[int] = []  # containers around the place
    waiting: list[tuple[Any, bool]] = [(value, True)]
    while waiting:
        here, entered = waiting.pop()
        if not entered:
            inside.pop()
            continue
        parts = children(here)
        if not parts:
            continue
        if id(here) in inside:
            return "holds itself"
        if len(inside) == DEEPEST:
            return f"has more than {DEEPEST} containers one in the other"
        inside.append(id(here))
        waiting.append((here, False))
        waiting += [(part, True) for part in parts.values()]
    return None
