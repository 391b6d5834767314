"""What the compiler is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...errors import Refused
from .. import ir
from ..domain.values import Value
from .builder import Specialiser


@dataclass
class Arguments:
    """The parameters of an emitted function and what stands for each of them."""

    names: dict[str, str] = field(default_factory=dict)  # variable -> name of the parameter
    values: dict[str, Value] = field(default_factory=dict)  # parameter -> value
    entries: dict[str, ir.Let] = field(
        default_factory=dict
    )  # variable -> the statement that takes it out of a parameter
    owners: dict[str, str] = field(default_factory=dict)  # variable -> the parameter that it is in
    written: frozenset[str] = frozenset()  # parameters that the program writes
    changed: frozenset[str] = frozenset()  # the places in them of arrays that the user's text writes, as ``x['w']``
    rebound: frozenset[str] = frozenset()  # the places of what the text changes, with a bracket those of lists
    objects: dict[Any, str] = field(default_factory=dict)  # the identities of dicts and objects in them -> their places
    outside: tuple[Callable[[], Any], ...] = ()  # objects outside, where an argument that is one would be changed
    published: bool = False  # whether the program changes one of these
    ordered: bool = False  # whether those have to lie in C order
    handed: list[str] = field(default_factory=list)  # variables of the value as a forward function returns it


@dataclass
class LibraryCalls:
    """The calls of such functions in a program."""

    met: set[Any] = field(default_factory=set)  # functions and classes that are called as they stand
    followed: set[Any] = field(default_factory=set)
    refusing: set[Any] = field(default_factory=set)  # functions of any package whose text cannot be followed
    lacking: Any = None  # the one of them through which a derivative would pass
    refused: Refused | None = None  # the first refusal, of the program that follows none

    def widen(self) -> bool:
        """Follow what stands in the way of the program that was refused; False if nothing can be followed."""
        wanted = {self.lacking} if self.lacking in self.met else self.met
        more = wanted - self.followed
        self.followed |= more
        self.met, self.lacking = set(), None
        return bool(more)


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
    memory: int | None = None  # bytes that what its loops save may take
    explain: bool = False  # whether the text says why it keeps, computes again or puts back what it does
    lists: bool = False  # whether loops may have arrays as lists: who calls can run the program again without
    careful: bool = False  # whether no derivative may raise what floats raise: infinite and NaN as NumPy's numbers are
    strong: frozenset[Any] = frozenset()  # the functions whose zero derivatives stay zero: `ad.strong_zeros`
    perturbed: bool = False  # whether spectra are perturbed, for derivatives at degenerate ones
    shared: dict[Any, list[Any]] | None = None  # is told which functions stay calls; None where all are inlined
    derivatives_met: list[Any] = field(default_factory=list)  # is told the derivatives in the program, and where
    calls_derivatives: bool = False  # whether gradients in the program stay calls, each with a derivative of its own
    by_settings: bool = False  # whether integers that are settings are known: `settings`
    settings_met: list[str] = field(default_factory=list)  # is told the defaults in the program that are settings
    observe: Callable[[str, Specialiser, ir.Block], None] | None = None  # is shown the program after each stage
    capture: Callable[[Specialiser, Arguments], Value] | None = None  # brings the callable of an enclosing program in
    libraries: LibraryCalls = field(default_factory=LibraryCalls)  # which texts of NumPy and SciPy are followed
    exact: bool = False  # whether the value has to be the primal's bit for bit, also inside an enclosing program

    @property
    def valued(self) -> bool:
        """True if the value has to be the primal's bit for bit."""
        alone = self.backend == "numpy" and self.capture is None
        return self.exact or (alone and (self.value or self.split or self.has_aux))


def observe(request: Request, stage: str, s: Specialiser, block: ir.Block) -> None:
    """Show the program after a stage to whoever asked."""
    if request.observe is not None:
        request.observe(stage, s, block)
