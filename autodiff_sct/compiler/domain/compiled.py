"""What the compiler gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .dependencies import World
from .values import External


@dataclass
class Emitted:
    """An emitted function and how to call it."""

    text: str
    function: Callable[..., Any] | None
    externals: list[External]
    guards: list[Any]
    namespace: dict[str, Any] = field(default_factory=dict)
    written: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()  # the places in the arguments of arrays that have to be writable
    rebound: frozenset[str] = frozenset()  # the places of what must not be in another place, too
    ordered: bool = False  # whether what is written has to come in C order
    wrap: Any = None  # where the value holds tensors
    tensors: bool = False  # whether anything is a tensor
    count: int = 1  # results of the emitted function
    seeds: Any = True  # where the output takes seeds
    effects: bool = False  # whether the function does something besides returning
    parts: tuple[tuple[str, str, str], ...] = ()  # names, what they are, and texts of its functions
    world: World = field(default_factory=World)  # what it was compiled against
    level: int = 1  # of its tangents, above those of the programs inside it
    lists: bool = False  # whether loops have arrays as lists
    singular: bool = False  # whether a slope in it may be infinite, so that zero times it may be NaN
    spectral: bool = False  # whether it differentiates a spectrum, which may be degenerate
    again: bool = False  # whether nobody can tell that it was run up to an exception and then once more
    outside: tuple[Callable[[], Any], ...] = ()  # objects that it finds by itself, of which arguments may be some
    published: bool = False  # whether it changes one of them
