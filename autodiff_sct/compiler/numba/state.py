"""The state of one lowering: the native program that is being written, and what is known of its variables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from ...errors import Origin
from .. import ir
from ..analysis.alias import Regions, roots_of
from ..domain.facts import FLOAT, INT, Dim, Num
from ..ir.function import Function
from .kinds import BOOL, COUNTED, DTYPES, INT64, ONE, SCALARS, Axis, Grid, Item, Number, Outside, Value
from .lowering.scalars import within
from .passes.affine import Form, form_of, reads_memory


@dataclass
class Scope:
    """A control statement around the place where is being written.

    A loop over a range has its index and the first and last value of it; `before` collects what is checked before it.
    """

    kind: str  # "range", "while" or "if"
    index: str | None = None
    low: Form | None = None
    high: Form | None = None
    stops: bool = False  # whether the loop may end before its range does
    before: ir.Block = field(default_factory=list)
    equal: set[Any] = field(default_factory=set)  # pairs of lengths that were found equal
    known: list[Form] = field(default_factory=list)  # sums of which it is known that they are at least zero
    tested: set[str] = field(default_factory=set)  # what has been checked
    block: ir.Block | None = None  # what is being written into
    around: ir.Block | None = None  # what the control statement itself is written into


@dataclass
class Counter:
    """The number of used arrays in lists that are filled and emptied together."""

    name: str
    members: int
    pushed: int = 0
    popped: int = 0
    checked: bool = False  # whether there is a check of room for one more item of each list


@dataclass
class Stack:
    """A list of saved numbers: an array and how much of it is used.  A list of arrays stays a list.

    What is saved shows at the first time: then `made` is filled in, which makes the list.
    """

    array: str
    counter: Counter
    made: list[ir.Effect]
    dtype: np.dtype | None = None
    ndim: int = 0
    python: bool | None = None
    bits: int = 0
    axes: tuple[Axis, ...] = ()  # those of what is saved; None as a key where arrays of several lengths are
    copies: bool = False  # whether copies of arrays are saved where NumPy saves the arrays
    parts: bool = False  # whether arrays are saved as parts of one
    item: Item | None = None  # where lists are saved: what their items are
    row: tuple[int, ...] | None = None  # the shape of what is saved, where each is a small array of that shape


class State:
    """The state that the functions of this package share."""

    def __init__(self, s: Function, where: Regions, uses: dict[str, int]) -> None:
        self.s, self.where, self.uses = s, where, uses
        self.out: ir.Block = []
        self.values: dict[str, Value] = {}
        self.kinds: dict[str, Any] = {}  # variable -> what the compiler behind must see as one type
        self.depth: dict[str, int] = {}
        self.scopes: list[Scope] = [Scope("if")]
        self.forms: dict[str, Form] = {}
        self.ranges: dict[Any, tuple[Form, Form]] = {}  # an atom of sums -> its least and its greatest value
        self.stacks: dict[str, Stack] = {}
        self.together: dict[str, Any] = {}  # list -> what it has in common with those that it shares a counter with
        self.counters_of: dict[Any, Counter] = {}
        self.following: ir.Block = []  # the statements after this one in its block
        self.demand: dict[str, list[Form]] = {}  # stack -> what the block being written pushes on it
        self.origin: Origin | None = None
        self.reserved: set[str] = {"np", "math", "NoRoom", *SCALARS}
        self.room: str | None = None  # the parameter that says for how many items there is room in lists that grow
        self.imported: set[str] = set()
        self.equal = s.lengths  # which lengths are taken for equal, if what comes from outside has them so
        self.groups: dict[Any, Any] = {}  # memory that may be the same: a forest
        self.counters: set[str] = set()  # integers that loops carry
        self.entered: dict[Any, Any] = {}  # a length of what comes from outside -> the one that it was found to equal
        self.lengths: dict[Any, Any] = {}  # the latter -> its expression
        self.entered_as: dict[str, Dim] = {}  # the expression of a length of what comes from outside -> that length
        self.bound: dict[str, str] = {}  # a variable that may be unbound -> the one that tells whether it is bound
        self.written: set[int] = set()  # the memory that the program writes
        self.written_later: set[str] = set()  # variables through which the program writes what was saved in a list
        self.lists: set[int] = set()  # lists that are changed, or that branches and loops hand on
        self.reversing = False  # whether the reverse sweep is being written
        self.given: set[str] = set()  # arrays from outside, which nothing here writes

    # -- writing

    def emit(self, stmt: Any) -> None:
        if getattr(stmt, "origin", None) is None and hasattr(stmt, "origin"):
            stmt.origin = self.origin
        self.out.append(stmt)

    @contextmanager
    def writing(self) -> Iterator[ir.Block]:
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[ir.Block]:
        """Write the body of a control statement."""
        scope.around = self.out
        if scope.low is not None and scope.high is not None:
            scope.known.append(scope.high.plus(scope.low, -1))
        self.scopes.append(scope)
        try:
            with self.writing() as scope.block:
                yield scope.block
        finally:
            self.scopes.pop()

    @property
    def level(self) -> int:
        return len(self.scopes) - 1

    @property
    def in_loop(self) -> bool:
        return any(scope.kind != "if" for scope in self.scopes)

    def fresh(self, hint: str, kind: Any) -> str:
        variable = self.s.fresh(hint, FLOAT if kind != INT64 else INT)
        self.define(variable, kind)
        return variable

    def define(self, variable: str, kind: Any) -> None:
        self.kinds[variable] = kind
        self.depth[variable] = self.level

    def let(self, number: Number, hint: str = "t") -> Number:
        """A number in a variable."""
        inner = number.expr.operand if isinstance(number.expr, gast.UnaryOp) else number.expr
        if isinstance(number.expr, (gast.Name, gast.Constant)) or isinstance(inner, gast.Constant):
            return number
        variable = self.fresh(hint, number.dtype)
        if number.dtype == INT64 and not reads_memory(number.expr):
            self.forms[variable] = form_of(self, number.expr)
        self.emit(ir.Let((variable,), number.expr))
        result = Number(ir.name(variable), number.dtype, number.python, number.bits)
        self.values[variable] = result
        return result

    def settled(self, number: Number) -> Number:
        """An integer that names places: one of NumPy's that may have wrapped round is looked at."""
        if number.bits <= 63:
            return number
        variable = self.fresh("k", INT64)
        self.emit(ir.Let((variable,), number.expr))
        self.check(within(ir.name(variable), COUNTED))
        self.values[variable] = Number(ir.name(variable), INT64, number.python, COUNTED)
        return self.values[variable]

    def check(self, test: Any) -> None:
        """Give the call up unless `test` holds: the NumPy program then runs."""
        key = "" if reads_memory(test) else gast.dump(test)
        if any(key in scope.tested for scope in self.scopes):
            return
        self.emit(ir.Effect(gast.Assert(test, None)))
        if key and self.out is self.scopes[-1].block:
            self.scopes[-1].tested.add(key)

    def learn(self, form: Form, level: int) -> None:
        """Note that a sum is at least zero from here on in the block at some level, as a check there has seen to it."""
        if any(reads_memory(expr) for _, _, expr in form.terms):
            return
        told = self.out if level == self.level else self.scopes[level + 1].around
        if told is self.scopes[level].block:
            self.scopes[level].known.append(form)

    def outside(self, reason: str) -> Outside:
        return Outside(reason, self.origin)

    # -- arrays

    def array(self, variable: str, axes: tuple[Axis, ...], dtype: np.dtype, contiguous: bool) -> Grid:
        """Note that a variable holds an array, with the lengths that `axes` have."""
        lengths = [
            ir.constant(axis.key) if isinstance(axis.key, int) else length_of(variable, k, len(axes))
            for k, axis in enumerate(axes)
        ]
        own = tuple(ONE if axis.one else Axis(length, axis.key) for length, axis in zip(lengths, axes))
        grid = Grid(own, dtype, element(variable, own), ir.name(variable), contiguous)
        self.values[variable] = grid
        self.define(variable, (dtype, len(axes)))
        return grid

    def array_of_facts(self, variable: str) -> Grid:
        """Note that a variable holds the array that its facts describe."""
        facts = self.s.facts[variable]
        if not isinstance(facts, Num) or facts.dtype is None or facts.dims is None:
            raise self.outside("an array whose dtype or rank is not known before the run")
        if facts.dtype not in DTYPES:
            raise self.outside(f"an array of {facts.dtype}")
        axes = []
        for k, dim in enumerate(facts.dims):
            dim = self.canonical(dim)
            axes.append(ONE if dim == 1 else Axis(None, dim if dim is not None else (variable, k)))
        return self.array(variable, tuple(axes), facts.dtype, False)

    def canonical(self, dim: Any) -> Any:
        """One name of a length that goes by several.

        Lengths that meet in the program are equal, or NumPy raises there: here nothing is taken for equal but what
        `enter` has checked.
        """
        return self.entered.get(dim, dim)

    def enter(self, variable: str) -> Grid:
        """Note that a variable holds an array from outside; lengths that the program takes for equal are compared."""
        self.given.add(variable)
        facts = self.s.facts[variable]
        dims = (isinstance(facts, Num) and facts.dims) or ()
        for k, dim in enumerate(dims):
            if not isinstance(dim, Dim):
                continue
            known = self.entered[dim] = self.equal.canonical(dim)
            length = length_of(variable, k, len(dims))
            expected = ir.constant(known) if isinstance(known, int) else self.lengths.setdefault(known, length)
            if isinstance(known, Dim):
                self.entered_as[gast.dump(length)] = known
            if expected is not length:
                self.check(gast.Compare(length, [gast.Eq()], [expected]))
        return self.array_of_facts(variable)

    def lasting(self, axis: Axis) -> Any:
        """The length of an axis by what came from outside, where it is one of those: that does not change."""
        if axis.key in self.lengths:
            return self.lengths[axis.key]
        whole = self.outer(axis.key.symbol) if isinstance(axis.key, Dim) else None
        return axis.length if whole is None else Form((("", 1, self.lengths[whole]),), axis.key.offset).expr()

    def outer(self, symbol: Any) -> Dim | None:
        """The length from outside that a symbol stands for."""
        return next((d for d in (Dim(symbol), Dim(symbol, several=True)) if d in self.lengths), None)

    # -- memory

    def find(self, token: Any) -> Any:
        while (up := self.groups.get(token, token)) != token:
            token = up
        return token

    def tokens(self, variable: str) -> set[Any]:
        """The tokens of the memory that a variable may be in."""
        roots = roots_of(self.s.facts[variable])
        return {self.find(token) for token in [variable, *(self.where.find(root) for root in roots)]}

    def share(self, *variables: str) -> None:
        """Note that variables may share memory."""
        found = [token for variable in variables for token in self.tokens(variable)]
        for token in found:
            self.groups[self.find(token)] = self.find(found[0])

    def may_alias(self, a: str, b: str) -> bool:
        """True if two variables may share memory."""
        return a == b or bool(self.tokens(a) & self.tokens(b))

    def same_length(self, a: Axis, b: Axis) -> None:
        """Make sure that two axes have one length."""
        if a.key == b.key or any((a.key, b.key) in scope.equal for scope in self.scopes):
            return
        self.check(gast.Compare(a.length, [gast.Eq()], [b.length]))
        self.scopes[-1].equal.add((a.key, b.key))


def length_of(variable: str, axis: int, ndim: int) -> Any:
    if ndim == 1:
        return ir.call("len", ir.name(variable))
    return ir.subscript(ir.attribute(ir.name(variable), "shape"), ir.constant(axis))


def element(variable: str, axes: tuple[Axis, ...]) -> Any:
    """The expression of an element of a variable."""

    def at(index: list[Any]) -> Any:
        places = [ir.constant(0) if axis.one else i for axis, i in zip(axes, index)]
        return ir.subscript(ir.name(variable), places[0] if len(places) == 1 else ir.tuple_(places))

    return at


__all__ = ["BOOL", "Scope", "Stack", "State", "element", "length_of"]
