"""The statements, and what they consist of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...errors import Origin
from .expr import Expr


@dataclass(eq=False)
class Op:
    """The operation of a `Let`, for differentiation: a row of the table and its bound arguments."""

    fn: Callable[..., Any]
    arguments: dict[str, Any]  # parameter name -> abstract value
    cls: type | None = None  # of a result that is a namedtuple
    shares: tuple[str, ...] = ()  # operands whose memory the result may share
    boxed: bool = False  # the result is the only item of the tuple that the function returns
    beside: tuple[str, ...] = ()  # variables that its rule reads and its expression does not


@dataclass(eq=False)
class Let:
    """``targets = expr``; without effects unless `effect` says so."""

    targets: tuple[str, ...]
    expr: Expr
    op: Op | None = None
    origin: Origin | None = None
    effect: bool = False
    may_raise: bool = False
    loud: bool = False  # it is where NumPy's warnings may be exceptions
    counted: str | None = None  # the number of which the user wrote ``x op= e``
    augments: bool = False  # the user wrote ``x op= e`` of an array that nothing else refers to
    in_place: bool = False  # ``x = x + e`` may change the memory of the old x: nobody reads that any more
    saves: bool = field(default=False, init=False, repr=False)  # it makes a list of saved values
    placed: bool = field(default=False, init=False, repr=False)  # it is written where the next statement stores into it
    repeats: Any = field(default=None, init=False, repr=False)  # of the reverse sweep: what it computes again
    state_reads: Any = field(default=(), init=False, repr=False)  # variables whose memory a call reads through a state

    @property
    def target(self) -> str:
        return self.targets[0]


@dataclass(eq=False)
class Store:
    """``base[index] = value``, or ``base[index] op= value``."""

    base: str
    index: Expr
    value: Expr
    aug: type | None = None
    origin: Origin | None = None
    op: Op | None = None  # with `aug`: the operator's row, bound to the old content and the operand
    old: str | None = None  # the name under which the overwritten content is known
    result: Any = None


REPEATED = "repeated"  # the kind of the reading of a variable that what follows reads as well
MAY_RAISE = "may raise"  # the kind of an effect that nothing else is expected of


@dataclass(eq=False)
class Effect:
    """An expression that is executed for what it does: ``print(...)``, ``items.append(x)``."""

    expr: Expr
    origin: Origin | None = None
    kind: str = ""  # "append", "pop", ... where the reverse sweep has to undo it
    operands: tuple[Any, ...] = ()
    state_reads: Any = field(default=(), init=False, repr=False)  # variables whose memory a call reads through a state


@dataclass(eq=False)
class Raise:
    """A statement that ends the path: ``raise`` or ``assert``, printed as the user wrote it."""

    node: Any
    origin: Origin | None = None


@dataclass
class Merge:
    target: str
    then: str | None
    orelse: str | None


@dataclass
class Carry:
    phi: str
    init: str | None
    next: str | None
    out: str


@dataclass(eq=False)
class If:
    test: Expr
    then: list[Any]
    orelse: list[Any]
    merges: list[Merge]
    origin: Origin | None = None
    # Of the reverse sweep: the branch that it reverses, or the `Try` and the number of the path.
    primal: Any = field(default=None, init=False, repr=False)
    path: tuple[Any, int] | None = field(default=None, init=False, repr=False)


@dataclass(eq=False)
class Loop:
    """``for index in range(...)``, ``for item in iterable`` or ``while test``; `stop` ends it at the end of a body.

    `trips` names the number of bodies run, where somebody asks for it.
    """

    kind: str  # "range", "iter" or "while"
    body: list[Any]
    carries: list[Carry]
    index: str | None = None
    bounds: tuple[Expr, ...] = ()  # of range; the iterable of iter
    head: list[Any] = field(default_factory=list)  # statements that compute `test`
    test: Expr | None = None
    stop: Expr | None = None
    trips: str | None = None
    origin: Origin | None = None
    every: Expr | None = None  # the steps of one segment, where the loop keeps its state at the start of each only
    folder: Expr | None = None  # where it keeps these states, if not in memory
    items: Expr | None = None  # of iter, set at the end: what an item is unpacked into, `index` among it
    # Set by `naming`: where the statement begins and ends, in the order of the program.
    place: float = field(default=0, init=False, repr=False)
    end: float = field(default=0, init=False, repr=False)
    # Of the reverse sweep: the loop that it reverses.
    primal: Any = field(default=None, init=False, repr=False)
    # Of the reverse sweep, where its loop is run in segments: what running one again needs; whether this is that run.
    rerun: Any = field(default=None, init=False, repr=False)
    state_reads: Any = field(default=(), init=False, repr=False)
    again: bool = field(default=False, init=False, repr=False)
    # Of a loop over strips: how many statements of its body are of the forward sweep.
    forward: int = field(default=0, init=False, repr=False)


@dataclass(eq=False)
class Rerun:
    """The outside values that are needed to run a segment of a loop again."""

    names: dict[str, str]  # what it reads, each under its name in the reverse sweep
    state: tuple[str, ...]  # those of them whose memory the loop changes
    stale: frozenset[int]  # the regions of that memory
    memory: tuple[str, ...] = ()  # what is kept on the disk: the arrays that the loop changes, read or not


@dataclass(eq=False)
class With:
    items: list[tuple[Expr, str | None]]
    body: list[Any]
    origin: Origin | None = None
    primal: Any = field(default=None, init=False, repr=False)  # of the reverse sweep: what it reverses


@dataclass(eq=False)
class Try:
    """``try`` whose handlers are like the second branch of an `If`; `took` names which path was taken."""

    body: list[Any]
    handlers: list[tuple[Expr | None, str | None, list[Any]]]
    final: list[Any]
    merges: list[tuple[str, list[str | None]]]
    took: str
    origin: Origin | None = None
    ended: frozenset[int] = frozenset()  # the paths that always raise
    place: float = field(default=0, init=False, repr=False)
    end: float = field(default=0, init=False, repr=False)


@dataclass(eq=False)
class Return:
    value: Expr
    origin: Origin | None = None
    single: bool = field(default=False, init=False, repr=False)  # of one result only, which may be a tuple itself


Block = list[Any]
SIMPLE = frozenset((Let, Store, Effect, Raise, Return))  # statements without blocks inside
