"""What the compiler is asked for, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import ir
from .arguments import Arguments
from .specialise.state import Specialiser
from .specialise.values import External, Value


@dataclass
class Request:
    """What to differentiate: a callable, what its arguments are, and what is wanted."""

    fn: Any
    parameters: dict[str, Any]  # name -> (kind, tree)
    wrt: tuple[str, ...]
    weights: tuple[Any, ...] = ()
    has_aux: bool = False
    seeded: bool = False  # whether the caller gives the seeds; else they are ones
    split: bool = False  # a forward and a backward function, the second of which may be run many times
    value: bool = False
    name: str = "f"
    backend: str = "numpy"
    lists: bool = False  # whether loops may have arrays as lists: who calls can run the program again without
    observe: Callable[[str, Specialiser, ir.Block], None] | None = None  # is shown the program after each stage
    capture: Callable[[Specialiser, Arguments], Value] | None = None  # brings the callable of an enclosing program in


@dataclass
class Emitted:
    """An emitted function and how to call it."""

    text: str
    function: Callable[..., Any] | None
    externals: list[External]
    guards: list[Any]
    output: Any  # the tree of the result: where its leaves are, and which carry a seed
    namespace: dict[str, Any] = field(default_factory=dict)
    written: frozenset[str] = frozenset()
    wrap: Any = None  # where the value holds tensors
    tensors: bool = False  # whether anything is a tensor
    count: int = 1  # results of the emitted function
    seeds: Any = True  # where the output takes seeds
    effects: bool = False  # whether the function does something besides returning
    lists: bool = False  # whether loops have arrays as lists


def observe(request: Request, stage: str, s: Specialiser, block: ir.Block) -> None:
    """Show the program after a stage to whoever asked."""
    if request.observe is not None:
        request.observe(stage, s, block)
