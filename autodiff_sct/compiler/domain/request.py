"""Requests to the compiler, its results, and the ways that an attempt may take.

Ways to compile a program that are worse than the plain one, and which of them an attempt takes.

`driver.attempts` decides: a program that is refused is compiled again, in all the ways that may lift the refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from .assumptions import Assumption, Sizes
from .dependencies import World
from .values import External, Value

if TYPE_CHECKING:
    from .. import ir
    from ..interp.kernel.specialiser import Specialiser

__all__ = ["Attempt", "Way"]


class Way(Enum):
    """The differences of an attempt from the first one."""

    __hash__ = object.__hash__  # it is asked for all the time; that of `Enum` is a function in Python

    INLINE = "large functions that stayed calls are inlined"
    CALL = "gradients in the program stay calls, each with a derivative of its own"
    TEXTS = "the texts of functions of NumPy and SciPy without a rule are followed"
    ASK = "calls in installed packages that no derivative passes through are carried out while compiling"
    LATE = "what cannot be followed in installed packages is refused where the run comes to it"
    SHORT = "short lists that are written out stay at compile time, and loops over them can be written out, too"
    DEFAULTS = "integers are known: defaults of parameters, items of tuples and what packages read from outside"
    LENGTHS = "short lists and axes of arrays that are arguments or captured have the lengths that they have"
    ASSEMBLED = "sparse matrices that are assembled element by element are lists of what is stored in them"
    FIELDS = "structured and masked arrays that the program makes are the arrays in them"
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
class Request:
    """A request: the callable to differentiate, the kinds of its arguments, and the wanted results."""

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
    attempt: Attempt = field(default_factory=Attempt)  # how it is compiled
    observe: Callable[[str, Specialiser, ir.Block], None] | None = None  # is shown the program after each stage
    capture: Callable[[Specialiser, Arguments], Value] | None = None  # brings the callable of an enclosing program in
    order: int = 0  # how many derivatives around it this one is inside
    exact: bool = False  # whether the value has to be the primal's bit for bit, also inside an enclosing program
    sizes: Sizes = field(default_factory=Sizes)  # of the arguments of the call that is compiled for

    @property
    def called(self) -> str:
        """The name of the function in messages."""
        return "the lambda" if self.name == "lambda_" else self.name

    @property
    def valued(self) -> bool:
        """True if the value has to be the primal's bit for bit."""
        alone = self.backend == "numpy" and self.capture is None
        return self.exact or (alone and (self.value or self.split or self.has_aux))


def observe(request: Request, stage: str, s: Specialiser, block: ir.Block) -> None:
    """Show the program after a stage to whoever asked."""
    if request.observe is not None:
        request.observe(stage, s, block)


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
    assumed: tuple[Assumption, ...] = ()  # of the sizes of its arguments
