"""The specialiser's state: the block being written, the environment, and the tables that later stages read.

Here is also which values a list or dict in a variable may hold, and as what (`storable`, `element_facts`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from operator import is_
from typing import Any

from ...errors import Origin
from .. import ir
from ..domain.dependencies import World
from ..domain.facts import MANY, Dim, Facts, Listed, Mapped, Num, Opaque, Pair, are_mixed, blurred, join
from ..domain.request import Attempt
from ..domain.values import (
    Const,
    Frame,
    Later,
    Leaf,
    ListV,
    Obj,
    SliceV,
    TupleV,
    Value,
    is_packaged,
)
from .dims import Lengths
from .program_values import ProgramValues, Restart


class Role(enum.Enum):
    """The role of a variable in a derivative, and the prefix of its name; others are the program's own."""

    COTANGENT = "d_"
    SEED = "d_out"  # the cotangent of a result, which the emitted function is given
    TANGENT = "t_"
    SAVED = "saved_"  # lists of values that the reverse sweep reads
    TAKEN = "took_"  # lists of tests, which tell it the sides of branches that were taken
    STATE = "kept_"  # lists of what is kept at the start of segments


COTANGENTS = (Role.COTANGENT, Role.SEED)
TAPE = (Role.SAVED, Role.TAKEN)


class Specialiser(ProgramValues):
    """Everything that one specialisation knows; the stages after it read the tables."""

    def __init__(self, dynamic: set[Any] | None = None, derivatives: dict[Any, list[Any]] | None = None) -> None:
        self.begin_containers()
        self.begin_sweeps()
        self.begin_functions()
        self.block: ir.Block = []
        self.begin_lengths(self.block)
        self.env: dict[Any, Value] = {}
        self.initial: dict[Any, Value] = {}  # the environment before the program
        self.facts: dict[str, Facts] = {}
        self.hints: dict[str, str] = {}
        self.roles: dict[str, Role] = {}  # of variables that a derivative has beside those of the program
        self.named: set[str] = set()  # variables that carry a name of the user's
        self.called: set[str] = set()  # these names, but for those of the arguments
        self.elements: dict[int, Facts] = {}  # root of a list or dict -> facts of what is in it
        self.counter = 0
        self.iteration: tuple[int, ...] = ()  # of the loops around that are written out
        self.rule_calls = 0  # numbers the activations of rules, alike in each writing of a loop's body
        self.roots: dict[Any, int] = {}
        self.frame: Frame | None = None
        self.frames: dict[Any, int] = {}
        self.texts: dict[int, Any] = {}  # the user's functions that are compiled into the program, as `Parsed`
        self.node: Any = None
        self.origin: Origin | None = None  # overrides the node's, in rules
        self.dynamic = dynamic if dynamic is not None else set()
        self.globals: dict[str, Any] = {}  # names of the emitted module -> objects
        self.parameters: set[str] = set()  # names of the emitted function, which hide its module's
        self.externals: dict[Any, Any] = {}
        self.guards: list[Any] = []
        self.world = World()
        self.frozen: set[Any] = set()
        self.stands_for: dict[Any, tuple[Obj, ...]] = {}  # what may be meant by an object that a branch or a loop chose
        self.shadowed: set[Any] = set()  # attributes of classes that objects have of their own on some paths
        self.unsure: set[Any] = set()  # attributes of objects, as their keys, that some path did not assign
        self.births: dict[Any, ir.Block] = {}  # where each object was made
        self.merging: set[Any] = set()  # ids of objects whose fields are being merged
        self.carrying: list[Any] = []  # objects that a loop is found to carry, and what it does: their fields are next
        self.solved: dict[Any, dict[Any, Any]] = {}  # what loops carry, by their places, until the outermost is done
        self.objects: dict[Any, Any] = {}  # id of an Obj that exists outside -> (object, read)
        self.symbols: dict[int, str] = {}  # number of an object outside -> what the program calls it
        self.identities: dict[int, tuple[int, Any]] = {}  # id of an outside object -> its number, and it
        self.tells: dict[str, tuple[Value, bool]] = {}  # a test -> what it says of: whether that is None, or is not
        self.opposites: dict[str, Leaf] = {}  # a test -> that of which it is the opposite
        self.witnesses: set[str] = set()  # items that tell so, and are numbers where they are read
        self.notes: dict[Any, list[str]] | None = None  # on statements, where explanations are asked for
        self.effects = False  # whether the program does something besides returning
        self.held: frozenset[int] = frozenset()  # roots of arrays that loops go over or that callers see
        self.lazy: frozenset[int] = frozenset()  # roots of arrays that generators under names read
        self.replaced: frozenset[int] = frozenset()  # roots of arrays for which an augmented assignment makes new ones
        self.branches = 0  # sides of branches around the block being written
        self.functions: list[Any] = []  # definitions emitted beside the main function
        # Place of a call -> the derivative programs emitted for it, by earlier runs of the same program, too: places in
        # their texts are told by the nodes of these.
        self.derivatives: dict[Any, list[Any]] = derivatives if derivatives is not None else {}
        self.guarded = True  # whether objects in tables must not be written as the numbers that they are
        self.handles = False  # whether the program handles exceptions
        self.attempts = self.loud = 0  # blocks around: under handlers, and where NumPy's warnings may be exceptions
        self.hearing = 0  # blocks around under handlers that would catch a refusal
        self.level = 1  # of the tangents of this program: above those of the programs that are part of it
        self.loops = 0  # how many loops are being specialised
        self.indices: dict[int, str | None] = {}  # depth of a loop -> its index

    def begin_functions(self) -> None:
        """Make the tables of the functions and classes that the program uses."""
        self.imports: dict[Any, Value] = {}
        self.classes: dict[type, Any] = {}  # classes of the user's, each with the guard of its methods
        self.watched: set[Any] = set()  # methods of single objects that are guarded
        self.inside: dict[Any, Frame] = {}  # classes of the program and their methods -> where they are defined
        self.definitions: dict[str, Any] = {}
        self.short_loops: dict[Any, int] = {}  # sites of the loops around that could be written out -> their depth
        self.recursions: dict[Any, Any] = {}  # kind of call -> the recursive function compiled for it
        self.recursive_calls = 0
        self.inlined: set[Any] = set()  # functions that could not be compiled as such, and are inlined
        self.written_at: dict[Any, int] = {}  # a function -> how many variables inlining it has made
        self.strong: frozenset[Any] = frozenset()  # functions whose zero derivatives stay zero
        self.order = 0  # how many derivatives around it this program is inside
        self.singular = False  # whether a function is differentiated whose slope may be infinite
        self.selects = self.multiplies = False  # whether functions that choose, or products, are differentiated
        self.spectral = False  # whether a function is differentiated that has a perturbed one
        self.perturbed = False  # whether perturbed functions stand for those that have one
        self.read_again = False  # True if another program calls the emitted one, so that it is differentiated again
        self.shared: dict[Any, list[Any]] | None = None  # a function -> its forms that stay calls; None where none may

    def begin_sweeps(self) -> None:
        """Make the tables of variables that differentiation reads."""
        self.active: set[str] = set()  # variables that carry a derivative, once that is known
        self.stopped: set[str] = set()  # what stop_gradient returned
        self.fits: dict[str, str] = {}  # cotangent -> the variable whose shape it surely has
        self.careful = False  # whether derivatives are infinite or NaN where NumPy's numbers are
        self.alike: dict[str, str] = {}  # variable -> one that surely has its shape and dtype
        self.all_of: dict[str, str] = {}  # view of all of an array, such as ``x[:]`` -> the array
        self.exact: set[str] = (
            set()
        )  # arrays on whose order in memory the last digits of a value that is asked for depend
        self.relies = False  # whether a call that raises has to be run again as the program was before some passes
        self.saved: set[str] = set()  # lists that carry values from the forward to the reverse sweep
        self.in_rows: dict[str, Any] = {}  # those of short vectors -> the loop that fills them, and its reverse
        self.unbound: set[str] = set()  # variables that some paths leave unbound
        self.partly: set[str] = set()  # those that may be, as far as that is known where they are made
        self.deleted: set[Any] = set()  # names that `del` unbinds
        self.defaulted: set[str] = set()  # those of them that both sweeps read on all paths: None where unbound

    def begin_containers(self) -> None:
        """Make the tables of lists, dicts, sets and iterators; facts of their items are in `elements`."""
        # roots of lists and dicts that hold containers beside numbers, and the roots of what they hold
        self.mixed: dict[int, frozenset[int]] = {}
        self.walked_known: set[Any] = set()  # lists at compile time that iterators with names go over
        self.gone_over_known: set[Any] = set()  # lists and dicts at compile time that are gone over, maybe later
        self.integer_lists: set[Any] = (
            set()
        )  # lists of a few integers, at compile time as long as nothing goes over them
        self.by_itself: Any = None  # the expression of the last statement that is one, and there for what it does
        self.wrappers: tuple[Any, ...] = ()  # wrappers of packages around, each with arguments to enter it with
        self.strictly = 0  # calls around that are not followed unless all of their text can be
        self.attempt = Attempt()  # in which ways the program is compiled
        self.displays: dict[int, int] = {}  # root of a list display -> how many items it has
        self.foreign: frozenset[int] = frozenset()  # memory that objects of unknown classes may hold
        self.nesting: dict[int, tuple[int, int]] = {}  # root of a list display -> the loops and branches around it
        self.resized: set[int] = set()  # roots of lists whose length changes
        self.assumed: set[int] = set()  # roots of lists whose length is that of the display
        self.factories: dict[Any, Value] = {}  # of a defaultdict
        self.memos: set[Any] = set()  # what functions with a cache remember, as the environment has it
        self.counters: set[Any] = set()  # places and roots of dicts that count, where what is missing is 0
        self.cursors: dict[Any, Any] = {}  # an iterator -> what it goes over
        self.walks: dict[Any, list[Lengths]] = {}  # an iterator -> the bodies of loops that go over it
        self.walked: frozenset[int] = frozenset()  # roots of lists that have iterators
        self.keys_of: dict[int, frozenset[int]] = {}  # of lists of keys: the roots of the dicts
        self.tables_of_keys: dict[int, str] = {}  # of those that loops go over in their places: the dicts
        self.growing: list[Any] = []  # for each `for` around, the place to say that its list changes its length
        self.gone_over: list[set[int]] = []  # for each of the loops around: roots of the lists that it goes over
        self.views: list[Any] = []  # what `keys`, `values` and `items` of dicts have returned
        self.whole: set[Any] = set()  # places of dict arguments that can stay dicts at run time
        self.by_key: dict[int, Any] = {}  # root of such a dict -> its place, and the facts of what is under each key
        self.gone_through: set[int] = set()  # generator expressions that are gone through where they stand
        self.deques: set[int] = set()  # roots of deques
        self.limits: dict[int, Value] = {}  # root of a deque -> its maxlen
        # field of objects in a table -> the function, or the like, that is in it for all of them; None where none is
        self.same_for_all: dict[tuple[type, str], Const | None] = {}
        self.members: dict[str, Facts] = {}  # a set -> facts of what is in it

    # -- names and roots

    def fits_shape_of(self, cotangent: Value, name: str) -> bool:
        """True if a cotangent was made for a variable, or for another that is alike."""
        found = self.fits.get(cotangent.name) if isinstance(cotangent, Leaf) else None
        return found is not None and self.alike.get(found, found) == self.alike.get(name, name)

    def new_symbol(self, hint: str) -> str:
        """A name that nothing else has; the later it is made, the higher its number."""
        self.counter += 1
        return f"{hint}.{self.counter}"

    def fresh(self, hint: str, facts: Facts, role: Role | None = None) -> str:
        """A new variable, to be called by a hint; its role tells what it is to a derivative."""
        id = self.new_symbol(hint)
        self.facts[id] = self.of_one(facts, id)
        self.call(id, hint, role)
        if self.lengths.depth:
            self.inner[id] = self.lengths
        return id

    def call(self, variable: str, hint: str, role: Role | None = None) -> None:
        """Give a variable another hint, and another role if one is given."""
        self.hints[variable] = hint
        if role is not None:
            self.roles[variable] = role

    def call_after(self, variable: str, role: Role, name: str) -> None:
        """Call a variable the cotangent or the tangent of another."""
        self.call(variable, role.value + self.hints[name], role)

    def fresh_after(self, role: Role, name: str, facts: Facts) -> str:
        """A new variable that is the cotangent or the tangent of another, or keeps it."""
        return self.fresh(role.value + self.hints[name], facts, role)

    def fresh_like(self, name: str, facts: Facts | None = None, end: str = "") -> str:
        """A new variable that goes by the hint of another, with `end` behind it, and has its role."""
        return self.fresh(self.hints[name] + end, self.facts[name] if facts is None else facts, self.roles.get(name))

    def is_cotangent(self, name: str) -> bool:
        return self.roles.get(name) in COTANGENTS

    def is_tangent(self, name: str) -> bool:
        return self.roles.get(name) is Role.TANGENT

    def of_one(self, facts: Facts, name: str) -> Facts:
        """The facts of one variable: what holds of each of several arrays has lengths of its own here."""
        if not isinstance(facts, Num) or not facts.dims or (MANY not in facts.dims and None not in facts.dims):
            return facts
        if self.recursive_calls:
            return replace(facts, dims=tuple(None if a == MANY else a for a in facts.dims))
        own = tuple(Dim((name, k), 0, a == MANY) if a in (None, MANY) else a for k, a in enumerate(facts.dims))
        return replace(facts, dims=own)

    def root(self, site: Any) -> int:
        """The number of the place where memory is made."""
        return self.roots.setdefault(site, len(self.roots) + 1)

    def site(self, extra: Any = None) -> Any:
        frame = self.frame
        return (frame.id if frame else 0, id(self.node), extra, *self.iteration)

    @contextmanager
    def short_loop(self, site: Any) -> Iterator[None]:
        """A loop of so few iterations that it is written out where what it makes asks for that."""
        if site is not None:
            self.short_loops[site] = self.loops + 1
        try:
            yield
        finally:
            self.short_loops.pop(site, None)

    def write_out_loop(self, key: Any = None) -> None:
        """Specialise again with a loop around written out: one from whose index a key is computed, or the outermost."""
        if self.short_loops:
            read = self.computed_from(key)
            inside = [site for site, depth in self.short_loops.items() if self.indices.get(depth) in read]
            raise Restart(("write out", next(iter([*inside, *self.short_loops]))))

    def computed_from(self, expr: Any) -> set[str]:
        """The variables from which an expression is computed, as far as their definitions are known."""
        found: set[str] = set()
        left = [*ir.variables_in(expr)]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += ir.variables_in(self.definitions.get(name))
        return found

    @contextmanager
    def inside_loop(self) -> Iterator[None]:
        """The body of a loop being written, which may be given up half-way."""
        self.loops += 1
        try:
            yield
        finally:
            self.loops -= 1

    @contextmanager
    def under_handlers(self, loud: bool, hearing: bool = True) -> Iterator[None]:
        """The block of a ``try`` being written.

        It is `loud` where NumPy's warnings may be among what is caught, and `hearing` where a refusal may be.
        """
        self.attempts, self.loud, self.hearing = self.attempts + 1, self.loud + loud, self.hearing + hearing
        try:
            yield
        finally:
            self.attempts, self.loud, self.hearing = self.attempts - 1, self.loud - loud, self.hearing - hearing

    @contextmanager
    def going_over(self) -> Iterator[set[int]]:
        """A loop being written; the roots of the lists that it goes over."""
        lists: set[int] = set()
        self.gone_over.append(lists)
        try:
            yield lists
        finally:
            self.gone_over.pop()

    @contextmanager
    def going_over_growing(self, place: Any) -> Iterator[None]:
        """A `for` being written; what says, at its place, that the list changes its length that it goes over."""
        self.growing.append(place)
        try:
            yield
        finally:
            self.growing.pop()

    @contextmanager
    def written_out(self, k: int) -> Iterator[None]:
        """The k-th copy of a loop's body that is written out: what it makes has a place of its own."""
        outer, self.iteration = self.iteration, (*self.iteration, k)
        try:
            yield
        finally:
            self.iteration = outer

    # -- emitting

    def let(
        self,
        expr: Any,
        facts: Facts,
        op: ir.Op | None = None,
        hint: str = "t",
        effect: bool = False,
        may_raise: bool = True,
        role: Role | None = None,
    ) -> Leaf:
        """Emit ``hint = expr`` and return the variable."""
        target = self.fresh(hint, facts, role)
        self.block.append(ir.Let((target,), expr, op, self.where(), effect, may_raise, self.loud > 0))
        self.definitions[target] = expr
        return Leaf(target)

    def let_several(
        self, expr: Any, facts: list[Facts], op: ir.Op | None, hint: str = "t", effect: bool = False
    ) -> list[Leaf]:
        targets = tuple(self.fresh(hint, f) for f in facts)
        self.block.append(ir.Let(targets, expr, op, self.where(), effect, True))
        return [Leaf(t) for t in targets]

    @contextmanager
    def writing(self, block: ir.Block, lengths: Lengths | None = None) -> Iterator[ir.Block]:
        """Emit into `block`, where some lengths are equal; by default it is a block that may not run."""
        if lengths is not None:
            self.of_blocks[id(block)] = block, lengths
        outer = self.block, self.proven, self.lengths
        self.block, self.proven, self.lengths = block, dict(self.proven), self.lengths_in(block)
        try:
            yield block
        finally:
            self.block, self.proven, self.lengths = outer

    @contextmanager
    def knowing(self, proven: dict[Any, Any]) -> Iterator[None]:
        """Decide with the equal lengths of another place."""
        outer, self.proven = self.proven, proven
        try:
            yield
        finally:
            self.proven = outer

    @contextmanager
    def holding(self, roots: frozenset[int]) -> Iterator[None]:
        """Write code while somebody else sees the memory of some roots."""
        outer, self.held = self.held, self.held | roots
        try:
            yield
        finally:
            self.held = outer

    def in_package(self) -> bool:
        """True if the statement that is specialised is one of an installed package."""
        known = self.frame.globals if self.frame is not None else {}
        return is_packaged(known.get("__file__")) or "STANDS_FOR" in known

    # -- lists and dicts that live at run time

    def elements_of(self, facts: Listed | Mapped) -> Facts | None:
        result: Facts | None = None
        for root in sorted(facts.roots):
            if root in self.elements:
                result = self.elements[root] if result is None else join(result, self.elements[root])
        return result

    def put_element(self, facts: Listed | Mapped, element: Facts) -> None:
        for root in facts.roots:
            old = self.elements.get(root)
            if old is None and any(root in rec.empty for rec in self.recursions.values() if not rec.working):
                raise Restart(("filled", next(site for site, number in self.roots.items() if number == root)))
            self.elements[root] = element if old is None else join(old, element)
            if old is not None and are_mixed((old, element)):
                held: list[frozenset[int]] = [getattr(f, "roots", frozenset()) for f in (old, element)]
                self.mixed[root] = self.mixed.get(root, frozenset()).union(*held)

    def new_size(self, leaf: Leaf) -> Dim:
        """The symbol of the length that an integer variable holds."""
        facts = self.facts[leaf.name]
        if isinstance(facts, Num) and facts.size is not None and isinstance(facts.size, Dim):
            return facts.size
        return Dim(leaf.name)


def storable(s: Specialiser, value: Value) -> bool:
    """True if a value can be an element of a list that lives in a variable."""
    if isinstance(value, Leaf):
        return True
    if isinstance(value, Const):
        return isinstance(s.facts_of(value), Num) or value.value is None or isinstance(value.value, (str, Enum))
    if isinstance(value, Later):
        return storable(s, value.item)
    return isinstance(value, TupleV) and all(storable(s, v) for v in value.items)


def as_element(s: Specialiser, value: Value) -> Value:
    """A value as an element of a list that lives in a variable, where slices are objects."""
    if isinstance(value, TupleV):
        return TupleV(tuple(as_element(s, item) for item in value.items), value.cls)
    return slice_object(s, value) if is_slice(value) else value


def is_slice(value: Value) -> bool:
    """True if a value is a slice whose bounds are known."""
    return isinstance(value, SliceV) or isinstance(value, Const) and isinstance(value.value, slice)


def as_operand(s: Specialiser, value: Value) -> Value:
    """A value as an operand of a comparison, where slices are objects, also those in tuples and lists."""
    if isinstance(value, (TupleV, ListV)):
        items = tuple(as_operand(s, item) for item in value.items)
        if all(map(is_, items, value.items)):
            return value
        return ListV(items, value.site) if isinstance(value, ListV) else TupleV(items, value.cls)
    return slice_object(s, value) if is_slice(value) else value


def slice_object(s: Specialiser, value: Any) -> Leaf:
    """A variable that holds a slice."""
    if isinstance(value, Const):
        bounds: list[Value] = [Const(bound) for bound in (value.value.start, value.value.stop, value.value.step)]
    else:
        bounds = [value.start, value.stop, value.step]
    if bounds[2] == Const(None):
        bounds.pop()
    return s.let(ir.call("slice", *map(s.expr, bounds)), Opaque(slice), hint="part", may_raise=False)


def element_facts(facts: Facts) -> Facts:
    """Facts of an element: elements of one list need not agree in the lengths of their axes."""
    if isinstance(facts, Num):
        dims = None if facts.dims is None else tuple(map(blurred, facts.dims))
        return replace(facts, dims=dims, size=None)
    if isinstance(facts, Pair):
        return Pair(tuple(element_facts(f) for f in facts.items), facts.cls)
    return facts
