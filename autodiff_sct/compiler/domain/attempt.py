"""Ways to compile a program that are worse than the plain one, and which of them an attempt takes.

`driver.attempts` decides: a program that is refused is compiled again, in all the ways that may lift the refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["Attempt", "Way"]


class Way(Enum):
    """The differences of an attempt from the first one."""

    INLINE = "large functions that stayed calls are inlined"
    CALL = "gradients in the program stay calls, each with a derivative of its own"
    TEXTS = "the texts of functions of NumPy and SciPy without a rule are followed"
    ASK = "calls in installed packages that no derivative passes through are carried out while compiling"
    LATE = "what cannot be followed in installed packages is refused where the run comes to it"
    SHORT = "short lists that are written out stay at compile time, and loops over them can be written out, too"
    DEFAULTS = "integers are known: defaults of parameters, items of tuples and what packages read from outside"
    INTEGERS = "the arguments that are integers are known"


@dataclass
class Attempt:
    """The ways that an attempt takes, and what it met."""

    ways: frozenset[Way] = frozenset()
    met: set[Way] = field(default_factory=set)  # those that make a difference to the program
    specialised: bool = False  # whether it was refused later
    derivatives: list[Any] = field(default_factory=list)  # the derivatives in the program, and where they are taken
    unfollowed: dict[Any, Any] = field(default_factory=dict)  # functions of packages -> why they are not followed

    def takes(self, way: Way) -> bool:
        """True if a way is taken, which is noted to make a difference here."""
        self.met.add(way)
        return way in self.ways
